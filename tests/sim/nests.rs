//! Nests of loops: their streams against loops that are run, their distances against lists, and the figures of the paper.

use crate::support::random::Lots;
use orrery::analysis::{NestDistances, nest_distances};
use orrery::nest::{Settings, Walk, loops};
use orrery::reference::{Kind, Reference, ReferenceSource};
use orrery::trace::synth::Rng;
use std::fmt::Write;

fn walk(text: &str, set: &[(&str, i64)]) -> Walk {
    let nest = loops::Source::parse("t.loops", text).and_then(|s| s.bind(&Settings::of(set.iter().copied())));
    Walk::new(nest.unwrap_or_else(|e| panic!("{e}\n{text}")), 64).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn measured(walk: &Walk, line: u32, capacities: &[u64]) -> NestDistances {
    nest_distances(walk, line, capacities, false, &mut |_| true).expect("a nest").expect("nobody stops it")
}

fn all(walk: &Walk, piece: usize) -> Vec<Reference> {
    let (mut out, mut batch) = (Vec::new(), Vec::new());
    while (out.len() as u64) < walk.len() {
        walk.read(out.len() as u64, piece, &mut batch).expect("a walk");
        assert!(!batch.is_empty() && batch.len() <= piece);
        out.extend_from_slice(&batch);
    }
    out
}

// ---- Random nests, run by hand.

/// An expression: a constant, and factors of the loops outside.
#[derive(Clone, Debug)]
struct Sum(i64, Vec<(usize, i64)>);

impl Sum {
    fn eval(&self, at: &[i64]) -> i64 {
        self.0 + self.1.iter().map(|(n, factor)| at[*n] * factor).sum::<i64>()
    }

    fn text(&self) -> String {
        self.1.iter().fold(self.0.to_string(), |text, (n, factor)| format!("{text} + {factor} * i{n}"))
    }
}

#[derive(Clone, Debug)]
struct ForLoop {
    from: Sum,
    to: Sum,
    step: i64,
    tile: Option<i64>,
}

/// From indices to the element in memory.
type Place = Box<dyn Fn(&[i64]) -> i64>;

struct Array {
    shape: Vec<i64>,
    bytes: i64,
    /// What is written behind the type.
    layout: String,
    place: Place,
}

fn array(rng: &mut Rng) -> Array {
    let dims = 1 + rng.small(3) as usize;
    let shape: Vec<i64> = (0..dims).map(|_| 3 + i64::from(rng.small(7))).collect();
    let bytes = rng.one_of(&[4i64, 8, 2]);
    let start = if rng.percent(40) { i64::from(rng.small(20)) } else { 0 };
    let by = |order: Vec<usize>, pad: i64, shape: &[i64]| {
        let mut strides = vec![0; shape.len()];
        let mut stride = 1;
        for (nth, dim) in order.iter().rev().enumerate() {
            strides[*dim] = stride;
            stride *= shape[*dim];
            if nth == 0 {
                stride = (stride + pad - 1) / pad * pad;
            }
        }
        strides
    };
    let (layout, place): (String, Place) = match rng.small(5) {
        0 => {
            let strides = by((0..dims).rev().collect(), 1, &shape);
            (
                format!("column offset {start}"),
                Box::new(move |at| start + at.iter().zip(&strides).map(|(a, s)| a * s).sum::<i64>()),
            )
        }
        1 => {
            let pad = 1 + i64::from(rng.small(16));
            let strides = by((0..dims).collect(), pad, &shape);
            (
                format!("pad {pad} offset {start}"),
                Box::new(move |at| start + at.iter().zip(&strides).map(|(a, s)| a * s).sum::<i64>()),
            )
        }
        2 => {
            let mut order: Vec<usize> = (0..dims).collect();
            for n in (1..dims).rev() {
                order.swap(n, rng.small(n as u64 + 1) as usize);
            }
            let strides = by(order.clone(), 1, &shape);
            let words: Vec<String> = order.iter().map(ToString::to_string).collect();
            (
                format!("permuted ({}) offset {start}", words.join(", ")),
                Box::new(move |at| start + at.iter().zip(&strides).map(|(a, s)| a * s).sum::<i64>()),
            )
        }
        3 => {
            let strides: Vec<i64> = (0..dims).map(|_| 1 + i64::from(rng.small(40))).collect();
            let words: Vec<String> = strides.iter().map(ToString::to_string).collect();
            (
                format!("strides ({}) offset {start}", words.join(", ")),
                Box::new(move |at| start + at.iter().zip(&strides).map(|(a, s)| a * s).sum::<i64>()),
            )
        }
        _ => {
            let tile: Vec<i64> = (0..dims).map(|_| 1 + i64::from(rng.small(4))).collect();
            let words: Vec<String> = tile.iter().map(ToString::to_string).collect();
            let layout = format!("tiled ({}) offset {start}", words.join(", "));
            let sides = shape.clone();
            let place = move |at: &[i64]| {
                let (mut number, mut inside) = (0, 0);
                for ((a, t), s) in at.iter().zip(&tile).zip(&sides) {
                    number = number * ((s + t - 1) / t) + a / t;
                    inside = inside * t + a % t;
                }
                start + number * tile.iter().product::<i64>() + inside
            };
            (layout, Box::new(place))
        }
    };
    Array { shape, bytes, layout, place }
}

struct Case {
    text: String,
    /// Array, element, kind, of each access.
    stream: Vec<(usize, i64, Kind)>,
}

/// Loops from the outermost to the innermost: those over tiles first.
fn run(loops: &[ForLoop], depth: usize, tiles: &mut Vec<i64>, at: &mut Vec<i64>, body: &mut dyn FnMut(&[i64])) {
    let tiled: Vec<&ForLoop> = loops.iter().filter(|l| l.tile.is_some()).collect();
    if tiles.len() < tiled.len() {
        let l = tiled[tiles.len()];
        let mut start = l.from.0;
        while start < l.to.0 {
            tiles.push(start);
            run(loops, depth, tiles, at, body);
            tiles.pop();
            start += l.step * l.tile.expect("it is tiled");
        }
        return;
    }
    if depth == loops.len() {
        return body(at);
    }
    let l = &loops[depth];
    let (mut index, mut to) = (l.from.eval(at), l.to.eval(at));
    if let Some(tile) = l.tile {
        let nth = loops[..depth].iter().filter(|l| l.tile.is_some()).count();
        index = tiles[nth];
        to = to.min(index + tile * l.step);
    }
    while (l.step > 0 && index < to) || (l.step < 0 && index > to) {
        at.push(index);
        run(loops, depth + 1, tiles, at, body);
        at.pop();
        index += l.step;
    }
}

fn case(rng: &mut Rng) -> Case {
    let arrays: Vec<Array> = (0..1 + rng.small(3)).map(|_| array(rng)).collect();
    let mut text = String::new();
    for (n, a) in arrays.iter().enumerate() {
        let shape: Vec<String> = a.shape.iter().map(ToString::to_string).collect();
        writeln!(text, "array A{n}[{}] of bytes({}) {}", shape.join(", "), a.bytes, a.layout).expect("memory");
    }
    let mut stream = Vec::new();
    for _ in 0..1 + rng.small(2) {
        let depth = 1 + rng.small(4) as usize;
        let is_tiled = rng.percent(30);
        let loops: Vec<ForLoop> = (0..depth)
            .map(|n| {
                let mut sum = |low: i64, high: i64| {
                    let mut terms = Vec::new();
                    if n > 0 && !is_tiled && rng.percent(50) {
                        terms.push((rng.small(n as u64) as usize, rng.one_of(&[1i64, 1, -1, 2])));
                    }
                    Sum(low + rng.below((high - low + 1) as u64) as i64, terms)
                };
                let (low, high) = (sum(-2, 3), sum(1, 8));
                let step = rng.one_of(&[1i64, 1, 1, 2, 3, -1, -2]);
                let (from, to) = if step > 0 { (low, high) } else { (high, low) };
                let tile = (is_tiled && step > 0 && rng.percent(60)).then(|| 1 + i64::from(rng.small(4)));
                ForLoop { from, to, step, tile }
            })
            .collect();
        let heads: Vec<String> = loops
            .iter()
            .enumerate()
            .map(|(n, l)| {
                let tile = l.tile.map_or(String::new(), |t| format!(" tile {t}"));
                format!("i{n} in {}..{} step {}{tile}", l.from.text(), l.to.text(), l.step)
            })
            .collect();
        // Indices are brought inside by a remainder now and then, else by a condition.
        let condition = rng
            .percent(50)
            .then(|| (rng.small(depth as u64) as usize, 1 + i64::from(rng.small(3)), i64::from(rng.small(2))));
        let mut touch = || {
            let a = rng.small(arrays.len() as u64) as usize;
            let indices: Vec<(usize, i64, i64)> = arrays[a]
                .shape
                .iter()
                .map(|_| (rng.small(depth as u64) as usize, rng.one_of(&[1i64, 1, 2, -1]), i64::from(rng.small(5)) - 2))
                .collect();
            (a, indices)
        };
        let (target, reads) = (touch(), [touch(), touch()]);
        let kind = rng.one_of(&[Kind::Write, Kind::Modify]);
        // Affine where it stays inside for all iterations, else by `%`.
        let mut low_high: Vec<(i64, i64)> = vec![(i64::MAX, i64::MIN); depth];
        run(&loops, 0, &mut Vec::new(), &mut Vec::new(), &mut |at| {
            for (n, v) in at.iter().enumerate() {
                low_high[n] = (low_high[n].0.min(*v), low_high[n].1.max(*v));
            }
        });
        let wraps = |a: usize, d: usize, (n, factor, shift): (usize, i64, i64)| {
            let ends = [low_high[n].0, low_high[n].1].map(|v| v.saturating_mul(factor).saturating_add(shift));
            !ends.iter().all(|v| (0..arrays[a].shape[d]).contains(v))
        };
        let word = |(a, indices): &(usize, Vec<(usize, i64, i64)>)| {
            let words = indices.iter().enumerate().map(|(d, &(n, factor, shift))| {
                let plain = format!("{factor} * i{n} + {shift}");
                if wraps(*a, d, (n, factor, shift)) { format!("({plain}) % {}", arrays[*a].shape[d]) } else { plain }
            });
            format!("A{a}[{}]", words.collect::<Vec<_>>().join(", "))
        };
        writeln!(text, "for {} {{", heads.join(", ")).expect("memory");
        if let Some((n, by, rest)) = condition {
            writeln!(text, "if i{n} % {by} == {rest} and i{n} >= 0 {{").expect("memory");
        }
        let op = if kind == Kind::Modify { "+=" } else { "=" };
        writeln!(text, "{} {op} {} * sqrt({})", word(&target), word(&reads[0]), word(&reads[1])).expect("memory");
        writeln!(text, "{}}}", if condition.is_some() { "}" } else { "" }).expect("memory");
        run(&loops, 0, &mut Vec::new(), &mut Vec::new(), &mut |at| {
            if condition.is_some_and(|(n, by, rest)| at[n].rem_euclid(by) != rest || at[n] < 0) {
                return;
            }
            for ((a, indices), kind) in [(&reads[0], Kind::Read), (&reads[1], Kind::Read), (&target, kind)] {
                let list = indices.iter().enumerate();
                let list: Vec<i64> = list
                    .map(|(d, &(n, factor, shift))| {
                        let value = at[n] * factor + shift;
                        if wraps(*a, d, (n, factor, shift)) { value.rem_euclid(arrays[*a].shape[d]) } else { value }
                    })
                    .collect();
                stream.push((*a, (arrays[*a].place)(&list), kind));
            }
        });
    }
    Case { text, stream }
}

#[test]
fn streams_are_those_of_the_loops_and_distances_those_of_lists() {
    let (mut accesses, mut tiled, mut conditions) = (0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(1800 + seed);
        let Case { text, stream } = case(&mut rng);
        let walk = walk(&text, &[]);
        assert_eq!(walk.len(), stream.len() as u64, "{text}");
        accesses += stream.len();
        tiled += usize::from(text.contains("tile "));
        conditions += usize::from(text.contains("if "));
        let containers = walk.nest().containers();
        let expected: Vec<(u64, u32, Kind)> = stream
            .iter()
            .map(|(a, element, kind)| {
                let c = &containers[*a];
                (c.base.expect("placed") + *element as u64 * u64::from(c.elem_bytes), c.elem_bytes, *kind)
            })
            .collect();
        for piece in [1 << 16, 7] {
            let got: Vec<_> = all(&walk, piece).iter().map(|r| (r.addr, r.size, r.kind)).collect();
            assert_eq!(got, expected, "{text}");
        }
        // Any access by its number.
        let mut one = Vec::new();
        for n in (0..expected.len()).step_by(1 + expected.len() / 20) {
            walk.read(n as u64, 1, &mut one).expect("a walk");
            assert_eq!((one[0].addr, one[0].size, one[0].kind), expected[n], "access {n} of\n{text}");
            assert!(walk.iteration(n as u64).is_some());
        }
        for line in [32u32, 64] {
            let got = measured(&walk, line, &[1, 4]);
            let mut stack: Vec<u64> = Vec::new();
            let (mut cold, mut counts) = (vec![0u64; containers.len()], std::collections::BTreeMap::new());
            let mut misses = vec![[0u64; 2]; containers.len()];
            for ((addr, size, _), (a, _, _)) in expected.iter().zip(&stream) {
                for l in addr / u64::from(line)..=(addr + u64::from(*size) - 1) / u64::from(line) {
                    let place = stack.iter().position(|other| *other == l);
                    match place {
                        Some(place) => {
                            stack.remove(place);
                            *counts.entry(u32::try_from(place).expect("small")).or_insert(0u64) += 1;
                        }
                        None => cold[*a] += 1,
                    }
                    for (n, lines) in [1, 4].into_iter().enumerate() {
                        misses[*a][n] += u64::from(place.is_none_or(|place| place >= lines));
                    }
                    stack.insert(0, l);
                }
            }
            assert_eq!(got.histogram.pairs(), counts.into_iter().collect::<Vec<_>>(), "{text}");
            for (row, (cold, misses)) in got.containers.iter().zip(cold.iter().zip(&misses)) {
                assert_eq!((row.cold, [row.misses(1), row.misses(4)]), (*cold, *misses), "{text}");
            }
        }
    }
    assert!(accesses > 40_000 && tiled > 50 && conditions > 100, "{accesses} {tiled} {conditions}");
}

// ---- The figures of the paper.

#[cfg(feature = "formats")]
fn bundled(name: &str, set: &[(&str, i64)]) -> Walk {
    let path = std::path::PathBuf::from(format!("loops:{name}"));
    orrery::trace::open_nest(&path, &Settings::of(set.iter().copied()), 64).expect("bundled")
}

#[cfg(feature = "formats")]
fn misses(found: &NestDistances, name: &str, lines: u64) -> u64 {
    found.containers.iter().find(|row| row.container.name == name).expect("a container").misses(lines)
}

#[cfg(feature = "formats")]
#[test]
fn horizontal_diffusion_misses_as_the_paper_derives() {
    let steps = [("hdiff", 3_196), ("hdiff_layout", 1_920), ("hdiff_order", 212), ("hdiff_padded", 323)];
    for (name, expected) in steps {
        let found = measured(&bundled(name, &[]), 64, &[10]);
        assert_eq!(found.accesses, 8 * 8 * 5 * 15);
        assert_eq!(misses(&found, "in_field", 10), expected, "{name}");
    }
    // Padding makes no line hold parts of two rows, and takes a third more of them.
    let lines = |name: &str| measured(&bundled(name, &[]), 64, &[]).containers[0].lines;
    assert_eq!([lines("hdiff_order"), lines("hdiff_padded")], [90, 120]);
    // With all arrays laid out as the loops go, each line comes once, as soon as a cache has room for five rows of a plane.
    let arrays = measured(&bundled("hdiff_arrays", &[("I", 64), ("J", 64), ("K", 3)]), 64, &[80]);
    assert_eq!(arrays.misses(80), arrays.cold, "nothing comes twice");
    let order = measured(&bundled("hdiff_order", &[("I", 64), ("J", 64), ("K", 3)]), 64, &[80]);
    assert!(order.misses(80) > 3 * order.cold, "coeff and out_field still lie the other way");
}

#[cfg(feature = "formats")]
#[test]
fn matrix_multiply_misses_as_the_paper_derives() {
    let found = measured(&bundled("matmul", &[]), 64, &[8]);
    let row = |name: &str| found.containers.iter().find(|row| row.container.name == name).expect("a container");
    for (name, each, lines, misses) in [("A", 15, 6, 6), ("B", 9, 10, 90), ("C", 10, 9, 9)] {
        let elements: u64 = row(name).container.shape.iter().product();
        assert_eq!((row(name).accesses, row(name).lines), (each * elements, lines), "{name}");
        assert_eq!(row(name).misses(8), misses, "{name}");
    }
}

#[cfg(feature = "formats")]
#[test]
fn a_convolution_touches_as_often_as_the_paper_says() {
    let found = measured(&bundled("conv", &[]), 64, &[]);
    let numbers: Vec<(u64, u64)> = found.containers.iter().map(|row| (row.accesses, row.lines)).collect();
    assert_eq!(numbers, [(3456, 31), (3456, 12), (3456, 9)]);
}

#[cfg(feature = "formats")]
#[test]
fn bundled_nests_are_there() {
    for nest in orrery::trace::bundled::NESTS {
        let walk = bundled(nest.name, &[]);
        assert!(walk.len() > 10 && walk.notices().is_empty(), "{}", nest.name);
        assert_eq!(all(&walk, 1000).len() as u64, walk.len());
    }
}

// ---- Long ones.

#[test]
fn any_access_of_a_long_nest_is_found_by_counting() {
    // 10^18: a cube, and a triangle of pyramids.
    let cube = walk(
        "param N = 1000000\narray A[1] of f64\nfor i in 0..N, j in 0..N, k in 0..N { A[(i + j + k) % 1] = 1 }",
        &[],
    );
    assert_eq!(cube.len(), 1_000_000_000_000_000_000);
    let at = |walk: &Walk, n: u64| walk.iteration(n).expect("there").to_string();
    assert_eq!(at(&cube, 123_456_000_000_000_000 + 789_000_000 + 12), "i=123456, j=789, k=12");
    let n = 1_800_000u64;
    let pyramid =
        walk("param N = 4\narray A[1] of f64\nfor i in 0..N, j in 0..=i, k in j..=i { read A[0] }", &[("N", n as i64)]);
    let below = |n: u64| n as u128 * (n as u128 + 1) * (n as u128 + 2) / 6;
    assert_eq!(u128::from(pyramid.len()), below(n));
    let start = u64::try_from(below(1_500_000)).expect("fits");
    assert_eq!(at(&pyramid, start), "i=1500000, j=0, k=0");
    assert_eq!(at(&pyramid, start + 1_500_001 + 2), "i=1500000, j=1, k=3");
    assert_eq!(at(&pyramid, start - 1), "i=1499999, j=1499999, k=1499999");
    // With bounds as they are then: `k in j..=i`.
    let loops = pyramid.loops_at(start + 1_500_001 + 2).expect("there").loops;
    let ends: Vec<Option<(i64, i64)>> = loops.iter().map(|at| at.ends).collect();
    assert_eq!(ends, [Some((0, 1_799_999)), Some((0, 1_500_000)), Some((1, 1_500_000))]);
    assert_eq!(
        loops.iter().map(|at| (at.value, at.trip())).collect::<Vec<_>>(),
        [(1_500_000, 1_500_000), (1, 1), (3, 2)]
    );
    assert_eq!(pyramid.loops_at(pyramid.len()), None);
    let loops = cube.loops_at(123_456_000_000_000_000 + 789_000_000 + 12).expect("there").loops;
    let first: Vec<Option<u64>> = loops.iter().map(|at| at.first_of(7)).collect();
    let began = 123_456_000_000_000_000;
    assert_eq!(first, [Some(7_000_000_000_000), Some(began + 7_000_000), Some(began + 789_000_000 + 7)]);
    assert!(nest_distances(&pyramid, 64, &[], false, &mut |_| true).unwrap_err().to_string().contains("years"));
    // Tiles that do not fit.
    let tiles = walk(
        "param N = 1001\narray A[N, N] of f64\nfor i in 0..N tile 16, j in 0..N tile 16, k in 0..N tile 16 { read A[i, j] }",
        &[],
    );
    assert_eq!(tiles.len(), 1001 * 1001 * 1001);
    assert_eq!(at(&tiles, tiles.len() - 1), "i_tile=992, j_tile=992, k_tile=992, i=1000, j=1000, k=1000");
    assert_eq!(at(&tiles, 16 * 16 * 16), "i_tile=0, j_tile=0, k_tile=16, i=0, j=0, k=16");
}

#[test]
fn parallel_loops_say_which_core() {
    let cores = |head: &str| {
        let walk = walk(&format!("array A[10] of f64\n{head} for i in 0..10 {{ A[i] = 1 }}"), &[]);
        assert_eq!(walk.cores().expect("known"), 4);
        all(&walk, 3).iter().map(|r| r.core.to_string()).collect::<String>()
    };
    assert_eq!(cores("parallel 4"), "0001112233");
    assert_eq!(cores("parallel 4 cyclic"), "0123012301");
    assert_eq!(cores("parallel 4 on 3 - i / 3"), "3332221110");
}

// ---- What is wrong.

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let long = format!("array A[9]\nfor i in 0..9 {{ A[{}i{}] = 1 }}", "(".repeat(10_000), ")".repeat(10_000));
    let sums = format!("param N = {}1\narray A[1]\nA[0] = N", "1 + ".repeat(10_000));
    for (text, words) in [
        ("array A[4] of f65", &["t.loops:1:15", "`f65`", "f64"][..]),
        ("array A[4]\nfor i in 0..4 { B[i] = 1 }", &["t.loops:2:17", "`B`", "an array: A", "declare it"]),
        ("array A[4]\nfor i in 0..4 { A[j] = 1 }", &["t.loops:2:17", "`j`", "i"]),
        ("array A[4]\nfor i in 0..4 { A[i, i] = 1 }", &["2 indices", "1 index"]),
        ("array A[4]\nfor i in 0..4 { A[i] 1 }", &["t.loops:2:22", "`1`", "`=`"]),
        ("array A[4]\nfor i in 0..4 { A[i] = 1", &["t.loops:2:25", "the end", "`}`"]),
        ("array A[4]\nfor i in 0..4 step 0 { A[i] = 1 }", &["step 0"]),
        ("array A[0]", &["t.loops:1:7", "extent 0", "1 or more"]),
        ("param N = 3 - 5\narray A[N]", &["extent -2"]),
        ("param N = 2 ** 60\narray A[N, N, N]", &["2^62"]),
        ("array A[4] strides (-1)", &["3 elements before", "offset 3"]),
        ("array A[4, 4] permuted (0, 0)", &["permuted", "each index once"]),
        ("param N\nparam M in 1..=4\narray A[N]", &["no value for N, M", "--set N=16 --set M=4"]),
        ("param N = 9 in 1..=4\narray A[N]", &["t.loops:1:7", "N=9", "1 to 4"]),
        ("param N = 1 / 0\narray A[N]", &["division by zero"]),
        (
            "array A[4]\nfor i in 0..4 { A[A[i]] = 1 }",
            &["t.loops:2:19", "`A[...]`", "loop indices and parameters only"],
        ),
        ("array A[4]\nfor for in 0..4 { A[0] = 1 }", &["`for`, a word of the language"]),
        ("array A[4]\nfor i in 0..4, i in 0..4 { A[0] = 1 }", &["a second `i`"]),
        ("title \"x", &["t.loops:1:7", "without an end"]),
        ("array A[99999999999999999999]", &["t.loops:1:9", "2^63"]),
        ("array A[4]\nA[1] = 1 @ 2", &["t.loops:2:10", "`@`"]),
        ("array A[4]\nfor i in 0..4 tile 0 { A[i] = 1 }", &["tiles of 0"]),
        (&long, &["t.loops:2", "more than 200 brackets"]),
        (&sums, &["t.loops"]),
    ] {
        let nest = loops::Source::parse("t.loops", text).and_then(|s| s.bind(&Settings::default()));
        match nest {
            Err(error) => {
                let error = error.to_string();
                for word in words {
                    assert!(error.contains(word), "`{word}` is missing in: {error}");
                }
                assert!(error.contains("; expected "), "{error}");
            }
            Ok(_) => assert!(text.len() > 10_000, "{text} was read"),
        }
    }
}

#[test]
fn what_goes_wrong_on_the_way_names_statement_and_iteration() {
    let failed = |text: &str| {
        let walk = walk(text, &[]);
        let (mut done, mut out) = (0, Vec::new());
        loop {
            match walk.read(done, 1000, &mut out) {
                Err(error) => return error.to_string(),
                Ok(()) => assert!(!out.is_empty(), "{text} went well"),
            }
            done += out.len() as u64;
        }
    };
    let error = failed("array A[8, 4]\nfor i in 0..8, j in 0..=i {\n  A[i, j] = 1\n}");
    assert!(
        error.contains("t.loops:3:3: `A[i, j] = 1`") && error.contains("index 4 of `A` in dimension 1 at i=4, j=4"),
        "{error}"
    );
    assert!(error.contains("expected 0 to 3"), "{error}");
    let error = failed("array A[8]\nparallel 2 on i for i in 0..8 { A[i] = 1 }");
    assert!(error.contains("core 2 at i=2"), "{error}");
    // Bounds that are empty are none at all.
    assert_eq!(walk("array A[8]\nfor i in 5..2 { A[i] = 1 }\nfor i in -3..-1 step -1 { A[i] = 1 }", &[]).len(), 0);
    let nest = loops::Source::parse("t", "array A[1]\nparam N = 2 ** 62\nfor i in 0..N, j in 0..N { read A[0] }")
        .expect("read");
    let error = Walk::new(nest.bind(&Settings::default()).expect("bound"), 64).expect_err("too many").to_string();
    assert!(error.contains("2^64 accesses"), "{error}");
    let overlapping = walk("array A[4, 4] strides (1, 1)\nfor i in 0..4 { A[i, 0] = 1 }", &[]);
    assert!(overlapping.notices()[0].contains("share places"), "{:?}", overlapping.notices());
}

#[test]
fn a_hundred_thousand_statements_are_walked() {
    let mut text = "array A[100000] of f32\n".to_owned();
    (0..100_000).for_each(|n| writeln!(text, "A[{n}] = 1").expect("memory"));
    let walk = walk(&text, &[]);
    assert_eq!(walk.len(), 100_000);
    let mut out = Vec::new();
    walk.read(99_999, 5, &mut out).expect("a walk");
    assert_eq!(out.len(), 1);
}

/// Found by fuzzing: a reader that runs empty iterations one by one never comes to the next access.
#[test]
fn loops_without_accesses_are_passed_over_however_long_they_are() {
    let text = "array A[8] of f64\n\
        for i in 0..100000000000000 {\n}\n\
        for k in 0..8 {\n\
          A[k] = 0\n\
          for j in 0..100000000000000 {\n\
            for l in 0..100000000000000 {\n    }\n\
            for m in 0..0 {\n      A[0] = 1\n    }\n\
          }\n\
        }\n\
        for i in 0..100000000000000, j in 0..100000000000000 {\n}\n";
    let walk = walk(text, &[]);
    assert_eq!(walk.len(), 8);
    let expected: Vec<u64> = (0..8).map(|k| 8 * k).collect();
    for piece in [1, 3, 100] {
        let found = all(&walk, piece);
        let first = found[0].addr;
        assert_eq!(found.iter().map(|r| r.addr - first).collect::<Vec<_>>(), expected, "by {piece}");
    }
    assert!(walk.iteration(5).is_some(), "and what runs at an access is told");
}
