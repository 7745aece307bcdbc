//! What is kept of a kernel as tasks: each access of a warp and each barrier of one is a task, a row long.

use crate::kernel::{Doing, KernelBook};
use crate::tasks::metrics::Edges;
use crate::tasks::{NewTask, TaskBook, TaskId, TaskSetBuilder};

/// The tasks of the groups that are kept. Locations are warps of groups (`group[3].warp[1]`), all groups begin at 0, and a row of a
/// group takes a tick: time is logical. Tasks are called by group, warp and row: `3.1.17`.
#[must_use]
pub fn kernel_tasks(book: &KernelBook, title: &str) -> TaskBook {
    let mut builder = TaskSetBuilder::of_rows();
    let warp = book.hardware.warp;
    for record in &book.groups {
        let warps = record.items.div_ceil(warp);
        let locations: Vec<_> =
            (0..warps).map(|n| builder.location(&format!("group[{}].warp[{n}]", record.group))).collect();
        for (start, row) in (0..).zip(&record.rows) {
            let (category, action) = match (row.doing, book.site(row)) {
                (Doing::Access(_), Some(site)) => (site.act.word(), site.words.as_str()),
                (Doing::Barrier { storage: true, .. }, _) => ("storage barrier", ""),
                _ => ("barrier", ""),
            };
            let (category, action) = (builder.word(category), builder.word(action));
            let mut before = usize::MAX;
            for of in row.items.iter().map(|item| item / warp) {
                if of == before {
                    continue;
                }
                before = of;
                let Some(location) = locations.get(of).copied() else { continue };
                // In another run of the kernel the same is called the same.
                let name = format!("{}.{of}.{start}", record.group);
                let (id, end) = (TaskId::Text(&name), start + 1);
                let task = NewTask { id: &id, parent: None, category, action, location, start, end };
                // So many are not kept.
                if builder.push(task).is_err() {
                    break;
                }
            }
        }
    }
    TaskBook::new(builder.finish().set, Edges::Neither, title, "")
}
