//! What `record` does when things go wrong: the message says what and what to do, and nothing half-written stays behind.

use crate::support::moving::Moving;
use orrery::record::{self, FrameError, Options, Output, RecordError, Summary};
use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

fn record(source: &mut Moving, path: &Path) -> Result<Summary, RecordError> {
    let output = Output::parse(path)?;
    record::record(source, &output, &Options { fps: 30, ..Options::default() }, &AtomicBool::new(false), &mut |_| {})
}

fn stream(source: &mut Moving, writer: Box<dyn Write + Send>, fps: u32) -> Result<Summary, RecordError> {
    record::record_stream(
        source,
        (writer, &record::Format::Mp4),
        &Options { fps, ..Options::default() },
        &AtomicBool::new(false),
        &mut |_| {},
    )
}

/// The message with its causes, as the command line prints it.
fn words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(c) = cause {
        text = format!("{text}: {c}");
        cause = c.source();
    }
    text
}

fn io_kind(error: &RecordError) -> Option<ErrorKind> {
    error.source().and_then(|s| s.downcast_ref::<io::Error>()).map(io::Error::kind)
}

fn assert_says(error: &RecordError, parts: &[&str]) {
    let text = words(error);
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn names_that_mean_no_format_are_refused_with_what_would_do() {
    let table: [(&str, &[&str]); 11] = [
        ("clip", &["clip: the name has no extension", ".mp4, .gif", "frames/%05d.png", "- for MP4"]),
        ("clip.xyz", &["no such format: .xyz", "use .mp4"]),
        ("out.mp4/", &["out.mp4"]),
        ("", &["no extension"]),
        ("frame.png", &["a PNG holds one frame", "frames/%05d.png"]),
        ("%03d-%03d.png", &["two frame numbers", "frames/%05d.png"]),
        ("f%x.png", &["%x.p is no frame number", "%05d"]),
        ("f%", &["no extension"]),
        ("f%.png", &["no frame number", "%%"]),
        ("f%99d.png", &["at most 20 digits"]),
        ("f%-5d.png", &["no frame number"]),
    ];
    for (path, parts) in table {
        match Output::parse(Path::new(path)) {
            // A trailing slash is lost in a path; the folder it means is found when the file is made.
            Ok(_) if path == "out.mp4/" => {}
            Ok(output) => panic!("{path:?} is taken for {output:?}"),
            Err(error) => {
                assert!(error.is_usage(), "{path:?} is a fault of the command line");
                assert_says(&error, parts);
            }
        }
    }
}

#[test]
fn sizes_rates_and_ranges_out_of_bounds_are_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    type Row = (&'static str, u32, u32, u32, u64, &'static [&'static str]);
    let table: [Row; 9] = [
        ("c.mp4", 15, 64, 30, 1, &["15x64", "MP4", "16x16 to 3840x2160", "%05d.png"]),
        ("c.mp4", 3842, 64, 30, 1, &["3842x64", "3840x2160"]),
        ("c.mp4", 2162, 2162, 30, 1, &["2162x2162"]),
        ("c.mp4", 64, 64, 0, 1, &["0 frames/s", "1 to 120"]),
        ("c.mp4", 64, 64, 121, 1, &["121 frames/s", "--output-framerate"]),
        ("c.gif", 64, 64, 60, 1, &["60 frames/s", "GIF", "1 to 50"]),
        ("c.gif", 65536, 1, 30, 1, &["65536x1", "65535"]),
        ("c%d.png", 0, 4, 30, 1, &["0x4", "1 or more"]),
        ("c.mp4", 64, 64, 30, 0, &["no frame to record", "--seconds"]),
    ];
    for (name, width, height, fps, frames, parts) in table {
        let output = Output::parse(&folder.path().join(name)).expect("a format");
        let mut source = Moving::new(width, height, frames);
        let stop = AtomicBool::new(false);
        let error = record::record(&mut source, &output, &Options { fps, ..Options::default() }, &stop, &mut |_| {})
            .expect_err(name);
        assert!(error.is_usage(), "{name}: {error}");
        assert_says(&error, parts);
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_missing_folder_is_named_before_anything_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["clip.mp4", "clip.gif", "%05d.png"] {
        let mut source = Moving::new(64, 64, 10);
        source.on_collect = Box::new(|_| panic!("drawn for nothing"));
        let error = record(&mut source, &folder.path().join("no/such").join(name)).expect_err(name);
        assert!(!error.is_usage());
        let first = name.replace("%05d", "00000");
        assert_says(&error, &[&first, "cannot be created", "no/such does not exist; make it first: mkdir -p"]);
        assert!(!words(&error).contains(".part"), "names a file the user never heard of: {}", words(&error));
        assert_eq!(io_kind(&error), Some(ErrorKind::NotFound));
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_file_where_a_folder_should_be_and_the_reverse() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), b"kept").expect("written");
    std::fs::create_dir(folder.path().join("dir.mp4")).expect("made");
    let error =
        record(&mut Moving::new(64, 64, 2), &folder.path().join("file/clip.mp4")).expect_err("a file is no folder");
    assert_says(&error, &["file is not a folder", "--output"]);
    let error = record(&mut Moving::new(64, 64, 2), &folder.path().join("dir.mp4")).expect_err("a folder is no file");
    assert_says(&error, &["dir.mp4: this is a folder", "name of a file"]);
    assert_eq!(names(folder.path()), ["dir.mp4", "file"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o555)).expect("set");
    // Root may write anywhere but in the kernel's own folders.
    let root = tempfile::tempfile_in(folder.path()).is_ok();
    let place = if root { Path::new("/sys/kernel") } else { folder.path() };
    if !place.is_dir() || tempfile::tempfile_in(place).is_ok() {
        eprintln!("skipped: no folder on this machine that this user may not write");
        return;
    }
    for name in ["clip.mp4", "clip.gif", "%d.png"] {
        let error = record(&mut Moving::new(64, 64, 2), &place.join(name)).expect_err(name);
        assert_says(&error, &["cannot be created", "you may not write in"]);
    }
}

#[cfg(unix)]
#[test]
fn devices_are_not_replaced_and_links_are_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("null.mp4");
    symlink("/dev/null", &link).expect("linked");
    let error = record(&mut Moving::new(64, 64, 2), &link).expect_err("a device is no file");
    assert_says(&error, &["null.mp4: this is a device or a pipe", "use -"]);

    let target = folder.path().join("target.mp4");
    std::fs::write(&target, b"old").expect("written");
    let link = folder.path().join("link.mp4");
    symlink(&target, &link).expect("linked");
    record(&mut Moving::new(64, 64, 2), &link).expect("records");
    assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink(), "the link stays a link");
    let file = std::fs::metadata(&target).expect("there");
    assert!(file.len() > 500, "the file behind it is the recording");
    assert_ne!(file.permissions().mode() & 0o044, 0, "readable for others as the umask allows");
}

#[test]
fn a_source_that_fails_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["clip.mp4", "clip.gif"] {
        let path = folder.path().join(name);
        std::fs::write(&path, b"the recording of yesterday").expect("written");
        let mut source = Moving::new(64, 64, 500);
        source.on_collect = Box::new(|k| if k == 300 { Err(FrameError::new("the device was lost")) } else { Ok(()) });
        let error = record(&mut source, &path).expect_err("frame 300 fails");
        // A GIF may come across the frame while it samples colours; either way it is the frame that is named.
        assert_says(
            &error,
            &["could not be drawn: the device was lost", "frame 300"][..if name == "clip.mp4" { 2 } else { 1 }],
        );
        assert_eq!(std::fs::read(&path).expect("there"), b"the recording of yesterday");
    }
    assert_eq!(names(folder.path()), ["clip.gif", "clip.mp4"]);
}

/// A file system of 256 KiB, where this user may mount one; gone when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(folder.path());
        let mounted = command.output().is_ok_and(|o| o.status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_named_and_nothing_is_left() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: this user may not mount a small file system (/dev/full is tried all the same)");
        return;
    };
    for name in ["clip.mp4", "clip.gif"] {
        let error = record(&mut Moving::new(640, 360, 2000), &disk.0.path().join(name)).expect_err(name);
        assert_says(&error, &[name, "cannot be written", "the disk is full; delete files"]);
        assert_eq!(io_kind(&error), Some(ErrorKind::StorageFull));
        assert_eq!(names(disk.0.path()), Vec::<String>::new(), "{name}");
    }
    let error = record(&mut Moving::new(640, 360, 2000), &disk.0.path().join("%03d.png")).expect_err("png");
    assert_says(&error, &["png", "cannot be written", "the disk is full"]);
    let kept = names(disk.0.path());
    assert!(!kept.is_empty() && kept.iter().all(|n| n.ends_with(".png")), "{kept:?}");
    for name in kept {
        image::open(disk.0.path().join(&name)).unwrap_or_else(|e| panic!("{name} is not whole: {e}"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut source = Moving::new(64, 64, 100_000);
    let drawn = count(&mut source);
    let error = stream(&mut source, Box::new(full), 30).expect_err("it is full");
    assert_says(&error, &["standard output: cannot be written", "the disk is full"]);
    assert_eq!(io_kind(&error), Some(ErrorKind::StorageFull));
    assert!(drawn.load(Ordering::Relaxed) < 200, "it ends soon, not after {} frames", drawn.load(Ordering::Relaxed));
}

#[test]
fn a_closed_pipe_ends_the_recording_soon_as_a_broken_pipe() {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let mut source = Moving::new(64, 64, 100_000);
    let drawn = count(&mut source);
    let error = stream(&mut source, Box::new(writer), 30).expect_err("nobody reads");
    // `commands` looks for this kind among the causes and ends in success.
    assert_eq!(io_kind(&error), Some(ErrorKind::BrokenPipe), "{error}");
    assert!(drawn.load(Ordering::Relaxed) < 200, "it ends soon, not after {} frames", drawn.load(Ordering::Relaxed));
}

fn count(source: &mut Moving) -> Arc<AtomicU64> {
    let drawn = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&drawn);
    source.on_collect = Box::new(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    drawn
}

/// A writer that lets nothing through until it is opened, and says when something came.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<(bool, u64)>, Condvar)>);

impl Gate {
    fn open(&self) {
        self.0.0.lock().expect("not poisoned").0 = true;
        self.0.1.notify_all();
    }

    /// Waits until more than `bytes` came through.
    fn wait_for(&self, bytes: u64) -> bool {
        let state = self.0.0.lock().expect("not poisoned");
        let (_state, late) =
            self.0.1.wait_timeout_while(state, Duration::from_secs(20), |s| s.1 <= bytes).expect("not poisoned");
        !late.timed_out()
    }
}

impl Write for Gate {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let state = self.0.0.lock().expect("not poisoned");
        let mut state = self.0.1.wait_while(state, |s| !s.0).expect("not poisoned");
        state.1 += data.len() as u64;
        self.0.1.notify_all();
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn frames_are_encoded_while_others_are_drawn() {
    let gate = Gate::default();
    gate.open();
    let mut source = Moving::new(64, 64, 20);
    let seen = gate.clone();
    // At 1 frame/s a fragment ends every second frame: drawing frame 12 waits for the first ones to be written.
    source.on_collect = Box::new(move |k| match k {
        12 if !seen.wait_for(1000) => Err(FrameError::new("nothing was encoded while frames were drawn")),
        _ => Ok(()),
    });
    let summary = stream(&mut source, Box::new(gate), 1).expect("stages overlap");
    assert_eq!(summary.frames, 20);
}

#[test]
fn a_slow_output_holds_the_source_back() {
    let gate = Gate::default();
    let mut source = Moving::new(64, 64, 200);
    let drawn = count(&mut source);
    let writer = gate.clone();
    let recording = std::thread::spawn(move || stream(&mut source, Box::new(writer), 1));
    let (mut last, mut since) = (0, Instant::now());
    while since.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(10));
        let now = drawn.load(Ordering::Relaxed);
        if now != last || now == 0 {
            (last, since) = (now, Instant::now());
        }
    }
    assert!(last <= 20, "{last} frames were drawn while none could be written");
    gate.open();
    assert_eq!(recording.join().expect("no panic").expect("records").frames, 200);
}

#[test]
fn a_frame_of_the_wrong_size_is_a_fault_and_not_a_panic() {
    struct Short;
    impl record::FrameSource for Short {
        fn size(&self) -> (u32, u32) {
            (64, 64)
        }
        fn frames(&self) -> u64 {
            3
        }
        fn submit(&mut self, _: u64) -> Result<(), FrameError> {
            Ok(())
        }
        fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError> {
            *into = vec![0; 100];
            Ok(())
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["c.mp4", "c.gif", "c%d.png"] {
        let output = Output::parse(&folder.path().join(name)).expect("a format");
        let stop = AtomicBool::new(false);
        let error = record::record(&mut Short, &output, &Options::default(), &stop, &mut |_| {}).expect_err(name);
        assert_says(&error, &["frame 0 could not be drawn", "100 bytes", "64x64", "16384"]);
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}
