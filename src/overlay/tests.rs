//! What tests of exhibits and of the window show.

use super::Studio;
use crate::reference::{Kind, Mark, MemoryTrace, Reference, Region, Tables};
use crate::sim::Hierarchy;
use crate::sim::config::{HierarchyConfig, preset};
use std::sync::Arc;

/// 1,000 references over two arrays: A is streamed through, B[0] is touched every fourth time.
pub(crate) fn studio() -> Studio {
    studio_under(&preset("paper").expect("there"))
}

/// As [`studio`], under other caches.
pub(crate) fn studio_under(config: &HierarchyConfig) -> Studio {
    let region = |name: &str, base| Region {
        elem_type: "double".into(),
        shape: vec![1024].into(),
        ..Region::new(name, base, 8 * 1024)
    };
    let references = (0..1000u64)
        .map(|n| match n % 4 {
            3 => Reference::new(Kind::Write, 0x4000, 8),
            _ => Reference::new(Kind::Read, 0x1000 + 8 * n, 8),
        })
        .collect();
    let mark = |reference, name: &str| Mark { reference, name: name.into() };
    let tables = Tables {
        title: "two arrays".into(),
        regions: vec![region("A", 0x1000), region("B", 0x4000)],
        marks: vec![mark(100, "first"), mark(600, "second")],
        ..Tables::default()
    };
    studio_of(references, tables, config)
}

/// Of a trace of one's own.
pub(crate) fn studio_of(references: Vec<Reference>, tables: Tables, config: &HierarchyConfig) -> Studio {
    let hierarchy = Hierarchy::new(config).expect("good");
    let trace = Arc::new(MemoryTrace::new(references, tables));
    Studio::new(trace, hierarchy, &mut |_, _| true).expect("in memory")
}
