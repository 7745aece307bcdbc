//! Flags by which people have regions and rings look as they want.

use crate::scene::layout::Radii;
use crate::scene::palette::Rgba;
use crate::scene::palette::own::{from_hex, hex, refused};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Colours and order of regions, thickness of rings.
#[derive(Debug, Clone, Default, Args)]
pub struct RegionArgs {
    /// Give regions these colours, by name as in --show: A=#ffcc00,'heap*=#66ddff'
    #[arg(long, value_name = "REGION=#RRGGBB", value_delimiter = ',', value_parser = color)]
    pub color: Vec<(String, Rgba)>,
    /// Put these regions first, in this order, by name as in --show; all others stand after them as they are
    #[arg(long, value_name = "B,A", value_delimiter = ',')]
    pub order: Vec<String>,
    /// How thick rings are: as they fit, or so that their area is as their capacity; a ring too thin to be seen is wider, and the
    /// picture says so
    #[arg(long, value_name = "HOW", default_value = "fit", value_parser = radii())]
    pub radii: Radii,
}

/// The names of all radii.
fn radii() -> impl TypedValueParser<Value = Radii> {
    let named = |name: String| Radii::ALL.into_iter().find(|radii| radii.name() == name).unwrap_or_default();
    PossibleValuesParser::new(Radii::ALL.map(Radii::name)).map(named)
}

/// One of `--color`.
fn color(text: &str) -> Result<(String, Rgba), String> {
    const EXPECTED: &str = "expected the name of a region and its colour, as in A=#ffcc00";
    let (name, written) = text.rsplit_once('=').ok_or(EXPECTED)?;
    let color = from_hex(written).ok_or_else(|| format!("found `{written}`; {EXPECTED}"))?;
    match refused(color) {
        _ if name.is_empty() => Err(EXPECTED.into()),
        None => Ok((name.to_owned(), color)),
        Some((what, taken)) => Err(format!(
            "{written} is nearly {what} ({}), so that nobody could tell them apart; expected a colour further from it, such as \
             #ffcc00",
            hex(taken)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_and_wrong_ones_are_answered() {
        assert_eq!(color("A=#ffcc00"), Ok(("A".into(), [255, 204, 0, 255])));
        assert_eq!(color("a=b=#00ff00"), Ok(("a=b".into(), [0, 255, 0, 255])), "a name may have the sign");
        for (text, told) in [
            ("A", "as in A=#ffcc00"),
            ("=#ffcc00", "name of a region"),
            ("A=yellow", "found `yellow`"),
            ("A=#fc0", "found `#fc0`"),
            ("A=#ee3812", "nearly the red of a miss (#ee3812)"),
            ("A=#101018", "nearly the ground"),
        ] {
            let error = color(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
