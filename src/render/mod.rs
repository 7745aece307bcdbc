//! Lists of shapes to pixels, by wgpu.
