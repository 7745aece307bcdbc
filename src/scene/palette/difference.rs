//! How different two colours look: CIEDE2000 (Sharma, Wu and Dalal 2005). Patches side by side are told apart from 1 on, small ones that
//! are apart from each other at a glance from some 10 on.

use super::Rgba;

/// A matrix of three rows.
pub type Matrix = [[f64; 3]; 3];

/// A matrix times a column.
#[must_use]
pub fn times(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Linear light of an sRGB colour, each 0 to 1; alpha is left out.
#[must_use]
pub fn linear(c: Rgba) -> [f64; 3] {
    [c[0], c[1], c[2]].map(|v| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    })
}

/// CIE L*a*b* under D65 of linear light.
#[must_use]
pub fn lab(light: [f64; 3]) -> [f64; 3] {
    let xyz: Matrix =
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]];
    let (at, white) = (times(&xyz, light.map(|v| v.clamp(0.0, 1.0))), times(&xyz, [1.0; 3]));
    let f = |n: usize| {
        let t = at[n] / white[n];
        if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
    };
    [116.0 * f(1) - 16.0, 500.0 * (f(0) - f(1)), 200.0 * (f(1) - f(2))]
}

/// The distance of two colours of CIE L*a*b*.
#[must_use]
pub fn distance([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
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

/// The distance of two colours as all cones see them.
#[must_use]
pub fn apart(a: Rgba, b: Rgba) -> f64 {
    distance(lab(linear(a)), lab(linear(b)))
}
