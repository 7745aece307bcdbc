//! MP4 (ISO/IEC 14496-12 and -15, 2022) for one H.264 track of constant frame rate.
//!
//! ```text
//! to a file:      ftyp | moov, then free up to the reserved size | mdat: sample sample sample ...
//! to a stream:    ftyp | moov (no samples) | moof mdat | moof mdat | ...
//! ```
//!
//! A file is written in one pass and holds its index in front: room for it is set aside from the number of frames that
//! are expected, and filled in at the end (a shorter recording leaves more `free`). So a browser can start at once, memory
//! holds four bytes a frame, and a full disk is noticed when it is full. A stream cannot go back, so it is fragmented:
//! each group of pictures carries its own index, and whatever has arrived can be played.

use super::Chapter;
use std::io::{self, Seek, SeekFrom, Write};

/// Ticks of the media clock in one frame: the clock runs at this times the frame rate, so that durations are exact.
const FRAME_TICKS: u32 = 1000;
/// The largest room set aside for the index; beyond (two million frames) it goes behind the samples.
const MAX_RESERVE: u64 = 8 << 20;

/// Room for chapters in it; where they need more, the index goes behind the samples too.
const CHAPTERS: u64 = 4096;
/// Bytes of a chapter's title, at most: what one byte can count.
const MOST_TITLE: usize = 255;

/// What the boxes say of the track.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    /// Size in pixels.
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// Frames a second.
    pub(crate) fps: u32,
    /// Sequence and picture parameter sets, without start codes.
    pub(crate) sps: Vec<u8>,
    pub(crate) pps: Vec<u8>,
    /// Frames in a group of pictures, which is also a chunk.
    pub(crate) group: u32,
}

/// One encoded frame: NAL units with a four-byte length before each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    pub(crate) data: &'a [u8],
    /// Decodable without the frames before it.
    pub(crate) key: bool,
}

/// Where samples go.
pub(crate) trait Mux: Send {
    /// Adds the next frame.
    fn push(&mut self, sample: Sample<'_>) -> io::Result<()>;
    /// Writes what is left; the file is whole after this.
    fn finish(&mut self) -> io::Result<()>;
    /// Bytes handed on so far.
    fn bytes(&self) -> u64;
}

/// Writes an MP4 whose index stands in front of the samples.
#[derive(Debug)]
pub(crate) struct FileMux<W> {
    out: W,
    track: Track,
    /// Bytes between the end of `ftyp` and `mdat`.
    reserve: u64,
    /// Offset of the first sample.
    start: u64,
    sizes: Vec<u32>,
    keys: Vec<u32>,
    chunks: Vec<u64>,
    chapters: Vec<Chapter>,
    at: u64,
}

impl<W: Write + Seek + Send> FileMux<W> {
    /// Starts a file of about `frames` frames.
    pub(crate) fn new(mut out: W, track: Track, frames: u64) -> io::Result<Self> {
        let ftyp = ftyp(b"isom", &[b"isom", b"iso2", b"avc1", b"mp41"]);
        let chunks = frames / u64::from(track.group) + 1;
        // A size for each frame; an offset of eight bytes and a key frame for each chunk; 1 KiB holds all else.
        let reserve = (1024 + CHAPTERS + 4 * frames.saturating_add(3 * chunks)).min(MAX_RESERVE);
        out.write_all(&ftyp)?;
        out.write_all(&free(reserve))?;
        let mut head = 1_u32.to_be_bytes().to_vec();
        head.extend_from_slice(b"mdat");
        head.extend_from_slice(&16_u64.to_be_bytes());
        out.write_all(&head)?;
        let start = (ftyp.len() + head.len()) as u64 + reserve;
        Ok(Self {
            out,
            track,
            reserve,
            start,
            sizes: Vec::new(),
            keys: Vec::new(),
            chunks: Vec::new(),
            chapters: Vec::new(),
            at: start,
        })
    }

    /// With parts that players list.
    pub(crate) fn with_chapters(self, chapters: Vec<Chapter>) -> Self {
        Self { chapters, ..self }
    }

    /// The chapters that were recorded, as Nero's `chpl` has them: start in units of 100 ns, and title, at most 255 of each.
    fn user_data(&self) -> Vec<u8> {
        let recorded = self.chapters.iter().filter(|chapter| chapter.frames.start < self.sizes.len() as u64).take(255);
        let mut list = vec![0, 0, 0, 0, 0];
        for chapter in recorded {
            let start = chapter.frames.start * 10_000_000 / u64::from(self.track.fps);
            let end = (0..=MOST_TITLE).rev().find(|&end| chapter.title.is_char_boundary(end.min(chapter.title.len())));
            let title = &chapter.title[..end.unwrap_or(0).min(chapter.title.len())];
            list.extend_from_slice(&start.to_be_bytes());
            list.push(title.len().to_le_bytes()[0]);
            list.extend_from_slice(title.as_bytes());
            list[4] += 1;
        }
        if list[4] == 0 { Vec::new() } else { boxed(b"udta", &full_box(b"chpl", 1, 0, &list)) }
    }

    /// The writer behind.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    fn moov(&self) -> Vec<u8> {
        let frames = count(self.sizes.len());
        let mut stbl = self.track.stsd();
        stbl.extend(full_box(b"stts", 0, 0, &words(&[1, frames, FRAME_TICKS])));
        if self.keys.len() < self.sizes.len() {
            stbl.extend(full_box(b"stss", 0, 0, &[words(&[count(self.keys.len())]), words(&self.keys)].concat()));
        }
        let (group, last) = (self.track.group, count(self.chunks.len()));
        let odd = frames % group;
        let stsc = match (last, odd) {
            (_, 0) => words(&[1, 1, group, 1]),
            (1, n) => words(&[1, 1, n, 1]),
            (_, n) => words(&[2, 1, group, 1, last, n, 1]),
        };
        stbl.extend(full_box(b"stsc", 0, 0, &stsc));
        stbl.extend(full_box(b"stsz", 0, 0, &[words(&[0, frames]), words(&self.sizes)].concat()));
        let narrow: Result<Vec<u32>, _> = self.chunks.iter().map(|&c| u32::try_from(c)).collect();
        let (kind, offsets) = match narrow {
            Ok(short) => (b"stco", words(&short)),
            Err(_) => (b"co64", self.chunks.iter().flat_map(|c| c.to_be_bytes()).collect()),
        };
        stbl.extend(full_box(kind, 0, 0, &[words(&[last]), offsets].concat()));
        self.track.moov(u64::from(frames) * u64::from(FRAME_TICKS), &stbl, &self.user_data())
    }
}

impl<W: Write + Seek + Send> Mux for FileMux<W> {
    fn push(&mut self, sample: Sample<'_>) -> io::Result<()> {
        if self.sizes.len().is_multiple_of(self.track.group as usize) {
            self.chunks.push(self.at);
        }
        self.out.write_all(sample.data)?;
        self.sizes.push(count(sample.data.len()));
        if sample.key {
            self.keys.push(count(self.sizes.len()));
        }
        self.at += sample.data.len() as u64;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut moov = self.moov();
        let len = moov.len() as u64;
        self.out.seek(SeekFrom::Start(self.start - 8))?;
        self.out.write_all(&(self.at - self.start + 16).to_be_bytes())?;
        if len == self.reserve || len + 8 <= self.reserve {
            moov.extend(free(self.reserve - len));
            self.out.seek(SeekFrom::Start(self.start - 16 - self.reserve))?;
        } else {
            self.out.seek(SeekFrom::End(0))?;
            self.at += len;
        }
        self.out.write_all(&moov)?;
        self.out.flush()
    }

    fn bytes(&self) -> u64 {
        self.at
    }
}

/// Writes a fragmented MP4 to something that cannot seek.
#[derive(Debug)]
pub(crate) struct StreamMux<W> {
    out: W,
    track: Track,
    /// Sizes and flags of the samples of the open fragment.
    table: Vec<u32>,
    data: Vec<u8>,
    frames: u64,
    fragments: u32,
    bytes: u64,
}

impl<W: Write + Send> StreamMux<W> {
    /// Writes the header.
    pub(crate) fn new(mut out: W, track: Track) -> io::Result<Self> {
        let mut head = ftyp(b"iso5", &[b"iso5", b"iso6", b"avc1", b"mp41"]);
        let mut stbl = track.stsd();
        for empty in [b"stts", b"stsc", b"stco"] {
            stbl.extend(full_box(empty, 0, 0, &words(&[0])));
        }
        stbl.extend(full_box(b"stsz", 0, 0, &words(&[0, 0])));
        let trex = full_box(b"trex", 0, 0, &words(&[1, 1, FRAME_TICKS, 0, 0]));
        head.extend(track.moov(0, &stbl, &boxed(b"mvex", &trex)));
        out.write_all(&head)?;
        let bytes = head.len() as u64;
        Ok(Self { out, track, table: Vec::new(), data: Vec::new(), frames: 0, fragments: 0, bytes })
    }

    fn flush_fragment(&mut self) -> io::Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        self.fragments += 1;
        let n = count(self.table.len() / 2);
        let first = self.frames - u64::from(n);
        // The samples begin behind this moof and the eight bytes of mdat's header; its length does not depend on where.
        let moof = |data_offset: u32| {
            let tfhd = full_box(b"tfhd", 0, 0x02_0000, &words(&[1]));
            let tfdt = full_box(b"tfdt", 1, 0, &(first * u64::from(FRAME_TICKS)).to_be_bytes());
            let trun = full_box(b"trun", 0, 0x601, &[words(&[n, data_offset]), words(&self.table)].concat());
            let mfhd = full_box(b"mfhd", 0, 0, &words(&[self.fragments]));
            boxed(b"moof", &[mfhd, boxed(b"traf", &[tfhd, tfdt, trun].concat())].concat())
        };
        let offset = count(moof(0).len() + 8);
        let mut head = moof(offset);
        head.extend_from_slice(&count(self.data.len() + 8).to_be_bytes());
        head.extend_from_slice(b"mdat");
        self.out.write_all(&head)?;
        self.out.write_all(&self.data)?;
        self.out.flush()?;
        self.bytes += (head.len() + self.data.len()) as u64;
        self.table.clear();
        self.data.clear();
        Ok(())
    }
}

impl<W: Write + Send> Mux for StreamMux<W> {
    fn push(&mut self, sample: Sample<'_>) -> io::Result<()> {
        if sample.key || self.table.len() / 2 >= self.track.group as usize {
            self.flush_fragment()?;
        }
        // Depends on no other sample, or depends on others and is no sync sample (14496-12, 8.8.3.1).
        self.table.extend([count(sample.data.len()), if sample.key { 0x0200_0000 } else { 0x0101_0000 }]);
        self.data.extend_from_slice(sample.data);
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_fragment()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Track {
    /// `moov` with `stbl`'s content given; `extra` comes last. `duration` is in media ticks.
    fn moov(&self, duration: u64, stbl: &[u8], extra: &[u8]) -> Vec<u8> {
        let scale = self.fps * FRAME_TICKS;
        let matrix = words(&[0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]);
        // Version 1 has 64-bit times; the creation times stay 0, so that equal frames give equal files.
        let (version, zero, long) = match u32::try_from(duration) {
            Ok(short) => (0, words(&[0, 0]), short.to_be_bytes().to_vec()),
            Err(_) => (1, words(&[0; 4]), duration.to_be_bytes().to_vec()),
        };
        let mvhd = [
            &zero,
            &words(&[scale]),
            &long,
            &words(&[0x1_0000, 0x0100_0000, 0, 0]),
            &matrix,
            &words(&[0; 6]),
            &words(&[2]),
        ];
        let mvhd = full_box(b"mvhd", version, 0, &mvhd.map(Vec::as_slice).concat());
        let size = words(&[u32::from(self.width) << 16, u32::from(self.height) << 16]);
        let tkhd = [&zero, &words(&[1, 0]), &long, &words(&[0, 0, 0, 0]), &matrix, &size];
        let tkhd = full_box(b"tkhd", version, 3, &tkhd.map(Vec::as_slice).concat());
        // The language is "und", three letters of five bits.
        let mdhd = [&zero, &words(&[scale]), &long, &words(&[0x55c4_0000])];
        let mdhd = full_box(b"mdhd", version, 0, &mdhd.map(Vec::as_slice).concat());
        let hdlr = full_box(b"hdlr", 0, 0, b"\0\0\0\0vide\0\0\0\0\0\0\0\0\0\0\0\0Orrery\0");
        let vmhd = full_box(b"vmhd", 0, 1, &words(&[0, 0]));
        let dref = full_box(b"dref", 0, 0, &[words(&[1]), full_box(b"url ", 0, 1, &[])].concat());
        let minf = boxed(b"minf", &[vmhd, boxed(b"dinf", &dref), boxed(b"stbl", stbl)].concat());
        let mdia = boxed(b"mdia", &[mdhd, hdlr, minf].concat());
        let trak = boxed(b"trak", &[tkhd, mdia].concat());
        boxed(b"moov", &[&mvhd, &trak, extra].concat())
    }

    /// The sample description: H.264, its parameter sets, square pixels, BT.709 limited range.
    fn stsd(&self) -> Vec<u8> {
        let mut avcc = vec![1];
        // Profile, compatibility and level are the three bytes behind the NAL header of the SPS.
        avcc.extend_from_slice(&self.sps[1..4]);
        // Lengths have four bytes; one SPS; one PPS.
        avcc.extend_from_slice(&[0xff, 0xe1]);
        avcc.extend_from_slice(&short(self.sps.len()).to_be_bytes());
        avcc.extend_from_slice(&self.sps);
        avcc.push(1);
        avcc.extend_from_slice(&short(self.pps.len()).to_be_bytes());
        avcc.extend_from_slice(&self.pps);
        let mut entry = vec![0, 0, 0, 0, 0, 0, 0, 1];
        entry.extend_from_slice(&[0; 16]);
        entry.extend_from_slice(&self.width.to_be_bytes());
        entry.extend_from_slice(&self.height.to_be_bytes());
        // 72 dots an inch twice; one frame a sample; no name; 24 bits a pixel.
        entry.extend_from_slice(&words(&[0x48_0000, 0x48_0000, 0]));
        entry.extend_from_slice(&[0, 1]);
        entry.extend_from_slice(&[0; 32]);
        entry.extend_from_slice(&[0, 0x18, 0xff, 0xff]);
        entry.extend(boxed(b"avcC", &avcc));
        entry.extend(boxed(b"colr", b"nclx\0\x01\0\x01\0\x01\0"));
        entry.extend(boxed(b"pasp", &words(&[1, 1])));
        full_box(b"stsd", 0, 0, &[words(&[1]), boxed(b"avc1", &entry)].concat())
    }
}

fn ftyp(brand: &[u8; 4], compatible: &[&[u8; 4]]) -> Vec<u8> {
    let mut body = [brand.as_slice(), &512_u32.to_be_bytes()].concat();
    compatible.iter().for_each(|c| body.extend_from_slice(*c));
    boxed(b"ftyp", &body)
}

/// A `free` box of `len` bytes in all: 0, or 8 and more.
fn free(len: u64) -> Vec<u8> {
    match usize::try_from(len) {
        Ok(0) | Err(_) => Vec::new(),
        Ok(n) => boxed(b"free", &vec![0; n - 8]),
    }
}

fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut out = count(body.len() + 8).to_be_bytes().to_vec();
    out.extend_from_slice(kind);
    out.extend_from_slice(body);
    out
}

fn full_box(kind: &[u8; 4], version: u32, flags: u32, body: &[u8]) -> Vec<u8> {
    boxed(kind, &[&((version << 24) | flags).to_be_bytes(), body].concat())
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_be_bytes()).collect()
}

/// Lengths of boxes, samples and tables: held in memory, and so far below 4 GiB.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Lengths of parameter sets: some tens of bytes.
fn short(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn mux(frames: u64) -> FileMux<Cursor<Vec<u8>>> {
        let (sps, pps) = (vec![0x67, 66, 0xc0, 31, 1], vec![0x68, 1]);
        let track = Track { width: 64, height: 48, fps: 30, sps, pps, group: 60 };
        FileMux::new(Cursor::new(Vec::new()), track, frames).expect("memory takes it")
    }

    /// Kinds and lengths of the top-level boxes; they must fill the file.
    fn top(file: &[u8]) -> Vec<(String, usize)> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < file.len() {
            let word = |at: usize| file[at..at + 4].iter().fold(0, |n, &b| n << 8 | usize::from(b));
            let len = if word(at) == 1 { word(at + 8) << 32 | word(at + 12) } else { word(at) };
            out.push((String::from_utf8_lossy(&file[at + 4..at + 8]).into_owned(), len));
            at += len;
        }
        assert_eq!(at, file.len(), "boxes fill the file: {out:?}");
        out
    }

    #[test]
    fn an_index_that_outgrows_its_room_goes_behind_the_samples() {
        for (expected, pushed, want) in [
            (300, 300, ["ftyp", "moov", "free", "mdat"]),
            (300, 7, ["ftyp", "moov", "free", "mdat"]),
            (3, 3000, ["ftyp", "free", "mdat", "moov"]),
        ] {
            let mut mux = mux(expected);
            for n in 0..pushed {
                let sample = Sample { data: &[0, 0, 0, 1, 9], key: n % 60 == 0 };
                mux.push(sample).expect("memory takes it");
            }
            mux.finish().expect("memory takes it");
            let bytes = mux.bytes();
            let file = mux.into_inner().into_inner();
            assert_eq!(bytes, file.len() as u64);
            let boxes = top(&file);
            assert_eq!(boxes.iter().map(|b| b.0.as_str()).collect::<Vec<_>>(), want);
            let mdat = boxes.iter().find(|b| b.0 == "mdat").map(|b| b.1);
            assert_eq!(mdat, Some(16 + 5 * pushed), "all samples and nothing else");
        }
    }

    #[test]
    fn every_length_up_to_some_groups_fits_its_room() {
        // The index must be as long as its room or leave eight bytes for a `free`: try all remainders.
        for frames in 1..400 {
            let mut mux = mux(frames);
            for n in 0..frames {
                mux.push(Sample { data: &[0, 0, 0, 1, 9], key: n % 60 == 0 }).expect("memory takes it");
            }
            mux.finish().expect("memory takes it");
            assert_eq!(top(&mux.into_inner().into_inner())[1].0, "moov", "{frames} frames");
        }
    }

    #[test]
    fn offsets_beyond_four_gigabytes_and_long_durations_take_the_wide_forms() {
        let has = |moov: &[u8], kind: &[u8; 4]| moov.windows(4).any(|w| w == kind);
        let mut mux = mux(10);
        mux.push(Sample { data: &[0, 0, 0, 1, 9], key: true }).expect("memory takes it");
        assert!(has(&mux.moov(), b"stco") && !has(&mux.moov(), b"co64"));
        mux.chunks.push(5 << 30);
        assert!(has(&mux.moov(), b"co64") && !has(&mux.moov(), b"stco"));
        let (short, long) = (mux.track.moov(u64::from(u32::MAX), &[], &[]), mux.track.moov(1 << 32, &[], &[]));
        assert_eq!(long.len() - short.len(), 3 * 12, "three headers with three 64-bit times each");
        assert_eq!((short[16], long[16]), (0, 1), "version of mvhd");
    }
}
