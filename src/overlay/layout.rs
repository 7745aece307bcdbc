//! Where things stand in a picture of any size: rings in the centre, tables beside or below, the strip along the bottom.
//!
//! ```text
//! wide (aspect 1.35 and up)          upright or square
//! +------+---------------+------+    +---------------+
//! | title|               | ref. |    | title         |
//! | table|     rings     | why  |    |     rings     |
//! |      |               |legend|    | tables   ref. |
//! +------+---------------+------+    +---------------+
//! |            strip            |    |     strip     |
//! +-----------------------------+    +---------------+
//! ```

use crate::render::Viewport;
use crate::scene::Camera;
use egui::{Pos2, Rect, pos2, vec2};

/// A rectangle of whole pixels (in a window: points) in a larger picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Left and upper edge.
    pub at: [u32; 2],
    /// Width and height.
    pub size: [u32; 2],
}

impl Area {
    /// All of a picture of `size`.
    #[must_use]
    pub fn whole(size: [u32; 2]) -> Self {
        Self { at: [0, 0], size }
    }

    /// As egui has it.
    #[must_use]
    pub fn rect(&self) -> Rect {
        let [x, y] = self.at.map(|v| v as f32);
        let [w, h] = self.size.map(|v| v as f32);
        Rect::from_min_size(pos2(x, y), vec2(w, h))
    }

    /// The whole pixels nearest to a rectangle; what of it lies left of or above the picture is cut off.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and 0 or more; saturates")]
    pub fn near(rect: Rect) -> Self {
        let [left, top, right, bottom] =
            [rect.left(), rect.top(), rect.right(), rect.bottom()].map(|side| side.round().max(0.0) as u32);
        Self { at: [left, top], size: [right.saturating_sub(left), bottom.saturating_sub(top)] }
    }
}

/// Which parts are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one part that can be hidden by name")]
pub struct Parts {
    /// Title and subtitle.
    pub title: bool,
    /// Table of regions.
    pub regions: bool,
    /// Table of caches.
    pub caches: bool,
    /// The reference under way.
    pub reference: bool,
    /// Legend.
    pub legend: bool,
    /// Miss strip.
    pub strip: bool,
    /// Labels on the rings.
    pub labels: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { title: true, regions: true, caches: true, reference: true, legend: true, strip: true, labels: true }
    }
}

/// The rings' radius, of the picture's smaller side, at least.
const LEAST: f32 = 0.24;

/// Pixels between the rim and a column beside it, at least.
const GAP: f32 = 6.0;

/// Points of type that the names round the rings take outside the rim.
const NAMES: f32 = 22.0;

/// Rectangles in pixels, and the size of type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Pixels for one point of type: 1 in a picture 720 high, more than half in one half as high, so that it stays legible.
    pub type_scale: f32,
    /// Little room: tables drop their second columns, the legend is left out.
    pub compact: bool,
    /// All of the picture, with what is reserved at its bottom.
    pub area: Rect,
    /// Upper left of title and tables.
    pub left: Rect,
    /// Tables in an upright picture, below the rings; equal to `left` otherwise.
    pub tables: Rect,
    /// The reference and legend.
    pub right: Rect,
    /// The strip.
    pub strip: Rect,
    /// The rings.
    pub viewport: Viewport,
    /// A camera looks closer: the rings may reach under words.
    pub close: bool,
    /// How far the picture reaches from the rings' centre in the whole picture, along x and y, world units: `View::reach`.
    pub reach: [f32; 2],
}

impl Layout {
    /// For a picture of `width` x `height` pixels. `reserved` pixels at the bottom belong to somebody else (a tool bar).
    #[must_use]
    pub fn new(width: u32, height: u32, reserved: f32, parts: &Parts) -> Self {
        let (w, h) = (width as f32, height as f32 - reserved);
        let scale = (h / 720.0).min(w / 960.0);
        let type_scale = if scale < 1.0 { 0.6 + 0.4 * scale } else { scale }.max(0.7);
        // A small picture has no room for tables below the rings.
        let wide = w / h >= if h < 420.0 { 1.2 } else { 1.35 };
        // Below 16:10 full columns would reach under the rings.
        let narrow = wide && w / h < 1.59;
        let compact = scale < 0.75 || narrow;
        let margin = if scale < 0.75 { 10.0 } else { 28.0 * scale };
        let strip_height = if parts.strip { 62.0 * type_scale } else { 0.0 };
        let strip = Rect::from_min_max(pos2(margin, h - strip_height), pos2(w - margin, h));
        let body = h - strip_height;
        let column = if compact { 168.0 } else { 228.0 } * type_scale;
        let (left, tables, right, center, radius);
        if wide {
            left = Rect::from_min_size(pos2(margin, margin), vec2(column, body - margin));
            tables = left;
            right = Rect::from_min_size(
                pos2(w - margin - column * if compact { 1.06 } else { 1.1 }, margin),
                vec2(column * if compact { 1.06 } else { 1.1 }, body - margin),
            );
            // The rings stay between the columns that are there: in the middle of the picture where they fit, else in the
            // middle of what is left.
            let tables = parts.title || parts.regions || parts.caches;
            let from = if tables { left.right() + GAP } else { margin };
            let to = if parts.reference || parts.legend { right.left() - GAP } else { w - margin };
            let room = 0.5 * (to - from);
            // In a picture too small for both, the rings reach under the words rather than vanish.
            radius = (0.5 * body - 0.4 * margin.max(14.0)).min(room.max(LEAST * w.min(h)));
            let x = if radius < room { (0.5 * w).clamp(from + radius, to - radius) } else { 0.5 * (from + to) };
            center = pos2(x, 0.5 * body + 2.0);
        } else {
            let head = if parts.title { 58.0 * type_scale + margin } else { margin };
            let lists = parts.regions || parts.caches || parts.reference;
            let foot = if lists { (225.0 * type_scale).min(0.45 * body) } else { margin };
            left = Rect::from_min_size(pos2(margin, margin), vec2(w - 2.0 * margin, head));
            let middle = body - head - foot;
            center = pos2(0.5 * w, head + 0.5 * middle);
            radius = (0.5 * middle).min(0.5 * w - margin) - 4.0;
            let half = 0.5 * w - 1.5 * margin;
            tables = Rect::from_min_size(pos2(margin, body - foot + 8.0), vec2(half, foot - 8.0));
            right = Rect::from_min_size(pos2(0.5 * w + 0.5 * margin, body - foot + 8.0), vec2(half, foot - 8.0));
        }
        let px_per_unit = radius.max(24.0);
        let viewport = Viewport {
            size: [width, height],
            center: [center.x, center.y],
            px_per_unit,
            line_scale: px_per_unit / 310.0,
        };
        // The rings' centre is where a camera's point comes to stand.
        let reach = [(center.x, width), (center.y, height)].map(|(at, side)| at.max(side as f32 - at) / px_per_unit);
        let area = Area::whole([width, height]).rect();
        Self { type_scale, compact, area, left, tables, right, strip, viewport, close: false, reach }
    }

    /// The same as a part of a larger picture of `size` pixels, its upper left corner at `at`.
    #[must_use]
    pub fn within(mut self, size: [u32; 2], at: [u32; 2]) -> Self {
        let [x, y] = at.map(|v| v as f32);
        for rect in [&mut self.area, &mut self.left, &mut self.tables, &mut self.right, &mut self.strip] {
            *rect = rect.translate(vec2(x, y));
        }
        let [cx, cy] = self.viewport.center;
        self.viewport.center = [cx + x, cy + y];
        self.viewport.size = size;
        self
    }

    /// The same, looked at by a camera.
    #[must_use]
    pub fn seen_by(mut self, camera: &Camera) -> Self {
        let view = &mut self.viewport;
        let px = view.px_per_unit * camera.zoom;
        view.center = [0, 1].map(|axis| view.center[axis] - camera.at[axis] * px);
        view.px_per_unit = px;
        self.close = !camera.is_whole();
        self
    }

    /// Whether tables stand below the rings.
    #[must_use]
    pub fn upright(&self) -> bool {
        self.tables != self.left
    }

    /// Width in pixels that words in the upper left corner may take, whose lower edge is at `bottom` (pixels from the top): that of the
    /// column at least, and up to the rings and the names round them.
    #[must_use]
    pub fn room_at_the_corner(&self, bottom: f32) -> f32 {
        let left = self.left.left();
        let column = self.left.width() * if self.upright() { 1.0 } else { 1.25 };
        if self.upright() || self.close {
            return column;
        }
        let [x, y] = self.viewport.center;
        let (rim, above) = (self.viewport.px_per_unit + NAMES * self.type_scale, y - bottom);
        let rings = if above < rim { x - (rim * rim - above * above).max(0.0).sqrt() } else { self.right.left() };
        column.max(rings - GAP - left)
    }

    /// The part of the strip that bars are drawn in.
    #[must_use]
    pub fn bars(&self) -> Rect {
        let t = self.type_scale;
        Rect::from_min_max(
            pos2(self.strip.left(), self.strip.top() + 2.0 * t),
            pos2(self.strip.right(), self.strip.top() + 32.0 * t),
        )
    }

    /// Columns of the strip: one for two pixels.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width in pixels")]
    pub fn strip_columns(&self) -> usize {
        (self.bars().width() / 2.0).max(1.0) as usize
    }

    /// Pixel of a world point.
    #[must_use]
    pub fn at(&self, world: [f32; 2]) -> Pos2 {
        let [x, y] = self.viewport.px_from_world(world);
        pos2(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_and_strip_stay_inside_and_apart_at_any_size() {
        for (w, h) in
            [(1280, 720), (640, 360), (1920, 1080), (3840, 2160), (720, 1280), (1000, 1000), (400, 300), (320, 640)]
        {
            let l = Layout::new(w, h, 0.0, &Parts::default());
            let (c, r) = (l.viewport.center, l.viewport.px_per_unit);
            assert!(c[0] - r >= -1.0 && c[0] + r <= w as f32 + 1.0, "{w}x{h}: {l:?}");
            assert!(c[1] - r >= -1.0 && c[1] + r <= l.strip.top() + 1.0, "{w}x{h}: {l:?}");
            assert!(l.type_scale >= 0.7);
            assert!(r > 0.2 * w.min(h) as f32, "{w}x{h}: radius {r}");
            assert!(l.right.right() <= w as f32 && l.left.left() >= 0.0);
        }
    }

    #[test]
    fn columns_stand_beside_the_rings_in_a_wide_picture() {
        for (w, h) in
            [(1280, 720), (1280, 674), (1152, 720), (1140, 720), (1080, 720), (1024, 722), (980, 720), (800, 554)]
                .into_iter()
                .chain([(1024, 640), (1024, 594), (640, 360), (1366, 768), (1280, 800), (1920, 1080), (2560, 1080)])
        {
            let l = Layout::new(w, h, 0.0, &Parts::default());
            let (c, r) = (l.viewport.center[0], l.viewport.px_per_unit);
            assert!(!l.upright() && l.tables.right() < c - r, "{w}x{h}: {} and {}", l.tables.right(), c - r);
            assert!(c + r < l.right.left(), "{w}x{h}: {} and {}", c + r, l.right.left());
            assert!(r > 0.38 * h.min(w) as f32 || w < 1000, "{w}x{h}: the rings stay large: {r}");
        }
        let l = Layout::new(1280, 720, 0.0, &Parts::default());
        assert_eq!(l.viewport.center[0], 640.0, "in the middle where there is room");
    }

    #[test]
    fn a_picture_within_another_is_the_same_picture_elsewhere() {
        let alone = Layout::new(640, 500, 20.0, &Parts::default());
        let within = alone.within([1280, 720], [600, 100]);
        let by = vec2(600.0, 100.0);
        for (one, other) in [(alone.left, within.left), (alone.right, within.right), (alone.strip, within.strip)] {
            assert_eq!(one.translate(by), other);
        }
        assert_eq!(alone.at([0.3, -0.2]) + by, within.at([0.3, -0.2]));
        assert_eq!((within.area, within.reach), (Area { at: [600, 100], size: [640, 500] }.rect(), alone.reach));
        assert_eq!(alone.within([640, 500], [0, 0]), alone);
        let near = Area::near(Rect::from_min_max(pos2(-3.0, 10.4), pos2(99.6, 20.5)));
        assert_eq!(near, Area { at: [0, 10], size: [100, 11] });
    }

    #[test]
    fn columns_fold_below_in_an_upright_picture() {
        assert!(Layout::new(720, 1280, 0.0, &Parts::default()).upright());
        assert!(!Layout::new(1280, 720, 0.0, &Parts::default()).upright());
    }
}
