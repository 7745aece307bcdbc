#![cfg(feature = "native")]

use super::{Amount, Volumes};
use crate::nest::expr::Expr;
use crate::nest::{Settings, Walk, loops, parser};
use crate::reference::{Kind, ReferenceSource};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn both(text: &str, settings: &Settings) -> (Volumes, Walk) {
    let source = loops::Source::parse("t.loops", text).unwrap();
    (source.volumes(settings).unwrap(), Walk::new(source.bind(settings).unwrap(), 64).unwrap())
}

/// Accesses by container and kind, one by one.
fn walked(walk: &Walk) -> BTreeMap<(usize, &'static str), u64> {
    let mut out = BTreeMap::new();
    let mut batch = Vec::new();
    let mut from = 0;
    while from < walk.len() {
        walk.read_by_container(from, 1 << 14, &mut batch).unwrap();
        for reference in &batch {
            let kind = match reference.kind {
                Kind::Write => "writes",
                Kind::Modify => "updates",
                _ => "reads",
            };
            *out.entry((usize::try_from(reference.pc).unwrap(), kind)).or_default() += 1;
        }
        from += batch.len() as u64;
    }
    out
}

/// The same as volumes tell.
fn told(volumes: &Volumes) -> BTreeMap<(usize, &'static str), u64> {
    let mut told = BTreeMap::new();
    for moved in volumes.items().iter().flat_map(|item| &item.tasks).flat_map(|task| &task.moved) {
        let kinds = [("reads", &moved.reads), ("writes", &moved.writes), ("updates", &moved.updates)];
        for (kind, amount) in kinds {
            let value = amount.value.unwrap();
            if value > 0 {
                *told.entry((moved.container, kind)).or_default() += value;
            }
        }
    }
    told
}

/// What the text of an amount is worth under values of names.
fn read(text: &str, values: &BTreeMap<&str, i64>) -> Option<u64> {
    let expr = parser::expression("a test", text).unwrap();
    let expr = expr.resolved(&mut |name| values.get(name).map(|value| Expr::num(*value))).unwrap();
    u64::try_from(expr.eval(&[]).ok()?).ok()
}

fn amounts(volumes: &Volumes) -> Vec<&Amount> {
    let tasks = || volumes.items().iter().flat_map(|item| &item.tasks);
    let moved =
        tasks().flat_map(|task| &task.moved).flat_map(|m| [&m.reads, &m.writes, &m.updates, &m.bytes_in, &m.bytes_out]);
    moved.chain(tasks().flat_map(|task| [&task.executions, &task.operations, &task.bytes])).collect()
}

/// Holds volumes against the walk; gives how many amounts have a text, and how many there are.
fn check(text: &str, settings: &Settings, others: &[Settings]) -> (usize, usize) {
    let (volumes, walk) = both(text, settings);
    assert_eq!(volumes.accesses(), walk.len(), "{text}");
    assert_eq!(told(&volumes), walked(&walk), "{text}");
    let values: BTreeMap<&str, i64> = volumes.parameters().collect();
    let all = amounts(&volumes);
    for amount in &all {
        if let Some(words) = &amount.text {
            assert_eq!(read(words, &values), amount.value, "{words} in\n{text}");
        }
    }
    // The same expression says what is counted under other values, wherever it is still told.
    for other in others {
        let (there, _) = both(text, other);
        let values: BTreeMap<&str, i64> = there.parameters().collect();
        for (a, b) in all.iter().zip(amounts(&there)).filter(|_| amounts(&there).len() == all.len()) {
            if let (Some(a), Some(b_text)) = (&a.text, &b.text)
                && a == b_text
            {
                assert_eq!(read(a, &values), b.value, "{a} in\n{text}");
            }
        }
    }
    (all.iter().filter(|amount| amount.text.is_some()).count(), all.len())
}

#[test]
fn expressions_are_those_that_people_write() {
    for (text, expected) in [
        ("for i in 0..N, j in 0..M { A[0] = B[0] }", "N * M"),
        ("for i in 1..N - 1, j in 2..M - 2 { A[0] = B[0] }", "(N - 2) * (M - 4)"),
        ("for i in 0..N, j in 0..i { A[0] = B[0] }", "N * (N - 1) / 2"),
        ("for i in 0..N, j in i..N { A[0] = B[0] }", "N * (N + 1) / 2"),
        ("for i in 0..N, j in 0..=i, k in 0..=j { A[0] = B[0] }", "N * (N**2 + N * 3 + 2) / 6"),
        ("for i in 0..N step 3 { A[0] = B[0] }", "int_ceil(N, 3)"),
        ("for i in 0..6 * N step 3 { A[0] = B[0] }", "N * 2"),
        ("for i in 0..N tile 4, j in 0..M { A[0] = B[0] }", "N * M"),
        ("for i in 0..N tile 4, j in 0..M tile 3 { A[0] = B[0] }", "N * M"),
        ("for i in 0..N step 2 tile 4 { A[0] = B[0] }", "int_ceil(N, 2)"),
        ("for i in N - 1..=0 step -1, j in i..=0 step -1 { A[0] = B[0] }", "N * (N + 1) / 2"),
        ("for i in 0..3, j in 0..7 { A[0] = B[0] }", "21"),
    ] {
        let text = format!("param N = 9\nparam M = 7\narray A[8] of f64\narray B[8] of f32\n{text}");
        let (volumes, _) = both(&text, &Settings::default());
        let executions = &volumes.items()[0].tasks[0].executions;
        assert_eq!(executions.text.as_deref(), Some(expected), "{text}");
        check(&text, &Settings::default(), &[Settings::of([("N", 23)])]);
    }
}

#[test]
fn what_has_no_closed_form_is_counted() {
    let text = "param N = 9\narray A[64] of f64\nfor i in 0..N, j in i + 3..N { A[0] += 1 }\nfor i in 0..N { if i % 3 == 0 { A[1] += 1 } }";
    let (volumes, _) = both(text, &Settings::default());
    let executions: Vec<_> = volumes.items().iter().map(|item| item.iterations.clone()).collect();
    assert_eq!((executions[0].text.as_deref(), executions[0].value), (None, Some(21)));
    assert_eq!((executions[1].text.as_deref(), executions[1].value), (None, Some(3)));
}

#[test]
fn operations_and_intensity_follow() {
    let text = "param N = 4\narray A[N, N] of f32\narray B[N, N] of f32\narray C[N, N] of f32\n\
                for i in 0..N, j in 0..N, k in 0..N { C[i,j] += A[i,k] * B[k,j] }";
    let (volumes, _) = both(text, &Settings::default());
    let task = &volumes.items()[0].tasks[0];
    assert_eq!(task.operations.text.as_deref(), Some("N * N * N * 2"));
    assert_eq!(task.bytes.text.as_deref(), Some("N * N * N * 16"));
    assert_eq!(task.operations.per_text(&task.bytes).as_deref(), Some("1 / 8"));
    assert_eq!(task.operations.per(&task.bytes), Some(0.125));
}

#[test]
fn graphs_move_what_their_walks_count() {
    use crate::nest::sdfg;
    let mut closed = 0;
    for (text, values) in [
        (include_str!("../../../tests/traces/dace/matmul.sdfg"), &[("N", 6), ("M", 4), ("K", 5)][..]),
        (include_str!("../../../tests/traces/dace/jacobi.sdfg"), &[("N", 10), ("T", 3)]),
        (include_str!("../../../tests/traces/dace/triangular.sdfg"), &[("N", 9)]),
        (include_str!("../../../tests/traces/dace/triangular_regions.sdfg"), &[("N", 9)]),
        (include_str!("../../../tests/traces/dace/nested_raw.sdfg"), &[("N", 6), ("M", 5)]),
        (include_str!("../../../tests/traces/dace/view.sdfg"), &[("N", 6), ("M", 4)]),
        (include_str!("../../../tests/traces/dace/view.sdfg"), &[("N", 1), ("M", 1)]),
        (include_str!("../../../tests/traces/dace/library.sdfg"), &[("N", 6), ("M", 4), ("K", 5)]),
    ] {
        let settings = Settings::of(values.iter().copied());
        let graph = sdfg::Graph::parse("t.sdfg", text).unwrap();
        let volumes = graph.volumes(&settings).unwrap();
        let walk = Walk::new(graph.bind(&settings).unwrap(), 64).unwrap();
        assert_eq!(told(&volumes), walked(&walk), "{values:?}");
        assert_eq!(volumes.gaps(), walk.nest().gaps());
        let known: BTreeMap<&str, i64> = volumes.parameters().collect();
        for amount in amounts(&volumes) {
            if let Some(words) = &amount.text {
                assert_eq!(read(words, &known), amount.value, "{words}");
                closed += usize::from(words.contains('N'));
            }
        }
    }
    assert!(closed > 40, "{closed}");
}

#[test]
fn deep_and_large_expressions_do_no_harm() {
    let deep = "min(N, ".repeat(60) + "3" + &")".repeat(60);
    let long = format!("N{}", " + 1".repeat(10_000));
    let wide = format!("N{}", " + max(N // 3, 2)".repeat(10_000));
    for bound in [deep, long, wide, "N * N * N * N * N * N * N * N * N * N * N * N * N * N".into()] {
        let text = format!("param N = 2\narray A[1] of f64\nfor i in 0..{bound} {{ A[0] += 1 }}");
        check(&text, &Settings::default(), &[]);
    }
    let text = "param N = 3000000\narray A[1] of f64\nfor i in 0..N, j in 0..N, k in 0..N { A[0] += 1 }";
    let source = loops::Source::parse("t.loops", text).unwrap();
    assert!(source.volumes(&Settings::default()).is_err(), "more than 2^64 accesses");
}

fn bound(outer: usize) -> BoxedStrategy<String> {
    let own = prop::sample::select(vec!["0", "1", "N", "M", "N - 2", "N + M", "5", "3"]).prop_map(String::from);
    if outer == 0 {
        return own.boxed();
    }
    let index = (0..outer, prop::sample::select(vec!["", " + 1", " + 3", " * 2", " - 1"]))
        .prop_map(|(i, by)| format!("i{i}{by}"));
    prop_oneof![3 => own, 2 => index].boxed()
}

fn nest(depth: usize, at: usize) -> BoxedStrategy<String> {
    let statement = prop::sample::select(vec!["A[0] = B[1]", "A[1] += B[0] * 2", "t = A[2]"]).prop_map(String::from);
    if depth == 0 {
        return statement.boxed();
    }
    let head = (
        bound(at),
        bound(at),
        prop::sample::select(vec!["", " step 2", " step 3", " step -1", " step -2", " tile 3", " step 2 tile 2"]),
    );
    let head = head.prop_map(move |(from, to, more)| format!("for i{at} in {from}..{to}{more}"));
    let looped =
        (head, nest(depth - 1, at + 1), statement.clone(), any::<bool>()).prop_map(|(head, body, other, first)| {
            if first { format!("{head} {{ {body} }}") } else { format!("{head} {{ {other}\n{body}\n{other} }}") }
        });
    let branch = nest(depth - 1, at).prop_map(move |body| {
        if at == 0 { format!("if N > 4 {{ {body} }}") } else { format!("if i0 % 2 == 0 {{ {body} }}") }
    });
    prop_oneof![6 => looped, 1 => statement, 1 => branch].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn volumes_are_what_the_walk_counts(body in nest(3, 0), n in 0i64..9, m in 0i64..7) {
        let text = format!("param N = 4\nparam M = 3\narray A[8] of f64\narray B[8] of f32\ntemp t\n{body}");
        let others = [Settings::of([("N", n + 2), ("M", m + 1)]), Settings::of([("N", 11), ("M", 9)])];
        check(&text, &Settings::of([("N", n), ("M", m)]), &others);
    }
}
