//! Statements that write which texels are accessed.

use super::super::code::Value;
use super::super::error::KernelError;
use super::super::machine::{Tag, VALUE};
use super::body::Body;
use naga::{Expression, ImageDimension, ImageQuery, Literal, Scalar, ScalarKind, TypeInner};

impl Body<'_, '_> {
    /// Dimensions of a texture's layers, and whether it has layers.
    fn dimensions(&self, image: Value) -> Result<(usize, bool), KernelError> {
        let TypeInner::Image { dim, arrayed, .. } = *self.inner(image) else { return Err(self.lost()) };
        let dimensions = match dim {
            ImageDimension::D1 => 1,
            ImageDimension::D2 => 2,
            ImageDimension::D3 => 3,
            ImageDimension::Cube => return Err(self.lost()),
        };
        Ok((dimensions, arrayed))
    }

    /// The scalars of a number or a vector.
    fn parts(&mut self, value: Value, count: usize) -> Vec<Value> {
        if count == 1 {
            return vec![value];
        }
        let part = |index| Expression::AccessIndex { base: value, index };
        (0..).take(count).map(|index| self.writer.value(part(index))).collect()
    }

    /// A vector of three of that kind: these, and `rest` in the place of those that there are not.
    fn three(&mut self, kind: Scalar, mut parts: Vec<Value>, rest: Literal) -> Value {
        while parts.len() < 3 {
            parts.push(self.writer.value(Expression::Literal(rest)));
        }
        let ty = self.shared.threes[match kind.kind {
            ScalarKind::Uint => 0,
            ScalarKind::Sint => 1,
            _ => 2,
        }];
        self.writer.value(Expression::Compose { ty, components: parts })
    }

    /// The bits of a whole number as those of an unsigned one.
    fn bits(&mut self, value: Value, kind: ScalarKind) -> Value {
        match kind {
            ScalarKind::Uint => value,
            _ => self.writer.value(Expression::As { expr: value, kind: ScalarKind::Uint, convert: None }),
        }
    }

    fn kind(&self, value: Value) -> ScalarKind {
        self.inner(value).scalar_kind().unwrap_or(ScalarKind::Uint)
    }

    /// How many texels there are, 1 in dimensions that there are not.
    fn size(&mut self, image: Value, layers: bool) -> Result<Value, KernelError> {
        let (dimensions, arrayed) = self.dimensions(image)?;
        let size = self.writer.value(Expression::ImageQuery { image, query: ImageQuery::Size { level: None } });
        let mut parts = self.parts(size, dimensions);
        if arrayed && layers {
            parts.push(self.writer.value(Expression::ImageQuery { image, query: ImageQuery::NumLayers }));
        }
        Ok(self.three(Scalar::U32, parts, Literal::U32(1)))
    }

    /// Writes that a texel is read or written.
    pub(super) fn texel(
        &mut self,
        image: Value,
        coordinate: Value,
        layer: Option<Value>,
        level: Option<Value>,
    ) -> Result<(), KernelError> {
        let (dimensions, _) = self.dimensions(image)?;
        let mut parts = Vec::new();
        let kind = self.kind(coordinate);
        for part in self.parts(coordinate, dimensions) {
            parts.push(self.bits(part, kind));
        }
        if let Some(layer) = layer {
            let kind = self.kind(layer);
            parts.push(self.bits(layer, kind));
        }
        let at = self.three(Scalar::U32, parts, Literal::U32(0));
        let size = self.size(image, true)?;
        let level = match level {
            Some(level) => {
                let kind = self.kind(level);
                self.bits(level, kind)
            }
            None => self.writer.literal(0),
        };
        let number = u32::try_from(coordinate.index()).unwrap_or(0) & VALUE;
        let past = self.writer.literal(Tag::Past.bits() | number);
        let access = self.writer.literal(Tag::Access.bits());
        self.writer.call(self.shared.prelude.function("texel"), vec![past, access, at, size, level]);
        Ok(())
    }

    /// Writes where a sampler reads.
    pub(super) fn sampled(
        &mut self,
        image: Value,
        coordinate: Value,
        layer: Option<Value>,
        offset: Option<Value>,
    ) -> Result<(), KernelError> {
        let (dimensions, _) = self.dimensions(image)?;
        let parts = self.parts(coordinate, dimensions);
        let at = self.three(Scalar::F32, parts, Literal::F32(0.0));
        let size = self.size(image, false)?;
        let mut shift = match offset {
            Some(offset) => self.parts(offset, dimensions),
            None => (0..dimensions).map(|_| self.writer.value(Expression::Literal(Literal::I32(0)))).collect(),
        };
        if let Some(layer) = layer {
            let signed = match self.kind(layer) {
                ScalarKind::Sint => layer,
                _ => self.writer.value(Expression::As { expr: layer, kind: ScalarKind::Sint, convert: None }),
            };
            shift.push(signed);
        }
        let shift = self.three(Scalar::I32, shift, Literal::I32(0));
        let word = self.writer.literal(Tag::Sample.bits());
        self.writer.call(self.shared.prelude.function("sampled"), vec![word, at, size, shift]);
        Ok(())
    }
}
