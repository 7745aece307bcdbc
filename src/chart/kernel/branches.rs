//! The histogram of branchings: how many items went each way.

use super::{Area, HEAD, SMALL, Sheet, Way, counted, way_role};
use crate::chart::canvas::Anchor;
use crate::chart::role::Role;
use crate::units::grouped;

/// Greatest height of a row, and the least.
const MOST: f64 = 30.0;
const LEAST: f64 = 12.0;

impl Sheet<'_> {
    #[expect(clippy::cast_precision_loss, reason = "places on a picture")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few rows")]
    pub(super) fn branches(&mut self, area: Area) {
        let body = area.below(HEAD + 5.0);
        let room = ((body.h / LEAST) as usize).max(1);
        let ways = self.ways.clone();
        let cut = ways.len() > room;
        let shown = if cut { room.saturating_sub(1).max(1) } else { ways.len() };
        let long = "a digit for each if, 1 where its condition held; bars are items";
        self.heading(area, "Branchings", &[long, "a digit for each if; bars are items", "a digit for each if"]);
        let high = (body.h / (shown + usize::from(cut)).max(1) as f64).clamp(LEAST, MOST);
        let size = SMALL;
        let labels: Vec<String> = ways.iter().take(shown).map(|way| way.label(&ways)).collect();
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let words = (0.66 * size * longest as f64 + 8.0).min(0.45 * body.w);
        let most = ways.first().map_or(1, |way| way.items).max(1);
        let all: u64 = ways.iter().map(|way| way.items).sum();
        let bars = (body.x + words + 4.0, (body.w - words - 92.0).max(20.0));
        for (n, (way, pattern)) in ways.iter().zip(&labels).enumerate() {
            let y = body.y + high * n as f64;
            let baseline = y + 0.5 * high + 0.36 * size;
            if pattern.chars().all(|digit| digit.is_ascii_digit()) {
                self.digits((body.x, baseline), words, size, pattern, |digit| {
                    if digit == '1' { Role::Ink } else { Role::Quiet }
                });
            } else {
                self.words((body.x, baseline), words, size, Role::Body, pattern);
            }
            let said = format!("{} went {}", counted(way.items, "item"), Way::said(&way.branching));
            let long = (bars.1 * way.items as f64 / most as f64).max(1.0);
            self.chart.rect((bars.0, y + 1.5), (long, high - 3.0), way_role(n).0, &said);
            let share = 100.0 * way.items as f64 / all.max(1) as f64;
            let words = format!("{} ({share:.1}%)", grouped(way.items));
            self.chart.text((bars.0 + long + 5.0, baseline), Anchor::Start, size, Role::Body, &words);
        }
        if cut {
            let rest: u64 = ways[shown..].iter().map(|way| way.items).sum();
            let words =
                format!("and {} more of {}", counted((ways.len() - shown) as u64, "branching"), counted(rest, "item"));
            let y = body.y + high * (shown as f64 + 0.5) + 0.36 * size;
            self.words((body.x, y), body.w, size, Role::Quiet, &words);
        }
    }
}
