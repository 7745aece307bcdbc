//! Colours that mean something are told apart by people who see all colours, and by those who lack one kind of cone.

use orrery::scene::palette::{AT_HOME, BACKGROUND, EVICT, HIT, MISS, Rgba, Theme, mix, region, themed};

type Matrix = [[f64; 3]; 3];

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

fn times(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

fn linear(c: Rgba) -> [f64; 3] {
    [c[0], c[1], c[2]].map(|v| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    })
}

/// CIE L*a*b* under D65 of linear light.
fn lab(light: [f64; 3]) -> [f64; 3] {
    let xyz: Matrix =
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]];
    let (at, white) = (times(&xyz, light.map(|v| v.clamp(0.0, 1.0))), times(&xyz, [1.0; 3]));
    let f = |n: usize| {
        let t = at[n] / white[n];
        if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
    };
    [116.0 * f(1) - 16.0, 500.0 * (f(0) - f(1)), 200.0 * (f(1) - f(2))]
}

/// CIEDE2000.
fn distance([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
    let pull = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
    let stretch = 1.0 + 0.5 * (1.0 - pull(0.5 * (a1.hypot(b1) + a2.hypot(b2))));
    let (a1, a2) = (a1 * stretch, a2 * stretch);
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue = |a: f64, b: f64| if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) };
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let grey = c1 * c2 == 0.0;
    let turn = if grey { 0.0 } else { (h2 - h1 + 180.0).rem_euclid(360.0) - 180.0 };
    let dh = 2.0 * (c1 * c2).sqrt() * (0.5 * turn).to_radians().sin();
    let (l, c) = (0.5 * (l1 + l2), 0.5 * (c1 + c2));
    let h = match (h1 - h2).abs() <= 180.0 {
        _ if grey => h1 + h2,
        true => 0.5 * (h1 + h2),
        false => (0.5 * (h1 + h2 + 360.0)).rem_euclid(360.0),
    };
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0) - 0.20 * cos(4.0 * h - 63.0);
    let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
    let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let rt = -(60.0 * (-((h - 275.0) / 25.0).powi(2)).exp()).to_radians().sin() * 2.0 * pull(c);
    let (dl, dc, dh) = ((l2 - l1) / sl, (c2 - c1) / sc, dh / sh);
    (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
}

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
