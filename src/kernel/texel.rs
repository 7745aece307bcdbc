//! Texels: how a texture's formats lie in memory, and which texel a coordinate is at.

use super::error::KernelError;
use super::machine::{from_half, half, low};
use naga::{ImageClass, ImageDimension, Scalar, ScalarKind, StorageFormat, TypeInner};
use std::fmt;

/// What a channel's bits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// 0 to 1, in equal steps.
    Unorm,
    /// -1 to 1, in equal steps.
    Snorm,
    Uint,
    Sint,
    Float,
}

/// The format of a texture's texels, by its name in WGSL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelFormat {
    channels: usize,
    /// Bytes of a channel.
    width: usize,
    numbers: Numbers,
    /// Whether blue comes first.
    blue_first: bool,
}

impl TexelFormat {
    /// Floats of 32 bits, or of 16.
    const FLOATS: [Self; 2] = [Self::new(4, 4, Numbers::Float), Self::new(4, 2, Numbers::Float)];

    const fn new(channels: usize, width: usize, numbers: Numbers) -> Self {
        Self { channels, width, numbers, blue_first: false }
    }

    /// That of a storage texture; nothing for those whose channels share bytes.
    fn of(format: StorageFormat) -> Option<Self> {
        use Numbers::{Float, Sint, Snorm, Uint, Unorm};
        use StorageFormat as F;
        let (channels, width, numbers) = match format {
            F::R8Unorm => (1, 1, Unorm),
            F::R8Snorm => (1, 1, Snorm),
            F::R8Uint => (1, 1, Uint),
            F::R8Sint => (1, 1, Sint),
            F::R16Uint => (1, 2, Uint),
            F::R16Sint => (1, 2, Sint),
            F::R16Float => (1, 2, Float),
            F::R16Unorm => (1, 2, Unorm),
            F::R16Snorm => (1, 2, Snorm),
            F::Rg8Unorm => (2, 1, Unorm),
            F::Rg8Snorm => (2, 1, Snorm),
            F::Rg8Uint => (2, 1, Uint),
            F::Rg8Sint => (2, 1, Sint),
            F::R32Uint => (1, 4, Uint),
            F::R32Sint => (1, 4, Sint),
            F::R32Float => (1, 4, Float),
            F::Rg16Uint => (2, 2, Uint),
            F::Rg16Sint => (2, 2, Sint),
            F::Rg16Float => (2, 2, Float),
            F::Rg16Unorm => (2, 2, Unorm),
            F::Rg16Snorm => (2, 2, Snorm),
            F::Rgba8Unorm | F::Bgra8Unorm => (4, 1, Unorm),
            F::Rgba8Snorm => (4, 1, Snorm),
            F::Rgba8Uint => (4, 1, Uint),
            F::Rgba8Sint => (4, 1, Sint),
            F::Rg32Uint => (2, 4, Uint),
            F::Rg32Sint => (2, 4, Sint),
            F::Rg32Float => (2, 4, Float),
            F::Rgba16Uint => (4, 2, Uint),
            F::Rgba16Sint => (4, 2, Sint),
            F::Rgba16Float => (4, 2, Float),
            F::Rgba16Unorm => (4, 2, Unorm),
            F::Rgba16Snorm => (4, 2, Snorm),
            F::Rgba32Uint => (4, 4, Uint),
            F::Rgba32Sint => (4, 4, Sint),
            F::Rgba32Float => (4, 4, Float),
            F::Rgb10a2Uint | F::Rgb10a2Unorm | F::Rg11b10Ufloat | F::R64Uint => return None,
        };
        Some(Self { channels, width, numbers, blue_first: format == F::Bgra8Unorm })
    }

    /// Bytes of a texel.
    #[must_use]
    pub fn bytes(self) -> u32 {
        u32::try_from(self.channels * self.width).unwrap_or(u32::MAX)
    }

    /// Channels of a texel, and what a channel is in data: `u8`, `f16`.
    pub(super) fn channel(self) -> (u32, String) {
        let letter = match self.numbers {
            Numbers::Unorm | Numbers::Uint => 'u',
            Numbers::Snorm | Numbers::Sint => 'i',
            Numbers::Float => 'f',
        };
        (u32::try_from(self.channels).unwrap_or(1), format!("{letter}{}", 8 * self.width))
    }

    /// What a shader computes with.
    pub(super) fn scalar(self) -> Scalar {
        match self.numbers {
            Numbers::Unorm | Numbers::Snorm | Numbers::Float => Scalar::F32,
            Numbers::Uint => Scalar::U32,
            Numbers::Sint => Scalar::I32,
        }
    }

    /// What the greatest whole number of a channel stands for, 1 but for integers.
    fn top(self) -> f32 {
        let bits = i32::try_from(8 * self.width).unwrap_or(8) - i32::from(self.numbers == Numbers::Snorm);
        2f32.powi(bits) - 1.0
    }

    /// The four values that a shader reads of a texel, as their bits: channels that there are none of are 0, and alpha 1.
    pub(super) fn read(self, texel: &[u8]) -> [u64; 4] {
        let one = if self.scalar().kind == ScalarKind::Float { u64::from(1f32.to_bits()) } else { 1 };
        let mut out = [0, 0, 0, one];
        for (channel, bytes) in texel.chunks_exact(self.width).take(self.channels).enumerate() {
            let mut word = [0u8; 4];
            word[..self.width].copy_from_slice(bytes);
            let bits = u32::from_le_bytes(word);
            let value = match self.numbers {
                Numbers::Uint => bits,
                Numbers::Sint => extended(bits, self.width).cast_unsigned(),
                Numbers::Float if self.width == 2 => from_half(bits.into()).to_bits(),
                Numbers::Float => bits,
                Numbers::Unorm => (whole(bits) / self.top()).to_bits(),
                Numbers::Snorm => (signed(extended(bits, self.width)) / self.top()).max(-1.0).to_bits(),
            };
            out[self.place(channel)] = value.into();
        }
        out
    }

    /// Writes what a shader gives: the nearest that the format has.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what a channel holds")]
    pub(super) fn write(self, values: [u64; 4], texel: &mut [u8]) {
        for (channel, bytes) in texel.chunks_exact_mut(self.width).take(self.channels).enumerate() {
            let bits = low(values[self.place(channel)]);
            let float = f32::from_bits(bits);
            let most = 1u64 << (8 * self.width);
            let word = match self.numbers {
                Numbers::Uint => u64::from(bits).min(most - 1),
                Numbers::Sint => {
                    let half = i64::try_from(most / 2).unwrap_or(i64::MAX);
                    i64::from(bits.cast_signed()).clamp(-half, half - 1).cast_unsigned()
                }
                Numbers::Float if self.width == 2 => half(float),
                Numbers::Float => bits.into(),
                Numbers::Unorm => (float.clamp(0.0, 1.0) * self.top()).round_ties_even() as u64,
                Numbers::Snorm => {
                    i64::from((float.clamp(-1.0, 1.0) * self.top()).round_ties_even() as i32).cast_unsigned()
                }
            };
            bytes.copy_from_slice(&word.to_le_bytes()[..self.width]);
        }
    }

    /// Which of red, green, blue and alpha a channel is.
    fn place(self, channel: usize) -> usize {
        match (self.blue_first, channel) {
            (true, 0 | 2) => 2 - channel,
            _ => channel,
        }
    }
}

impl fmt::Display for TexelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channels = match (self.blue_first, self.channels) {
            (true, _) => "bgra",
            (_, 1) => "r",
            (_, 2) => "rg",
            _ => "rgba",
        };
        let numbers = match self.numbers {
            Numbers::Unorm => "unorm",
            Numbers::Snorm => "snorm",
            Numbers::Uint => "uint",
            Numbers::Sint => "sint",
            Numbers::Float => "float",
        };
        write!(f, "{channels}{}{numbers}", 8 * self.width)
    }
}

#[expect(clippy::cast_precision_loss, reason = "16 bits at most, where floats count")]
fn whole(bits: u32) -> f32 {
    bits as f32
}

#[expect(clippy::cast_precision_loss, reason = "16 bits at most, where floats count")]
fn signed(number: i32) -> f32 {
    number as f32
}

/// A number of so many bytes with its sign.
fn extended(bits: u32, width: usize) -> i32 {
    let unused = 32 - 8 * u32::try_from(width).unwrap_or(4);
    (bits << unused).cast_signed() >> unused
}

/// A texture that a kernel reads or writes: one level, one sample a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texture {
    /// Dimensions of a layer: 1 to 3.
    pub dimensions: u8,
    /// Whether it has layers.
    pub layered: bool,
    /// Its format. Of a texture that is no storage texture WGSL does not say it: floats are held as `rgba16float` where a sampler reads
    /// them and as `rgba32float` elsewhere.
    pub format: TexelFormat,
    /// How a storage texture is accessed: whether it is read, whether it is written. `None` = it is no storage texture.
    pub storage: Option<(bool, bool)>,
    /// Whether a sampler reads it.
    pub sampled: bool,
}

impl Texture {
    /// That of a variable; `Ok(None)` where it is none.
    ///
    /// # Errors
    /// What it is, where it is not run.
    pub(super) fn of(inner: &TypeInner, sampled: bool) -> Result<Option<Self>, String> {
        let TypeInner::Image { dim, arrayed, class } = *inner else { return Ok(None) };
        let dimensions = match dim {
            ImageDimension::D1 => 1,
            ImageDimension::D2 => 2,
            ImageDimension::D3 => 3,
            ImageDimension::Cube => return Err("a cube of textures".into()),
        };
        let (format, storage) = match class {
            ImageClass::Sampled { multi: true, .. } | ImageClass::Depth { multi: true } => {
                return Err("a texture of several samples a texel".into());
            }
            ImageClass::Sampled { kind, multi: false } => {
                let format = match kind {
                    ScalarKind::Uint => TexelFormat::new(4, 4, Numbers::Uint),
                    ScalarKind::Sint => TexelFormat::new(4, 4, Numbers::Sint),
                    _ => TexelFormat::FLOATS[usize::from(sampled)],
                };
                (format, None)
            }
            ImageClass::Depth { multi: false } => return Err("a texture of depths".into()),
            ImageClass::External => return Err("an external texture".into()),
            ImageClass::Storage { format, access } => {
                let known = TexelFormat::of(format).ok_or_else(|| format!("a texture of the format {format:?}"))?;
                use naga::StorageAccess as A;
                if access.contains(A::ATOMIC) {
                    return Err("a texture with atomic operations".into());
                }
                (known, Some((access.contains(A::LOAD), access.contains(A::STORE))))
            }
        };
        Ok(Some(Self { dimensions, layered: arrayed, format, storage, sampled }))
    }

    /// Its type in WGSL.
    #[must_use]
    pub fn words(&self) -> String {
        let kind = if self.storage.is_some() { "texture_storage" } else { "texture" };
        let layers = if self.layered { "_array" } else { "" };
        format!("{kind}_{}d{layers}, {}", self.dimensions, self.format)
    }

    /// The size that is meant, where dimensions that it has not are 1.
    ///
    /// # Errors
    /// A size that it cannot have.
    pub(super) fn sized(&self, size: [u32; 3]) -> Result<[u32; 3], String> {
        let most = usize::from(self.dimensions) + usize::from(self.layered);
        let named = size.map(|n| n.to_string()).join("x");
        match size.iter().skip(most).any(|n| *n != 1) {
            true => Err(format!("found a size of {named}; expected {most} numbers, for it is {}", self.words())),
            false => Ok(size),
        }
    }

    /// The size that is taken where nobody tells it: an item a texel.
    pub(super) fn guessed(&self, items: [u64; 3]) -> [u32; 3] {
        let most = usize::from(self.dimensions) + usize::from(self.layered);
        let mut out = [1; 3];
        for (axis, (to, n)) in out.iter_mut().zip(items).enumerate().take(most) {
            // The layers of a flat launch are one.
            *to = u32::try_from(n).unwrap_or(u32::MAX).min(if axis == 2 { 256 } else { 16_384 });
        }
        out
    }
}

/// How a sampler reads between texels and past the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Whether it mixes the nearest texels, or takes the nearest.
    pub linear: bool,
    /// What is past the edge.
    pub edge: Edge,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { linear: true, edge: Edge::Clamp }
    }
}

/// What a sampler finds past the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// The texel at the edge.
    Clamp,
    /// The texture again.
    Repeat,
    /// The texture again, turned over each time.
    Mirror,
}

impl Edge {
    /// Where a texel is that may be past the edge. `size` is 1 or more.
    pub(super) fn within(self, at: i64, size: u32) -> u32 {
        let size = i64::from(size.max(1));
        let inside = match self {
            Self::Clamp => at.clamp(0, size - 1),
            Self::Repeat => at.rem_euclid(size),
            Self::Mirror => {
                let twice = at.rem_euclid(2 * size);
                twice.min(2 * size - 1 - twice)
            }
        };
        u32::try_from(inside).unwrap_or(0)
    }
}

impl Sampling {
    /// Reads `linear` or `nearest`, and after a `-` one of `clamp`, `repeat`, `mirror`.
    pub(super) fn parse(words: &str) -> Option<Self> {
        let (filter, edge) = words.split_once('-').unwrap_or((words, "clamp"));
        let linear = match filter {
            "linear" => true,
            "nearest" => false,
            _ => return None,
        };
        let edge = match edge {
            "clamp" => Edge::Clamp,
            "repeat" => Edge::Repeat,
            "mirror" => Edge::Mirror,
            _ => return None,
        };
        Some(Self { linear, edge })
    }
}

/// Which texel of so many this is, in memory: rows of a layer one after the other, then the next layer.
pub(super) fn place(at: [u32; 3], size: [u32; 3]) -> u32 {
    at[2].wrapping_mul(size[1]).wrapping_add(at[1]).wrapping_mul(size[0]).wrapping_add(at[0])
}

/// Bytes of a texture.
pub(super) fn bytes_of(file: &str, name: &str, size: [u32; 3], format: TexelFormat) -> Result<usize, KernelError> {
    let bytes = size.iter().fold(u64::from(format.bytes()), |bytes, n| bytes.saturating_mul((*n).into()));
    let most = super::machine::MOST_GROWN;
    match usize::try_from(bytes).ok().filter(|_| bytes <= most) {
        Some(bytes) => Ok(bytes),
        None => Err(KernelError::Binding(format!(
            "{file}: {name}: a texture of {} texels takes {bytes} bytes; expected {most} at most; give its size with --bind {name}=zeros:64x64",
            size.map(|n| n.to_string()).join("x")
        ))),
    }
}
