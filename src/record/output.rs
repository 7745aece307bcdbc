//! Where frames go: which format a path means, and files that appear whole or not at all.

use super::RecordError;
use super::ffmpeg::Ffmpeg;
use crate::files::Draft;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How frames are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// H.264 in MP4.
    Mp4,
    /// An animated GIF that repeats.
    Gif,
    /// An animated PNG that repeats.
    Apng,
    /// One PNG a frame, numbered from 0.
    Png(Pattern),
    /// YUV4MPEG2: what encoders read, not compressed.
    Y4m,
    /// PPM, one picture behind the other.
    Ppm,
    /// One PPM a frame, numbered from 0.
    NumberedPpm(Pattern),
    /// What an installed ffmpeg writes.
    Ffmpeg(Ffmpeg),
}

impl Format {
    /// For messages.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Mp4 => "MP4",
            Self::Gif => "GIF",
            Self::Apng => "APNG",
            Self::Png(_) => "PNG",
            Self::Y4m => "Y4M",
            Self::Ppm | Self::NumberedPpm(_) => "PPM",
            Self::Ffmpeg(asked) => &asked.container,
        }
    }

    /// Whether a frame's ground may be transparent in it.
    #[must_use]
    pub fn is_transparent(&self) -> bool {
        match self {
            Self::Png(_) | Self::Apng => true,
            Self::Ffmpeg(asked) => asked.is_transparent(),
            Self::Mp4 | Self::Gif | Self::Y4m | Self::Ppm | Self::NumberedPpm(_) => false,
        }
    }
}

/// What is asked for besides a name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The format, where the name does not say it: mp4, gif, apng, png, y4m or ppm.
    pub to: Option<&'a str>,
    /// ffmpeg's name of an encoder, and options of it behind.
    pub encoder: Option<&'a str>,
    /// Sound that goes with the pictures.
    pub audio: Option<&'a Path>,
}

/// A checked output: format and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub(crate) format: Format,
    /// `None` is standard output.
    pub(crate) path: Option<PathBuf>,
}

/// What to write in place of a name that says no format.
const FORMATS: &str = "use .mp4, .gif, .apng, .y4m, .ppm, a pattern such as frames/%05d.png, what ffmpeg writes (.webm, .mkv, .mov, .avi, \
                       .webp, or any ending with --encoder), or - for MP4 on standard output";

impl Output {
    /// From a path as the command line has it, see [`Output::wanted`].
    ///
    /// # Errors
    /// As there.
    pub fn parse(path: &Path) -> Result<Self, RecordError> {
        Self::wanted(path, Wanted::default())
    }

    /// From a path as the command line has it: `.mp4`, `.gif`, `.apng`, `.y4m`, `.ppm`, a pattern such as `frames/%05d.png`, an ending
    /// of ffmpeg's, or `-` for standard output (MP4, or what `to` says of those that need no file). Touches no file.
    ///
    /// # Errors
    /// [`RecordError::Output`] names what is wrong and what to write instead.
    pub fn wanted(path: &Path, wanted: Wanted<'_>) -> Result<Self, RecordError> {
        let Wanted { to, encoder, audio } = wanted;
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        if path == Path::new("-") {
            if encoder.is_some() || audio.is_some() {
                return Err(fault(path, "ffmpeg writes no stream here", "give a file with --encoder and --audio"));
            }
            let format = match to {
                None | Some("mp4") => Format::Mp4,
                Some("y4m") => Format::Y4m,
                Some("ppm") => Format::Ppm,
                Some(other) => {
                    let finding = format!("{other} cannot be written to standard output");
                    return Err(fault(path, &finding, "use --to mp4, y4m or ppm, or give a file"));
                }
            };
            return Ok(Self { format, path: None });
        }
        let kind = to.unwrap_or(&extension);
        let has_number = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains('%'));
        let format = match kind {
            _ if encoder.is_some() || audio.is_some() => {
                Format::Ffmpeg(Ffmpeg::of(kind, encoder, audio).ok_or_else(|| unknown(path, &extension))?)
            }
            "mp4" | "m4v" => Format::Mp4,
            "gif" => Format::Gif,
            "apng" => Format::Apng,
            "png" => Format::Png(Pattern::parse(path)?),
            "y4m" => Format::Y4m,
            "ppm" if has_number => Format::NumberedPpm(Pattern::parse(path)?),
            "ppm" => Format::Ppm,
            other => Format::Ffmpeg(Ffmpeg::of(other, None, None).ok_or_else(|| unknown(path, &extension))?),
        };
        Ok(Self { format, path: Some(path.to_owned()) })
    }

    /// The format that was found.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }
}

fn unknown(path: &Path, extension: &str) -> RecordError {
    let finding = match extension {
        "" => "the name has no extension".to_owned(),
        e => format!("no such format: .{e}"),
    };
    fault(path, &finding, FORMATS)
}

/// An output that cannot be: where, what was found, what to write instead.
pub(crate) fn fault(path: &Path, finding: &str, remedy: &str) -> RecordError {
    RecordError::Output { path: path.to_owned(), finding: finding.to_owned(), remedy: remedy.to_owned() }
}

/// Makes sure that a file can be at `path`: neither folder nor device.
pub(crate) fn place(path: &Path) -> Result<(), RecordError> {
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => Err(fault(path, "this is a folder", "choose the name of a file")),
        Ok(m) if !m.is_file() => Err(fault(path, "this is a device or a pipe", "use - and let the shell redirect")),
        _ => Ok(()),
    }
}

/// A file name with one number in it, as C's `printf` writes it: `%d`, `%5d`, `%05d`; `%%` is a percent sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    folder: PathBuf,
    before: String,
    digits: usize,
    after: String,
}

impl Pattern {
    /// Digits that a 64-bit number can need.
    const MAX_DIGITS: usize = 20;

    fn parse(path: &Path) -> Result<Self, RecordError> {
        const REMEDY: &str = "write one number into the file name, such as frames/%05d.png";
        let name = path.file_name().and_then(|n| n.to_str());
        let name = name.ok_or_else(|| fault(path, "the file name is not text in UTF-8", REMEDY))?;
        let mut texts = vec![String::new()];
        let mut width = None;
        let mut rest = name;
        while let Some((text, tail)) = rest.split_once('%') {
            texts.last_mut().into_iter().for_each(|t| t.push_str(text));
            if let Some(tail) = tail.strip_prefix('%') {
                texts.last_mut().into_iter().for_each(|t| t.push('%'));
                rest = tail;
                continue;
            }
            let Some((digits, tail)) = tail.split_once('d').filter(|(d, _)| d.bytes().all(|b| b.is_ascii_digit()))
            else {
                let finding = format!("%{} is no frame number", tail.chars().take(3).collect::<String>());
                return Err(fault(path, &finding, "write it as %d or %05d, and a plain percent sign as %%"));
            };
            if width.is_some() {
                return Err(fault(path, "the name has two frame numbers", REMEDY));
            }
            let digits = if digits.is_empty() { Ok(0) } else { digits.parse::<usize>() };
            let digits = digits.ok().filter(|&d| d <= Self::MAX_DIGITS);
            width = Some(digits.ok_or_else(|| fault(path, "a frame number has at most 20 digits", REMEDY))?);
            texts.push(String::new());
            rest = tail;
        }
        texts.last_mut().into_iter().for_each(|t| t.push_str(rest));
        let digits = width.ok_or_else(|| fault(path, "a PNG holds one frame and the name has no number", REMEDY))?;
        let after = texts.pop().unwrap_or_default();
        let before = texts.pop().unwrap_or_default();
        Ok(Self { folder: path.parent().unwrap_or(Path::new("")).to_owned(), before, digits, after })
    }

    /// The name without number and ending; empty where there is nothing else in it.
    #[must_use]
    pub fn title(&self) -> String {
        let after = self.after.rsplit_once('.').map_or("", |(after, _)| after);
        format!("{}{after}", self.before)
    }

    /// The file of one frame.
    #[must_use]
    pub fn path(&self, frame: u64) -> PathBuf {
        let (before, after, digits) = (&self.before, &self.after, self.digits);
        self.folder.join(format!("{before}{frame:0digits$}{after}"))
    }
}

/// A picture or video that gets its name when it is whole.
#[derive(Debug)]
pub(crate) struct Partial {
    file: BufWriter<Draft>,
    /// The name as it was given, for messages.
    given: PathBuf,
    written: u64,
}

impl Partial {
    /// Starts the file that will be `path`; the folder must be there and writable.
    pub(crate) fn create(path: &Path) -> Result<Self, RecordError> {
        place(path)?;
        let draft = Draft::create(path).map_err(|e| RecordError::io(path, "created", e))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 16, draft), given: path.to_owned(), written: 0 })
    }

    /// Bytes written, those written over counted again.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Gives the file its name. `sync` waits until the disk has it, which is when a full disk must speak up.
    pub(crate) fn commit(self, sync: bool) -> Result<(), RecordError> {
        let Self { mut file, given, .. } = self;
        let fail = |e| RecordError::io(&given, "written", e);
        file.flush().map_err(fail)?;
        let draft = file.into_inner().map_err(|e| fail(e.into_error()))?;
        if sync {
            draft.file().sync_all().map_err(fail)?;
        }
        draft.finish().map_err(|e| RecordError::io(&given, "moved into place", e))
    }
}

impl Write for Partial {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.file.write(data)?;
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl io::Seek for Partial {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
