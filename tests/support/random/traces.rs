//! Random traces.

use super::Lots;
use crate::support::regions::span;
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::sim::config::HierarchyConfig;
use orrery::trace::synth::{self, MatmulOrder, Rng};

/// References to a few lines near one place, for a machine of so many cores.
pub(crate) fn near(lots: &mut Rng, config: &HierarchyConfig) -> Vec<Reference> {
    let line = u64::from(config.levels.iter().map(|level| level.line).max().unwrap_or(1));
    let span = line * lots.one_of(&[4, 8, 12, 16, 24, 48]);
    // From the bottom, across a page's end, up to the top of all addresses, and somewhere.
    let base = lots.one_of(&[0, 0, 4096 - (span / 2).min(4096), 0u64.wrapping_sub(span), 0x7f12_3456_7000]);
    let top = u64::MAX - base;
    let count = lots.one_of(&[20, 60, 120, 200]);
    let mut trace = Vec::new();
    let stores = lots.one_of(&[20, 45, 70]);
    while trace.len() < count {
        let core = u16::try_from(lots.below(config.cores.into())).unwrap();
        let walk = lots.percent(25);
        // Walks of one instruction, up or down; else one reference anywhere.
        let steps = if walk { 3 + lots.below(8) } else { 1 };
        let pc = if walk || lots.percent(50) { lots.one_of(&[1, 2, 3, 4, 0x101, 0x40_0104]) } else { 0 };
        let kind = match lots.below(100) {
            n if n < stores => Kind::Write,
            n if n < stores + 7 => Kind::Modify,
            n if n < stores + 20 => Kind::Fetch,
            _ => Kind::Read,
        };
        let size = match lots.below(10) {
            0..6 => lots.one_of(&[1, 2, 4, 8]),
            6 => lots.below(3 * line) + 1,
            7 => line * lots.one_of(&[1, 1, 2, 3]),
            8 => line / 2,
            _ => lots.below(line) + 1,
        };
        let size = size.max(1);
        let align = if lots.percent(60) { size.min(line).next_power_of_two() } else { 1 };
        let (from, stride) = (lots.below(span), lots.one_of(&[line, line, line / 2, 8, 2 * line, 3 * line + 4]));
        let down = lots.percent(30);
        for step in 0..steps {
            let moved = step * stride % span;
            let at = (if down { from + span - moved } else { from + moved } % (2 * span)).min(top);
            let addr = (base + at) & !(align - 1);
            let size = u32::try_from(size).unwrap();
            trace.push(Reference { pc, core, ..Reference::new(kind, addr, size) });
        }
    }
    trace
}

/// References that stream, jump and come back, of every kind and of sizes that cross lines; or a generator's.
pub(crate) fn named(lots: &mut Rng) -> MemoryTrace {
    let n = 1 + lots.below(700);
    let region = |name: &str, base, bytes, lifetime| Region { lifetime, ..span(name, base, bytes) };
    // The second and third share addresses at different times; some references lie outside of all.
    let regions = vec![
        region("a", 0x1000, 0x300, None),
        region("early", 0x1400, 0x200, Some((0, n / 2))),
        region("late", 0x1400, 0x200, Some((n / 2, n))),
    ];
    let references: Vec<Reference> = match lots.below(6) {
        0 => return synth::matmul(6, MatmulOrder::Standard),
        1 => synth::zipf(n, 64, 0.9, lots.next_u64()).collect(),
        2 => synth::stride(n, 8 * (1 + lots.below(40)), 4096).collect(),
        3 => synth::pointer_chase(n, 50, lots.next_u64()).collect(),
        _ => {
            let mut at = 0x1000u64;
            (0..n)
                .map(|_| {
                    at = match lots.below(4) {
                        0 => 0x1000 + lots.below(0x700),
                        1 => at,
                        _ => at + 8,
                    };
                    let kind = [Kind::Read, Kind::Read, Kind::Write, Kind::Write, Kind::Modify, Kind::Fetch];
                    let kind = kind[usize::try_from(lots.below(6)).expect("small")];
                    let size = if lots.below(12) == 0 { 1 + lots.small(100) } else { 8 };
                    Reference::new(kind, at, size)
                })
                .collect()
        }
    };
    MemoryTrace::new(references, Tables { regions, ..Tables::default() })
}

/// References of all kinds and sizes, also over many lines, also up to the top of all addresses; in loops or scattered.
pub(crate) fn loops(lots: &mut Rng, count: u64) -> Vec<Reference> {
    let span = lots.one_of(&[1 << 10, 1 << 13, 1 << 16]);
    let base = lots.one_of(&[0, 0x7f12_3456_7000, 0u64.wrapping_sub(span)]);
    let (stride, scattered, crossing) = (lots.one_of(&[4, 8, 64, 72]), lots.below(3) == 0, lots.below(3) > 0);
    let mut at = 0;
    (0..count)
        .map(|_| {
            at = if scattered || lots.below(100) == 0 { lots.below(span) } else { (at + stride) % span };
            let kind = lots.one_of(&[Kind::Read, Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch]);
            let size = match lots.below(20) {
                0 if crossing => 1 + lots.small(400),
                1 if crossing => lots.one_of(&[16, 32, 64]),
                _ => 1 << lots.below(4),
            };
            let aligned =
                if crossing && lots.below(10) == 0 { at } else { at & !u64::from(size.next_power_of_two() - 1) };
            Reference { pc: lots.below(1 << 12), ..Reference::new(kind, base.saturating_add(aligned), size) }
        })
        .collect()
}
