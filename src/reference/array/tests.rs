use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const BASE: u64 = 0x1000;

/// So many elements of memory, 8 bytes each.
fn strided(elements: u64, shape: &[u64], strides: &[i64], offset: u64) -> Region {
    Region { shape: shape.into(), strides: strides.into(), offset, ..Region::new("A", BASE, elements * 8) }
}

/// All indices of a shape, the last fastest.
fn all_indices(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![vec![]], |all, &extent| {
        all.iter().flat_map(|first| (0..extent).map(move |next| [&first[..], &[next]].concat())).collect()
    })
}

/// What is where in memory: the letters `a b c ...` for elements in the order of their indices, dots for padding.
fn drawn(region: &Region) -> String {
    let layout = region.layout().expect("sound");
    let numbers: BTreeMap<Vec<u64>, u8> = all_indices(&region.shape).into_iter().zip(b'a'..).collect();
    let letter = |place| layout.indices(BASE + 8 * place).map_or('.', |indices| numbers[&indices].into());
    (0..region.bytes / 8).map(letter).collect()
}

#[test]
fn elements_are_named_by_shape_and_order() {
    let mut a = Region::new("A", 0x1000, 16 * 16 * 8);
    assert_eq!(a.element_name(0x1000 + 37 * 8), "A[37]");
    a.shape = vec![16, 16].into();
    assert_eq!(a.element_name(0x1000 + (2 * 16 + 15) * 8), "A[2][15]");
    assert_eq!(a.element_name(0x1000 + (2 * 16 + 15) * 8 + 7), "A[2][15]", "its last byte");
    assert_eq!(a.element_name(0x1000 + 17 * 16 * 8), "A[17][0]", "past the shape");
    assert_eq!(a.element_name(0xff0), "A[0][0]", "a line may begin before its region");
    a.row_major = false;
    assert_eq!(a.element_name(0x1000 + (2 * 16 + 15) * 8), "A[15][2]");
    assert_eq!(a.element_name(0x1000 + 17 * 16 * 8), "A[0][17]", "past the shape");
    assert_eq!(Region::new("code 0x1000..0x2000", 0x1000, 0x1000).element_name(0x1234), "0x1234");
}

#[test]
fn memory_looks_as_strides_say() {
    for (region, memory) in [
        (strided(12, &[3, 4], &[], 0), "abcdefghijkl"),
        (strided(12, &[3, 4], &[4, 1], 0), "abcdefghijkl"),
        (strided(12, &[3, 4], &[1, 3], 0), "aeibfjcgkdhl"),
        (Region { row_major: false, ..strided(12, &[3, 4], &[], 0) }, "aeibfjcgkdhl"),
        (Region { row_major: false, ..strided(12, &[3, 4], &[4, 1], 0) }, "abcdefghijkl"),
        (strided(14, &[3, 4], &[5, 1], 0), "abcd.efgh.ijkl"),
        (strided(15, &[3, 4], &[5, 1], 0), "abcd.efgh.ijkl."),
        (strided(15, &[2, 2], &[5, 1], 6), "......ab...cd.."),
        (strided(12, &[2, 3, 2], &[1, 4, 2], 0), "agbhcidjekfl"),
        (strided(4, &[4], &[-1], 3), "dcba"),
        (strided(6, &[2, 3], &[3, -1], 2), "cbafed"),
        (strided(6, &[2, 3], &[-3, -1], 5), "fedcba"),
        (strided(7, &[3], &[-2], 5), ".c.b.a."),
        (strided(4, &[3], &[], 1), ".abc"),
        (strided(4, &[2], &[], 1), ".ab."),
        (strided(8, &[2, 2], &[], 2), "..abcd.."),
        (strided(1, &[1, 1], &[i64::MIN, i64::MAX], 0), "a"),
    ] {
        assert_eq!(drawn(&region), memory, "{region:?}");
    }
}

#[test]
fn of_elements_that_share_an_address_one_is_told() {
    for (region, memory) in [
        // One row that stands for three, one element for all.
        (strided(4, &[3, 4], &[0, 1], 0), "abcd"),
        (strided(1, &[3, 4], &[0, 0], 0), "a"),
        // Windows of two elements: (0,0) (0,1)=(1,0) (1,1)=(2,0) (2,1).
        (strided(4, &[3, 2], &[1, 1], 0), "acef"),
        // The same, told the other way round: the outermost goes as far as it can.
        (strided(4, &[2, 3], &[1, 1], 0), "adef"),
        // Strides of 2 and 3: place 3 can only be (0, 1), though the longer stride is tried first.
        (strided(8, &[3, 2], &[2, 3], 0), "a.cbed.f"),
    ] {
        assert_eq!(drawn(&region), memory, "{region:?}");
    }
}

#[test]
fn padding_has_a_name_that_says_so() {
    let rows = Region { elem_type: "double".into(), ..strided(16 * 17, &[16, 16], &[17, 1], 0) };
    assert_eq!(rows.element_name(BASE + (2 * 17 + 15) * 8), "A[2][15]");
    assert_eq!(rows.element_name(BASE + (2 * 17 + 16) * 8), "A + 400 bytes (padding)");
    assert_eq!(rows.element_name(BASE + (9 * 17 + 16) * 8), "A + 1,352 bytes (padding)");
    let bytes = Region { elem_bytes: 1, bytes: 3, ..strided(0, &[1], &[], 2) };
    assert_eq!(bytes.element_name(BASE + 1), "A + 1 byte (padding)");
    // Nobody checked these: the address is all that is known.
    let wrong = strided(4, &[2, 2], &[1], 0);
    assert_eq!(wrong.element_name(BASE + 16), "A + 16 bytes");
}

#[test]
fn elements_are_counted_without_their_padding() {
    assert_eq!(strided(272, &[16, 16], &[17, 1], 0).elements(), 256);
    assert_eq!(strided(16, &[16, 16], &[0, 1], 0).elements(), 256);
    assert_eq!(strided(10, &[2, 2], &[], 0).elements(), 10, "all that there is room for");
    assert_eq!(strided(10, &[], &[], 3).elements(), 7);
}

#[test]
fn what_cannot_be_is_told() {
    let outside = |byte| LayoutError::Outside { byte, bytes: 32 };
    for (shape, strides, offset, error) in [
        (&[2, 2][..], &[1][..], 0, LayoutError::Strides { strides: 1, extents: 2 }),
        (&[], &[1], 0, LayoutError::Strides { strides: 1, extents: 0 }),
        (&[2, 2], &[3, 1], 0, outside(32)),
        (&[2, 2], &[2, -1], 0, outside(-8)),
        (&[2, 2], &[], 1, outside(32)),
        (&[], &[], 4, outside(32)),
        (&[2, 2], &[], u64::MAX, outside(i128::from(u64::MAX) * 8)),
        (&[2], &[i64::MIN], 0, outside(i128::from(i64::MIN) * 8)),
        (&[1 << 63, 2], &[i64::MIN, 1], 0, LayoutError::Overflow),
        (&[u64::MAX, u64::MAX], &[i64::MAX, i64::MAX], u64::MAX, LayoutError::Overflow),
        (&[1; 65], &[], 0, LayoutError::Extents(65)),
    ] {
        let region = strided(4, shape, strides, offset);
        assert_eq!(region.layout(), Err(error), "{region:?}");
    }
    let tangled = strided(1 << 40, &[1 << 20; 2], &[(1 << 10) + 1, 1 << 10], 0);
    assert_eq!(tangled.layout(), Err(LayoutError::Tangled));
}

#[test]
fn numbers_that_nobody_checked_do_no_harm() {
    const EXTREMES: [u64; 6] = [0, 1, 2, 1 << 63, u64::MAX - 1, u64::MAX];
    const STRIDES: [i64; 6] = [i64::MIN, -1, 0, 1, 1 << 32, i64::MAX];
    let mut sound = 0;
    for (a, b) in EXTREMES.into_iter().flat_map(|a| EXTREMES.map(|b| (a, b))) {
        for strides in
            [vec![], vec![1], vec![i64::MIN, i64::MAX], vec![STRIDES[usize::try_from(a % 6).expect("small")], 1]]
        {
            for offset in EXTREMES {
                for (bytes, elem_bytes, row_major) in [(0, 0, true), (u64::MAX, 1, false), (64, u32::MAX, true)] {
                    let shape = vec![a, b];
                    let of = Region { base: a, bytes, elem_bytes, row_major, ..strided(0, &shape, &strides, offset) };
                    sound += u64::from(of.layout().is_ok());
                    assert!(of.elements() > 0);
                    for addr in EXTREMES {
                        assert!(of.element_name(addr).starts_with('A'));
                    }
                    let layout = of.layout().ok();
                    for at in [[0, 0], [a, b]] {
                        let address = layout.as_ref().and_then(|layout| layout.address(&at));
                        assert!(address.is_none_or(|address| address - of.base < bytes), "{of:?}");
                    }
                }
            }
        }
    }
    assert!(sound > 100, "{sound} of these are arrays");
}

/// An array of up to four dimensions that stand in memory in any order, with padding after each, some of them from their end,
/// and with unused elements before and behind.
fn any_apart() -> impl Strategy<Value = Region> {
    let dimension = (1u64..6, 0u64..4, any::<bool>());
    (prop::collection::vec(dimension, 1..5), 0u64..5, 0u64..5, 1u32..10)
        .prop_flat_map(|(dimensions, before, after, elem_bytes)| {
            let order: Vec<usize> = (0..dimensions.len()).collect();
            (Just(order).prop_shuffle(), Just((dimensions, before, after, elem_bytes)))
        })
        .prop_map(|(order, (dimensions, before, after, elem_bytes))| {
            let (mut strides, mut next, mut offset) = (vec![0; dimensions.len()], 1u64, before);
            for at in order {
                let (extent, padding, reversed) = dimensions[at];
                strides[at] = next.cast_signed() * if reversed { -1 } else { 1 };
                offset += if reversed { (extent - 1) * next } else { 0 };
                next = next * extent + padding;
            }
            let shape: Vec<u64> = dimensions.iter().map(|d| d.0).collect();
            let bytes = (before + next + after) * u64::from(elem_bytes);
            Region { elem_bytes, bytes, ..strided(0, &shape, &strides, offset) }
        })
}

/// Strides of any kind, many of which overlap; the region is as long as they need it.
fn any_at_all() -> impl Strategy<Value = Region> {
    prop::collection::vec((1u64..5, -6i64..7), 1..5).prop_map(|dimensions| {
        let reach = |d: &(u64, i64)| (d.0.cast_signed() - 1) * d.1;
        let before: i64 = dimensions.iter().map(|d| -reach(d).min(0)).sum();
        let after: i64 = dimensions.iter().map(|d| reach(d).max(0)).sum();
        let (shape, strides): (Vec<u64>, Vec<i64>) = dimensions.into_iter().unzip();
        strided((before + after).cast_unsigned() + 1, &shape, &strides, before.cast_unsigned())
    })
}

/// Address of an element by hand.
fn address(region: &Region, indices: &[u64]) -> u64 {
    let steps: i64 =
        indices.iter().zip(region.strides.iter()).map(|(&index, stride)| index.cast_signed() * stride).sum();
    BASE + region.offset.checked_add_signed(steps).expect("inside") * u64::from(region.elem_bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn indices_lead_to_an_address_and_back(region in any_apart()) {
        let layout = region.layout().expect("sound");
        let mut names = BTreeMap::new();
        for (indices, number) in all_indices(&region.shape).into_iter().zip(0..) {
            let addr = layout.address(&indices).expect("an element");
            prop_assert_eq!(addr, address(&region, &indices));
            prop_assert_eq!(layout.address_of_number(number), Some(addr));
            for byte in addr..addr + u64::from(region.elem_bytes) {
                prop_assert_eq!(layout.indices(byte), Some(indices.clone()));
            }
            prop_assert!(names.insert(region.element_name(addr), addr).is_none(), "a name for each");
        }
        prop_assert_eq!(names.len() as u64, region.elements());
        prop_assert_eq!(layout.address_of_number(region.elements()), None);
        prop_assert_eq!(layout.address(&region.shape), None);
        // All other bytes are padding, and say so.
        let elements = names.len() as u64;
        for byte in region.base..region.end() {
            let name = region.element_name(byte);
            if layout.indices(byte).is_none() {
                let unit = if byte == BASE + 1 { "byte" } else { "bytes" };
                prop_assert_eq!(&name, &format!("A + {} {unit} (padding)", grouped(byte - BASE)));
                names.insert(name, byte);
            } else {
                prop_assert!(names.contains_key(&name), "{}", name);
            }
        }
        let padding = region.bytes - elements * u64::from(region.elem_bytes);
        prop_assert_eq!(names.len() as u64, elements + padding);
    }

    #[test]
    fn of_any_strides_the_longest_goes_as_far_as_it_can(region in any_at_all()) {
        let layout = region.layout().expect("few candidates");
        // From the lowest address on, how far each dimension goes, the longest stride first.
        let mut order: Vec<usize> = (0..region.shape.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(region.strides[at].abs()));
        let distances = |indices: &Vec<u64>| -> Vec<u64> {
            let from_lowest = |at: usize| match region.strides[at] {
                // The index is 0, so more of it is less.
                0 => u64::MAX - indices[at],
                n if n < 0 => region.shape[at] - 1 - indices[at],
                _ => indices[at],
            };
            order.iter().map(|&at| from_lowest(at)).collect()
        };
        let mut told: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for indices in all_indices(&region.shape) {
            let best = told.entry(address(&region, &indices)).or_insert_with(|| indices.clone());
            if distances(&indices) > distances(best) {
                *best = indices;
            }
        }
        for addr in (region.base..region.end()).step_by(8) {
            prop_assert_eq!(layout.indices(addr), told.get(&addr).cloned());
        }
    }
}
