//! `shaders/shared/motion.wgsl` computes what `scene::motion` defines: some thousands of random flights in a compute
//! pass, compared place by place. Prints the largest error.

use crate::support::device::device;
use bytemuck::{Pod, Zeroable};
use orrery::render::gpu_data::sectors;
use orrery::render::shaders::compose_text;
use orrery::scene::layout::{CacheShape, Rings};
use orrery::scene::motion::{Endpoint, Flight, on_path, place_on_path, position_at};
use orrery::trace::synth::Rng;
use std::f32::consts::TAU;

/// Largest distance allowed, world units. Positions are at most 1 from the centre, angles at most 1.6 turns of an arm
/// plus a turn for the set: about 16 radians, where an f32 has steps of 1e-6; a shader may be off by 2^-11 in `sin` and
/// `cos` by the letter of Vulkan, but every driver does far better, and 2e-5 is 0.007 pixels of a picture 720 high: a
/// fifteenth of what golden pictures notice.
const BOUND: f32 = 2e-5;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Query {
    from: [f32; 4],
    to: [f32; 4],
    sweep: f32,
    now: f32,
    times: [f32; 2],
    path: u32,
    /// 1: `now` is eased already (a stretch of a path), 0: it is time.
    eased: u32,
    _pad: [u32; 2],
}

const SHADER: &str = "
#import shared/frame
#import shared/polar
#import shared/motion

struct Query { from_: vec4f, to: vec4f, sweep: f32, now: f32, times: vec2f, path: u32, eased: u32, pad: vec2u }
@group(0) @binding(2) var<storage, read> queries: array<Query>;
@group(0) @binding(3) var<storage, read_write> answers: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&queries) { return; }
    let q = queries[id.x];
    let e = select(eased(q.times, q.now), q.now, q.eased == 1u);
    answers[id.x] = vec4f(path_place(q.path, q.from_, q.to, q.sweep, e), 0.0, 0.0);
}
";

/// Asks the shader; `rings` are those of one hierarchy.
fn ask(context: &orrery::render::Context, rings: &Rings, queries: &[Query]) -> Vec<[f32; 4]> {
    let device = &context.device;
    let text = compose_text("motion_twin", SHADER).expect("composes");
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("motion_twin"),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("motion_twin"),
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
    let bytes = (queries.len() * size_of::<[f32; 4]>()) as u64;
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

/// Rings of one cache each, rings of several (of unequal ones too), and as many caches as fit.
fn configurations() -> Vec<Rings> {
    type Cache = (usize, Option<u16>, u32, u32);
    let shape =
        |&(ring, core, sets, ways): &Cache| CacheShape { ring, name: "L".into(), core, sets, ways, line_bytes: 64 };
    let single = |shapes: &[(u32, u32)]| -> Vec<Cache> {
        shapes.iter().enumerate().map(|(ring, &(sets, ways))| (ring, None, sets, ways)).collect()
    };
    let private = |cores: u16, inner: &[(u32, u32)]| -> Vec<Cache> {
        let each = |&shape: &(u32, u32)| (0..cores).map(move |core| (0, Some(core), shape.0, shape.1));
        inner.iter().flat_map(each).chain([(1, None, 1024, 16)]).collect()
    };
    let all: Vec<Vec<Cache>> = vec![
        single(&[(2, 8), (4, 16)]),
        single(&[(1, 64)]),
        single(&[(64, 8), (512, 8), (8192, 16)]),
        single(&[(128, 1), (1, 1)]),
        single(&[(3, 5), (7, 11), (13, 2), (1000, 12)]),
        single(&[(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 8), (64, 4), (128, 2)]),
        vec![(0, None, 64, 8), (0, None, 64, 8), (1, None, 512, 8)],
        vec![(0, None, 1, 4), (0, None, 64, 8), (0, None, 1000, 12), (1, None, 4, 16)],
        private(4, &[(2, 8)]),
        private(8, &[(64, 8), (64, 12)]),
        private(64, &[(64, 8); 7]),
    ];
    all.iter().map(|caches| Rings::new(&caches.iter().map(shape).collect::<Vec<_>>())).collect()
}

/// Random flights of every kind, some of no length, some over the branch cut.
fn flights(rings: &Rings, count: u32, rng: &mut Rng) -> Vec<(Flight, f32, bool)> {
    #[expect(clippy::cast_possible_truncation, reason = "a random number in 0..1")]
    let unit = |rng: &mut Rng| rng.unit() as f32;
    let place = |rng: &mut Rng| {
        if rng.below(4) == 0 {
            let r = if rng.below(20) == 0 { 0.0 } else { unit(rng) };
            return Endpoint::polar(r, TAU * (2.0 * unit(rng) - 1.0));
        }
        let cache = usize::try_from(rng.below(rings.sectors.len() as u64)).expect("small");
        let sector = &rings.sectors[cache];
        let set = u32::try_from(rng.below(u64::from(sector.sets))).expect("small");
        let rank = rng.below(u64::from(sector.ways)) as f32;
        Endpoint::slot(cache, set, rank, (unit(rng) - 0.5) * 0.05)
    };
    (0..count)
        .map(|n| {
            let a = place(rng);
            let b = if rng.below(16) == 0 { a } else { place(rng) };
            let flight = match n % 4 {
                0 => Flight::rest(b),
                1 => Flight::straight(a, b),
                2 => Flight::arc(a, b, &rings.sectors),
                _ => match (0u16..).zip(&rings.sectors).find(|(cache, _)| f32::from(*cache) == b.cache) {
                    Some((_, of)) => Flight::slide(Endpoint { b: rng.below(u64::from(of.ways)) as f32, ..b }, b),
                    None => Flight::rest(b),
                },
            };
            // Ends and what lies past them, and everything between.
            let share = [0.0, 1.0, -0.5, 1.5].get(usize::try_from(rng.below(12)).expect("small")).copied();
            let (share, is_eased) = (share.unwrap_or_else(|| unit(rng)), rng.below(2) == 0);
            // Half of the others have times of their own, some of no length, so that they overlap.
            if is_eased || rng.below(2) == 0 {
                return (flight, share, is_eased);
            }
            let start = 40.0 * unit(rng) - 20.0;
            let length = if rng.below(8) == 0 { 0.0 } else { 30.0 * unit(rng) };
            (flight.during(start, start + length), start + share * length, false)
        })
        .collect()
}

#[test]
fn the_shader_moves_glyphs_as_the_definition_says() {
    let Some(context) = device("motion_twin") else { return };
    let mut rng = Rng::new(42);
    let (mut compared, mut worst, mut worst_flight) = (0u32, 0.0f32, None);
    let (mut seen, mut directions) = ([0u32; 4], 0u32);
    for rings in configurations() {
        let flights = flights(&rings, 2_000, &mut rng);
        let queries: Vec<Query> = flights
            .iter()
            .map(|(flight, now, eased)| {
                let endpoint = |e: Endpoint| [e.cache, e.a, e.b, e.across];
                Query {
                    from: endpoint(flight.from),
                    to: endpoint(flight.to),
                    sweep: flight.sweep,
                    now: if *eased { now.clamp(0.0, 1.0) } else { *now },
                    times: flight.times,
                    path: flight.path as u32,
                    eased: u32::from(*eased),
                    _pad: [0; 2],
                }
            })
            .collect();
        let answers = ask(&context, &rings, &queries);
        assert_eq!(answers.len(), flights.len());
        for (((flight, _, eased), query), answer) in flights.iter().zip(&queries).zip(&answers) {
            let sectors = &rings.sectors;
            let place = |e| place_on_path(sectors, flight, e);
            let expected = if *eased { place(query.now) } else { position_at(sectors, flight, query.now) };
            assert!(answer.iter().all(|v| v.is_finite()), "{flight:?} at {}: {answer:?}", query.now);
            let error = (expected[0] - answer[0]).hypot(expected[1] - answer[1]);
            if error > worst {
                (worst, worst_flight) = (error, Some((*flight, query.now, expected, *answer)));
            }
            compared += 1;
            seen[flight.path as usize] += 1;
            // The direction of the definition, against the way between two near places; lines are drawn along it.
            let e = query.now;
            if *eased && (0.01..0.99).contains(&e) {
                let (a, b) = (place(e - 0.004), place(e + 0.004));
                let way = [b[0] - a[0], b[1] - a[1]];
                let along = on_path(sectors, flight, e).along;
                let (length, told) = (way[0].hypot(way[1]), along[0].hypot(along[1]));
                if length > 1e-3 {
                    assert!(told > 0.0, "{flight:?} at {e} moves and has no direction");
                    let cosine = (way[0] * along[0] + way[1] * along[1]) / (length * told);
                    assert!(cosine > 0.995, "{flight:?} at {e}: {way:?} against {along:?}");
                    directions += 1;
                }
            }
        }
    }
    eprintln!(
        "motion twin: {compared} flights ({seen:?} by path), largest error {worst:.2e} world units; {directions} directions"
    );
    assert!(seen.iter().all(|n| *n > 1_000), "{seen:?}");
    assert!(directions > 1_000, "{directions}");
    assert!(worst <= BOUND, "{worst} > {BOUND}: {worst_flight:?}");
}
