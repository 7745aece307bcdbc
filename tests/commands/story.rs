//! Storyboards as they are recorded: what captions say is what `stats` says, what is wrong is told with its line, programs are run only
//! where that is allowed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn orrery(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What `orrery stats --range` counts before a reference, by the values of storyboards.
fn counted(folder: &Path, trace: &[&str], from: u64, to: u64) -> BTreeMap<String, String> {
    let range = format!("{from}..{to}");
    let output = orrery(folder, &[&["stats"], trace, &["--range", &range, "--json"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut values = BTreeMap::new();
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    for level in json["levels"].as_array().unwrap() {
        let name = level["name"].as_str().unwrap();
        let (accesses, misses) = (number(&level["demand_accesses"]), number(&level["demand_misses"]));
        for (what, count) in [
            ("accesses", accesses),
            ("misses", misses),
            ("hits", accesses - misses),
            ("writebacks", number(&level["writebacks"])),
            ("evictions", number(&level["evictions"])),
        ] {
            values.insert(format!("{name}.{what}"), count.to_string());
        }
        values.insert(format!("{name}.miss_rate"), rate(misses, accesses));
        values.insert(format!("{name}.hit_rate"), rate(accesses - misses, accesses));
    }
    let innermost = json["levels"][0]["name"].as_str().unwrap().to_owned();
    for region in json["regions"].as_array().unwrap() {
        let (name, references) = (region["name"].as_str().unwrap(), number(&region["references"]));
        values.insert(format!("{name}.references"), references.to_string());
        for (level, misses) in region["misses"].as_object().unwrap() {
            let misses = number(misses);
            let mut put = |of: &str| {
                values.insert(format!("{of}.misses"), misses.to_string());
                values.insert(format!("{of}.miss_rate"), rate(misses, references));
            };
            put(&format!("{name}.{level}"));
            if *level == innermost {
                put(name);
            }
        }
    }
    for what in ["reads", "writes", "bytes_read", "bytes_written"] {
        values.insert(format!("memory.{what}"), number(&json["memory"][what]).to_string());
    }
    values
}

/// A share as captions have it, by a way of its own: tenths of a percent where there are few or nearly all.
fn rate(part: u64, of: u64) -> String {
    if of == 0 {
        return "–".into();
    }
    let thousandths = part as f64 * 1000.0 / of as f64;
    match part {
        _ if part == of => "100 %".into(),
        0 => "0 %".into(),
        _ if thousandths < 0.5 => "< 0.1 %".into(),
        _ if thousandths < 10.0 => format!("{:.1} %", thousandths / 10.0),
        _ if thousandths > 990.0 => format!("{:.1} %", thousandths.floor() / 10.0),
        _ => format!("{:.0} %", thousandths / 10.0),
    }
}

#[test]
fn values_in_captions_are_what_stats_says() {
    let folder = tempfile::tempdir().unwrap();
    let ends = [1u64, 33, 4000, 8448];
    let names: Vec<String> =
        counted(folder.path(), &["lesson:matmul16", "--cache", "paper"], 0, 8448).into_keys().collect();
    assert!(names.len() > 30, "{names:?}");
    let mut text = "title = 'all'\n[source.s]\ntrace = 'lesson:matmul16'\ncache = 'paper'\n".to_owned();
    for end in ends {
        // Few of them at a time: a caption has three lines.
        for few in names.chunks(4) {
            let values: String = few.iter().map(|name| format!("{{{name}}}={{scene.{name}}};")).collect();
            text.push_str(&format!(
                "[[scene]]\nsource = 's'\nfrom = 1\nto = {}\nseconds = 1\ncaption = '{values}'\n",
                end.max(2)
            ));
        }
    }
    fs::write(folder.path().join("all.story.toml"), text).unwrap();
    let output = orrery(folder.path(), &["record", "all.story.toml", "--dry-run", "--captions", "all.srt"]);
    assert!(output.status.success(), "{}", said(&output));
    let srt = fs::read_to_string(folder.path().join("all.srt")).unwrap();
    let lines: Vec<&str> = srt.lines().filter(|line| line.contains(';')).collect();
    let mut lines = lines.into_iter();
    for end in ends {
        let end = end.max(2);
        let trace = ["lesson:matmul16", "--cache", "paper"];
        // `stats` leaves regions out that nothing refers to.
        let full = |mut counts: BTreeMap<String, String>| {
            for name in &names {
                counts
                    .entry(name.clone())
                    .or_insert_with(|| if name.ends_with("rate") { "–".into() } else { "0".into() });
            }
            counts
        };
        let all = full(counted(folder.path(), &trace, 0, end));
        // What a scene counted is the difference of two counts, not what a part of the trace does to empty caches.
        let before = full(counted(folder.path(), &trace, 0, 1));
        for few in names.chunks(4) {
            let line = lines.next().unwrap().replace(',', "");
            for (name, told) in few.iter().zip(line.split(';')) {
                let (now, scene) = told.split_once('=').unwrap();
                assert_eq!(now, all[name], "{name} before reference {end}");
                if let (Ok(all), Ok(before)) = (all[name].parse::<u64>(), before[name].parse::<u64>()) {
                    assert_eq!(scene, (all - before).to_string(), "{name} from reference 1 to {end}");
                }
            }
        }
    }
    assert!(lines.next().is_none());
}

#[test]
fn captions_of_the_bundled_lessons_are_what_stats_says() {
    let folder = tempfile::tempdir().unwrap();
    let value = regex::Regex::new(r"\{([^{}]+)\}").unwrap();
    let mut checked = 0;
    for story in orrery::story::bundled::STORIES {
        let board = orrery::story::Storyboard::parse(story.text, story.name).unwrap();
        if board.board.source.values().any(|source| source.trace.is_none()) {
            continue;
        }
        let name = format!("story:{}", story.name);
        let output = orrery(folder.path(), &["record", &name, "--dry-run", "--captions", "c.srt"]);
        assert!(output.status.success(), "{name}: {}", said(&output));
        let srt = fs::read_to_string(folder.path().join("c.srt")).unwrap();
        let table = String::from_utf8(output.stdout).unwrap();
        let ends: Vec<Option<u64>> =
            table.lines().skip(1).map(|line| line.rsplit_once(" to ")?.1.parse().ok()).collect();
        let mut source = String::new();
        for (scene, end) in board.scenes().zip(ends) {
            source = scene.source.clone().unwrap_or(source);
            // The last caption of a scene goes at its end; pictures beside each other are elsewhere.
            let last = scene.caption.as_ref().or(scene.captions.last().map(|caption| &caption.text));
            let (Some(text), Some(end)) = (last, end) else { continue };
            let spec = &board.board.source[&source];
            let cache = spec.cache.as_deref().unwrap_or("paper");
            let caches = spec.l1.as_deref().map_or(["--cache", cache], |l1| ["--l1", l1]);
            let all = counted(folder.path(), &[spec.trace.as_deref().unwrap(), caches[0], caches[1]], 0, end);
            let (mut pattern, mut at) = (String::new(), 0);
            for found in value.captures_iter(text) {
                let place = found.get(0).unwrap();
                pattern.push_str(&regex::escape(&text[at..place.start()].replace(',', "")));
                at = place.end();
                let asked = &found[1];
                match all.get(asked) {
                    Some(value) => {
                        checked += 1;
                        pattern.push_str(&regex::escape(value));
                    }
                    None => pattern.push_str(".+?"),
                }
            }
            pattern.push_str(&regex::escape(&text[at..].replace(',', "")));
            let plain = srt.replace(',', "");
            let pattern = regex::Regex::new(&pattern).unwrap();
            assert!(pattern.is_match(&plain), "{name}, {}: {pattern}\n{srt}", scene.title);
        }
    }
    assert!(checked > 12, "{checked} values");
}

/// A storyboard of one scene.
fn one(scene: &str) -> String {
    format!("title = 't'\n[source.s]\ntrace = 'lesson:matmul16'\ncache = 'paper'\n[[scene]]\nsource = 's'\n{scene}\n")
}

/// A storyboard of a card, with a key of the whole file.
fn whole(key: &str) -> String {
    format!("title = 't'\n{key}\n[[scene]]\ncard = {{ title = 'c' }}\n")
}

#[test]
fn what_is_wrong_is_told_with_its_line_its_key_and_the_nearest_word() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in [
        (one("captoin = 'x'"), "w.story.toml:7: unknown key `captoin` (did you mean `caption`?)"),
        (
            one("caption = '{B.mises}'"),
            "w.story.toml:7: scene 1: caption: {B.mises}: found `mises` (did you mean `misses`?)",
        ),
        (one("caption = '{D.misses}'"), "{D.misses}: found `D`; expected one of L1, L2, A, B, C"),
        (one("caption = '{B.L3.misses}'"), "level: found `L3` (did you mean `L1`?)"),
        (one("caption = '{other:L1.misses}'"), "source: found `other`; expected one of s"),
        (one("caption = 'a } b'"), "found a `}` without its other one"),
        (one("to = 9000"), "w.story.toml:7: scene 1: to: found reference 9000; expected 0 to 8448"),
        (one("from = 20\nto = 10"), "w.story.toml:8: scene 1: to: found 10, before `from`, which is 20"),
        (one("from = 20\nto = 20"), "expected a range, or no `to` for a still"),
        (one("to = 'mark multply'"), "mark: found `multply`"),
        (one("to = 'miss 9 of Q'"), "region: found `Q`"),
        (one("to = 'miss 9000 of B'"), "found 4096 of them in the whole trace; expected a number of 1 to 4096"),
        (one("to = 'ende'"), "found `ende` (did you mean `end`?)"),
        (one("to = 10\nspeed = 2\nseconds = 3"), "found both `speed` and `seconds`"),
        (one("to = 10\nspeed = 0"), "speed: found 0; expected more than 0"),
        (one("to = 10\nseconds = 1e9"), "expected 0.03 to 14400 seconds"),
        (one("seconds = -1.0"), "seconds: found -1; expected 0 to 14400 seconds"),
        (one("view = 'ring'"), "view: found `ring` (did you mean `rings`?)"),
        (one("clock = 'cycle'"), "clock: found `cycle` (did you mean `cycles`?)"),
        (one("hide = ['legends']"), "hide: found `legends` (did you mean `legend`?)"),
        (one("camera = 'ring L4'"), "camera: level: found `L4`"),
        (one("camera = 'set 9 of L1'"), "found set 9; expected 0 to 1, as L1 has 2 sets"),
        (one("camera = 'B[99][0]'"), "there is no such element: the region is B[16][16]"),
        (one("camera = '5,0,2'"), "expected X,Y,ZOOM"),
        (
            one("labels = [{ of = 'B[0][0]', text = '\u{5d0}' }]"),
            "found `\u{5d0}` (U+05D0), of a script that is written from right to left",
        ),
        (
            one(&format!("caption = '{}'", "long words ".repeat(30))).replacen('\n', "\nsize = '480x270'\n", 1),
            "w.story.toml:8: scene 1: caption: found 5 lines in a picture 480 wide; expected 3 at most: make two of it",
        ),
        (
            one(&format!("caption = '{}'", "word ".repeat(900))),
            "w.story.toml:7: scene 1: caption: found 4500 letters; expected 3 lines at most: make two",
        ),
        (one("highlight = ['ring']"), "highlight: "),
        (one("show = ['Z']"), "show: found `Z`"),
        (one("pin = 'Z[0]'"), "pin: region: found `Z[0]`; expected one of A, B, C"),
        (
            one("transition = 'wip'"),
            "w.story.toml:7: scene 1: transition: found `wip` (did you mean `wipe`?); expected one of fade, cut",
        ),
        (
            one("transition = 'cut'\nfade = 1"),
            "transition: found `cut` beside `fade`; a cut takes no time: leave `fade` out",
        ),
        (one("looks = [{ at = nan, camera = 'whole' }]"), "looks: at: found NaN; expected 0 to 14400 seconds"),
        (one("caption = '{sid}'"), "{sid}: found `sid` (did you mean `side`?)"),
        (
            one(&format!("[scene.quiz]\nquestion = '{}'\nanswer = 'a'", "why ".repeat(900))),
            "w.story.toml:7: scene 1: quiz: found a question with its answer that has no room in a picture of 1280x720",
        ),
        (
            one(&format!("labels = [{{ of = 'B[0][0]', text = '{}' }}]", "here ".repeat(300))),
            "w.story.toml:7: scene 1: labels: found a label that has no room in a picture of 1280x720; expected a few words",
        ),
        (
            format!("title = 't'\n[[scene]]\ncard = {{ title = 'c', text = '{}' }}\n", "word ".repeat(900)),
            "w.story.toml:3: scene 1: card: found a card of 4501 letters that has no room in a picture of 1280x720; expected fewer",
        ),
        (
            "title = 't'\n[[scene]]\ncard = { title = '\u{2fffe}' }\n".into(),
            "w.story.toml:3: scene 1: card: found `\u{2fffe}` (U+2FFFE), which no font of this machine has; expected another letter",
        ),
        (
            one("[scene.quiz]\nquestion = '\u{2fffe}'\nanswer = 'a'"),
            "w.story.toml:7: scene 1: quiz: found `\u{2fffe}` (U+2FFFE), which no font of this machine has",
        ),
        (
            whole("size = '0x481'"),
            "w.story.toml:2: size: found `0x481`; expected WIDTHxHEIGHT in pixels, each 16 to 16384, such as 1280x720",
        ),
        (
            whole("size = '4000x4000'"),
            "w.story.toml:2: size: a picture of 4000x4000 cannot be written to MP4: its encoder takes 16x16 to 3840x2160",
        ),
        (whole("fps = 0"), "w.story.toml:2: fps: found 0; expected 1 to 120 frames a second"),
        (whole("fps = 1000000"), "w.story.toml:2: fps: found 1000000; expected 1 to 120 frames a second"),
        (whole("theme = 'drak'"), "w.story.toml:2: theme: found `drak` (did you mean `dark`?)"),
        (whole("colors = { Q = '#ffcc00' }"), "colors: found `Q`"),
        (whole("colors = { B = 'yellow' }"), "w.story.toml:2: colors: B: found `yellow`; expected a colour such as"),
        (whole("colors = { B = '#ee3812' }"), "colors: B: found `#ee3812`, which is nearly the red of a miss"),
        (one("beside = [{ }]"), "beside: found the same picture twice"),
        (
            one("beside = [{ source = 'twoo' }]").replacen(
                "[[scene]]",
                "[source.two]\ntrace = 'x.orrery'\n[[scene]]",
                1,
            ),
            "beside: found `twoo` (did you mean `two`?); expected one of s, two",
        ),
        (
            one("pin = 'temporay[3]'").replace("matmul16", "merge_sort"),
            "pin: region: found `temporay[3]` (did you mean `temporary[3]`?); expected one of A, temporary",
        ),
        (
            one("looks = [{ at = '0:04', camera = 'whole' }]"),
            "w.story.toml:7: at: found the text \"0:04\"; expected a number",
        ),
        (one("captions = 'x'"), "w.story.toml:7: captions: found the text \"x\"; expected a list in brackets"),
        (
            one("captions = [{ text = 'x', at = 40 }]"),
            "captions: found one at 40 s; expected times that rise, within the",
        ),
        (
            one("").replace("[[scene]]", "[scene]").replacen("[scene]", "[scene]\ntitle = 'a'\n[scene]", 1),
            "found a table twice; a list of tables has two brackets: [[scene]]",
        ),
        (one("").replace("'paper'", "'papers'"), "w.story.toml:4: source s: cache: papers: "),
        (
            format!("{}[[scene]]\ncard = {{ title = 'c', text = '{{B.misses}}' }}\n", one("")),
            "scene 2: card: found {B.misses} of s, and a card shows no moment of a trace; expected a value of a whole trace",
        ),
        (one("source2 = 's'"), "unknown key `source2` (did you mean `source`?)"),
        (
            one("[scene.quiz]\nquestion = 'q'\nanswer = 'a'\nright = 3\nchoices = ['x']"),
            "quiz: right: found 3; expected the number of a choice, 1 to 1",
        ),
        (
            one("[scene.quiz]\nquestion = 'q'\nanswer = 'a'\nright = 1"),
            "quiz: right: found 1; expected `choices` for it, such as",
        ),
        (
            one("seconds = 4\nlooks = [{ at = 5, camera = 'whole' }]\n[scene.quiz]\nquestion = 'q'\nanswer = 'a'"),
            "looks: at: found 5; expected a time within the 4.0 s of the scene",
        ),
        (one("show = ['A', 'Z']\nbeside = [{ view = 'source' }]"), "show: found `Z`"),
        (
            one("from = 0\nto = 30\nslow = [{ at = 400, speed = 1 }]"),
            "slow: at: found reference 400; expected one within the scene, which shows 0 to 30",
        ),
        (one("from = 0\nto = 30\nslow = [{ at = 9, speed = 0 }]"), "slow: speed: found 0; expected more than 0"),
        (
            one("seconds = 1").replacen("[[scene]]", "[colors]\nA = '#ffcc00'\nQ = '#33ccff'\n[[scene]]", 1),
            "w.story.toml:7: colors: found `Q`",
        ),
        (one("captions = [{ text = 'a', at = 9 }]"), "captions: found one at 9"),
        ("title = 't'\n".into(), "found 0 scenes; expected 1 to 1000"),
        (
            "title = 't'\n[[scene]]\nto = 3\n".into(),
            "w.story.toml:2: scene 1: source: found none; expected the name of a source",
        ),
        (
            "title = 't'\n[source.s]\ntrace = 'none.orrery'\n[[scene]]\nsource = 's'\n".into(),
            "w.story.toml:3: source s: trace: found no file none.orrery",
        ),
        (
            "title = 't'\n[source.s]\n[[scene]]\nsource = 's'\n".into(),
            "source s: trace: expected either `trace` or `program`",
        ),
        ("title = 't\n".into(), "w.story.toml:1: "),
    ] {
        fs::write(folder.path().join("w.story.toml"), &text).unwrap();
        let output = orrery(folder.path(), &["record", "w.story.toml", "-o", "w.mp4"]);
        assert_eq!(output.status.code(), Some(1), "{text}\n{}", said(&output));
        let told = said(&output);
        assert!(told.contains(words) && told.lines().count() == 1, "{text}\nwanted {words}\nfound {told}");
        assert!(!folder.path().join("w.mp4").exists());
    }
}

#[test]
fn flags_that_a_storyboard_says_itself_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (args, words) in [
        (&["story:blocks-stay", "--cache", "zen4"][..], "--cache: found a storyboard, which says this itself"),
        (&["story:blocks-stay", "--tail", "3"], "--tail: found a storyboard"),
        (&["story:blocks-stay", "--color", "A=#ffcc00"], "--color: found a storyboard"),
        (&["story:blocks-stay", "--seconds", "3"], "--seconds: found a storyboard"),
        (&["story:blocks-sty", "--dry-run"], "story:blocks-sty: found `blocks-sty` (did you mean `blocks-stay`?)"),
        (&["story:blocks-stay", "--scene", "99", "--dry-run"], "--scene 99: expected 1 to 7"),
        (
            &["story:blocks-stay", "--captions", "x.txt"],
            "--captions x.txt: expected a name that ends in .vtt, .srt or .md",
        ),
        (&["lesson:matmul16", "--dry-run"], "--dry-run: found lesson:matmul16; expected a storyboard"),
        (&["story:blocks-stay", "-r", "0"], "--output-framerate 0: expected 1 to 120 frames a second"),
    ] {
        let output = orrery(folder.path(), &[&["record", "-o", "x.mp4"], args].concat());
        assert!(output.status.code() == Some(2) && said(&output).contains(words), "{args:?}: {}", said(&output));
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn programs_run_only_where_that_is_allowed_and_only_so_long() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put(
        "ran.c",
        "#include <stdio.h>\nint a[64]; int main(void){ fclose(fopen(\"ran\", \"w\")); puts(\"noise\"); for (int i = 0; i < 64; i++) a[i] = i; return a[3] - 3; }\n",
    );
    put("ever.c", "volatile int a[64]; int main(void){ for (;;) a[3]++; }\n");
    put("fails.c", "volatile int a[64]; int main(void){ a[1] = 1; return 7; }\n");
    put("broken.c", "int main(void) { return nothing; }\n");
    let board = |program: &str| {
        format!("title = 't'\n[source.s]\nprogram = '{program}'\nlimit = 1.5\n[[scene]]\nsource = 's'\nto = 'end'\n")
    };
    let run = |program: &str, args: &[&str]| {
        put("p.story.toml", &board(program));
        orrery(folder.path(), &[&["record", "p.story.toml", "--dry-run"], args].concat())
    };
    let output = run("ran.c", &[]);
    assert!(output.status.code() == Some(2) && said(&output).contains("give --allow-run"), "{}", said(&output));
    assert!(!folder.path().join("ran").exists(), "nothing is run");
    let output = run("ran.c", &["--allow-run"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(folder.path().join("ran").exists());
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("references 0 to ") && !table.contains("noise"), "{table}");
    // What the compiler is given is said before it is asked, and given.
    put("size.c", "int a[N]; int main(void){ for (int i = 0; i < N; i++) a[i] = i; return N - 48; }\n");
    put("p.story.toml", &board("size.c").replace("limit", "flags = ['-DN=48', '-O2']\nlimit"));
    let asked = orrery(folder.path(), &["record", "p.story.toml", "--dry-run"]);
    assert!(said(&asked).contains("compile and run size.c, compiled with -DN=48 -O2;"), "{}", said(&asked));
    let output = orrery(folder.path(), &["record", "p.story.toml", "--dry-run", "--allow-run"]);
    assert!(output.status.success(), "{}", said(&output));
    for (program, words) in [
        (
            "fails.c",
            "p.story.toml:3: source s: program: found that it failed (exit status: 7); expected that it ends with 0",
        ),
        ("broken.c", "program: does not compile"),
        ("none.c", "found no file none.c; expected a source file beside the storyboard"),
        ("ran.txt", "found no file ran.txt"),
    ] {
        let output = run(program, &["--allow-run"]);
        assert!(output.status.code() == Some(1) && said(&output).contains(words), "{program}: {}", said(&output));
    }
    let begun = Instant::now();
    let output = run("ever.c", &["--allow-run"]);
    assert!(said(&output).contains("found that it runs longer than 1.5 s"), "{}", said(&output));
    assert!(begun.elapsed() < Duration::from_secs(60), "it is ended");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("orrery")), "{left:?}");
}

#[test]
fn a_storyboard_becomes_a_film_with_subtitles() {
    if !crate::cli::adapter() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = one(
        "to = 33\nseconds = 2\ncamera = 'ring L2'\nlabels = [{ of = 'B[1][0]', text = 'here' }]\nhighlight = ['set 0 of L1']\ncaption = '{B} has missed {B.misses} times'\n[[scene]]\ncard = { title = 'The end' }\nseconds = 1\n",
    );
    fs::write(folder.path().join("f.story.toml"), text).unwrap();
    let args = ["record", "f.story.toml", "--size", "320x180", "-r", "10", "--captions", "f.vtt", "--captions", "f.md"];
    let output = orrery(folder.path(), &[&args[..], &["-o", "f.mp4"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        fs::read_to_string(folder.path().join("f.vtt")).unwrap(),
        "WEBVTT - t\n\n1\n00:00:00.000 --> 00:00:02.000\nB has missed 16 times\n\n2\n00:00:02.000 --> 00:00:03.000\nThe end\n"
    );
    let transcript = fs::read_to_string(folder.path().join("f.md")).unwrap();
    assert!(
        transcript.starts_with("# t\n")
            && transcript.contains("*In the picture: 16×16 matrix multiply, reference 33 of 8,448."),
        "{transcript}"
    );
    let movie = fs::read(folder.path().join("f.mp4")).unwrap();
    let movie = crate::support::mp4::Movie::parse(&movie);
    assert_eq!((movie.samples.len(), movie.size), (30, (320, 180)));
    // The same frames again, one scene alone.
    for name in ["a", "b"] {
        let out = format!("{name}%02d.png");
        let output = orrery(folder.path(), &[&args[..6], &["--scene", "1", "-o", &out]].concat());
        assert!(output.status.success(), "{}", said(&output));
    }
    for n in 0..20 {
        let [a, b] = ["a", "b"].map(|name| fs::read(folder.path().join(format!("{name}{n:02}.png"))).unwrap());
        assert!(a == b, "frame {n} differs");
    }
    assert!(!folder.path().join("a20.png").exists());
}

/// The keys that the parser knows of a table, as it says itself of an unknown one.
fn keys(folder: &Path, text: &str) -> Vec<String> {
    fs::write(folder.join("k.story.toml"), text).unwrap();
    let told = said(&orrery(folder, &["record", "k.story.toml", "--dry-run"]));
    let list = told.split("expected one of ").nth(1).unwrap_or_else(|| panic!("{told}"));
    list.trim().split(", ").map(str::to_owned).collect()
}

#[test]
fn the_page_names_all_keys_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/storyboards.md")).unwrap();
    let section = |from: &str, to: &str| page.split(from).nth(1).unwrap().split(to).next().unwrap().to_owned();
    for (part, text) in [
        (section("## The whole file", "## Sources"), "title = 't'\nzzz = 1\n"),
        (section("## Sources", "## Scenes"), "title = 't'\n[source.s]\nzzz = 1\n"),
        (section("## Scenes", "**Places in"), "title = 't'\n[[scene]]\nzzz = 1\n"),
    ] {
        let cell = |line: &str| line.strip_prefix("| `").and_then(|rest| rest.split(" |").next()).map(str::to_owned);
        let mut named: Vec<String> = part
            .lines()
            .filter_map(cell)
            .flat_map(|cell| cell.split("`, `").map(|key| key.trim_matches('`').to_owned()).collect::<Vec<_>>())
            .map(|key| key.trim_matches(['[', ']']).split('.').next().unwrap_or_default().to_owned())
            .collect();
        let mut known = keys(folder.path(), text);
        named.sort();
        known.sort();
        assert_eq!(named, known);
    }
}

#[test]
fn a_storyboard_is_proposed_that_can_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    // Names with signs of our own, and a trace without marks, source lines or a title.
    let csv: String = (0..400).map(|n| format!("{},8,read\n", 4096 + 8 * (n * 7 % 256))).collect();
    fs::write(folder.path().join("odd {x}.csv"), format!("address,size,kind\n{csv}")).unwrap();
    for (trace, flags) in [
        ("lesson:merge_sort", &[][..]),
        ("lesson:mpm", &["--cache", "paper-x4"]),
        ("lesson:false_sharing", &[]),
        ("odd {x}.csv", &["--l1", "512,8,32", "--data-only"]),
    ] {
        let output = orrery(folder.path(), &[&["story", trace, "-o", "p.story.toml"], flags].concat());
        assert!(output.status.success(), "{trace}: {}", said(&output));
        let text = fs::read_to_string(folder.path().join("p.story.toml")).unwrap();
        let output = orrery(folder.path(), &["record", "p.story.toml", "--dry-run", "--captions", "p.srt"]);
        assert!(output.status.success(), "{trace}: {}\n{text}", said(&output));
        let told = fs::read_to_string(folder.path().join("p.srt")).unwrap();
        assert!(told.contains(" has missed ") && told.contains("In all") == text.contains("In all\n"), "{told}");
        let to_screen = orrery(folder.path(), &[&["story", trace], flags].concat());
        assert_eq!(String::from_utf8(to_screen.stdout).unwrap(), text, "the same on standard output");
    }
    for (args, words) in [
        (&["story", "-"][..], "expected a file, which the storyboard can name"),
        (&["story", "story:hash-join"], "found a storyboard; expected a trace"),
        (&["story", "lesson:mpm", "-o", "x.toml"], "expected a name that ends in .story.toml"),
    ] {
        let output = orrery(folder.path(), args);
        assert!(output.status.code() == Some(2) && said(&output).contains(words), "{args:?}: {}", said(&output));
    }
}
