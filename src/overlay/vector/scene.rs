//! The rings as vectors: the lists of a [`Scene`] as outlines, in the order in which `render::pass` draws them.

use super::curve::{along, circle, on, polygon};
use super::{Ink, Item, Paint, Step};
use crate::render::Viewport;
use crate::render::glyphs::FLASH_SEEN;
use crate::scene::frame::flags;
use crate::scene::motion::{Flight, Path, place_on_path, position_at};
use crate::scene::palette::{self, Rgba};
use crate::scene::{Cell, Disk, Glyph, Scene, Segment};
use egui::{Pos2, Rect, pos2, vec2};
use std::collections::BTreeMap;

/// Opacity of a ghost beside what it is a copy of: `GHOST_ALPHA` in `glyphs.wgsl`.
const GHOST: f32 = 0.24;
/// Opacity of a dirty dot's rim: `RIM_ALPHA`.
const RIM: f32 = 0.55;
/// Half a bar's thickness in half its length: `BAR`.
const BAR: f32 = 0.5;
/// A halo's radius in radii of its dot: `HALO`.
const HALO: f32 = 2.8;
/// What is fainter than this is not seen.
const FAINTEST: f32 = 0.002;
/// How far opacities of neighbouring pieces of a curve are apart, at most.
const FADES: f32 = 0.05;
/// Steps in which the ends of a part of a disk fade.
const ENDS: u8 = 8;

/// Draws scenes into a list.
pub(super) struct SceneWriter<'a> {
    scene: &'a Scene,
    viewport: Viewport,
    /// What is in sight, pixels.
    sight: Rect,
    items: &'a mut Vec<Item>,
}

impl<'a> SceneWriter<'a> {
    pub(super) fn new(scene: &'a Scene, viewport: Viewport, sight: Rect, items: &'a mut Vec<Item>) -> Self {
        Self { scene, viewport, sight, items }
    }

    /// Draws all of it.
    pub(super) fn draw(&mut self) {
        let scene = self.scene;
        for disk in scene.disks.iter().filter(|disk| disk.color[3] > 0) {
            self.disk(disk);
        }
        self.cells(&scene.cells);
        self.segments(&scene.structure);
        self.segments(&scene.trails);
        for glyph in &scene.glyphs {
            self.body(glyph);
        }
        for glyph in scene.glyphs.iter().filter(|g| g.flash > FLASH_SEEN || g.burst < 1.0) {
            self.light(glyph);
        }
    }

    fn px(&self, world: [f32; 2]) -> Pos2 {
        let [x, y] = self.viewport.px_from_world(world);
        pos2(x, y)
    }

    fn polar(&self, r: f32, theta: f32) -> Pos2 {
        let (sin, cos) = theta.sin_cos();
        self.px([r * cos, r * sin])
    }

    fn sees(&self, at: Pos2, radius: f32) -> bool {
        self.sight.intersects(Rect::from_center_size(at, vec2(2.0 * radius, 2.0 * radius)))
    }

    fn path(&mut self, steps: Vec<Step>, paint: Paint, ink: Ink) {
        if ink.opacity < FAINTEST {
            return;
        }
        let mut bounds = Rect::NOTHING;
        for step in &steps {
            match *step {
                Step::Move(p) | Step::Line(p) => bounds.extend_with(p),
                Step::Curve(a, b, p) => [a, b, p].into_iter().for_each(|p| bounds.extend_with(p)),
                Step::Close => {}
            }
        }
        let wide = if let Paint::Stroke(width) = paint { 0.5 * width } else { 0.0 };
        if self.sight.intersects(bounds.expand(wide)) {
            self.items.push(Item::Path { steps, paint, ink });
        }
    }

    // ---- disks

    /// `shaders/disks.wgsl`: full from `r0` to `r1`, smoothly nothing at `soft` on both sides; a part of a ring is wound, and fades at
    /// both ends. There it is drawn in layers, each a little shorter than the one before: they have no seams.
    fn disk(&mut self, disk: &Disk) {
        let (inner, outer) = ((disk.r0 - disk.soft).max(0.0), disk.r1 + disk.soft);
        let mut stops = Vec::new();
        for (from, to, rising) in [(inner, disk.r0, true), (disk.r1, outer, false)] {
            for n in 0..=4u8 {
                let t = f32::from(n) / 4.0;
                let smooth = t * t * (3.0 - 2.0 * t);
                stops.push(((from + (to - from) * t) / outer, if rising { smooth } else { 1.0 - smooth }));
            }
        }
        let ink = ink(disk.color, 1.0);
        let (at, radius) = (self.px([0.0; 2]), outer * self.viewport.px_per_unit);
        let glow =
            |within: Vec<Step>, ink: Ink| Item::Glow { at, radius, within, stops: stops.clone(), ink, adds: false };
        if disk.fade <= 0.0 {
            let item = glow(circle(at, radius), ink);
            self.items.push(item);
            return;
        }
        // As many equal layers as come to the whole opacity.
        let layer = |share: f32| 1.0 - (1.0 - ink.opacity.min(0.999) * share).max(1e-3);
        let mut covered = 0.0;
        for n in 0..ENDS {
            let t = (f32::from(n) + 0.5) / f32::from(ENDS);
            let wanted = layer(t * t * (3.0 - 2.0 * t));
            let own = 1.0 - (1.0 - wanted) / (1.0 - covered);
            covered = wanted;
            let cut = disk.fade * t;
            let within = self.wound(disk, [inner, outer], disk.theta0 + cut, disk.theta0 + disk.span - cut);
            self.items.push(glow(within, Ink { opacity: own, ..ink }));
        }
        let own = 1.0 - (1.0 - ink.opacity.min(0.999)) / (1.0 - covered);
        let within = self.wound(disk, [inner, outer], disk.theta0 + disk.fade, disk.theta0 + disk.span - disk.fade);
        self.items.push(glow(within, Ink { opacity: own, ..ink }));
    }

    /// A part of a ring whose sides are wound as the disk is.
    fn wound(&self, disk: &Disk, [inner, outer]: [f32; 2], from: f32, to: f32) -> Vec<Step> {
        let turn = |r: f32| disk.turn * ((r - disk.r0) / (disk.r1 - disk.r0).max(1e-6)).clamp(0.0, 1.0);
        // Side by side: out along the first, round, back along the other, round.
        let radii = [inner, disk.r0, disk.r1, outer];
        let side = |theta: f32, a: f32, b: f32| {
            move |s: f32| {
                let r = a + (b - a) * s;
                self.polar(r, theta + turn(r))
            }
        };
        let mut steps = vec![Step::Move(self.polar(inner, from + turn(inner)))];
        for pair in radii.windows(2) {
            on(&side(from, pair[0], pair[1]), 0.0, 1.0, &mut steps);
        }
        on(&|s| self.polar(outer, from + turn(outer) + (to - from) * s), 0.0, 1.0, &mut steps);
        for pair in radii.windows(2).rev() {
            on(&side(to, pair[1], pair[0]), 0.0, 1.0, &mut steps);
        }
        on(&|s| self.polar(inner, to + turn(inner) + (from - to) * s), 0.0, 1.0, &mut steps);
        steps.push(Step::Close);
        steps
    }

    // ---- cells

    /// Patches of one colour are one outline, in the order of colours: patches do not lie on each other.
    fn cells(&mut self, cells: &[Cell]) {
        let mut colors: BTreeMap<Rgba, Vec<Step>> = BTreeMap::new();
        for cell in cells {
            let [first, next, behind, last] = cell.corners.map(|corner| self.px(corner));
            let patch = polygon([first, next, last, behind]);
            colors.entry(cell.color).or_default().extend(patch);
        }
        for (color, steps) in colors {
            self.path(steps, Paint::Crisp, ink(color, 1.0));
        }
    }

    // ---- lines

    /// `shaders/pathlines.wgsl`. What is a stretch for the GPU is a part of a curve here: stretches that go on from each other are one.
    fn segments(&mut self, segments: &[Segment]) {
        let mut at = 0;
        while at < segments.len() {
            let run = 1 + segments[at..].windows(2).take_while(|pair| self.goes_on(&pair[0], &pair[1])).count();
            self.run(&segments[at..at + run]);
            at += run;
        }
    }

    fn goes_on(&self, a: &Segment, b: &Segment) -> bool {
        if a.color != b.color || a.width != b.width || (a.alpha1 - b.alpha0).abs() > 1e-4 {
            return false;
        }
        let same = a.flight == b.flight && (a.s1 - b.s0).abs() < 1e-5 && b.s1 > b.s0;
        same || matches!((round(a), round(b)), (Some((r, _, end)), Some((s, begin, _))) if r == s && (end - begin).abs() < 1e-5)
    }

    fn run(&mut self, run: &[Segment]) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        // Below one pixel a line fades instead of thinning.
        let width = first.width * self.viewport.line_scale.max(0.6);
        let (width, fades) = (width.max(1.0), width.min(1.0));
        let whole = ink(first.color, fades);
        if let (Some((r, from, _)), Some((_, _, to))) = (round(first), round(last)) {
            let steps = along(&|s| self.polar(r, from + (to - from) * s), 0.0, 1.0);
            self.path(steps, Paint::Stroke(width), whole.times(first.alpha0));
            return;
        }
        let (sectors, viewport) = (&self.scene.rings.sectors, self.viewport);
        let place = |s: f32| Pos2::from(viewport.px_from_world(place_on_path(sectors, &first.flight, s)));
        if first.flight.path == Path::Straight {
            let ends = [place(first.s0), place(last.s1)];
            let opacity = [first.alpha0, last.alpha1];
            if (opacity[0] - opacity[1]).abs() * whole.opacity < FADES * 0.5 {
                let steps = vec![Step::Move(ends[0]), Step::Line(ends[1])];
                self.path(steps, Paint::Stroke(width), whole.times(0.5 * (opacity[0] + opacity[1])));
            } else if self.sight.intersects(Rect::from_two_pos(ends[0], ends[1]).expand(width)) {
                self.items.push(Item::Fading { ends, width, ink: whole, opacity });
            }
            return;
        }
        let mut begun = 0;
        for n in 0..run.len() {
            let (from, to) = (&run[begun], &run[n]);
            let fits = run.get(n + 1).is_some_and(|next| (next.alpha1 - from.alpha0).abs() * whole.opacity <= FADES);
            if fits {
                continue;
            }
            let steps = along(&place, from.s0, to.s1);
            self.path(steps, Paint::Stroke(width), whole.times(0.5 * (from.alpha0 + to.alpha1)));
            begun = n + 1;
        }
    }

    // ---- glyphs

    fn radius(&self, glyph: &Glyph) -> f32 {
        (glyph.radius * self.viewport.px_per_unit * (1.0 + 0.75 * glyph.pulse)).max(0.8)
    }

    fn center(&self, glyph: &Glyph) -> [f32; 2] {
        position_at(&self.scene.rings.sectors, &glyph.flight, self.scene.now)
    }

    /// `vs_main` and `fs_main` of `shaders/glyphs.wgsl`.
    fn body(&mut self, glyph: &Glyph) {
        let is = |flag: u32| glyph.flags & flag != 0;
        let (world, r) = (self.center(glyph), self.radius(glyph));
        let at = self.px(world);
        if !self.sees(at, r + 2.0) {
            return;
        }
        let color = palette::mix(glyph.color, opaque(palette::FLASH, glyph.color[3]), glyph.flash);
        let own = ink(color, if is(flags::GHOST) { GHOST } else { 1.0 });
        if own.opacity < FAINTEST {
            return;
        }
        if is(flags::PAGE) {
            let length = world[0].hypot(world[1]).max(1e-6);
            let (out, side) = (vec2(world[0], world[1]) / length, vec2(-world[1], world[0]) / length);
            let (thick, long) = (out * (BAR * r).max(0.5), side * r);
            let bar = polygon([at - thick - long, at + thick - long, at + thick + long, at - thick + long]);
            self.path(bar, Paint::Fill, own);
        } else if is(flags::HOLLOW) && r > 1.5 {
            self.items.push(Item::Ring { at, radius: r - 0.75, width: 1.5, ink: own });
        } else {
            self.items.push(Item::Dot { at, radius: r, ink: own });
        }
        // On dots of few pixels a rim would be all there is to see.
        let rim = RIM * own.opacity * (0.6 * r - 0.7).clamp(0.0, 1.0);
        if is(flags::DIRTY) && rim >= FAINTEST {
            let ink = ink(palette::DIRTY, rim);
            self.items.push(Item::Ring { at, radius: r + 0.7, width: 1.0, ink });
        }
    }

    /// `vs_light` and `fs_light` of `shaders/glyphs.wgsl`.
    fn light(&mut self, glyph: &Glyph) {
        let (at, r) = (self.px(self.center(glyph)), self.radius(glyph));
        if glyph.flash > FLASH_SEEN {
            let radius = r * HALO;
            let stops = (0..=6u8).map(|n| f32::from(n) / 6.0).map(|t| (t, (1.0 - t) * (1.0 - t))).collect();
            let ink = ink(palette::FLASH, 0.55 * glyph.flash);
            if self.sees(at, radius) {
                self.items.push(Item::Glow { at, radius, within: circle(at, radius), stops, ink, adds: true });
            }
        }
        if glyph.burst < 1.0 {
            let radius = r * (1.2 + 3.2 * glyph.burst);
            let ink = ink(palette::BURST, 0.8 * (1.0 - glyph.burst));
            if ink.opacity >= FAINTEST && self.sees(at, radius + 1.0) {
                self.items.push(Item::Ring { at, radius, width: 1.4, ink });
            }
        }
    }
}

impl Ink {
    /// The same, covering so many times as much.
    fn times(self, share: f32) -> Self {
        Self { opacity: self.opacity * share, ..self }
    }
}

pub(super) fn ink([r, g, b, a]: Rgba, share: f32) -> Ink {
    Ink { color: [r, g, b], opacity: f32::from(a) / 255.0 * share }
}

fn opaque([r, g, b, _]: Rgba, a: u8) -> Rgba {
    [r, g, b, a]
}

/// Radius and angles of a chord of a circle about the middle: circles are told as chords.
fn round(segment: &Segment) -> Option<(f32, f32, f32)> {
    let Segment { flight: Flight { from, to, path, .. }, s0, s1, alpha0, alpha1, .. } = segment;
    let polar = from.cache < 0.0 && to.cache < 0.0 && from.a == to.a;
    let short = (to.b - from.b).abs() < 0.2;
    let whole = *s0 == 0.0 && *s1 == 1.0 && alpha0 == alpha1;
    (*path == Path::Straight && polar && short && whole).then_some((from.a, from.b, to.b))
}
