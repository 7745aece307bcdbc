//! What `// @emit` tells, value by value.

use crate::kernel::{Cancel, Emit, Mask, Observer};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a line of CSV for each value that is told.
pub(super) struct ValueLines<'w> {
    out: &'w mut dyn Write,
    emits: Vec<String>,
    cancel: Cancel,
    group: u64,
    /// Whether a group has begun: before that there may be an error in place of values.
    begun: bool,
    /// Values of this group so far, by emit and item.
    counts: BTreeMap<(usize, usize), u64>,
    failed: &'w mut Option<io::Error>,
}

impl<'w> ValueLines<'w> {
    /// Writes to `out`. Where nothing can be written the launch ends, and `failed` says why.
    pub(super) fn new(
        out: &'w mut dyn Write,
        failed: &'w mut Option<io::Error>,
        emits: &[Emit],
        cancel: &Cancel,
    ) -> Self {
        let quoted = |emit: &Emit| format!("{},\"{}\"", emit.line, emit.words.replace('"', "\"\""));
        let emits = emits.iter().map(quoted).collect();
        Self { out, emits, cancel: cancel.clone(), group: 0, begun: false, counts: BTreeMap::new(), failed }
    }
}

impl Observer for ValueLines<'_> {
    fn begin(&mut self, group: u64, _items: usize) {
        if !self.begun {
            self.begun = true;
            *self.failed = writeln!(self.out, "group,item,line,expression,number,value").err();
        }
        self.group = group;
        self.counts.clear();
    }

    fn emit(&mut self, emit: usize, items: &Mask, values: &[f32]) {
        let (Some(words), None) = (self.emits.get(emit), &*self.failed) else { return };
        for item in items.iter() {
            let number = self.counts.entry((emit, item)).or_default();
            let line = writeln!(self.out, "{},{item},{words},{number},{}", self.group, values[item]);
            *number += 1;
            if let Err(error) = line {
                *self.failed = Some(error);
                self.cancel.cancel();
                return;
            }
        }
    }
}
