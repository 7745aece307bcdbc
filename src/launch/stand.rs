//! What a kernel stands on: its pipeline, its buffers on the adapter, and the way there and back.

use super::images::Images;
use crate::kernel::{KernelError, Program, Ready, Shared, Space};
use crate::render::Context;
use std::borrow::Cow;
use std::sync::mpsc::channel;

/// A module and what of it runs.
pub(super) struct Kernel {
    pub(super) module: wgpu::naga::Module,
    pub(super) entry: String,
    /// `@group` and `@binding` of the buffer that is written to beside the kernel's own.
    pub(super) recorder: Option<(u32, u32)>,
}

/// A buffer of the kernel.
struct Held {
    /// Which of the shared variables it is.
    shared: usize,
    binding: (u32, u32),
    buffer: wgpu::Buffer,
    /// A copy to go back to, where the kernel may write.
    saved: Option<wgpu::Buffer>,
    /// Bytes without those that fill it up.
    bytes: usize,
}

/// A kernel that can be dispatched.
pub(super) struct Stand<'a> {
    context: &'a Context,
    file: &'a str,
    count: usize,
    pipeline: wgpu::ComputePipeline,
    layouts: Vec<wgpu::BindGroupLayout>,
    held: Vec<Held>,
    images: Images,
    recorder: Option<Recorder>,
}

/// The buffer that events are written to, and the one that they are read from.
struct Recorder {
    binding: (u32, u32),
    size: u64,
    buffer: wgpu::Buffer,
    back: wgpu::Buffer,
}

impl<'a> Stand<'a> {
    /// `room` are bytes of the recorder's buffer at first.
    pub(super) fn new(
        context: &'a Context,
        program: &'a Program,
        ready: &Ready,
        kernel: Kernel,
        room: u64,
    ) -> Result<Self, KernelError> {
        check(context, program, ready, kernel.recorder.is_some())?;
        let scopes = Scopes::open(context);
        let device = &context.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("kernel"),
            source: wgpu::ShaderSource::Naga(Cow::Owned(kernel.module)),
        });
        let images = Images::new(context, program, ready)?;
        let mut held = Vec::new();
        for (number, (shared, bytes)) in program.shared.iter().zip(ready.memories()).enumerate() {
            let Some(binding) = shared.binding.filter(|_| shared.texture.is_none()) else { continue };
            let mut filled = bytes.to_vec();
            filled.resize(bytes.len().max(4).next_multiple_of(if shared.space == Space::Uniform { 16 } else { 4 }), 0);
            let usage = match shared.space {
                Space::Uniform => wgpu::BufferUsages::UNIFORM,
                _ => wgpu::BufferUsages::STORAGE,
            };
            let copies = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
            let make = |usage| {
                let size = filled.len() as u64;
                let label = Some(shared.name.as_str());
                device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
            };
            let buffer = make(usage | copies);
            context.queue.write_buffer(&buffer, 0, &filled);
            let saved = shared.writes.then(|| make(copies));
            held.push(Held { shared: number, binding, buffer, saved, bytes: bytes.len() });
        }
        let entries = held.iter().map(|held| {
            let ty = match (program.shared[held.shared].space, held.saved.is_some()) {
                (Space::Uniform, _) => wgpu::BufferBindingType::Uniform,
                (_, writes) => wgpu::BufferBindingType::Storage { read_only: !writes },
            };
            (held.binding, buffer_of(ty))
        });
        let own = wgpu::BufferBindingType::Storage { read_only: false };
        let own = kernel.recorder.map(|binding| (binding, buffer_of(own)));
        let entries: Vec<_> = entries.chain(images.entries()).chain(own).collect();
        let groups = entries.iter().map(|((group, _), _)| group + 1).max().unwrap_or(0);
        let layout_of = |group| {
            let all = entries.iter().filter(|((at, _), _)| *at == group);
            let all: Vec<_> = all.map(|((_, binding), ty)| entry(*binding, *ty)).collect();
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &all })
        };
        let layouts: Vec<wgpu::BindGroupLayout> = (0..groups).map(layout_of).collect();
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts.iter().map(Some).collect::<Vec<_>>(),
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("kernel"),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(&kernel.entry),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let recorder = kernel.recorder.map(|binding| recorder(context, binding, room));
        scopes.closed(context, &program.file, "does not take the kernel")?;
        let count = program.shared.len();
        Ok(Self { context, file: &program.file, count, pipeline, layouts, held, images, recorder })
    }

    /// Groups of a row of a dispatch at most.
    pub(super) fn width(&self) -> u32 {
        self.context.device.limits().max_compute_workgroups_per_dimension.max(1)
    }

    /// Groups of a dispatch at most.
    pub(super) fn most_groups(&self) -> u64 {
        u64::from(self.width()).pow(2).min(1 << 30)
    }

    /// Keeps what the buffers hold now.
    pub(super) fn save(&self) {
        self.copied(false);
    }

    /// Puts back what was kept.
    pub(super) fn restore(&self) {
        self.copied(true);
    }

    fn copied(&self, back: bool) {
        let mut encoder = self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for held in &self.held {
            if let Some(saved) = &held.saved {
                let (from, to) = if back { (saved, &held.buffer) } else { (&held.buffer, saved) };
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            }
        }
        self.images.copied(&mut encoder, back);
        self.context.queue.submit([encoder.finish()]);
    }

    /// Runs groups. With what is to stand at the start of the recorder's buffer and how many bytes of it are needed, gives its words.
    pub(super) fn dispatch(
        &mut self,
        groups: [u32; 3],
        record: Option<(&[u32], u64)>,
    ) -> Result<Option<Vec<u32>>, KernelError> {
        let scopes = Scopes::open(self.context);
        let Context { device, queue, .. } = self.context;
        if let (Some(old), Some((_, bytes))) = (&mut self.recorder, record)
            && old.size < bytes
        {
            *old = recorder(self.context, old.binding, bytes);
        }
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let binds: Vec<wgpu::BindGroup> = (0..).zip(&self.layouts).map(|(n, layout)| self.bound(n, layout)).collect();
        if let (Some(recorder), Some((head, _))) = (&self.recorder, record) {
            let bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
            queue.write_buffer(&recorder.buffer, 0, &bytes);
        }
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            for (n, bind) in (0..).zip(&binds) {
                pass.set_bind_group(n, bind, &[]);
            }
            let [x, y, z] = groups;
            pass.dispatch_workgroups(x, y, z);
        }
        if let (Some(recorder), Some((_, bytes))) = (&self.recorder, record) {
            encoder.copy_buffer_to_buffer(&recorder.buffer, 0, &recorder.back, 0, bytes);
        }
        let submission = queue.submit([encoder.finish()]);
        scopes.closed(self.context, self.file, "does not run the kernel")?;
        let (Some(recorder), Some((_, bytes))) = (&self.recorder, record) else {
            self.wait(submission)?;
            return Ok(None);
        };
        let read = self.read(&recorder.back, bytes, submission)?;
        Ok(Some(read.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()))
    }

    fn bound(&self, group: u32, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
        let own = self.recorder.iter().map(|recorder| (recorder.binding, &recorder.buffer));
        let buffers = self.held.iter().map(|held| (held.binding, &held.buffer)).chain(own);
        let buffers = buffers.map(|(binding, buffer)| (binding, buffer.as_entire_binding()));
        let entries: Vec<wgpu::BindGroupEntry<'_>> = buffers
            .chain(self.images.resources())
            .filter(|((at, _), _)| *at == group)
            .map(|((_, binding), resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        self.context.device.create_bind_group(&descriptor)
    }

    /// What buffers and textures hold, by the number of the shared variable.
    pub(super) fn after(&self) -> Result<Vec<Option<Vec<u8>>>, KernelError> {
        let mut out = vec![None; self.count];
        for held in &self.held {
            let scopes = Scopes::open(self.context);
            let back = back(self.context, held.buffer.size());
            let mut encoder = self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&held.buffer, 0, &back, 0, held.buffer.size());
            let submission = self.context.queue.submit([encoder.finish()]);
            scopes.closed(self.context, self.file, "does not give back a buffer")?;
            let mut bytes = self.read(&back, held.buffer.size(), submission)?;
            bytes.truncate(held.bytes);
            out[held.shared] = Some(bytes);
        }
        for image in &self.images.images {
            let scopes = Scopes::open(self.context);
            let back = back(self.context, image.padded());
            let mut encoder = self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            image.copy_to(&mut encoder, &back);
            let submission = self.context.queue.submit([encoder.finish()]);
            scopes.closed(self.context, self.file, "does not give back a texture")?;
            out[image.shared] = Some(image.rows(&self.read(&back, image.padded(), submission)?));
        }
        Ok(out)
    }

    fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<(), KernelError> {
        let all = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        self.context.device.poll(all).map(|_| ()).map_err(|error| self.lost(&error.to_string()))
    }

    fn read(&self, from: &wgpu::Buffer, bytes: u64, after: wgpu::SubmissionIndex) -> Result<Vec<u8>, KernelError> {
        let (sender, ready) = channel();
        from.map_async(wgpu::MapMode::Read, ..bytes, move |result| {
            // A closed channel means that nobody waits any more.
            let _ = sender.send(result);
        });
        self.wait(after)?;
        ready.recv().map_err(|e| self.lost(&e.to_string()))?.map_err(|e| self.lost(&e.to_string()))?;
        let out = from.get_mapped_range(..bytes).map_err(|e| self.lost(&e.to_string()))?.to_vec();
        from.unmap();
        Ok(out)
    }

    fn lost(&self, why: &str) -> KernelError {
        KernelError::Adapter(format!(
            "{}: the adapter {} went away while the kernel ran: {why}; expected an answer; run it again, with fewer groups \
             (--take) or with --engine interpreter",
            self.file,
            self.context.describe()
        ))
    }
}

fn buffer_of(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

fn entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

fn recorder(context: &Context, binding: (u32, u32), size: u64) -> Recorder {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let descriptor = wgpu::BufferDescriptor { label: Some("events"), size, usage, mapped_at_creation: false };
    Recorder { binding, size, buffer: context.device.create_buffer(&descriptor), back: back(context, size) }
}

fn back(context: &Context, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let label = Some("readback");
    context.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
}

/// What the adapter says against what is done meanwhile.
struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    fn open(context: &Context) -> Self {
        let filters = [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];
        Self(filters.map(|filter| context.device.push_error_scope(filter)))
    }

    fn closed(self, context: &Context, file: &str, what: &str) -> Result<(), KernelError> {
        let [internal, memory, validation] = self.0;
        let found = [validation, memory, internal].map(|scope| pollster::block_on(scope.pop()));
        let Some(error) = found.into_iter().flatten().next() else { return Ok(()) };
        let words = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let words: Vec<String> = words.map(|words| words.to_string().trim().replace('\n', " ")).collect();
        Err(KernelError::Adapter(format!(
            "{file}: the adapter {} {what}: {}; expected one that it takes; use --engine interpreter",
            context.describe(),
            words.join(": ")
        )))
    }
}

/// What an adapter has limits of, checked before it is asked, so that it is said in words.
fn check(context: &Context, program: &Program, ready: &Ready, records: bool) -> Result<(), KernelError> {
    let limits = context.device.limits();
    let refused = |what: String, found: u64, most: u64, name: &str| {
        if found <= most {
            return Ok(());
        }
        Err(KernelError::TooMuch(format!(
            "{}: {what}: found {found}; expected {most} at most, the adapter's {name} ({}); use --engine interpreter",
            program.file,
            context.describe()
        )))
    };
    let of = |space| program.shared.iter().filter(move |shared: &&Shared| shared.space == space);
    let storage = of(Space::Storage).count() as u64 + u64::from(records);
    let most = limits.max_storage_buffers_per_shader_stage;
    let what = if records { "storage buffers, with the one that events are written to" } else { "storage buffers" };
    refused(what.into(), storage, most.into(), "max_storage_buffers_per_shader_stage")?;
    let most = limits.max_uniform_buffers_per_shader_stage;
    let uniform = of(Space::Uniform).count() as u64;
    refused("uniform buffers".into(), uniform, most.into(), "max_uniform_buffers_per_shader_stage")?;
    let samplers = program.samplers.iter().map(|sampler| sampler.binding);
    let bindings = program.shared.iter().filter_map(|shared| shared.binding).chain(samplers);
    let group = bindings.map(|(group, _)| u64::from(group) + 1).max();
    refused("groups of bindings".into(), group.unwrap_or(0), limits.max_bind_groups.into(), "max_bind_groups")?;
    let items = program.group_items() as u64;
    let most = limits.max_compute_invocations_per_workgroup;
    refused("items of a group".into(), items, most.into(), "max_compute_invocations_per_workgroup")?;
    let most = [
        (limits.max_compute_workgroup_size_x, "max_compute_workgroup_size_x"),
        (limits.max_compute_workgroup_size_y, "max_compute_workgroup_size_y"),
        (limits.max_compute_workgroup_size_z, "max_compute_workgroup_size_z"),
    ];
    for (size, (most, name)) in program.group_size.iter().zip(most) {
        refused("items of a group in a dimension".into(), u64::from(*size), most.into(), name)?;
    }
    let shared: u64 = of(Space::Workgroup).map(|shared| u64::from(shared.bytes)).sum();
    let most = limits.max_compute_workgroup_storage_size;
    refused("bytes of workgroup memory".into(), shared, most.into(), "max_compute_workgroup_storage_size")?;
    for (shared, bytes) in program.shared.iter().zip(ready.memories()) {
        let (most, name) = match shared.space {
            Space::Workgroup | Space::Texture => continue,
            Space::Storage => (limits.max_storage_buffer_binding_size, "max_storage_buffer_binding_size"),
            Space::Uniform => (limits.max_uniform_buffer_binding_size, "max_uniform_buffer_binding_size"),
        };
        refused(format!("bytes of {}", shared.name), bytes.len() as u64, most, name)?;
        refused(format!("bytes of {}", shared.name), bytes.len() as u64, limits.max_buffer_size, "max_buffer_size")?;
    }
    Ok(())
}
