//! Stills of a report: the caches at the references that it explains, as vectors, so that no adapter is needed.

use super::open::Caches;
use crate::axis::Position;
use crate::overlay::exhibits::suited;
use crate::overlay::{Parts, Sheet, Shot, Studio, vector};
use crate::record::vector::VectorFormat;
use crate::reference::ReferenceSource;
use crate::scene::View;
use crate::scene::palette::Theme;
use crate::sim::prepare;
use std::sync::Arc;

/// Width and height, points.
const SIZE: [u32; 2] = [1280, 720];
/// References of trail.
const TAIL: u64 = 64;
/// Where in a reference a still is: what moves is half way.
const PHASE: f64 = 0.5;

/// An SVG of the caches at each of some references.
///
/// # Errors
/// When the trace cannot be read or a picture not be drawn.
pub(super) fn stills(
    source: &Arc<dyn ReferenceSource>,
    caches: &Caches,
    references: &[u64],
) -> anyhow::Result<Vec<Option<String>>> {
    if references.is_empty() {
        return Ok(Vec::new());
    }
    let hierarchy = prepare(&caches.config, source.as_ref())?;
    let mut studio = Studio::new(Arc::clone(source), hierarchy, &mut |_, _| true)?;
    let mut exhibit = (suited(&studio).open)(&studio);
    let mut out = Vec::new();
    for reference in references {
        let view = View { tail: TAIL, ..View::default() };
        #[expect(clippy::cast_precision_loss, reason = "a moment in a trace")]
        let shot = Shot::still(SIZE, Position::of(*reference as f64 + PHASE), view, Parts::default());
        let strip = studio.strip_of_kind(shot.layout().strip_columns(), shot.playback.stretch, shot.playback.strip);
        let taken = shot.take(&mut studio, exhibit.as_mut())?;
        let drawing =
            vector::drawing(&Sheet { pictures: &[(&taken, &strip)], over: &|_| {} }, (SIZE, 1.0), Theme::Dark)?;
        let svg = VectorFormat::Svg.bytes(&drawing);
        out.push(Some(String::from_utf8_lossy(&svg).into_owned()));
    }
    Ok(out)
}
