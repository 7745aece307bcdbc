//! The way of a scene through its trace: stretches at a pace, and rests.

use crate::axis::Position;
use crate::timeline::Clock;
use std::sync::Arc;

/// A part of a scene's time.
#[derive(Clone)]
pub(super) enum Leg {
    /// It rests.
    Rest {
        /// Where.
        at: Position,
        /// How long.
        seconds: f64,
    },
    /// It goes on.
    Play {
        /// From where.
        from: Position,
        /// To where, not before it.
        to: Position,
        /// How long it takes.
        seconds: f64,
    },
}

impl Leg {
    fn seconds(&self) -> f64 {
        match self {
            Self::Rest { seconds, .. } | Self::Play { seconds, .. } => *seconds,
        }
    }
}

/// All legs of a scene, one after the other.
#[derive(Clone)]
pub(super) struct Legs {
    pub(super) legs: Vec<Leg>,
    pub(super) clock: Arc<Clock>,
}

impl Legs {
    pub(super) fn seconds(&self) -> f64 {
        self.legs.iter().map(Leg::seconds).sum()
    }

    /// Position at a time, and what the clock counts a second there; 0 = it rests.
    pub(super) fn at(&self, time: f64) -> (Position, f64) {
        let mut left = time.max(0.0);
        let mut last = (Position::START, 0.0);
        for leg in &self.legs {
            let seconds = leg.seconds();
            last = match leg {
                Leg::Rest { at, .. } => (*at, 0.0),
                Leg::Play { from, to, .. } => {
                    let all = self.clock.between(*from, *to);
                    let speed = if seconds > 0.0 { all / seconds } else { 0.0 };
                    let position = if left >= seconds { *to } else { self.clock.ahead(*from, speed * left) };
                    (position.clamp(*from, *to), speed)
                }
            };
            if left < seconds {
                return last;
            }
            left -= seconds;
        }
        (last.0, 0.0)
    }

    /// References a second at a time, as flashes and pulses decay: where it rests, those of the stretch that is nearest before or after.
    pub(super) fn rate(&self, time: f64) -> f64 {
        let (position, speed) = self.at(time);
        let speed = if speed > 0.0 { speed } else { self.nearest(time) };
        self.clock.rate(position, speed).max(0.1)
    }

    fn nearest(&self, time: f64) -> f64 {
        let (mut begins, mut found) = (0.0, (f64::INFINITY, 8.0));
        for leg in &self.legs {
            let ends = begins + leg.seconds();
            if let Leg::Play { from, to, seconds } = leg
                && *seconds > 0.0
            {
                let away = if time < begins { begins - time } else { (time - ends).max(0.0) };
                if away < found.0 {
                    found = (away, self.clock.between(*from, *to) / seconds);
                }
            }
            begins = ends;
        }
        found.1
    }
}
