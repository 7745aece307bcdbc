//! `shaders/shared/polar.wgsl` computes what `scene::motion` and `scene::layout` define: some thousands of random places between slots in
//! a compute pass, compared one by one. Prints the largest error.

use crate::support::device::device;
use crate::support::rings::configurations;
use bytemuck::{Pod, Zeroable};
use orrery::render::gpu_data::sectors;
use orrery::render::shaders::compose_text;
use orrery::scene::layout::Rings;
use orrery::scene::motion::Endpoint;
use orrery::trace::synth::Rng;

/// Largest distance allowed, world units. Positions are at most 1 from the centre, angles at most 1.6 turns of an arm
/// plus a turn for the set: about 16 radians, where an f32 has steps of 1e-6; a shader may be off by 2^-11 in `sin` and
/// `cos` by the letter of Vulkan, but every driver does far better, and 2e-5 is 0.007 pixels of a picture 720 high: a
/// fifteenth of what golden pictures notice.
const BOUND: f32 = 2e-5;

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Slot {
    sector: u32,
    set: f32,
    rank: f32,
    _pad: u32,
}

const SHADER: &str = "
#import shared/frame
#import shared/polar

struct Slot { sector: u32, arm: f32, way: f32, pad: u32 }
@group(0) @binding(2) var<storage, read> queries: array<Slot>;
@group(0) @binding(3) var<storage, read_write> answers: array<vec2f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&queries) { return; }
    let q = queries[id.x];
    answers[id.x] = slot_place(q.sector, q.arm, q.way);
}
";

/// Asks the shader; `rings` are those of one hierarchy.
fn ask(context: &orrery::render::Context, rings: &Rings, queries: &[Slot]) -> Vec<[f32; 2]> {
    let device = &context.device;
    let text = compose_text("polar_twin", SHADER).expect("composes");
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("polar_twin"),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("polar_twin"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let buffer = |size: u64, usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let sectors = sectors(rings);
    let usage = wgpu::BufferUsages::COPY_DST;
    let sectors_buffer = buffer(size_of_val(sectors.as_slice()) as u64, wgpu::BufferUsages::STORAGE | usage);
    let asked = buffer(size_of_val(queries) as u64, wgpu::BufferUsages::STORAGE | usage);
    let bytes = (queries.len() * size_of::<[f32; 2]>()) as u64;
    let answers = buffer(bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let back = buffer(bytes, wgpu::BufferUsages::MAP_READ | usage);
    context.queue.write_buffer(&sectors_buffer, 0, bytemuck::cast_slice(&sectors));
    context.queue.write_buffer(&asked, 0, bytemuck::cast_slice(queries));
    // Of what `shared/frame` declares the shader reads the sectors only, binding 1.
    let entries = [&sectors_buffer, &asked, &answers];
    let entries: Vec<wgpu::BindGroupEntry<'_>> = (1u32..)
        .zip(entries)
        .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
        .collect();
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(u32::try_from(queries.len().div_ceil(64)).expect("few"), 1, 1);
    }
    encoder.copy_buffer_to_buffer(&answers, 0, &back, 0, bytes);
    context.queue.submit([encoder.finish()]);
    back.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the device computes");
    let view = back.get_mapped_range(..).expect("mapped");
    bytemuck::pod_collect_to_vec(&view)
}

/// Random slots, some at the ends of arms, and corners between them.
fn slots(rings: &Rings, count: u32, rng: &mut Rng) -> Vec<Slot> {
    (0..count)
        .map(|n| {
            let number = rng.below(rings.sectors.len() as u64);
            let sector = &rings.sectors[usize::try_from(number).expect("small")];
            let [set, rank] = [sector.sets, sector.ways].map(|of| rng.below(u64::from(of)) as f32);
            let between = if n % 2 == 0 { 0.0 } else { 0.5 };
            Slot { sector: u32::try_from(number).expect("small"), set: set - between, rank: rank - between, _pad: 0 }
        })
        .collect()
}

#[test]
fn the_shader_places_slots_as_the_definition_says() {
    let Some(context) = device("polar_twin") else { return };
    let mut rng = Rng::new(42);
    let (mut compared, mut worst, mut worst_slot) = (0u32, 0.0f32, None);
    for rings in configurations() {
        let slots = slots(&rings, 2_000, &mut rng);
        let answers = ask(&context, &rings, &slots);
        assert_eq!(answers.len(), slots.len());
        for (slot, answer) in slots.iter().zip(&answers) {
            let endpoint = Endpoint { cache: slot.sector as f32, a: slot.set, b: slot.rank, across: 0.0 };
            let expected = endpoint.position(&rings.sectors);
            assert!(answer.iter().all(|v| v.is_finite()), "{slot:?}: {answer:?}");
            let error = (expected[0] - answer[0]).hypot(expected[1] - answer[1]);
            if error > worst {
                (worst, worst_slot) = (error, Some((*slot, expected, *answer)));
            }
            compared += 1;
        }
    }
    eprintln!("polar twin: {compared} places, largest error {worst:.2e} world units");
    assert!(compared > 10_000 && worst <= BOUND, "{worst} > {BOUND}: {worst_slot:?}");
}
