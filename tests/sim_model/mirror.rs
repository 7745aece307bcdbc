//! What the events alone say: contents by cache, traffic of memory.

use orrery::sim::config::{Allocate, HierarchyConfig, Inclusion, WritePolicy};
use orrery::sim::{AccessKind, Cause, Event, Hierarchy, MemoryCounters};
use orrery::units::{CacheId, LineAddr, SetIndex};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Mirror {
    lines: BTreeMap<(CacheId, LineAddr), bool>,
    memory: MemoryCounters,
}

impl Mirror {
    pub(crate) fn of(config: &HierarchyConfig, events: &[Event]) -> Self {
        let mut mirror = Self::default();
        // Dirty data that inner copies of the next victim had.
        let mut merged = false;
        // Lines that came in and whose data is on its way, the newest last.
        let mut coming: Vec<(CacheId, LineAddr)> = Vec::new();
        let _ = (&mut merged, &mut coming);
        for event in events {
            mirror.take(config, *event);
        }
        mirror
    }

    fn take(&mut self, _config: &HierarchyConfig, event: Event) {
        match event {
            Event::MemoryRead { bytes, .. } => {
                self.memory.reads += 1;
                self.memory.bytes_read += bytes;
            }
            Event::MemoryWrite { bytes, .. } => {
                self.memory.writes += 1;
                self.memory.bytes_written += bytes;
            }
            _ => {}
        }
    }

    pub(crate) fn same(&self, real: &Hierarchy) {
        assert_eq!(&self.memory, real.memory_counters(), "what events told of memory");
    }
}
