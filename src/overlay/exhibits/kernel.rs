//! A view of a kernel that ran, as `orrery kernel -o` draws it: the playhead is a line among its rows, what is pointed at lights what
//! belongs to it in all panes, a click on an event goes there. The group is that of the location that is chosen.

use super::sheet::Sheet;
use super::{Exhibit, Gesture, Picture};
use crate::axis::Axis;
use crate::chart::kernel::{Focus, KernelView, Places, told, told_of_group};
use crate::chart::{At, Look};
use crate::kernel::{GroupRecord, KernelBook};
use crate::overlay::chart_plane::{Place, put};
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::palette::Theme;
use crate::scene::{Camera, View};
use crate::tasks::{Spot, TaskBook, TaskLook};
use crate::units::to_f32;
use egui::{Pos2, Rect, pos2};

/// Pixels of a unit, where type is not scaled.
const UNIT: f32 = 1.2;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Units that a view has at least, with a title and without: with less, nothing can be read.
const LEAST: [f64; 2] = [300.0, 200.0];
const LEAST_BARE: [f64; 2] = [280.0, 110.0];

/// Pixels of an em of a notice, where type is not scaled.
const EM: f32 = 14.5;

/// See the module.
pub struct KernelExhibit {
    view: KernelView,
    /// Of the picture that was taken last: what is where in it, in which group, and where it stands.
    places: Places,
    group: usize,
    place: Option<Place>,
    said: Vec<(Rect, String)>,
}

impl KernelExhibit {
    /// With one of the views.
    #[must_use]
    pub fn new(view: KernelView) -> Self {
        Self { view, places: Places::default(), group: 0, place: None, said: Vec::new() }
    }

    /// A pixel of the image view: what it holds at the end, and the last that the group does there.
    fn pixel(&self, kernel: &KernelBook, at: At) -> Option<Tip> {
        let (number, x, y) = self.places.pixel(kernel, at)?;
        let picture = kernel.pictures.get(number)?;
        let name = kernel.shared.get(picture.shared).map_or("", |shared| shared.name.as_str());
        let title = format!("{name}, column {x}, row {y}: {}", numbers(picture.pixel(x, y)));
        let group = record(kernel, self.group)?;
        let mut tip = Tip { title, ..Tip::default() };
        match self.places.find(kernel, group, at) {
            Some(Spot::Event { row, item }) => {
                let found = group.rows.get(row)?;
                tip.lines.extend(told(kernel, found, item));
                tip.about = Some(Target::Tick(row as u64));
            }
            _ => tip.lines.push(format!("group {} does nothing here", group.group)),
        }
        Some(tip)
    }

    /// A group in a map: what it costs; who clicks it looks at it.
    fn group(&self, kernel: &KernelBook, tasks: &TaskBook, at: At) -> Option<Tip> {
        let number = self.places.group(kernel, at)?;
        let (title, lines) = told_of_group(kernel, number);
        let about = tasks.location_named(&format!("group[{number}].warp[0]")).map(Target::Location);
        Some(Tip { title, lines, about, ..Tip::default() })
    }

    /// A place of the picture in units of the chart.
    fn at(&self, at: Pos2) -> Option<At> {
        let place = self.place?;
        let along = |to: f32, from: f32| f64::from((to - from) / place.unit);
        Some((along(at.x, place.corner.x), along(at.y, place.corner.y)))
    }
}

/// Numbers of a pixel in a tip.
fn numbers(pixel: &[f64]) -> String {
    pixel.iter().map(|number| format!("{}", to_f32(*number))).collect::<Vec<_>>().join(", ")
}

/// Which of the groups that are kept is looked at: that of the location that is chosen, or of the task.
fn group_of(kernel: &KernelBook, tasks: &TaskBook, look: &TaskLook) -> usize {
    let of_task = || look.task.map(|task| tasks.set().location_of(task));
    let Some(location) = look.location.or_else(of_task) else { return 0 };
    let name = tasks.set().locations().word(location);
    let number = name.strip_prefix("group[").and_then(|rest| rest.split(']').next()).and_then(|n| n.parse().ok());
    kernel.groups.iter().position(|record| Some(record.group) == number).unwrap_or(0)
}

/// The record of a group that is kept.
fn record(kernel: &KernelBook, group: usize) -> Option<&GroupRecord> {
    kernel.groups.get(group)
}

impl Exhibit for KernelExhibit {
    fn axis(&self, studio: &Studio) -> Axis {
        studio.axis()
    }

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
        let position = studio.axis().clamp(shot.position);
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let info = Info::of_tasks(studio, position);
        let (Some(kernel), Some(tasks)) = (studio.kernel(), studio.tasks()) else {
            let em = EM * layout.type_scale;
            let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
            sheet.notice(&["No kernel is shown here.", "`orrery FILE.wgsl` opens one."], 1.7);
            return Ok((Picture::Plane(sheet.plane), info));
        };
        let unit = UNIT * layout.type_scale * view.camera.zoom.max(1.0);
        let room = [sight.width(), sight.height()].map(|side| f64::from(side / unit));
        // Who has a title beside the others needs more room.
        let titled = matches!(self.view, KernelView::All | KernelView::Memory);
        let least = if titled { LEAST } else { LEAST_BARE };
        let size = [room[0].max(least[0]), room[1].max(least[1])];
        let look = Look { theme: Theme::Dark, size };
        // Less room than the least that can be read: the chart is as small as it must be.
        let unit = (0..2).map(|n| unit * to_f32(room[n] / look.size[n])).fold(unit, f32::min);
        self.group = group_of(kernel, tasks, &view.tasks);
        let focus = match (view.tasks.spot, record(kernel, self.group)) {
            (Some(spot), Some(record)) => Focus::on(kernel, record, spot),
            _ => Focus::default(),
        };
        let now = position.tick() as f64 + f64::from(position.phase());
        let drawing = match titled {
            true => self.view.draw(kernel, self.group, &focus, Some(now), look),
            false => self.view.draw_bare(kernel, self.group, &focus, Some(now), look),
        };
        let place = Place { corner: sight.min, unit };
        let mut plane = Plane { unit, ..Plane::default() };
        self.said = put(&mut plane, &drawing.chart, place, Theme::Dark, &view.colors);
        (self.places, self.place) = (drawing.places, Some(place));
        Ok((Picture::Plane(plane), info))
    }

    fn pick(&self, studio: &Studio, _: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        if let Some(tip) = studio.kernel().and_then(|kernel| self.pixel(kernel, self.at(at)?)) {
            return Some(tip);
        }
        if let (Some(kernel), Some(tasks), Some(at)) = (studio.kernel(), studio.tasks(), self.at(at))
            && let Some(tip) = self.group(kernel, tasks, at)
        {
            return Some(tip);
        }
        if let (Some(kernel), Some(Spot::Event { row, item })) = (studio.kernel(), self.spot(studio, at)) {
            let record = record(kernel, self.group)?;
            let found = record.rows.get(row).filter(|found| found.items.has(item));
            let about = Some(Target::Tick(row as u64));
            let Some(found) = found else {
                return Some(Tip { title: format!("item {item}: idle"), about, ..Tip::default() });
            };
            let [title, place] = told(kernel, found, item);
            let mut lines = vec![place];
            if let Some(used) = found.warps.iter().find(|used| used.warp == item / kernel.hardware.warp) {
                if used.degree > 1 {
                    lines.push(format!("{}-way bank conflict in its warp", used.degree));
                }
                if used.sectors > 0 {
                    lines.push(format!("{} sectors for its warp", used.sectors));
                }
            }
            return Some(Tip { title, lines, about, ..Tip::default() });
        }
        let (_, said) = self.said.iter().rfind(|(area, _)| area.contains(at))?;
        Some(Tip { title: said.clone(), ..Tip::default() })
    }

    fn spot(&self, studio: &Studio, at: Pos2) -> Option<Spot> {
        let kernel = studio.kernel()?;
        self.places.find(kernel, record(kernel, self.group)?, self.at(at)?)
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        match gesture {
            Gesture::Closer(factor, _) => Camera { zoom: (camera.zoom * factor).clamp(1.0, LARGEST), ..camera },
            Gesture::Wheel(by, _) => Camera { zoom: (camera.zoom * (by / 400.0).exp()).clamp(1.0, LARGEST), ..camera },
            Gesture::Drag(_) => camera,
            Gesture::Whole => Camera::default(),
        }
    }
}
