//! One page of a Parquet file: its header and its data are unpacked, changed and packed again; what lies behind moves, and the
//! footer says so.

use crate::shape::thrift::Value;
use crate::shape::{bytes, number};
use fastrand::Rng;
use std::io::{Read, Write};

/// Bytes before the data: the magic number.
const BEFORE: usize = 4;

/// A page: where it and its data start and end in the file's data, and its header.
struct Page {
    start: usize,
    data: usize,
    end: usize,
    header: Value,
}

/// The data with one page changed, and the footer to match; `None` where no page can be unpacked.
pub(super) fn change(data: &[u8], footer: &mut Value, rng: &mut Rng) -> Option<Vec<u8>> {
    let groups = elements(footer.field(4)?)?;
    let group = pick(groups, rng)?;
    let chunk = pick(elements(group.field(1)?)?, rng)?.field(3)?;
    let codec = as_number(chunk.field(4)?)?;
    let start = chunk.field(11).and_then(as_number).or_else(|| chunk.field(9).and_then(as_number))?;
    let mut at = usize::try_from(start).ok()?.checked_sub(BEFORE)?;
    let end = at.checked_add(usize::try_from(as_number(chunk.field(7)?)?).ok()?)?;
    let mut pages = Vec::new();
    while at < end {
        let page = read(data, at)?;
        at = page.end;
        pages.push(page);
    }
    let mut page = pages.swap_remove(rng.usize(..pages.len().max(1)).min(pages.len().checked_sub(1)?));
    let old = data.get(page.data..page.end)?;
    // The levels of a page of version 2 are not packed.
    let levels = [5, 6].iter().filter_map(|id| page.header.field(8)?.field(*id).and_then(as_number));
    let levels = levels.fold(0, i64::saturating_add);
    let (levels, old) = old.split_at_checked(usize::try_from(levels).ok()?)?;
    let inside = unpack(codec, old)?;
    let new = values(&inside, rng);
    let packed = [levels, &pack(codec, &new)?].concat();
    *page.header.field(2)? = Value::Number(5, (levels.len() + new.len()) as i64);
    *page.header.field(3)? = Value::Number(5, packed.len() as i64);
    if rng.u8(..8) == 0 {
        page.header.change(rng);
    }
    let mut whole = Vec::new();
    page.header.write(&mut whole);
    whole.extend(packed);
    let moved = whole.len() as i64 - (page.end - page.start) as i64;
    let mut out = data.to_vec();
    out.splice(page.start..page.end, whole);
    shift(footer, (page.start + BEFORE) as i64, moved);
    Some(out)
}

fn elements(list: &mut Value) -> Option<&mut Vec<Value>> {
    if let Value::List(_, elements) = list { Some(elements) } else { None }
}

fn pick<'a>(list: &'a mut [Value], rng: &mut Rng) -> Option<&'a mut Value> {
    let at = rng.usize(..list.len().max(1));
    list.get_mut(at)
}

fn as_number(value: &mut Value) -> Option<i64> {
    if let Value::Number(_, n) = value { Some(*n) } else { None }
}

fn read(data: &[u8], start: usize) -> Option<Page> {
    let mut rest = data.get(start..)?;
    let length = rest.len();
    let mut header = Value::read_struct(&mut rest, 0)?;
    let at = start + length - rest.len();
    let end = at.checked_add(usize::try_from(as_number(header.field(3)?)?).ok()?)?;
    Some(Page { start, data: at, end, header })
}

/// Numbers changed in place, or bytes anywhere.
fn values(inside: &[u8], rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..4) == 0 || inside.len() < 8 {
        return bytes(inside, rng);
    }
    let mut out = inside.to_vec();
    if rng.bool() {
        let at = rng.usize(..out.len());
        out[at] ^= 1 << rng.u8(..8);
        return out;
    }
    for _ in 0..rng.usize(1..4) {
        let width = [1, 1, 4, 8][rng.usize(..4)];
        let at = rng.usize(..=out.len() - width);
        out[at..at + width].copy_from_slice(&number(rng).to_le_bytes()[..width]);
    }
    out
}

/// Says in the footer that all behind `place` has moved by so many bytes, and that the chunk there is as much longer.
fn shift(footer: &mut Value, place: i64, moved: i64) {
    let add = |value: Option<&mut Value>, when: &dyn Fn(i64) -> bool| {
        if let Some(Value::Number(_, n)) = value
            && when(*n)
        {
            *n = n.wrapping_add(moved);
        }
    };
    let behind = |n: i64| n > place;
    for group in footer.field(4).and_then(elements).into_iter().flatten() {
        let mut within = false;
        for chunk in group.field(1).and_then(elements).into_iter().flatten() {
            [2, 4, 6].iter().for_each(|id| add(chunk.field(*id), &behind));
            let Some(about) = chunk.field(3) else { continue };
            let start = about.field(11).and_then(as_number).or_else(|| about.field(9).and_then(as_number)).unwrap_or(0);
            let length = about.field(7).and_then(as_number).unwrap_or(0);
            let here = start <= place && place < start.saturating_add(length);
            add(about.field(7), &|_| here);
            [9, 10, 11].iter().for_each(|id| add(about.field(*id), &behind));
            within |= here;
        }
        add(group.field(5), &behind);
        add(group.field(6), &|_| within);
    }
    let Some(words) = super::under(footer, "orrery.checksums") else { return };
    let Ok(mut sums) = serde_json::from_slice::<serde_json::Value>(words) else { return };
    for group in sums.get_mut("groups").and_then(|groups| groups.as_array_mut()).into_iter().flatten() {
        if let Some(end) = group[0].as_i64().filter(|end| behind(*end)) {
            group[0] = end.wrapping_add(moved).into();
        }
    }
    *words = sums.to_string().into_bytes();
}

/// The packings that are known here: none, gzip, zstd.
fn unpack(codec: i64, packed: &[u8]) -> Option<Vec<u8>> {
    /// Bytes of a page.
    const MOST: u64 = 1 << 20;
    let mut out = Vec::new();
    match codec {
        0 => out = packed.to_vec(),
        2 => drop(flate2::read::MultiGzDecoder::new(packed).take(MOST).read_to_end(&mut out).ok()?),
        6 => drop(zstd::Decoder::new(packed).ok()?.take(MOST).read_to_end(&mut out).ok()?),
        _ => return None,
    }
    Some(out)
}

fn pack(codec: i64, inside: &[u8]) -> Option<Vec<u8>> {
    match codec {
        0 => Some(inside.to_vec()),
        2 => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(inside).ok()?;
            packer.finish().ok()
        }
        _ => crate::shape::packed::zstd(inside),
    }
}
