//! What the viewer sets, and how much of the past a picture needs for it.

use super::flows::{LOGGED, logged};
use super::layout::Radii;
use super::order::RegionOrder;
use super::palette::RegionColors;
use super::solids::SolidLook;
use crate::tasks::TaskLook;
use crate::units::ByteRange;
use std::sync::Arc;

/// Where the viewer looks, and how closely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The world point that stands where the rings' centre does in the whole picture.
    pub at: [f32; 2],
    /// 1 = the whole picture, 1000 = a thousandth of it.
    pub zoom: f32,
}

/// Closest look.
pub const CLOSEST: f32 = 1000.0;
/// Heights of type that something is scrolled to the right or down at most.
const FARTHEST: f32 = 1e6;
/// How far from the middle of the picture a corner is in the widest window, world units at zoom 1.
const CORNER: f32 = 4.0;

impl Default for Camera {
    fn default() -> Self {
        Self { at: [0.0, 0.0], zoom: 1.0 }
    }
}

impl Camera {
    /// Whether it shows the whole picture.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it looks at a place of the rings, or, `is_sheet`, of what is counted from its upper left corner in heights of type.
    #[must_use]
    pub fn is_sound(&self, is_sheet: bool) -> bool {
        let bounds = if is_sheet { 0.0..=FARTHEST } else { -1.05..=1.05 };
        (1.0..=CLOSEST).contains(&self.zoom) && self.at.iter().all(|v| bounds.contains(v))
    }

    /// Within bounds: some of the rings stay in sight.
    #[must_use]
    pub fn clamped(self) -> Self {
        let zoom = if self.zoom.is_finite() { self.zoom.clamp(1.0, CLOSEST) } else { 1.0 };
        // The whole picture has one place; closer, the middle may go as far as the rim.
        let far = (zoom - 1.0).min(1.0) * 1.05;
        let at = self.at.map(|v| if v.is_finite() { v.clamp(-far, far) } else { 0.0 });
        Self { at, zoom }
    }

    /// The camera at a share (0 to 1) of the way to another one; `round`: [`Camera::at`] counts degrees, and goes the shorter way round.
    #[must_use]
    pub fn towards(self, to: Self, share: f32, round: bool) -> Self {
        let way = |from: f32, to: f32| match round {
            true => (to - from + 180.0).rem_euclid(360.0) - 180.0,
            false => to - from,
        };
        let at = [0, 1].map(|axis| {
            let at = self.at[axis] + way(self.at[axis], to.at[axis]) * share;
            if round { at.rem_euclid(360.0) } else { at }
        });
        // Each step closer by the same factor.
        Self { at, zoom: self.zoom * (to.zoom / self.zoom).powf(share) }
    }

    /// Closer by `factor`; the world point `held` stays where it is on the screen.
    #[must_use]
    pub fn closer(self, factor: f32, held: [f32; 2]) -> Self {
        let zoom = (self.zoom * factor).clamp(1.0, CLOSEST);
        let share = 1.0 - self.zoom / zoom;
        let at = [0, 1].map(|axis| self.at[axis] + (held[axis] - self.at[axis]) * share);
        Self { at, zoom }.clamped()
    }
}

/// How much of a region is seen. Counts are the same whatever is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shade {
    /// All of it.
    #[default]
    Full,
    /// Faintly.
    Dim,
    /// Not at all.
    Hidden,
}

impl Shade {
    /// What is left of the opacity of what belongs to the region.
    #[must_use]
    pub fn share(self) -> f32 {
        match self {
            Self::Full => 1.0,
            Self::Dim => 0.16,
            Self::Hidden => 0.0,
        }
    }
}

/// What the viewer sets.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Phase within the reference under way, 0..1.
    pub phase: f32,
    /// References a second: flashes and pulses decay in seconds at this speed.
    pub speed: f64,
    /// References whose paths stay visible; 1 = no trail.
    pub tail: u64,
    /// References over which temperature is the mean: no fewer than those that the picture stands for, where it is one of a film.
    pub window: u64,
    /// Trail segments at most.
    pub budget: usize,
    /// Draw trails.
    pub trails: bool,
    /// Draw ghosts.
    pub ghosts: bool,
    /// Draw temperature disks.
    pub temperature: bool,
    /// Where to look.
    pub camera: Camera,
    /// How far from the camera's point the picture reaches at zoom 1, along x and y, world units: what lies farther out is not
    /// made. More than is shown costs time alone.
    pub reach: [f32; 2],
    /// How much detail the picture's size shows: pixels of a world unit at zoom 1, as a share of those of a picture that is large enough
    /// for all, 0..=1. In a smaller one, dots that would be finer than a pixel or two are patches.
    pub detail: f32,
    /// Leave out what is not in sight. Without, the picture is the same and costs more; dots at home are made in sight alone at
    /// all events, since closer up there would be too many.
    pub cull: bool,
    /// How much is seen of each region, by its number; of those past the end, all.
    pub shades: Arc<[Shade]>,
    /// Colours that were given to regions.
    pub colors: RegionColors,
    /// In which order regions stand.
    pub order: RegionOrder,
    /// What the thickness of rings follows.
    pub radii: Radii,
    /// What is marked wherever it is.
    pub pin: Option<ByteRange>,
    /// What labels stand beside, wherever it is.
    pub labels: Arc<[ByteRange]>,
    /// Nothing flies: what moves fades where it was and appears where it goes; signs come and go slowly.
    pub calm: bool,
    /// What of tasks is looked at.
    pub tasks: Arc<TaskLook>,
    /// What of an array is looked at as solids.
    pub solids: Arc<SolidLook>,
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
            camera: Camera::default(),
            reach: [CORNER; 2],
            detail: 1.0,
            cull: true,
            shades: Arc::default(),
            colors: RegionColors::default(),
            order: RegionOrder::default(),
            radii: Radii::default(),
            pin: None,
            labels: Arc::default(),
            calm: false,
            tasks: Arc::default(),
            solids: Arc::default(),
        }
    }
}

impl View {
    /// What is left of the opacity of what belongs to a region, 0 to 1.
    #[must_use]
    pub fn shade(&self, region: usize) -> f32 {
        self.shades.get(region).copied().unwrap_or_default().share()
    }

    /// Whether some region is not seen in full.
    #[must_use]
    pub fn is_shaded(&self) -> bool {
        self.shades.iter().any(|shade| *shade != Shade::Full)
    }

    /// Whether something that reaches `around` from a world point may be in sight; in the whole picture everything may.
    #[must_use]
    pub fn sees(&self, at: [f32; 2], around: f32) -> bool {
        self.sees_box(at, at, around)
    }

    /// As [`View::sees`], of something that reaches `around` the straight line between two points: of its box, so that more may
    /// count than is seen.
    #[must_use]
    pub fn sees_box(&self, a: [f32; 2], b: [f32; 2], around: f32) -> bool {
        !self.culls() || self.reaches_box(a, b, around)
    }

    /// Whether anything may be left out.
    #[must_use]
    pub fn culls(&self) -> bool {
        self.cull && self.camera.zoom > 1.0
    }

    /// As [`View::sees_box`], whether or not what is not in sight is left out.
    #[must_use]
    pub fn reaches_box(&self, a: [f32; 2], b: [f32; 2], around: f32) -> bool {
        let Camera { at, zoom } = self.camera;
        let within = |axis: usize| {
            let reach = self.reach[axis] / zoom + around;
            a[axis].max(b[axis]) > at[axis] - reach && a[axis].min(b[axis]) < at[axis] + reach
        };
        within(0) && within(1)
    }

    /// References of history that a frame needs one by one: for trail, temperature and flashes. Temperatures of longer windows are
    /// counted: see [`Cursor::seek_over`](crate::timeline::Cursor::seek_over).
    #[must_use]
    pub fn history(&self) -> u64 {
        let moves = logged(self.tail);
        // Longer windows than are logged are counted.
        let answers = if self.window <= LOGGED { self.window } else { 1 };
        moves.max(answers).max(flash_steps(self.speed))
    }
}

/// Seconds past which nothing of a flash is left to see.
const FLASH_END: f64 = 1.2;
/// References looked back at for flashes, at most: at speeds past this many in a second a flash is under a frame long.
const FLASH_STEPS: u64 = 4096;

/// References a second from which on fewer are looked back at.
const CALM: f64 = 250_000.0;
/// And how many at least.
const FEWEST_FLASHES: f64 = 256.0;

/// References looked back at for flashes, at `speed` references a second.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 1..=4096 first")]
pub(super) fn flash_steps(speed: f64) -> u64 {
    // Faster still, flashes would only cover each frame with as many others: fewer, down to what an eye can take in.
    let most = (FLASH_STEPS as f64 * CALM / speed.max(1.0)).clamp(FEWEST_FLASHES, FLASH_STEPS as f64);
    (speed * FLASH_END).ceil().clamp(1.0, most) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_under_the_pointer_stays_there() {
        let screen = |c: &Camera, p: [f32; 2]| [0, 1].map(|axis| (p[axis] - c.at[axis]) * c.zoom);
        let mut camera = Camera { at: [0.2, -0.1], zoom: 3.0 };
        let held = [0.5, 0.3];
        for factor in [1.1, 2.0, 0.7, 20.0, 30.0] {
            let before = screen(&camera, held);
            camera = camera.closer(factor, held);
            let after = screen(&camera, held);
            assert!((before[0] - after[0]).abs() < 1e-3 && (before[1] - after[1]).abs() < 1e-3, "{camera:?}");
            assert!(View { camera, ..View::default() }.sees(held, 0.0));
        }
        assert_eq!(camera.closer(1e9, held).zoom, CLOSEST);
        // All the way out there is one picture only.
        assert!(camera.closer(1e-9, held).is_whole());
        assert!(Camera { at: [f32::NAN, 9.0], zoom: f32::NAN }.clamped().is_whole());
    }
}
