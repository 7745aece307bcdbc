//! Steps from one event to the next, both ways: misses, evictions, references of a source line, marks.

use super::desk::Desk;
use crate::axis::Position;
use crate::units::grouped;

/// References that are played at most to find an eviction: a blink.
const FAR: u64 = 1_000_000;

impl Desk {
    pub(super) fn seek_miss(&mut self, forward: bool, now: f64) {
        let timeline = self.session.studio().timeline();
        if timeline.outcomes().is_none() {
            return self.say("this trace is too long to keep the place of every miss", now);
        }
        // From the middle of a miss, the previous one is the start of this one.
        let inside = !self.transport.position().is_whole();
        let from = self.transport.tick() + u64::from(!forward && inside);
        match timeline.find_miss(from, forward) {
            Some(tick) => self.transport.jump(Position::at(tick)),
            None => self.say(if forward { "no miss after this" } else { "no miss before this" }, now),
        }
    }

    /// Goes to the next reference of a source line.
    pub fn seek_line(&mut self, line: usize, now: f64) {
        let timeline = self.session.studio().timeline();
        let next = match timeline.find_line(line, self.transport.tick(), true) {
            Ok(None) => timeline.find_line(line, timeline.len(), false).map(|last| (None, last)),
            found => found.map(|next| (next, None)),
        };
        match next {
            Ok((Some(tick), _)) => self.transport.jump(Position::at(tick)),
            Ok((None, Some(_))) => self.say("no reference of this line after this", now),
            Ok((None, None)) => self.say("no reference of this line so far", now),
            Err(error) => self.say(error.to_string(), now),
        }
    }

    /// Goes to the next reference of a source line or, past its last one, to its first.
    pub(super) fn seek_line_round(&mut self, line: usize, now: f64) {
        let timeline = self.session.studio().timeline();
        // The very first reference lies after none.
        let first = timeline.reference(0).ok().flatten().filter(|first| timeline.lines().row(first.pc) == line);
        let next = match timeline.find_line(line, self.transport.tick(), true) {
            Ok(None) if first.is_some() => Ok(Some(0)),
            Ok(None) => timeline.find_line(line, 0, true),
            found => found,
        };
        match next {
            Ok(Some(tick)) => self.transport.jump(Position::at(tick)),
            Ok(None) => self.say("no reference of this line so far", now),
            Err(error) => self.say(error.to_string(), now),
        }
    }

    /// Goes to the next or the previous reference of the source line under way: also of the one that it is in, from its middle.
    pub(super) fn seek_same_line(&mut self, forward: bool, now: f64) {
        let timeline = self.session.studio().timeline();
        let (tick, inside) = (self.transport.tick(), !self.transport.position().is_whole());
        let lines = timeline.lines();
        let row = match timeline.reference(tick) {
            Ok(Some(reference)) => lines.row(reference.pc),
            Ok(None) => return self.say("the end of the trace is no reference, so it has no source line", now),
            Err(error) => return self.say(error.to_string(), now),
        };
        if row >= lines.len() {
            return self.say("the source line of this reference is not known", now);
        }
        match timeline.find_line(row, tick + u64::from(!forward && inside), forward) {
            Ok(Some(found)) => self.transport.jump(Position::at(found)),
            Ok(None) if forward => self.say("no reference of this line after this", now),
            Ok(None) => self.say("no reference of this line before this", now),
            Err(error) => self.say(error.to_string(), now),
        }
    }

    /// Goes to the next or the previous reference for which a cache of the innermost ring gives a line up.
    pub(super) fn seek_eviction(&mut self, forward: bool, now: f64) {
        let timeline = self.session.studio().timeline();
        let inside = !self.transport.position().is_whole();
        let from = self.transport.tick() + u64::from(!forward && inside);
        let left = if forward { timeline.len().saturating_sub(from) } else { from };
        match timeline.find_eviction(from, forward, FAR) {
            Ok(Some(tick)) => self.transport.jump(Position::at(tick)),
            Ok(None) if left <= FAR => {
                self.say(if forward { "no eviction after this" } else { "no eviction before this" }, now);
            }
            Ok(None) => {
                let side = if forward { "next" } else { "last" };
                self.say(format!("no eviction in the {side} {} references", grouped(FAR)), now);
            }
            Err(error) => self.say(error.to_string(), now),
        }
    }

    pub(super) fn seek_mark(&mut self, forward: bool, now: f64) {
        let marks = &self.session.studio().tables().marks;
        let position = self.transport.position();
        let found = if forward {
            marks.iter().find(|m| Position::at(m.reference) > position)
        } else {
            marks.iter().rev().find(|m| Position::at(m.reference) < position)
        };
        match found.map(|m| (m.reference, m.name.clone())) {
            Some((reference, name)) => {
                self.transport.jump(Position::at(reference));
                self.say(name, now);
            }
            None if marks.is_empty() => self.say("this trace has no marks", now),
            None => self.say(if forward { "no mark after this" } else { "no mark before this" }, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::desk::tests::desk;
    use super::super::keys::Action;
    use super::*;
    use crate::sim::Event;

    /// References of which L1 gives a line up, played one by one.
    fn evictions(desk: &Desk) -> Vec<u64> {
        let mut cursor =
            crate::timeline::Cursor::new(std::sync::Arc::clone(desk.studio().timeline())).expect("in memory");
        let evicts = |event: &Event| matches!(event, Event::Evict { level, .. } if level.index() == 0);
        (0..desk.transport.axis().len)
            .filter(|&tick| cursor.seek(tick, 0).expect("in memory").events.iter().any(evicts))
            .collect()
    }

    #[test]
    fn evictions_are_gone_to_one_by_one_both_ways() {
        let mut desk = desk();
        let all = evictions(&desk);
        assert!(all.len() > 50, "{}", all.len());
        let walk = |desk: &mut Desk, forward: bool| {
            let mut seen = Vec::new();
            loop {
                let before = desk.transport.position();
                desk.apply(Action::Eviction(forward), 0.0);
                if desk.transport.position() == before {
                    return seen;
                }
                seen.push(desk.transport.tick());
            }
        };
        assert_eq!(walk(&mut desk, true), all);
        assert_eq!(desk.toast(0.0).map(|t| t.0), Some("no eviction after this"));
        desk.apply(Action::End, 0.0);
        let back: Vec<u64> = walk(&mut desk, false);
        assert_eq!(back, all.iter().rev().copied().collect::<Vec<_>>());
        assert_eq!(desk.toast(0.0).map(|t| t.0), Some("no eviction before this"));
        // From its middle, its own start first.
        desk.transport.jump(Position::at(all[7]).plus(0.5));
        desk.apply(Action::Eviction(false), 0.0);
        assert_eq!(desk.transport.position(), Position::at(all[7]));
    }

    #[test]
    fn a_reference_without_a_source_line_says_so() {
        let mut desk = desk();
        desk.apply(Action::Line(true), 0.0);
        assert_eq!(desk.toast(0.0).map(|t| t.0), Some("the source line of this reference is not known"));
        desk.apply(Action::End, 0.0);
        desk.apply(Action::Line(false), 0.0);
        assert!(desk.toast(0.0).is_some_and(|t| t.0.starts_with("the end of the trace")));
        assert_eq!(desk.transport.tick(), 1000);
    }
}
