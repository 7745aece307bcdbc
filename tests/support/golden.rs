//! Comparison of pictures with references in `tests/golden/`.
//!
//! A whole-picture mean is blind to a missing dot, so two things are judged: how many pixels are visibly wrong (squared
//! YIQ distance above 2, about two grey levels) and the worst 16x16 tile (mean difference of its channels, of 255). Both
//! have to pass. A reference that is missing or of another size fails.
//!
//! `GOLDEN_UPDATE=1 cargo test --test pictures golden` rewrites the references that fail, never on hardware.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A picture in memory, tightly packed RGBA rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgba: Vec<u8>,
}

impl Picture {
    fn read(path: &Path) -> Result<Self, String> {
        let picture = image::open(path).map_err(|e| format!("{}: {e}", path.display()))?.into_rgba8();
        Ok(Self { width: picture.width(), height: picture.height(), rgba: picture.into_raw() })
    }

    fn write(&self, path: &Path) {
        image::save_buffer(path, &self.rgba, self.width, self.height, image::ColorType::Rgba8)
            .expect("picture is written");
    }

    /// The pixel's bytes.
    pub(crate) fn at(&self, x: u32, y: u32) -> [u8; 4] {
        let at = (y * self.width + x) as usize * 4;
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2], self.rgba[at + 3]]
    }
}

/// How far two pictures of one size are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Difference {
    /// Visibly wrong pixels.
    pub(crate) wrong: usize,
    /// Largest mean difference of a tile, of 255.
    pub(crate) tile: f32,
    /// That tile's upper left pixel.
    pub(crate) corner: (u32, u32),
    /// Largest difference of any channel.
    pub(crate) channel: u8,
}

const TILE: u32 = 16;

/// Squared distance of two colours in YIQ (Kotsarenko and Ramos, 2010), 0 to about 35,000.
fn yiq(a: [u8; 4], b: [u8; 4]) -> f32 {
    let d: [f32; 3] = std::array::from_fn(|i| f32::from(a[i]) - f32::from(b[i]));
    let y = 0.298_895_3 * d[0] + 0.586_622_5 * d[1] + 0.114_482_2 * d[2];
    let i = 0.595_978 * d[0] - 0.274_176_1 * d[1] - 0.321_801_9 * d[2];
    let q = 0.211_470_2 * d[0] - 0.522_617_1 * d[1] + 0.311_146_9 * d[2];
    0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q
}

/// Compares two pictures of one size.
pub(crate) fn difference(a: &Picture, b: &Picture) -> Difference {
    let mut out = Difference::default();
    for top in (0..a.height).step_by(TILE as usize) {
        for left in (0..a.width).step_by(TILE as usize) {
            let (mut sum, mut count) = (0u32, 0u32);
            for y in top..(top + TILE).min(a.height) {
                for x in left..(left + TILE).min(a.width) {
                    let (p, q) = (a.at(x, y), b.at(x, y));
                    out.wrong += usize::from(yiq(p, q) > 2.0 || p[3] != q[3]);
                    for channel in 0..3 {
                        let d = p[channel].abs_diff(q[channel]);
                        out.channel = out.channel.max(d);
                        sum += u32::from(d);
                        count += 1;
                    }
                }
            }
            let mean = sum as f32 / count as f32;
            if mean > out.tile {
                (out.tile, out.corner) = (mean, (left, top));
            }
        }
    }
    out
}

/// Who drew a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adapter {
    /// What counts as the same: `software llvmpipe`.
    pub(crate) kind: String,
    /// As the driver calls it.
    pub(crate) name: String,
    /// Driver and version.
    pub(crate) driver: String,
}

impl Adapter {
    pub(crate) fn of(info: &wgpu::AdapterInfo) -> Self {
        let family = info.name.split([' ', '(']).next().unwrap_or_default();
        let kind = if info.device_type == wgpu::DeviceType::Cpu { "software" } else { "hardware" };
        Self {
            kind: format!("{kind} {family}"),
            name: info.name.clone(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        }
    }

    fn is_hardware(&self) -> bool {
        self.kind.starts_with("hardware")
    }
}

/// What is still the same picture: on the adapter kind that made the reference, and on another. No hardware GPU has been
/// measured yet; software adapters gave identical bytes on every run.
fn passes(d: &Difference, picture: &Picture, same_kind: bool) -> bool {
    let pixels = (picture.width * picture.height) as usize;
    if same_kind { d.wrong <= 10 && d.tile <= 0.5 } else { d.wrong <= pixels / 10_000 && d.tile <= 1.0 }
}

/// Compares pictures with the references of one folder and keeps count.
pub(crate) struct Harness {
    folder: PathBuf,
    /// Where actual pictures and differences go.
    out: PathBuf,
    adapter: Adapter,
    update: bool,
    makers: BTreeMap<String, Adapter>,
    /// Pictures whose every pixel was held against a reference.
    pub(crate) compared: usize,
    /// References rewritten.
    pub(crate) updated: Vec<String>,
    /// What failed, in words.
    pub(crate) failures: Vec<String>,
}

/// Largest reference file, bytes.
const MOST: u64 = 32 << 10;

impl Harness {
    /// For references in `folder`; `out` gets what fails. `update` rewrites failing references, on a software adapter.
    pub(crate) fn new(folder: &Path, out: &Path, adapter: Adapter, update: bool) -> Self {
        let list = fs::read_to_string(folder.join("references.json")).ok();
        let makers =
            list.map(|text| serde_json::from_str(&text).expect("references.json is a map")).unwrap_or_default();
        let (folder, out) = (folder.to_owned(), out.to_owned());
        Self { folder, out, adapter, update, makers, compared: 0, updated: Vec::new(), failures: Vec::new() }
    }

    /// Holds a picture against its reference.
    pub(crate) fn check(&mut self, name: &str, actual: &Picture) {
        let path = self.folder.join(format!("{name}.png"));
        let fault = match (Picture::read(&path), self.makers.get(name)) {
            (Err(error), _) => Some(format!("no reference: {error}")),
            (Ok(_), None) => Some("references.json does not say who made the reference".into()),
            (Ok(reference), Some(_)) if (reference.width, reference.height) != (actual.width, actual.height) => {
                let sizes = [reference.width, reference.height, actual.width, actual.height];
                let [w, h, aw, ah] = sizes;
                Some(format!("the reference is {w}x{h}, the picture {aw}x{ah}"))
            }
            (Ok(reference), Some(maker)) => {
                self.compared += 1;
                let d = difference(&reference, actual);
                let same_kind = maker.kind == self.adapter.kind;
                (!passes(&d, actual, same_kind)).then(|| {
                    self.leave_evidence(name, &reference, actual);
                    format!(
                        "{} pixels are visibly wrong; the worst tile, at {:?}, differs by {:.2} of 255; largest difference \
                         of a channel {}; reference by {}, now {}",
                        d.wrong, d.corner, d.tile, d.channel, maker.name, self.adapter.name
                    )
                })
            }
        };
        let Some(fault) = fault else { return };
        if self.update && !self.adapter.is_hardware() {
            fs::create_dir_all(&self.folder).expect("folder of references");
            actual.write(&path);
            let bytes = fs::metadata(&path).expect("just written").len();
            assert!(bytes <= MOST, "{name}.png has {bytes} bytes; make the picture smaller than {MOST}");
            self.makers.insert(name.to_owned(), self.adapter.clone());
            let text = serde_json::to_string_pretty(&self.makers).expect("a map of strings");
            fs::write(self.folder.join("references.json"), text + "\n").expect("references.json is written");
            self.updated.push(name.to_owned());
            return;
        }
        fs::create_dir_all(&self.out).expect("folder of results");
        let kind = self.adapter.kind.replace(' ', "-");
        let seen = self.out.join(format!("{name}-{kind}-actual.png"));
        actual.write(&seen);
        self.failures.push(format!(
            "{name}: {fault}\n  look at {}\n  if it is right: GOLDEN_UPDATE=1 cargo test --test pictures golden",
            seen.display()
        ));
    }

    /// Writes where the two differ: wrong pixels red, the rest dim.
    fn leave_evidence(&self, name: &str, reference: &Picture, actual: &Picture) {
        fs::create_dir_all(&self.out).expect("folder of results");
        let mut map = actual.clone();
        for (at, pixel) in map.rgba.chunks_exact_mut(4).enumerate() {
            let at = u32::try_from(at).expect("a small picture");
            let (x, y) = (at % actual.width, at / actual.width);
            let wrong = yiq(reference.at(x, y), actual.at(x, y)) > 2.0;
            let dim = pixel[0].max(pixel[1]).max(pixel[2]) / 3;
            pixel.copy_from_slice(if wrong { &[255, 0, 0, 255] } else { &[0, 0, 0, 255] });
            if !wrong {
                pixel[..3].fill(dim);
            }
        }
        map.write(&self.out.join(format!("{name}-{}-diff.png", self.adapter.kind.replace(' ', "-"))));
    }

    /// References that no picture was held against.
    pub(crate) fn orphans(&self, names: &[String]) -> Vec<String> {
        self.makers.keys().filter(|name| !names.contains(name)).cloned().collect()
    }

    /// The last line of a run.
    pub(crate) fn summary(&self) -> String {
        let updated =
            if self.updated.is_empty() { String::new() } else { format!(", {} rewritten", self.updated.len()) };
        format!("{} pictures really compared on {}{updated}", self.compared, self.adapter.name)
    }
}
