//! A whole trace through a hierarchy, for observers.

use crate::reference::ReferenceSource;
use crate::sim::config::HierarchyConfig;
use crate::sim::{Hierarchy, Observer, SimError, pass, prepare};

/// Plays all references of a source; the observer is told. The answer is the hierarchy as it stands at the end.
///
/// # Errors
/// When the configuration is wrong, the trace does not fit it, or the source fails.
pub fn play(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    observer: &mut impl Observer,
) -> Result<Hierarchy, SimError> {
    let mut hierarchy = prepare(config, source)?;
    pass(source, [config], |_, references| {
        hierarchy.play(references, observer);
        Ok::<_, SimError>(())
    })?;
    Ok(hierarchy)
}
