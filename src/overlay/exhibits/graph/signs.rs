//! Words over and under a graph: what its colours tell, the values of parameters, what colours stand for.

use super::laid::LaidGraph;
use super::{COLUMNS, told};
use crate::analysis::{Fold, HeatScale};
use crate::chart::NodeHeat;
use crate::nest::Volumes;
use crate::overlay::exhibits::sheet::{Choice, SMALL, Sheet, choices};
use crate::overlay::fonts::Weight;
use crate::scene::palette;
use crate::units::grouped;
use egui::{Rect, pos2, vec2};

/// Width of a sign, ems of its size: more than the mean.
const SIGN: f32 = 0.56;
/// See the module.
pub(super) struct Signs<'a> {
    /// Where all of it stands.
    pub(super) area: Rect,
    /// The number of what is chosen among [`COLUMNS`].
    pub(super) column: usize,
    /// The title, where no outline has it.
    pub(super) title: Option<&'a str>,
}

impl Signs<'_> {
    /// What can be chosen; gives where the graph begins.
    pub(super) fn head(&self, sheet: &mut Sheet, volumes: &Volumes) -> f32 {
        let (em, area) = (sheet.em, self.area);
        let mut y = area.top();
        if let Some(title) = self.title {
            let values = values(volumes);
            let words = if values.is_empty() { title.to_owned() } else { format!("{title}   {values}") };
            sheet.left(pos2(area.left(), y), &words, Weight::SemiBold, 0.95, palette::TEXT, area.width());
            y += 1.7 * em;
        }
        let scales = HeatScale::ALL.len();
        let (heat, scale) = told(self.column);
        let scale_at = HeatScale::ALL.iter().position(|of| *of == scale).unwrap_or(0);
        let measure_at = NodeHeat::ALL.iter().position(|of| *of == heat).unwrap_or(0);
        let choice = |name, number: usize, chosen, apart| {
            let heading = COLUMNS.get(number).map_or("", |column| column.name);
            Choice { name, column: (number, heading), chosen, apart }
        };
        let measures = NodeHeat::ALL.iter().enumerate();
        let measures = measures.map(|(n, of)| choice(of.name(), n * scales + scale_at, *of == heat, 0.0));
        let spread = HeatScale::ALL
            .iter()
            .enumerate()
            .map(|(n, of)| choice(of.name(), measure_at * scales + n, *of == scale, if n == 0 { 1.4 } else { 0.0 }));
        let area = Rect { min: pos2(area.left(), y), ..area };
        choices(sheet, area, measures.chain(spread)) + 2.0 * em
    }

    /// Where the graph ends.
    pub(super) fn foot(&self, sheet: &Sheet) -> f32 {
        self.area.bottom() - 1.7 * sheet.em
    }

    /// What is folded and left out, under the graph on the right.
    pub(super) fn about(&self, sheet: &mut Sheet, laid: &LaidGraph) {
        let graph = &laid.drawn.graph;
        let words = match (graph.left_out, graph.fold) {
            (1.., _) => format!("{} smaller parts left out", grouped(graph.left_out as u64)),
            (0, Fold::Tasks) => return,
            (0, Fold::Loops) => "statements folded into loops".into(),
            (0, Fold::States) => "states and outermost loops".into(),
        };
        let wide = SIGN * SMALL * words.chars().count() as f32 * sheet.em;
        let legend = SIGN * SMALL * laid.drawn.legend.chars().count() as f32 * sheet.em + SCALE * sheet.em;
        if wide + legend + 3.0 * sheet.em < self.area.width() {
            let at = pos2(self.area.right(), self.area.bottom() - 1.2 * sheet.em);
            sheet.right(at, &words, SMALL, palette::TEXT_QUIET);
        }
    }

    /// What colours stand for.
    pub(super) fn legend(&self, sheet: &mut Sheet, words: &str) {
        let (em, steps) = (sheet.em, 10u8);
        let y = self.area.bottom() - 1.2 * em;
        for n in 2..steps {
            let role = crate::chart::Role::Heat(n).color(palette::Theme::Dark);
            let x = self.area.left() + f32::from(n - 2) * 0.6 * em;
            sheet.bar(Rect::from_min_size(pos2(x, y + 0.2 * em), vec2(0.6, 0.7) * em), role);
        }
        let at = pos2(self.area.left() + SCALE * em, y);
        sheet.left(at, words, Weight::Regular, SMALL, palette::TEXT_BODY, self.area.right() - at.x);
    }
}

/// Ems that the scale of colours takes.
const SCALE: f32 = 5.4;

/// Parameters and their values.
pub(super) fn values(volumes: &Volumes) -> String {
    volumes.parameters().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
