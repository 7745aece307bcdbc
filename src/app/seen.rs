//! The state of a window: taken from a [`Desk`], and shown by it again.

use super::arrangement::Arrangement;
use super::desk::Desk;
use super::state::{Flag, ViewState};
use crate::overlay::Baseline;
use crate::overlay::exhibits;
use crate::reference::{bytes_named, name_of_bytes};
use crate::scene::palette::Rgba;
use crate::scene::{Choice, Shade};
use crate::sim::config::HierarchyConfig;
use crate::timeline::StepBy;

/// Says by which flags the command line has these caches; `None` = by none, as they are in no file.
pub type Express = Box<dyn Fn(&HierarchyConfig) -> Option<Vec<Flag>>>;

/// What the window was opened with.
#[derive(Default)]
pub struct Asked {
    /// All of it.
    pub(super) state: ViewState,
    /// How caches that were changed in the window are asked for.
    express: Option<Express>,
    /// The speed that follows from the trace where none is asked for.
    usual: Option<f64>,
}

impl Asked {
    /// By the command line that says `state`; `express` says other caches.
    #[must_use]
    pub fn new(state: ViewState, express: Express) -> Self {
        Self { state, express: Some(express), usual: None }
    }
}

impl Desk {
    /// Takes what the window was opened with, once all of it is as asked.
    pub fn opened_with(&mut self, asked: Asked) {
        let usual = asked.state.speed.is_none().then(|| self.transport.speed());
        self.set_points(&asked.state);
        self.asked = Asked { usual, ..asked };
    }

    /// The command that shows what the window shows now.
    ///
    /// # Errors
    /// Words for people, where there is none: caches that are in no file.
    pub(super) fn command(&self) -> Result<String, String> {
        let caches = self.caches_now().ok_or(
            "these caches are in no file, so that no command has them: save them on their card (E), and copy again",
        )?;
        Ok(ViewState { caches, ..self.state_to_leave() }.command())
    }

    /// Flags of the caches that are shown.
    fn caches_now(&self) -> Option<Vec<Flag>> {
        // Who changed nothing, or took it back, has what was asked for.
        let changed = self.caches.as_ref().is_some_and(|card| card.edit.can()[0]);
        if !changed {
            return Some(self.asked.state.caches.clone());
        }
        self.asked.express.as_ref()?(self.studio().timeline().config())
    }

    /// What the window shows, under the caches that were asked for.
    pub(super) fn state_to_leave(&self) -> ViewState {
        let asked = self.asked.state.clone();
        let caches = self.caches_now().unwrap_or_else(|| asked.caches.clone());
        let (panes, camera) = self.panes_now();
        // What the layout says of panes and type needs no other words; without it, type is as large as it was.
        let layout = self.layout_now();
        let text_scale = if layout.is_some() { self.text_scale } else { self.type_size().clamp(0.75, 3.0) };
        let (speed, clock) = (self.transport.speed(), self.clock());
        let usual = self.asked.usual == Some(speed) && clock == asked.clock;
        ViewState {
            caches,
            layout,
            panes: if layout.is_some() { Vec::new() } else { panes },
            sorts: self.sorts_now(),
            text_scale,
            calm: self.session.calm(),
            camera,
            position: self.transport.position(),
            range: self.transport.range(),
            pin: self.pin_now(),
            loops: self.transport.loops(),
            clock,
            speed: (!usual).then_some(speed),
            tail: self.session.tail(),
            against: self.against_now(),
            in_step: self.in_step_now(),
            theme: self.theme,
            strip: self.session.strip_kind(),
            solids: self.session.solid_look().clone(),
            colors: self.colors_now(&asked),
            order: self.order_now(&asked),
            radii: self.session.radii(),
            ..self.regions_now(asked)
        }
    }

    /// What it is compared with, where that can be named.
    fn against_now(&self) -> Option<String> {
        self.against.as_ref().filter(|_| self.studio().baseline().is_some()).map(|(name, _)| name.clone())
    }

    /// What two traces were asked to go in step by.
    fn in_step_now(&self) -> Option<StepBy> {
        self.against.as_ref().filter(|_| self.studio().baseline().is_some_and(Baseline::is_trace))?.1.clone()
    }

    /// What is pinned: as it was named, as long as that is the same.
    fn pin_now(&self) -> Option<String> {
        let (bytes, regions) = (self.pinned()?, &self.studio().tables().regions);
        let asked = self.asked.state.pin.clone().filter(|words| bytes_named(regions, words) == Ok(bytes));
        Some(asked.unwrap_or_else(|| name_of_bytes(regions, bytes)))
    }

    /// How the panes that can be sorted are.
    fn sorts_now(&self) -> Vec<String> {
        let mut seen: Vec<_> = self.panes.seen().map(|(_, pane)| pane).collect();
        seen.sort_by_key(|pane| pane.place().area.at);
        let sortable = seen.into_iter().filter(|pane| !pane.row().columns.is_empty());
        let mut sorts: Vec<String> = sortable.map(|pane| pane.sort()).collect();
        sorts.truncate(sorts.iter().rposition(|words| !words.is_empty()).map_or(0, |last| last + 1));
        sorts
    }

    /// Sorts the panes as a state says; they were opened in the order in which it names them.
    pub(super) fn sort_panes(&mut self, sorts: &[String]) {
        let sortable = self.panes.iter_mut().filter(|pane| !pane.row().columns.is_empty());
        sortable.zip(sorts).for_each(|(pane, words)| pane.set_sort(words));
    }

    /// How the panes divide the window, and where the first one looks.
    fn panes_now(&self) -> (Vec<String>, crate::scene::Camera) {
        let mut seen: Vec<_> = self.panes.seen().map(|(_, pane)| pane).collect();
        seen.sort_by_key(|pane| pane.place().area.at);
        let sound = |pane: &&&super::pane::Pane| pane.camera().is_sound(pane.row().is_sheet());
        let camera = seen.first().filter(sound).map(|pane| pane.camera()).unwrap_or_default();
        let now = self.panes.arrangement().in_hundredths().texts();
        let asked = &self.asked.state;
        let as_asked = Arrangement::parse(&asked.panes).is_ok_and(|asked| asked.in_hundredths().texts() == now);
        let suited = asked.panes.is_empty() && now == [exhibits::suited(self.studio()).name];
        let panes = match (suited, as_asked) {
            (true, _) => Vec::new(),
            // In the shares that people said.
            (_, true) => asked.panes.clone(),
            _ => now,
        };
        (panes, camera)
    }

    /// The regions as they are seen now. Where all that are not hidden are dim, the command line cannot say which are hidden.
    fn regions_now(&self, asked: ViewState) -> ViewState {
        let regions = &self.studio().tables().regions;
        let shades = self.session.look(&self.transport).shades;
        if choice_of(&asked).shades(regions) == shades {
            return asked;
        }
        let mut names: [Vec<String>; 3] = Default::default();
        for (region, shade) in regions.iter().zip(shades.iter()) {
            let name = listed(&region.name);
            let of = &mut names[*shade as usize];
            if !name.is_empty() && !of.contains(&name) {
                of.push(name);
            }
        }
        let [full, dim, hidden] = names;
        let show = if hidden.is_empty() { Vec::new() } else { full };
        ViewState { show, dim, dim_rest: false, ..asked }
    }

    /// The colours that regions have now, by name.
    fn colors_now(&self, asked: &ViewState) -> Vec<(String, Rgba)> {
        let (regions, colors) = (&self.studio().tables().regions, &self.session.view().colors);
        if choice_of(asked).colors(regions) == *colors {
            return asked.colors.clone();
        }
        let mut given: Vec<(String, Rgba)> = Vec::new();
        for (n, region) in regions.iter().enumerate() {
            let name = listed(&region.name);
            if let Some(color) = colors.own(n).filter(|_| given.iter().all(|(other, _)| *other != name)) {
                given.push((name, color));
            }
        }
        given
    }

    /// The regions that stand first now, by name.
    fn order_now(&self, asked: &ViewState) -> Vec<String> {
        let (regions, order) = (&self.studio().tables().regions, &self.session.view().order);
        if choice_of(asked).order(regions) == *order {
            return asked.order.clone();
        }
        let mut names: Vec<String> = Vec::new();
        for name in order.first().iter().map(|&n| listed(&regions[n].name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Shows what a state says, but for its caches.
    pub(super) fn take_up(&mut self, state: &ViewState) {
        self.divide_as(state);
        self.set_clock(state.clock);
        if let Some(speed) = state.speed {
            self.transport.set_speed(speed);
        }
        self.session.set_tail(state.tail);
        self.theme = state.theme;
        self.session.set_strip_kind(state.strip);
        self.session.look_at_solids(state.solids.clone());
        self.session.set_calm(state.calm);
        self.session.set_radii(state.radii);
        self.choose(choice_of(state));
        self.pin(None);
        if let Some(words) = &state.pin {
            self.pin_named(words, 0.0);
        }
        self.set_points(state);
        self.transport.jump(state.position);
    }

    /// Divides the window and sizes type as a state says.
    pub(super) fn divide_as(&mut self, state: &ViewState) {
        let said = Arrangement::parse(&state.panes).unwrap_or_default();
        let panes = state.layout.map_or(said, |layout| layout.panes(self.studio()));
        self.divide(&panes, state.camera);
        self.sort_panes(&state.sorts);
        (self.layout, self.text_scale) = (state.layout, state.text_scale);
    }

    /// Sets in and out points and the loop.
    fn set_points(&mut self, state: &ViewState) {
        self.transport.set_range(state.range);
        if self.transport.loops() != state.loops {
            self.transport.turn_loop();
        }
    }

    /// Has the command that shows this copied, and says so.
    pub(super) fn copy_command(&mut self, now: f64) {
        match self.command() {
            Ok(command) => {
                self.say(format!("copied: {command}"), now);
                self.copied = Some(command);
            }
            Err(words) => self.say(words, now),
        }
    }
}

/// A name as lists have it, which are parted by commas: any sign stands for one in a name.
fn listed(name: &str) -> String {
    name.replace(',', "?")
}

/// The choice of regions that a state says.
fn choice_of(state: &ViewState) -> Choice {
    let rest = if state.dim_rest && state.dim.is_empty() { Shade::Dim } else { Shade::Hidden };
    let colors = state.colors.iter().map(|(name, color)| (name.clone(), Some(*color))).collect();
    let (show, dim, order) = (state.show.clone(), state.dim.clone(), state.order.clone());
    Choice { show, dim, rest, colors, order, ..Choice::default() }
}
