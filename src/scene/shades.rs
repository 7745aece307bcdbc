//! Which regions a picture shows, in which colours and in which order: names become a [`Shade`] and a colour for each region. Counts are those of all
//! regions at any rate.

use super::order::RegionOrder;
use super::palette::own::next;
use super::palette::{RegionColors, Rgba, region as region_color};
use super::view::Shade;
use crate::reference::Region;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Colours that regions were given, of which the last holds; `None` = its first colour.
    pub colors: Vec<(String, Option<Rgba>)>,
    /// Regions that stand first, in this order.
    pub order: Vec<String>,
}

/// Colours of the regions of several traces that are shown one after the other: a name has one colour in all of them. That is the one
/// it is given, or else that of the first trace that has the name; of several regions of one name the nth is as the nth. A name that
/// a later trace brings keeps its own colour unless another of that trace has it now.
#[must_use]
pub fn alike(traces: &[&[Region]], given: &[(String, Rgba)]) -> Vec<RegionColors> {
    let mut known: BTreeMap<(&str, usize), Rgba> = BTreeMap::new();
    let mut all = Vec::new();
    for regions in traces {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        let keys: Vec<(&str, usize)> = regions
            .iter()
            .map(|region| {
                (region.name.as_str(), {
                    let next = count.entry(&region.name).or_default();
                    *next += 1;
                    *next
                })
            })
            .collect();
        let of =
            |region: &Region| given.iter().rev().find(|(pattern, _)| is_of(pattern, region)).map(|(_, color)| *color);
        let mut own: Vec<Option<Rgba>> =
            regions.iter().zip(&keys).map(|(region, key)| of(region).or_else(|| known.get(key).copied())).collect();
        for n in 0..own.len() {
            if own[n].is_none() {
                let taken: Vec<Rgba> = own.iter().flatten().copied().collect();
                let first = region_color(n);
                // With many regions colours come again at any rate.
                let free = || next(n, first, &[&taken[..], &known.values().copied().collect::<Vec<_>>()].concat());
                own[n] = Some(if taken.contains(&first) { free().unwrap_or(first) } else { first });
            }
        }
        for (n, (key, color)) in keys.into_iter().zip(&mut own).enumerate() {
            let shown = color.unwrap_or_else(|| region_color(n));
            known.entry(key).or_insert(shown);
            // What the palette says anyway need not be kept.
            *color = color.filter(|color| *color != region_color(n));
        }
        all.push(RegionColors::new(own));
    }
    all
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
        let names =
            self.show.iter().chain(&self.dim).chain(self.colors.iter().map(|(name, _)| name)).chain(&self.order);
        names.map(String::as_str).find(|name| !regions.iter().any(|region| is_of(name, region)))
    }

    /// Says how the regions of a name are seen from now on.
    pub fn say(&mut self, name: &str, shade: Shade) {
        self.said.insert(name.to_owned(), shade);
    }

    /// The colours of regions.
    #[must_use]
    pub fn colors(&self, regions: &[Region]) -> RegionColors {
        let given = |region: &Region| self.colors.iter().rev().find(|(pattern, _)| is_of(pattern, region))?.1;
        if self.colors.is_empty() { RegionColors::default() } else { RegionColors::new(regions.iter().map(given)) }
    }

    /// In which order regions stand.
    #[must_use]
    pub fn order(&self, regions: &[Region]) -> RegionOrder {
        let of =
            |pattern: &String| (0..regions.len()).filter(move |n| is_of(pattern, &regions[*n])).collect::<Vec<_>>();
        RegionOrder::new(self.order.iter().flat_map(of))
    }

    /// Has the regions of the name of number `region` change places with those before (`up`) or after them. Whether there are any.
    pub fn shift(&mut self, region: usize, up: bool, regions: &[Region]) -> bool {
        let Some(name) = regions.get(region).map(|region| region.name.as_str()) else { return false };
        // Regions of one name go together.
        let names = |order: Vec<usize>| {
            let mut known = BTreeSet::new();
            let names = order.into_iter().map(|n| regions[n].name.as_str());
            names.filter(|name| known.insert(*name)).collect::<Vec<_>>()
        };
        let mut now = names(self.order(regions).all(regions.len()));
        let Some(at) = now.iter().position(|other| *other == name) else { return false };
        let other = if up { at.wrapping_sub(1) } else { at + 1 };
        if other >= now.len() {
            return false;
        }
        now.swap(at, other);
        // What stands as the trace has it behind all others need not be named.
        let first = names((0..regions.len()).collect());
        let number: BTreeMap<&str, usize> = first.into_iter().zip(0..).collect();
        let mut named = now.len();
        while named > 0 && (named == now.len() || number[now[named - 1]] < number[now[named]]) {
            named -= 1;
        }
        self.order = now[..named].iter().map(|name| (*name).to_owned()).collect();
        true
    }

    /// Gives the regions of the name of number `region` the next colour that no other region has that is seen, or, `back`, their first one.
    pub fn recolor(&mut self, region: usize, back: bool, regions: &[Region]) {
        let Some(name) = regions.get(region).map(|region| region.name.clone()) else { return };
        let (colors, shades) = (self.colors(regions), self.shades(regions));
        let is_other = |n: &usize| regions[*n].name != name && shades.get(*n) != Some(&Shade::Hidden);
        let others: Vec<Rgba> = (0..regions.len()).filter(is_other).map(|n| colors.of(n)).collect();
        let color = if back { None } else { next(region, colors.of(region), &others) };
        self.colors.retain(|(pattern, _)| *pattern != name);
        self.colors.push((name, color));
    }

    /// Shows the regions of this name alone, or all again where they are alone already.
    pub fn only(&mut self, name: &str, regions: &[Region]) {
        let alone = |(region, shade): (&Region, &Shade)| (*shade == Shade::Full) == (region.name == name);
        let shades = self.shades(regions);
        let is_alone = shades.len() == regions.len() && regions.iter().zip(shades.iter()).all(alone);
        let (colors, order) = (std::mem::take(&mut self.colors), std::mem::take(&mut self.order));
        *self = Self { colors, order, ..Self::default() };
        if !is_alone {
            (self.show, self.rest) = (vec![name.to_owned()], Shade::Hidden);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::region;
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
        let declared = Region { shape: vec![4, 2].into(), ..all[1].clone() };
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

    #[test]
    fn a_name_has_one_colour_in_all_traces() {
        let traces = [regions(&["A", "B", "C"]), regions(&["stack", "C", "new", "A", "A"])];
        let traces: Vec<&[Region]> = traces.iter().map(Vec::as_slice).collect();
        let colors = alike(&traces, &[]);
        assert_eq!(colors[0], RegionColors::default(), "the first trace stays as it is alone");
        let second: Vec<Rgba> = (0..5).map(|n| colors[1].of(n)).collect();
        assert_eq!([second[1], second[3]], [region(2), region(0)], "C and A as in the first");
        // Of five regions no two are alike, and none that is new looks like one of the first trace.
        for (n, color) in second.iter().enumerate() {
            assert!(second[..n].iter().all(|other| other != color), "{second:?}");
            assert!(matches!(n, 1 | 3) || (0..3).all(|first| region(first) != *color), "{n}: {second:?}");
        }
        let own = [1, 200, 3, 255];
        let colors = alike(&traces, &[("?".to_owned(), region(5)), ("C".to_owned(), own)]);
        assert_eq!([colors[0].of(2), colors[1].of(1)], [own; 2], "the last that stands for it holds");
        assert_eq!([colors[0].of(0), colors[1].of(3), colors[1].of(4)], [region(5); 3]);
        // More regions than colours: each keeps that of the palette.
        let names: Vec<String> = (0..200).map(|n| format!("r{n}")).collect();
        let many = regions(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(alike(&[&many, &many], &[]), [RegionColors::default(), RegionColors::default()]);
        assert_eq!(alike(&[], &[]), []);
    }

    #[test]
    fn regions_are_put_first_by_name_and_moved_one_by_one() {
        let all = regions(&["A", "B", "heap 1", "heap 2", "A"]);
        let order = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let of = |choice: &Choice| choice.order(&all).all(all.len());
        let mut choice = Choice { order: order(&["heap*", "B"]), ..Choice::default() };
        assert_eq!(of(&choice), [2, 3, 1, 0, 4]);
        choice.only("B", &all);
        assert_eq!(of(&choice), [2, 3, 1, 0, 4]);
        // A changes places with B, and both stand as the trace has them again.
        assert!(choice.shift(4, true, &all));
        assert_eq!((of(&choice), choice.order.clone()), (vec![2, 3, 0, 1, 4], order(&["heap 1", "heap 2"])));
        // Regions of one name go together where it is named.
        assert!(choice.shift(2, false, &all) && choice.shift(2, false, &all));
        assert_eq!((of(&choice), choice.order.clone()), (vec![3, 0, 4, 2, 1], order(&["heap 2", "A", "heap 1"])));
        assert!(!choice.shift(3, true, &all) && !choice.shift(1, false, &all), "at the ends");
        // Back as the trace has them, nothing is named.
        let mut choice = Choice::default();
        assert!(choice.shift(0, false, &all) && choice.order(&all).first() == [1]);
        assert!(choice.shift(0, true, &all) && choice.order.is_empty() && choice.order(&all).is_plain());
        let wrong = Choice { order: order(&["B", "Q"]), ..Choice::default() };
        assert_eq!(wrong.unknown(&all), Some("Q"));
    }

    #[test]
    fn colours_are_given_by_name_and_by_click_and_stay_when_a_region_is_seen_alone() {
        let all = regions(&["A", "B", "heap 1", "heap 2", "A"]);
        let of = |choice: &Choice| [0, 1, 2, 3, 4].map(|n| choice.colors(&all).own(n));
        let (x, y) = (Some([255, 255, 0, 255]), Some([0, 255, 0, 255]));
        let colors = [("heap*", x), ("heap 2", y), ("A", y)].map(|(name, color)| (name.to_owned(), color)).to_vec();
        let mut choice = Choice { colors, ..Choice::default() };
        assert_eq!(of(&choice), [y, None, x, y, y], "the last holds");
        choice.only("B", &all);
        assert_eq!(of(&choice), [y, None, x, y, y]);
        // Hidden regions leave their colours to others: B has its second one, the first of the palette that is free.
        choice.recolor(1, false, &all);
        assert_eq!(of(&choice)[1], Some(region(0)));
        choice.recolor(1, false, &all);
        assert_eq!(of(&choice)[1], Some(region(2)));
        choice.recolor(1, true, &all);
        choice.recolor(2, true, &all);
        assert_eq!(of(&choice), [y, None, None, y, y], "its first one, whatever the command line said");
        assert_eq!(choice.colors.iter().filter(|(name, _)| name == "B").count(), 1);
        let wrong = Choice { colors: vec![("Q".into(), x)], ..Choice::default() };
        assert_eq!((wrong.unknown(&all), choice.unknown(&all)), (Some("Q"), None));
        // All are seen: no colour that another has.
        let mut choice = Choice::default();
        choice.recolor(1, false, &all);
        assert_eq!(of(&choice)[1], Some(region(5)), "A, both heaps and the second A have the others of the first five");
    }
}
