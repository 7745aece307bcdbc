//! The harness of golden pictures finds what it is there for: synthetic pictures, no GPU.

use crate::support::golden::{Adapter, Harness, Picture, difference};
use std::fs;
use std::path::Path;

/// Discs on a dark ground.
fn discs(shift: f32, skip: Option<u16>) -> Picture {
    let (width, height) = (192u32, 128u32);
    let mut rgba = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let mut v = 8.0f32;
            for n in (0..24u16).filter(|n| Some(*n) != skip) {
                let (cx, cy) = (f32::from(n % 6) * 32.0 + 24.0 + shift, f32::from(n / 6) * 32.0 + 24.0);
                let cover = (6.0 - (x as f32 - cx).hypot(y as f32 - cy)).clamp(0.0, 1.0);
                v += (230.0 - v) * cover;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "8 to 230")]
            let v = v.round() as u8;
            rgba.extend([v, v, v, 255]);
        }
    }
    Picture { width, height, rgba }
}

fn adapter(kind: &str) -> Adapter {
    Adapter { kind: kind.into(), name: "test".into(), driver: "none 1".into() }
}

/// A folder with `reference` as `picture`, made by a software adapter.
fn folder(reference: &Picture) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut harness = Harness::new(folder.path(), &folder.path().join("out"), adapter("software a"), true);
    harness.check("picture", reference);
    assert_eq!((harness.updated.len(), harness.compared), (1, 0));
    folder
}

/// Failures of holding `actual` against what the folder has, on an adapter of `kind`.
fn held(folder: &Path, actual: &Picture, kind: &str, update: bool) -> (Vec<String>, usize, Vec<String>) {
    let mut harness = Harness::new(folder, &folder.join("out"), adapter(kind), update);
    harness.check("picture", actual);
    (harness.failures, harness.compared, harness.updated)
}

fn check(reference: &Picture, actual: &Picture, kind: &str, expect: Option<&str>) {
    let folder = folder(reference);
    let (failures, _, _) = held(folder.path(), actual, kind, false);
    match expect {
        None => assert!(failures.is_empty(), "{failures:?}"),
        Some(part) => {
            assert!(failures.len() == 1 && failures[0].contains(part), "expected {part}: {failures:?}");
            assert!(failures[0].contains("GOLDEN_UPDATE=1"), "{failures:?}");
        }
    }
}

fn noisy(levels: u8) -> Picture {
    let mut picture = discs(0.0, None);
    for pixel in picture.rgba.chunks_exact_mut(16) {
        pixel[..3].iter_mut().for_each(|v| *v = v.saturating_add(levels));
    }
    picture
}

#[test]
fn the_same_passes_and_a_missing_disc_fails() {
    let reference = discs(0.0, None);
    for kind in ["software a", "software b"] {
        check(&reference, &reference.clone(), kind, None);
        check(&reference, &discs(0.0, Some(7)), kind, Some("pixels are visibly wrong"));
    }
    let gone = difference(&reference, &discs(0.0, Some(7)));
    assert!((90..130).contains(&gone.wrong), "one disc of about 100 pixels: {gone:?}");
    assert_eq!(gone.corner, (48, 48));
}

#[test]
fn one_level_of_noise_passes_and_a_shift_by_a_pixel_fails() {
    check(&discs(0.0, None), &noisy(1), "software a", None);
    check(&discs(0.0, None), &noisy(60), "software a", Some("visibly wrong"));
    check(&discs(0.0, None), &discs(1.0, None), "software a", Some("visibly wrong"));
    check(&discs(0.0, None), &discs(1.0, None), "hardware b", Some("visibly wrong"));
    // Faint everywhere: no pixel is visibly wrong, the tile tells.
    let mut faint = discs(0.0, None);
    faint.rgba.chunks_exact_mut(4).for_each(|p| p[2] = p[2].saturating_add(2));
    let d = difference(&discs(0.0, None), &faint);
    assert!(d.wrong == 0 && d.tile > 0.5, "{d:?}");
    check(&discs(0.0, None), &faint, "software a", Some("0 pixels are visibly wrong"));
}

#[test]
fn another_size_and_a_missing_reference_fail() {
    let reference = discs(0.0, None);
    let mut wider = reference.clone();
    (wider.width, wider.height) = (128, 192);
    check(&reference, &wider, "software a", Some("the reference is 192x128, the picture 128x192"));
    let empty = tempfile::tempdir().expect("a temporary folder");
    let (failures, compared, _) = held(empty.path(), &reference, "software a", false);
    assert!(failures.len() == 1 && failures[0].contains("no reference") && compared == 0, "{failures:?}");
    assert!(!empty.path().join("picture.png").exists(), "nothing is made unasked");
}

#[test]
fn an_update_rewrites_what_fails_and_never_on_hardware() {
    let (old, new) = (discs(0.0, None), discs(1.0, None));
    let folder = folder(&old);
    let path = folder.path().join("picture.png");
    let before = fs::read(&path).expect("reference");
    let (failures, _, updated) = held(folder.path(), &new, "hardware x", true);
    assert!(failures.len() == 1 && updated.is_empty() && fs::read(&path).expect("reference") == before);
    // One level of noise passes, so its file stays as it was.
    let (_, compared, updated) = held(folder.path(), &noisy(1), "software a", true);
    assert!(compared == 1 && updated.is_empty() && fs::read(&path).expect("reference") == before);
    let (failures, _, updated) = held(folder.path(), &new, "software b", true);
    assert!(failures.is_empty() && updated == ["picture"]);
    let (failures, compared, _) = held(folder.path(), &new, "software b", false);
    assert!(failures.is_empty() && compared == 1);
}

#[test]
fn the_reference_really_comes_from_its_file() {
    // Were both pictures taken from one buffer, a change of the file alone would go unseen.
    let reference = discs(0.0, None);
    let folder = folder(&reference);
    let other = discs(0.0, Some(3));
    image::save_buffer(folder.path().join("picture.png"), &other.rgba, 192, 128, image::ColorType::Rgba8)
        .expect("written");
    let (failures, compared, _) = held(folder.path(), &reference, "software a", false);
    assert!(failures.len() == 1 && compared == 1, "{failures:?}");
    assert!(fs::read_dir(folder.path().join("out")).expect("evidence").count() == 2, "actual and diff");
}
