//! What the viewer sets, and how much of the past a picture needs for it.

/// What the viewer sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Phase within the reference under way, 0..1.
    pub phase: f32,
    /// References a second: flashes and pulses decay in seconds at this speed.
    pub speed: f64,
    /// References whose paths stay visible; 1 = no trail.
    pub tail: u64,
    /// References over which temperature is the mean.
    pub window: u64,
    /// Trail segments at most.
    pub budget: usize,
    /// Draw trails.
    pub trails: bool,
    /// Draw ghosts.
    pub ghosts: bool,
    /// Draw temperature disks.
    pub temperature: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            phase: 0.0,
            speed: 8.0,
            tail: 64,
            window: 256,
            budget: 5_000,
            trails: true,
            ghosts: true,
            temperature: true,
        }
    }
}

impl View {
    /// References of history that a frame needs: for trail, temperature and flashes.
    #[must_use]
    pub fn history(&self) -> u64 {
        self.tail.max(self.window).max(flash_steps(self.speed))
    }
}

/// Seconds past which nothing of a flash is left to see.
const FLASH_END: f64 = 1.2;
/// References looked back at for flashes, at most: at speeds past this many in a second a flash is under a frame long.
const FLASH_STEPS: u64 = 4096;

/// References looked back at for flashes, at `speed` references a second.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=4096 first")]
pub(super) fn flash_steps(speed: f64) -> u64 {
    (speed * FLASH_END).ceil().clamp(1.0, FLASH_STEPS as f64) as u64
}
