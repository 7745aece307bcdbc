//! Kernels from files: the source, the launch beside it, the files that are bound.

use crate::files::{read_bytes, read_text};
use crate::kernel::bundled::{BUNDLED, SCHEME, find};
use crate::kernel::{Bound, Content, Given, Held, KernelError, bound, numbers};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of a source or a launch.
const MOST_TEXT: u64 = 4 << 20;
/// Bytes of a file that is bound.
const MOST_BOUND: u64 = 256 << 20;

/// Contents by name, each with its length where one was said.
pub type Contents = BTreeMap<String, Given>;

/// A kernel's source, and how it is launched where nothing else is said.
#[derive(Debug, Clone)]
pub struct KernelFile {
    /// What it is called.
    pub name: String,
    /// Its source.
    pub text: String,
    /// Its launch.
    pub settings: KernelSettings,
    /// Where paths in the launch start.
    pub folder: PathBuf,
    /// What its launch is called: `NAME.toml`.
    pub launch: String,
}

/// A launch as TOML.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSettings {
    /// Name of the entry.
    pub entry: Option<String>,
    /// Items, by dimension.
    pub global: Option<Vec<u64>>,
    /// Groups, by dimension.
    pub groups: Option<Vec<u64>>,
    /// What buffers hold: words as for `--bind`, a number, or numbers.
    #[serde(default)]
    pub bind: BTreeMap<String, BindValue>,
    /// Overrides.
    #[serde(default)]
    pub set: BTreeMap<String, f64>,
    /// Launches, one after the other, where there are several: `[[launch]]`.
    #[serde(default)]
    pub launch: Vec<LaunchSettings>,
}

/// One of several launches: what it has as the others do stands outside of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchSettings {
    /// Name of the entry.
    pub entry: Option<String>,
    /// Items, by dimension.
    pub global: Option<Vec<u64>>,
    /// Groups, by dimension.
    pub groups: Option<Vec<u64>>,
    /// How often it is launched, in a row.
    pub times: Option<u64>,
    /// What buffers are given before it; the others hold what the launches before left.
    #[serde(default)]
    pub bind: BTreeMap<String, BindValue>,
    /// Overrides.
    #[serde(default)]
    pub set: BTreeMap<String, f64>,
}

/// What a buffer is bound to in TOML.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum BindValue {
    /// One number.
    Number(f64),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Words as for `--bind`.
    Words(String),
}

fn fault(path: &Path, error: impl std::fmt::Display) -> KernelError {
    KernelError::Source(format!("{}: {error}", path.display()))
}

impl KernelFile {
    /// Opens a kernel: a bundled one by `kernel:NAME`, or a file with the launch that is beside it, `NAME.toml`.
    ///
    /// # Errors
    /// When there is no such kernel, or a file cannot be read.
    pub fn open(path: &Path) -> Result<Self, KernelError> {
        if let Some(name) = path.to_str().and_then(|path| path.strip_prefix(SCHEME)) {
            let known = || BUNDLED.map(|kernel| kernel.name).join(", ");
            let kernel = find(name)
                .ok_or_else(|| fault(path, format!("found no such bundled kernel; expected one of {}", known())))?;
            let settings = toml::from_str(kernel.launch).map_err(|error| fault(path, error))?;
            let (name, text) = (path.display().to_string(), kernel.text.to_owned());
            return Ok(Self { launch: name.clone(), name, text, settings, folder: PathBuf::new() });
        }
        let text = read_text(path, MOST_TEXT).map_err(|error| {
            let words = "cannot be read; expected a shader in WGSL, or kernel:NAME (orrery kernel --list names them)";
            fault(path, format!("{words}: {error}"))
        })?;
        let beside = path.with_extension("toml");
        let settings = match read_text(&beside, MOST_TEXT) {
            Ok(text) => toml::from_str(&text).map_err(|error| fault(&beside, error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => KernelSettings::default(),
            Err(error) => return Err(fault(&beside, error)),
        };
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let launch = beside.display().to_string();
        Ok(Self { name: path.display().to_string(), text, settings, folder, launch })
    }

    /// The files that a kernel is read from: its source, the launch beside it whether it is there or not, and those that the launch
    /// binds, where it can be read, or `words` do: `NAME=WHAT`. Of a bundled one there are none but those.
    #[must_use]
    pub fn files(path: &Path, words: &[String]) -> Vec<PathBuf> {
        let file_of = |words: &str, folder: &Path| match bound(words) {
            Ok(Bound::Binary(path) | Bound::Csv(path) | Bound::Png(path)) => Some(folder.join(path)),
            _ => None,
        };
        let named = words.iter().filter_map(|words| file_of(words.split_once('=')?.1, Path::new("")));
        if path.to_str().is_some_and(|path| path.starts_with(SCHEME)) {
            return named.collect();
        }
        let own = [path.to_owned(), path.with_extension("toml")];
        let mut files: Vec<PathBuf> = own.into_iter().chain(named).collect();
        let Ok(file) = Self::open(path) else { return files };
        let values = file.settings.launch.iter().flat_map(|launch| launch.bind.values());
        files.extend(file.settings.bind.values().chain(values).filter_map(|value| match value {
            BindValue::Words(words) => file_of(words, &file.folder),
            BindValue::Number(_) | BindValue::Numbers(_) => None,
        }));
        files
    }

    /// What the launch binds, and over it what `words` do: `NAME=WHAT`, whose paths start where the program was called.
    ///
    /// # Errors
    /// Words that bind nothing, files that cannot be read.
    pub fn contents(&self, words: &[String]) -> Result<Contents, KernelError> {
        let mut out = self.values(&self.settings.bind, &self.launch, None)?;
        for words in words {
            let Some((name, value)) = words.split_once('=') else {
                return Err(KernelError::Binding(format!("--bind {words}: expected NAME=WHAT, as in a=iota")));
            };
            let said = format!("--bind {}", name.trim());
            out.insert(name.trim().to_owned(), content(&said, value, Path::new(""), None)?);
        }
        Ok(out)
    }

    /// What one of several launches is given, after others that left `held`. `number` is that of its `[[launch]]`, the first being 0.
    ///
    /// # Errors
    /// Words that bind nothing, or what nobody holds; files that cannot be read.
    pub fn given(&self, number: usize, held: &Held) -> Result<Contents, KernelError> {
        let Some(launch) = self.settings.launch.get(number) else { return Ok(Contents::new()) };
        self.values(&launch.bind, &format!("{}: [[launch]] {number}", self.launch), Some(held))
    }

    /// What one of several launches has of others: the names of its variables, and of those whose content they take.
    pub fn taken(&self, number: usize) -> impl Iterator<Item = (&str, String)> {
        let bind = self.settings.launch.get(number).into_iter().flat_map(|launch| &launch.bind);
        bind.filter_map(|(name, value)| match value {
            BindValue::Words(words) => match bound(words) {
                Ok(Bound::Held(from)) => Some((name.as_str(), from)),
                _ => None,
            },
            BindValue::Number(_) | BindValue::Numbers(_) => None,
        })
    }

    fn values(
        &self,
        bind: &BTreeMap<String, BindValue>,
        said: &str,
        held: Option<&Held>,
    ) -> Result<Contents, KernelError> {
        let mut out = Contents::new();
        for (name, value) in bind {
            let content = match value {
                BindValue::Number(number) => (Content::Numbers(vec![*number]), None),
                BindValue::Numbers(numbers) => (Content::Numbers(numbers.clone()), None),
                BindValue::Words(words) => content(&format!("{said}: bind {name}"), words, &self.folder, held)?,
            };
            out.insert(name.clone(), content);
        }
        Ok(out)
    }
}

/// What words bind. `said` is where they stand, `held` what launches before left, where there are any.
fn content(said: &str, words: &str, folder: &Path, held: Option<&Held>) -> Result<Given, KernelError> {
    let error = |error: String| KernelError::Binding(format!("{said}: {error}"));
    let file = |path: &Path, words: std::io::Error| {
        error(format!(
            "{} cannot be read; expected a file of numbers (.bin, .csv) or a picture (.png): {words}",
            path.display()
        ))
    };
    match bound(words).map_err(error)? {
        Bound::Content(content, length) => Ok((content, length)),
        Bound::Held(name) => match held {
            None => Err(error(format!(
                "held({name}): found no launch before it; expected that in [launch.bind] of a launch which is not the first"
            ))),
            Some(held) => held.of(&name).cloned().ok_or_else(|| {
                let names: Vec<&str> = held.iter().map(|(name, _)| name.as_str()).collect();
                let listed =
                    if names.is_empty() { "none, for no launch is before it".into() } else { names.join(", ") };
                error(format!(
                    "held({name}): found nothing of this name that a launch before it used; expected one of: {listed}"
                ))
            }),
        },
        Bound::Binary(path) => {
            let path = folder.join(path);
            let bytes = read_bytes(&path, MOST_BOUND).map_err(|words| file(&path, words))?;
            Ok((Content::Bytes(bytes), None))
        }
        Bound::Csv(path) => {
            let path = folder.join(path);
            let text = read_text(&path, MOST_BOUND).map_err(|words| file(&path, words))?;
            let found = numbers(&text).map_err(|words| error(format!("{}: {words}", path.display())))?;
            Ok((Content::Numbers(found), None))
        }
        Bound::Png(path) => {
            let path = folder.join(path);
            let bytes = read_bytes(&path, MOST_BOUND).map_err(|words| file(&path, words))?;
            let (size, rgba) =
                picture(&bytes).map_err(|words| error(format!("{} is no picture: {words}", path.display())))?;
            Ok((Content::Image(size, rgba), None))
        }
    }
}

/// The pixels of a PNG: red, green, blue and alpha, a byte each.
fn picture(bytes: &[u8]) -> Result<([u32; 2], Vec<u8>), String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let room = reader.output_buffer_size().filter(|room| *room as u64 <= MOST_BOUND);
    let room = room.ok_or_else(|| format!("found more than {MOST_BOUND} bytes of pixels; expected fewer"))?;
    let mut pixels = vec![0; room];
    let frame = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    pixels.truncate(frame.buffer_size());
    if frame.color_type == png::ColorType::GrayscaleAlpha {
        pixels = pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect();
    }
    Ok(([frame.width, frame.height], pixels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_kernel_are_its_source_its_launch_and_what_that_binds() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let source = at("k.wgsl");
        assert_eq!(KernelFile::files(&source, &[]), [at("k.wgsl"), at("k.toml")], "they may come");
        std::fs::write(&source, "").unwrap();
        let launch = "[bind]\na = \"in.csv\"\nb = \"sub/b.bin\"\nc = \"iota\"\nd = 3\ne = [1, 2]\n";
        std::fs::write(at("k.toml"), launch).unwrap();
        let all = [at("k.wgsl"), at("k.toml"), at("in.csv"), at("sub/b.bin")];
        assert_eq!(KernelFile::files(&source, &[]), all);
        std::fs::write(at("k.toml"), "[bind").unwrap();
        assert_eq!(KernelFile::files(&source, &[]), all[..2]);
        let words = ["a=x.bin", "b=iota", "c"].map(str::to_owned);
        assert_eq!(KernelFile::files(&source, &words), [at("k.wgsl"), at("k.toml"), PathBuf::from("x.bin")]);
        assert!(KernelFile::files(Path::new("kernel:sobel"), &[]).is_empty());
    }
}
