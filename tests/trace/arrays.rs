//! Arrays with strides: numpy has their elements where we have them, files carry them, and what makes no sense is told.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says when it skips")]

use orrery::reference::{Kind, Reference, Region, Tables};
use orrery::trace;
use orrery::trace::native::FileWriter;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

/// Arrays as numpy makes them, with the address of each element as it says.
const ARRAYS: &str = r#"
import json, sys
try:
    import numpy as np
except ImportError:
    print("missing")
    sys.exit()

whole = lambda *shape: np.zeros(shape)
square = whole(6, 7)
cube = whole(3, 4, 5)
made = {
    "C": (square, square),
    "Fortran": (f := np.zeros((6, 7), order="F"), f),
    "padded": (p := whole(6, 9), p[:, :7]),
    "part": (square, square[1:4, 2:6]),
    "every other": (square, square[::2, 1::3]),
    "from the end": (square, square[::-1, ::-2]),
    "transposed": (cube, cube.transpose(2, 0, 1)),
    "permuted part": (cube, cube.transpose(1, 2, 0)[1:3, ::-1, :2]),
    "one row for all": (row := whole(7), np.broadcast_to(row, (6, 7))),
    "floats": (s := np.zeros((5, 5), dtype=np.float32), s.T[1:, :]),
    "members": (t := whole(8, 3), t[:, 1]),
}
address = lambda a: a.__array_interface__["data"][0]
said = []
for name, (memory, a) in made.items():
    strides, rest = zip(*(divmod(n, a.itemsize) for n in a.strides))
    assert not any(rest)
    region = {
        "name": name, "base": address(memory), "bytes": memory.nbytes, "elem_bytes": a.itemsize,
        "shape": a.shape, "strides": strides, "offset": (address(a) - address(memory)) // a.itemsize,
    }
    said.append({"region": region, "elements": [[list(i), address(a[i + (...,)])] for i in np.ndindex(a.shape)]})
print(json.dumps(said))
"#;

#[derive(serde::Deserialize)]
struct Said {
    region: Region,
    /// Indices and addresses.
    elements: Vec<(Vec<u64>, u64)>,
}

#[test]
fn numpy_has_elements_where_we_have_them() {
    let python = std::env::var("ORRERY_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).args(["-c", ARRAYS]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    if text.trim() == "missing" {
        assert!(
            std::env::var_os("ORRERY_REQUIRE_PYTHON").is_none(),
            "no python3 with numpy; scripts/test.sh installs it"
        );
        println!("skipped: no python3 with numpy");
        return;
    }
    let all: Vec<Said> = serde_json::from_str(&text).unwrap();
    assert_eq!(all.len(), 11);
    for Said { region, elements } in all {
        let (layout, name) = (region.layout().unwrap(), &region.name);
        assert_eq!(elements.len() as u64, region.elements(), "{name}");
        for (indices, address) in elements {
            assert_eq!(layout.address(&indices), Some(address), "{name} {indices:?}");
            // Of a row that stands for all, the first is told.
            let told = if name == "one row for all" { vec![0, indices[1]] } else { indices };
            assert_eq!(layout.indices(address), Some(told), "{name} 0x{address:x}");
        }
    }
}

fn convert(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).arg("convert").args(args).current_dir(folder).output().unwrap()
}

fn tables_of(path: &Path) -> Tables {
    trace::open(path, None).unwrap().tables().clone()
}

/// A value of a native file's metadata.
fn metadata(path: &Path, key: &str) -> String {
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let pairs = file.metadata().file_metadata().key_value_metadata().unwrap().clone();
    pairs.into_iter().find(|pair| pair.key == key).and_then(|pair| pair.value).unwrap()
}

const LOG: &str = " L 1000,8\n L 1088,8\n S 1080,8\n L 2000,8\n L 3000,8\n";

/// As `docs/formats.md` has them: padded, permuted, column after column.
fn examples() -> Value {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/formats.md")).unwrap();
    let blocks = page.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let found: Vec<&str> = blocks.filter(|block| block.contains("strides")).collect();
    assert_eq!(found.len(), 1, "one block shows strides");
    serde_json::from_str(found[0]).unwrap()
}

#[test]
fn strides_go_from_tables_to_a_native_file_and_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let given = examples();
    fs::write(at("t.log"), LOG).unwrap();
    fs::write(at("t.json"), given.to_string()).unwrap();
    for args in [
        &["t.log", "-o", "a.orrery", "--tables", "t.json"][..],
        &["a.orrery", "-o", "b.orrery"],
        &["b.orrery", "-o", "c.orrery", "--only", "padded"],
    ] {
        let output = convert(folder.path(), args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let regions = tables_of(&at("a.orrery")).regions;
    assert_eq!(serde_json::to_value(&regions).unwrap(), with_defaults(&given["regions"]));
    assert_eq!(fs::read(at("a.orrery")).unwrap(), fs::read(at("b.orrery")).unwrap());
    assert_eq!(tables_of(&at("c.orrery")).regions, regions[..1]);
    // What the page says of them.
    let named: Vec<String> = regions.iter().map(|r| r.element_name(r.base + 8 * 16)).collect();
    assert_eq!(named, ["padded + 128 bytes (padding)", "permuted[4][0][0]", "columns[0][1]"]);
    // An older program would call elements by wrong indices: it is told not to.
    assert_eq!(metadata(&at("a.orrery"), "orrery.version"), "2");
}

/// What a region says that was not told.
fn with_defaults(regions: &Value) -> Value {
    let filled = regions.as_array().unwrap().iter().map(|region| {
        let mut region = region.clone();
        region.as_object_mut().unwrap().entry("row_major").or_insert(json!(true));
        region
    });
    filled.collect()
}

#[test]
fn tables_without_strides_are_written_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.orrery");
    let old = r#"{"name":"A","base":4096,"bytes":2048,"elem_bytes":8,"elem_type":"double","shape":[16,16],"row_major":false}"#;
    let region: Region = serde_json::from_str(old).unwrap();
    assert_eq!((&region.strides[..], region.offset, region.row_major), (&[][..], 0, false));
    let mut writer = FileWriter::create(&path).unwrap();
    writer.write(&[Reference::new(Kind::Read, 4096, 8)]).unwrap();
    writer.finish(&Tables { regions: vec![region], ..Tables::default() }).unwrap();
    assert_eq!(metadata(&path, "orrery.version"), "1");
    let tables = metadata(&path, "orrery.tables");
    assert!(tables.contains(old), "{tables}");
}

#[test]
fn strides_that_make_no_sense_are_told_of_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("t.log"), LOG).unwrap();
    let whole = r#""base":4096,"bytes":128,"elem_bytes":8"#;
    for (told, words) in [
        (
            r#""shape":[4,4],"strides":[4]"#,
            &["region `A` with 1 strides for 2 extents", "one stride for each extent"][..],
        ),
        (r#""strides":[4]"#, &["1 strides for 0 extents"]),
        (
            r#""shape":[4,4],"strides":[5,1]"#,
            &["region `A` with an element at byte 144, outside of its 128 bytes", "inside"],
        ),
        (r#""shape":[4,4],"strides":[4,-1]"#, &["an element at byte -24"]),
        (r#""shape":[4,4],"offset":1"#, &["an element at byte 128"]),
        (r#""shape":[4,4],"offset":18446744073709551615"#, &["outside of its 128 bytes"]),
        (r#""shape":[2,9223372036854775807],"strides":[-9223372036854775808,-9223372036854775808]"#, &["too large"]),
        (r#""shape":[9223372036854775808,9223372036854775808],"strides":[1,1]"#, &["with the shape"]),
    ] {
        let region = format!(r#"{{"name":"A",{whole},{told}}}"#);
        fs::write(at("t.json"), format!(r#"{{"regions":[{region}]}}"#)).unwrap();
        let output = convert(folder.path(), &["t.log", "-o", "out.orrery", "--tables", "t.json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{region}: {said}");
        // The same of a native file, which any program may have written.
        let tables = Tables { regions: vec![serde_json::from_str(&region).unwrap()], ..Tables::default() };
        let mut writer = FileWriter::create(&at("t.orrery")).unwrap();
        writer.write(&[Reference::new(Kind::Read, 4096, 8)]).unwrap();
        writer.finish(&tables).unwrap();
        let error = trace::open(&at("t.orrery"), None).err().unwrap().to_string();
        for word in words.iter().chain(&["correct the tables"]) {
            assert!(said.contains(word) && error.contains(word), "{region}: no `{word}` in: {said}{error}");
        }
    }
    // What JSON itself cannot take has its line.
    for told in [r#""offset":-1"#, r#""strides":[9223372036854775808]"#, r#""strides":[1.5]"#] {
        fs::write(at("t.json"), format!("{{\"regions\":[\n{{\"name\":\"A\",{whole},{told}}}]}}")).unwrap();
        let output = convert(folder.path(), &["t.log", "-o", "out.orrery", "--tables", "t.json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("t.json") && said.contains("at line 2"), "{told}: {said}");
    }
    assert!(!at("out.orrery").exists());
}
