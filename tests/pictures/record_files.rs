//! What `record` writes, read back by other means than the writer: MP4 by a parser of its own and OpenH264's decoder (and
//! ffprobe where there is one), GIF and PNG by their decoders.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers, in tests")]

use crate::support::moving::Moving;
use crate::support::mp4::Movie;
use orrery::record::{self, Format, FrameSource, Options, Output, RecordError, Summary};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

fn record(source: &mut Moving, path: &Path, fps: u32) -> Result<Summary, RecordError> {
    let output = Output::parse(path)?;
    record::record(source, &output, &Options { fps, ..Options::default() }, &AtomicBool::new(false), &mut |_| {})
}

/// A writer whose bytes can be looked at afterwards.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs ffprobe; `None`, with a line, where there is none.
fn ffprobe(path: &Path, entries: &str) -> Option<String> {
    let out = Command::new("ffprobe")
        .args([
            "-v",
            "error",
            "-count_frames",
            "-select_streams",
            "v:0",
            "-of",
            "default=nw=1",
            "-show_entries",
            entries,
        ])
        .arg(path)
        .output();
    let Ok(out) = out else {
        eprintln!("skipped: no ffprobe on this machine");
        return None;
    };
    assert!(out.status.success(), "ffprobe: {}", String::from_utf8_lossy(&out.stderr));
    assert!(out.stderr.is_empty(), "ffprobe complains: {}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8(out.stdout).expect("text"))
}

/// The MP4 that a stream gets of `source`, and what recording it came to.
fn streamed(source: &mut dyn FrameSource, fps: u32) -> (Vec<u8>, Summary) {
    let bytes = Shared::default();
    let (options, stop) = (Options { fps, ..Options::default() }, AtomicBool::new(false));
    let into = (Box::new(bytes.clone()) as Box<_>, &record::Format::Mp4);
    let summary = record::record_stream(source, into, &options, &stop, &mut |_| {}).expect("records");
    let stream = bytes.0.lock().expect("not poisoned").clone();
    (stream, summary)
}

#[test]
fn mp4_holds_every_frame_crisp_and_on_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clip.mp4");
    let mut source = Moving::new(640, 360, 75);
    let mut seen = Vec::new();
    let output = Output::parse(&path).expect("mp4");
    let stop = AtomicBool::new(false);
    let summary =
        record::record(&mut source, &output, &Options { fps: 30, ..Options::default() }, &stop, &mut |p| seen.push(p))
            .expect("records");

    let file = std::fs::read(&path).expect("the file");
    let movie = Movie::parse(&file);
    assert_eq!(movie.boxes, ["ftyp", "moov", "free", "mdat"], "the index stands in front");
    assert_eq!(movie.size, (640, 360));
    assert_eq!(movie.samples.len(), 75);
    assert!((movie.seconds() - 2.5).abs() < 1e-9, "{} s", movie.seconds());
    assert_eq!(movie.duration * 2, u64::from(movie.timescale) * 5, "the header agrees");
    let keys: Vec<usize> = (0..75).filter(|&n| movie.samples[n].key).collect();
    assert_eq!(keys, [0, 60], "a key frame every two seconds");
    assert_eq!(movie.colr, b"nclx\0\x01\0\x01\0\x01\0", "BT.709, limited range");
    assert_eq!(movie.sps[1], 66, "baseline plays everywhere");

    let pictures = movie.decode();
    assert_eq!(pictures.len(), 75);
    let mut worst = (f64::MAX, f64::MAX);
    for (k, picture) in pictures.iter().enumerate() {
        let frame = source.draw(k as u64);
        worst.0 = worst.0.min(picture.psnr(&frame, 640, |_| true));
        worst.1 = worst.1.min(picture.psnr(&frame, 640, |y| y > 90.0));
    }
    eprintln!("PSNR of Y, worst frame: {:.1} dB, of bright pixels {:.1} dB; {} bytes", worst.0, worst.1, file.len());
    // "Bright" are here the moving lines and dots alone; what stands still comes ten decibels closer.
    assert!(worst.0 > 46.0, "worst frame {:.1} dB", worst.0);
    assert!(worst.1 > 32.0, "bright pixels of the worst frame {:.1} dB", worst.1);

    assert_eq!((summary.frames, summary.total, summary.stopped), (75, 75, false));
    assert_eq!(summary.bytes, file.len() as u64);
    assert!(source.most_in_flight > 1, "frames overlap");
    assert!(seen.is_sorted_by_key(|p| p.done), "progress only grows");
    assert_eq!(seen.last().map(|p| (p.done, p.bytes)), Some((75, summary.bytes)));
}

#[test]
fn mp4_satisfies_ffprobe() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clip.mp4");
    record(&mut Moving::new(320, 180, 50), &path, 25).expect("records");
    let entries = "stream=codec_name,profile,width,height,pix_fmt,level,color_range,color_space,color_transfer,\
                   color_primaries,avg_frame_rate,nb_frames,nb_read_frames,duration,sample_aspect_ratio";
    let Some(text) = ffprobe(&path, entries) else { return };
    for want in [
        "codec_name=h264",
        "profile=Constrained Baseline",
        "width=320",
        "height=180",
        "pix_fmt=yuv420p",
        "level=12",
        "color_range=tv",
        "color_space=bt709",
        "color_transfer=bt709",
        "color_primaries=bt709",
        "sample_aspect_ratio=1:1",
        "avg_frame_rate=25/1",
        "duration=2.000000",
        "nb_frames=50",
        "nb_read_frames=50",
    ] {
        assert!(text.lines().any(|l| l == want), "no {want} in\n{text}");
    }
}

#[test]
fn flat_colours_come_back_within_three_levels() {
    for (n, want) in
        [[11_u8, 15, 20], [235, 60, 60], [90, 180, 240], [240, 230, 140], [255, 255, 255]].iter().enumerate()
    {
        let mut source = Flat { colour: [want[0], want[1], want[2], 255], size: (64, 48), frames: 2, waiting: 0 };
        let movie = Movie::parse(&streamed(&mut source, 30).0);
        for picture in movie.decode() {
            let have = picture.rgb(20, 20);
            for (have, &want) in have.iter().zip(want) {
                assert!((have - f64::from(want)).abs() < 3.0, "colour {n}: {have:.1} for {want}");
            }
        }
    }
}

struct Flat {
    colour: [u8; 4],
    size: (u32, u32),
    frames: u64,
    waiting: u64,
}

impl record::FrameSource for Flat {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn frames(&self) -> u64 {
        self.frames
    }

    fn submit(&mut self, _: u64) -> Result<(), record::FrameError> {
        self.waiting += 1;
        Ok(())
    }

    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), record::FrameError> {
        self.waiting -= 1;
        *into = self.colour.repeat((self.size.0 * self.size.1) as usize);
        Ok(())
    }
}

#[test]
fn an_odd_size_is_padded_to_even_and_keeps_its_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd.mp4");
    let mut source = Moving::new(161, 91, 3);
    record(&mut source, &path, 30).expect("records");
    let movie = Movie::parse(&std::fs::read(&path).expect("the file"));
    assert_eq!(movie.size, (162, 92));
    for (k, picture) in movie.decode().iter().enumerate() {
        assert_eq!(picture.size, (162, 92));
        let psnr = picture.psnr(&source.draw(k as u64), 161, |_| true);
        assert!(psnr > 38.0, "frame {k}: {psnr:.1} dB");
    }
}

#[test]
fn the_smallest_and_the_largest_pictures_and_the_ends_of_the_rates() {
    let folder = tempfile::tempdir().expect("a folder");
    for (width, height, fps, frames) in [(16, 16, 1, 1), (16, 16, 120, 250), (3840, 2160, 30, 2), (2160, 3840, 60, 1)] {
        let path = folder.path().join(format!("{width}x{height}.mp4"));
        let mut source = Flat { colour: [90, 180, 240, 255], size: (width, height), frames, waiting: 0 };
        let output = Output::parse(&path).expect("mp4");
        let stop = AtomicBool::new(false);
        record::record(&mut source, &output, &Options { fps, ..Options::default() }, &stop, &mut |_| {})
            .expect("records");
        let movie = Movie::parse(&std::fs::read(&path).expect("the file"));
        assert_eq!((movie.size, movie.samples.len() as u64), ((width, height), frames));
        assert!((movie.seconds() - frames as f64 / f64::from(fps)).abs() < 1e-9, "{} s", movie.seconds());
        assert_eq!(movie.decode().len() as u64, frames);
    }
}

#[test]
fn the_level_is_the_lowest_that_holds_size_and_rate() {
    for (size, fps, level) in
        [((16, 16), 15, 10), ((320, 180), 30, 13), ((1280, 720), 30, 31), ((1280, 720), 60, 32), ((1280, 720), 120, 42)]
    {
        let mut source = Flat { colour: [9, 9, 9, 255], size, frames: 1, waiting: 0 };
        let movie = Movie::parse(&streamed(&mut source, fps).0);
        assert_eq!(movie.sps[3], level, "{size:?} at {fps}");
    }
}

#[test]
fn a_stream_is_fragmented_mp4_with_the_same_pictures_as_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clip.mp4");
    record(&mut Moving::new(160, 90, 25), &path, 10).expect("records");
    let (stream, summary) = streamed(&mut Moving::new(160, 90, 25), 10);
    let (file, stream_movie) = (Movie::parse(&std::fs::read(&path).expect("the file")), Movie::parse(&stream));
    assert_eq!(stream_movie.boxes, ["ftyp", "moov", "moof", "mdat", "moof", "mdat"]);
    let data = |m: &Movie| m.samples.iter().map(|s| (s.data.clone(), s.key)).collect::<Vec<_>>();
    assert!(data(&file) == data(&stream_movie), "samples differ");
    assert_eq!(summary.bytes, stream.len() as u64);
    assert_eq!(stream_movie.decode().len(), 25);

    let path = folder.path().join("stream.mp4");
    std::fs::write(&path, &stream).expect("written");
    if let Some(text) = ffprobe(&path, "stream=nb_read_frames,avg_frame_rate:format=duration") {
        for want in ["nb_read_frames=25", "avg_frame_rate=10/1", "duration=2.500000"] {
            assert!(text.lines().any(|l| l == want), "no {want} in\n{text}");
        }
    }
}

#[test]
fn two_recordings_are_equal_to_the_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["clip.mp4", "clip.gif"] {
        let files = ["a", "b"].map(|run| {
            let path = folder.path().join(format!("{run}-{name}"));
            record(&mut Moving::new(160, 90, 20), &path, 30).expect("records");
            std::fs::read(&path).expect("the file")
        });
        assert!(files[0] == files[1], "{name} differs from run to run");
    }
}

#[test]
fn an_early_stop_leaves_a_playable_file_of_what_was_done() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["clip.mp4", "clip.gif", "f%03d.png"] {
        let path = folder.path().join(name);
        let stop = Arc::new(AtomicBool::new(false));
        let mut source = Moving::new(160, 90, 1000);
        let flag = Arc::clone(&stop);
        // GIF draws frames of the whole range ahead for its palette: only a recording comes to 40 after 39.
        let mut last = None;
        source.on_collect = Box::new(move |k| {
            flag.fetch_or(k == 40 && last == Some(39), Ordering::Relaxed);
            last = Some(k);
            Ok(())
        });
        let output = Output::parse(&path).expect("known");
        let summary =
            record::record(&mut source, &output, &Options::default(), &stop, &mut |_| {}).expect("stops in peace");
        assert!(summary.stopped, "{name}");
        assert!((41..=43).contains(&summary.frames), "{name}: {} frames", summary.frames);
        let frames = match output.format() {
            Format::Mp4 => Movie::parse(&std::fs::read(&path).expect("the file")).decode().len(),
            Format::Gif => (gif_frames(&path).iter().map(|f| usize::from(f.delay)).sum::<usize>() * 30 + 50) / 100,
            _ => (0..).take_while(|k| image::open(folder.path().join(format!("f{k:03}.png"))).is_ok()).count(),
        };
        assert_eq!(frames as u64, summary.frames, "{name}");
    }
    let all = 2 + 43;
    assert!(names(folder.path()).len() <= all, "{:?}", names(folder.path()));
    assert!(names(folder.path()).iter().all(|n| !n.starts_with('.')), "{:?}", names(folder.path()));
}

#[test]
fn a_stop_before_the_first_frame_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["clip.mp4", "clip.gif", "f%03d.png"] {
        let output = Output::parse(&folder.path().join(name)).expect("known");
        let stop = AtomicBool::new(true);
        let mut source = Moving::new(160, 90, 10);
        let summary = record::record(&mut source, &output, &Options::default(), &stop, &mut |_| {}).expect("in peace");
        assert_eq!((summary.frames, summary.stopped), (0, true), "{name}");
        assert_eq!(names(folder.path()), Vec::<String>::new(), "{name}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Frames of a GIF as stored.
fn gif_frames(path: &Path) -> Vec<gif::Frame<'static>> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("the file"));
    let mut decoder = options.read_info(file).expect("a GIF");
    std::iter::from_fn(|| decoder.read_next_frame().expect("a whole frame").cloned()).collect()
}

#[test]
fn gif_shows_the_frames_at_the_right_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clip.gif");
    let (w, h) = (160, 90);
    let mut source = Moving::new(w, h, 31);
    let summary = record(&mut source, &path, 30).expect("records");
    assert_eq!(summary.bytes, std::fs::metadata(&path).expect("the file").len());

    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let file = std::io::BufReader::new(std::fs::File::open(&path).expect("the file"));
    let mut decoder = options.read_info(file).expect("a GIF");
    let palette = decoder.global_palette().expect("one palette").to_vec();
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    let mut screen = vec![[0_u8; 3]; (w * h) as usize];
    let (mut shown, mut time, mut worst, mut area) = (0_u64, 0_u64, f64::MAX, 0);
    while let Some(frame) = decoder.read_next_frame().expect("a whole frame") {
        assert!(frame.palette.is_none(), "no palette of its own");
        area += usize::from(frame.width) * usize::from(frame.height);
        for (n, &index) in frame.buffer.iter().enumerate() {
            if Some(index) != frame.transparent {
                let (x, y) = (n % usize::from(frame.width), n / usize::from(frame.width));
                let at = (y + usize::from(frame.top)) * w as usize + x + usize::from(frame.left);
                screen[at] = palette[usize::from(index) * 3..][..3].try_into().expect("three");
            }
        }
        assert_eq!(time, (shown * 100 + 15) / 30, "frame {shown} starts on time");
        let want = source.draw(shown);
        let error = want.as_chunks::<4>().0.iter().zip(&screen);
        let error: f64 = error.flat_map(|(w, h)| (0..3).map(|c| (f64::from(w[c]) - f64::from(h[c])).powi(2))).sum();
        worst = worst.min(10.0 * (65025.0 * screen.len() as f64 * 3.0 / error).log10());
        time += u64::from(frame.delay);
        shown += 1;
    }
    eprintln!("GIF: worst frame {worst:.1} dB, {} bytes, {area} pixels stored", summary.bytes);
    assert_eq!((shown, time), (31, 103), "31 frames at 30 a second, in hundredths");
    assert!(worst > 35.0, "worst frame {worst:.1} dB");
}

#[test]
fn gif_stores_a_pause_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("still.gif");
    let mut source = Flat { colour: [90, 180, 240, 255], size: (40, 30), frames: 90, waiting: 0 };
    let output = Output::parse(&path).expect("gif");
    let stop = AtomicBool::new(false);
    record::record(&mut source, &output, &Options { fps: 30, ..Options::default() }, &stop, &mut |_| {})
        .expect("records");
    let frames = gif_frames(&path);
    assert_eq!(frames.iter().map(|f| f.delay).collect::<Vec<_>>(), [300]);
}

#[test]
fn gif_carries_a_pause_longer_than_its_longest_delay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.gif");
    let mut source = Flat { colour: [90, 180, 240, 255], size: (4, 4), frames: 700, waiting: 0 };
    let output = Output::parse(&path).expect("gif");
    record::record(
        &mut source,
        &output,
        &Options { fps: 1, ..Options::default() },
        &AtomicBool::new(false),
        &mut |_| {},
    )
    .expect("records");
    let delays: Vec<u32> = gif_frames(&path).iter().map(|f| u32::from(f.delay)).collect();
    assert_eq!(delays, [65535, 4465]);
}

#[test]
fn pngs_are_exact_and_numbered_from_zero() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = Moving::new(160, 91, 12);
    let summary = record(&mut source, &folder.path().join("a%%b_%03d.png"), 30).expect("records");
    let want: Vec<String> = (0..12).map(|k| format!("a%b_{k:03}.png")).collect();
    assert_eq!(names(folder.path()), want);
    let mut bytes = 0;
    for (k, name) in want.iter().enumerate() {
        let path = folder.path().join(name);
        bytes += std::fs::metadata(&path).expect("the file").len();
        let picture = image::open(&path).expect("a PNG").to_rgba8();
        assert_eq!(picture.dimensions(), (160, 91));
        assert!(picture.as_raw() == &source.draw(k as u64), "frame {k} differs");
    }
    assert_eq!(summary.bytes, bytes);
}

#[test]
fn hashes_tell_frames_apart_and_stay_the_same_over_the_years() {
    let source = Moving::new(64, 36, 3);
    let hashes: Vec<u64> = (0..3).map(|k| record::frame_hash(&source.draw(k))).collect();
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2], "{hashes:x?}");
    assert_eq!(record::frame_hash(&source.draw(1)), hashes[1]);
    assert_ne!(record::frame_hash(&[0; 8]), record::frame_hash(&[0; 16]), "length counts");
    assert_ne!(record::frame_hash(&[0; 3]), record::frame_hash(&[0; 4]), "length counts in the tail");
    let mut one_bit = source.draw(0);
    one_bit[1234] ^= 1;
    assert_ne!(record::frame_hash(&one_bit), hashes[0], "one bit counts");
    assert_eq!(record::frame_hash(b"orrery frame"), FIXED, "stored hashes stay valid");
}

/// Set when the function was written.
const FIXED: u64 = 9_687_363_986_353_040_613;

#[test]
fn mp4_at_1280x720_is_whole_and_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = Moving::new(1280, 720, 40);
    let summary = record(&mut source, &folder.path().join("clip.mp4"), 30).expect("records");
    // Printed, not held: machines are noisy. Held is that a thrashing picture stays small: a mode or quantizer chosen by
    // mistake shows in the size first.
    eprintln!("1280x720: {summary}");
    assert_eq!((summary.frames, summary.stopped), (40, false));
    assert!(summary.bytes < 40 * 60_000, "{} bytes for 40 frames", summary.bytes);
}
