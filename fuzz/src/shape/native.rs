//! Native files as our own writer makes them, of loops over arrays and tables that name them.

use super::number;
use fastrand::Rng;
use orrery::reference::{Kind, Mark, NO_LANE, Reference, Region, SourceLocation, Tables};
use orrery::trace::native::{MAX_SIZE, Writer};
use orrery::trace::{Format, Stream};

const WORDS: [&str; 10] = ["A", "B", "", "A #2", "ü", "\u{1b}[31m", "\u{202e}abc", "a\nb", "\0", "struct node *"];

/// A file; `None` where the writer does not take it.
pub(super) fn made(rng: &mut Rng) -> Option<Vec<u8>> {
    let arrays: Vec<u64> = (0..rng.usize(1..5)).map(|_| number(rng)).collect();
    let references = references(&arrays, rng);
    let tables = tables(&arrays, &references, rng);
    let mut writer = Writer::new("made", Vec::new());
    writer.write(&references).ok()?;
    writer.finish(&tables).ok()
}

/// References that are read of a file.
const MOST: usize = 20_000;

/// A file read, a few of its references and words changed, and written again; `None` where it cannot be read.
pub(super) fn change(input: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let mut stream = Stream::of_bytes("changed", input.to_vec(), Some(Format::NATIVE)).ok()?;
    let (mut references, mut chunk) = (Vec::new(), Vec::new());
    while references.len() < MOST {
        stream.next_chunk(&mut chunk).ok()?;
        if chunk.is_empty() {
            break;
        }
        references.append(&mut chunk);
    }
    references.truncate(MOST);
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(..references.len().max(1));
        let r = references.get_mut(at)?;
        match rng.u8(..8) {
            0 => r.size = number(rng) as u32 % MAX_SIZE + 1,
            1 => r.pc = number(rng),
            2 => r.core = number(rng) as u16,
            3 => r.lane = if rng.bool() { NO_LANE } else { rng.u8(..64) },
            4 => r.kind = Kind::from_code(rng.u8(..4))?,
            5 => r.addr = number(rng),
            6 => references.truncate(at + 1),
            _ => {
                let again: Vec<Reference> = references[at..].iter().take(rng.usize(1..99)).copied().collect();
                references.splice(at..at, again);
            }
        }
    }
    for r in &mut references {
        r.addr = r.addr.min(u64::MAX - u64::from(r.size));
    }
    let tables = if rng.bool() { stream.tables() } else { tables(&[references[0].addr], &references, rng) };
    let mut writer = Writer::new("changed", Vec::new());
    writer.write(&references).ok()?;
    writer.finish(&tables).ok()
}

/// Loops, each with its own instruction, size and stride.
fn references(arrays: &[u64], rng: &mut Rng) -> Vec<Reference> {
    let (cores, lanes) = (rng.u8(..4) == 0, rng.u8(..4) == 0);
    let mut all = Vec::new();
    for _ in 0..rng.usize(1..6) {
        let (base, stride) = (arrays[rng.usize(..arrays.len())], rng.u64(..128));
        let size = if rng.u8(..8) == 0 { number(rng) as u32 % MAX_SIZE + 1 } else { 1 << rng.u32(..6) };
        let kind = Kind::from_code(rng.u8(..4)).unwrap_or(Kind::Read);
        let pc = if rng.u8(..4) == 0 { 0 } else { number(rng) };
        for n in 0..rng.u64(1..100) {
            let addr = base.wrapping_add(n * stride).min(u64::MAX - u64::from(size));
            let core = if cores { rng.u16(..3) } else { 0 };
            let lane = if lanes { rng.u8(..33) } else { NO_LANE };
            all.push(Reference { addr, pc, size, core, lane, kind });
        }
    }
    all
}

fn word(rng: &mut Rng) -> String {
    WORDS[rng.usize(..WORDS.len())].to_owned()
}

fn tables(arrays: &[u64], references: &[Reference], rng: &mut Rng) -> Tables {
    let count = references.len() as u64;
    let regions = arrays.iter().filter(|_| rng.u8(..4) > 0).copied().collect::<Vec<u64>>().into_iter().map(|base| {
        let extents = [rng.u64(1..64), rng.u64(1..64)];
        let elem_bytes = 1 << rng.u32(..5);
        let bytes = extents.iter().product::<u64>() * u64::from(elem_bytes);
        let shape = [Vec::new(), vec![extents[0]], extents.to_vec()][rng.usize(..3)].clone();
        let lifetime = (rng.u8(..4) == 0).then(|| (rng.u64(..count), rng.u64(..=count)));
        let row_major = rng.bool();
        // Column after column, from the end, one row for all: each fits into the bytes of an array without gaps.
        let [rows, columns] = extents.map(u64::cast_signed);
        let (strides, offset) = match rng.u8(..8) {
            0 if shape.len() == 2 => (vec![1, rows], 0),
            1 if shape.len() == 2 => (vec![-columns, -1], extents[0] * extents[1] - 1),
            2 if shape.len() == 2 => (vec![0, 1], 0),
            _ => (Vec::new(), 0),
        };
        let elem_type = word(rng);
        let of = Region::new(word(rng), base, bytes);
        Region {
            elem_bytes,
            elem_type: elem_type.into(),
            shape: shape.into(),
            row_major,
            strides: strides.into(),
            offset,
            lifetime,
            ..of
        }
    });
    let regions = regions.collect();
    let mut pcs: Vec<u64> = references.iter().map(|r| r.pc).collect();
    pcs.dedup();
    let place = |pc| SourceLocation {
        pc,
        file: word(rng),
        path: word(rng),
        line: rng.u32(..99),
        function: word(rng),
        text: word(rng),
    };
    let locations = pcs.into_iter().map(place).collect();
    let marks = (0..rng.usize(..4)).map(|_| Mark { reference: rng.u64(..=count), name: word(rng) }).collect();
    Tables { title: word(rng), subtitle: word(rng), regions, locations, marks, made_by: word(rng) }
}
