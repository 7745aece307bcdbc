//! Everything shared with WGSL, in one file. `tests/pictures/shader_layout.rs` holds names, offsets and sizes to the shaders'.

use bytemuck::{Pod, Zeroable};

/// What every shader of a frame knows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[expect(missing_docs, reason = "documented in shared/frame.wgsl, where the meaning is used")]
pub struct Frame {
    pub scale: [f32; 2],
    pub offset: [f32; 2],
    pub half_size: [f32; 2],
    pub px_per_unit: f32,
    pub line_scale: f32,
}

/// One dot; vertex attributes of `glyphs.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GlyphInstance {
    /// World units.
    pub center: [f32; 2],
    /// World units.
    pub radius: f32,
    /// Straight alpha.
    pub color: [u8; 4],
    /// Flash, pulse, burst, unused; 255 = 1.
    pub glow: [u8; 4],
    /// As a glyph of the scene has them.
    pub flags: u32,
}

/// One stretch of a path; vertex attributes of `pathlines.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SegmentInstance {
    /// Where it starts, world units, and the path's unit normal there.
    pub start: [f32; 4],
    /// Where it ends, and the normal there.
    pub end: [f32; 4],
    /// Pixels of a picture 720 high.
    pub width: f32,
    /// Straight alpha.
    pub color: [u8; 4],
    /// Alpha at the start and at the end; 65535 = 1.
    pub alpha: [u16; 2],
}

/// One soft disk; vertex attributes of `disks.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct DiskInstance {
    /// r0, r1, soft, fade.
    pub shape: [f32; 4],
    /// theta0 at r0, span, turn from r0 to r1, unused.
    pub arc: [f32; 4],
    /// Straight alpha.
    pub color: [u8; 4],
    /// Columns of its mesh, then bands from bit 16.
    pub mesh: u32,
}

/// One patch of slots; vertex attributes of `cells.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct CellInstance {
    /// Corners at the first set and the next of the first rank, world units.
    pub near: [f32; 4],
    /// Those of the next rank.
    pub far: [f32; 4],
    /// Straight alpha.
    pub color: [u8; 4],
}

/// One rectangle; vertex attributes of `bars.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct BarInstance {
    /// Left, top, right, bottom, pixels.
    pub sides: [f32; 4],
    /// Straight alpha.
    pub color: [u8; 4],
}

/// A corner of a triangle of solids; vertex attributes of `solids.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SolidVertex {
    /// Pixels across and down where the scale is 1, and depth.
    pub at: [f32; 3],
    /// Straight alpha.
    pub color: [u8; 4],
}

/// A corner of a triangle of words; vertex attributes of `words.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct WordVertex {
    /// Clip space.
    pub position: [f32; 2],
    /// Place in the texture, 0..=1.
    pub at: [f32; 2],
    /// Premultiplied.
    pub color: [u8; 4],
}

/// Where solids stand in a target; `SolidArea` of `solids.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[expect(missing_docs, clippy::pub_underscore_fields, reason = "documented in solids.wgsl, where the meaning is used")]
pub struct SolidArea {
    pub area: [f32; 4],
    pub target_size: [f32; 2],
    pub scale: f32,
    pub _pad0: f32,
}

const _: () = assert!(size_of::<Frame>() == 32);
// What every adapter binds as a uniform, WebGL 2 too.
const _: () = assert!(size_of::<GlyphInstance>() == 24 && size_of::<SegmentInstance>() == 44);

/// Attributes of [`GlyphInstance`], locations from 0.
pub const GLYPH_ATTRIBUTES: [wgpu::VertexAttribute; 5] =
    wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32, 2 => Unorm8x4, 3 => Unorm8x4, 4 => Uint32];

/// Attributes of [`SegmentInstance`], locations from 0.
pub const SEGMENT_ATTRIBUTES: [wgpu::VertexAttribute; 5] =
    wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Float32, 3 => Unorm8x4, 4 => Unorm16x2];

/// Attributes of [`DiskInstance`], locations from 0.
pub const DISK_ATTRIBUTES: [wgpu::VertexAttribute; 4] =
    wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Unorm8x4, 3 => Uint32];

/// Attributes of [`CellInstance`], locations from 0.
pub const CELL_ATTRIBUTES: [wgpu::VertexAttribute; 3] =
    wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4, 2 => Unorm8x4];

/// Attributes of [`BarInstance`], locations from 0.
pub const BAR_ATTRIBUTES: [wgpu::VertexAttribute; 2] = wgpu::vertex_attr_array![0 => Float32x4, 1 => Unorm8x4];

/// Attributes of [`SolidVertex`], locations from 0.
pub const SOLID_ATTRIBUTES: [wgpu::VertexAttribute; 2] = wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4];

/// Attributes of [`WordVertex`], locations from 0.
pub const WORD_ATTRIBUTES: [wgpu::VertexAttribute; 3] =
    wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Unorm8x4];

/// 0..=1 to a byte.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte's range")]
pub fn unorm8(v: f32) -> u8 {
    (v.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// 0..=1 to 16 bits.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of 16 bits")]
pub fn unorm16(v: f32) -> u16 {
    (v.clamp(0.0, 1.0) * 65535.0).round() as u16
}
