//! What is pinned: all panes show it, the strip has its life, the inspector tells it.

use super::desk::Desk;
use crate::axis::Position;
use crate::overlay::Tip;
use crate::overlay::exhibits::Picture;
use crate::overlay::pen::Target;
use crate::overlay::tip::bytes_tip;
use crate::reference::bytes_named;
use crate::scene::{Camera, PinKind};
use crate::timeline::{Life, Timeline};
use crate::units::ByteRange;
use std::sync::Arc;

/// Name of the exhibit that tells of what is pinned.
const INSPECTOR: &str = "inspector";
/// How close the picture comes to what is pinned.
const CLOSE: f32 = 6.0;

impl Desk {
    /// What is pinned.
    #[must_use]
    pub fn pinned(&self) -> Option<ByteRange> {
        self.session.pinned()
    }

    /// Pins some bytes, or nothing. What is pinned already stays as it is.
    pub fn pin(&mut self, bytes: Option<ByteRange>) {
        self.session.pin(bytes);
    }

    /// Pins the element that is named, as people write it; words that name nothing are answered.
    pub fn pin_named(&mut self, words: &str, now: f64) {
        match bytes_named(&self.studio().tables().regions, words) {
            Ok(bytes) => self.pin(Some(bytes)),
            Err(error) => self.say(format!("{words}: {error}"), now),
        }
    }

    /// The trace and the bytes whose life somebody should read now; told once.
    #[must_use]
    pub fn wanted_life(&mut self) -> Option<(Arc<Timeline>, ByteRange)> {
        self.session.wanted_life()
    }

    /// Takes a life, as far as it is read.
    pub fn take_life(&mut self, life: Arc<Life>) {
        self.session.take_life(life);
    }

    /// Does what a click on a row or a dot asks for; `alone`: Shift was held.
    pub fn follow(&mut self, target: Target, alone: bool, now: f64) {
        match target {
            Target::Region(region) => self.session.turn(region, alone),
            Target::Color(region) => self.session.recolor(region, alone),
            Target::Line(line) => self.seek_line(line, now),
            Target::Bytes(bytes) => self.pin(Some(bytes)),
            Target::Tick(tick) => self.transport.jump(Position::at(tick)),
            Target::Caches => self.turn_caches(now),
            Target::Exhibit(name) => self.open_beside(name, now),
            // The pane with the table sorts and folds it, and knows the parameters of its graph.
            Target::Column(..) | Target::Fold(_) | Target::Part(_) | Target::Parameter(..) => {}
            Target::Task(_) | Target::Location(_) | Target::Kind(_) | Target::Axis(_) | Target::Order => {
                self.follow_task(target, alone);
            }
        }
    }

    /// Says what is pinned, where no pane tells of it.
    #[must_use]
    pub fn pin_tip(&self) -> Option<Tip> {
        let bytes = self.pinned()?;
        if self.panes.seen().any(|(_, pane)| pane.row().name == INSPECTOR) {
            return None;
        }
        let mut tip =
            bytes_tip(self.studio(), &self.session.view().colors, bytes, self.transport.position().phase() > 0.0);
        tip.lines.push("D for its life, J and K for its references, Esc to let it go".into());
        Some(tip)
    }

    /// Opens the inspector beside the pane that keys are for; where there is one already, keys are for it.
    pub(super) fn inspect(&mut self, now: f64) {
        self.open_beside(INSPECTOR, now);
    }

    /// Goes to the next (`forward`) or previous reference that touches what is pinned.
    pub(super) fn seek_touch(&mut self, forward: bool, now: f64) {
        let Some(life) = self.session.life() else {
            let words =
                if self.pinned().is_some() { "its life is still being read" } else { "nothing is pinned: click a dot" };
            return self.say(words, now);
        };
        let position = self.transport.position();
        let touches = |step: &&crate::timeline::LifeStep| step.served.is_some();
        let found = if forward {
            life.steps()[life.before(position.tick() + 1)..].iter().find(touches)
        } else {
            // From the middle of one, the previous one is its start.
            let before = position.tick() + u64::from(!position.is_whole());
            life.steps()[..life.before(before)].iter().rev().find(touches)
        };
        match found.map(|step| step.tick) {
            Some(tick) => self.transport.jump(Position::at(tick)),
            None => self.say(if forward { "not touched after this" } else { "not touched before this" }, now),
        }
    }

    /// Has the region of what is pinned change places with the one before (`up`) or after it.
    pub(super) fn move_region(&mut self, up: bool, now: f64) {
        let Some(bytes) = self.pinned() else {
            return self.say("no region is pinned: click one of its dots first", now);
        };
        let Some(region) = self.studio().timeline().region_of(bytes.first, self.transport.position().tick()) else {
            return self.say("what is pinned is in no region", now);
        };
        if !self.session.shift(region, up) {
            self.say(if up { "it is the first region" } else { "it is the last region" }, now);
        }
    }

    /// Looks closely at what is pinned.
    pub(super) fn look_at_pin(&mut self, now: f64) {
        if self.pinned().is_none() {
            return self.say("nothing is pinned: click a dot", now);
        }
        let taken = self.pane().taken().map(|taken| &taken.picture);
        let Some(Picture::Rings(scene)) = taken else {
            return self.say("this pane has no rings to look at closely", now);
        };
        let marks = &scene.pinned.marks;
        let nearest = marks.iter().rev().find(|mark| mark.kind == PinKind::Nearest).or_else(|| marks.first());
        if let Some(at) = nearest.map(|mark| mark.at) {
            let zoom = self.pane().camera().zoom.max(CLOSE);
            self.pane_mut().go(Camera { at, zoom }.clamped());
        }
    }
}
