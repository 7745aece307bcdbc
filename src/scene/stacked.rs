//! Stretches that lie on each other exactly: the same way gone again and again. One is drawn for all of them, as opaque and as wide as they are
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

/// Runs that lie on each other.
struct Stack {
    /// Where the newest begins, and of how many stretches each is.
    at: usize,
    count: usize,
    /// How many they are.
    runs: u16,
    /// What is seen through all of them half way of their first stretch.
    through: f32,
}

/// Leaves one of all that lie on each other, in the order of the newest.
pub(super) fn merge(segments: &mut Vec<Segment>) {
    let mut known: HashMap<Look, usize> = HashMap::new();
    let mut stacks: Vec<Stack> = Vec::new();
    let mut is_seen = vec![true; segments.len()];
    let mut at = 0;
    while at < segments.len() {
        let run = &segments[at..];
        let count = 1 + run.windows(2).take_while(|pair| follows(&pair[0], &pair[1])).count();
        let through = 1.0 - half_way(&run[0]);
        // Where a colour is translucent, one could not be as opaque as several.
        let is_opaque = run[0].color[3] == u8::MAX;
        let under = known
            .get(&look(&run[..count]))
            .copied()
            .filter(|&n| is_opaque && are_cut_alike(segments, stacks[n].at, at, count));
        if let Some(stack) = under.map(|n| &mut stacks[n]) {
            for n in 0..count {
                let Segment { alpha0, alpha1, .. } = segments[stack.at + n];
                is_seen[stack.at + n] = false;
                let over = &mut segments[at + n];
                (over.alpha0, over.alpha1) = (together(alpha0, over.alpha0), together(alpha1, over.alpha1));
            }
            (stack.at, stack.runs, stack.through) = (at, stack.runs.saturating_add(1), stack.through * through);
        } else {
            known.insert(look(&run[..count]), stacks.len());
            stacks.push(Stack { at, count, runs: 1, through });
        }
        at += count;
    }
    if stacks.iter().all(|stack| stack.runs == 1) {
        return;
    }
    let mut halved: Vec<Option<f32>> = vec![None; segments.len()];
    for &Stack { at, count, runs, through } in stacks.iter().filter(|stack| stack.runs > 1) {
        let middle = 1.0 - through;
        // One width for all of a path: that of its middle.
        let wider = widening(runs, if count == 1 { middle } else { segments[at + count / 2].alpha0 });
        segments[at..at + count].iter_mut().for_each(|segment| segment.width += wider);
        // Between its ends a stretch is as opaque as their mean; several together are more.
        halved[at] = Some(middle).filter(|middle| count == 1 && middle - half_way(&segments[at]) > SEEN);
    }
    let whole = std::mem::take(segments);
    for ((segment, is_seen), middle) in whole.into_iter().zip(is_seen).zip(halved) {
        match middle.filter(|_| is_seen) {
            Some(middle) => {
                let s = 0.5 * (segment.s0 + segment.s1);
                segments.push(Segment { s1: s, alpha1: middle, ..segment });
                segments.push(Segment { s0: s, alpha0: middle, ..segment });
            }
            None if is_seen => segments.push(segment),
            None => {}
        }
    }
}

/// A difference of alpha that is worth another stretch.
const SEEN: f32 = 0.01;

fn half_way(segment: &Segment) -> f32 {
    0.5 * (segment.alpha0 + segment.alpha1)
}

fn together(under: f32, over: f32) -> f32 {
    under + over - under * over
}

/// Whether runs of so many stretches are cut alike.
fn are_cut_alike(segments: &[Segment], one: usize, other: usize, count: usize) -> bool {
    let cuts = |at: usize| segments[at..at + count].iter().map(|segment| (segment.s0, segment.s1));
    cuts(one).eq(cuts(other))
}

/// Pixels of a picture 720 high by which lines of one alpha each, which come to `alpha` together, are wider than one of this alpha: where a
/// pixel is covered in part, from not at all to all over one pixel on either side, several cover more of it than one.
fn widening(lines: u16, alpha: f32) -> f32 {
    if alpha < SEEN {
        return 0.0;
    }
    let n = f32::from(lines);
    let each = 1.0 - (1.0 - alpha).max(0.0).powf(1.0 / n);
    // The mean of 1 - (1 - c each)^n over covers c from 0 to 1; that of one line is half of its alpha.
    let mean = 1.0 - (1.0 - (1.0 - each).powf(n + 1.0)) / ((n + 1.0) * each);
    (2.0 * (mean / alpha - 0.5)).clamp(0.0, 1.0)
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
        let hit = |set, alpha| line(set, palette::HIT, alpha, alpha);
        let mut all = vec![hit(1, 0.04), hit(2, 0.2), hit(1, 0.05), line(1, palette::MISS, 0.1, 0.1), hit(1, 0.06)];
        all[2].flight.times = [3.0, 4.0];
        merge(&mut all);
        let [first, second, last] = all.as_slice() else { panic!("three are left: {all:?}") };
        assert_eq!([*first, *second], [hit(2, 0.2), line(1, palette::MISS, 0.1, 0.1)]);
        let alpha = 1.0 - 0.96 * 0.95 * 0.94;
        assert!((last.alpha0 - alpha).abs() < 1e-6 && (last.alpha1 - alpha).abs() < 1e-6, "{last:?}");
        assert!(last.flight == hit(1, 0.0).flight && last.width > 1.0 && last.width < 1.1, "{last:?}");
    }

    #[test]
    fn a_path_of_several_stretches_lies_on_itself_if_it_is_cut_alike() {
        let path = |alpha: f32, cuts: &[f32]| -> Vec<Segment> {
            let part = |s: &[f32]| Segment { s0: s[0], s1: s[1], ..line(1, palette::EVICT, alpha, alpha) };
            cuts.windows(2).map(part).collect()
        };
        let thirds = [0.0, 0.3, 0.6, 1.0];
        let mut all = [path(0.5, &thirds), path(0.5, &thirds), path(0.5, &[0.0, 0.4, 0.6, 1.0])].concat();
        merge(&mut all);
        let told: Vec<[f32; 3]> = all.iter().map(|s| [s.s0, s.s1, s.alpha0]).collect();
        let together = [[0.0, 0.3, 0.75], [0.3, 0.6, 0.75], [0.6, 1.0, 0.75]];
        assert_eq!(told, [&together[..], &[[0.0, 0.4, 0.5], [0.4, 0.6, 0.5], [0.6, 1.0, 0.5]]].concat());
        // One that is under way is as long as it is.
        let mut all = [path(0.5, &thirds), path(0.5, &[0.0, 0.3, 0.5])].concat();
        merge(&mut all);
        assert_eq!(all.len(), 5);
    }

    /// What is covered of a line of pixels across stretches half way of them, as the shader of lines covers it: `c` of each pixel.
    fn across(segments: &[Segment], ground: f32) -> Vec<f32> {
        let pixels = (-30..=30_i8).map(|x| f32::from(x) / 10.0);
        let alpha = |s: &Segment| {
            // Of one that is halved, the end of its first half.
            if s.s1 < 1.0 { Some(s.alpha1) } else { (s.s0 == 0.0).then(|| half_way(s)) }
        };
        pixels
            .map(|x| {
                segments.iter().fold(ground, |ground, s| {
                    let cover = (0.5 * s.width + 0.5 - x.abs()).clamp(0.0, 1.0) * alpha(s).unwrap_or(0.0);
                    ground * (1.0 - cover) + cover
                })
            })
            .collect()
    }

    #[test]
    fn what_is_drawn_is_the_same_half_way_and_as_much_of_it() {
        for (count, most) in [(2, 0.8), (5, 0.3), (10, 0.2), (40, 0.05), (60, 0.5)] {
            let alpha = |n: u8| most * (0.4 + 0.6 * f32::from(n) / f32::from(count));
            let stack = |n: u8| line(5, palette::MISS, 0.35 * alpha(n), alpha(n));
            let mut all: Vec<Segment> = (0..count).map(stack).collect();
            let before = across(&all, 0.0);
            merge(&mut all);
            assert!(all.len() <= 2, "{all:?}");
            let after = across(&all, 0.0);
            let [was, is] = [&before, &after].map(|pixels| pixels.iter().sum::<f32>() * 0.1);
            assert!((was - is).abs() < 0.06 * was, "{count} of {most}: {was} pixels of light, then {is}");
            assert!(
                (before[30] - after[30]).abs() < 0.011,
                "{count} of {most}: {} in the middle, then {}",
                before[30],
                after[30]
            );
        }
    }

    #[test]
    fn translucent_colours_are_left_alone() {
        let mut all = vec![line(1, [250, 250, 245, 128], 0.9, 0.9); 3];
        merge(&mut all);
        assert_eq!(all, vec![line(1, [250, 250, 245, 128], 0.9, 0.9); 3]);
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
