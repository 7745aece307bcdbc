//! Storyboards with something changed in them: each is an error that names its file, or a reel whose frames can be made, and soon.
//! `fuzz/run.sh story` does the same with more cunning; this is what each run of the tests can afford. `STORY_CASES` says how many.

use crate::support::random::Lots;
use orrery::overlay::Studio;
use orrery::sim::config::preset;
use orrery::story::{Reel, Storyboard};
use orrery::trace::synth::{MatmulOrder, Rng, matmul};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Words that storyboards have, and words that they should not.
const WORDS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "2",
    "1e9",
    "nan",
    "inf",
    "0.001",
    "14400",
    "18446744073709551615",
    "true",
    "''",
    "'x'",
    "[]",
    "{}",
    "\u{d55c}",
    "'{'",
    "'{B.misses}'",
    "'{side}'",
    "'{a:L1.misses}'",
    "'follow'",
    "'follow B[0][0] x 1000'",
    "'home of A'",
    "'set 0 of L1'",
    "'miss 1 of B'",
    "'end'",
    "'start'",
    "'40 %'",
    "'share'",
    "'marks'",
    "'rings'",
    "'chart'",
    "'numbers'",
    "'source'",
    "'wipe'",
    "'cut'",
    "from",
    "to",
    "speed",
    "[[scene]]",
];

/// A storyboard with one to four of its lines, or words of them, changed, repeated, moved or taken out.
fn changed(text: &str, others: &[String], rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + rng.small(4) {
        let at = rng.small(lines.len() as u64) as usize;
        match rng.small(9) {
            0 => lines.insert(at, lines[at].clone()),
            1 if lines.len() > 1 => drop(lines.remove(at)),
            2 => lines.swap(at, 0),
            3 => {
                let other: Vec<&str> = others[rng.small(others.len() as u64) as usize].lines().collect();
                lines.insert(at, other[rng.small(other.len() as u64) as usize].to_owned());
            }
            4 => {
                // Any character goes, or comes.
                let mut signs: Vec<char> = lines[at].chars().collect();
                let place = rng.small(signs.len() as u64 + 1) as usize;
                if rng.percent(50) && place < signs.len() {
                    signs.remove(place);
                } else {
                    signs.insert(
                        place,
                        rng.one_of(&['{', '}', '"', '\'', '[', ']', '=', '9', '.', '\u{0}', '\u{4e00}', '-']),
                    );
                }
                lines[at] = signs.into_iter().collect();
            }
            _ => {
                // A value, or a word of one.
                let words: Vec<&str> = lines[at].split(' ').collect();
                let place = rng.small(words.len() as u64) as usize;
                let new = rng.one_of(&WORDS);
                lines[at] = words
                    .iter()
                    .enumerate()
                    .map(|(n, word)| if n == place { new } else { word })
                    .collect::<Vec<_>>()
                    .join(" ");
            }
        }
    }
    lines.join("\n")
}

#[test]
fn changed_storyboards_are_answered() {
    let cases: u64 = std::env::var("STORY_CASES").map_or(400, |cases| cases.parse().unwrap());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/story");
    let mut texts: Vec<String> = orrery::story::bundled::STORIES.iter().map(|story| story.text.to_owned()).collect();
    let mut files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    texts.extend(files.iter().map(|file| std::fs::read_to_string(file).unwrap()));
    let source = Arc::new(matmul(8, MatmulOrder::Standard));
    let hierarchy = orrery::sim::prepare(&preset("paper").unwrap(), &*source).unwrap();
    let studio = Studio::new(source, hierarchy, &mut |_, _| true).unwrap();
    let (mut parsed, mut reels, mut slowest) = (0, 0, Duration::ZERO);
    for case in 0..cases {
        let mut rng = Rng::new(case);
        let text = changed(one_of(&texts, &mut rng), &texts, &mut rng);
        let begun = Instant::now();
        let told = |words: String| {
            assert!(
                words.starts_with("input") && words.len() < 64 << 10 && words.lines().count() == 1,
                "{case}: {words}\n{text}"
            );
        };
        match Storyboard::parse(&text, "input") {
            Err(error) => told(error.to_string()),
            Ok(story) => {
                parsed += 1;
                let sources = story.board.source.keys().map(|name| (name.clone(), studio.another().unwrap())).collect();
                let size = if case % 3 == 0 { [360, 640] } else { [640, 360] };
                match Reel::new(&story, sources, size, 30) {
                    Err(error) => told(error.to_string()),
                    Ok(mut reel) => {
                        reels += 1;
                        let frames = reel.frames();
                        for k in [0, frames / 3, frames / 2, frames - 1] {
                            let frame = reel.frame(k).unwrap();
                            reel.reuse(frame);
                        }
                        let cues = reel.cues().unwrap();
                        assert!(cues.iter().all(|cue| cue.end > cue.start), "{case}: {cues:?}");
                        assert_eq!(reel.described().unwrap().len(), story.scenes().len());
                    }
                }
            }
        }
        slowest = slowest.max(begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(10), "{case} took {:?}\n{text}", begun.elapsed());
    }
    eprintln!("{cases} storyboards: {parsed} parsed, {reels} became reels, {slowest:?} the slowest");
    assert!(parsed > cases / 10 && reels > cases / 50 && reels < parsed, "{parsed} and {reels} of {cases}");
}

fn one_of<'a>(texts: &'a [String], rng: &mut Rng) -> &'a str {
    &texts[rng.small(texts.len() as u64) as usize]
}
