//! Flags that say what of an array is looked at as solids.

use crate::scene::solids::look::SLICES;
use crate::scene::solids::{Form, Glyphs, Isovalues, Measure, Projection, SolidLook};
use crate::timeline::grid::MOST_SLICES;
use crate::timeline::{Aggregate, Distribution, GridKind, GridPart};
use clap::Args;

/// What of an array is looked at as solids.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Arrays as solids")]
pub struct SolidArgs {
    /// The array; the default is the one with most references of those that have rows and columns
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// What is counted: local-remote (reads above the plane, writes below), accesses, reads, writes, local, remote, local-reads,
    /// remote-reads, local-writes, remote-writes, misses, hits, bytes, evictions or invalidations
    #[arg(long, value_name = "WHAT", default_value_t = Measure::Difference)]
    pub measure: Measure,
    /// Which elements of the array are counted: for each dimension an index, FROM..TO or *, such as 3,0..16 for a part of a row
    #[arg(long, value_name = "INDICES", allow_negative_numbers = true)]
    pub elements: Option<GridPart>,
    /// What colours tell, a measure as above; without, the same as heights, on a tube who accessed, in a scatter which core did
    #[arg(long, value_name = "WHAT")]
    pub color_by: Option<Measure>,
    /// What blocks tell, where an array has too many elements for one each: sum, min, mean or max of what their elements have
    #[arg(long, value_name = "HOW", default_value_t = Aggregate::Sum)]
    pub aggregate: Aggregate,
    /// Which core owns an element, whose accesses are local: first-touch (who wrote it first), or for each dimension block, cyclic,
    /// cyclic(K) or *, such as cyclic,* for rows that are dealt in turn
    #[arg(long, value_name = "DISTRIBUTION", default_value_t = Distribution::FirstTouch)]
    pub owner: Distribution,
    /// Count accesses of this core only
    #[arg(long, value_name = "CORE", allow_negative_numbers = true)]
    pub of_core: Option<u16>,
    /// Count accesses of this kind only: reads or writes
    #[arg(long, value_name = "KIND")]
    pub of_kind: Option<GridKind>,
    /// Draw only elements of which so many are counted, or more; of isosurfaces, --isovalues says it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threshold: Option<u64>,
    /// Slices of time that the trace is cut into
    #[arg(long, value_name = "N", default_value_t = SLICES, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SLICES)))]
    pub slices: u32,
    /// Count these slices, from one up to another, such as 111..126; the default is those before the playhead, of a tube the last 15,
    /// of isosurfaces and a scatter the last 8
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    pub slice: Option<(u32, u32)>,
    /// How elements are drawn: auto (as there is room), spheres, towers or sheet
    #[arg(long, value_name = "FORM", default_value_t = Form::Auto)]
    pub form: Form,
    /// Which values isosurfaces have: numbers, such as 10,20,40, or how many lie evenly between the least and the largest, such as even(5)
    #[arg(long, value_name = "VALUES", default_value_t = Isovalues::default(), allow_hyphen_values = true)]
    pub isovalues: Isovalues,
    /// What glyphs of a scatter are of, which their colours tell: processor (one for each core that refers to an element), owner (one for
    /// each element) or local-remote (one for each element)
    #[arg(long, value_name = "GLYPHS", default_value_t = Glyphs::default())]
    pub glyphs: Glyphs,
    /// How what is far is seen: perspective (smaller) or orthographic (as large)
    #[arg(long, value_name = "PROJECTION", default_value_t = Projection::default())]
    pub projection: Projection,
}

impl SolidArgs {
    /// What they say.
    #[must_use]
    pub fn look(&self) -> SolidLook {
        SolidLook {
            array: self.array.as_deref().map(Into::into),
            part: self.elements.clone().unwrap_or_default(),
            measure: self.measure,
            color: self.color_by,
            aggregate: self.aggregate,
            owner: self.owner.clone(),
            core: self.of_core,
            kind: self.of_kind,
            threshold: self.threshold,
            slices: self.slices,
            window: self.slice,
            form: self.form,
            isovalues: self.isovalues.clone(),
            glyphs: self.glyphs,
            projection: self.projection,
        }
    }
}

/// `111..126`.
fn window(text: &str) -> Result<(u32, u32), String> {
    let parse = |text: &str| text.trim().parse::<u32>().ok();
    let both = text.split_once("..").and_then(|(from, to)| Some((parse(from)?, parse(to)?)));
    match both {
        Some((from, to)) if from < to => Ok((from, to)),
        _ => Err(format!("found `{text}`; expected the first slice, and the one after the last, as in 111..126")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_a_first_one_and_one_after_the_last() {
        assert_eq!(window("111..126"), Ok((111, 126)));
        assert_eq!(window("0 .. 1"), Ok((0, 1)));
        for wrong in ["111", "126..111", "5..5", "..3", "-1..2", "a..b"] {
            assert!(window(wrong).is_err_and(|words| words.contains(wrong) && words.contains("111..126")), "{wrong}");
        }
    }
}
