//! What a `.loops` file says, before its parameters have values.

use super::expr::Expr;
use super::lexer::At;
use crate::reference::Kind;

/// All of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) title: String,
    pub(super) about: String,
    pub(super) params: Vec<Param>,
    pub(super) arrays: Vec<ArrayDecl>,
    pub(super) body: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) value: Option<Expr>,
    /// Least and most.
    pub(super) range: Option<(Expr, Expr)>,
    pub(super) at: At,
}

#[derive(Clone, Debug)]
pub(super) struct ArrayDecl {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) transient: bool,
    pub(super) shape: Vec<Expr>,
    pub(super) elem_type: String,
    pub(super) elem_bytes: u32,
    pub(super) order: Order,
    pub(super) pad: Option<Expr>,
    pub(super) align: Option<Expr>,
    pub(super) base: Option<Expr>,
    pub(super) offset: Option<Expr>,
}

/// How elements follow one another.
#[derive(Clone, Debug)]
pub(super) enum Order {
    Row,
    Column,
    /// Which index is outermost, which is next, ...
    Permuted(Vec<Expr>),
    /// Tiles row by row, elements of a tile row by row.
    Tiled(Vec<Expr>),
    Strides(Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    For(ForItem),
    If { at: At, condition: Expr, yes: Vec<Item>, no: Vec<Item> },
    Statement(StatementItem),
}

#[derive(Clone, Debug)]
pub(super) struct ForItem {
    pub(super) levels: Vec<Level>,
    pub(super) parallel: Option<(Expr, Schedule)>,
    pub(super) at: At,
    pub(super) body: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(super) enum Schedule {
    Blocks,
    Cyclic,
    On(Expr),
}

#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) from: Expr,
    pub(super) to: Expr,
    /// `..=`: the end is done too.
    pub(super) closed: bool,
    pub(super) step: Expr,
    pub(super) tile: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(super) struct StatementItem {
    pub(super) at: At,
    pub(super) text: String,
    pub(super) accesses: Vec<Touch>,
}

#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) array: String,
    pub(super) at: At,
    pub(super) kind: Kind,
    pub(super) indices: Vec<Expr>,
}
