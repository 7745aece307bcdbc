//! What Python counts in our files with the usual libraries is what `orrery stats --json` counts.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says when it skips")]

use crate::support::regions::row;
use orrery::reference::{Kind, Reference, Region, Tables};
use orrery::trace::native::FileWriter;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts in one library's own terms: argument 1 is the file, 2 the library. Prints `missing`, or JSON.
const COUNT: &str = r#"
import importlib, json, sys
path, tool = sys.argv[1:]
try:
    importlib.import_module(tool)
    if tool == "pandas":
        import pyarrow.parquet
except ImportError:
    print("missing")
    sys.exit()

def found(metadata):
    return json.loads(metadata["orrery.tables"])["regions"]

def holds(region, lives):
    first, last = region["base"], region["base"] + region["bytes"] - 1
    born, dies = region.get("lifetime") or (0, 1 << 62)
    return lives.format(first=first, last=last, born=born, dies=dies)

if tool == "duckdb":
    import duckdb
    db = duckdb.connect()
    pairs = db.execute("select key, value from parquet_kv_metadata(?)", [path]).fetchall()
    regions = found({bytes(k).decode(): bytes(v).decode() for k, v in pairs})
    db.execute("create table t as select *, file_row_number as n from read_parquet(?, file_row_number=true)", [path])
    one = lambda what, where="true": int(db.execute(f"select coalesce({what}, 0) from t where {where}").fetchone()[0])
    counts = {
        "references": one("count(*)"),
        "reads": one("count(*)", "kind in (0, 2)"),
        "writes": one("count(*)", "kind in (1, 2)"),
        "fetches": one("count(*)", "kind = 3"),
        "bytes": one("sum(size * case kind when 2 then 2 else 1 end)"),
    }
    lives = "address between {first} and {last} and n >= {born} and n < {dies}"
    in_region = lambda region: one("count(*)", holds(region, lives))
elif tool == "polars":
    import polars as pl
    regions = found(pl.read_parquet_metadata(path))
    t = pl.read_parquet(path).with_row_index("n")
    kind = pl.col("kind")
    count = lambda where: t.filter(where).height
    counts = {
        "references": t.height,
        "reads": count(kind.is_in([0, 2])),
        "writes": count(kind.is_in([1, 2])),
        "fetches": count(kind == 3),
        "bytes": t.select(pl.col("size").cast(pl.Int64) * pl.when(kind == 2).then(2).otherwise(1)).sum().item(),
    }
    lives = "address >= {first} and address <= {last} and n >= {born} and n < {dies}"
    in_region = lambda region: t.sql(f"select count(*) from self where {holds(region, lives)}").item()
else:
    import pandas as pd
    import pyarrow.parquet as pq
    pairs = pq.read_metadata(path).metadata
    regions = found({k.decode(): v.decode() for k, v in pairs.items()})
    t = pd.read_parquet(path)
    t["n"] = range(len(t))
    counts = {
        "references": len(t),
        "reads": int(t.kind.isin([0, 2]).sum()),
        "writes": int(t.kind.isin([1, 2]).sum()),
        "fetches": int((t.kind == 3).sum()),
        "bytes": int((t["size"].astype("int64") * t.kind.map(lambda k: 2 if k == 2 else 1)).sum()),
    }
    lives = "{first} <= address <= {last} and {born} <= n < {dies}"
    in_region = lambda region: len(t.query(holds(region, lives)))

by_name = {}
for region in regions:
    by_name[region["name"]] = by_name.get(region["name"], 0) + in_region(region)
print(json.dumps({"trace": counts, "regions": by_name}))
"#;

/// What Python counts with `tool`; `None` where it has no such library.
fn counted(path: &PathBuf, tool: &str) -> Option<Value> {
    let python = std::env::var("ORRERY_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).arg("-c").arg(COUNT).arg(path).arg(tool).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{tool}: {text}{}", String::from_utf8_lossy(&output.stderr));
    (text.trim() != "missing").then(|| serde_json::from_str(&text).unwrap())
}

/// The same figures of `orrery stats --json`.
fn stats(path: &PathBuf) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_orrery")).arg("stats").arg(path).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    let by_name: serde_json::Map<String, Value> = stats["regions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|region| (region["name"].as_str().unwrap().to_owned(), region["references"].clone()))
        .filter(|(name, _)| name != "(other)")
        .collect();
    json!({ "trace": stats["trace"], "regions": by_name })
}

/// Python and `orrery stats` say the same of bundled traces, and of one that has what those have not.
fn agree(tool: &str, is_required: bool) {
    let folder = tempfile::tempdir().unwrap();
    let bundled = [("matmul16", 3), ("merge_sort", 2), ("mpm", 10), ("false_sharing", 2)].map(|(name, arrays)| {
        (PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("traces/{name}.orrery")), arrays)
    });
    for (path, arrays) in bundled.into_iter().chain([(all_sorts(folder.path()), 2)]) {
        let name = path.display();
        let Some(theirs) = counted(&path, tool) else {
            assert!(!is_required, "no python3 with {tool}; scripts/test.sh installs it");
            println!("skipped: no python3 with {tool}");
            return;
        };
        let ours = stats(&path);
        assert_eq!(theirs, ours, "{tool}, {name}");
        let regions = ours["regions"].as_object().unwrap();
        assert_eq!(regions.len(), arrays, "{name}: {regions:?}");
        let named: u64 = regions.values().map(|n| n.as_u64().unwrap()).sum();
        assert!(named > 0 && ours["trace"]["reads"].as_u64() > Some(0), "{name}: {ours}");
    }
}

/// What no bundled trace has: every kind, and two arrays at one place, one after the other.
fn all_sorts(folder: &Path) -> PathBuf {
    let kinds = [Kind::Read, Kind::Write, Kind::Modify, Kind::Read, Kind::Modify];
    let data =
        (0..9000).map(|n: u64| Reference::new(kinds[usize::try_from(n % 5).unwrap()], 0x1000 + 8 * (n % 700), 8));
    let code = (0..50).map(|n| Reference::new(Kind::Fetch, 0x40_0000 + 4 * n, 4));
    let all: Vec<Reference> = data.chain(code).collect();
    let region = |name: &str, lifetime| Region {
        elem_type: "double".into(),
        lifetime: Some(lifetime),
        ..row(name, 0x1000, 8, 512)
    };
    let regions = vec![region("early", (0, 4000)), region("late", (5000, 9000))];
    let path = folder.join("sorts.orrery");
    let mut writer = FileWriter::create(&path).unwrap();
    writer.write(&all).unwrap();
    writer.finish(&Tables { regions, ..Tables::default() }).unwrap();
    path
}

fn is_required() -> bool {
    std::env::var_os("ORRERY_REQUIRE_PYTHON").is_some()
}

#[test]
fn duckdb_counts_what_stats_counts() {
    agree("duckdb", is_required());
}

#[test]
fn polars_counts_what_stats_counts() {
    agree("polars", is_required());
}

#[test]
fn pandas_counts_what_stats_counts() {
    agree("pandas", false);
}
