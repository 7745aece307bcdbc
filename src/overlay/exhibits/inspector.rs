//! What is pinned, closely: where it is, what was done with it, where it lived, who shares its set, and all that happened to it.
//!
//! ```text
//!  B[2][15]                                       0x1178, 8 bytes
//!  in L1: set 1, rank 0 of 8
//!  13 references so far, 4 miss L1 (31 %)         of 16 in all
//!
//!  LIFE
//!  L1      ====    =======|==
//!  L2          ====       |
//!  memory ==              |
//!
//!  SET 1 OF L1, from the most recent to the next to go
//!  0  B[2][12] … B[2][15]     1  A[3][0] … A[3][3]     ...
//!
//!  EVENTS
//!      2,613  read, miss in L1, from L2
//!      2,700  leaves L1 for L2: A[4][0] … A[4][3] takes its place
//! ```
//!
//! Sizes are in ems, as in [`super::numbers`]. The list of events turns its pages to the playhead until somebody scrolls; the whole
//! picture (a double click) has it follow again.

use super::readings::{Readings, logged};
use super::sheet::{SMALL, Sheet, scroll_bar};
use super::{Exhibit, Gesture, Picture};
use crate::axis::Position;
use crate::overlay::csv;
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::named;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::strip::lived;
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, bytes_tip, whereabouts};
use crate::reference::SourceError;
use crate::scene::palette::{self, RegionColors};
use crate::scene::{Camera, View};
use crate::sim::Hierarchy;
use crate::timeline::{Life, LifeStep};
use crate::units::{Addr, ByteRange, LineAddr, SetIndex, grouped, to_f32};
use egui::{Pos2, Rect, pos2, vec2};

/// See the module.
pub struct InspectorExhibit {
    readings: Readings,
}

impl InspectorExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio) }
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 14.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems from row to row.
const PITCH: f32 = 1.55;
/// Ems around the rows.
const MARGIN: f32 = 1.3;
/// Ems in which the names of rings stand beside their lanes, and numbers of references beside events.
const NAMES: f32 = 5.2;
/// Ems of a row of set mates that two columns of them need.
const TWO_COLUMNS: f32 = 40.0;
/// Lines of a set that are listed, at most.
const MOST_MATES: usize = 16;
/// Rows of events for which room is kept.
const LEAST_EVENTS: f32 = 6.0;

impl Exhibit for InspectorExhibit {
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
        let em = EM * layout.type_scale * view.camera.zoom;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        match view.pin {
            None => nothing(&mut sheet),
            Some(bytes) => {
                let life = shot.life.as_deref().filter(|life| life.bytes().first == bytes.first);
                let within = studio.axis().clamp(shot.position).phase() > 0.0;
                Inspector { studio, info: &info, shot, bytes, life, within }.fill(&mut sheet, &view.camera);
            }
        }
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Bytes(bytes) => {
                Some(bytes_tip(studio, &taken.info.colors, bytes, taken.info.position.phase() > 0.0))
            }
            _ => None,
        }
    }

    fn csv(&self, studio: &Studio, taken: &Taken) -> String {
        taken.info.life.as_ref().map_or_else(String::new, |life| csv::life(studio, &taken.info, life))
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look(camera, gesture, taken, LARGEST)
    }
}

/// Says how something is pinned.
fn nothing(sheet: &mut Sheet) {
    let lines =
        ["Nothing is pinned.", "Click a dot, or a line of a cache:", "here is then where it lived, and why it left."];
    sheet.notice(&lines, PITCH);
}

/// What a picture is made of.
struct Inspector<'a> {
    studio: &'a Studio,
    info: &'a Info,
    shot: &'a Shot,
    bytes: ByteRange,
    life: Option<&'a Life>,
    /// Its reference is under way.
    within: bool,
}

impl Inspector<'_> {
    fn state(&self) -> &Hierarchy {
        let moment = self.studio.moment();
        if self.within { moment.after } else { moment.before }
    }

    fn fill(&self, sheet: &mut Sheet, camera: &Camera) {
        let (em, sight) = (sheet.em, sheet.sight);
        let (left, right) = (sight.left() + MARGIN * em, sight.right() - MARGIN * em);
        let mut y = self.head(sheet, left, right, sight.top() + MARGIN * em);
        let least = LEAST_EVENTS * PITCH * em;
        if y + self.lanes_height(em) + least < sight.bottom() {
            y = self.lanes(sheet, left, right, y);
        }
        if let Some((name, mates)) = self.mates() {
            let columns = if right - left >= TWO_COLUMNS * em { 2 } else { 1 };
            let shown = mates.len().min(MOST_MATES);
            let height = (2.0 + shown.div_ceil(columns) as f32 * 1.35 + 0.6) * em;
            if y + height + least < sight.bottom() {
                y = set(sheet, &self.info.colors, (&name, &mates), [left, right, y], columns);
            }
        }
        self.events(sheet, [left, right, y], camera);
    }

    /// Name, address, places and counts; gives where it ends.
    fn head(&self, sheet: &mut Sheet, left: f32, right: f32, mut y: f32) -> f32 {
        let em = sheet.em;
        let tick = self.studio.moment().tick;
        let (name, region) = named::bytes(self.studio, self.bytes, tick);
        let ink = region.map_or(palette::TEXT, |region| self.info.colors.of(region));
        sheet.bar(Rect::from_min_size(pos2(left, y + 0.25 * em), vec2(0.9 * em, 0.9 * em)), ink);
        sheet.left(pos2(left + 1.5 * em, y), &name, Weight::SemiBold, 1.3, palette::TEXT, right - left - 1.5 * em);
        y += 2.0 * em;
        let line = self.state().caches().map(|cache| self.state().geometry(cache).line_bytes).min().unwrap_or(1);
        let base = LineAddr(*self.bytes.lines(line).start()).base(line);
        let size =
            if self.bytes.bytes() == 1 { "1 byte".into() } else { format!("{} bytes", grouped(self.bytes.bytes())) };
        let within =
            if self.bytes.bytes() < u64::from(line) { format!(", in the line at {base}") } else { String::new() };
        let words = format!("{}, {size}{within}", Addr(self.bytes.first));
        sheet.left(pos2(left, y), &words, Weight::Regular, 0.92, palette::TEXT_QUIET, right - left);
        y += PITCH * em;
        for words in whereabouts(self.state(), self.bytes.first, self.bytes.last) {
            sheet.left(pos2(left, y), &words, Weight::Regular, 1.0, palette::TEXT_BODY, right - left);
            y += 1.4 * em;
        }
        if let Some(life) = self.life {
            let (touches, misses) = life.counts(tick);
            let share = (touches > 0).then(|| misses as f64 / touches as f64);
            let miss = match share {
                None => String::new(),
                share => format!(", {} of them miss in {} ({})", grouped(misses), self.info.innermost, percent(share)),
            };
            let all = life.steps().last().map_or(0, |last| last.touches);
            let so_far = if life.known() < self.studio.timeline().len() { " found so far" } else { " in all" };
            let noun = if touches == 1 { "reference" } else { "references" };
            let words = format!("{} {noun} up to here{miss}; {}{so_far}", grouped(touches), grouped(all));
            sheet.left(pos2(left, y), &words, Weight::Regular, 1.0, palette::TEXT_BODY, right - left);
            y += 1.4 * em;
        }
        y + 0.8 * em
    }

    fn lanes_height(&self, em: f32) -> f32 {
        (self.info.rings.len() as f32 + 1.0) * 1.2 * em + 2.6 * em
    }

    /// Where it lived, a lane for each ring and one for memory; references that touched it are ticks, red where they missed.
    fn lanes(&self, sheet: &mut Sheet, left: f32, right: f32, y: f32) -> f32 {
        let em = sheet.em;
        sheet.left(pos2(left, y), "WHERE IT LIVED", Weight::Medium, SMALL, palette::TEXT_QUIET, right - left);
        let (top, pitch) = (y + 1.5 * em, 1.2 * em);
        let names = self.info.rings.iter().map(String::as_str).chain(["memory"]);
        let from = left + NAMES * em;
        for (n, name) in names.enumerate() {
            let y = top + n as f32 * pitch;
            sheet.left(pos2(left, y - 0.1 * em), name, Weight::Regular, 0.88, palette::TEXT_BODY, NAMES * em);
            let ground = Rect::from_min_max(pos2(from, y + 0.5 * em), pos2(right, y + 0.5 * em + 1.0));
            sheet.bar(ground, palette::TRACK);
        }
        let (axis, stretch) = (self.studio.axis(), self.shot.playback.stretch);
        let place = |tick: u64| from + (right - from) * to_f32(stretch.place(axis, Position::at(tick)).clamp(0.0, 1.0));
        if let Some(life) = self.life {
            let row = |ring: u8| top + f32::from(ring) * pitch;
            let shown = stretch.ticks(axis);
            let mut end = f32::MIN;
            for (stay, ring) in life.stays(shown.clone()) {
                let (x0, x1) = (place(stay.start).max(end), place(stay.end));
                if x1 - x0 < 0.5 && x0.floor() <= end.floor() {
                    continue;
                }
                end = x1.max(x0 + 1.0);
                let bar = Rect::from_min_max(pos2(x0, row(ring) + 0.22 * em), pos2(end, row(ring) + 0.78 * em));
                sheet.bar(
                    bar,
                    if ring < life.rings() {
                        lived(ring, life.rings())
                    } else {
                        palette::fade(palette::TEXT_QUIET, 0.45)
                    },
                );
            }
            touches(sheet, life, shown, (&place, &row));
        }
        let (position, bottom) = (self.info.position, top + (self.info.rings.len() as f32 + 1.0) * pitch);
        if stretch.shows(axis, position) {
            let x = from + (right - from) * to_f32(stretch.place(axis, position).clamp(0.0, 1.0));
            sheet.bar(Rect::from_min_max(pos2(x - 0.7, top - 0.2 * em), pos2(x + 0.7, bottom)), palette::LIGHT);
        }
        sheet.plane.times.push(Rect::from_min_max(pos2(from, top - 0.2 * em), pos2(right, bottom)));
        bottom + 1.0 * em
    }

    /// The set in which it competes, in the innermost cache that has it, and what else is in it: from the most recent to the next to
    /// go.
    fn mates(&self) -> Option<(String, Vec<Mate>)> {
        let (state, tick) = (self.state(), self.studio.moment().tick);
        let held = state.caches().filter_map(|cache| {
            let line = Addr(self.bytes.first).line(state.geometry(cache).line_bytes);
            Some((state.info(cache).depth, cache, line, state.rank(cache, line)?.0))
        });
        let (_, cache, own, SetIndex(set)) = held.min_by_key(|(depth, ..)| *depth)?;
        let bytes = state.geometry(cache).line_bytes;
        let mate = |resident: crate::sim::Resident| {
            let bytes = ByteRange::new(resident.line.base(bytes).0, u64::from(bytes));
            let (name, region) = named::bytes(self.studio, bytes, tick);
            Mate { bytes, name, region, dirty: resident.dirty, is_own: resident.line == own }
        };
        let mates = state.order(cache, SetIndex(set)).map(mate).collect();
        let ways = state.geometry(cache).ways;
        Some((format!("SET {set} OF {}, {ways} WAYS: the next to go is last", state.name(cache)), mates))
    }

    /// The list of all that happened.
    fn events(&self, sheet: &mut Sheet, [left, right, y]: [f32; 3], camera: &Camera) {
        let em = sheet.em;
        let Some(life) = self.life else {
            let words = "its life is being read ...";
            return sheet.left(pos2(left, y), words, Weight::Regular, SMALL, palette::TEXT_QUIET, right - left);
        };
        let (known, len) = (life.known(), self.studio.timeline().len());
        let words = match life.is_cut() {
            true => format!("the first {} EVENTS", grouped(life.steps().len() as u64)),
            false if known < len => format!("EVENTS: {} of {} references read", grouped(known), grouped(len)),
            false => "EVENTS".to_owned(),
        };
        sheet.left(pos2(left, y), &words, Weight::Medium, SMALL, palette::TEXT_QUIET, right - left);
        let all = sheet.sight;
        let body = Rect { min: pos2(all.left(), y + 1.5 * em), ..all };
        if body.height() < PITCH * em {
            return;
        }
        sheet.sight = body;
        let (steps, ems) = (life.steps(), body.height() / em - 0.4);
        let now = life.before(self.info.tick.saturating_add(1)).checked_sub(1);
        let depth = (steps.len() as f32 * PITCH - ems).max(0.0);
        let down = if camera.at[1] > 0.0 { camera.at[1].min(depth) } else { page(now, ems).min(depth) };
        (sheet.plane.depth, sheet.plane.down) = (depth, down);
        let from = usize::try_from(crate::units::to_count((down / PITCH).floor())).unwrap_or(0);
        let rows = usize::try_from(crate::units::to_count(ems / PITCH)).unwrap_or(0) + 2;
        for (n, step) in steps.iter().enumerate().skip(from).take(rows) {
            let y = body.top() + (n as f32 * PITCH - down) * em;
            if y < body.top() - 0.25 * em {
                // Its words would lie on the heading.
                continue;
            }
            let row = Rect::from_min_max(pos2(left - 0.4 * em, y), pos2(right + 0.4 * em, y + PITCH * em));
            let is_now = now == Some(n);
            if is_now {
                sheet.bar(row.shrink2(vec2(0.0, 1.0)), palette::fade(palette::LIGHT, 0.12));
            }
            let ink = if step.tick <= self.info.tick { palette::TEXT_BODY } else { palette::TEXT_QUIET };
            sheet.right(pos2(left + (NAMES + 1.0) * em, y + 0.2 * em), &grouped(step.tick), 0.92, ink);
            let mark = Rect::from_min_size(pos2(left + (NAMES + 1.7) * em, y + 0.5 * em), vec2(0.55 * em, 0.55 * em));
            sheet.bar(mark, sign(step, life.rings()));
            let at = pos2(left + (NAMES + 2.8) * em, y + 0.2 * em);
            let ink = if is_now { palette::TEXT } else { ink };
            sheet.left(at, &self.words(step), Weight::Regular, 0.95, ink, right - at.x);
            let seen = row.intersect(body);
            if seen.is_positive() {
                sheet.plane.rows.push((seen, Target::Tick(step.tick)));
            }
        }
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, body, em, down);
        }
        sheet.sight = all;
    }

    fn ring(&self, ring: u8) -> &str {
        self.info.rings.get(usize::from(ring)).map_or("memory", String::as_str)
    }

    /// What a step was, in words.
    fn words(&self, step: &LifeStep) -> String {
        let name = |addr| named::bytes(self.studio, ByteRange::new(addr, 1), step.tick).0;
        let mut words = String::new();
        if let Some(server) = step.served {
            let levels = &self.studio.timeline().config().levels;
            let server = levels.get(usize::from(server)).map_or("memory", |level| level.name.as_str());
            let miss = if step.from > 0 { ", from " } else { ", in " };
            words = format!("{}{miss}{server}", step.kind.verb());
        }
        if step.to > step.from {
            let by = step.taken_by.map_or(String::new(), |line| format!(": {} takes its place", name(line)));
            let leaves = format!("leaves {} for {}{by}", self.ring(step.from), self.ring(step.to));
            words = if words.is_empty() { leaves } else { format!("{words}, then {leaves}") };
        } else if step.to < step.from && words.is_empty() {
            words = format!("comes to {} with {}", self.ring(step.to), name(step.addr));
        }
        words
    }
}

/// Colour of a step's sign: red of a miss, blue of leaving, light of a hit.
fn sign(step: &LifeStep, rings: u8) -> palette::Rgba {
    match step.served {
        _ if step.to > step.from => palette::EVICT,
        Some(_) if step.from > 0 => palette::served(usize::from(step.from), usize::from(rings)),
        Some(_) => palette::LIGHT,
        None => palette::TEXT_QUIET,
    }
}

/// Where the page with the step under way begins, ems: pages are turned, rows do not creep.
fn page(now: Option<usize>, ems: f32) -> f32 {
    let step = (0.5 * ems / PITCH).floor().max(1.0);
    now.map_or(0.0, |now| (((now as f32 / step).floor() - 0.5).max(0.0) * step).floor() * PITCH)
}

/// Ticks of references that touched it, in the lane where they found it; of those that would fall together, the first, misses before
/// hits.
fn touches(
    sheet: &mut Sheet,
    life: &Life,
    shown: std::ops::Range<u64>,
    (place, row): (&dyn Fn(u64) -> f32, &dyn Fn(u8) -> f32),
) {
    let em = sheet.em;
    let steps = &life.steps()[life.before(shown.start)..life.before(shown.end)];
    for missed in [false, true] {
        let mut last = f32::MIN;
        for step in steps.iter().filter(|step| step.served.is_some() && (step.from > 0) == missed) {
            let x = place(step.tick);
            if x - last >= 1.5 {
                last = x;
                let ink = if missed { palette::MISS } else { palette::fade(palette::BACKGROUND, 0.75) };
                let y = row(step.from);
                sheet.bar(Rect::from_min_max(pos2(x - 0.5, y + 0.1 * em), pos2(x + 0.6, y + 0.9 * em)), ink);
            }
        }
    }
}

/// A line of the same set.
struct Mate {
    bytes: ByteRange,
    name: String,
    region: Option<usize>,
    dirty: bool,
    is_own: bool,
}

fn set(
    sheet: &mut Sheet,
    colors: &RegionColors,
    (name, mates): (&str, &[Mate]),
    [left, right, y]: [f32; 3],
    columns: usize,
) -> f32 {
    let em = sheet.em;
    sheet.left(pos2(left, y), name, Weight::Medium, SMALL, palette::TEXT_QUIET, right - left);
    let shown = mates.len().min(MOST_MATES);
    let rows = shown.div_ceil(columns);
    let (top, width) = (y + 1.5 * em, (right - left) / columns as f32);
    for (rank, mate) in mates.iter().enumerate().take(shown) {
        let x = left + (rank / rows.max(1)) as f32 * width;
        let y = top + (rank % rows.max(1)) as f32 * 1.35 * em;
        let area = Rect::from_min_size(pos2(x - 0.3 * em, y), vec2(width - 0.6 * em, 1.35 * em));
        if mate.is_own {
            sheet.bar(area, palette::fade(palette::LIGHT, 0.12));
        }
        sheet.right(pos2(x + 1.5 * em, y + 0.1 * em), &rank.to_string(), 0.85, palette::TEXT_QUIET);
        let ink = mate.region.map_or(palette::NEUTRAL, |region| colors.of(region));
        sheet.bar(Rect::from_min_size(pos2(x + 2.1 * em, y + 0.4 * em), vec2(0.6 * em, 0.6 * em)), ink);
        let dirty = if mate.dirty { ", dirty" } else { "" };
        let words = format!("{}{dirty}", mate.name);
        sheet.left(
            pos2(x + 3.1 * em, y + 0.1 * em),
            &words,
            Weight::Regular,
            0.9,
            palette::TEXT_BODY,
            width - 4.2 * em,
        );
        sheet.plane.rows.push((area, Target::Bytes(mate.bytes)));
    }
    let end = top + rows as f32 * 1.35 * em;
    let more = mates.len() - shown;
    if more > 0 {
        sheet.left(pos2(left, end), &format!("{more} more"), Weight::Regular, 0.85, palette::TEXT_QUIET, right - left);
    }
    end + if more > 0 { 1.9 } else { 0.7 } * em
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::Parts;
    use crate::overlay::tests::studio;
    use std::sync::Arc;

    const B0: ByteRange = ByteRange { first: 0x4000, last: 0x4007 };

    fn taken(size: [u32; 2], position: f64, camera: Camera, pin: Option<ByteRange>) -> (Taken, Arc<Life>) {
        let mut studio = studio();
        let life = Arc::new(studio.timeline().life(pin.unwrap_or(B0), &mut |_| true).expect("in memory"));
        let view = View { camera, pin, ..View::default() };
        let shot = Shot::still(size, Position::of(position), view, Parts::default());
        let shot = Shot { life: pin.map(|_| Arc::clone(&life)), ..shot };
        let mut inspector = InspectorExhibit::new(&studio);
        (shot.take(&mut studio, &mut inspector).expect("in memory"), life)
    }

    fn plane(taken: &Taken) -> &Plane {
        match &taken.picture {
            Picture::Plane(plane) => plane,
            Picture::Rings(_) | Picture::Machine(..) | Picture::Solids(..) => panic!("the inspector is a plane"),
        }
    }

    fn words(taken: &Taken) -> Vec<&str> {
        plane(taken).words.iter().map(|words| words.text.as_str()).collect()
    }

    #[test]
    fn it_tells_what_is_pinned_and_all_that_happened_to_it() {
        let (taken, life) = taken([900, 720], 613.0, Camera::default(), Some(B0));
        let all = words(&taken).join("\n");
        for part in
            ["B[0]", "0x4000, 8 bytes, in the line at 0x4000", "in L1: set 0", "WHERE IT LIVED", "memory", "EVENTS"]
        {
            assert!(all.contains(part), "{part} in {all}");
        }
        let (touches, misses) = life.counts(613);
        assert_eq!((touches, misses), (153, 1), "every fourth reference, and it stays");
        assert!(all.contains("153 references up to here, 1 of them miss in L1 (0.7 %); 250 in all"), "{all}");
        // What is listed is what happened, in order, around the playhead.
        let ticks: Vec<u64> = plane(&taken)
            .rows
            .iter()
            .filter_map(|(_, row)| if let Target::Tick(tick) = row { Some(*tick) } else { None })
            .collect();
        assert!(ticks.len() > 5 && ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
        assert!(ticks.iter().all(|tick| life.steps().iter().any(|step| step.tick == *tick)));
        assert!(ticks.contains(&611), "the last before the playhead is in sight: {ticks:?}");
    }

    #[test]
    fn a_lane_is_a_place_in_time_and_the_first_miss_comes_from_memory() {
        let (taken, _) = taken([900, 720], 0.0, Camera::default(), Some(B0));
        let lanes = plane(&taken).times[0];
        let middle = taken.time_at(lanes.center()).expect("in the lanes");
        assert!(middle.tick().abs_diff(500) < 3, "{middle:?}");
        assert_eq!(taken.time_at(pos2(lanes.center().x, lanes.bottom() + 9.0)), None);
        assert!(words(&taken).contains(&"write, from memory"), "{:?}", words(&taken));
    }

    #[test]
    fn scrolling_leaves_the_playhead_and_nothing_pinned_says_how_to_pin() {
        let (taken, _) = super::tests::taken([900, 720], 990.0, Camera { at: [0.0, 1e-3], zoom: 1.0 }, Some(B0));
        assert!(plane(&taken).rows.iter().any(|(_, row)| *row == Target::Tick(3)), "the list's top");
        assert!(plane(&taken).depth > 100.0, "250 rows do not fit");
        let (taken, _) = super::tests::taken([640, 360], 10.0, Camera::default(), None);
        assert_eq!(words(&taken)[0], "Nothing is pinned.");
    }

    #[test]
    fn its_csv_has_a_row_for_each_event() {
        let mut studio = studio();
        let life = Arc::new(studio.timeline().life(B0, &mut |_| true).expect("in memory"));
        let view = View { pin: Some(B0), ..View::default() };
        let shot = Shot::still([640, 360], Position::of(9.0), view, Parts::default());
        let shot = Shot { life: Some(Arc::clone(&life)), ..shot };
        let mut inspector = InspectorExhibit::new(&studio);
        let taken = shot.take(&mut studio, &mut inspector).expect("in memory");
        let csv = inspector.csv(&studio, &taken);
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows.len(), 1 + life.steps().len());
        assert_eq!(rows[1], "3,0x4000,write,memory,memory,L1,");
    }
}
