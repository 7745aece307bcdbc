//! One pane: which exhibit, which camera, and the picture of it that was taken last.

use super::session::Session;
use super::transport::Transport;
use crate::axis::Position;
use crate::overlay::exhibits::{Arranged, Chosen, Exhibit, ExhibitEntry, Gesture};
use crate::overlay::pen::Target;
use crate::overlay::{Area, Baseline, Parts, Shot, Studio, Taken, Tip};
use crate::reference::SourceError;
use crate::render::Bar;
use crate::scene::{Camera, View};
use crate::tasks::Spot;
use egui::Pos2;

/// Where a pane stands in the window, points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Size of the window.
    pub window: [u32; 2],
    /// The pane's part of it.
    pub area: Area,
    /// Points at the pane's bottom that belong to the controls.
    pub reserved: u32,
    /// Whether the strip is a part of the pane's picture: it is, where the pane is the only one.
    pub strip: bool,
}

/// See the module.
pub struct Pane {
    row: &'static ExhibitEntry,
    exhibit: Box<dyn Exhibit>,
    camera: Camera,
    /// Where the camera is on its way to.
    travel: Option<Travel>,
    /// Title, tables and legend are shown.
    panels: bool,
    place: Place,
    /// It shows what the studio is compared with.
    baseline: bool,
    /// It does so as soon as there is that.
    wants_baseline: bool,
    drawn: Option<(Shot, Taken)>,
    /// Changes with every new picture.
    generation: u64,
    /// What lies under the words that were drawn last, points of the window.
    pub bars: Vec<Bar>,
}

/// A camera on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Travel {
    from: Camera,
    to: Camera,
    /// When it began, seconds; `None` = it has not.
    begun: Option<f64>,
}

/// Seconds that a camera travels.
const TRAVEL: f64 = 0.35;

/// Points of width and height that a picture has at least.
const LEAST: [u32; 2] = [120, 80];

/// Where a pane stands before it was in a window.
const NOWHERE: Place =
    Place { window: [1280, 720], area: Area { at: [0, 0], size: [1280, 720] }, reserved: 46, strip: true };

impl Pane {
    /// The exhibit of `row`, looked at by `camera`.
    #[must_use]
    pub fn new(row: &'static ExhibitEntry, camera: Camera, studio: &Studio) -> Self {
        let exhibit = (row.open)(studio);
        Self {
            row,
            exhibit,
            camera,
            travel: None,
            panels: true,
            place: NOWHERE,
            baseline: false,
            wants_baseline: false,
            drawn: None,
            generation: 0,
            bars: Vec::new(),
        }
    }

    /// The exhibit it shows.
    #[must_use]
    pub fn row(&self) -> &'static ExhibitEntry {
        self.row
    }

    /// Shows another exhibit, all of it.
    pub fn show(&mut self, row: &'static ExhibitEntry, studio: &Studio) {
        (self.row, self.camera, self.travel) = (row, Camera::default(), None);
        self.open(studio, Arranged::default());
    }

    /// Makes its exhibit anew, of another studio; its rows stay arranged as they are.
    pub fn reopen(&mut self, studio: &Studio) {
        self.open(studio, self.exhibit.arranged());
    }

    fn open(&mut self, studio: &Studio, arranged: Arranged) {
        self.baseline = self.wants_baseline && studio.baseline().is_some();
        self.exhibit = self.row.open_arranged(self.side(studio), arranged);
        self.drawn = None;
    }

    /// How people arranged the rows of its exhibit.
    #[must_use]
    pub fn arranged(&self) -> Arranged {
        self.exhibit.arranged()
    }

    /// The words of the command line that sort its exhibit as it is; none = as is usual.
    #[must_use]
    pub fn sort(&self) -> String {
        self.arranged().sort.and_then(|sort| sort.words(self.row.columns)).unwrap_or_default()
    }

    /// Sorts its exhibit as the command line says; where that is nothing that it can be sorted by, as is usual.
    pub fn set_sort(&mut self, words: &str) {
        let sort = self.row.sort(words).ok();
        self.exhibit.arrange(Arranged { sort, ..self.exhibit.arranged() });
        self.drawn = None;
    }

    /// Whether it shows what the studio is compared with.
    #[must_use]
    pub fn shows_baseline(&self) -> bool {
        self.baseline
    }

    /// Whether it does as soon as there is that.
    #[must_use]
    pub fn wants_baseline(&self) -> bool {
        self.wants_baseline
    }

    /// Shows the other machine, or this one again.
    pub fn turn_machine(&mut self, studio: &Studio) {
        self.wants_baseline = !self.baseline;
        self.reopen(studio);
    }

    /// Shows the other machine as soon as there is one.
    pub fn want_baseline(&mut self, studio: &Studio) {
        self.wants_baseline = true;
        self.reopen(studio);
    }

    /// What of a studio it shows.
    fn side<'a>(&self, studio: &'a Studio) -> &'a Studio {
        studio.baseline().filter(|_| self.baseline).map_or(studio, Baseline::studio)
    }

    /// Where it stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Says where it stands.
    pub fn put(&mut self, place: Place) {
        self.place = place;
    }

    /// Where the viewer looks, once the camera is there.
    #[must_use]
    pub fn camera(&self) -> Camera {
        self.travel.map_or(self.camera, |travel| travel.to)
    }

    /// Looks elsewhere, as a gesture says: at all of it after a while.
    pub fn look(&mut self, gesture: Gesture) {
        let Some((_, taken)) = &self.drawn else { return };
        let camera = self.exhibit.look(self.camera, gesture, taken);
        match gesture {
            Gesture::Whole => self.go(camera),
            _ => self.set_camera(camera),
        }
    }

    /// Looks from there.
    pub fn set_camera(&mut self, camera: Camera) {
        (self.camera, self.travel) = (camera, None);
    }

    /// Travels there.
    pub fn go(&mut self, camera: Camera) {
        let is_elsewhere = camera != self.camera;
        self.travel = is_elsewhere.then_some(Travel { from: self.camera, to: camera, begun: None });
    }

    /// Brings the camera to where it is at a time, in seconds; `calm`: to its end. Whether it is still on its way.
    pub fn travel(&mut self, now: f64, calm: bool) -> bool {
        let Some(travel) = &mut self.travel else { return false };
        let begun = *travel.begun.get_or_insert(now);
        let share = ((now - begun) / TRAVEL).clamp(0.0, 1.0);
        if calm || share >= 1.0 {
            self.set_camera(self.camera());
            return false;
        }
        let eased = crate::units::to_f32(share * share * (3.0 - 2.0 * share));
        self.camera = travel.from.towards(travel.to, eased, self.row.is_solid());
        true
    }

    /// Has the click on one of its words change what is looked at. Whether it did.
    pub fn choose(&mut self, session: &mut Session, transport: &Transport, target: Target) -> bool {
        let Target::Column(column, _) = target else { return false };
        let view = View { camera: self.camera(), ..session.look(transport) };
        match self.exhibit.choose(column, &view) {
            Some(Chosen::Look(look)) => session.look_at_solids(look),
            Some(Chosen::Camera(camera)) => self.go(camera),
            None => return false,
        }
        true
    }

    /// Hides title, tables and legend, or shows them.
    pub fn turn_panels(&mut self) {
        self.panels = !self.panels;
    }

    /// Of `parts`, those that it shows: the tables give way where they would lie on the rings.
    #[must_use]
    pub fn parts(&self, parts: Parts) -> Parts {
        let [width, height] = self.place.area.size;
        let parts = Parts { strip: parts.strip && self.place.strip, ..parts };
        self.chosen(parts, width >= 480 || height >= 420)
    }

    /// Of `parts`, those that a picture of its own has, which has room for all.
    #[must_use]
    pub fn still_parts(&self, parts: Parts) -> Parts {
        self.chosen(parts, true)
    }

    /// Of `parts`, those that are not hidden with the panels; without room, the panels are hidden at any rate.
    fn chosen(&self, parts: Parts, room: bool) -> Parts {
        if self.panels && room {
            return parts;
        }
        let Parts { strip, labels, .. } = parts;
        Parts { title: false, regions: false, caches: false, reference: false, legend: false, strip, labels }
    }

    /// The picture that it shows now. That of a pane smaller than a picture can be is larger than what is seen of it.
    #[must_use]
    pub fn shot(&self, session: &Session, transport: &Transport, parts: Parts) -> Shot {
        let Place { window, area: Area { at, size: [width, height] }, reserved, .. } = self.place;
        let area = Area { at, size: [width.max(LEAST[0]), height.max(LEAST[1])] };
        let view = View { camera: self.camera, ..session.look(transport) };
        let (position, playback) = (transport.position(), session.playback(transport));
        let answers = session.studio().answers_taken();
        // A life is one under the caches of now.
        let life = session.life().filter(|_| !self.baseline).cloned();
        Shot { position, view, parts: self.parts(parts), target: window, area, reserved, playback, life, answers }
    }

    /// References before the playhead that its exhibit needs one by one.
    #[must_use]
    pub fn history(&self, session: &Session, transport: &Transport) -> u64 {
        self.exhibit.history(&session.look(transport))
    }

    /// Takes `shot`, if it is another than was taken last. [`Pane::install`] shows it.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn take(&mut self, studio: &mut Studio, shot: Shot) -> Result<Option<(Shot, Taken)>, SourceError> {
        if self.drawn.as_ref().is_some_and(|(last, _)| *last == shot) {
            return Ok(None);
        }
        let (studio, own) = of_side(studio, self.baseline, &shot);
        let taken = own.as_ref().unwrap_or(&shot).take(studio, self.exhibit.as_mut())?;
        Ok(Some((shot, taken)))
    }

    /// What `draw` makes of its exhibit and of a shot for a picture of its own, with the strip and nothing reserved; the shot's target
    /// and area are still the window's.
    pub fn still<T>(
        &mut self,
        session: &mut Session,
        transport: &Transport,
        parts: Parts,
        draw: impl FnOnce(&mut Studio, &mut dyn Exhibit, Shot) -> T,
    ) -> T {
        let shot = Shot { reserved: 0, parts: self.still_parts(parts), ..self.shot(session, transport, parts) };
        let (studio, own) = of_side(session.studio_mut(), self.baseline, &shot);
        draw(studio, self.exhibit.as_mut(), own.unwrap_or(shot))
    }

    /// Has its exhibit do what was clicked: sort by a column, fold a function or a part, set a parameter. Whether that was it.
    pub fn arrange(&mut self, studio: &Studio, target: Target) -> bool {
        match target {
            Target::Column(column, _) => self.exhibit.sort(column),
            Target::Fold(line) => {
                let studio = self.side(studio);
                self.exhibit.fold(studio, line);
            }
            Target::Part(part) => self.exhibit.turn_part(part),
            Target::Parameter(number, value) => {
                let studio = self.side(studio);
                self.exhibit.set_parameter(studio, number, value);
            }
            _ => return false,
        }
        // The same shot gives another picture.
        self.drawn = None;
        true
    }

    /// Shows what was taken.
    pub fn install(&mut self, taken: (Shot, Taken)) {
        if let Some((_, last)) = self.drawn.replace(taken) {
            self.exhibit.reuse(last.picture);
        }
        self.generation += 1;
    }

    /// Takes what it shows, if anything, for the picture that `shot` asks for, until something else is asked for.
    pub fn stay(&mut self, shot: Shot) {
        if let Some((last, _)) = &mut self.drawn {
            *last = shot;
        }
    }

    /// What it shows.
    #[must_use]
    pub fn taken(&self) -> Option<&Taken> {
        self.drawn.as_ref().map(|(_, taken)| taken)
    }

    /// The position that it shows.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.drawn.as_ref().map(|(shot, _)| shot.position)
    }

    /// A number that changes with the picture: what it was uploaded for need not be uploaded again.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The numbers of what it shows as comma-separated values; empty where there are none.
    #[must_use]
    pub fn csv(&self, studio: &Studio) -> String {
        self.taken().map_or_else(String::new, |taken| self.exhibit.csv(self.side(studio), taken))
    }

    /// What of a kernel is at a point of the window.
    #[must_use]
    pub fn spot(&self, studio: &Studio, at: Pos2) -> Option<Spot> {
        self.taken()?;
        self.exhibit.spot(self.side(studio), at)
    }

    /// What is at a point of the window; a dot counts up to `reach` points from its centre.
    #[must_use]
    pub fn tip(&self, studio: &Studio, at: Pos2, reach: f32) -> Option<Tip> {
        self.exhibit.pick(self.side(studio), self.taken()?, at, reach)
    }
}

/// What a studio is compared with, where that is wanted and there, and its own shot; else the studio itself.
fn of_side<'a>(studio: &'a mut Studio, baseline: bool, shot: &Shot) -> (&'a mut Studio, Option<Shot>) {
    if baseline && studio.baseline().is_some() {
        let own = studio.baseline_shot(shot);
        return (studio.baseline_mut().expect("it is there"), Some(own));
    }
    (studio, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::arrangement::Arrangement;
    use crate::app::desk::tests::desk;
    use crate::overlay::exhibits::named;
    use crate::overlay::tests::studio;

    #[test]
    fn how_rows_are_sorted_outlives_the_exhibit_but_not_another_one() {
        let studio = studio();
        let row = |name| named(name).expect("there is one");
        let mut pane = Pane::new(row("regions"), Camera::default(), &studio);
        let heading = Target::Column(3, "references");
        let mut seen = Vec::new();
        for _ in 0..3 {
            pane.arrange(&studio, heading);
            let sort = pane.sort();
            pane.reopen(&studio);
            assert_eq!(pane.sort(), sort);
            seen.push(sort);
        }
        assert_eq!(seen, ["references", "references:back", ""]);
        pane.set_sort("Size:back");
        assert_eq!(pane.sort(), "size:back");
        pane.show(row("functions"), &studio);
        assert_eq!(pane.sort(), "");
        pane.set_sort("misses");
        assert_eq!(pane.sort(), "", "as is usual needs no words");
        pane.set_sort("misses:back");
        pane.show(row("regions"), &studio);
        assert_eq!(pane.sort(), "");
    }

    #[test]
    fn the_command_says_how_panes_are_sorted() {
        let mut desk = desk();
        let panes = Arrangement::parse(&["source/rings", "regions"]).expect("sound");
        desk.divide(&panes, Camera::default());
        assert!(!desk.command().expect("there is one").contains("--sort"));
        desk.sort_panes(&[String::new(), "size:back".into()]);
        let state = desk.state_to_leave();
        assert_eq!(state.sorts, ["", "size:back"]);
        assert!(state.command().contains(" --sort ,size:back"), "{}", state.command());
        desk.divide(&panes, Camera::default());
        assert!(desk.state_to_leave().sorts.is_empty());
        desk.take_up(&state);
        assert_eq!(desk.state_to_leave().sorts, ["", "size:back"]);
    }
}
