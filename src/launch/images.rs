//! Textures and samplers of a kernel on the adapter.

use crate::kernel::{Edge, KernelError, Program, Ready, Sampling, Size, TexelFormat, Texture};
use crate::render::Context;

/// A texture of the kernel.
pub(super) struct Image {
    /// Which of the shared variables it is.
    pub(super) shared: usize,
    pub(super) binding: (u32, u32),
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    /// A copy to go back to, where the kernel may write.
    saved: Option<wgpu::Texture>,
    ty: wgpu::BindingType,
    /// Bytes of a row, and rows of all layers.
    row: u32,
    rows: u32,
}

/// A sampler of the kernel.
pub(super) struct Sampler {
    binding: (u32, u32),
    sampler: wgpu::Sampler,
}

/// Textures and samplers.
#[derive(Default)]
pub(super) struct Images {
    pub(super) images: Vec<Image>,
    samplers: Vec<Sampler>,
}

impl Images {
    /// Makes those that the kernel uses, with what textures hold at the start.
    pub(super) fn new(context: &Context, program: &Program, ready: &Ready) -> Result<Self, KernelError> {
        let mut images = Vec::new();
        for (n, ((shared, bytes), size)) in program.shared.iter().zip(ready.memories()).zip(ready.texels()).enumerate()
        {
            let (Some(texture), Some(size), Some(binding)) = (&shared.texture, size, shared.binding) else { continue };
            check(context, program, &shared.name, texture, size)?;
            images.push(image(context, (n, &shared.name, binding), texture, size, bytes));
        }
        let samplers = program.samplers.iter().zip(ready.samplings());
        let samplers = samplers.map(|(sampler, how)| Sampler {
            binding: sampler.binding,
            sampler: context.device.create_sampler(&descriptor(&sampler.name, *how)),
        });
        Ok(Self { images, samplers: samplers.collect() })
    }

    /// Where they are bound, and as what.
    pub(super) fn entries(&self) -> impl Iterator<Item = ((u32, u32), wgpu::BindingType)> {
        let samplers = self
            .samplers
            .iter()
            .map(|sampler| (sampler.binding, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)));
        self.images.iter().map(|image| (image.binding, image.ty)).chain(samplers)
    }

    /// What is bound there.
    pub(super) fn resources(&self) -> impl Iterator<Item = ((u32, u32), wgpu::BindingResource<'_>)> {
        let samplers =
            self.samplers.iter().map(|sampler| (sampler.binding, wgpu::BindingResource::Sampler(&sampler.sampler)));
        let images = self.images.iter().map(|image| (image.binding, wgpu::BindingResource::TextureView(&image.view)));
        images.chain(samplers)
    }

    /// Keeps what textures hold that may be written to, or puts it back.
    pub(super) fn copied(&self, encoder: &mut wgpu::CommandEncoder, back: bool) {
        for image in &self.images {
            let Some(saved) = &image.saved else { continue };
            let (from, to) = if back { (saved, &image.texture) } else { (&image.texture, saved) };
            encoder.copy_texture_to_texture(from.as_image_copy(), to.as_image_copy(), from.size());
        }
    }
}

impl Image {
    /// Bytes of a buffer that it is copied to.
    pub(super) fn padded(&self) -> u64 {
        u64::from(self.stride()) * u64::from(self.rows)
    }

    fn stride(&self) -> u32 {
        self.row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
    }

    /// Copies it into a buffer of [`Image::padded`] bytes.
    pub(super) fn copy_to(&self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) {
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(self.stride()),
            rows_per_image: Some(self.texture.size().height),
        };
        let to = wgpu::TexelCopyBufferInfo { buffer, layout };
        encoder.copy_texture_to_buffer(self.texture.as_image_copy(), to, self.texture.size());
    }

    /// What such a buffer holds, without what fills its rows up.
    pub(super) fn rows(&self, bytes: &[u8]) -> Vec<u8> {
        bytes.chunks_exact(self.stride() as usize).flat_map(|row| &row[..self.row as usize]).copied().collect()
    }
}

fn image(
    context: &Context,
    (shared, name, binding): (usize, &str, (u32, u32)),
    texture: &Texture,
    [width, height, depth_or_array_layers]: Size,
    bytes: &[u8],
) -> Image {
    let format = format_of(texture.format);
    let size = wgpu::Extent3d { width, height, depth_or_array_layers };
    let (dimension, view) = match (texture.dimensions, texture.layered) {
        (1, _) => (wgpu::TextureDimension::D1, wgpu::TextureViewDimension::D1),
        (3, _) => (wgpu::TextureDimension::D3, wgpu::TextureViewDimension::D3),
        (_, true) => (wgpu::TextureDimension::D2, wgpu::TextureViewDimension::D2Array),
        (_, false) => (wgpu::TextureDimension::D2, wgpu::TextureViewDimension::D2),
    };
    let copies = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC;
    let (usage, ty) = match texture.storage {
        Some((reads, writes)) => {
            let access = match (reads, writes) {
                (true, true) => wgpu::StorageTextureAccess::ReadWrite,
                (true, false) => wgpu::StorageTextureAccess::ReadOnly,
                (false, _) => wgpu::StorageTextureAccess::WriteOnly,
            };
            let ty = wgpu::BindingType::StorageTexture { access, format, view_dimension: view };
            (wgpu::TextureUsages::STORAGE_BINDING, ty)
        }
        None => {
            let whole = wgpu::TextureSampleType::Float { filterable: false };
            let sample_type = format.sample_type(None, None).unwrap_or(whole);
            let sample_type = if texture.sampled || !matches!(sample_type, wgpu::TextureSampleType::Float { .. }) {
                sample_type
            } else {
                whole
            };
            let ty = wgpu::BindingType::Texture { sample_type, view_dimension: view, multisampled: false };
            (wgpu::TextureUsages::TEXTURE_BINDING, ty)
        }
    };
    let make = |usage| {
        context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(name),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension,
            format,
            usage,
            view_formats: &[],
        })
    };
    let made = make(usage | copies);
    let row = width * texture.format.bytes();
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: Some(height) };
    context.queue.write_texture(made.as_image_copy(), bytes, layout, size);
    let saved = texture.storage.is_some_and(|(_, writes)| writes).then(|| make(copies));
    let view = made.create_view(&wgpu::TextureViewDescriptor { dimension: Some(view), ..Default::default() });
    Image { shared, binding, texture: made, view, saved, ty, row, rows: height * depth_or_array_layers }
}

fn descriptor(name: &str, how: Sampling) -> wgpu::SamplerDescriptor<'_> {
    let edge = match how.edge {
        Edge::Clamp => wgpu::AddressMode::ClampToEdge,
        Edge::Repeat => wgpu::AddressMode::Repeat,
        Edge::Mirror => wgpu::AddressMode::MirrorRepeat,
    };
    let filter = if how.linear { wgpu::FilterMode::Linear } else { wgpu::FilterMode::Nearest };
    wgpu::SamplerDescriptor {
        label: Some(name),
        address_mode_u: edge,
        address_mode_v: edge,
        address_mode_w: edge,
        mag_filter: filter,
        min_filter: filter,
        ..Default::default()
    }
}

/// What an adapter has limits of, checked before it is asked, so that it is said in words.
fn check(context: &Context, program: &Program, name: &str, texture: &Texture, size: Size) -> Result<(), KernelError> {
    let limits = context.device.limits();
    let [flat, most] = match texture.dimensions {
        1 => [limits.max_texture_dimension_1d; 2],
        3 => [limits.max_texture_dimension_3d; 2],
        _ => [limits.max_texture_dimension_2d, limits.max_texture_array_layers],
    };
    let named = size.map(|n| n.to_string()).join("x");
    let [x, y, z] = size;
    if x > flat || y > flat || z > most {
        return Err(KernelError::TooMuch(format!(
            "{}: {name}: found a texture of {named} texels; expected {flat} at most in each dimension and {most} layers, the limits of the \
             adapter ({}); use --engine interpreter, or give a size with --bind {name}=zeros:64x64",
            program.file,
            context.describe()
        )));
    }
    Ok(())
}

fn format_of(format: TexelFormat) -> wgpu::TextureFormat {
    use wgpu::TextureFormat as F;
    match format.to_string().as_str() {
        "r8unorm" => F::R8Unorm,
        "r8snorm" => F::R8Snorm,
        "r8uint" => F::R8Uint,
        "r8sint" => F::R8Sint,
        "r16uint" => F::R16Uint,
        "r16sint" => F::R16Sint,
        "r16float" => F::R16Float,
        "r16unorm" => F::R16Unorm,
        "r16snorm" => F::R16Snorm,
        "rg8unorm" => F::Rg8Unorm,
        "rg8snorm" => F::Rg8Snorm,
        "rg8uint" => F::Rg8Uint,
        "rg8sint" => F::Rg8Sint,
        "r32uint" => F::R32Uint,
        "r32sint" => F::R32Sint,
        "r32float" => F::R32Float,
        "rg16uint" => F::Rg16Uint,
        "rg16sint" => F::Rg16Sint,
        "rg16float" => F::Rg16Float,
        "rg16unorm" => F::Rg16Unorm,
        "rg16snorm" => F::Rg16Snorm,
        "rgba8unorm" => F::Rgba8Unorm,
        "rgba8snorm" => F::Rgba8Snorm,
        "rgba8uint" => F::Rgba8Uint,
        "rgba8sint" => F::Rgba8Sint,
        "bgra8unorm" => F::Bgra8Unorm,
        "rg32uint" => F::Rg32Uint,
        "rg32sint" => F::Rg32Sint,
        "rg32float" => F::Rg32Float,
        "rgba16uint" => F::Rgba16Uint,
        "rgba16sint" => F::Rgba16Sint,
        "rgba16float" => F::Rgba16Float,
        "rgba16unorm" => F::Rgba16Unorm,
        "rgba16snorm" => F::Rgba16Snorm,
        "rgba32uint" => F::Rgba32Uint,
        "rgba32sint" => F::Rgba32Sint,
        _ => F::Rgba32Float,
    }
}
