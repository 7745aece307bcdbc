//! Pipelines of triangles: all alike but for shader and layout of instances or corners.

use super::shaders;

/// What tells one pipeline from another.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    /// A shader of `shaders::ENTRY`.
    pub(super) shader: &'static str,
    /// Its vertex and fragment entry points.
    pub(super) entry: [&'static str; 2],
    /// Bytes of an instance, or of a corner.
    pub(super) stride: u64,
    /// Which of both it is.
    pub(super) step: wgpu::VertexStepMode,
    /// What it holds.
    pub(super) attributes: &'a [wgpu::VertexAttribute],
}

impl<'a> Look<'a> {
    /// Triangles, corner by corner, by the main entry points: also those of [`Quads`](super::quads::Quads).
    pub(super) fn triangles(shader: &'static str, stride: usize, attributes: &'a [wgpu::VertexAttribute]) -> Self {
        let step = wgpu::VertexStepMode::Vertex;
        Self { shader, entry: ["vs_main", "fs_main"], stride: stride as u64, step, attributes }
    }

    /// As many triangles an instance as a draw says.
    pub(super) fn meshes(shader: &'static str, stride: usize, attributes: &'a [wgpu::VertexAttribute]) -> Self {
        Self { step: wgpu::VertexStepMode::Instance, ..Self::triangles(shader, stride, attributes) }
    }
}

/// A pipeline with one buffer of instances or corners and premultiplied blending.
pub(super) fn pipeline(
    device: &wgpu::Device,
    format: wgpu::TextureFormat,
    layout: &wgpu::PipelineLayout,
    look: &Look<'_>,
) -> wgpu::RenderPipeline {
    let module = shaders::module(device, look.shader);
    let buffer =
        wgpu::VertexBufferLayout { array_stride: look.stride, step_mode: look.step, attributes: look.attributes };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(look.shader),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(look.entry[0]),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[Some(buffer)],
        },
        primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleList, ..Default::default() },
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(look.entry[1]),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// A uniform of `size` bytes.
pub(super) const fn uniform(size: usize) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: wgpu::BufferSize::new(size as u64),
    }
}
