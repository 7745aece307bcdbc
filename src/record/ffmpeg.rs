//! Formats that an installed `ffmpeg` writes: it is started, and gets the frames as they are through a pipe.
//!
//! ```text
//! frames RGBA --pipe--> ffmpeg [narration] [chapters] --> the file that gets its name when it is whole
//! ```
//!
//! `ffmpeg` is in a process group of its own: Ctrl-C reaches only us, who end its input, so that the file is whole.

use super::output::place;
use super::pipeline::{Convert, Encode, Workers};
use super::{Chapter, RecordError};
use crate::files::{Draft, Scratch};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

/// Bytes of what ffmpeg says that are kept: the first, where the cause is.
const WORDS: u64 = 4096;

/// What `ffmpeg` is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ffmpeg {
    /// Its container, by ffmpeg's name.
    pub(crate) container: String,
    /// Its encoder and the encoder's options; `None` = what suits the container.
    pub(crate) encoder: Option<Vec<String>>,
    /// Sound that goes with the pictures.
    pub(crate) audio: Option<PathBuf>,
}

/// Containers by the ending of a name, and ffmpeg's name for them.
const CONTAINERS: [(&str, &str); 11] = [
    ("webm", "webm"),
    ("mkv", "matroska"),
    ("mov", "mov"),
    ("mp4", "mp4"),
    ("m4v", "mp4"),
    ("avi", "avi"),
    ("webp", "webp"),
    ("gif", "gif"),
    ("ts", "mpegts"),
    ("ogv", "ogg"),
    ("apng", "apng"),
];

impl Ffmpeg {
    /// By the ending of a file; with an encoder any ending that ffmpeg has a container for.
    pub(crate) fn of(ending: &str, encoder: Option<&str>, audio: Option<&Path>) -> Option<Self> {
        let known = CONTAINERS.into_iter().find(|row| row.0 == ending).map(|row| row.1);
        let container = known.or_else(|| encoder.map(|_| ending).filter(|ending| !ending.is_empty()))?.to_owned();
        let encoder = encoder.map(|words| words.split_whitespace().map(str::to_owned).collect());
        Some(Self { container, encoder, audio: audio.map(Path::to_owned) })
    }

    /// Whether its pictures can have a transparent ground, as far as is known here.
    pub(crate) fn is_transparent(&self) -> bool {
        self.encoder.is_some() || matches!(&self.container[..], "webm" | "mov" | "webp" | "apng")
    }

    /// The encoder with its options.
    fn encoding(&self, transparent: bool) -> Vec<String> {
        if let Some(words) = &self.encoder {
            let named = words.first().is_some_and(|word| !word.starts_with('-'));
            return named.then(|| "-c:v".to_owned()).into_iter().chain(words.iter().cloned()).collect();
        }
        let video = "scale=out_color_matrix=bt709:out_range=tv,pad=ceil(iw/2)*2:ceil(ih/2)*2";
        let bt709 = "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv";
        let words = match (&self.container[..], transparent) {
            ("webm", false) => {
                format!("-vf {video} -c:v libvpx-vp9 -crf 24 -b:v 0 -cpu-used 4 -row-mt 1 -pix_fmt yuv420p {bt709}")
            }
            ("webm", true) => {
                format!(
                    "-vf {video} -c:v libvpx-vp9 -crf 24 -b:v 0 -cpu-used 4 -auto-alt-ref 0 -pix_fmt yuva420p {bt709}"
                )
            }
            ("mov", true) => format!("-vf {video} -c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le {bt709}"),
            ("webp", _) => "-c:v libwebp_anim -lossless 0 -quality 85 -loop 0".to_owned(),
            ("gif" | "apng", _) => String::new(),
            ("avi", _) => "-c:v mpeg4 -q:v 2 -pix_fmt yuv420p".to_owned(),
            ("ogg", _) => "-c:v libtheora -q:v 9 -pix_fmt yuv420p".to_owned(),
            ("mp4" | "mov", _) => {
                format!("-vf {video} -c:v libx264 -crf 16 -pix_fmt yuv420p -movflags +faststart {bt709}")
            }
            _ => format!("-vf {video} -c:v libx264 -crf 16 -pix_fmt yuv420p {bt709}"),
        };
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// Starts `ffmpeg`, whose file will be `path`.
    pub(crate) fn workers(
        &self,
        path: &Path,
        (width, height): (u32, u32),
        fps: u32,
        (transparent, chapters): (bool, &[Chapter]),
    ) -> Result<Workers, RecordError> {
        place(path)?;
        let draft = Draft::create(path).map_err(|e| RecordError::io(path, "created", e))?;
        let mut command = Command::new("ffmpeg");
        // Without `-xerror` it ends well although the disk was full.
        command.args(["-hide_banner", "-nostdin", "-loglevel", "error", "-xerror", "-y"]);
        command.args(["-f", "rawvideo", "-pix_fmt", "rgba"]);
        command.args(["-s", &format!("{width}x{height}"), "-r", &fps.to_string(), "-i", "pipe:0"]);
        if let Some(audio) = &self.audio {
            if !audio.is_file() {
                return Err(super::output::fault(
                    audio,
                    "--audio: no such file",
                    "give a file of sound, such as voice.wav",
                ));
            }
            command.arg("-i").arg(audio);
        }
        let mut scratch = None;
        if !chapters.is_empty() && !matches!(&self.container[..], "gif" | "apng" | "webp" | "avi") {
            let fail = |e| RecordError::io(Path::new("the folder for temporary files"), "written", e);
            let folder = Scratch::new().map_err(fail)?;
            let list = folder.put("chapters", listed(chapters, fps).as_bytes()).map_err(fail)?;
            let input = if self.audio.is_some() { "2" } else { "1" };
            command.args(["-f", "ffmetadata", "-i"]).arg(list).args(["-map_chapters", input]);
            scratch = Some(folder);
        }
        command.args(["-map", "0:v"]);
        if self.audio.is_some() {
            // Silence after the narration; the pictures say when it ends.
            command.args(["-map", "1:a", "-af", "apad", "-shortest"]);
        }
        command.args(self.encoding(transparent)).args(["-f", &self.container]);
        // The same frames give the same file: no times, no version of the encoder.
        command.args(["-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata:g", "-1"]);
        match draft.reach() {
            Some(reach) => command.arg(reach),
            None => return Err(super::output::fault(path, "this is a device or a pipe", "choose the name of a file")),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| missing(path, &error))?;
        let mut errors = child.stderr.take();
        let said = std::thread::spawn(move || {
            let mut words = Vec::new();
            if let Some(errors) = &mut errors {
                let _ = errors.by_ref().take(WORDS).read_to_end(&mut words);
                // It must not stop because nobody reads.
                let _ = std::io::copy(errors, &mut std::io::sink());
            }
            String::from_utf8_lossy(&words).trim().to_owned()
        });
        let input = child.stdin.take();
        let encode = Running { child, input, said: Some(said), draft: Some(draft), path: path.to_owned(), scratch };
        Ok(Workers { convert: vec![Box::new(AsItIs)], encode: Box::new(encode) })
    }
}

fn missing(path: &Path, error: &std::io::Error) -> RecordError {
    let finding = match error.kind() {
        std::io::ErrorKind::NotFound => "this format is written by ffmpeg, which is not installed".to_owned(),
        _ => format!("this format is written by ffmpeg, which cannot be started: {error}"),
    };
    let remedy = "install it (Debian, Ubuntu: apt install ffmpeg), or write .mp4, .gif, .apng or frames/%05d.png";
    super::output::fault(path, &finding, remedy)
}

/// Chapters as ffmpeg reads them.
fn listed(chapters: &[Chapter], fps: u32) -> String {
    let mut words = ";FFMETADATA1\n".to_owned();
    for chapter in chapters {
        let (start, end) = (chapter.frames.start, chapter.frames.end);
        let title: String = chapter.title.chars().flat_map(escaped).collect();
        let _ = write!(words, "[CHAPTER]\nTIMEBASE=1/{fps}\nSTART={start}\nEND={end}\ntitle={title}\n");
    }
    words
}

/// `=`, `;`, `#` and `\` mean something in such a list, and so does a new line.
fn escaped(letter: char) -> impl Iterator<Item = char> {
    let (mark, letter) = match letter {
        '=' | ';' | '#' | '\\' => (Some('\\'), letter),
        '\n' | '\r' => (None, ' '),
        _ => (None, letter),
    };
    mark.into_iter().chain([letter])
}

struct AsItIs;

impl Convert for AsItIs {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        into.clear();
        into.extend_from_slice(rgba);
        Ok(())
    }
}

struct Running {
    child: Child,
    /// Taken at the end, which is how ffmpeg learns of it.
    input: Option<ChildStdin>,
    said: Option<JoinHandle<String>>,
    draft: Option<Draft>,
    path: PathBuf,
    /// The list of chapters, as long as it is read.
    #[expect(dead_code, reason = "removes what it holds when it goes")]
    scratch: Option<Scratch>,
}

impl Running {
    /// Waits for its end; what it said where that was not a good one.
    fn end(&mut self) -> Result<(), String> {
        drop(self.input.take());
        let status = self.child.wait().map_err(|error| error.to_string())?;
        let said = self.said.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        match (status.success(), said.is_empty()) {
            (true, _) => Ok(()),
            (false, false) => Err(said.lines().take(3).collect::<Vec<_>>().join("; ")),
            (false, true) => Err(format!("it ended with {status} and said nothing")),
        }
    }

    fn failed(&mut self, frame: u64, otherwise: &str) -> RecordError {
        let said = self.end().err().unwrap_or_else(|| otherwise.to_owned());
        RecordError::Encoder { frame, reason: format!("ffmpeg, which writes {}: {said}", self.path.display()) }
    }
}

impl Encode for Running {
    fn encode(&mut self, frame: u64, data: &[u8]) -> Result<(), RecordError> {
        let written = self.input.as_mut().map_or(Ok(()), |input| input.write_all(data));
        written.map_err(|error| self.failed(frame, &error.to_string()))
    }

    fn bytes(&self) -> u64 {
        self.draft.as_ref().and_then(|draft| draft.file().metadata().ok()).map_or(0, |about| about.len())
    }

    fn finish(mut self: Box<Self>) -> Result<u64, RecordError> {
        if let Err(said) = self.end() {
            let reason = format!("ffmpeg, which writes {}: {said}", self.path.display());
            return Err(RecordError::Encoder { frame: 0, reason });
        }
        let bytes = self.bytes();
        if bytes == 0 {
            let reason = format!("ffmpeg, which writes {}, ended well and wrote nothing", self.path.display());
            return Err(RecordError::Encoder { frame: 0, reason });
        }
        let Some(draft) = self.draft.take() else { return Ok(bytes) };
        draft.file().sync_all().map_err(|e| RecordError::io(&self.path, "written", e))?;
        draft.finish().map_err(|e| RecordError::io(&self.path, "moved into place", e))?;
        Ok(bytes)
    }
}

impl Drop for Running {
    /// A recording that failed elsewhere leaves no ffmpeg behind.
    fn drop(&mut self) {
        if self.input.is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
