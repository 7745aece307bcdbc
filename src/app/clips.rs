//! "Record this": what the pane that keys are for shows, as a video made beside the window, and as a storyboard that makes it again.

use super::desk::Desk;
use super::indexing::{Load, Message, Report, Task};
use super::state::Flag;
use super::transport::PlayRange;
use crate::overlay::exhibits::{Arranged, ExhibitEntry};
use crate::overlay::{Parts, Stretch, Studio};
use crate::reference::SourceError;
use crate::scene::palette::Theme;
use crate::scene::palette::own::hex;
use crate::scene::view::CLOSEST;
use crate::scene::{Shade, View};
use crate::story::ClipStory;
use crate::timeline::{Clock, Life, Pace};
use crate::units::grouped;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A video that is asked for.
pub struct Clip {
    /// What the file is named after.
    pub stem: String,
    /// The trace, gone about in by nobody else.
    pub studio: Studio,
    /// What shows it.
    pub row: &'static ExhibitEntry,
    /// How it looks, and from where.
    pub view: View,
    /// The parts that are shown.
    pub parts: Parts,
    /// Width and height, pixels: both even.
    pub size: [u32; 2],
    /// Which references, how fast.
    pub pace: Pace,
    /// What part of the axis the strip shows, and pictures of tasks.
    pub stretch: Stretch,
    /// How it is coloured.
    pub theme: Theme,
    /// How many times as large as usual type is.
    pub text_scale: f32,
    /// How people arranged the rows of its exhibit.
    pub arranged: Arranged,
    /// The life of what is pinned.
    pub life: Option<Arc<Life>>,
    /// What a storyboard says of it, or why there is none.
    pub story: Result<ClipStory, String>,
}

/// Makes a video and reports: progress in frames, and words once it is there. Where a report gives `false`, it ends with what there is.
pub type RecordClip = Arc<dyn Fn(Clip, &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> + Send + Sync>;

/// Frames a second.
const FPS: u32 = 30;
/// Seconds that are recorded where nothing says up to where.
const SECONDS: f64 = 10.0;
/// Longest side: what the encoder and every player take.
const LONGEST: u32 = 3840;

/// The video under way.
pub(super) struct Recording {
    task: Task,
    /// What is recorded, in words.
    what: String,
    /// Frames done, and all.
    frames: (u64, u64),
}

impl Desk {
    /// The video of what the pane that keys are for shows, in a window of `size` pixels: between the in and out points, or from the
    /// playhead on for [`SECONDS`], at the speed of now. `None` where there is nothing to play.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(super) fn clip(&self, stem: &str, size: [u32; 2]) -> Result<Option<Clip>, SourceError> {
        let (pane, transport) = (self.pane(), &self.transport);
        let speed = transport.speed();
        let PlayRange { from, to } = transport.range();
        let (end, kind) = (transport.axis().end(), self.clock());
        let clock = Arc::new(self.studio().clock(kind));
        let start = from.unwrap_or(transport.position()).floor();
        let stop = to.unwrap_or_else(|| clock.ahead(start, speed * SECONDS)).min(end).ceil();
        if stop <= start || speed <= 0.0 {
            return Ok(None);
        }
        let shot = self.shot(pane);
        let pace = Pace { start: start.tick(), stop: stop.tick(), speed, fps: FPS, clock };
        let mut clip = Clip {
            stem: stem.to_owned(),
            row: pane.row(),
            // A pane hides its tables where there is no room; a picture as large as the window has it.
            parts: pane.still_parts(self.parts),
            view: View { camera: pane.camera(), ..self.session.view().clone() },
            size: even(size),
            pace,
            // The strip of a trace shows all of it, so that one sees where the video is.
            stretch: self.studio().tasks().map_or_else(Stretch::default, |_| self.session.stretch()),
            theme: self.theme,
            text_scale: self.text_scale,
            arranged: pane.arranged(),
            life: shot.life.clone(),
            studio: self.studio().another()?,
            story: Err(String::new()),
        };
        clip.story = self.clip_story(&clip, pane.shows_baseline());
        if pane.shows_baseline()
            && let Some(baseline) = clip.studio.take_baseline()
        {
            let own = baseline.shot(self.studio(), &shot);
            clip.view = View {
                shades: own.view.shades,
                colors: own.view.colors,
                order: own.view.order,
                pin: own.view.pin,
                ..clip.view
            };
            let [from, to] = [start, stop].map(|at| baseline.position(at));
            let other = baseline.into_studio();
            clip.pace.clock = Arc::new(Clock::new(kind, other.timeline()));
            (clip.pace.start, clip.pace.stop) = (from.tick(), to.ceil().tick().min(other.axis().len));
            clip.studio = other;
        }
        Ok((clip.pace.stop > clip.pace.start).then_some(clip))
    }
}

impl Desk {
    /// What a storyboard says of a clip.
    fn clip_story(&self, clip: &Clip, is_baseline: bool) -> Result<ClipStory, String> {
        let state = self.state_to_leave();
        if self.studio().tasks().is_some() {
            return Err("a storyboard shows references, and this is a file of tasks".into());
        }
        if is_baseline || self.studio().baseline().is_some() && clip.row.name == "compare" {
            return Err("a storyboard has sources of its own in place of what is compared here".into());
        }
        if state.trace.is_empty() || state.trace == "-" || !state.reading.is_empty() {
            return Err("a storyboard names a trace file of a format that is found by itself".into());
        }
        let (tables, view) = (self.studio().tables(), &clip.view);
        let shade = |region: usize| view.shades.get(region).copied().unwrap_or_default();
        let of = |wanted: Shade| -> Vec<String> {
            let named = tables.regions.iter().enumerate().filter(|(at, _)| shade(*at) == wanted);
            named.map(|(_, region)| region.name.clone()).collect()
        };
        let shown = [
            (clip.parts.title, "title"),
            (clip.parts.regions, "regions"),
            (clip.parts.caches, "caches"),
            (clip.parts.reference, "reference"),
            (clip.parts.legend, "legend"),
            (clip.parts.strip, "strip"),
            (clip.parts.labels, "labels"),
            (view.trails, "trails"),
            (view.ghosts, "ghosts"),
            (view.temperature, "temperature"),
        ];
        let camera = view.camera;
        let is_sound = camera.at.iter().all(|v| v.abs() <= 1.05) && (1.0..=CLOSEST).contains(&camera.zoom);
        Ok(ClipStory {
            title: if tables.title.is_empty() { clip.stem.clone() } else { tables.title.clone() },
            trace: state.trace,
            caches: self.caches_in_words(&state.caches),
            view: clip.row.name,
            camera: is_sound.then_some(camera),
            tail: view.tail,
            window: view.window,
            pin: state.pin,
            show: if of(Shade::Hidden).is_empty() { Vec::new() } else { of(Shade::Full) },
            dim: of(Shade::Dim),
            hide: shown.into_iter().filter(|(is_shown, _)| !is_shown).map(|(_, part)| part).collect(),
            strip: state.strip.to_string(),
            colors: self.own_colors(view),
            size: clip.size,
            theme: clip.theme.name(),
        })
    }

    /// Regions that have colours of their own, each name once.
    fn own_colors(&self, view: &View) -> Vec<(String, String)> {
        let regions = self.studio().tables().regions.iter().enumerate();
        let own = regions.filter_map(|(n, region)| Some((region.name.clone(), hex(view.colors.own(n)?))));
        // A key of TOML is one line.
        let own = own.filter(|(name, _)| !name.contains(['\n', '\r']));
        own.collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    /// Caches as a source of a storyboard says them: by the flags that they were asked for by, or in full.
    fn caches_in_words(&self, flags: &[Flag]) -> Vec<(&'static str, String)> {
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let keys = ["cache", "l1", "l2", "l3"];
        let key = |(flag, value): &Flag| -> Option<(&'static str, String)> {
            let name = flag.trim_start_matches('-');
            match (name, value) {
                ("cores", Some(cores)) => Some(("cores", cores.clone())),
                ("data-only", None) => Some(("data_only", "true".into())),
                (name, Some(value)) => Some((keys.into_iter().find(|key| *key == name)?, text(value))),
                _ => None,
            }
        };
        let changed = self.caches.as_ref().is_some_and(|card| card.edit.can()[0]);
        let said: Option<Vec<_>> = flags.iter().map(key).collect();
        said.filter(|_| !changed).unwrap_or_else(|| {
            let all = ("caches", text(&self.studio().timeline().config().to_toml()));
            let data_only = flags.iter().any(|(flag, _)| flag == "--data-only");
            std::iter::once(all).chain(data_only.then(|| ("data_only", "true".to_owned()))).collect()
        })
    }
}

impl Clip {
    /// What of the trace it will show, in words.
    fn what(&self) -> String {
        let Pace { start, stop, fps, .. } = self.pace;
        let seconds = self.pace.frames() as f64 / f64::from(fps);
        let [start, stop] = [start, stop].map(grouped);
        let name = self.row.name;
        format!("recording {name} from reference {start} to {stop}, {seconds:.1} s of video")
    }
}

/// The nearest size that videos can have.
fn even([width, height]: [u32; 2]) -> [u32; 2] {
    let most = width.max(height).max(1);
    let side = |side: u32| {
        let fitting = if most > LONGEST { u64::from(side) * u64::from(LONGEST) / u64::from(most) } else { side.into() };
        (u32::try_from(fitting).unwrap_or(LONGEST) & !1).max(64)
    };
    [side(width), side(height)]
}

impl Recording {
    /// Whether a message is about it.
    pub(super) fn told(&self, message: &Message) -> bool {
        self.task.told(message)
    }
}

/// Begins a video, or has the one under way end with what there is.
pub(super) fn turn(
    recording: &mut Option<Recording>,
    record: &RecordClip,
    desk: &mut Desk,
    name: &str,
    size: [u32; 2],
    post: impl Fn(Message) -> bool + Send + 'static,
    now: f64,
) {
    if let Some(recording) = recording {
        // Its words come with its end.
        recording.task.ends();
        return desk.say("the video ends here", now);
    }
    let stem = Path::new(name).file_stem().map_or_else(|| "orrery".into(), |stem| stem.to_string_lossy());
    let clip = match desk.clip(&stem, size) {
        Ok(Some(clip)) => clip,
        Ok(None) => return desk.say("there is nothing to record after this: go back, or set in and out points", now),
        Err(error) => return desk.say(error.to_string(), now),
    };
    let (frames, what, record) = (clip.pace.frames(), clip.what(), Arc::clone(record));
    let work: Load = Box::new(move |report| record(clip, report));
    match Task::begin("the video could not be made", work, post) {
        Ok(task) => {
            desk.say(format!("{what}; Ctrl + R ends it earlier"), now);
            *recording = Some(Recording { task, what, frames: (0, frames) });
        }
        Err(error) => desk.say(format!("the system has no thread to record on: {error}"), now),
    }
}

/// Takes what the video under way told. Whether anything else is to be drawn.
pub(super) fn take(recording: &mut Option<Recording>, said: anyhow::Result<Report>, desk: &mut Desk, now: f64) -> bool {
    let Some(of) = recording.as_mut() else { return false };
    match said {
        Ok(Report::Progress(done, all)) => {
            of.frames = (done, all);
            desk.say(format!("{}: frame {done} of {all}; Ctrl + R ends it", of.what), now);
        }
        Ok(Report::Words(words)) => {
            *recording = None;
            desk.say_for(words, 6.0, now);
        }
        Ok(_) => return false,
        Err(error) => {
            *recording = None;
            desk.say_for(format!("no video: {error:#}"), 8.0, now);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::desk::tests::desk;
    use crate::app::keys::Action;
    use crate::axis::Position;
    use crate::overlay::Shot;
    use crate::scene::Camera;
    use crate::story::{Reel, Storyboard, of_clip};
    use crate::timeline::ClockKind;

    #[test]
    fn its_storyboard_has_the_same_frames() {
        let mut desk = desk();
        desk.session.recolor(1, false);
        desk.asked.state.trace = "in memory.orrery".into();
        desk.asked.state.caches = vec![("--cache".into(), Some("paper".into())), ("--data-only".into(), None)];
        for (kind, speed, from, to) in [
            (ClockKind::References, 20.0, 100.5, None),
            (ClockKind::References, 7.3, 3.0, Some(11)),
            (ClockKind::References, 1e6, 0.0, Some(900)),
            (ClockKind::Adaptive, 3.0, 500.0, Some(530)),
        ] {
            desk.session.set_clock(kind, &mut desk.transport);
            desk.transport.set_speed(speed);
            desk.transport.jump(Position::of(from));
            desk.transport.set_range(PlayRange { from: None, to: to.map(Position::at) });
            desk.pane_mut().set_camera(Camera { at: [0.25, -0.5], zoom: 3.0 });
            let clip = desk.clip("t", [640, 400]).expect("in memory").expect("there is more");
            let text = of_clip(clip.story.as_ref().expect("it can be said"), &clip.pace);
            let board = Storyboard::parse(&text, "clip").expect(&text);
            let source = &board.board.source["trace"];
            assert_eq!((source.trace.as_deref(), source.cache.as_deref()), (Some("in memory.orrery"), Some("paper")));
            assert!(source.data_only);
            assert_eq!((board.board.size.as_deref(), board.board.fps), (Some("640x400"), Some(FPS)));
            let sources = vec![("trace".to_owned(), desk.studio().another().expect("in memory"))];
            let mut reel = Reel::new(&board, sources, clip.size, FPS).expect(&text);
            assert_eq!(reel.frames(), clip.pace.frames(), "{text}");
            let mut studio = desk.studio().another().expect("in memory");
            let mut exhibit = clip.row.open_arranged(&studio, clip.arranged.clone());
            for k in 0..reel.frames() {
                let frame = reel.frame(k).expect("in memory");
                let (own, other) = (frame.pictures[0].info.position, clip.pace.position(k));
                let apart = own.since(other.min(own)).max(other.since(own.min(other)));
                assert!(apart < 1e-6, "frame {k}: {own} and {other}\n{text}");
                // What is drawn is the same too: the exhibit, its camera, its trail.
                let (passed, view) = (clip.pace.passed(k), &clip.view);
                let [tail, window] = [view.tail, view.window].map(|all| all.max(passed));
                let view = View { speed: clip.pace.rate(k).1, tail, window, ..view.clone() };
                let shot = Shot::still(clip.size, own, view, clip.parts);
                let taken = shot.take(&mut studio, exhibit.as_mut()).expect("in memory");
                assert!(frame.pictures[0].picture == taken.picture, "frame {k} of {}\n{text}", clip.pace.frames());
                exhibit.reuse(taken.picture);
                reel.reuse(frame);
            }
        }
        desk.asked.state.trace = "-".into();
        let clip = desk.clip("t", [640, 400]).expect("in memory").expect("there is more");
        assert!(clip.story.is_err_and(|why| why.contains("names a trace file")));
    }

    #[test]
    fn a_clip_is_what_the_pane_shows_from_here_on_or_between_the_points() {
        let mut desk = desk();
        desk.transport.set_speed(20.0);
        desk.transport.jump(Position::of(100.5));
        let clip = desk.clip("t", [641, 481]).expect("in memory").expect("there is more");
        assert_eq!((clip.pace.start, clip.pace.stop, clip.size), (100, 300, [640, 480]), "ten seconds");
        assert_eq!((clip.row.name, clip.stem.as_str()), (desk.pane().row().name, "t"));
        assert_eq!(clip.what(), "recording rings from reference 100 to 300, 10.0 s of video");
        desk.apply(Action::Point(true), 0.0);
        desk.transport.jump(Position::at(150));
        desk.apply(Action::Point(false), 0.0);
        let clip = desk.clip("t", [10_000, 5_000]).expect("in memory").expect("there is more");
        assert_eq!((clip.pace.start, clip.pace.stop, clip.size), (100, 150, [3840, 1920]));
        desk.transport.set_range(PlayRange { from: None, to: None });
        desk.transport.follow();
        assert!(desk.clip("t", [64, 64]).expect("in memory").is_none(), "nothing comes after the end");
    }
}
