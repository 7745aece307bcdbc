//! Textures: which texel an item is at, what it reads there, what it writes.

use super::scalar::{as_f64, low};
use super::{Machine, Place, Pointer};
use crate::kernel::code::{ImageUse, Value};
use crate::kernel::error::KernelError;
use crate::kernel::mask::Mask;
use crate::kernel::record::Observer;
use crate::kernel::texel::{Edge, Sampling, Texture, place};
use naga::{Expression, ImageQuery, Scalar, SwizzleComponent};

/// Texels that a coordinate goes to at most, either way: past that floats count no single texels.
const FARTHEST: f32 = 16_777_216.0;

/// A read through a sampler.
struct Sample {
    coordinate: Value,
    layer: Option<Value>,
    offset: Option<Value>,
    gather: Option<SwizzleComponent>,
    clamp_to_edge: bool,
}

impl<O: Observer> Machine<'_, O> {
    /// The texture that an expression is of.
    pub(super) fn image_of(&self, value: Value) -> Option<ImageUse> {
        let frame = self.frames.last()?;
        self.compiled.codes[frame.code].images.get(&value.index()).copied()
    }

    /// The texture, and how many texels it has.
    fn texture(&self, image: ImageUse) -> Result<(Texture, [u32; 3]), KernelError> {
        let texture = self.program.shared[image.shared].texture;
        texture.zip(self.shared[image.shared].texels).ok_or_else(|| self.fault("a texture of this kind"))
    }

    /// Evaluates what asks a texture for its size, or reads it.
    pub(super) fn of_image(&mut self, value: Value, items: &Mask) -> Result<(), KernelError> {
        let program = self.program;
        let Some(image) = self.image_of(value) else { return Err(self.fault("a texture of this kind")) };
        match &program.function(self.which()).expressions[value] {
            Expression::ImageQuery { query, .. } => {
                let (texture, size) = self.texture(image)?;
                let layers = if texture.layered { size[2] } else { 1 };
                let query = *query;
                self.each(value, items, move |_, leaf, _| match query {
                    ImageQuery::Size { .. } => size[leaf.min(2)].into(),
                    ImageQuery::NumLayers => layers.into(),
                    ImageQuery::NumLevels | ImageQuery::NumSamples => 1,
                });
                Ok(())
            }
            Expression::ImageLoad { coordinate, array_index, level, .. } => {
                self.load_texels(value, image, (*coordinate, *array_index, *level), items)
            }
            Expression::ImageSample { coordinate, array_index, offset, gather, clamp_to_edge, .. } => {
                let (coordinate, layer, offset) = (*coordinate, *array_index, *offset);
                let sample = Sample { coordinate, layer, offset, gather: *gather, clamp_to_edge: *clamp_to_edge };
                self.sample(value, image, &sample, items)
            }
            _ => Err(self.fault("an expression of a texture")),
        }
    }

    /// Where texels are that whole numbers name.
    fn texels(
        &self,
        image: ImageUse,
        (coordinate, layer, level): (Value, Option<Value>, Option<Value>),
        items: &Mask,
    ) -> Result<Pointer, KernelError> {
        let (texture, size) = self.texture(image)?;
        let mut pointer = Pointer {
            place: Place::Shared(image.shared),
            offsets: vec![0; self.items],
            past: Mask::NONE,
            first_past: None,
        };
        let dimensions = usize::from(texture.dimensions);
        for item in items.iter() {
            let mut at = [0; 3];
            (0..dimensions).for_each(|axis| at[axis] = low(self.at(coordinate, axis, item)));
            if let Some(layer) = layer {
                at[2] = low(self.at(layer, 0, item));
            }
            let level = level.map_or(0, |level| low(self.at(level, 0, item)));
            let all = std::iter::once((level, 1)).chain(at.into_iter().zip(size));
            match all.into_iter().find(|(at, length)| at >= length) {
                Some((at, length)) => {
                    pointer.past.insert(item);
                    pointer.first_past.get_or_insert((item, at, length));
                }
                None => pointer.offsets[item] = place(at, size).wrapping_mul(texture.format.bytes()),
            }
        }
        Ok(pointer)
    }

    fn load_texels(
        &mut self,
        value: Value,
        image: ImageUse,
        at: (Value, Option<Value>, Option<Value>),
        items: &Mask,
    ) -> Result<(), KernelError> {
        let (texture, _) = self.texture(image)?;
        let pointer = self.texels(image, at, items)?;
        let inside = self.told(&pointer, image.site, items);
        let bytes = texture.format.bytes() as usize;
        let mut texels = vec![[0; 4]; self.items];
        for item in inside.iter() {
            let from = pointer.offsets[item] as usize;
            if let Some(texel) = self.shared[image.shared].bytes.get(from..from + bytes) {
                texels[item] = texture.format.read(texel);
            }
        }
        self.each(value, items, |_, leaf, item| texels[item][leaf.min(3)]);
        Ok(())
    }

    /// Writes texels, unless an adapter did.
    pub(super) fn store_texels(
        &mut self,
        image: ImageUse,
        (coordinate, layer): (Value, Option<Value>),
        value: Value,
        items: &Mask,
    ) -> Result<(), KernelError> {
        if self.feed.is_some() {
            return self.fed_texels(image, coordinate, items);
        }
        let (texture, _) = self.texture(image)?;
        let pointer = self.texels(image, (coordinate, layer, None), items)?;
        let inside = self.told(&pointer, image.site, items);
        let bytes = texture.format.bytes() as usize;
        for item in inside.iter() {
            let values = std::array::from_fn(|leaf| self.at(value, leaf, item));
            let to = pointer.offsets[item] as usize;
            if let Some(texel) = self.shared[image.shared].bytes.get_mut(to..to + bytes) {
                texture.format.write(values, texel);
            }
        }
        Ok(())
    }

    fn float(&self, value: Value, leaf: usize, item: usize) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "it was an f32")]
        let float = as_f64(self.at(value, leaf, item), Scalar::F32) as f32;
        float
    }

    /// How a sampler reads.
    fn sampling(&self, image: ImageUse) -> Sampling {
        image.sampler.and_then(|sampler| self.samplings.get(sampler)).copied().unwrap_or_default()
    }

    fn sample(&mut self, value: Value, image: ImageUse, sample: &Sample, items: &Mask) -> Result<(), KernelError> {
        let (texture, size) = self.texture(image)?;
        let sampling = self.sampling(image);
        let dimensions = usize::from(texture.dimensions);
        let mut texels = vec![[0; 4]; self.items];
        let mut pointer = Pointer {
            place: Place::Shared(image.shared),
            offsets: vec![0; self.items],
            past: Mask::NONE,
            first_past: None,
        };
        for item in items.iter() {
            let (mut at, mut texel) = ([0.0f32; 3], [0i64; 3]);
            for axis in 0..dimensions {
                let length = length(size[axis]);
                let shift = sample.offset.map_or(0, |offset| low(self.at(offset, axis, item)).cast_signed());
                at[axis] = self.float(sample.coordinate, axis, item) * length;
                texel[axis] = i64::from(floor(at[axis])) + i64::from(shift);
                if sample.clamp_to_edge {
                    at[axis] = at[axis].max(0.5).min(length - 0.5);
                }
                #[expect(clippy::cast_precision_loss, reason = "-8 to 7")]
                let shift = shift as f32;
                at[axis] += shift;
            }
            if let Some(layer) = sample.layer {
                texel[2] = low(self.at(layer, 0, item)).cast_signed().into();
            }
            let near = nearest(texture, sampling, size, texel);
            pointer.offsets[item] = place(near, size).wrapping_mul(texture.format.bytes());
            texels[item] = self.mixed(image, (texture, size, sampling), at, near[2], sample.gather);
        }
        self.told(&pointer, image.site, items);
        self.each(value, items, |_, leaf, item| texels[item][leaf.min(3)]);
        Ok(())
    }

    /// What a sampler gives at `at`, in texels from the corner.
    fn mixed(
        &self,
        image: ImageUse,
        (texture, size, sampling): (Texture, [u32; 3], Sampling),
        at: [f32; 3],
        layer: u32,
        gather: Option<SwizzleComponent>,
    ) -> [u64; 4] {
        let format = texture.format;
        let bytes = format.bytes() as usize;
        let read = |at: [i64; 3]| {
            let mut inside = [0, 0, layer];
            for (axis, to) in inside.iter_mut().enumerate().take(texture.dimensions.into()) {
                *to = sampling.edge.within(at[axis], size[axis]);
            }
            let from = place(inside, size) as usize * bytes;
            self.shared[image.shared].bytes.get(from..from + bytes).map_or([0; 4], |texel| format.read(texel))
        };
        let linear = gather.is_some() || (sampling.linear && format.scalar() == Scalar::F32);
        if !linear {
            return read(at.map(|at| floor(at).into()));
        }
        let corner = at.map(|at| at - 0.5);
        let first: [i64; 3] = corner.map(|at| floor(at).into());
        if let Some(component) = gather {
            // The four texels round the point, from the lower left on, against the clock where y goes up.
            let channel = component as usize;
            let of = |x: i64, y: i64| read([first[0] + x, first[1] + y, first[2]])[channel];
            return [of(0, 1), of(1, 1), of(1, 0), of(0, 0)];
        }
        let mut sum = [0.0f32; 4];
        for corner_of in 0..1usize << texture.dimensions {
            let (mut weight, mut from) = (1.0f32, first);
            for axis in 0..usize::from(texture.dimensions) {
                let part = corner[axis] - corner[axis].floor();
                let far = corner_of >> axis & 1 == 1;
                weight *= if far { part } else { 1.0 - part };
                from[axis] += i64::from(far);
            }
            if weight != 0.0 {
                for (sum, bits) in sum.iter_mut().zip(read(from)) {
                    *sum += weight * f32::from_bits(low(bits));
                }
            }
        }
        sum.map(|sum| sum.to_bits().into())
    }

    /// Tells of the texels that an adapter wrote: of their numbers, or of whole coordinates where a sampler read them.
    pub(super) fn fed_texels(&mut self, image: ImageUse, coordinate: Value, items: &Mask) -> Result<(), KernelError> {
        let (texture, size) = self.texture(image)?;
        if image.sampler.is_none() {
            return self.fed_words(coordinate, image.site, texture.format.bytes(), items).map(|_| ());
        }
        let sampling = self.sampling(image);
        let mut offsets = vec![0; self.items];
        for item in items.iter() {
            self.word(item, super::Tag::Sample)?;
            let mut at = [0i64; 3];
            for to in &mut at {
                *to = self.whole_word(item)?.cast_signed().into();
            }
            offsets[item] = place(nearest(texture, sampling, size, at), size).wrapping_mul(texture.format.bytes());
        }
        let place = Place::Shared(image.shared);
        self.told(&Pointer { place, offsets, past: Mask::NONE, first_past: None }, image.site, items);
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of textures are far below where floats stop counting")]
fn length(size: u32) -> f32 {
    size as f32
}

/// The texel that lies there, as the instrumented kernel computes it.
#[expect(clippy::cast_possible_truncation, reason = "clamped to what an i32 holds")]
fn floor(at: f32) -> i32 {
    at.floor().clamp(-FARTHEST, FARTHEST) as i32
}

/// Where a texel is that may be past the edge; layers go no further than there are.
fn nearest(texture: Texture, sampling: Sampling, size: [u32; 3], at: [i64; 3]) -> [u32; 3] {
    let mut out = [0; 3];
    for (axis, to) in out.iter_mut().enumerate() {
        let edge = if axis < usize::from(texture.dimensions) { sampling.edge } else { Edge::Clamp };
        *to = edge.within(at[axis], size[axis]);
    }
    out
}
