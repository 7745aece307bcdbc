//! A storyboard: any bytes are an error that names a place, or a reel whose frames can be made. Nothing is drawn, opened or run.

use orrery::overlay::Studio;
use orrery::sim::config::preset;
use orrery::story::{Reel, Storyboard, markdown, srt, webvtt};
use orrery::trace::synth::{MatmulOrder, matmul};
use std::cell::RefCell;
use std::sync::Arc;

/// Sources that are opened of one storyboard.
const SOURCES: usize = 4;

/// Frames up to which captions are looked at too: each takes a frame.
const MOST_CUES: usize = 64;

thread_local! {
    /// A multiply of two 8 by 8 matrices under the caches of the paper, for all sources.
    static STUDIO: RefCell<Studio> = RefCell::new({
        let config = preset("paper").expect("a preset").clone();
        let source = Arc::new(matmul(8, MatmulOrder::Standard));
        let hierarchy = orrery::sim::prepare(&config, &*source).expect("it fits");
        Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory")
    });
}

/// Follows an input: whether it was a storyboard, whether it was a reel, and whether captions were told too.
pub(crate) fn follow(data: &[u8]) -> [bool; 3] {
    let Ok(text) = std::str::from_utf8(data) else { return [false; 3] };
    let story = match Storyboard::parse(text, "input") {
        Ok(story) => story,
        Err(error) => {
            told(&error.to_string());
            return [false; 3];
        }
    };
    let another = || STUDIO.with(|studio| studio.borrow().another().expect("in memory"));
    let sources = story.board.source.keys().take(SOURCES).map(|name| (name.clone(), another())).collect();
    // What `orrery record` lets through of sizes and rates.
    let fps = story.board.fps.unwrap_or(30).clamp(1, 120);
    let size =
        if story.board.size.as_deref().is_some_and(|size| size.starts_with('7')) { [180, 320] } else { [640, 360] };
    let mut reel = match Reel::new(&story, sources, size, fps) {
        Ok(reel) => reel,
        Err(error) => {
            told(&error.to_string());
            return [true, false, false];
        }
    };
    let frames = reel.frames();
    assert!(frames > 0);
    for k in [0, frames / 3, frames / 2, frames - 1] {
        let frame = reel.frame(k).expect("in memory");
        reel.reuse(frame);
    }
    let captions = story.scenes().map(|scene| 3 + scene.captions.len()).sum::<usize>();
    if captions <= MOST_CUES {
        let (cues, scenes) = (reel.cues().expect("in memory"), reel.described().expect("in memory"));
        assert_eq!(scenes.len(), story.scenes().len());
        assert!(cues.iter().all(|cue| cue.end > cue.start && cue.scene < scenes.len()), "{cues:?}");
        let all = [webvtt("t", &cues), srt(&cues), markdown("t", "", &scenes, &cues, &[])];
        assert!(all.iter().all(|text| text.len() < 64 << 20));
    }
    [true, true, captions <= MOST_CUES]
}

/// An error names the input.
fn told(words: &str) {
    assert!(words.starts_with("input"), "{words}");
    assert!(words.len() < 64 << 10, "an error of {} bytes", words.len());
}
