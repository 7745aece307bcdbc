//! Containers of a graph, and memlets that say which of their elements are meant.

use super::super::container::Container;
use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::form::Form;
use super::json::{attribute, element, flag, kind, list_of, text_of};
use super::{Lower, Skip, Trouble};
use serde_json::Value;
use std::collections::BTreeMap;

/// A graph with what names mean in it.
#[derive(Clone)]
pub(super) struct Frame<'g> {
    pub(super) sdfg: &'g Value,
    /// Symbols, parameters of maps, assigned symbols.
    pub(super) names: BTreeMap<String, Expr>,
    pub(super) data: BTreeMap<String, Data>,
}

/// Where a container's elements are, in the memory of one that is allocated.
#[derive(Clone)]
pub(super) struct Data {
    pub(super) container: usize,
    /// Elements from the allocated container's first byte to the element whose indices are all 0.
    pub(super) base: Expr,
    pub(super) shape: Vec<Expr>,
    pub(super) strides: Vec<Expr>,
    /// What is added to each index.
    pub(super) offset: Vec<Expr>,
    pub(super) is_scalar: bool,
    pub(super) transient: bool,
    /// Whether it is a container as it was allocated, and not a part of one.
    pub(super) whole: bool,
    /// Name of the container that was allocated.
    pub(super) source: String,
    pub(super) elem_bytes: u32,
    /// Why it cannot be touched.
    pub(super) refused: Option<String>,
}

/// From the first to the last index of a dimension, by steps.
pub(super) struct Range {
    pub(super) start: Expr,
    pub(super) end: Expr,
    pub(super) step: Expr,
}

impl Range {
    /// Number of indices.
    pub(super) fn extent(&self) -> Expr {
        let span = self.end.clone().with(self.start.clone(), Op::Sub);
        span.with(self.step.clone(), Op::FloorDiv).plus(Expr::num(1))
    }

    /// The number of indices where it is the same in all iterations.
    pub(super) fn fixed(&self) -> Option<i64> {
        if let Some(fixed) = Form::of(self.extent()).constant() {
            return Some(fixed);
        }
        // `i` to `i + 3` by 1.
        let far = Form::of(self.end.clone().with(self.start.clone(), Op::Sub)).constant()?;
        let step = self.step.constant().filter(|step| *step != 0)?;
        far.div_euclid(step).checked_add(1)
    }

    pub(super) fn is_single(&self) -> bool {
        self.start == self.end || self.fixed() == Some(1)
    }
}

impl<'g> Frame<'g> {
    pub(super) fn root(sdfg: &'g Value) -> Self {
        Self { sdfg, names: BTreeMap::new(), data: BTreeMap::new() }
    }

    /// A constant of the graph.
    pub(super) fn constant(&self, name: &str) -> Option<i64> {
        let pair = attribute(self.sdfg, "constants_prop")?.get(name)?;
        pair.as_i64().or_else(|| list_of(Some(pair)).get(1)?.as_i64())
    }
}

impl Lower<'_> {
    /// Allocates the containers of a graph; those that are handed in from outside are there already.
    pub(super) fn containers(&mut self, frame: &mut Frame<'_>, is_root: bool) -> Result<(), NestError> {
        let Some(arrays) = attribute(frame.sdfg, "_arrays").and_then(Value::as_object) else { return Ok(()) };
        for (name, desc) in arrays {
            if frame.data.contains_key(name) {
                continue;
            }
            if !is_root && !flag(desc, "transient") {
                // Handed in by an edge that is not there: nothing can touch it.
                continue;
            }
            let place = format!("container `{name}`");
            match self.container(name, desc, frame, &place) {
                Ok(data) => drop(frame.data.insert(name.clone(), data)),
                Err(Trouble::Wrong(error)) => return Err(error),
                Err(Trouble::Skip(Skip(why))) => drop(frame.data.insert(name.clone(), self.refused(name, why))),
            }
        }
        Ok(())
    }

    /// A container that cannot be touched, which is said where it is.
    fn refused(&mut self, name: &str, why: String) -> Data {
        Data {
            container: usize::MAX,
            base: Expr::num(0),
            shape: Vec::new(),
            strides: Vec::new(),
            offset: Vec::new(),
            is_scalar: false,
            transient: true,
            whole: true,
            source: name.to_owned(),
            elem_bytes: 1,
            refused: Some(why),
        }
    }

    /// Shape, strides, offsets and start of a container, in the names of its graph.
    pub(super) fn layout(&mut self, desc: &Value, frame: &Frame<'_>, place: &str) -> Result<[Vec<Expr>; 3], Trouble> {
        let mut shape = Vec::new();
        for extent in list_of(attribute(desc, "shape")) {
            shape.push(self.expr(extent, frame, place)?);
        }
        let mut strides = Vec::new();
        for stride in list_of(attribute(desc, "strides")) {
            strides.push(self.expr(stride, frame, place)?);
        }
        if strides.len() != shape.len() {
            // By rows, where nothing is said.
            let mut stride = Expr::num(1);
            strides = Vec::new();
            for extent in shape.iter().rev() {
                strides.insert(0, stride.clone());
                stride = folded(stride.times(extent.clone()));
            }
        }
        let mut offset = Vec::new();
        for shift in list_of(attribute(desc, "offset")) {
            offset.push(self.expr(shift, frame, place)?);
        }
        offset.resize(shape.len(), Expr::num(0));
        Ok([shape, strides, offset])
    }

    fn container(&mut self, name: &str, desc: &Value, frame: &Frame<'_>, place: &str) -> Result<Data, Trouble> {
        let kind = kind(desc);
        let transient = flag(desc, "transient");
        if !matches!(kind, "Array" | "Scalar" | "View" | "ArrayView") {
            return Err(Skip(format!(
                "{}, {place}: a `{kind}`, which has no fixed places in memory; replace it by an array in DaCe",
                self.name
            ))
            .into());
        }
        let Some((elem_bytes, elem_type)) = element(attribute(desc, "dtype")) else {
            let dtype = attribute(desc, "dtype").map(ToString::to_string).unwrap_or_default();
            return Err(Skip(format!(
                "{}, {place}: elements of the type {}, whose size is not known; use a type of numbers",
                self.name,
                super::super::lexer::short(&dtype)
            ))
            .into());
        };
        let [shape, strides, offset] = self.layout(desc, frame, place)?;
        let start = match attribute(desc, "start_offset") {
            Some(start) => self.expr(start, frame, place)?,
            None => Expr::num(0),
        };
        let mut data = Data {
            container: self.nest.containers.len(),
            base: start,
            shape,
            strides,
            offset,
            is_scalar: kind == "Scalar",
            transient,
            whole: true,
            source: name.to_owned(),
            elem_bytes,
            refused: None,
        };
        if kind.ends_with("View") {
            // Where it is, a state says.
            data.refused =
                Some(format!("{}, {place}: a view that no state binds to a container; bind it in DaCe", self.name));
            return Ok(data);
        }
        let total = match attribute(desc, "total_size") {
            Some(total) => {
                let total = self.expr(total, frame, place)?;
                self.known(&total).unwrap_or(0)
            }
            None => 0,
        };
        let mut unique = name.to_owned();
        let mut number = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name} ({number})");
            number += 1;
        }
        data.source.clone_from(&unique);
        let container = self.sized(unique, elem_type, &data, total, place)?;
        self.nest.containers.push(container);
        Ok(data)
    }

    fn sized(
        &self,
        name: String,
        elem_type: String,
        data: &Data,
        total: i64,
        place: &str,
    ) -> Result<Container, Trouble> {
        let constants = |list: &[Expr]| list.iter().map(|expr| self.known(expr)).collect::<Option<Vec<i64>>>();
        let known = constants(&data.shape).zip(constants(&data.strides)).zip(constants(&data.offset));
        let known = known.zip(self.known(&data.base));
        let mut container = Container {
            name,
            elem_type,
            elem_bytes: data.elem_bytes,
            shape: Vec::new(),
            strides: Vec::new(),
            offset: 0,
            elements: 1 << 40,
            align: 0,
            base: None,
            transient: data.transient,
        };
        let Some((((shape, strides), offset), start)) = known else {
            if data.transient {
                return Ok(container);
            }
            return Err(self.wrong(place, "a shape that changes while the graph runs", "one of symbols").into());
        };
        if self.missing.is_empty()
            && let Some(extent) = shape.iter().find(|extent| **extent < 1)
        {
            return Err(self
                .wrong(place, format!("the extent {extent}"), "1 or more; set larger values of symbols")
                .into());
        }
        let too_large =
            || self.wrong(place, "more than 2^62 bytes", "a container that fits; set smaller values of symbols");
        let (mut first, mut last) = (i128::from(start), i128::from(start));
        let mut shifted = i128::from(start);
        for ((extent, stride), shift) in shape.iter().zip(&strides).zip(&offset) {
            let far = (i128::from(*extent) - 1).max(0) * i128::from(*stride);
            (first, last) = (first + far.min(0), last + far.max(0));
            shifted += i128::from(*shift) * i128::from(*stride);
        }
        if first < 0 {
            let found = format!("an element {} elements before its first byte", -first);
            return Err(self.wrong(place, found, "elements behind its start; set start_offset in DaCe").into());
        }
        let elements = i64::try_from(last + 1).ok().map(|n| n.max(total)).ok_or_else(too_large)?;
        if elements.checked_mul(i64::from(data.elem_bytes)).is_none_or(|bytes| bytes > 1 << 62) {
            return Err(too_large().into());
        }
        container.shape = shape.iter().map(|extent| extent.unsigned_abs()).collect();
        container.strides = strides;
        container.offset = i64::try_from(shifted).map_or(start, |_| start);
        container.elements = elements.unsigned_abs();
        Ok(container)
    }

    /// The dimensions of a subset.
    pub(super) fn ranges(&mut self, subset: &Value, frame: &Frame<'_>, place: &str) -> Result<Vec<Range>, Trouble> {
        let mut ranges = Vec::new();
        for range in list_of(subset.get("ranges")) {
            let part = |name: &str| {
                range.get(name).cloned().unwrap_or_else(|| Value::from(if name == "start" { 0 } else { 1 }))
            };
            if !matches!(text_of(range.get("tile")), "" | "1") && range.get("tile").and_then(Value::as_i64) != Some(1) {
                return Err(Skip(format!("{}, {place}: a range of tiles; unroll it in DaCe", self.name)).into());
            }
            let [start, end, step] = ["start", "end", "step"].map(|name| self.expr(&part(name), frame, place));
            ranges.push(Range { start: start?, end: end?, step: step? });
        }
        for index in list_of(subset.get("indices")) {
            let index = self.expr(index, frame, place)?;
            ranges.push(Range { start: index.clone(), end: index, step: Expr::num(1) });
        }
        Ok(ranges)
    }
}

/// Worked out where it can be.
pub(super) fn folded(expr: Expr) -> Expr {
    match Form::of(expr.clone()).constant() {
        Some(value) => Expr::num(value),
        None => expr,
    }
}

impl Data {
    /// Elements from the allocated container's first byte to the one with these indices.
    pub(super) fn place(&self, indices: &[Expr]) -> Expr {
        let mut sum = self.base.clone();
        for ((index, stride), shift) in indices.iter().zip(&self.strides).zip(&self.offset) {
            sum = sum.plus(index.clone().plus(shift.clone()).times(stride.clone()));
        }
        folded(sum)
    }
}
