//! The prefetchers of the model: each remembers in lists what it saw.

use orrery::sim::config::Prefetch;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Trigger {
    Hit,
    FirstUse,
    Miss,
}

#[derive(Clone, Debug)]
pub(crate) struct Prefetcher {
    kind: Prefetch,
    /// By row of the table.
    strides: BTreeMap<u64, Row>,
    streams: Vec<Stream>,
    time: u64,
}

#[derive(Clone, Debug)]
struct Row {
    pc: u64,
    last: i128,
    step: i128,
    state: &'static str,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    last: i128,
    direction: i128,
    seen: u32,
    /// 0 = never.
    used: u64,
}

impl Prefetcher {
    pub(crate) fn new(kind: Prefetch) -> Self {
        let free = Stream { last: 0, direction: 0, seen: 0, used: 0 };
        Self { kind, strides: BTreeMap::new(), streams: vec![free; 16], time: 0 }
    }

    /// Lines wanted after an access to `line` of `bytes`, at `addr`.
    pub(crate) fn wants(&mut self, line: u128, addr: u128, pc: u64, bytes: u128, trigger: Trigger) -> Vec<u128> {
        let (line, addr, bytes) =
            (i128::try_from(line).unwrap(), i128::try_from(addr).unwrap(), i128::try_from(bytes).unwrap());
        let wanted = match (self.kind, trigger) {
            (Prefetch::None, _) | (Prefetch::NextLine | Prefetch::Stream, Trigger::Hit) => Vec::new(),
            (Prefetch::NextLine, _) => vec![line + 1],
            (Prefetch::Stride, _) => self.stride(addr, pc, bytes).into_iter().collect(),
            (Prefetch::Stream, _) => {
                let direction = self.stream(line);
                (1..=4).filter(|_| direction != 0).map(|ahead| line + ahead * direction).collect()
            }
        };
        let page = |line: i128| (line * bytes).div_euclid(4096);
        let keep =
            |wanted: &i128| *wanted != line && *wanted >= 0 && *wanted * bytes < 1 << 64 && page(*wanted) == page(line);
        wanted.into_iter().filter(keep).map(|line| u128::try_from(line).unwrap()).collect()
    }

    /// Chen and Baer's reference prediction table.
    fn stride(&mut self, addr: i128, pc: u64, bytes: i128) -> Option<i128> {
        if pc == 0 {
            return None;
        }
        let number = (pc ^ pc >> 8) % 256;
        let row = match self.strides.get_mut(&number) {
            Some(row) if row.pc == pc => row,
            _ => {
                self.strides.insert(number, Row { pc, last: addr, step: 0, state: "initial" });
                return None;
            }
        };
        let step = addr - row.last;
        if step == 0 {
            return None;
        }
        row.last = addr;
        let right = step == row.step;
        let was = row.state;
        row.state = match (was, right) {
            ("initial" | "transient" | "steady", true) => "steady",
            ("no prediction", true) => "transient",
            ("steady", false) => "initial",
            ("initial", false) => "transient",
            _ => "no prediction",
        };
        // One odd step costs a steady row its trust, not its stride.
        if was != "steady" || right {
            row.step = step;
        }
        let far = if step.abs() < bytes { bytes * step.signum() } else { step };
        (row.state == "steady").then(|| (addr + far).div_euclid(bytes))
    }

    /// Adds a miss to the first stream it continues, or starts one in place of the one least recently used; gives the
    /// direction of a stream seen three times.
    fn stream(&mut self, line: i128) -> i128 {
        self.time += 1;
        let time = self.time;
        let continues = |s: &&mut Stream| {
            let step = line - s.last;
            s.used > 0 && (1..=4).contains(&step.abs()) && (s.direction == 0 || s.direction == step.signum())
        };
        if let Some(stream) = self.streams.iter_mut().find(continues) {
            let direction = (line - stream.last).signum();
            *stream = Stream { last: line, direction, seen: stream.seen + 1, used: time };
            return if stream.seen >= 3 { direction } else { 0 };
        }
        let oldest = self.streams.iter_mut().min_by_key(|stream| stream.used).unwrap();
        *oldest = Stream { last: line, direction: 0, seen: 1, used: time };
        0
    }
}
