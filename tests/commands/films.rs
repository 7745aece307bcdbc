//! Films in every format, opened by programs that are not ours; the same bytes twice; a playable file or none, whatever happens.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn orrery(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Eight frames of the bundled multiply.
const SHORT: [&str; 10] =
    ["--start-ref", "2600", "--stop-ref", "2607", "--speed", "10", "--output-framerate", "10", "--size", "320x180"];

fn film(folder: &Path, name: &str, more: &[&str]) -> Output {
    orrery(folder, &[&["record", "lesson:matmul16", "-o", name], &SHORT[..], more].concat())
}

fn recorded(folder: &Path, name: &str, more: &[&str]) {
    let output = film(folder, name, more);
    assert!(output.status.success(), "{name} {more:?}: {}", said(&output));
}

/// What a program says of a file, which it must find nothing wrong with.
fn told(folder: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program).current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{program} {args:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Codec, width, height and frames of the pictures, as ffprobe decodes them.
fn probed(folder: &Path, name: &str) -> String {
    let what = "stream=codec_name,width,height,nb_read_frames";
    let args = ["-v", "error", "-count_frames", "-select_streams", "v", "-show_entries", what, "-of", "csv=p=0", name];
    told(folder, "ffprobe", &args).trim().to_owned()
}

#[test]
fn every_format_is_read_by_others_and_made_the_same_twice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, codec) in [
        ("f.mp4", "h264"),
        ("f.gif", "gif"),
        ("f.apng", "apng"),
        ("f.y4m", "rawvideo"),
        ("f.ppm", "ppm"),
        ("f.webm", "vp9"),
        ("f.mkv", "h264"),
        ("f.mov", "h264"),
        ("f.avi", "mpeg4"),
    ] {
        recorded(folder, name, &[]);
        assert_eq!(probed(folder, name), format!("{codec},320,180,8"), "{name}");
        let first = fs::read(folder.join(name)).unwrap();
        recorded(folder, name, &[]);
        assert!(first == fs::read(folder.join(name)).unwrap(), "{name} differs the second time");
    }
    recorded(folder, "f%02d.png", &[]);
    recorded(folder, "f%02d.ppm", &[]);
    told(folder, "pngcheck", &["-q", "f.apng", "f00.png", "f07.png"]);
    // The last frame of each that loses nothing is the same picture.
    let pixels = |name: &str, select: &str| {
        let args =
            ["-v", "error", "-i", name, "-vf", select, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
        let output = Command::new("ffmpeg").current_dir(folder).args(args).output().unwrap();
        assert!(output.status.success() && output.stdout.len() == 320 * 180 * 3, "{name}: {}", said(&output));
        output.stdout
    };
    let last = pixels("f07.png", "null");
    for (name, select) in [("f07.ppm", "null"), ("f.ppm", "select=eq(n\\,7)"), ("f.apng", "select=eq(n\\,7)")] {
        assert!(last == pixels(name, select), "{name}");
    }
    // What goes to a pipe is what goes to a file.
    for (to, name) in [("y4m", "f.y4m"), ("ppm", "f.ppm")] {
        let piped = film(folder, "-", &["--to", to]);
        assert!(piped.stdout == fs::read(folder.join(name)).unwrap(), "{to}: {}", said(&piped));
    }
}

#[test]
fn a_transparent_ground_a_narration_and_an_encoder_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, format) in [("t.apng", "rgba"), ("t.mov", "yuva444p"), ("t%02d.png", "rgba")] {
        recorded(folder, name, &["--transparent"]);
        let name = name.replace("%02d", "03");
        let args = ["-v", "error", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0", &name];
        assert!(told(folder, "ffprobe", &args).starts_with(format), "{name}");
    }
    // Laid over the ground, it is the picture with the ground.
    recorded(folder, "o%02d.png", &[]);
    let same = "color=0x08090d:s=320x180[g];[g][0]overlay=format=gbrp[l];[l][1]blend=all_mode=difference,format=rgb24";
    let args = [
        "-v",
        "error",
        "-i",
        "t03.png",
        "-i",
        "o03.png",
        "-filter_complex",
        same,
        "-frames:v",
        "1",
        "-f",
        "rawvideo",
        "-",
    ];
    let difference = Command::new("ffmpeg").current_dir(folder).args(args).output().unwrap().stdout;
    assert_eq!(difference.len(), 320 * 180 * 3);
    assert!(difference.iter().all(|d| *d <= 2), "{:?}", difference.iter().max());

    told(folder, "ffmpeg", &["-v", "error", "-f", "lavfi", "-i", "sine=440:duration=0.3", "voice.wav"]);
    recorded(folder, "n.mp4", &["--audio", "voice.wav", "--encoder", "libx264 -crf 30"]);
    let streams =
        told(folder, "ffprobe", &["-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", "n.mp4"]);
    assert_eq!(streams.split_whitespace().collect::<Vec<_>>(), ["video", "audio"]);
    assert_eq!(probed(folder, "n.mp4"), "h264,320,180,8", "a narration that is shorter does not end the pictures");

    for (name, flags, words) in [
        ("n.mp4", &["--transparent"][..], "MP4 has no transparent ground"),
        ("x.mkv", &["--encoder", "nosuch"], "Unknown encoder 'nosuch'"),
        ("x.mkv", &["--audio", "missing.wav"], "missing.wav: --audio: no such file"),
        ("x.xyz", &[], "no such format: .xyz"),
        ("-", &["--to", "gif"], "gif cannot be written to standard output"),
    ] {
        let output = film(folder, name, flags);
        assert!(!output.status.success() && said(&output).contains(words), "{name} {flags:?}: {}", said(&output));
    }
    let args = ["record", "lesson:matmul16", "-o", "x.mp4", "--size", "9000x9000", "--supersample", "3"];
    let output = orrery(folder, &args);
    assert!(said(&output).contains("27000x27000 then; expected sides of 16384 at most"), "{}", said(&output));
    assert!(!folder.join("x.mkv").exists() && !folder.join("x.xyz").exists());
    let alone = Command::new(env!("CARGO_BIN_EXE_orrery"))
        .current_dir(folder)
        .env("PATH", "/nowhere")
        .args([&["record", "lesson:matmul16", "-o", "x.webm"], &SHORT[..]].concat())
        .output()
        .unwrap();
    assert!(said(&alone).contains("ffmpeg, which is not installed"), "{}", said(&alone));
}

#[test]
fn finer_small_pictures_and_a_preview_have_the_size_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    recorded(folder, "s.mkv", &["--supersample", "3"]);
    assert_eq!(probed(folder, "s.mkv"), "h264,320,180,8");
    recorded(folder, "p.mp4", &["--preview", "--manifest"]);
    assert_eq!(probed(folder, "p.mp4"), "h264,160,90,8");
    let text = fs::read_to_string(folder.join("p.manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["frames"], 8);
    assert_eq!(manifest["traces"][0]["references"], 8448);
    // The command that it tells makes the same film again.
    let before = fs::read(folder.join("p.mp4")).unwrap();
    let command = manifest["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
    let mut command = command.collect::<Vec<_>>();
    command.remove(0);
    let again = orrery(folder, &command.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(again.status.success(), "{}", said(&again));
    assert!(before == fs::read(folder.join("p.mp4")).unwrap());
}

#[test]
fn chapters_of_a_storyboard_are_listed_by_players() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scene =
        |title: &str| format!("[[scene]]\ntitle = \"{title}\"\nsource = \"m\"\nfrom = 100\nto = 110\nseconds = 0.5\n");
    let text =
        format!("title = \"T\"\n[source.m]\ntrace = \"lesson:matmul16\"\n{}{}", scene("One = 1; #"), scene("Two"));
    fs::write(folder.join("s.story.toml"), text).unwrap();
    for name in ["s.mp4", "s.mkv"] {
        let output = orrery(folder, &["record", "s.story.toml", "-o", name, "--preview", "--size", "640x360"]);
        assert!(output.status.success(), "{}", said(&output));
        let args = ["-v", "error", "-show_entries", "chapter=start_time:chapter_tags=title", "-of", "csv=p=0", name];
        let listed = told(folder, "ffprobe", &args);
        let listed: Vec<_> = listed.lines().collect();
        assert_eq!(listed, ["0.000000,One = 1; #", "0.500000,Two"], "{name}");
    }
}

/// Sends a signal to a recording that began a while ago; answers its exit code.
fn interrupted(folder: &Path, name: &str, signal: &str, after: Duration) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
    command.current_dir(folder).args(["record", "lesson:matmul16", "-o", name, "--size", "320x180"]);
    // As from a terminal: the signal reaches all of the group.
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    let group = format!("-{}", child.id());
    let killed = Command::new("kill").args([signal, "--", &group]).status().unwrap();
    assert!(killed.success());
    child.wait().unwrap().code()
}

#[test]
fn a_signal_leaves_a_playable_film_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut whole = 0;
    for (n, name) in (0..).zip(["a.mkv", "b.apng", "c.mp4", "d.y4m", "e.webm", "f.mkv", "g.apng", "h.mp4"]) {
        let signal = if n % 2 == 0 { "-INT" } else { "-TERM" };
        let code = interrupted(folder, name, signal, Duration::from_millis(300 + 350 * n));
        let is_there = folder.join(name).exists();
        // Code 130 where it was stopped before its first frame, none where the signal came before anybody heard it.
        assert!(
            if is_there { code == Some(0) } else { matches!(code, Some(130) | None) },
            "{name}: {code:?}, {is_there}"
        );
        if is_there {
            let frames = probed(folder, name).rsplit(',').next().unwrap().parse::<u64>().unwrap();
            assert!(frames > 0, "{name}");
            whole += 1;
        }
    }
    assert!(whole > 0, "the later ones had frames");
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), whole, "nothing half-written stays: {left:?}");
}

#[test]
fn a_full_disk_leaves_no_film_that_looks_whole() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["f.webm", "f.mkv", "f.mov", "f.mp4", "f.apng", "f.y4m"] {
        // No file may be longer than 32 KiB, which is told as an error where nobody is killed for it.
        let words = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", words, "sh", env!("CARGO_BIN_EXE_orrery"), "record", "lesson:matmul16", "-o", name]);
        let output = command.current_dir(folder).args(["--seconds", "3", "--size", "640x360"]).output().unwrap();
        assert!(!output.status.success(), "{name}: {}", said(&output));
        assert!(!folder.join(name).exists(), "{name}: {}", said(&output));
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn a_reader_that_goes_away_ends_a_stream_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    for to in ["y4m", "ppm", "mp4"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        command.current_dir(folder.path()).args([
            "record",
            "lesson:matmul16",
            "-o",
            "-",
            "--to",
            to,
            "--size",
            "320x180",
        ]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut some = [0; 64];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let output = child.wait_with_output().unwrap();
        // As of every program in a pipe: it is who reads that has had enough.
        assert!(output.stderr.is_empty(), "{to}: {}: {}", output.status, said(&output));
    }
}
