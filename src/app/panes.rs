//! The panes of the window: how they divide it, and which of them keys are for.
//!
//! `egui_tiles` keeps the tree: rows and columns of tabs, each tab a pane. Every pane has a tab bar, which is not shown while the
//! pane is the only one.

use super::arrangement::{Arrangement, Cell, Column, hundredths};
use super::pane::Pane;
use crate::overlay::Studio;
use crate::overlay::exhibits::{ExhibitEntry, Subject, after};
use crate::scene::Camera;
use egui_tiles::{Container, Linear, LinearDir, SimplificationOptions, Tile, TileId, Tiles, Tree};

/// Panes at most: more would be too small to read.
pub const MOST: usize = 9;

/// Where a pane that is split puts the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On its right.
    Right,
    /// Below it.
    Below,
}

/// See the module.
pub struct Panes {
    pub(super) tree: Tree<Pane>,
    focus: TileId,
    /// One was closed since somebody asked.
    closed: bool,
}

/// How the tree is kept: each pane in tabs, nothing empty, nothing nested for nothing.
pub(super) const TIDY: SimplificationOptions = SimplificationOptions {
    prune_empty_tabs: true,
    prune_empty_containers: true,
    prune_single_child_tabs: true,
    prune_single_child_containers: true,
    all_panes_must_have_tabs: true,
    join_nested_linear_containers: true,
    flatten_tabs_in_tabs: true,
};

impl Panes {
    /// One beside the other for `rows`, of which there must be one at least; the first has `camera`.
    #[must_use]
    pub fn new(rows: &[&'static ExhibitEntry], camera: Camera, studio: &Studio) -> Self {
        Self::arranged(&Arrangement::side_by_side(rows), camera, studio)
    }

    /// As an arrangement of one pane at least has them; the first has `camera`.
    #[must_use]
    pub fn arranged(all: &Arrangement, camera: Camera, studio: &Studio) -> Self {
        let mut tiles = Tiles::default();
        let mut row = Linear::new(LinearDir::Horizontal, Vec::new());
        let mut focus = None;
        let mut left = MOST;
        for Column { width, cells } in &all.columns {
            let mut column = Linear::new(LinearDir::Vertical, Vec::new());
            for cell in cells.iter().take(left) {
                let camera = if focus.is_none() { camera } else { Camera::default() };
                let mut pane = Pane::new(cell.row, camera, studio);
                if cell.baseline {
                    pane.want_baseline(studio);
                }
                let pane = tiles.insert_pane(pane);
                focus = focus.or(Some(pane));
                let tabs = tiles.insert_tab_tile(vec![pane]);
                column.shares.set_share(tabs, f32::from(cell.height));
                column.children.push(tabs);
            }
            left -= column.children.len();
            let tile = match column.children[..] {
                [] => continue,
                [alone] => alone,
                _ => tiles.insert_container(column),
            };
            row.shares.set_share(tile, f32::from(*width));
            row.children.push(tile);
        }
        let root = tiles.insert_container(row);
        let mut tree = Tree::new(egui::Id::unique("panes"), root, tiles);
        tree.simplify(&TIDY);
        Self { tree, focus: focus.unwrap_or(root), closed: false }
    }

    /// How those that are seen divide the window, shares in hundredths. Columns of rows within others become columns of their own.
    #[must_use]
    pub fn arrangement(&self) -> Arrangement {
        if let Some(columns) = self.tree.root.and_then(|root| self.columns(root)) {
            return Arrangement { columns };
        }
        let mut seen: Vec<&Pane> = self.seen().map(|(_, pane)| pane).collect();
        seen.sort_by_key(|pane| pane.place().area.at);
        let cell = |pane: &&Pane| Cell { baseline: pane.wants_baseline(), ..Cell::of(pane.row()) };
        Arrangement { columns: seen.iter().map(|pane| Column { width: 1, cells: vec![cell(pane)] }).collect() }
    }

    fn columns(&self, root: TileId) -> Option<Vec<Column>> {
        match self.tree.tiles.get(root)? {
            Tile::Container(Container::Linear(row)) if row.dir == LinearDir::Horizontal => {
                let widths = hundredths(&row.children.iter().map(|child| row.shares[*child]).collect::<Vec<_>>());
                let cells = row.children.iter().map(|child| self.cells(*child)).collect::<Option<Vec<_>>>()?;
                Some(cells.into_iter().zip(widths).map(|(cells, width)| Column { width, cells }).collect())
            }
            _ => Some(vec![Column { width: 1, cells: self.cells(root)? }]),
        }
    }

    /// The panes of a column; `None`: it has columns in it.
    fn cells(&self, tile: TileId) -> Option<Vec<Cell>> {
        let tiles = &self.tree.tiles;
        let cell = |pane: &Pane, height| Cell { row: pane.row(), height, baseline: pane.wants_baseline() };
        let front = |tile: TileId| match tiles.get(tile)? {
            Tile::Container(Container::Tabs(tabs)) => tiles.get_pane(&tabs.active?),
            Tile::Pane(pane) => Some(pane),
            Tile::Container(_) => None,
        };
        match tiles.get(tile)? {
            Tile::Container(Container::Linear(column)) if column.dir == LinearDir::Vertical => {
                let heights =
                    hundredths(&column.children.iter().map(|child| column.shares[*child]).collect::<Vec<_>>());
                column.children.iter().zip(heights).map(|(child, height)| Some(cell(front(*child)?, height))).collect()
            }
            _ => Some(vec![cell(front(tile)?, 1)]),
        }
    }

    /// Number of panes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.tiles.tiles().filter(|tile| tile.is_pane()).count()
    }

    /// Whether there is none; there always is one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one that keys are for.
    #[must_use]
    pub fn focus(&self) -> TileId {
        self.focus
    }

    /// Has keys be for a pane from now on.
    pub fn set_focus(&mut self, pane: TileId) {
        if self.tree.tiles.get_pane(&pane).is_some() {
            self.focus = pane;
        }
    }

    /// Has keys be for the next pane that is seen.
    pub fn next(&mut self) {
        let seen = self.seen_ids();
        let at = seen.iter().position(|id| *id == self.focus).map_or(0, |at| at + 1);
        if let Some(next) = seen.get(at).or(seen.first()) {
            self.focus = *next;
        }
    }

    /// The pane that keys are for.
    ///
    /// # Panics
    /// Never: there is always one, and keys are for one that there is.
    #[must_use]
    pub fn focused(&self) -> &Pane {
        self.tree.tiles.get_pane(&self.focus).expect("keys are for a pane that there is")
    }

    /// As [`Panes::focused`], to be changed.
    ///
    /// # Panics
    /// Never, as there.
    pub fn focused_mut(&mut self) -> &mut Pane {
        match self.tree.tiles.get_mut(self.focus) {
            Some(Tile::Pane(pane)) => pane,
            _ => unreachable!("keys are for a pane that there is"),
        }
    }

    /// All, whether seen or behind another tab.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pane> {
        let mut all: Vec<(TileId, &mut Pane)> = self.tree.tiles.iter_mut().filter_map(pane_of).collect();
        all.sort_by_key(|(id, _)| id.0);
        all.into_iter().map(|(_, pane)| pane)
    }

    fn seen_ids(&self) -> Vec<TileId> {
        let mut ids = self.tree.active_tiles();
        ids.retain(|id| self.tree.tiles.get_pane(id).is_some());
        ids.sort_by_key(|id| id.0);
        ids
    }

    /// Those that are not behind another tab, in the order in which they were opened, each with its number.
    pub fn seen(&self) -> impl Iterator<Item = (TileId, &Pane)> {
        self.seen_ids().into_iter().filter_map(|id| Some((id, self.tree.tiles.get_pane(&id)?)))
    }

    /// As [`Panes::seen`], to be changed.
    pub fn seen_mut(&mut self) -> impl Iterator<Item = &mut Pane> {
        let ids = self.seen_ids();
        let mut seen: Vec<(TileId, &mut Pane)> =
            self.tree.tiles.iter_mut().filter_map(pane_of).filter(|(id, _)| ids.contains(id)).collect();
        seen.sort_by_key(|(id, _)| id.0);
        seen.into_iter().map(|(_, pane)| pane)
    }

    /// Halves a pane: the new one shows the next exhibit, and keys are for it. `false`: there are too many, or it is none.
    pub fn split(&mut self, pane: TileId, side: Side, studio: &Studio) -> bool {
        let tiles = &mut self.tree.tiles;
        let (Some(row), Some(tabs)) = (tiles.get_pane(&pane).map(Pane::row), tiles.parent_of(pane)) else {
            return false;
        };
        if tiles.tiles().filter(|tile| tile.is_pane()).count() >= MOST {
            return false;
        }
        let above = tiles.parent_of(tabs);
        let new = tiles.insert_pane(Pane::new(after(row, Subject::of(studio)), Camera::default(), studio));
        let new_tabs = tiles.insert_tab_tile(vec![new]);
        let dir = if side == Side::Right { LinearDir::Horizontal } else { LinearDir::Vertical };
        let both = tiles.insert_container(Linear::new(dir, vec![tabs, new_tabs]));
        match above.and_then(|above| tiles.get_mut(above)) {
            Some(Tile::Container(container)) => {
                let replaced = container.replace_child(tabs, both);
                debug_assert!(replaced.is_some(), "the container above has it");
            }
            _ => self.tree.root = Some(both),
        }
        self.tree.simplify(&TIDY);
        self.focus = new;
        true
    }

    /// Closes a pane, unless it is the only one; what it leaves free its neighbours take.
    pub fn close(&mut self, pane: TileId) -> bool {
        if self.len() < 2 || self.tree.tiles.get_pane(&pane).is_none() {
            return false;
        }
        let neighbour = self.neighbour(pane);
        self.closed = true;
        self.tree.remove_recursively(pane);
        self.tree.simplify(&TIDY);
        if self.focus == pane {
            self.focus = neighbour.or_else(|| self.seen_ids().first().copied()).unwrap_or(self.focus);
        }
        true
    }

    /// Whether one was closed since this was asked last.
    pub(super) fn take_closed(&mut self) -> bool {
        std::mem::take(&mut self.closed)
    }

    /// The pane that shares the most of the tree with another one: a tab beside it, else one of its row or column.
    fn neighbour(&self, pane: TileId) -> Option<TileId> {
        let tiles = &self.tree.tiles;
        let mut inside = pane;
        while let Some(around) = tiles.parent_of(inside) {
            let mut below = vec![around];
            while let Some(tile) = below.pop() {
                match tiles.get(tile) {
                    Some(Tile::Pane(_)) if tile != pane => return Some(tile),
                    Some(Tile::Container(container)) => below.extend(container.children()),
                    _ => {}
                }
            }
            inside = around;
        }
        None
    }
}

#[cfg(test)]
impl Panes {
    /// Puts a pane in front of another one, as a tab.
    pub(super) fn stack(&mut self, pane: TileId, onto: TileId) {
        let tabs = self.tree.tiles.parent_of(onto).expect("each pane is in tabs");
        self.tree.move_tile_to_container(pane, tabs, 0, false);
        self.tree.simplify(&TIDY);
        self.tree.make_active(|id, _| id == pane);
    }
}

fn pane_of<'a>((id, tile): (&TileId, &'a mut Tile<Pane>)) -> Option<(TileId, &'a mut Pane)> {
    match tile {
        Tile::Pane(pane) => Some((*id, pane)),
        Tile::Container(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::exhibits::{EXHIBITS, named};
    use crate::overlay::tests::studio;

    fn names(panes: &Panes) -> Vec<&'static str> {
        panes.seen().map(|(_, pane)| pane.row().name).collect()
    }

    fn one() -> (Studio, Panes) {
        let studio = studio();
        let panes = Panes::new(&[&EXHIBITS[0]], Camera::default(), &studio);
        (studio, panes)
    }

    #[test]
    fn a_split_opens_the_next_exhibit_beside_or_below_and_keys_go_there() {
        let (studio, mut panes) = one();
        let first = panes.focus();
        assert_eq!((panes.len(), names(&panes)), (1, vec!["rings"]));
        assert!(panes.split(first, Side::Right, &studio));
        assert_eq!(names(&panes), ["rings", "numbers"]);
        assert_eq!(panes.focused().row().name, "numbers");
        assert!(panes.split(panes.focus(), Side::Below, &studio));
        assert_eq!(names(&panes), ["rings", "numbers", "large"]);
        // Two columns, of which the second has two rows.
        let root = panes.tree.root.and_then(|root| panes.tree.tiles.get_container(root)).expect("columns");
        assert_eq!((root.kind(), root.num_children()), (egui_tiles::ContainerKind::Horizontal, 2));
        let second = panes.tree.tiles.get_container(root.children_vec()[1]).expect("rows");
        assert_eq!((second.kind(), second.num_children()), (egui_tiles::ContainerKind::Vertical, 2));
        // Once more on the right of the first: a third column, not one in another.
        assert!(panes.split(first, Side::Right, &studio));
        let root = panes.tree.root.and_then(|root| panes.tree.tiles.get_container(root)).expect("columns");
        assert_eq!(root.num_children(), 3);
    }

    #[test]
    fn there_is_always_a_pane_and_never_too_many() {
        let (studio, mut panes) = one();
        assert!(!panes.close(panes.focus()) && panes.len() == 1);
        for n in 1..MOST {
            let side = if n % 2 == 0 { Side::Right } else { Side::Below };
            assert!(panes.split(panes.focus(), side, &studio));
        }
        assert!(!panes.split(panes.focus(), Side::Right, &studio));
        assert_eq!(panes.len(), MOST);
        for left in (1..MOST).rev() {
            let gone = panes.focus();
            assert!(panes.close(gone));
            assert_eq!((panes.len(), panes.seen().count()), (left, left));
            assert!(
                panes.focus() != gone && panes.seen().any(|(id, _)| id == panes.focus()),
                "keys are for one that is there"
            );
        }
        assert!(!panes.is_empty());
        assert_eq!(panes.focused().place(), panes.focused_mut().place());
    }

    #[test]
    fn when_a_pane_is_closed_keys_are_for_its_neighbour() {
        let (studio, mut panes) = one();
        let left = panes.focus();
        assert!(panes.split(left, Side::Right, &studio));
        let above = panes.focus();
        assert!(panes.split(above, Side::Below, &studio));
        let below = panes.focus();
        assert!(panes.close(below) && panes.focus() == above);
        assert!(panes.split(above, Side::Below, &studio));
        panes.set_focus(above);
        assert!(panes.close(above) && panes.focus() != left, "the one below it");
        // One that has no keys takes none with it.
        assert!(panes.close(left) && panes.len() == 1);
    }

    #[test]
    fn keys_go_round_the_panes_that_are_seen() {
        let studio = studio();
        let rows: Vec<&'static ExhibitEntry> =
            ["numbers", "large", "rings"].map(|name| named(name).expect("there")).into();
        let camera = Camera { at: [0.0, 0.1], zoom: 2.0 };
        let mut panes = Panes::new(&rows, camera, &studio);
        assert_eq!(names(&panes), ["numbers", "large", "rings"]);
        let cameras: Vec<Camera> = panes.iter_mut().map(|pane| pane.camera()).collect();
        assert_eq!(cameras, [camera, Camera::default(), Camera::default()]);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(panes.focused().row().name);
            panes.next();
        }
        assert_eq!(seen, ["numbers", "large", "rings", "numbers"]);
        // Of a pane that is closed nothing is left to have keys.
        let gone = panes.focus();
        assert!(panes.close(gone));
        panes.set_focus(gone);
        assert_ne!(panes.focus(), gone);
    }
}
