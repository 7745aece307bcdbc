//! Calls and returns, seen in a stream of references with fetches: which frames are open, and where they stand.
//!
//! A call stores its return address (8 bytes) and goes on elsewhere; that store's place is the callee's canonical frame
//! address less 8. A return loads from there and goes on behind the call. x86-64.

use crate::reference::{Kind, Reference};

/// Bytes of a return address.
const WORD: u64 = 8;

/// No stack is larger: frames further apart than this are of other threads.
const STACK: u64 = 8 << 20;

/// Frames looked through for the one that a return ends; those above it were left by a jump.
const SEARCHED: usize = 32;

/// An open frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// First instruction of the function.
    pub(super) function: u64,
    /// Canonical frame address: the stack pointer before the call.
    pub(super) cfa: u64,
    /// Where it returns to.
    back: u64,
    /// What the owner keeps of it.
    pub(super) number: usize,
}

/// Follows the frames of the functions that its owner asks for.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The last fetch.
    fetch: Option<Reference>,
    /// The last data reference after it.
    data: Option<Reference>,
    /// Place of the return address and the address itself, between a call and the callee's first store.
    called: Option<(u64, u64)>,
    frames: Vec<Frame>,
}

impl Calls {
    /// Takes the next reference. Where it is a fetch that returns from open frames, `left` gets them, innermost first.
    /// Gives the canonical frame address and return address where it is a fetch that a call went to, or a jump from there
    /// before anything was stored (a stub, a tail call).
    #[inline]
    pub(super) fn step(&mut self, r: &Reference, mut left: impl FnMut(Frame)) -> Option<(u64, u64)> {
        if r.kind != Kind::Fetch {
            if r.kind != Kind::Read {
                self.called = None;
            }
            self.data = Some(*r);
            return None;
        }
        let before = self.fetch.replace(*r);
        let data = self.data.take();
        let next = before.map_or(0, |f| f.addr.wrapping_add(u64::from(f.size)));
        if r.addr == next {
            return None;
        }
        if let Some(data) = data.filter(|d| u64::from(d.size) == WORD) {
            match data.kind {
                Kind::Write => self.called = Some((data.addr, next)),
                Kind::Read => self.leave(data.addr, r.addr, &mut left),
                _ => {}
            }
        }
        self.called.map(|(slot, back)| (slot.wrapping_add(WORD), back))
    }

    /// Opens a frame of the function whose first instruction was just fetched. Frames that it overwrites, left by a
    /// `longjmp`, go to `left`.
    pub(super) fn enter(&mut self, function: u64, (cfa, back): (u64, u64), number: usize, mut left: impl FnMut(Frame)) {
        while let Some(top) = self.frames.last().filter(|f| f.cfa <= cfa && cfa - f.cfa < STACK) {
            left(*top);
            self.frames.pop();
        }
        self.called = None;
        self.frames.push(Frame { function, cfa, back, number });
    }

    /// Closes the frame whose return address was loaded from `slot`, and those that it had called.
    fn leave(&mut self, slot: u64, to: u64, left: &mut impl FnMut(Frame)) {
        let cfa = slot.wrapping_add(WORD);
        let found = self.frames.iter().rev().take(SEARCHED).position(|f| f.cfa == cfa && f.back == to);
        let Some(above) = found else { return };
        let at = self.frames.len() - 1 - above;
        for n in (at..self.frames.len()).rev() {
            let frame = self.frames[n];
            if n == at || cfa.checked_sub(frame.cfa).is_some_and(|d| d < STACK) {
                left(frame);
                self.frames.remove(n);
            }
        }
    }

    /// The frames still open, outermost first.
    pub(super) fn open(&self) -> &[Frame] {
        &self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(addr: u64, size: u32) -> Reference {
        Reference { pc: addr, ..Reference::new(Kind::Fetch, addr, size) }
    }

    /// Feeds references; gives what was entered at 0x100 and 0x200 and what was left, as words.
    fn told(references: &[Reference]) -> Vec<String> {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        for r in references {
            let mut left = Vec::new();
            let call = calls.step(r, |f| left.push(f));
            if r.kind == Kind::Fetch && [0x100, 0x200].contains(&r.addr) {
                let Some(call) = call else {
                    out.push(format!("jump {:x}", r.addr));
                    continue;
                };
                out.push(format!("enter {:x} {:x}", r.addr, call.0));
                calls.enter(r.addr, call, 0, |f| left.push(f));
            }
            out.extend(left.iter().map(|f| format!("leave {:x} {:x}", f.function, f.cfa)));
        }
        out
    }

    #[test]
    fn calls_and_returns_are_paired_by_place_and_address() {
        use Kind::{Read, Write};
        let call = |at: u64, slot: u64| [fetch(at, 5), Reference::new(Write, slot, 8)];
        let ret = |at: u64, slot: u64| [fetch(at, 1), Reference::new(Read, slot, 8)];
        let mut all = Vec::new();
        all.extend(call(0x10, 0xff8));
        all.extend([fetch(0x100, 4), Reference::new(Write, 0xff0, 8), fetch(0x104, 4)]);
        // A load of the return address is no return.
        all.extend([Reference::new(Read, 0xff8, 8), fetch(0x108, 4)]);
        // Through a stub: a load and a jump between call and callee.
        all.extend(call(0x10c, 0xfd8));
        all.extend([fetch(0x900, 6), Reference::new(Read, 0x5000, 8), fetch(0x200, 1)]);
        all.extend(ret(0x201, 0xfd8));
        all.push(fetch(0x111, 1));
        all.extend(ret(0x112, 0xff8));
        all.push(fetch(0x15, 1));
        assert_eq!(told(&all), ["enter 100 1000", "enter 200 fe0", "leave 200 fe0", "leave 100 1000"]);
    }

    #[test]
    fn frames_left_by_a_jump_end_with_what_overwrites_them_or_their_caller() {
        use Kind::{Read, Write};
        let mut all = vec![fetch(0x10, 5), Reference::new(Write, 0xff8, 8), fetch(0x100, 5)];
        all.extend([Reference::new(Write, 0xef8, 8), fetch(0x200, 1)]);
        // longjmp into 0x100's frame, then the same call again.
        all.extend([fetch(0x100 + 5, 5), Reference::new(Write, 0xef8, 8), fetch(0x200, 1)]);
        all.extend([fetch(0x10a, 1), Reference::new(Read, 0xff8, 8), fetch(0x15, 1)]);
        let expect =
            ["enter 100 1000", "enter 200 f00", "enter 200 f00", "leave 200 f00", "leave 200 f00", "leave 100 1000"];
        assert_eq!(told(&all), expect);
    }

    #[test]
    fn a_jump_to_a_function_is_no_call() {
        let push = [fetch(0x10, 1), Reference::new(Kind::Write, 0xff8, 8)];
        let all = [&push[..], &[fetch(0x11, 2), fetch(0x100, 1)]].concat();
        assert_eq!(told(&all), ["jump 100"]);
    }
}
