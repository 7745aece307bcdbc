//! Stretches that lie on each other exactly: the same way gone again and again. One is drawn for all of them, as opaque as they are
//! together, in the place of the newest: loops go few ways, and each stretch costs what its pixels cost.
//!
//! ```text
//!   alpha   a, then b over it, then c over both      together   1 - (1 - a)(1 - b)(1 - c)      (Porter & Duff 1984, "over")
//! ```

use super::frame::Segment;
use super::motion::Endpoint;
use super::palette::Rgba;
use std::collections::HashMap;

/// What of stretches that follow each other on one path says where they lie and how they look, but for their alphas: numbers by
/// their bits, and how many they are. When a path is flown is not seen.
type Look = ([u32; 13], Rgba, usize);

fn look(run: &[Segment]) -> Look {
    let (&Segment { flight, s0, width, color, .. }, s1) = (&run[0], run[run.len() - 1].s1);
    let [from, to] = [flight.from, flight.to].map(|Endpoint { cache, a, b, across }| [cache, a, b, across]);
    let [[c, a, b, x], [d, e, f, y]] = [from, to].map(|end| end.map(f32::to_bits));
    let [sweep, s0, s1, width] = [flight.sweep, s0, s1, width].map(f32::to_bits);
    ([c, a, b, x, d, e, f, y, flight.path as u32, sweep, s0, s1, width], color, run.len())
}

/// Whether one goes on where the other ends, on its path and looking like it.
fn follows(one: &Segment, next: &Segment) -> bool {
    one.s1 == next.s0 && one.flight == next.flight && (one.width, one.color) == (next.width, next.color)
}

/// Leaves one of all that lie on each other, in the order of the newest.
pub(super) fn merge(segments: &mut Vec<Segment>) {
    let mut newest: HashMap<Look, usize> = HashMap::new();
    let mut is_last = vec![true; segments.len()];
    let mut at = 0;
    while at < segments.len() {
        let count = 1 + segments[at..].windows(2).take_while(|pair| follows(&pair[0], &pair[1])).count();
        if let Some(under) = newest.insert(look(&segments[at..at + count]), at) {
            for n in 0..count {
                let below = segments[under + n];
                let over = &mut segments[at + n];
                if [below.s0, below.s1] != [over.s0, over.s1] {
                    continue;
                }
                is_last[under + n] = false;
                let opacity = f32::from(over.color[3]) / 255.0;
                let together = |under: f32, over: f32| under + over - under * over * opacity;
                over.alpha0 = together(below.alpha0, over.alpha0);
                over.alpha1 = together(below.alpha1, over.alpha1);
            }
        }
        at += count;
    }
    let mut is_last = is_last.into_iter();
    segments.retain(|_| is_last.next() == Some(true));
}

#[cfg(test)]
mod tests {
    use super::super::motion::Flight;
    use super::super::palette;
    use super::*;

    fn line(set: u32, color: Rgba, alpha0: f32, alpha1: f32) -> Segment {
        let flight = Flight::slide(Endpoint::slot(0, set, 0.0, 0.0), Endpoint::slot(0, set, 3.0, 0.0));
        Segment { flight, s0: 0.0, s1: 1.0, width: 1.0, color, alpha0, alpha1 }
    }

    #[test]
    fn one_stretch_is_left_as_opaque_as_all_and_where_the_newest_was() {
        let hit = |set, alpha0, alpha1| line(set, palette::HIT, alpha0, alpha1);
        let mut all = vec![
            hit(1, 0.5, 0.0),
            hit(2, 0.1, 0.2),
            hit(1, 0.5, 0.25),
            line(1, palette::MISS, 0.1, 0.1),
            hit(1, 0.2, 1.0),
        ];
        all[2].flight.times = [3.0, 4.0];
        merge(&mut all);
        let [first, second, last] = all.as_slice() else { panic!("three are left: {all:?}") };
        assert_eq!([*first, *second], [hit(2, 0.1, 0.2), line(1, palette::MISS, 0.1, 0.1)]);
        assert!(
            (last.alpha0 - 0.8).abs() < 1e-6 && last.alpha1 == 1.0 && last.flight == hit(1, 0.0, 0.0).flight,
            "{last:?}"
        );
    }

    #[test]
    fn a_path_of_several_stretches_lies_on_itself_stretch_by_stretch() {
        let path = |alpha: f32, cuts: &[f32]| -> Vec<Segment> {
            let part = |s: &[f32]| Segment { s0: s[0], s1: s[1], ..line(1, palette::EVICT, alpha, alpha) };
            cuts.windows(2).map(part).collect()
        };
        let thirds = [0.0, 0.3, 0.6, 1.0];
        let mut all = [path(0.5, &thirds), path(0.5, &thirds), path(0.5, &[0.0, 0.4, 0.6, 1.0])].concat();
        merge(&mut all);
        // The last is cut elsewhere: where it is cut alike it lies on the others.
        let told: Vec<[f32; 3]> = all.iter().map(|s| [s.s0, s.s1, s.alpha0]).collect();
        assert_eq!(told, [[0.0, 0.3, 0.75], [0.3, 0.6, 0.75], [0.0, 0.4, 0.5], [0.4, 0.6, 0.5], [0.6, 1.0, 0.875]]);
        // One that is under way is as long as it is.
        let mut all = [path(0.5, &thirds), path(0.5, &[0.0, 0.3, 0.5])].concat();
        merge(&mut all);
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn what_is_drawn_on_a_ground_is_the_same() {
        // One channel, as the pipeline blends: what is there times what is left, and what comes.
        let drawn = |segments: &[Segment]| {
            let alphas = segments.iter().map(|s| s.alpha1 * f32::from(s.color[3]) / 255.0);
            alphas.fold(0.3, |ground: f32, alpha| ground * (1.0 - alpha) + 0.9 * alpha)
        };
        for opacity in [255, 128, 7] {
            let color = [250, 250, 245, opacity];
            let mut all: Vec<Segment> = (0..40u8).map(|n| line(5, color, 0.0, 0.002 * f32::from(n))).collect();
            let before = drawn(&all);
            merge(&mut all);
            assert_eq!(all.len(), 1);
            assert!((drawn(&all) - before).abs() < 1e-5, "{opacity}: {before}, then {}", drawn(&all));
        }
    }

    #[test]
    fn what_differs_in_place_width_or_colour_stays() {
        let one = line(1, palette::HIT, 0.2, 0.2);
        let other = |change: &dyn Fn(&mut Segment)| {
            let mut other = one;
            change(&mut other);
            other
        };
        let mut all = vec![
            one,
            other(&|s| s.s1 = 0.5),
            other(&|s| s.s0 = 0.5),
            other(&|s| s.width = 1.5),
            other(&|s| s.color = palette::EVICT),
            other(&|s| s.flight.to.across = 0.01),
            other(&|s| s.flight.from.b = 1.0),
            other(&|s| s.flight = Flight::straight(s.flight.from, s.flight.to)),
            other(&|s| s.flight.sweep = 0.1),
        ];
        let before = all.clone();
        merge(&mut all);
        assert_eq!(all, before);
    }
}
