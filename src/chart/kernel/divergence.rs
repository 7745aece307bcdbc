//! The divergence view: a ring for each class of warps that branch alike, largest first. Rings of warps that diverge are thick and cut
//! into the ways of their items; those of warps that do not are thin and whole.

use super::{Area, HEAD, SMALL, Sheet, Way, counted, length, way_role};
use crate::chart::canvas::Anchor;
use crate::chart::role::Role;
use crate::kernel::ProxyWarp;
use crate::units::grouped;

/// Least radius of a ring, and the greatest.
const LEAST: f64 = 24.0;
const MOST: f64 = 110.0;
/// Units for the words below a ring.
const WORDS: f64 = 28.0;
/// Between rings.
const GAP: f64 = 14.0;
/// Between the parts of a ring, turns at radius 1.
const SEAM: f64 = 0.25;

impl Sheet<'_> {
    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    pub(super) fn divergence(&mut self, area: Area) {
        let all = &self.book.run.counts.proxy_warps;
        let body = area.below(HEAD + 10.0);
        // The largest rings with which all find room; at the least size, as many as do.
        let fits = |radius: f64| {
            let across = ((body.w + GAP) / (2.0 * radius + GAP)).floor().max(1.0);
            let down = (body.h / (2.0 * radius + WORDS)).floor().max(1.0);
            (across, down)
        };
        let limit = MOST.min((body.h - WORDS) / 2.0).max(12.0);
        let sizes = (0u32..=80).map(|n| LEAST.min(limit) + (limit - LEAST.min(limit)) * (1.0 - f64::from(n) / 80.0));
        let enough = |radius: &f64| {
            let (across, down) = fits(*radius);
            across * down >= all.len() as f64
        };
        let radius = sizes.into_iter().find(enough).unwrap_or(LEAST.min(limit));
        let (across, down) = fits(radius);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few rings")]
        let (across, room) = (across as usize, (across * down) as usize);
        if all.len() > room {
            let warps: u64 = all[room..].iter().map(|proxy| proxy.warps).sum();
            let classes = counted((all.len() - room) as u64, "class");
            let more = format!("the {room} largest classes; {classes} more of {}", counted(warps, "warp"));
            self.heading(area, "Divergence", &[&more, &format!("{room} of {} classes", all.len())]);
        } else {
            let long = "a ring for each class of warps; numbers are items";
            self.heading(area, "Divergence", &[long, "a ring for each class of warps", "numbers are items"]);
        }
        let shown = all.len().min(room);
        let columns = shown.min(across).max(1);
        let step = (body.w / columns as f64).min(2.0 * radius + 6.0 * GAP);
        for (n, proxy) in all.iter().take(room).enumerate() {
            let x = body.x + step * ((n % across) as f64 + 0.5);
            let y = body.y + (2.0 * radius + WORDS) * (n / across) as f64 + radius;
            self.ring(proxy, (x, y), radius, step);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    fn ring(&mut self, proxy: &ProxyWarp, at: (f64, f64), radius: f64, room: f64) {
        let all: usize = proxy.branchings.iter().map(|way| way.lanes).sum();
        let inner = radius * if proxy.divergent { 0.58 } else { 0.86 };
        let mut turn = 0.0;
        let seam = if proxy.divergent { SEAM / radius } else { 0.0 };
        for way in &proxy.branchings {
            let share = way.lanes as f64 / all.max(1) as f64;
            let number = self.ways.iter().position(|of| {
                of.branching.pattern == way.pattern
                    && of.branching.pattern_with_loops == way.pattern_with_loops
                    && of.branching.cases == way.cases
            });
            let (role, ink) = way_role(number.unwrap_or(usize::MAX));
            let said = format!("{} a warp: {}", counted(way.lanes as u64, "item"), Way::said(way));
            let ends = (turn + 0.5 * seam, (turn + share - 0.5 * seam).max(turn + 0.5 * seam + 0.002));
            self.chart.sector(at, (inner, radius), ends, role, &said);
            let words = way.lanes.to_string();
            let middle = 0.5 * (inner + radius);
            let angle = std::f64::consts::TAU * (turn + share / 2.0);
            let around = std::f64::consts::TAU * middle * share;
            if proxy.divergent && around > length(&words, SMALL) + 3.0 && radius - inner > SMALL {
                let place = (at.0 + middle * angle.sin(), at.1 - middle * angle.cos() + 0.36 * SMALL);
                self.chart.text(place, Anchor::Middle, SMALL, ink, &words);
            }
            turn += share;
        }
        let size = (0.42 * radius).clamp(10.0, 20.0);
        let words = if proxy.warps == 1 { "warp" } else { "warps" };
        // In a small ring the number stands alone, or below it.
        let within = |words: &str, size: f64| length(words, size) < 1.8 * inner;
        let number = grouped(proxy.warps);
        let is_inside = within(&number, size);
        if is_inside && within(words, SMALL) {
            self.chart.strong((at.0, at.1 + 0.1 * size), Anchor::Middle, size, Role::Ink, &number);
            self.chart.text((at.0, at.1 + 0.1 * size + SMALL + 1.0), Anchor::Middle, SMALL, Role::Quiet, words);
        } else if is_inside {
            self.chart.strong((at.0, at.1 + 0.36 * size), Anchor::Middle, size, Role::Ink, &number);
        }
        let ways = proxy.branchings.len();
        let (first, second, role) = match proxy.divergent {
            true => ("diverge".to_owned(), counted(ways as u64, "way"), Role::Ink),
            false => ("all alike".to_owned(), counted(all as u64, "item"), Role::Quiet),
        };
        let below = counted(proxy.warps, "warp");
        let place = format!("as warp {} of group {}", proxy.first.1, proxy.first.0);
        let both = format!("{first}: {second}");
        let both = if length(&both, SMALL) < room { both } else { first };
        self.chart.text((at.0, at.1 + radius + SMALL + 2.0), Anchor::Middle, SMALL, role, &both);
        let place = if is_inside { place } else { below };
        if length(&place, SMALL) < room {
            self.chart.text((at.0, at.1 + radius + 2.0 * SMALL + 4.0), Anchor::Middle, SMALL, Role::Quiet, &place);
        }
    }
}
