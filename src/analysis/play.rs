//! A whole trace through a hierarchy, for observers.

use crate::reference::{ReferenceSource, ahead};
use crate::sim::config::HierarchyConfig;
use crate::sim::{Hierarchy, Long, Observer, SimError, check_core, prepare};

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
    let mut long = Long::default();
    ahead(source, |from, references| {
        long.note(references, from)?;
        references.iter().zip(from..).try_for_each(|(reference, tick)| check_core(config, reference, tick))?;
        hierarchy.play(references, observer);
        Ok::<_, SimError>(())
    })?;
    Ok(hierarchy)
}
