//! What a SASS opcode does to memory, and how many bytes a lane.

use crate::reference::Kind;

/// The memory that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Global, local or generic: behind the caches.
    Cached(Kind),
    /// Shared memory of the thread block, the distributed kind of a cluster included.
    Shared,
    /// Constants, textures, surfaces, and what is not known.
    Other,
}

/// Where `opcode`, as in `LDG.E.64`, goes.
pub(super) fn space(opcode: &str) -> Space {
    match opcode.split('.').next().unwrap_or(opcode) {
        // LDGSTS copies from global to shared memory; its addresses are the global ones.
        "LDG" | "LDL" | "LD" | "LDGSTS" => Space::Cached(Kind::Read),
        "STG" | "STL" | "ST" => Space::Cached(Kind::Write),
        "ATOM" | "ATOMG" | "RED" | "REDG" => Space::Cached(Kind::Modify),
        "LDS" | "STS" | "LDSM" | "STSM" | "ATOMS" | "LDSLK" | "STSCUL" | "STAS" | "REDAS" => Space::Shared,
        _ => Space::Other,
    }
}

/// Bytes that each lane touches. The part that names a width says it (`.64`, `.U8`, `.F64`), else it is 4; the width that the
/// tracer writes beside the registers is that of the instruction's class and often wrong.
pub(super) fn bytes(opcode: &str) -> u32 {
    let width = |part: &str| {
        let bits = part.strip_prefix("BF").unwrap_or(part).trim_start_matches(['U', 'S', 'F', 'B']);
        match bits.strip_suffix("x2").unwrap_or(bits) {
            "8" => Some(1),
            // Two halves side by side are one word.
            "16" => Some(if bits.ends_with("x2") { 4 } else { 2 }),
            "32" => Some(4),
            "64" => Some(8),
            "128" => Some(16),
            "256" => Some(32),
            _ => None,
        }
    };
    opcode.split('.').skip(1).find_map(width).unwrap_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_say_where_and_how_wide() {
        use Space::{Cached, Other, Shared};
        for (opcode, at, width) in [
            ("LDG.E", Cached(Kind::Read), 4),
            ("LDG.E.64", Cached(Kind::Read), 8),
            ("LDG.E.128.CONSTANT", Cached(Kind::Read), 16),
            ("LDG.E.LTC128B.U8", Cached(Kind::Read), 1),
            ("LDGSTS.E.BYPASS.LTC128B.128", Cached(Kind::Read), 16),
            ("STG.E.U16", Cached(Kind::Write), 2),
            ("ST.E.S8", Cached(Kind::Write), 1),
            ("STL.64", Cached(Kind::Write), 8),
            ("ATOMG.E.ADD.F64.RN.STRONG.GPU", Cached(Kind::Modify), 8),
            ("RED.E.ADD.F16x2.RN", Cached(Kind::Modify), 4),
            ("LDS.128", Shared, 16),
            ("LDSM.16.M88.4", Shared, 2),
            ("LDC.64", Other, 8),
            ("TEX.SCR.LL", Other, 4),
        ] {
            assert_eq!((space(opcode), bytes(opcode)), (at, width), "{opcode}");
        }
    }
}
