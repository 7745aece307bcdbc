//! WGSL and Rust agree on every byte they share: names, offsets, sizes, bindings, attributes, constants. Naga says what
//! the shaders have; nothing here needs a GPU.

use orrery::render::disks::{instance, vertices_of};
use orrery::render::glyphs::FLASH_SEEN;
use orrery::render::gpu_data::{
    BAR_ATTRIBUTES, BarInstance, CELL_ATTRIBUTES, CellInstance, DISK_ATTRIBUTES, DiskInstance, Frame, GLYPH_ATTRIBUTES,
    GlyphInstance, SEGMENT_ATTRIBUTES, SOLID_ATTRIBUTES, SegmentInstance, SolidArea, SolidVertex, WORD_ATTRIBUTES,
    WordVertex,
};
use orrery::render::shaders::{ENTRY, PASSES, SOLIDS, compose};
use orrery::scene::Disk;
use orrery::scene::frame::flags;
use orrery::scene::palette;
use std::collections::{BTreeMap, BTreeSet};
use std::f32::consts::TAU;
use std::mem::offset_of;
use wgpu::VertexFormat;
use wgpu::naga::front::wgsl;
use wgpu::naga::proc::Layouter;
use wgpu::naga::{
    AddressSpace, Binding, Expression, Handle, Literal, Module, ScalarKind, ShaderStage, Type, TypeInner,
};

/// A Rust struct as WGSL should see it.
struct Row {
    name: &'static str,
    size: usize,
    fields: Vec<(&'static str, usize)>,
}

/// Lists a struct's fields once and gives its row.
macro_rules! row {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        Row {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![$((stringify!($field), offset_of!($name, $field))),+],
        }
    };
}

/// Every struct that stands in a uniform or storage buffer.
fn table() -> Vec<Row> {
    vec![
        row!(Frame { scale, offset, half_size, px_per_unit, line_scale }),
        row!(SolidArea { area, target_size, scale, _pad0 }),
    ]
}

/// The bind group that `render::pass` makes: group, binding, space, name.
const BINDINGS: [(u32, u32, AddressSpace, &str); 1] = [(0, 0, AddressSpace::Uniform, "frame")];

fn module(name: &str) -> Module {
    wgsl::parse_str(&compose(name).expect("composes")).expect("parses")
}

fn layouter(module: &Module) -> Layouter {
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).expect("a valid module has a layout");
    layouter
}

/// Structs reachable from buffers, each with whether it is an array's element there.
fn shared_structs(module: &Module) -> BTreeMap<String, (Handle<Type>, bool)> {
    fn walk(module: &Module, ty: Handle<Type>, element: bool, out: &mut BTreeMap<String, (Handle<Type>, bool)>) {
        match &module.types[ty].inner {
            TypeInner::Array { base, .. } => walk(module, *base, true, out),
            TypeInner::Struct { members, .. } => {
                let name = module.types[ty].name.clone().unwrap_or_default();
                let entry = out.entry(name).or_insert((ty, element));
                entry.1 |= element;
                for member in members {
                    walk(module, member.ty, false, out);
                }
            }
            _ => {}
        }
    }
    let mut out = BTreeMap::new();
    for (_, variable) in module.global_variables.iter() {
        if matches!(variable.space, AddressSpace::Uniform | AddressSpace::Storage { .. }) {
            walk(module, variable.ty, false, &mut out);
        }
    }
    out
}

/// A struct as text, one field a line.
fn listed(name: &str, size: usize, fields: &[(String, usize)]) -> String {
    let lines: Vec<String> = fields.iter().map(|(field, offset)| format!("  {offset:>4}  {field}")).collect();
    format!("{name}, {size} bytes\n{}", lines.join("\n"))
}

/// Differences between a module's shared structs and the table, in words.
fn differences(module: &Module, table: &[Row]) -> Vec<String> {
    let layouter = layouter(module);
    let mut out = Vec::new();
    for (name, (ty, element)) in shared_structs(module) {
        let Some(row) = table.iter().find(|r| r.name == name) else {
            out.push(format!("struct {name} stands in a buffer and not in the table: add it to gpu_data.rs and here"));
            continue;
        };
        let TypeInner::Struct { members, span } = &module.types[ty].inner else { continue };
        let wgsl: Vec<(String, usize)> =
            members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize)).collect();
        let rust: Vec<(String, usize)> = row.fields.iter().map(|(f, o)| ((*f).to_owned(), *o)).collect();
        let (wgsl, rust) = (listed("WGSL", *span as usize, &wgsl), listed("Rust", row.size, &rust));
        if wgsl.split_once(',').map(|w| w.1) != rust.split_once(',').map(|r| r.1) {
            out.push(format!("struct {name} differs:\n{wgsl}\n{rust}"));
        }
        let stride = layouter[ty].to_stride() as usize;
        if element && stride != row.size {
            out.push(format!("struct {name} as an array's element: {stride} bytes in WGSL, {} in Rust", row.size));
        }
    }
    out
}

#[test]
fn shared_structs_are_the_same_in_both_languages() {
    let table = table();
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    for name in ENTRY.into_iter().chain(SOLIDS) {
        let module = module(name);
        used.extend(shared_structs(&module).into_keys());
        found.extend(differences(&module, &table).into_iter().map(|d| format!("{name}.wgsl: {d}")));
    }
    found.extend(table.iter().filter(|r| !used.contains(r.name)).map(|r| format!("no shader uses {}", r.name)));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(used.len(), 2, "{used:?}");
}

#[test]
fn a_bad_struct_is_refused() {
    // Every offset agrees, the size does not: a check of offsets alone would pass it.
    #[repr(C)]
    struct Slip {
        a: [f32; 3],
        b: f32,
        c: [f32; 3],
    }
    let with = |body: &str| {
        let text = format!("struct Slip {{ {body} }}\n@group(0) @binding(0) var<uniform> slip: Slip;\n");
        wgsl::parse_str(&text).expect("parses")
    };
    let row = || vec![row!(Slip { a, b, c })];
    let told = differences(&with("a: vec3f, b: f32, c: vec3f"), &row());
    assert!(told.len() == 1 && told[0].contains("WGSL, 32 bytes") && told[0].contains("Rust, 28 bytes"), "{told:?}");
    let order = differences(&with("b: f32, a: vec3f, c: vec3f"), &row());
    assert!(order.len() == 1 && order[0].contains("differs"), "{order:?}");
    let unknown = differences(&with("a: vec3f, b: f32, c: vec3f"), &[]);
    assert!(unknown.len() == 1 && unknown[0].contains("add it to gpu_data.rs"), "{unknown:?}");
    #[repr(C)]
    struct Sound {
        a: [f32; 4],
        b: f32,
        c: [f32; 3],
    }
    let text =
        "struct Sound { a: vec4f, b: f32, c: array<f32, 3> }\n@group(0) @binding(0) var<storage> s: array<Sound>;";
    // A storage array: align 16, so both are 32 bytes apart.
    assert_eq!(differences(&wgsl::parse_str(text).expect("parses"), &[row!(Sound { a, b, c })]), Vec::<String>::new());
}

#[test]
fn bindings_are_those_of_the_bind_group() {
    for name in ENTRY {
        let module = module(name);
        let found: Vec<(u32, u32, AddressSpace, String)> = module
            .global_variables
            .iter()
            .filter_map(|(_, v)| {
                let binding = v.binding?;
                Some((binding.group, binding.binding, v.space, v.name.clone().unwrap_or_default()))
            })
            .collect();
        let expected = BINDINGS.map(|(group, binding, space, name)| (group, binding, space, name.to_owned()));
        assert_eq!(found, expected, "{name}.wgsl");
    }
}

#[test]
fn a_pass_over_a_picture_takes_its_figures_and_the_picture() {
    for name in PASSES.into_iter().chain(SOLIDS) {
        let module = module(name);
        let found: Vec<(u32, u32, AddressSpace)> = module
            .global_variables
            .iter()
            .filter_map(|(_, v)| Some((v.binding?.group, v.binding?.binding, v.space)))
            .collect();
        // Words come with their places in the target, and look their texture up in between.
        let first = if name == "words" { AddressSpace::Handle } else { AddressSpace::Uniform };
        assert_eq!(found, [(0, 0, first), (0, 1, AddressSpace::Handle)], "{name}.wgsl");
    }
}

/// What a format feeds into a shader: `f32`, `vec4<f32>`, `u32`, ...
fn format_name(format: VertexFormat) -> &'static str {
    match format {
        VertexFormat::Float32 => "1 Float",
        VertexFormat::Float32x2 | VertexFormat::Unorm16x2 => "2 Float",
        VertexFormat::Float32x3 => "3 Float",
        VertexFormat::Float32x4 | VertexFormat::Unorm8x4 | VertexFormat::Unorm16x4 => "4 Float",
        VertexFormat::Uint32 => "1 Uint",
        _ => "a format this test does not know yet: add it",
    }
}

fn type_name(inner: &TypeInner) -> String {
    let kind = |kind: ScalarKind| format!("{kind:?}");
    match inner {
        TypeInner::Scalar(scalar) => format!("1 {}", kind(scalar.kind)),
        TypeInner::Vector { size, scalar } => format!("{} {}", *size as u8, kind(scalar.kind)),
        other => format!("{other:?}"),
    }
}

/// `(location, "4 Float")` of each vertex entry point's inputs, by location; a struct's members are inputs too.
fn vertex_inputs(module: &Module) -> Vec<Vec<(u32, String)>> {
    let input = |binding: &Option<Binding>, ty: Handle<Type>| match binding {
        Some(Binding::Location { location, .. }) => Some((*location, type_name(&module.types[ty].inner))),
        _ => None,
    };
    let vertex = module.entry_points.iter().filter(|e| e.stage == ShaderStage::Vertex);
    vertex
        .map(|entry| {
            let mut out: Vec<(u32, String)> = Vec::new();
            for argument in &entry.function.arguments {
                out.extend(input(&argument.binding, argument.ty));
                if let TypeInner::Struct { members, .. } = &module.types[argument.ty].inner {
                    out.extend(members.iter().filter_map(|m| input(&m.binding, m.ty)));
                }
            }
            out.sort();
            out
        })
        .collect()
}

#[test]
fn vertex_attributes_have_the_shaders_types_and_the_structs_offsets() {
    let glyph = row!(GlyphInstance { center, radius, color, glow, flags });
    let segment = row!(SegmentInstance { start, end, width, color, alpha });
    let disk = row!(DiskInstance { shape, arc, color, mesh });
    let cell = row!(CellInstance { near, far, color });
    let bar = row!(BarInstance { sides, color });
    let solid = row!(SolidVertex { at, color });
    let word = row!(WordVertex { position, at, color });
    let all: [(&str, &[wgpu::VertexAttribute], Row); 7] = [
        ("glyphs", &GLYPH_ATTRIBUTES, glyph),
        ("pathlines", &SEGMENT_ATTRIBUTES, segment),
        ("disks", &DISK_ATTRIBUTES, disk),
        ("cells", &CELL_ATTRIBUTES, cell),
        ("bars", &BAR_ATTRIBUTES, bar),
        ("solids", &SOLID_ATTRIBUTES, solid),
        ("words", &WORD_ATTRIBUTES, word),
    ];
    // Words and solids, and all that draws a scene.
    assert_eq!(all.len(), ENTRY.len() + SOLIDS.len() + 1);
    for (name, attributes, row) in all {
        let fed: Vec<(u32, String)> =
            attributes.iter().map(|a| (a.shader_location, format_name(a.format).to_owned())).collect();
        // What lays a picture over another takes no attributes.
        let entries: Vec<_> = vertex_inputs(&module(name)).into_iter().filter(|e| !e.is_empty()).collect();
        assert!(
            !entries.is_empty() && entries.iter().all(|e| *e == fed),
            "{name}.wgsl {entries:#?}\nattributes {fed:#?}"
        );
        // In order, one attribute a field; the bytes of each end where the next begins, the last at the struct's end.
        let offsets: Vec<usize> = row.fields.iter().map(|(_, o)| *o).collect();
        let laid: Vec<usize> = attributes.iter().map(|a| usize::try_from(a.offset).expect("small")).collect();
        assert_eq!(laid, offsets, "{}", row.name);
        let ends: Vec<usize> =
            attributes.iter().map(|a| usize::try_from(a.offset + a.format.size()).expect("small")).collect();
        let next: Vec<usize> = offsets.iter().copied().skip(1).chain([row.size]).collect();
        assert_eq!(ends, next, "{}", row.name);
    }
}

/// Scalar constants of a module, by name.
fn constants(module: &Module) -> BTreeMap<String, f64> {
    let value = |init: Handle<Expression>| match module.global_expressions[init] {
        Expression::Literal(Literal::U32(v)) => Some(f64::from(v)),
        Expression::Literal(Literal::I32(v)) => Some(f64::from(v)),
        Expression::Literal(Literal::F32(v)) => Some(f64::from(v)),
        #[expect(clippy::cast_precision_loss, reason = "constants are small")]
        Expression::Literal(Literal::AbstractInt(v)) => Some(v as f64),
        Expression::Literal(Literal::AbstractFloat(v)) => Some(v),
        _ => None,
    };
    module.constants.iter().filter_map(|(_, c)| Some((c.name.clone()?, value(c.init)?))).collect()
}

#[test]
fn flags_have_the_same_numbers() {
    // Pasted into one module so that a constant no entry point uses is seen as well.
    let module = module("glyphs");
    let found = constants(&module);
    let expected: BTreeMap<&str, u32> = [
        ("FLAG_GHOST", flags::GHOST),
        ("FLAG_DIRTY", flags::DIRTY),
        ("FLAG_HOLLOW", flags::HOLLOW),
        ("FLAG_PAGE", flags::PAGE),
    ]
    .into();
    let of_wgsl: BTreeMap<&str, f64> = found
        .iter()
        .filter(|(name, _)| name.starts_with("FLAG_"))
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let of_rust: BTreeMap<&str, f64> = expected.iter().map(|(name, value)| (*name, f64::from(*value))).collect();
    assert_eq!(of_wgsl, of_rust);
}

#[test]
fn the_faintest_flash_is_the_same() {
    let glyphs = module("glyphs");
    assert_eq!(constants(&glyphs).get("FLASH_SEEN"), Some(&f64::from(FLASH_SEEN)));
}

#[test]
fn the_legend_shows_the_colours_of_the_shader() {
    let (_, glyphs) = orrery::render::shaders::SOURCES.iter().find(|(name, _)| *name == "glyphs").expect("there");
    for (name, color) in [("FLASH_COLOR", palette::FLASH), ("BURST_COLOR", palette::BURST)] {
        let (_, rest) = glyphs.split_once(&format!("const {name} = vec3f(")).expect(name);
        let (numbers, _) = rest.split_once(')').expect(name);
        let bytes: Vec<f32> =
            numbers.split(',').map(|n| (n.trim().parse::<f32>().expect(name) * 255.0).round()).collect();
        assert_eq!(bytes, color[..3].iter().map(|&c| f32::from(c)).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn disks_have_the_vertices_of_their_mesh() {
    // One band, two triangles a column, all round; of a wound part as many columns as its share, more bands.
    for (soft, px_per_unit) in [(0.0, 346.0), (0.05, 10.0), (0.05, 346.0), (0.05, 1e4), (0.05, 1e7f32)] {
        let whole = Disk::whole(0.1, 0.2, soft, [1; 4]);
        let mesh = instance(&whole, px_per_unit).mesh;
        let (around, bands) = (mesh & 0xffff, mesh >> 16);
        assert_eq!((vertices_of(mesh), bands), (around * 6, 1));
        // How far the middle of a chord lies from the outermost arc, in pixels: a sharp edge shows less of it.
        let sagitta = (0.2 + soft) * px_per_unit * (1.0 - (0.5 * TAU / around as f32).cos());
        let most = if soft > 0.0 { 0.26 } else { 0.026 };
        assert!(sagitta < most || around == 1024, "{around} columns: {sagitta} px");
        for share in [0.5, 0.25, 0.001f32] {
            let part = Disk { span: TAU * share, fade: 0.01 * share, turn: 1.0, ..whole };
            let mesh = instance(&part, px_per_unit).mesh;
            let (columns, bands) = (mesh & 0xffff, mesh >> 16);
            let few = columns as f32 - around as f32 * share;
            assert!(bands > 3 && columns >= 1 && few >= -1.0, "{columns} x {bands}");
            assert_eq!(vertices_of(mesh), columns * bands * 6);
        }
    }
}
