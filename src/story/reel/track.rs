//! What a camera follows: where it is at even times of a scene, and a smooth way between.

use super::super::camera;
use crate::axis::Position;
use crate::overlay::{Exhibit, Shot, Studio};
use crate::reference::SourceError;
use crate::scene::{Camera, View};
use crate::units::{ByteRange, to_f32};

/// Seconds between two looks at what is followed, at least.
const SPACING: f64 = 0.25;
/// Looks of a scene, at most: in a longer one they are farther apart.
const MOST: f64 = 2400.0;
/// References of one look, at most: the last ones.
const REFERENCES: u64 = 8;

/// What is followed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Followed {
    /// An element, wherever it is.
    Element(ByteRange),
    /// What the program touches.
    References,
}

/// Where it is, in world units, every `spacing` seconds from the start of the scene on: looked for when it is needed, and kept.
#[derive(Clone)]
pub(super) struct Track {
    pub(super) followed: Followed,
    spacing: f64,
    /// `None` = nobody looked yet.
    places: Vec<Option<[f32; 2]>>,
}

/// Where a picture is at each time of a scene, and what it is drawn by.
pub(super) struct Way<'a> {
    pub(super) studio: &'a mut Studio,
    pub(super) exhibit: &'a mut dyn Exhibit,
    pub(super) shot: &'a Shot,
    pub(super) at: &'a dyn Fn(f64) -> Position,
}

impl Track {
    /// Of a scene of `seconds`, nothing of which was looked at.
    pub(super) fn new(followed: Followed, seconds: f64) -> Self {
        let spacing = SPACING.max(seconds / MOST);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand at most")]
        let places = (seconds.max(0.0) / spacing).ceil() as usize + 1;
        Self { followed, spacing, places: vec![None; places] }
    }

    /// Looks at where it is about a time, if nobody did.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(super) fn look(&mut self, time: f64, way: &mut Way<'_>) -> Result<(), SourceError> {
        let (n, _) = self.place(time);
        for n in n.saturating_sub(1)..(n + 3).min(self.places.len()) {
            if self.places[n].is_none() {
                let at = |n: usize| (way.at)(n as f64 * self.spacing);
                let since = at(n.saturating_sub(1)).tick();
                let place = look(&self.followed, at(n), since, way)?;
                self.places[n] = Some(place.unwrap_or([0.0, 0.0]));
            }
        }
        Ok(())
    }

    /// The place before a time, and the part of the way to the next one.
    fn place(&self, time: f64) -> (usize, f32) {
        let u = (time / self.spacing).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of a few thousand places"
        )]
        let n = (u.floor() as usize).min(self.places.len().saturating_sub(1));
        (n, to_f32((u - n as f64).clamp(0.0, 1.0)))
    }

    /// Where the camera looks at a time: a cubic B-spline, so that it never jumps and never leaves what it goes between.
    pub(super) fn at(&self, time: f64) -> [f32; 2] {
        let (n, t) = self.place(time);
        let place = |at: usize| self.places[at.min(self.places.len() - 1)].unwrap_or([0.0, 0.0]);
        let near = [place(n.saturating_sub(1)), place(n), place(n + 1), place(n + 2)];
        let s = 1.0 - t;
        let weights = [s * s * s, (3.0 * t - 6.0) * t * t + 4.0, (3.0 * s - 6.0) * s * s + 4.0, t * t * t];
        [0, 1].map(|axis| near.iter().zip(weights).map(|(place, weight)| place[axis] * weight).sum::<f32>() / 6.0)
    }
}

/// Where it is at a position, the mean of the references since `since` where it is several; `None` where it is nowhere.
fn look(
    followed: &Followed,
    position: Position,
    since: u64,
    way: &mut Way<'_>,
) -> Result<Option<[f32; 2]>, SourceError> {
    let Way { studio, exhibit, shot, .. } = way;
    let labels: Vec<ByteRange> = match followed {
        Followed::Element(bytes) => vec![*bytes],
        Followed::References => {
            studio.seek(position, REFERENCES, 0, false)?;
            let moment = studio.moment();
            let from = since.max(moment.tick.saturating_sub(REFERENCES - 1)).min(moment.tick);
            moment.log.steps(from, moment.tick + 1).iter().map(|step| ByteRange::new(step.addr, 1)).collect()
        }
    };
    let count = labels.len();
    let view = View {
        camera: Camera::default(),
        labels: labels.into(),
        trails: false,
        ghosts: false,
        temperature: false,
        ..shot.view.clone()
    };
    let taken = Shot { position, view, ..(*shot).clone() }.take(studio, *exhibit)?;
    let places: Vec<[f32; 2]> = match taken.picture.scene() {
        Some(scene) => (0..count).filter_map(|label| camera::nearest(scene, label)).collect(),
        None => Vec::new(),
    };
    exhibit.reuse(taken.picture);
    let sum = |axis: usize| places.iter().map(|place| place[axis]).sum::<f32>() / places.len() as f32;
    Ok((!places.is_empty()).then(|| [sum(0), sum(1)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(places: Vec<[f32; 2]>) -> Track {
        Track { followed: Followed::References, spacing: 0.25, places: places.into_iter().map(Some).collect() }
    }

    #[test]
    fn the_way_of_a_camera_has_no_edge_and_stays_between_places() {
        // It jumps from one side to the other, and rests.
        let places = vec![[0.0, 0.5], [0.0, 0.5], [0.0, 0.5], [0.8, -0.5], [0.8, -0.5], [0.8, -0.5]];
        let way_of = track(places);
        let way: Vec<[f32; 2]> = (0..=150u8).map(|frame| way_of.at(f64::from(frame) / 100.0)).collect();
        assert_eq!(way[0], [0.0, 0.5]);
        let near = |place: [f32; 2], to: [f32; 2]| (0..2).all(|axis| (place[axis] - to[axis]).abs() < 1e-5);
        assert!(near(way[150], [0.8, -0.5]), "{:?}", way[150]);
        assert!(way.windows(2).all(|pair| pair[1][0] >= pair[0][0] - 1e-6), "it goes one way");
        let steps: Vec<f32> = way.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
        assert!(steps.iter().all(|step| *step < 0.03), "no jump: {steps:?}");
        assert!(
            steps.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.0015),
            "it starts and ends slowly: {steps:?}"
        );
        assert!(near(way_of.at(99.0), [0.8, -0.5]), "after its end it stays");
        assert_eq!(track(vec![[0.1, 0.2]]).at(3.0).map(|x| (x * 1e4).round()), [1000.0, 2000.0]);
    }
}
