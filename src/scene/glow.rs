//! Flash, pulse and burst: signs of the last references that fade in seconds of the screen.

use super::calm::swell;
use super::motion::Path;
use super::places::{Places, path_of};
use super::view::{View, flash_steps};
use crate::sim::hash::{LineHasher, LineMap};
use crate::timeline::Moment;
use crate::units::to_f32;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Seconds after which a flash has faded to 1/e.
const FLASH_SECONDS: f32 = 0.30;
/// Likewise a pulse.
const PULSE_SECONDS: f32 = 0.16;
/// Length of a ring burst.
const BURST_SECONDS: f32 = 0.45;
/// References after which a burst is over and a flash faint, however fast they come: in time-lapse a sign on everything
/// would be a sign of nothing.
const BURST_REFERENCES: f32 = 40.0;
const FLASH_REFERENCES: f32 = 100.0;
/// How much of each sign is left.
#[derive(Clone, Copy, Default)]
pub(super) struct Glow {
    pub(super) flash: f32,
    pub(super) pulse: f32,
    pub(super) burst: f32,
}

/// Signs by what was touched: of all cores, for what they share, and of each, for what is its own.
#[derive(Default)]
struct Touched {
    all: LineMap<Glow>,
    own: HashMap<(u16, u64), Glow, BuildHasherDefault<LineHasher>>,
}

impl Touched {
    fn insert(&mut self, core: Option<u16>, touched: u64, glow: Glow) {
        self.all.insert(touched, glow);
        if let Some(core) = core {
            self.own.insert((core, touched), glow);
        }
    }

    fn get(&self, core: Option<u16>, touched: u64) -> Option<&Glow> {
        match core {
            Some(core) => self.own.get(&(core, touched)),
            None => self.all.get(&touched),
        }
    }
}

/// Signs of grains and of items.
#[derive(Default)]
pub(super) struct Glows {
    grains: Touched,
    items: Touched,
}

impl Glows {
    /// Signs of an item in a cache of `core`: the flash of its grain, pulse and burst of its own.
    pub(super) fn of(&self, core: Option<u16>, grain: u64, item: u64) -> Glow {
        let flash = self.grains.get(core, grain).map_or(0.0, |g| g.flash);
        let (pulse, burst) = self.items.get(core, item).map_or((0.0, 1.0), |g| (g.pulse, g.burst));
        Glow { flash, pulse, burst }
    }
}

/// Flash of whole grains and pulse of items, from the last references. `rings_of_levels` is each level's ring.
pub(super) fn glows(places: &Places, rings_of_levels: &[u8], moment: &Moment<'_>, view: &View) -> Glows {
    let mut glows = Glows::default();
    // Caches of one core are asked for by its number; without any, nobody asks.
    let has_own = moment.after.caches().any(|cache| moment.after.info(cache).core.is_some());
    let first = (moment.tick + 1).saturating_sub(flash_steps(view.speed));
    let first = first.max(moment.log.start());
    let all = places.rings.rings.len() as f32;
    let speed = to_f32(view.speed).max(1e-3);
    let burst_seconds = BURST_SECONDS.min(BURST_REFERENCES / speed);
    let flash_seconds = FLASH_SECONDS.min(FLASH_REFERENCES / speed);
    for (step, tick) in moment.log.steps(first, moment.tick + 1).iter().zip(first..) {
        let refs = (moment.tick - tick) as f32 + view.phase;
        let age = refs / speed;
        // Rings that had to be passed.
        let missed = |level: usize| step.misses >> level & 1 != 0;
        let passed = (0u8..8).zip(rings_of_levels).filter(|(level, _)| missed(usize::from(*level)));
        let depth = passed.map(|(_, ring)| ring + 1).max().map_or(0.0, f32::from);
        // Graded by who served: memory flashes fully, the next level half.
        let strength = if depth > 0.0 { 0.45 + 0.55 * depth / all.max(1.0) } else { 0.0 };
        let glow = if view.calm {
            Glow { flash: strength * swell(age), pulse: swell(age), burst: 1.0 }
        } else {
            Glow {
                flash: strength * (-age / flash_seconds).exp(),
                pulse: (-age / PULSE_SECONDS).exp(),
                burst: if depth > 0.0 { (age / burst_seconds).min(1.0) } else { 1.0 },
            }
        };
        let core = Some(step.core).filter(|_| has_own);
        let grain_bytes = places.items.grain_bytes;
        let mut item = places.glyph_at(step.addr, tick);
        if depth > 0.0 {
            // The lines that came in: of a reference over several lines, those that were not there.
            let mut came = moment.log.moves(tick, tick + 1).iter().filter(|m| path_of(m) == Path::Straight).peekable();
            let first = came.peek().map(|m| m.grain);
            came.for_each(|m| glows.grains.insert(core, m.grain, glow));
            match first {
                // The sign stands on the first byte touched of the first line that missed.
                Some(grain) if grain > step.addr / grain_bytes => item = places.glyph_at(grain * grain_bytes, tick),
                Some(_) => {}
                None => glows.grains.insert(core, step.addr / grain_bytes, glow),
            }
        }
        glows.items.insert(core, item, glow);
    }
    glows
}
