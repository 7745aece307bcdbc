//! What a stage lays out anew when a view asks for it: colours of arcs, the order of homes, the thickness of rings.

use super::Stage;
use crate::scene::layout::{Radii, Ring};
use crate::scene::structure::structure;
use crate::scene::view::View;
use crate::sim::Hierarchy;

impl Stage {
    /// Has homes in the order, arcs in the colours and rings by the radii of a view.
    pub(super) fn dress(&mut self, hierarchy: &Hierarchy, view: &View) {
        let (moved, ringed) = (view.order != self.order, view.radii != self.places.rings.radii);
        if moved {
            self.order = view.order.clone();
            self.places.home.put(&self.order);
        }
        if ringed {
            self.places.ring_by(hierarchy, &self.idle, view.radii);
        }
        if ringed || !self.cells.are_for(view.detail) {
            self.cells = self.cells.again(hierarchy, &self.places, view.detail);
        }
        if moved || ringed || view.colors != self.colors {
            self.colors = view.colors.clone();
            self.structure = structure(&self.places.rings, &self.places.home, &self.colors);
        }
    }

    /// What to say of rings that are drawn to scale: `rings: area as capacity; not to scale: L1`.
    pub(super) fn scale(&self) -> String {
        let rings = &self.places.rings;
        let widened: Vec<String> = rings.rings.iter().filter(|ring| ring.widened).map(Ring::common_name).collect();
        match (rings.radii, &widened[..]) {
            (Radii::Fit, _) => String::new(),
            (Radii::Scale, []) => "rings: area as capacity".into(),
            (Radii::Scale, widened) => format!("rings: area as capacity; not to scale: {}", widened.join(", ")),
        }
    }
}
