//! Tasks of a simulated machine (Daisen, 2021): charts of all its locations, the tasks of one as bars, one task with all it is a part
//! of and all that are its parts; and the three in one picture. All of them are of what the strip shows and of what is chosen
//! ([`TaskLook`](crate::tasks::TaskLook)).
//!
//! ```text
//!  tasks                                 alone, or in panes of their own
//!  +------------------+---------------+
//!  | overview         | task          |  overview    a chart for each location
//!  |                  |               |  component   bars of one location
//!  +------------------+---------------+  task        from the outermost task to the parts of one
//!  | component        | chosen, waits |  topology    who asks whom (alone)
//!  +------------------+---------------+
//! ```

mod beside;
mod component;
mod machine;
mod overview;
mod scope;
#[cfg(test)]
mod tests;
mod topology;
mod tree;
mod waits;

use super::sheet::{Sheet, scroll_bar};
use super::{Exhibit, Gesture, Picture};
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::{Camera, View};
use crate::tasks::blocking::{blocking, by_kind};
use component::Lanes;
use egui::{Pos2, Rect, pos2};
pub use machine::MachineExhibit;
use overview::Charts;
use scope::Scope;
use waits::Waits;

/// What a picture of tasks shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskView {
    /// All of it.
    All,
    /// A chart for each location.
    Overview,
    /// The tasks of one location.
    Component,
    /// One task in the tree.
    Task,
    /// Who asks whom.
    Topology,
}

/// See the module.
pub struct TaskExhibit {
    view: TaskView,
    charts: Charts,
    lanes: Lanes,
    /// Stacked, of the location whose tasks are bars.
    stack: Waits,
    /// What was waited for, and how often.
    waits: Option<Vec<(String, u64)>>,
}

/// Type, pixels, where type is not scaled: of all in one picture, and of one alone.
const EM: [f32; 2] = [12.5, 14.0];
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 3.0;
/// Ems around what is shown.
const MARGIN: f32 = 1.6;
/// Widths below which all in one picture has one column.
const NARROW: f32 = 560.0;

impl TaskExhibit {
    /// To show this of the tasks of a studio.
    #[must_use]
    pub fn new(view: TaskView) -> Self {
        Self { view, charts: Charts::default(), lanes: Lanes::default(), stack: Waits::default(), waits: None }
    }

    fn all(&mut self, sheet: &mut Sheet, scope: &Scope<'_>, body: Rect) {
        let em = scope.em;
        let body = scope::title(sheet, scope, body);
        if body.width() < NARROW {
            let middle = body.top() + 0.45 * body.height();
            self.charts.draw(sheet, scope, Rect { max: pos2(body.right(), middle), ..body }, 0.0);
            component::draw(
                sheet,
                scope,
                (&mut self.lanes, &mut self.stack),
                Rect { min: pos2(body.left(), middle + em), ..body },
                0.0,
            );
            return;
        }
        let across = body.left() + 0.455 * body.width();
        let down = body.top() + 0.64 * body.height();
        let left = Rect { max: pos2(across - 1.1 * em, body.bottom()), ..body };
        let right = Rect { min: pos2(across + 1.1 * em, body.top()), ..body };
        self.charts.draw(sheet, scope, Rect { max: pos2(left.right(), down - 0.8 * em), ..left }, 0.0);
        component::draw(
            sheet,
            scope,
            (&mut self.lanes, &mut self.stack),
            Rect { min: pos2(left.left(), down), ..left },
            0.0,
        );
        let foot = beside::height(scope).min(0.52 * right.height());
        let middle = right.bottom() - foot;
        tree::draw(sheet, scope, Rect { max: pos2(right.right(), middle - 1.2 * em), ..right }, 0.0, false);
        let set = scope.book.set();
        let waits = self.waits.get_or_insert_with(|| by_kind(set, &blocking(set)));
        beside::draw(sheet, scope, waits, Rect { min: pos2(right.left(), middle), ..right });
    }
}

impl Exhibit for TaskExhibit {
    fn history(&self, _: &View) -> u64 {
        0
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let info = Info::of_tasks(studio, studio.axis().clamp(shot.position));
        let alone = self.view != TaskView::All;
        let em = EM[usize::from(alone)] * layout.type_scale * view.camera.zoom;
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        let Some(book) = studio.tasks().cloned() else {
            sheet.notice(&["there are no tasks", "a file of tasks has them: orrery FILE.sqlite3"], 1.8);
            return Ok((Picture::Plane(sheet.plane), info));
        };
        sheet.plane.zooms = true;
        let scope = Scope::new(&book, &view.tasks, shot, em);
        if book.set().is_empty() {
            sheet.notice(&["the file has no tasks"], 1.8);
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let body = sight.shrink(MARGIN * em);
        let down = view.camera.at[1].max(0.0);
        let depth = match self.view {
            TaskView::All => {
                self.all(&mut sheet, &scope, body);
                0.0
            }
            TaskView::Overview => self.charts.draw(&mut sheet, &scope, body, down),
            TaskView::Component => component::draw(&mut sheet, &scope, (&mut self.lanes, &mut self.stack), body, down),
            TaskView::Task => tree::draw(&mut sheet, &scope, body, down, true),
            TaskView::Topology => {
                topology::draw(&mut sheet, &scope, body);
                0.0
            }
        };
        (sheet.plane.depth, sheet.plane.down) = (depth, down.min(depth));
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, sight, em, down.min(depth));
        }
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        let book = studio.tasks()?;
        // What was drawn last lies on top.
        let target = plane.rows.iter().rev().find(|(area, _)| area.contains(at))?.1;
        match target {
            Target::Task(task) => Some(beside::tip(book, task)),
            Target::Location(location) => Some(overview::tip(book, location)),
            _ => None,
        }
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look_from_top(camera, gesture, taken, LARGEST)
    }

    fn csv(&self, studio: &Studio, taken: &Taken) -> String {
        studio.tasks().map_or_else(String::new, |book| overview::csv(book, taken))
    }
}
