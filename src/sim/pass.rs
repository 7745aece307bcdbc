//! One pass through a trace, decoded once, for any number of hierarchies and observers.

use super::check::{PlayCheck, SimError};
use super::config::HierarchyConfig;
use crate::reference::{Reference, ReferenceSource, SourceError, ahead};

/// Gives `take` all references that a source has now, in order, with the number of the first. They are looked at before, for
/// hierarchies of all these configurations: a core that one of them does not have ends the pass, and so do too many bytes of
/// long references.
///
/// ```
/// use orrery::reference::{Kind, MemoryTrace, Reference, Tables};
/// use orrery::sim::config::preset;
/// use orrery::sim::{Hierarchy, SimError, pass};
///
/// let references = (0..1000).map(|n| Reference::new(Kind::Read, 64 * (n % 100), 8)).collect();
/// let trace = MemoryTrace::new(references, Tables::default());
/// let configs = ["paper", "textbook"].map(|name| preset(name).expect("a preset"));
/// let mut caches = [Hierarchy::new(&configs[0])?, Hierarchy::new(&configs[1])?];
/// pass(&trace, &configs, |_from, part| {
///     caches.iter_mut().for_each(|hierarchy| hierarchy.play(part, &mut ()));
///     Ok::<_, SimError>(())
/// })?;
/// assert!(caches[0].memory_counters().reads > caches[1].memory_counters().reads);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SimError::Core`] and [`SimError::TooMuch`], those of the source, and those of `take`, which is not called again.
pub fn pass<'a, E: From<SimError> + From<SourceError>>(
    source: &dyn ReferenceSource,
    configs: impl IntoIterator<Item = &'a HierarchyConfig>,
    mut take: impl FnMut(u64, &[Reference]) -> Result<(), E>,
) -> Result<(), E> {
    let mut check = PlayCheck::new(configs);
    ahead(source, |from, references| {
        check.look(references, from)?;
        take(from, references)
    })
}
