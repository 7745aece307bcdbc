//! Rings of all kinds of hierarchies.

use orrery::scene::layout::{CacheShape, Rings};

/// Rings of one cache each, rings of several (of unequal ones too), and as many caches as fit.
pub(crate) fn configurations() -> Vec<Rings> {
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
