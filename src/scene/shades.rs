//! Which regions a picture shows: names become a [`Shade`] for each region. Counts are those of all regions at any rate.

use super::view::Shade;
use crate::reference::Region;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is asked for, by name. Regions of one name are one choice; `*` in a name stands for any characters, `?` for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Regions to be seen in full; empty = all.
    pub show: Vec<String>,
    /// Regions to be seen faintly.
    pub dim: Vec<String>,
    /// How regions are seen that `show` leaves out.
    pub rest: Shade,
    /// What was said of single regions since then.
    pub said: BTreeMap<String, Shade>,
}

/// Whether a pattern stands for a name: it is the name, or its `*` and `?` make it so.
#[must_use]
pub fn stands_for(pattern: &str, name: &str) -> bool {
    pattern == name || pattern.contains(['*', '?']) && is_match(pattern, name)
}

/// Whether a pattern stands for a region: for its name, or for its declaration, as pictures tell it.
#[must_use]
pub fn is_of(pattern: &str, region: &Region) -> bool {
    stands_for(pattern, &region.name) || pattern == region.declaration()
}

/// As [`stands_for`], letter by letter: the last `*` is tried again a letter further where the rest does not fit.
fn is_match(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((after, from)) => {
                    (p, n) = (after, from + 1);
                    star = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

impl Choice {
    /// How each region is seen. Where `show` names none of them, it hides none.
    #[must_use]
    pub fn shades(&self, regions: &[Region]) -> Arc<[Shade]> {
        let any = |patterns: &[String], region: &Region| patterns.iter().any(|pattern| is_of(pattern, region));
        let rest = if regions.iter().any(|region| any(&self.show, region)) { self.rest } else { Shade::Full };
        let shade = |region: &Region| match self.said.get(&region.name) {
            Some(said) => *said,
            None if any(&self.show, region) => Shade::Full,
            None if any(&self.dim, region) => Shade::Dim,
            None => rest,
        };
        let shades: Arc<[Shade]> = regions.iter().map(shade).collect();
        // Of a picture that shows all, nothing is to be looked up.
        if shades.iter().all(|shade| *shade == Shade::Full) { Arc::default() } else { shades }
    }

    /// The first name that stands for no region.
    #[must_use]
    pub fn unknown(&self, regions: &[Region]) -> Option<&str> {
        let names = self.show.iter().chain(&self.dim).map(String::as_str);
        names.into_iter().find(|name| !regions.iter().any(|region| is_of(name, region)))
    }

    /// Says how the regions of a name are seen from now on.
    pub fn say(&mut self, name: &str, shade: Shade) {
        self.said.insert(name.to_owned(), shade);
    }

    /// Shows the regions of this name alone, or all again where they are alone already.
    pub fn only(&mut self, name: &str, regions: &[Region]) {
        let alone = |(region, shade): (&Region, &Shade)| (*shade == Shade::Full) == (region.name == name);
        let shades = self.shades(regions);
        let is_alone = shades.len() == regions.len() && regions.iter().zip(shades.iter()).all(alone);
        *self = Self::default();
        if !is_alone {
            (self.show, self.rest) = (vec![name.to_owned()], Shade::Hidden);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(names: &[&str]) -> Vec<Region> {
        (0..).zip(names).map(|(n, name)| Region::new(*name, n << 12, 64)).collect()
    }

    #[test]
    fn patterns_stand_for_names_with_any_marks_in_them() {
        for (pattern, name, stands) in [
            ("A", "A", true),
            ("A", "AB", false),
            ("A*", "AB", true),
            ("*", "", true),
            ("m*at*.c:1?", "malloc at x.c:12", true),
            ("m*at*.c:1?", "malloc at x.c:2", false),
            ("*ab*ab", "abxabab", true),
            ("?", "é", true),
            // Marks of names are letters.
            ("a[1]", "a[1]", true),
            ("a[1]", "a1", false),
            ("operator*", "operator*", true),
            ("what?", "what?", true),
        ] {
            assert_eq!(stands_for(pattern, name), stands, "{pattern} {name}");
        }
    }

    #[test]
    fn regions_are_chosen_by_name_and_by_click() {
        use Shade::{Dim, Full, Hidden};
        let all = regions(&["A", "B", "heap 1", "heap 2", "A"]);
        let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let shades = |show: &[&str], dim: &[&str], rest| {
            Choice { show: strings(show), dim: strings(dim), rest, ..Choice::default() }.shades(&all).to_vec()
        };
        assert_eq!(shades(&["A", "heap*"], &[], Hidden), [Full, Hidden, Full, Full, Full]);
        assert_eq!(shades(&["B"], &["heap 1"], Hidden), [Hidden, Full, Dim, Hidden, Hidden]);
        assert_eq!(shades(&["B"], &[], Dim), [Dim, Full, Dim, Dim, Dim]);
        assert_eq!(shades(&[], &["?"], Full), [Dim, Dim, Full, Full, Dim]);
        assert!(shades(&["nothing"], &[], Hidden).is_empty() && shades(&[], &[], Hidden).is_empty());
        let declared = Region { shape: vec![4, 2], ..all[1].clone() };
        assert!(is_of("B[4][2]", &declared) && is_of("B", &declared) && !is_of("B[4]", &declared));
        let wrong = Choice { show: strings(&["A", "C*"]), ..Choice::default() };
        assert_eq!((wrong.unknown(&all), Choice::default().unknown(&all)), (Some("C*"), None));

        let mut choice = Choice::default();
        choice.say("B", Hidden);
        assert_eq!(choice.shades(&all)[..], [Full, Hidden, Full, Full, Full]);
        choice.only("A", &all);
        assert_eq!(choice.shades(&all)[..], [Full, Hidden, Hidden, Hidden, Full]);
        choice.only("B", &all);
        assert_eq!(choice.shades(&all)[..], [Hidden, Full, Hidden, Hidden, Hidden]);
        choice.only("B", &all);
        assert!(choice.shades(&all).is_empty(), "all again");
    }
}
