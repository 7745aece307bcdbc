//! Colours of regions in a storyboard: a name has one colour in all sources.

use super::super::StoryError;
use super::super::board::Storyboard;
use super::super::error::unknown;
use crate::overlay::Studio;
use crate::reference::Region;
use crate::scene::palette::own::{from_hex, hex, refused};
use crate::scene::palette::{RegionColors, Rgba};
use crate::scene::shades::{alike, is_of};
use std::collections::BTreeSet;

/// The colours of each source's regions: those that the storyboard gives, and one for each name.
pub(super) fn colors(story: &Storyboard, sources: &[(String, Studio)]) -> Result<Vec<RegionColors>, StoryError> {
    let given = given(story)?;
    let traces: Vec<&[Region]> = sources.iter().map(|(_, studio)| &studio.tables().regions[..]).collect();
    let is_known = |name: &str| traces.iter().copied().flatten().any(|region| is_of(name, region));
    if let Some((name, _)) = given.iter().find(|(name, _)| !is_known(name)) {
        let names: BTreeSet<&str> = traces.iter().copied().flatten().map(|region| region.name.as_str()).collect();
        return Err(story.color_fault(name, &unknown(name, &names.into_iter().collect::<Vec<_>>())));
    }
    Ok(alike(&traces, &given))
}

/// What the storyboard says of colours.
fn given(story: &Storyboard) -> Result<Vec<(String, Rgba)>, StoryError> {
    let color = |(name, written): (&String, &String)| {
        let fault = |words: String| story.color_fault(name, &format!("{name}: {words}"));
        let Some(color) = from_hex(written) else {
            return Err(fault(format!("found `{written}`; expected a colour such as `#ffcc00`")));
        };
        match refused(color) {
            None => Ok((name.clone(), color)),
            Some((what, taken)) => Err(fault(format!(
                "found `{written}`, which is nearly {what} ({}); expected a colour further from it, such as `#ffcc00`",
                hex(taken)
            ))),
        }
    };
    story.board.colors.iter().map(color).collect()
}
