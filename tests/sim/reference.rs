//! Our counts against other people's simulators, exactly, counter by counter: `tests/reference/` holds traces, caches and
//! what each peer counted (README.md there says how they came about), and DEVIATIONS.md is the ledger of accepted
//! differences. This reads files only; no peer is needed to run it.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

use orrery::reference::{Kind, MemoryTrace, Reference, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways, preset};
use orrery::sim::stats::{LevelStats, Stats, collect};
use orrery::trace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap_or_else(|e| panic!("tests/reference/{name}: {e}"))
}

/// Rows of a CSV file, each by column name; every row is as long as the head.
fn table(name: &str) -> Vec<BTreeMap<String, String>> {
    let text = text(name);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), head.len(), "{name}: {line}");
        head.iter().zip(cells).map(|(h, c)| ((*h).to_owned(), c.to_owned())).collect()
    };
    lines.map(row).collect()
}

/// A row of the ledger.
#[derive(Clone, Debug)]
struct Deviation {
    row: String,
    peer: String,
    cache: String,
    example: String,
    level: String,
    counter: String,
    theirs: u64,
    ours: u64,
}

impl Deviation {
    /// What its example is called in the CSV files.
    fn trace(&self) -> String {
        self.row.to_lowercase()
    }
}

fn ledger() -> Vec<Deviation> {
    let text = text("DEVIATIONS.md");
    let is_row = |cell: &str| {
        cell.len() > 1 && cell.starts_with(['P', 'C', 'D']) && cell[1..].chars().all(|c| c.is_ascii_digit())
    };
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(|c| c.trim().trim_matches('`')).collect();
        if !is_row(cells[0]) {
            return None;
        }
        assert_eq!(cells.len(), 9, "DEVIATIONS.md: {line}");
        assert!(!cells[2].is_empty() && !cells[3].is_empty(), "DEVIATIONS.md: {}: what and why", cells[0]);
        let (level, counter) = cells[6].split_once(' ').unwrap();
        Some(Deviation {
            row: cells[0].into(),
            peer: cells[1].into(),
            cache: cells[4].into(),
            example: cells[5].into(),
            level: level.into(),
            counter: counter.into(),
            theirs: cells[7].parse().unwrap(),
            ours: cells[8].parse().unwrap(),
        })
    });
    rows.collect()
}

/// `W 3c 8`: kind, address in hex, size in decimal.
fn reference(text: &str) -> Reference {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let kind = match parts[0] {
        "R" => Kind::Read,
        "W" => Kind::Write,
        "M" => Kind::Modify,
        other => panic!("{other}: a kind is R, W or M"),
    };
    Reference::new(kind, u64::from_str_radix(parts[1], 16).unwrap(), parts[2].parse().unwrap())
}

/// Our side: what was played, and what came of it.
struct Ours {
    examples: BTreeMap<String, Vec<Reference>>,
    traces: BTreeMap<String, Vec<Reference>>,
    played: BTreeMap<(String, String, String), Stats>,
}

impl Ours {
    fn new() -> Self {
        let examples = ledger().into_iter().filter(|d| d.peer != "cachegrind");
        let examples = examples.map(|d| (d.trace(), d.example.split("; ").map(reference).collect())).collect();
        Self { examples, traces: BTreeMap::new(), played: BTreeMap::new() }
    }

    /// References of a trace: an example of the ledger, or a file.
    fn trace(&mut self, name: &str) -> Vec<Reference> {
        if let Some(references) = self.examples.get(name) {
            return references.clone();
        }
        let read = || {
            let names = [format!("traces/{name}.gz"), format!("traces/{name}.orrery")];
            let path = names.iter().map(|n| file(n)).find(|p| p.exists()).unwrap_or_else(|| panic!("no trace {name}"));
            let source = trace::open(&path, None).unwrap();
            let chunks = 0..source.len().div_ceil(source.chunk_len());
            chunks.flat_map(|n| source.chunk(n).unwrap().to_vec()).collect()
        };
        self.traces.entry(name.to_owned()).or_insert_with(read).clone()
    }

    /// Plays a trace. Views: `plain`; `flush`, dirty lines written back at the end; `reads`, each data reference as one
    /// read.
    fn play(&mut self, cache: &str, trace: &str, view: &str) -> &Stats {
        let key = (cache.to_owned(), trace.to_owned(), view.to_owned());
        if !self.played.contains_key(&key) {
            let config = config(cache);
            let mut references = self.trace(trace);
            assert!(!references.is_empty(), "{trace}");
            if view == "reads" {
                references.iter_mut().filter(|r| r.kind != Kind::Fetch).for_each(|r| r.kind = Kind::Read);
            }
            assert!(["plain", "flush", "reads"].contains(&view), "{view}");
            let stats = collect(&MemoryTrace::new(references, Tables::default()), &config, view == "flush").unwrap();
            self.played.insert(key.clone(), stats);
        }
        &self.played[&key]
    }
}

fn config(cache: &str) -> HierarchyConfig {
    let name = format!("caches/{cache}.toml");
    HierarchyConfig::from_toml(&text(&name), &name).unwrap_or_else(|e| panic!("{e}"))
}

/// One of our counters by the name it has in the CSV files: ours, or pycachesim's in capitals.
fn count(stats: &Stats, level: &str, counter: &str) -> u64 {
    if level == "memory" {
        let m = &stats.memory;
        return match counter {
            "reads" => m.reads,
            "writes" => m.writes,
            "bytes_in" => m.bytes_read,
            "bytes_out" => m.bytes_written,
            other => panic!("memory counts no {other}"),
        };
    }
    let l: &LevelStats = stats.levels.iter().find(|l| l.name == level).unwrap_or_else(|| panic!("no level {level}"));
    match counter {
        "reads" | "LOAD" => l.read_accesses,
        "read_misses" => l.read_misses,
        "writes" | "STORE" => l.write_accesses,
        "write_misses" => l.write_misses,
        "fetches" => l.fetch_accesses,
        "fetch_misses" => l.fetch_misses,
        "HIT" => l.accesses() - l.misses(),
        "MISS" => l.misses(),
        "fills" => l.fills,
        "evictions" => l.evictions,
        "invalidations" => l.invalidations,
        "writebacks" | "EVICT" => l.writebacks,
        "bytes_in" => l.bytes_in,
        "bytes_out" => l.bytes_out,
        other => panic!("a level counts no {other}"),
    }
}

/// Peer, cache, trace, view, level, counter.
type Place = [String; 6];

/// A counter of a peer beside ours.
#[derive(Clone, Debug)]
struct Pair {
    place: Place,
    theirs: u64,
    ours: u64,
}

/// What differences.csv says of a counter.
#[derive(Clone, Debug)]
struct Difference {
    theirs: u64,
    ours: u64,
    rows: Vec<String>,
}

fn differences() -> BTreeMap<Place, Difference> {
    let mut all = BTreeMap::new();
    for row in table("differences.csv") {
        let place = ["peer", "cache", "trace", "view", "level", "counter"].map(|key| row[key].clone());
        let rows: Vec<String> = row["rows"].split(' ').map(str::to_owned).collect();
        let (theirs, ours) = (row["peer_value"].parse().unwrap(), row["ours"].parse().unwrap());
        assert!(all.insert(place, Difference { theirs, ours, rows }).is_none(), "differences.csv: twice: {row:?}");
    }
    all
}

/// What the peers counted: place and value. Cachegrind's names become ours here; what it has no name for, it counts 0 of.
fn peers() -> Vec<(Place, u64)> {
    let mut all = Vec::new();
    let place = |peer: &str, row: &BTreeMap<String, String>, view: &str, level: &str, counter: &str| {
        [peer, &row["cache"], &row["trace"], view, level, counter].map(str::to_owned)
    };
    for row in table("pycachesim.csv") {
        for counter in ["LOAD", "STORE", "HIT", "MISS", "EVICT"] {
            all.push((place("pycachesim", &row, "plain", &row["level"], counter), row[counter].parse().unwrap()));
        }
    }
    for row in table("dinero_model.csv") {
        for counter in ["reads", "read_misses", "writes", "write_misses", "writebacks"] {
            if !row[counter].is_empty() {
                let place = place(&row["peer"], &row, &row["view"], &row["level"], counter);
                all.push((place, row[counter].parse().unwrap()));
            }
        }
    }
    for row in table("cachegrind.csv") {
        let n = |name: &str| row[name].parse::<u64>().unwrap();
        let is_example = row["trace"].starts_with('c');
        let views = if is_example { vec!["plain"] } else { vec!["plain", "reads"] };
        for view in views {
            // As reads, stores are reads too.
            let (read, write) = match view {
                "reads" => ([n("Dr") + n("Dw"), n("D1mr") + n("D1mw")], [0, 0]),
                _ => ([n("Dr"), n("D1mr")], [n("Dw"), n("D1mw")]),
            };
            let mut level = |name: &str, read: [u64; 2], write: [u64; 2], fetch: [u64; 2]| {
                let counters = [("reads", "read_misses", read), ("writes", "write_misses", write)];
                for (accesses, misses, value) in counters.into_iter().chain([("fetches", "fetch_misses", fetch)]) {
                    all.push((place("cachegrind", &row, view, name, accesses), value[0]));
                    all.push((place("cachegrind", &row, view, name, misses), value[1]));
                }
            };
            level("D1", read, write, [0, 0]);
            if row["cache"] != "cg_d1" {
                level("I1", [0, 0], [0, 0], [n("Ir"), n("I1mr")]);
                let ll = [n("D1mr") + n("D1mw"), n("DLmr") + n("DLmw")];
                level("LL", ll, [0, 0], [n("I1mr"), n("ILmr")]);
            }
        }
    }
    all
}

/// Everything compared.
fn pairs() -> Vec<Pair> {
    let mut ours = Ours::new();
    let pair = |(place, theirs): (Place, u64)| {
        let [_, cache, trace, view, level, counter] = &place;
        let ours = count(ours.play(cache, trace, view), level, counter);
        Pair { place, theirs, ours }
    };
    peers().into_iter().map(pair).collect()
}

/// What is wrong with a comparison; nothing, if equal or different just as differences.csv says.
fn fault(pair: &Pair, known: Option<&Difference>) -> Option<String> {
    let Pair { place, theirs, ours } = pair;
    match known {
        None if theirs != ours => {
            Some(format!("{place:?}: theirs {theirs}, ours {ours}, and the ledger does not say so"))
        }
        Some(d) if theirs == ours => Some(format!("{place:?}: both {ours}, but the ledger has it for {:?}", d.rows)),
        Some(d) if (d.theirs, d.ours) != (*theirs, *ours) => {
            Some(format!("{place:?}: theirs {theirs}, ours {ours}; the ledger says {} and {}", d.theirs, d.ours))
        }
        _ => None,
    }
}

#[test]
fn we_count_what_the_contract_says() {
    let mut ours = Ours::new();
    let (mut compared, mut faults) = (0, Vec::new());
    for row in table("contract.csv") {
        let [cache, trace, view, level] = ["cache", "trace", "view", "level"].map(|key| row[key].as_str());
        let stats = ours.play(cache, trace, view);
        for (counter, value) in &row {
            if ["cache", "trace", "view", "level"].contains(&counter.as_str()) || value.is_empty() {
                continue;
            }
            let found = count(stats, level, counter);
            compared += 1;
            if found.to_string() != *value {
                faults.push(format!("{cache} {trace} {view} {level} {counter}: {found}, the contract says {value}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {compared} counts:\n{}", faults.len(), faults.join("\n"));
    assert!(compared > 4000, "{compared}");
    eprintln!("{compared} counts equal to the contract");
}

#[test]
fn peers_count_the_same_but_for_what_the_ledger_says() {
    let (pairs, known) = (pairs(), differences());
    let faults: Vec<String> = pairs.iter().filter_map(|pair| fault(pair, known.get(&pair.place))).collect();
    assert!(faults.is_empty(), "{} of {} counts:\n{}", faults.len(), pairs.len(), faults.join("\n"));
    // Nothing in differences.csv that nobody counted.
    let seen: BTreeSet<&Place> = pairs.iter().map(|pair| &pair.place).collect();
    for place in known.keys() {
        assert!(seen.contains(place), "differences.csv: {place:?} is compared nowhere");
    }
    for peer in ["pycachesim", "cachegrind", "dinero", "dinero program"] {
        let all = pairs.iter().filter(|pair| pair.place[0] == peer);
        let (equal, different): (Vec<_>, Vec<_>) = all.partition(|pair| pair.theirs == pair.ours);
        assert!(equal.len() >= 10, "{peer}");
        eprintln!("{peer}: {} counts equal, {} different as the ledger says", equal.len(), different.len());
    }
}

/// With loads only everybody agrees at every level. (pycachesim's LOAD counts requests, not lines, row P6; a victim cache
/// is more than loads: rows P11, P13, P14.)
#[test]
fn with_loads_only_all_peers_agree_at_every_level() {
    let mut compared = BTreeMap::new();
    for Pair { place, theirs, ours } in pairs() {
        let [peer, cache, trace, view, level, counter] = &place;
        let loads = trace.starts_with("r_") || (trace == "tidy" && view == "reads");
        if !loads || cache.starts_with("victim") || counter == "LOAD" {
            continue;
        }
        assert_eq!(theirs, ours, "{place:?}");
        *compared.entry((peer.clone(), level.clone())).or_insert(0) += usize::from(ours > 0);
    }
    for (peer, level, least) in [
        ("pycachesim", "L1", 150),
        ("pycachesim", "L2", 80),
        ("pycachesim", "L3", 30),
        ("dinero", "L1", 100),
        ("dinero", "L2", 60),
        ("dinero", "L3", 20),
        ("cachegrind", "D1", 2),
        ("cachegrind", "I1", 6),
        ("cachegrind", "LL", 12),
    ] {
        let found = compared.get(&(peer.to_owned(), level.to_owned())).copied().unwrap_or(0);
        assert!(found >= least, "{peer} {level}: {found} counts above 0 compared, expected {least} or more");
    }
}

#[test]
fn the_ledger_has_a_row_for_each_difference_and_a_difference_for_each_row() {
    let (ledger, known) = (ledger(), differences());
    let rows: BTreeMap<&str, &Deviation> = ledger.iter().map(|d| (d.row.as_str(), d)).collect();
    assert_eq!(rows.len(), ledger.len(), "DEVIATIONS.md: a row number is used twice");
    for (place, difference) in &known {
        assert!(!difference.rows.is_empty(), "{place:?}");
        for row in &difference.rows {
            let deviation =
                rows.get(row.as_str()).unwrap_or_else(|| panic!("{place:?}: no row {row} in DEVIATIONS.md"));
            let family = deviation.peer.split(' ').next().unwrap();
            assert!(place[0].starts_with(family), "{place:?}: row {row} is about {}", deviation.peer);
        }
    }
    for d in &ledger {
        let place = [&d.peer, &d.cache, &d.trace(), "plain", &d.level, &d.counter].map(|s: &str| s.to_owned());
        let found =
            known.get(&place).unwrap_or_else(|| panic!("DEVIATIONS.md {}: its example shows no difference", d.row));
        assert_eq!((found.theirs, found.ours), (d.theirs, d.ours), "DEVIATIONS.md {}", d.row);
        assert!(found.rows.contains(&d.row), "DEVIATIONS.md {}: its example is put down to {:?}", d.row, found.rows);
    }
}

/// The comparison must not be blind: any counter of either side, off by one, is found.
#[test]
fn a_count_off_by_one_is_found() {
    let (pairs, known) = (pairs(), differences());
    for pair in &pairs {
        let known = known.get(&pair.place);
        let theirs = Pair { theirs: pair.theirs + 1, ..pair.clone() };
        let ours = Pair { ours: pair.ours + 1, ..pair.clone() };
        let less = Pair { ours: pair.ours.wrapping_sub(1), ..pair.clone() };
        for wrong in [theirs, ours, less] {
            assert!(fault(&wrong, known).is_some(), "{wrong:?}");
        }
    }
    // And a difference that has gone, or come, is one too.
    let differs = pairs.iter().find(|p| p.theirs != p.ours).unwrap();
    assert!(fault(differs, None).is_some());
    let equal = Pair { theirs: differs.ours, ..differs.clone() };
    assert!(fault(&equal, known.get(&differs.place)).is_some());
}

/// The example in Ripes' documentation of its cache view: the same program in 32 sets of one way and in 16 sets of two. Four
/// loads of one line, then 128 times two lines 2 KiB apart.
#[test]
fn ripes_documented_example() {
    let load = |addr| Reference::new(Kind::Read, addr, 4);
    let mut references: Vec<Reference> = [0, 4, 8, 12].map(load).to_vec();
    references.extend((0..128).flat_map(|_| [load(4096), load(6144)]));
    let trace = MemoryTrace::new(references, Tables::default());
    for (ways, sets, hits) in [(1, 32, 3), (2, 16, 257)] {
        let mut config = preset("textbook").unwrap();
        config.levels = vec![LevelConfig::new("L1", 0, 512, Ways::Count(ways), 16)];
        let stats = collect(&trace, &config, false).unwrap();
        let l1 = &stats.levels[0];
        assert_eq!((l1.sets, l1.ways, l1.line), (sets, ways, 16));
        assert_eq!((l1.accesses() - l1.misses(), l1.accesses()), (hits, 260), "{sets} sets of {ways}");
    }
}
