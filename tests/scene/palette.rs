//! Colours that mean something are told apart by people who see all colours, and by those who lack one kind of cone.

use orrery::scene::palette::difference::{Matrix, distance, lab, linear, times};
use orrery::scene::palette::{ACTS, AT_HOME, BACKGROUND, EVICT, HIT, MISS, Rgba, SERIES, Theme, mix, region, themed};

/// Machado, Oliveira and Fernandes 2009, severity 1, on linear light.
const SIGHTS: [(&str, Matrix); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protanopia", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    (
        "deuteranopia",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    ("tritanopia", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
];
/// Least distance of two colours that mean different things, CIEDE2000: patches side by side are told apart from 1 on, small
/// ones apart from each other at a glance from some 10 on.
const APART: f64 = 13.0;
/// The same for themes that colours were not searched for.
const AT_A_GLANCE: f64 = 9.5;

#[test]
fn the_distance_is_that_of_its_published_test_pairs() {
    // Sharma, Wu and Dalal 2005, table 1.
    for (a, b, expected) in [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
        ([50.0, 2.5, 0.0], [61.0, -5.0, 29.0], 22.8977),
        ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
        ([6.7747, -0.2908, -2.4247], [5.8714, -0.0985, -2.2286], 0.6377),
        ([2.0776, 0.0795, -1.1350], [0.9033, -0.0636, -0.5514], 0.9082),
    ] {
        assert!((distance(a, b) - expected).abs() < 1e-4, "{} for {expected}", distance(a, b));
    }
}

#[test]
fn six_arrays_a_miss_an_eviction_and_a_hit_are_told_apart_with_any_cones() {
    // Dots at home let the ground through.
    let at_home = |n: usize| mix(BACKGROUND, region(n), AT_HOME);
    let mut named: Vec<(String, Rgba)> = (0..6).map(|n| (format!("array {n}"), region(n))).collect();
    named.extend((0..6).map(|n| (format!("array {n}"), at_home(n))));
    named.extend([("a miss", MISS), ("an eviction", EVICT), ("a hit", HIT)].map(|(name, c)| (name.to_owned(), c)));
    for (sight, matrix) in &SIGHTS {
        for (n, (a, first)) in named.iter().enumerate() {
            for (b, second) in named[n + 1..].iter().filter(|(b, _)| a != b) {
                let [x, y] = [first, second].map(|c| lab(times(matrix, linear(*c)).map(|v| v.clamp(0.0, 1.0))));
                let apart = distance(x, y);
                assert!(apart >= APART, "{sight}: {a} and {b} are {apart:.1} apart");
            }
        }
    }
}

#[test]
fn what_items_of_a_kernel_do_is_told_apart_with_any_cones() {
    let names = ["read", "write", "atomic", "barrier", "storage barrier", "pointed at"];
    let all: Vec<Rgba> = ACTS.into_iter().chain([SERIES[1]]).collect();
    for (theme, least) in [(Theme::Dark, APART), (Theme::Light, AT_A_GLANCE), (Theme::Print, AT_A_GLANCE)] {
        for (sight, matrix) in &SIGHTS {
            for (n, a) in all.iter().enumerate() {
                for (m, b) in all.iter().enumerate().skip(n + 1) {
                    let [x, y] =
                        [a, b].map(|c| lab(times(matrix, linear(themed(*c, theme))).map(|v| v.clamp(0.0, 1.0))));
                    let apart = distance(x, y);
                    assert!(apart >= least, "{theme:?}, {sight}: {} and {} are {apart:.1} apart", names[n], names[m]);
                }
            }
        }
    }
}

#[test]
fn in_light_themes_they_are_told_apart_at_a_glance_too() {
    let all = (0..6).map(|n| (format!("array {n}"), region(n)));
    let named: Vec<(String, Rgba)> =
        all.chain([("a miss", MISS), ("an eviction", EVICT), ("a hit", HIT)].map(|(n, c)| (n.to_owned(), c))).collect();
    for theme in [Theme::Light, Theme::Print] {
        for (sight, matrix) in &SIGHTS {
            for (n, (a, first)) in named.iter().enumerate() {
                for (b, second) in &named[n + 1..] {
                    let [x, y] = [first, second]
                        .map(|c| lab(times(matrix, linear(themed(*c, theme))).map(|v| v.clamp(0.0, 1.0))));
                    let apart = distance(x, y);
                    assert!(apart >= AT_A_GLANCE, "{theme:?}, {sight}: {a} and {b} are {apart:.1} apart");
                }
            }
        }
    }
}

#[test]
fn meanings_keep_their_families() {
    let hue = |c: Rgba| {
        let [_, a, b] = lab(linear(c));
        b.atan2(a).to_degrees().rem_euclid(360.0)
    };
    assert!((25.0..60.0).contains(&hue(MISS)), "a warm red: {}", hue(MISS));
    assert!((265.0..305.0).contains(&hue(EVICT)), "a blue: {}", hue(EVICT));
    assert!(lab(linear(HIT))[0] > 95.0, "nearly white");
}
