//! What a stage lays out anew when a view asks for it: colours of arcs and the order of homes.

use super::Stage;
use crate::scene::structure::structure;
use crate::scene::view::View;

impl Stage {
    /// Has homes in the order and arcs in the colours of a view.
    pub(super) fn dress(&mut self, view: &View) {
        let moved = view.order != self.order;
        if moved {
            self.order = view.order.clone();
            self.places.home.put(&self.order);
        }
        if moved || view.colors != self.colors {
            self.colors = view.colors.clone();
            self.structure = structure(&self.places.rings, &self.places.home, &self.colors);
        }
    }
}
