//! Films of storyboards as they are seen: how often they flash, how scenes follow each other, what lies beside them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::record::{Flashes, LARGE, Light};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn orrery(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Pictures of a film, each RGBA.
struct Frames {
    size: (u32, u32),
    rgba: Vec<Vec<u8>>,
    told: String,
}

/// The frames of a film, through a pipe as PPM.
fn frames(folder: &Path, args: &[&str]) -> Frames {
    let output = orrery(folder, &[&["record"], args, &["-o", "-", "--to", "ppm"]].concat());
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    let (mut rest, mut rgba, mut size) = (&output.stdout[..], Vec::new(), (0, 0));
    while !rest.is_empty() {
        let ends: Vec<usize> =
            rest.iter().enumerate().filter(|(_, byte)| byte.is_ascii_whitespace()).map(|(at, _)| at).take(4).collect();
        let head = std::str::from_utf8(&rest[..ends[3]]).unwrap();
        let numbers: Vec<u32> = head.split_ascii_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        size = (numbers[0], numbers[1]);
        let (pixels, after) = rest[ends[3] + 1..].split_at(3 * numbers[0] as usize * numbers[1] as usize);
        rgba.push(pixels.as_chunks::<3>().0.iter().flat_map(|p| [p[0], p[1], p[2], 255]).collect());
        rest = after;
    }
    Frames { size, rgba, told: said(&output) }
}

fn picture(path: &Path) -> image::RgbaImage {
    image::open(path).unwrap().into_rgba8()
}

/// The largest share of a field of sight that flashes more than three times a second.
fn worst(film: &Frames, fps: u32) -> f32 {
    let mut flashes = Flashes::new(film.size, fps);
    film.rgba.iter().map(|rgba| flashes.take(&Light::of(rgba, film.size))).fold(0.0, f32::max)
}

#[test]
fn bundled_lessons_do_not_flash() {
    if !crate::cli::adapter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for story in orrery::story::bundled::STORIES {
        let board = orrery::story::Storyboard::parse(story.text, story.name).unwrap();
        if board.board.source.values().any(|source| source.trace.is_none()) {
            continue;
        }
        let name = format!("story:{}", story.name);
        let film =
            frames(folder.path(), &[&name, "--size", "240x136", "--text-scale", "0.75", "-r", "12", "--any-flashes"]);
        assert!(film.rgba.len() > 12 * 30, "{name}: {} frames", film.rgba.len());
        let share = worst(&film, 12);
        assert!(share <= LARGE, "{name}: {:.0} % of a field flashes", 100.0 * share);
        eprintln!("{name}: {} frames, {:.1} % of a field flashes", film.rgba.len(), 100.0 * share);
    }
}

/// A dot that fills the picture, and the ground beside it, ten times a second.
fn strobe(more: &str) -> String {
    let looks: Vec<String> = (1..40)
        .map(|n| {
            let camera = if n % 2 == 1 { "home of B[0][0] x 1000" } else { "1,1,1000" };
            format!("{{ at = {:.2}, camera = '{camera}', moves = 0 }}", f64::from(n) * 0.05)
        })
        .collect();
    format!(
        "title = 't'\n{more}\n[source.s]\ntrace = 'lesson:matmul16'\ncache = 'paper'\n[[scene]]\nsource = 's'\nfrom = 1\nseconds = 2\nfade = 0\n\
         hide = ['title', 'regions', 'caches', 'reference', 'legend', 'strip', 'labels', 'trails']\nlooks = [{}]\n",
        looks.join(", ")
    )
}

#[test]
fn what_flashes_is_held_unless_somebody_wants_it() {
    if !crate::cli::adapter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let put = |more: &str| fs::write(folder.path().join("f.story.toml"), strobe(more)).unwrap();
    let args = ["f.story.toml", "--size", "160x90", "-r", "20"];
    put("");
    let held = frames(folder.path(), &args);
    let share = worst(&held, 20);
    assert!(share <= LARGE, "{:.0} % of a field flashes", 100.0 * share);
    assert!(held.told.contains("frames go over slowly") && held.told.contains("--any-flashes"), "{}", held.told);
    let free = frames(folder.path(), &[&args[..], &["--any-flashes"]].concat());
    assert!(worst(&free, 20) > 0.9, "it does flash: {}", worst(&free, 20));
    assert!(!free.told.contains("slowly"), "{}", free.told);
    // The first three flashes are as they are.
    assert!(held.rgba[..6] == free.rgba[..6]);
    put("any_flashes = true");
    assert!(frames(folder.path(), &args).rgba == free.rgba, "the storyboard may say so too");
}

#[test]
fn a_transcript_has_a_still_of_each_scene() {
    if !crate::cli::adapter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "title = 'T'\n[source.s]\ntrace = 'lesson:matmul16'\ncache = 'paper'\n[[scene]]\ntitle = 'One'\nsource = 's'\nto = 33\n\
                seconds = 1\nbeside = [{ view = 'chart' }]\n[[scene]]\ncard = { title = 'The end' }\nseconds = 1\n";
    fs::write(folder.join("f.story.toml"), text).unwrap();
    let args = ["record", "f.story.toml", "--size", "320x180", "-r", "10", "--captions", "my words.md"];
    let output = orrery(folder, &[&args[..], &["-o", "f%02d.png", "--supersample", "2"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let transcript = fs::read_to_string(folder.join("my words.md")).unwrap();
    for part in [
        "## One\n\n00:00. s from reference 0 to 33, as rings, in 1.0 s. Beside it: s, as chart.\n",
        "![One, as it ends](<my words.stills/01.png>)",
        "\n*In the picture: 16×16 matrix multiply, reference 33 of 8,448. ",
        "## Scene 2\n\n00:01. Words alone, for 1.0 s.\n\n![Scene 2, as it ends](<my words.stills/02.png>)\n\nThe end\n",
    ] {
        assert!(transcript.contains(part), "{part}\n{transcript}");
    }
    let still = |n: u8| picture(&folder.join(format!("my words.stills/{n:02}.png")));
    let names: Vec<_> = fs::read_dir(folder.join("my words.stills")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let (one, two) = (still(1), still(2));
    assert_eq!((one.dimensions(), two.dimensions()), ((320, 180), (320, 180)));
    // The last frame of the scene is hidden, as the next one comes; the still is not.
    let light = |rgba: &[u8]| rgba.iter().map(|v| u64::from(*v)).sum::<u64>();
    let hidden = picture(&folder.join("f09.png"));
    assert!(light(&one) > light(&hidden) + 100_000, "{} {}", light(&one), light(&hidden));
    // Without a film there are words alone.
    fs::remove_dir_all(folder.join("my words.stills")).unwrap();
    let output = orrery(folder, &[&args[..], &["--dry-run"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert!(!folder.join("my words.stills").exists());
    assert!(!fs::read_to_string(folder.join("my words.md")).unwrap().contains("!["));
}

#[test]
fn captions_say_where_pictures_stand() {
    let folder = tempfile::tempdir().unwrap();
    for (size, [first, second]) in
        [("1280x720", ["on the left", "on the right"]), ("720x1280", ["at the top", "at the bottom"])]
    {
        for (story, start) in
            [("story:dirty-lines", "lines are written back"), ("story:why-columns-miss", "B is stored")]
        {
            let args = ["record", story, "--dry-run", "--size", size, "--captions", "c.vtt"];
            let output = orrery(folder.path(), &args);
            assert!(output.status.success(), "{}", said(&output));
            let told = fs::read_to_string(folder.path().join("c.vtt")).unwrap();
            let begins = first.replacen(&first[..1], &first[..1].to_uppercase(), 1);
            assert!(told.contains(&format!("{begins}, {start}")), "{story} {size}: {told}");
            assert!(told.contains(&format!("times {first}, and ")) && told.contains(second), "{story} {size}: {told}");
            assert_eq!(told.contains("left"), size == "1280x720", "{story} {size}: {told}");
        }
    }
}

#[test]
fn scenes_follow_each_other_as_they_say() {
    if !crate::cli::adapter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scene = |more: &str| {
        format!(
            "[[scene]]\nsource = 's'\nfrom = 300\nseconds = 1\nfade = 0\ntheme = 'x'\n[[scene]]\nfrom = 300\nseconds = 1\n{more}\n"
        )
        .replace("theme = 'x'\n", "")
    };
    let film = |more: &str| {
        let text = format!("title = 't'\n[source.s]\ntrace = 'lesson:matmul16'\ncache = 'paper'\n{}", scene(more));
        fs::write(folder.path().join("t.story.toml"), text).unwrap();
        frames(folder.path(), &["t.story.toml", "--size", "320x180", "-r", "20", "--theme", "print"])
    };
    // What is not the ground, in the left and the right half, and in the middle and at the rim.
    let parts = |film: &Frames, k: usize| -> [usize; 4] {
        let (width, height) = (film.size.0 as usize, film.size.1 as usize);
        let ground = &film.rgba[k][..3];
        let mut found = [0; 4];
        for (at, pixel) in film.rgba[k].chunks_exact(4).enumerate() {
            let (x, y) = (at % width, at / width);
            if pixel[..3].iter().zip(ground).all(|(a, b)| a.abs_diff(*b) < 3) {
                continue;
            }
            found[usize::from(2 * x >= width)] += 1;
            let away = (x.abs_diff(width / 2).pow(2) + y.abs_diff(height / 2).pow(2)).isqrt();
            found[if away < 45 { 2 } else { 3 }] += usize::from(!(45..100).contains(&away));
        }
        found
    };
    // Of 0.8 s, half are of the scene before: at frame 16 half of it is gone, at frame 24 half of the next is there.
    let cut = film("transition = 'cut'");
    assert!(cut.rgba[..40].iter().all(|frame| *frame == cut.rgba[0]), "the same all the time");
    let whole = parts(&cut, 16);
    assert!(whole.iter().all(|count| *count > 50), "{whole:?}");
    let fade = film("fade = 0.8");
    assert!(fade.rgba[11] == cut.rgba[11] && fade.rgba[16] != cut.rgba[16] && fade.rgba[28] == cut.rgba[28]);
    let wipe = film("transition = 'wipe'");
    let ([left, right, ..], [left_after, right_after, ..]) = (parts(&wipe, 16), parts(&wipe, 24));
    assert_eq!((left, right_after), (0, 0), "the ground comes from the left, and goes to the right");
    assert!(right > whole[1] * 9 / 10 && left_after > whole[0] * 9 / 10, "{right} {left_after} of {whole:?}");
    let iris = film("transition = 'iris'");
    for k in [16, 24] {
        let [_, _, middle, rim] = parts(&iris, k);
        assert!(middle > whole[2] * 9 / 10 && rim == 0, "{middle} {rim} of {whole:?}");
    }
}

#[test]
fn sizes_and_rates_are_those_that_a_format_has_or_the_line_is_told() {
    if !crate::cli::adapter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let record = |keys: &str, name: &str| {
        let text = format!("title = 't'\n{keys}\n[[scene]]\ncard = {{ title = 'c' }}\nseconds = 0.2\n");
        fs::write(folder.path().join("s.story.toml"), text).unwrap();
        orrery(folder.path(), &["record", "s.story.toml", "-o", name])
    };
    // H.264 has even sides: an odd one gets one pixel more.
    let output = record("size = '321x181'", "s.mp4");
    assert!(output.status.success(), "{}", said(&output));
    let movie = fs::read(folder.path().join("s.mp4")).unwrap();
    assert_eq!(crate::support::mp4::Movie::parse(&movie).size, (322, 182));
    let output = record("size = '321x181'", "s%d.png");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(picture(&folder.path().join("s0.png")).dimensions(), (321, 181));
    let output = record("fps = 120", "s.gif");
    let words = "s.story.toml:2: fps: 120 frames/s cannot be written to GIF: give 1 to 50";
    assert!(output.status.code() == Some(1) && said(&output).contains(words), "{}", said(&output));
}

/// What `fuzz/run.sh story` found, and what it begins with: an error that names the input, or a reel.
#[test]
fn every_storyboard_that_the_fuzzer_keeps_is_answered() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/story");
    let folder = tempfile::tempdir().unwrap();
    let (mut all, mut whole) = (0, 0);
    for file in fs::read_dir(corpus).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, folder.path().join("f.story.toml")).unwrap();
        let output = orrery(folder.path(), &["record", "f.story.toml", "--dry-run"]);
        let told = said(&output);
        assert!(output.status.success() || output.status.code() == Some(1), "{}: {told}", path.display());
        assert!(!told.contains("panicked"), "{}: {told}", path.display());
        assert!(output.status.success() || told.contains("f.story.toml"), "{}: {told}", path.display());
        all += 1;
        whole += usize::from(output.status.success());
    }
    assert!(whole > 0 && whole < all, "{whole} of {all}");
}
