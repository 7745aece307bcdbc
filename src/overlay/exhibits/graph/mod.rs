//! The loops that references are computed from as a graph: arrays, loops and statements, and what moves between them, as expressions in
//! the parameters. What is done at the moment is framed; a click on a box goes to its first access.
//!
//! ```text
//! +-----------+------------------------------+
//! | title     | measures, scales             |
//! | - for t   |        A                     |
//! |   + for i |        |                     |
//! |   + for j |      for i, j                |
//! | small map | colours                      |
//! +-----------+------------------------------+
//! ```
//!
//! [`Camera::zoom`] gives the graph more room: parts that were folded are unfolded as far as their words can be read.
//! [`Camera::at`] counts ems from its upper left corner.

mod laid;
mod outline;
mod parameters;
mod signs;
#[cfg(test)]
mod tests;

use super::readings::{Readings, logged};
use super::sheet::Sheet;
use super::table::{Arranged, Column, Sort};
use super::{Exhibit, Gesture, Picture};
use crate::analysis::{GraphPart, HeatScale};
use crate::chart::NodeHeat;
use crate::overlay::chart_plane::{Place, put};
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::{Line, Plane, Words};
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::palette::{self, RegionColors, Theme};
use crate::scene::{Camera, View};
use egui::{Align2, Pos2, Rect, pos2, vec2};
use laid::{GraphRequest, LaidGraph};
use parameters::Parameters;
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the module.
pub struct GraphExhibit {
    readings: Readings,
    sort: Sort,
    /// Parts that somebody opened or closed.
    parts: BTreeMap<GraphPart, bool>,
    parameters: Parameters,
    laid: Option<LaidGraph>,
    /// Where the graph is seen, pixels of an em, and where the graph stands.
    seen: (Rect, f32, Option<Place>),
}

/// What colours of boxes tell, and how they are spread over the scale: each measure with each scale.
pub(super) const COLUMNS: [Column; 15] = [
    column("volume mean"),
    column("volume median"),
    column("volume histogram"),
    column("volume linear"),
    column("volume exponential"),
    column("operations mean"),
    column("operations median"),
    column("operations histogram"),
    column("operations linear"),
    column("operations exponential"),
    column("intensity mean"),
    column("intensity median"),
    column("intensity histogram"),
    column("intensity linear"),
    column("intensity exponential"),
];

const fn column(name: &'static str) -> Column {
    Column { name, width: 0.0, from: 0.0 }
}

const USUAL: Sort = Sort::BY_NAME;

/// Measure and scale of a column.
fn told(column: usize) -> (NodeHeat, HeatScale) {
    let scales = HeatScale::ALL.len();
    let measure = NodeHeat::ALL[(column / scales).min(NodeHeat::ALL.len() - 1)];
    (measure, HeatScale::ALL[column % scales])
}

/// Type, pixels, where it is not scaled.
const EM: f32 = 14.5;
/// How often as much room the graph has at most.
const CLOSEST: f32 = 16.0;
/// Ems around everything.
const MARGIN: f32 = 1.4;
/// Ems of width from which on there is an outline, and of that.
const WIDE: f32 = 60.0;
const OUTLINE: [f32; 2] = [15.0, 21.0];

impl GraphExhibit {
    /// For the trace of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        let readings = Readings::new(studio);
        Self {
            readings,
            sort: USUAL,
            parts: BTreeMap::new(),
            parameters: Parameters::default(),
            laid: None,
            seen: (Rect::NOTHING, 1.0, None),
        }
    }
}

impl Exhibit for GraphExhibit {
    fn history(&self, view: &View) -> u64 {
        logged(view)
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let info = self.readings.at(studio, shot, view)?.info;
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        self.seen = (Rect::NOTHING, em, None);
        let found = if studio.walk().is_some() { studio.volumes()? } else { None };
        let Some(own) = found else {
            self.laid = None;
            let failed = studio.volumes_failed().map(|why| format!("Nothing is known of the loops: {why}"));
            match (studio.walk(), &failed) {
                (None, _) => sheet.notice(&NOTHING, 1.6),
                (Some(_), Some(failed)) => sheet.notice(&[failed], 1.6),
                (Some(_), None) => sheet.notice(&["The loops are being read."], 1.6),
            }
            return Ok((Picture::Plane(sheet.plane), info));
        };
        let volumes = match studio.walk() {
            Some(walk) => self.parameters.volumes(walk, Arc::clone(&own)),
            None => Arc::clone(&own),
        };
        let inner = sight.shrink(MARGIN * em);
        let mut body = inner;
        let mut beside = None;
        if inner.width() / em >= WIDE {
            let wide = (0.24 * inner.width() / em).clamp(OUTLINE[0], OUTLINE[1]) * em;
            beside = Some(Rect { max: pos2(inner.left() + wide, inner.bottom()), ..inner });
            body.min.x += wide + 2.2 * em;
        }
        let column = self.sort.column().unwrap_or(0);
        let signs = signs::Signs { area: body, column, title: beside.is_none().then_some(info.title.as_str()) };
        body.min.y = signs.head(&mut sheet, &volumes);
        body.max.y = signs.foot(&sheet);
        let (heat, scale) = told(column);
        let wanted = GraphRequest {
            size: body.size(),
            zoom: view.camera.zoom.max(1.0),
            type_scale: layout.type_scale,
            heat,
            scale,
            parts: &self.parts,
        };
        let laid = match self.laid.take().filter(|laid| laid.is(&volumes, &wanted)) {
            Some(laid) => laid,
            None => LaidGraph::new(studio, volumes, &wanted),
        };
        signs.about(&mut sheet, &laid);
        signs.legend(&mut sheet, &laid.drawn.legend);
        let at = body.min - vec2(view.camera.at[0], view.camera.at[1]) * em;
        let place = Place { corner: at, unit: laid.unit };
        self.seen = (body, em, Some(place));
        let lit = laid.lit(studio, &info);
        let mut graph = Sheet { plane: Plane::default(), em, sight: body };
        put(&mut graph.plane, &laid.drawn.chart, place, Theme::Dark, &RegionColors::default());
        framed(&mut graph, &laid, &lit, place);
        signed(&mut graph.plane, &laid, place);
        self.pressed(&mut sheet.plane, &laid, place, body);
        sheet.plane.inset = Some(Box::new((body, graph.plane)));
        if let Some(area) = beside {
            outline::fill(&mut sheet, area, &info, (&laid, &self.parameters, &own), &lit, (view.camera, body));
        }
        self.laid = Some(laid);
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, _: &Studio, _: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let (body, _, Some(place)) = self.seen else { return None };
        let laid = self.laid.as_ref().filter(|_| body.contains(at))?;
        if let Some(node) = laid.node_at(place, at) {
            return Some(laid.tip(node));
        }
        let said = laid.edge_at(place, at)?;
        let (title, rest) = said.split_once(": ").unwrap_or((said, ""));
        let lines = rest.split("; ").filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Some(Tip { title: title.to_owned(), lines, ..Tip::default() })
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        let (body, em, _) = self.seen;
        super::sheet::look_around(camera, gesture, (body, em), CLOSEST)
    }

    fn arranged(&self) -> Arranged {
        let (parts, parameters) = (self.parts.clone(), self.parameters.set.clone());
        Arranged { parts, parameters, ..Arranged::sorted(self.sort, USUAL) }
    }

    fn arrange(&mut self, to: Arranged) {
        (self.sort, self.parts) = (to.sort.unwrap_or(USUAL), to.parts);
        self.parameters.set = to.parameters;
    }

    fn sort(&mut self, column: u8) {
        self.sort = Sort::first(column.into());
    }

    fn turn_part(&mut self, part: GraphPart) {
        if let Some(laid) = &self.laid {
            let open = laid.folding.is_open(part);
            self.parts.insert(part, !open);
        }
    }

    fn set_parameter(&mut self, studio: &Studio, number: u8, value: i64) {
        if let Some(own) = studio.walk().and_then(crate::nest::Walk::volumes_so_far) {
            self.parameters.choose(&own, number, value);
        }
    }

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        self.laid.as_ref().map_or_else(String::new, LaidGraph::csv)
    }
}

/// Said in place of a graph.
const NOTHING: [&str; 3] = [
    "This trace is made of no loops.",
    "The graph shows what loops move: files of loops (.loops), and graphs of DaCe (.sdfg).",
    "`orrery view loops:jacobi --panes graph,tiles` opens one.",
];

/// Frames round what is done at the moment, and the ways of what it moves.
fn framed(sheet: &mut Sheet, laid: &LaidGraph, lit: &[bool], place: Place) {
    let is_lit = |node: usize| lit.get(node).copied().unwrap_or(false);
    let ink = palette::LIGHT;
    for (edge, path) in laid.drawn.graph.edges.iter().zip(&laid.drawn.paths) {
        if is_lit(edge.from) && is_lit(edge.to) {
            let points = path.iter().map(|at| place.at(*at)).collect();
            sheet.plane.lines.push(Line { points, width: (0.9 * place.unit).max(1.0), color: palette::fade(ink, 0.9) });
        }
    }
    for (node, sides) in laid.drawn.boxes.iter().enumerate().filter(|(node, _)| is_lit(*node)) {
        let is_container = laid.drawn.graph.nodes.get(node).is_some_and(|node| node.container.is_some());
        let area = laid::area(place, sides).expand((if is_container { 1.2 } else { 2.0 }) * place.unit);
        sheet.frame(area, (if is_container { 0.8 } else { 1.6 }) * place.unit, ink);
    }
}

/// The signs that say which boxes are folded.
fn signed(plane: &mut Plane, laid: &LaidGraph, place: Place) {
    for (sign, node) in laid.drawn.signs.iter().zip(&laid.drawn.graph.nodes) {
        let Some((at, role)) = sign else { continue };
        plane.words.push(Words {
            at: place.at(*at),
            anchor: Align2::CENTER_CENTER,
            text: outline::SIGNS[usize::from(!node.is_folded)].into(),
            weight: Weight::SemiBold,
            size: 11.0 * place.unit,
            color: role.color(Theme::Dark),
            width: f32::INFINITY,
        });
    }
}

impl GraphExhibit {
    /// What of the graph can be pressed: boxes, and the signs in them.
    fn pressed(&self, plane: &mut Plane, laid: &LaidGraph, place: Place, body: Rect) {
        for (node, sides) in laid.drawn.boxes.iter().enumerate() {
            let area = laid::area(place, sides).intersect(body);
            if !area.is_positive() {
                continue;
            }
            if let Some(tick) = laid.first(node) {
                plane.rows.push((area, Target::Tick(tick)));
            }
            let (Some((at, _)), Some(part)) = (laid.drawn.signs[node], laid.drawn.graph.nodes[node].part) else {
                continue;
            };
            let sign = Rect::from_center_size(place.at(at), vec2(1.0, 1.0) * 12.0 * place.unit).intersect(area);
            if sign.is_positive() {
                // It lies over the box: it is asked first.
                plane.rows.push((sign, Target::Part(part)));
            }
        }
    }
}
