//! Reads MP4 back, independently of the writer: boxes, sample tables, fragments, and pictures by OpenH264's decoder.

use openh264::decoder::Decoder;
use openh264::formats::YUVSource;

/// One video track.
#[derive(Debug, Default)]
pub(crate) struct Movie {
    /// Kinds of the top-level boxes, in order.
    pub(crate) boxes: Vec<String>,
    pub(crate) size: (u32, u32),
    /// Ticks a second.
    pub(crate) timescale: u32,
    pub(crate) duration: u64,
    pub(crate) samples: Vec<Sample>,
    pub(crate) sps: Vec<u8>,
    pub(crate) pps: Vec<u8>,
    pub(crate) colr: Vec<u8>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Sample {
    pub(crate) data: Vec<u8>,
    pub(crate) ticks: u32,
    pub(crate) key: bool,
}

/// Luma of one decoded picture.
pub(crate) struct Picture {
    pub(crate) size: (usize, usize),
    pub(crate) planes: [Vec<u8>; 3],
}

fn be32(data: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(data[at..at + 4].try_into().expect("four bytes"))
}

fn be64(data: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(data[at..at + 8].try_into().expect("eight bytes"))
}

/// `(kind, offset of the box, body)` of each box in `data`; they must fill it exactly.
fn boxes(data: &[u8]) -> Vec<(String, usize, &[u8])> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let kind = String::from_utf8_lossy(&data[at + 4..at + 8]).into_owned();
        let (len, head) = match be32(data, at) {
            1 => (usize::try_from(be64(data, at + 8)).expect("small file"), 16),
            n => (n as usize, 8),
        };
        assert!(len >= head && at + len <= data.len(), "box {kind} at {at} of {len} bytes leaves its parent");
        out.push((kind, at, &data[at + head..at + len]));
        at += len;
    }
    out
}

fn child<'a>(data: &'a [u8], path: &str) -> &'a [u8] {
    path.split('/').fold(data, |data, kind| {
        let found = boxes(data).into_iter().find(|b| b.0 == kind);
        found.unwrap_or_else(|| panic!("no {kind} of {path}")).2
    })
}

impl Movie {
    pub(crate) fn parse(file: &[u8]) -> Self {
        let top = boxes(file);
        let moov = top.iter().find(|b| b.0 == "moov").expect("a moov").2;
        let mdhd = child(moov, "trak/mdia/mdhd");
        assert_eq!(mdhd[0], 0, "short clips have version 0");
        let tkhd = child(moov, "trak/tkhd");
        let stbl = child(moov, "trak/mdia/minf/stbl");
        let entry = &child(&child(stbl, "stsd")[8..], "avc1")[78..];
        let avcc = child(entry, "avcC");
        let sps_len = usize::from(avcc[6]) << 8 | usize::from(avcc[7]);
        let pps = &avcc[8 + sps_len + 1..];
        let mut movie = Self {
            boxes: top.iter().map(|b| b.0.clone()).collect(),
            size: (be32(tkhd, tkhd.len() - 8) >> 16, be32(tkhd, tkhd.len() - 4) >> 16),
            timescale: be32(mdhd, 12),
            duration: be32(mdhd, 16).into(),
            samples: Vec::new(),
            sps: avcc[8..8 + sps_len].to_vec(),
            pps: pps[2..].to_vec(),
            colr: child(entry, "colr").to_vec(),
        };
        movie.plain(file, stbl);
        for (_, at, moof) in top.iter().filter(|b| b.0 == "moof") {
            movie.fragment(file, *at, moof);
        }
        movie
    }

    fn plain(&mut self, file: &[u8], stbl: &[u8]) {
        let stsz = child(stbl, "stsz");
        let sizes: Vec<usize> = (0..be32(stsz, 8) as usize).map(|n| be32(stsz, 12 + 4 * n) as usize).collect();
        let stts = child(stbl, "stts");
        let ticks: Vec<u32> = (0..be32(stts, 4) as usize)
            .flat_map(|n| std::iter::repeat_n(be32(stts, 12 + 8 * n), be32(stts, 8 + 8 * n) as usize))
            .collect();
        assert_eq!(ticks.len(), sizes.len(), "stts and stsz agree");
        let stss = boxes(stbl).into_iter().find(|b| b.0 == "stss").map(|b| b.2);
        let is_key =
            |n: usize| stss.is_none_or(|s| (0..be32(s, 4) as usize).any(|k| be32(s, 8 + 4 * k) as usize == n + 1));
        let stco = child(stbl, "stco");
        let stsc = child(stbl, "stsc");
        let runs: Vec<(usize, usize)> = (0..be32(stsc, 4) as usize)
            .map(|n| (be32(stsc, 8 + 12 * n) as usize, be32(stsc, 12 + 12 * n) as usize))
            .collect();
        let mut n = 0;
        for chunk in 0..be32(stco, 4) as usize {
            let mut at = be32(stco, 8 + 4 * chunk) as usize;
            let run = runs.iter().rev().find(|r| r.0 <= chunk + 1).expect("a run for each chunk");
            for _ in 0..run.1 {
                self.samples.push(Sample { data: file[at..at + sizes[n]].to_vec(), ticks: ticks[n], key: is_key(n) });
                at += sizes[n];
                n += 1;
            }
        }
        assert_eq!(n, sizes.len(), "chunks hold all samples");
    }

    fn fragment(&mut self, file: &[u8], moof_at: usize, moof: &[u8]) {
        let tfdt = child(moof, "traf/tfdt");
        assert_eq!(be64(tfdt, 4), self.samples.len() as u64 * 1000, "fragments follow each other in time");
        let trun = child(moof, "traf/trun");
        let mut at = moof_at + be32(trun, 8) as usize;
        for n in 0..be32(trun, 4) as usize {
            let (size, flags) = (be32(trun, 12 + 8 * n) as usize, be32(trun, 16 + 8 * n));
            let data = file[at..at + size].to_vec();
            self.samples.push(Sample { data, ticks: 1000, key: flags & 0x1_0000 == 0 });
            at += size;
        }
    }

    /// Length in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.samples.iter().map(|s| f64::from(s.ticks)).sum::<f64>() / f64::from(self.timescale)
    }

    /// Decodes every sample; each must give one picture.
    pub(crate) fn decode(&self) -> Vec<Picture> {
        let mut decoder = Decoder::new().expect("a decoder");
        let mut out = Vec::new();
        for (n, sample) in self.samples.iter().enumerate() {
            let mut stream = Vec::new();
            if n == 0 {
                for set in [&self.sps, &self.pps] {
                    stream.extend_from_slice(&[0, 0, 0, 1]);
                    stream.extend_from_slice(set);
                }
            }
            let mut at = 0;
            while at < sample.data.len() {
                let len = be32(&sample.data, at) as usize;
                stream.extend_from_slice(&[0, 0, 0, 1]);
                stream.extend_from_slice(&sample.data[at + 4..at + 4 + len]);
                at += 4 + len;
            }
            let yuv =
                decoder.decode(&stream).expect("decodes").unwrap_or_else(|| panic!("sample {n} gives no picture"));
            let (w, h) = yuv.dimensions();
            let strides = yuv.strides();
            let plane = |data: &[u8], stride: usize, w: usize, h: usize| -> Vec<u8> {
                (0..h).flat_map(|y| data[y * stride..][..w].to_vec()).collect()
            };
            let planes = [
                plane(yuv.y(), strides.0, w, h),
                plane(yuv.u(), strides.1, w / 2, h / 2),
                plane(yuv.v(), strides.2, w / 2, h / 2),
            ];
            out.push(Picture { size: (w, h), planes });
        }
        out
    }
}

impl Picture {
    /// Red, green and blue at a pixel, by the real-valued BT.709 formula.
    pub(crate) fn rgb(&self, x: usize, y: usize) -> [f64; 3] {
        let at = (y / 2) * (self.size.0 / 2) + x / 2;
        let luma = (f64::from(self.planes[0][y * self.size.0 + x]) - 16.0) * 255.0 / 219.0;
        let [cb, cr] = [1, 2].map(|p| (f64::from(self.planes[p][at]) - 128.0) * 255.0 / 224.0);
        [luma + 1.5748 * cr, luma - 0.187_324 * cb - 0.468_124 * cr, luma + 1.8556 * cb]
    }

    /// Peak signal-to-noise ratio in decibels of luma against the frame that was recorded, over the pixels that
    /// `pick` chooses by their luma of 0 to 255.
    pub(crate) fn psnr(&self, rgba: &[u8], width: usize, pick: impl Fn(f64) -> bool) -> f64 {
        let (mut sum, mut n) = (0.0, 0.0);
        for (at, p) in rgba.as_chunks::<4>().0.iter().enumerate() {
            let want = 0.2126 * f64::from(p[0]) + 0.7152 * f64::from(p[1]) + 0.0722 * f64::from(p[2]);
            if pick(want) {
                let have = self.planes[0][at / width * self.size.0 + at % width];
                let have = (f64::from(have) - 16.0) * 255.0 / 219.0;
                sum += (want - have).powi(2);
                n += 1.0;
            }
        }
        10.0 * (255.0 * 255.0 * n / f64::max(sum, 1e-9)).log10()
    }
}
