//! Words for references and events, so that tests of the simulator read like the trace they play.

use orrery::reference::{Kind, Reference};
use orrery::sim::{AccessKind, Cause, Event};

/// `r 20 4`: kind, address in hex, size in decimal.
pub(crate) fn reference(text: &str) -> Reference {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let kind = match parts[0] {
        "r" => Kind::Read,
        "w" => Kind::Write,
        "m" => Kind::Modify,
        "f" => Kind::Fetch,
        other => panic!("{other}"),
    };
    Reference::new(kind, u64::from_str_radix(parts[1], 16).expect("hex"), parts[2].parse().expect("a number"))
}

/// An event in a word or two, with the number of the cache from 1: `1r0-` = L1 is read for line 0 and misses, `2b3+` = L2
/// gets line 3 back and has it, `1>3!` = L1 evicts line 3, dirty, `1<0` = L1 fills line 0, `1<0?` because its prefetcher asks,
/// `1~0` = L1 cleans it, `1x0` = L1 loses line 0 to an outer level, `1X0` to another core, `2^0` = line 0 moves inward out of
/// L2, `M<0+32` = memory reads 32 bytes from 0, `S1<0` = core 1 comes back to what core 0 took, `s1<0` falsely shared, `T0.5+` =
/// TLB 0 has page 5.
pub(crate) fn told(event: &Event) -> String {
    let dirt = |dirty: bool| if dirty { "!" } else { "" };
    match *event {
        Event::Access { cache, line, kind, hit, .. } => {
            let kind = match kind {
                AccessKind::Read => 'r',
                AccessKind::Write => 'w',
                AccessKind::Fetch => 'f',
                AccessKind::Writeback => 'b',
                AccessKind::Prefetch => 'p',
            };
            format!("{}{kind}{:x}{}", cache.0 + 1, line.0, if hit { '+' } else { '-' })
        }
        Event::Fill { cache, line, dirty, prefetch, .. } => {
            format!("{}<{:x}{}{}", cache.0 + 1, line.0, dirt(dirty), if prefetch { "?" } else { "" })
        }
        Event::Evict { cache, line, dirty, .. } => format!("{}>{:x}{}", cache.0 + 1, line.0, dirt(dirty)),
        Event::Invalidate { cache, line, dirty, cause, .. } => {
            let cause = match cause {
                Cause::Inclusion => 'x',
                Cause::Coherence => 'X',
                Cause::Promotion => '^',
            };
            format!("{}{cause}{:x}{}", cache.0 + 1, line.0, dirt(dirty))
        }
        Event::Clean { cache, line, .. } => format!("{}~{:x}", cache.0 + 1, line.0),
        Event::Renew { cache, line, .. } => format!("{}={:x}", cache.0 + 1, line.0),
        Event::Sharing { core, by, falsely, .. } => format!("{}{core}<{by}", if falsely { 's' } else { 'S' }),
        Event::Translate { tlb, page, hit, .. } => format!("T{tlb}.{:x}{}", page.0, if hit { '+' } else { '-' }),
        Event::MemoryRead { addr, bytes, .. } => format!("M<{:x}+{bytes}", addr.0),
        Event::MemoryWrite { addr, bytes, .. } => format!("M>{:x}+{bytes}", addr.0),
        _ => panic!("an event without a word here: {event:?}"),
    }
}
