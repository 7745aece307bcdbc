use super::metrics::{Bins, Edges, Metric, series};
use super::rules::{Rule, breaches};
use super::*;
use proptest::prelude::*;

/// `(id, parent, category, action, location, start, end)`.
type Line = (u64, Option<u64>, &'static str, &'static str, &'static str, u64, u64);

fn built(lines: &[Line]) -> Built {
    let mut builder = TaskSetBuilder::new(1_000_000_000);
    for &(id, parent, category, action, location, start, end) in lines {
        let (category, action) = (builder.word(category), builder.word(action));
        let location = builder.location(location);
        let (id, parent) = (TaskId::Number(id), parent.map(TaskId::Number));
        let task = NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end };
        builder.push(task).expect("few");
    }
    builder.finish()
}

fn by_id(set: &TaskSet, id: u64) -> TaskIndex {
    set.find(&id.to_string()).expect("a task of this name")
}

#[test]
fn a_tree_by_location_and_start() {
    let built = built(&[
        (3, Some(2), "req_in", "ReadReq", "L2", 30, 60),
        (2, Some(1), "req_out", "ReadReq", "L1", 20, 70),
        (1, None, "req_in", "ReadReq", "L1", 10, 80),
        (4, Some(9), "req_in", "ReadReq", "L2", 5, 6),
        (5, None, "req_in", "ReadReq", "L2", 9, 8),
        (6, Some(1), "cache_transaction", "read", "L1", 20, 25),
    ]);
    let set = &built.set;
    assert_eq!((set.len(), built.reversed, built.repeated, set.dangling(), set.span()), (5, 1, 0, 1, (5, 80)));
    let l1 = set.locations().find("L1").expect("L1");
    assert_eq!(set.tasks_at(l1).map(|task| set.id(task)).collect::<Vec<_>>(), ["1", "2", "6"]);
    let one = by_id(set, 1);
    assert_eq!(set.children(one).iter().map(|&task| set.id(task)).collect::<Vec<_>>(), ["2", "6"]);
    let three = by_id(set, 3);
    assert_eq!(set.ancestors(three).iter().map(|&task| set.id(task)).collect::<Vec<_>>(), ["3", "2", "1"]);
    assert_eq!(set.task(three).action, "ReadReq");
    assert_eq!(set.locations().word(set.task(three).location), "L2");
    assert_eq!(set.dangling_parent(by_id(set, 4)), Some("9"));
    assert_eq!(breaches(set), []);
    let rooted = lanes::outermost(set, l1).map(|task| set.id(task)).collect::<Vec<_>>();
    assert_eq!(rooted, ["1"]);
}

#[test]
fn broken_rules_are_found() {
    let built = built(&[
        (1, None, "req_out", "ReadReq", "CU", 10, 50),
        (2, Some(1), "req_in", "ReadReq", "L1", 5, 20),
        (3, Some(2), "req_in", "ReadReq", "L1", 6, 7),
        (4, Some(2), "pipeline", "tags", "L1", 19, 21),
        (5, Some(6), "inst", "VMem", "CU", 0, 1),
        (6, Some(5), "inst", "VMem", "CU", 0, 1),
    ]);
    let found: Vec<_> = breaches(&built.set).into_iter().map(|(task, rule)| (built.set.id(task), rule)).collect();
    let expected = [
        ("5", Rule::Circle),
        ("6", Rule::Circle),
        ("2", Rule::OutsideRequest),
        ("3", Rule::NoRequestOut),
        ("4", Rule::OutsideParent),
    ];
    assert_eq!(found, expected.map(|(id, rule)| (id.to_owned(), rule)));
    // Circles end.
    assert_eq!(built.set.ancestors(by_id(&built.set, 5)).len(), 2);
}

#[test]
fn rows_are_taken_again_when_they_are_free() {
    assert_eq!(
        lanes::rows(&[(0, 10), (2, 4), (3, 9), (4, 6), (10, 11), (10, 10), (10, 12)]),
        (vec![0, 1, 2, 1, 0, 1, 1], 3)
    );
}

#[test]
fn a_summary_counts_by_hand() {
    let lines = [
        (1, None, "req_in", "ReadReq", "L1", 0, 100),
        (2, None, "req_in", "ReadReq", "L1", 100, 200),
        (3, None, "req_in", "ReadReq", "L1", 50, 150),
        (4, None, "req_in", "ReadReq", "L1", 60, 60),
        (5, Some(77), "inst", "VMem", "CU", 7, 1000),
    ];
    let summary = summary(&built(&lines).set);
    assert_eq!((summary.start, summary.end, summary.tasks, summary.locations), (0.0, 1e-6, 5, 2));
    assert_eq!(summary.kinds.into_iter().collect::<Vec<_>>(), [("inst".to_owned(), 1), ("req_in".to_owned(), 4)]);
    let [served] = &summary.requests_in[..] else { panic!("one location serves") };
    assert_eq!((served.count, served.mean, served.max_concurrency), (4, 75e-9, 2));
}

#[test]
fn waits_are_counted_by_what_was_waited_for() {
    let mut builder = TaskSetBuilder::new(1);
    let [category, port, buffer, resource, data] =
        ["req_in", "L2.Port", "L2.Buffer", "hardware_resource", "data"].map(|word| builder.word(word));
    let location = builder.location("L2");
    for (number, waits) in (1..).zip([&[port, buffer, buffer][..], &[buffer], &[port], &[]]) {
        let id = TaskId::Number(number);
        let task = NewTask { id: &id, parent: None, category, action: category, location, start: 0, end: 9 };
        builder.push(task).expect("few");
        for (time, &what) in (1..).zip(waits) {
            builder.milestone(&id, time, resource, what, None);
        }
        builder.milestone(&id, 8, data, port, None);
    }
    let set = builder.finish().set;
    let rows = blocking::blocking(&set);
    let told: Vec<_> = rows.iter().map(|row| (set.words().word(row.what), row.waits, row.tasks)).collect();
    assert_eq!(told, [("L2.Buffer", 3, 2), ("L2.Port", 2, 2)]);
}

fn line() -> impl Strategy<Value = (u8, u8, u8, u64, u64)> {
    (0..4u8, 0..3u8, 0..3u8, 0..60u64, 0..20u64)
}

/// The formulas, as they are written down.
fn slowly(lines: &[Line], metric: Metric, location: &str, bins: &Bins) -> Vec<(f64, f64)> {
    let seconds = |ticks: u64| ticks as f64 / 1e9;
    let (first, last) = (seconds(bins.from), seconds(bins.to));
    let width = (last - first) / bins.count as f64;
    let here: Vec<&Line> = lines.iter().filter(|line| line.4 == location).collect();
    let requests = || here.iter().filter(|line| line.2 == "req_in");
    let value = |bin: usize| {
        let (low, high) = (bin as f64 * width + first, (bin + 1) as f64 * width + first);
        let inside = |ticks: u64| match bins.edges {
            Edges::Neither => low < seconds(ticks) && seconds(ticks) < high,
            Edges::Later => {
                let at = seconds(ticks);
                first < at && at < last && ((at - first) / width).trunc() == bin as f64
            }
        };
        let level = |intervals: Vec<(u64, u64)>| {
            let covered = |(start, end): (u64, u64)| (seconds(end).min(high) - seconds(start).max(low)).max(0.0);
            intervals.into_iter().filter(|(start, end)| end > start).map(covered).sum::<f64>() / width
        };
        let times = |line: &&&Line| (line.5, line.6);
        match metric {
            Metric::ReqInCount => requests().filter(|line| inside(line.5)).count() as f64 / width,
            Metric::ReqCompleteCount => requests().filter(|line| inside(line.6)).count() as f64 / width,
            Metric::AvgLatency => {
                let ended: Vec<f64> =
                    requests().filter(|line| inside(line.6)).map(|line| seconds(line.6 - line.5)).collect();
                if ended.is_empty() { 0.0 } else { ended.iter().sum::<f64>() / ended.len() as f64 }
            }
            Metric::ConcurrentTask => level(here.iter().map(|line| (line.5, line.6)).collect()),
            Metric::PendingReqOut => {
                level(here.iter().filter(|line| line.2 == "req_out").map(|line| (line.5, line.6)).collect())
            }
            Metric::BufferPressure => {
                let sent =
                    |line: &&&Line| lines.iter().find(|other| Some(other.0) == line.1).map_or(0, |parent| parent.5);
                level(requests().map(|line| (sent(&line), line.5)).collect())
            }
            Metric::RequestBufferPressure | Metric::ResponseBufferPressure => {
                let ending = if metric == Metric::RequestBufferPressure { "Req" } else { "Rsp" };
                let waiting = here.iter().filter(|line| line.2 == "incoming_buffer" && line.3.ends_with(ending));
                level(waiting.collect::<Vec<_>>().iter().map(times).collect())
            }
            // Has a test of its own: these tasks have no milestones.
            Metric::ConcurrentTaskMilestones => 0.0,
        }
    };
    (0..bins.count).map(|bin| (bin as f64 * width + first + 0.5 * width, value(bin))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn metrics_are_their_formulas(
        drawn in prop::collection::vec(line(), 1..40),
        count in 1usize..13,
        later in any::<bool>(),
        part in prop::option::of((0..40u64, 1..40u64)),
    ) {
        let lines: Vec<Line> = (1u64..).zip(&drawn).map(|(id, &(category, action, location, start, length))| {
            let category = ["req_in", "req_out", "incoming_buffer", "inst"][usize::from(category)];
            let action = ["ReadReq", "DataReadyRsp", "other"][usize::from(action)];
            let location = ["L1", "L2", "CU"][usize::from(location)];
            (id, (id > 2).then_some(id / 2), category, action, location, start, start + length)
        }).collect();
        let set = built(&lines).set;
        let edges = if later { Edges::Later } else { Edges::Neither };
        let mut bins = Bins::whole(&set, count, edges);
        if let Some((from, len)) = part {
            (bins.from, bins.to) = (from, from + len);
        }
        for (location, name) in set.locations().iter() {
            for metric in Metric::ALL {
                let fast = series(&set, metric, location, &bins);
                if bins.to <= bins.from {
                    prop_assert_eq!(fast.len(), 0);
                    continue;
                }
                let slow = slowly(&lines, metric, name, &bins);
                for (one, other) in fast.iter().zip(&slow) {
                    prop_assert!(one.0 == other.0 && (one.1 - other.1).abs() <= 1e-9 * other.1.abs().max(1e-3), "{} {}: {:?} is not {:?}", metric, name, fast, slow);
                }
                prop_assert_eq!(fast.len(), slow.len());
            }
        }
    }
}

/// Start, end, and milestones: when, and the number of the category.
type Waiting = (u64, u64, Vec<(u64, u8)>);

/// The two formulas of stacked milestones, as they are written down: for each bin and each category a number.
fn waiting_slowly(tasks: &[Waiting], bins: &Bins) -> Vec<[f64; 3]> {
    let seconds = |ticks: u64| ticks as f64 / 1e9;
    let (first, last) = (seconds(bins.from), seconds(bins.to));
    let width = (last - first) / bins.count as f64;
    let row = |bin: usize| {
        let (low, high) = (bin as f64 * width + first, (bin + 1) as f64 * width + first);
        let mut row = [0.0; 3];
        for (start, end, milestones) in tasks.iter().filter(|task| !task.2.is_empty()) {
            if bins.edges == Edges::Neither {
                if seconds(*end) < low || seconds(*start) > high {
                    continue;
                }
                // Of those at one time the one that was told first.
                let before = milestones.iter().rev().filter(|(time, _)| seconds(*time) <= low).max_by_key(|row| row.0);
                let (_, reason) = before.unwrap_or(milestones.iter().min_by_key(|row| row.0).expect("one"));
                row[usize::from(*reason)] += 1.0;
            } else if *end > bins.from && *start < bins.to {
                let mut sorted = milestones.clone();
                sorted.sort_by_key(|row| row.0);
                let mut since = *start;
                for (time, reason) in sorted {
                    let (from, to) = (std::mem::replace(&mut since, time), time);
                    if to <= bins.from || from >= bins.to {
                        continue;
                    }
                    // In units of a tick over the number of bins.
                    let (count, width) = (bins.count as u64, bins.to - bins.from);
                    let from = (from.max(bins.from) - bins.from) * count / width;
                    let to = ((to - bins.from) * count).div_ceil(width);
                    row[usize::from(reason)] += if (from..to).contains(&(bin as u64)) { 1.0 } else { 0.0 };
                }
            }
        }
        row
    };
    (0..bins.count).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn stacked_milestones_are_their_formulas(
        tasks in prop::collection::vec((0..60u64, 0..20u64, prop::collection::vec((0..21u64, 0..3u8), 0..4)), 1..30),
        count in 1usize..13,
        later in any::<bool>(),
        part in prop::option::of((0..40u64, 1..40u64)),
    ) {
        let names = ["data", "hardware_resource", "queue"];
        let mut builder = TaskSetBuilder::new(1_000_000_000);
        let (word, location) = (builder.word("a"), builder.location("L2"));
        let mut told = Vec::new();
        for (number, (start, length, milestones)) in (1..).zip(&tasks) {
            let id = TaskId::Number(number);
            let (start, end) = (*start, start + length);
            builder.push(NewTask { id: &id, parent: None, category: word, action: word, location, start, end }).expect("few");
            let milestones: Vec<(u64, u8)> = milestones.iter().map(|&(at, reason)| (start + at.min(*length), reason)).collect();
            for &(time, reason) in &milestones {
                let category = builder.word(names[usize::from(reason)]);
                builder.milestone(&id, time, category, word, None);
            }
            told.push((start, end, milestones));
        }
        let set = builder.finish().set;
        let edges = if later { Edges::Later } else { Edges::Neither };
        let mut bins = Bins::whole(&set, count, edges);
        if let Some((from, len)) = part {
            (bins.from, bins.to) = (from, from + len);
        }
        let found = reasons::Reasons::of(&set, &[location], &bins);
        if bins.to <= bins.from {
            prop_assert!(found.bands.is_empty());
            return Ok(());
        }
        let slow = waiting_slowly(&told, &bins);
        for (bin, row) in slow.iter().enumerate() {
            for (name, expected) in names.iter().zip(row) {
                let band = found.bands.iter().find(|band| band.0 == *name);
                let value = band.map_or(0.0, |band| band.1[bin]);
                prop_assert_eq!(value, *expected, "{} in bin {} of {:?}: {:?}", name, bin, bins, told);
            }
        }
        let total = series(&set, Metric::ConcurrentTaskMilestones, location, &bins);
        prop_assert_eq!(total.iter().map(|point| point.1).collect::<Vec<_>>(), slow.iter().map(|row| row.iter().sum::<f64>()).collect::<Vec<_>>());
    }
}

#[test]
fn requests_on_their_ways_are_counted_where_they_are_received() {
    let mut builder = TaskSetBuilder::new(1_000);
    // Ten requests of CU[0] and CU[1] to L2, received 5 ticks after they were made; each held for 20.
    for n in 0..10u64 {
        let [out, inward] = [2 * n + 1, 2 * n + 2].map(TaskId::Number);
        let (category, action) = (builder.word(REQUEST_OUT), builder.word("ReadReq"));
        let location = builder.location(&format!("CU[{}]", n % 2));
        let (start, end) = (10 * n, 10 * n + 30);
        builder.push(NewTask { id: &out, parent: None, category, action, location, start, end }).expect("few");
        let (category, location) = (builder.word(REQUEST_IN), builder.location("L2"));
        let (start, end) = (10 * n + 5, 10 * n + 25);
        let task = NewTask { id: &inward, parent: Some(&out), category, action, location, start, end };
        builder.push(task).expect("few");
    }
    let book = TaskBook::new(builder.finish().set, Edges::Neither, "", "");
    let (set, traffic) = (book.set(), book.traffic());
    let at = |name: &str| traffic.owner(set.locations().find(name).expect("there")).expect("a component");
    let (units, cache) = ([at("CU[0]"), at("CU[1]")], at("L2"));
    assert_eq!(traffic.links.iter().map(|link| (link.requests, link.hop)).collect::<Vec<_>>(), [(5, 5), (5, 5)]);
    // Those received at 5, 15, 25; the end is not among them.
    let received = traffic.received(set, 5..35);
    assert_eq!(received.into_iter().collect::<Vec<_>>(), [((units[0], cache), 2), ((units[1], cache), 1)]);
    assert!(traffic.received(set, 6..15).is_empty());
    // At 26 those of 15 and 25 are held; that of 5 ended at 25.
    assert_eq!(traffic.held(set, 26)[cache as usize], 2);
    assert_eq!(traffic.held(set, 0)[cache as usize], 0);
    assert_eq!(traffic.component(cache).most, 2);
    let names: Vec<(&str, u32)> = traffic.kinds.iter().map(|kind| (kind.name.as_str(), kind.depth)).collect();
    assert_eq!(names, [("CU", 0), ("L2", 1)]);
}
