//! Parameters of a graph's expressions, each with a slider: values follow at once, and nothing is played anew.

use crate::nest::{Settings, Volumes, Walk};
use crate::overlay::exhibits::sheet::{SMALL, Sheet};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::scene::palette;
use egui::{Rect, pos2};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parameters that have a slider, at most.
const MOST: usize = 5;
/// Where nothing says how far a parameter goes: to so much, or so many times its own value.
const FAR: i64 = 4096;
const TIMES: i64 = 16;
/// Ems from slider to slider.
const PITCH: f32 = 1.5;

/// Volumes, or why there are none.
type Found = Result<Arc<Volumes>, String>;

/// See the module.
#[derive(Default)]
pub(super) struct Parameters {
    /// Values that somebody set, by name.
    pub(super) set: BTreeMap<String, i64>,
    /// What was found for them last, or why there is nothing.
    found: Option<(BTreeMap<String, i64>, Found)>,
    /// The last that was found.
    good: Option<Arc<Volumes>>,
    ranges: Option<BTreeMap<String, (i64, i64)>>,
}

impl Parameters {
    /// Volumes under the values that are set: `own` where none is; the last ones that were found where there are none under these.
    pub(super) fn volumes(&mut self, walk: &Walk, own: Arc<Volumes>) -> Arc<Volumes> {
        if self.ranges.is_none() {
            self.ranges = Some(walk.ranges());
        }
        self.set.retain(|name, value| own.parameters().any(|(of, now)| of == name && now != *value));
        if self.set.is_empty() {
            (self.found, self.good) = (None, None);
            return own;
        }
        if self.found.as_ref().is_none_or(|(of, _)| *of != self.set) {
            let settings = Settings::of(self.set.iter().map(|(name, value)| (name.as_str(), *value)));
            let found = walk.volumes_under(&settings).map(|found| found.map_err(|error| error.to_string()));
            self.found = found.map(|found| (self.set.clone(), found.map(Arc::new)));
        }
        if let Some((_, Ok(found))) = &self.found {
            self.good = Some(Arc::clone(found));
        }
        self.good.clone().unwrap_or(own)
    }

    /// Why there is nothing under the values that are set.
    fn wrong(&self) -> Option<&str> {
        self.found.as_ref().and_then(|(_, found)| found.as_ref().err()).map(String::as_str)
    }

    /// Sets a parameter, by its number.
    pub(super) fn choose(&mut self, own: &Volumes, number: u8, value: i64) {
        if let Some((name, _)) = own.parameters().nth(number.into()) {
            self.set.insert(name.to_owned(), value);
        }
    }

    /// Draws the sliders from `y` on; gives where they end.
    pub(super) fn fill(&self, sheet: &mut Sheet, column: Rect, own: &Volumes, mut y: f32) -> f32 {
        let em = sheet.em;
        for (number, (name, value)) in own.parameters().enumerate().take(MOST) {
            let now = self.set.get(name).copied().unwrap_or(value);
            let (ink, weight) = if now == value {
                (palette::TEXT_BODY, Weight::Regular)
            } else {
                (palette::words(palette::SERIES[1]), Weight::SemiBold)
            };
            let words = format!("{name} = {now}");
            let left = column.left() + 0.36 * column.width();
            sheet.left(pos2(column.left(), y), &words, weight, 0.9, ink, left - column.left() - 0.4 * em);
            let stops = self.stops(name, value, now);
            let each = (column.right() - left) / stops.len().max(1) as f32;
            let slider = Rect::from_min_max(pos2(left, y), pos2(column.right(), y + 1.2 * em));
            sheet.plane.sliders.push(slider.intersect(sheet.sight));
            for (n, stop) in stops.iter().enumerate() {
                let x = left + n as f32 * each;
                let place = Rect::from_min_max(pos2(x, y), pos2(x + each, y + 1.2 * em));
                let high = if *stop == value { 0.42 } else { 0.22 };
                let middle = y + 0.6 * em;
                let bar = Rect::from_min_max(
                    pos2(x, middle - high * em),
                    pos2(x + (each - 0.12 * em).max(1.0), middle + high * em),
                );
                let ink = if *stop <= now { palette::fade(palette::SERIES[0], 0.8) } else { palette::TRACK };
                sheet.bar(bar, ink);
                let place = place.intersect(sheet.sight);
                if let (true, Ok(number)) = (place.is_positive(), u8::try_from(number)) {
                    sheet.plane.rows.push((place, Target::Parameter(number, *stop)));
                }
            }
            y += PITCH * em;
        }
        let changed: Vec<String> = own
            .parameters()
            .filter(|(name, value)| self.set.get(*name).is_some_and(|now| now != value))
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let words = match (self.wrong(), changed.is_empty()) {
            (Some(wrong), _) => wrong.to_owned(),
            (None, false) => format!("what plays has {}", changed.join(", ")),
            (None, true) => return y,
        };
        let ink = if self.wrong().is_some() { palette::words(palette::MISS) } else { palette::TEXT_QUIET };
        sheet.left(pos2(column.left(), y), &words, Weight::Regular, SMALL, ink, column.width());
        y + 1.3 * em
    }

    /// Values that a press gives a parameter: powers of two within its range, and what it is.
    fn stops(&self, name: &str, value: i64, now: i64) -> Vec<i64> {
        let range = self.ranges.as_ref().and_then(|ranges| ranges.get(name)).copied();
        let (from, to) = range.unwrap_or((1, FAR.max(value.saturating_mul(TIMES))));
        let powers = (0..=40u32).map(|n| 1i64 << n).filter(|n| (from..=to).contains(n));
        let mut stops: Vec<i64> = powers.chain([value, now]).collect();
        stops.sort_unstable();
        stops.dedup();
        stops
    }
}
