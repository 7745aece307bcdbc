//! Caches as rings around the CPU, memory as their rim: a dot for each line, or the large picture of sums.

use super::{Exhibit, Gesture, Picture};
use crate::axis::Position;
use crate::overlay::closeup::named_dots;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, tip_at};
use crate::reference::SourceError;
use crate::scene::motion::position_at;
use crate::scene::{Camera, Composition, Scene, Stage, View};
use egui::Pos2;

/// See the module.
pub struct RingExhibit {
    stage: Stage,
}

impl RingExhibit {
    /// Lays out the rings of a studio.
    #[must_use]
    pub fn new(studio: &Studio, composition: Composition) -> Self {
        let (timeline, regions) = (studio.timeline(), &studio.tables().regions);
        Self { stage: Stage::of_trace(timeline.start(), regions, composition, timeline.has_fetches()) }
    }

    /// In the composition in which these caches and regions are read best.
    #[must_use]
    pub fn suited(studio: &Studio) -> Self {
        let (start, regions) = (studio.timeline().start(), &studio.tables().regions);
        Self::new(studio, Stage::composition_for(start, regions))
    }

    /// The stage: rings and homes.
    #[must_use]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    fn is_large(&self) -> bool {
        self.stage.rings().composition.is_large()
    }

    /// References over which temperature is the mean. All that the large picture shows is of as many references as its trail has.
    fn window(&self, view: &View) -> u64 {
        if self.is_large() { view.tail.max(1) } else { view.window }
    }

    /// Shapes and words at `position`; `view.phase` is set from it.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn scene(
        &mut self,
        studio: &mut Studio,
        position: Position,
        view: &View,
    ) -> Result<(Scene, Info), SourceError> {
        let position = studio.axis().clamp(position);
        let view = View { phase: position.phase(), window: self.window(view), ..view.clone() };
        let is_large = self.is_large();
        studio.seek(position, view.history(), view.window, is_large)?;
        let moment = studio.moment();
        let scene = self.stage.frame(&moment, &view);
        let mut info = Info::new(studio.timeline(), studio.tables(), &moment, position, &scene);
        info.dress(&view);
        if is_large {
            info.over(&moment, view.window);
        }
        (info.tail, info.speed) = (if view.trails { view.tail } else { 0 }, view.speed);
        Ok((scene, info))
    }

    /// Takes back a scene that is drawn, for the memory of its lists: who hands each back before or after the next is made
    /// takes no new memory for shapes.
    pub fn reuse(&mut self, scene: Scene) {
        self.stage.reuse(scene);
    }
}

impl Exhibit for RingExhibit {
    fn history(&self, view: &View) -> u64 {
        View { window: self.window(view), ..view.clone() }.history()
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let (scene, mut info) = self.scene(studio, shot.position, view)?;
        if shot.parts.labels {
            info.dots = named_dots(&self.stage, &studio.tables().regions, &scene, layout);
        }
        Ok((Picture::Rings(scene), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, reach: f32) -> Option<Tip> {
        let Picture::Rings(scene) = &taken.picture else { return None };
        let viewport = &taken.layout.viewport;
        let p = viewport.world_from_px([at.x, at.y]);
        let (mut tip, glyph) = tip_at(studio, &self.stage, scene, &taken.info, p, reach / viewport.px_per_unit)?;
        tip.around = glyph.and_then(|index| scene.glyphs.get(index)).map(|glyph| {
            let center = position_at(&scene.rings.sectors, &glyph.flight, scene.now);
            (taken.layout.at(center), glyph.radius * viewport.px_per_unit)
        });
        Some(tip)
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        look_around(camera, gesture, taken)
    }

    fn reuse(&mut self, picture: Picture) {
        if let Picture::Rings(scene) = picture {
            self.stage.reuse(scene);
        }
    }
}

/// The camera of a picture in world units after a gesture.
pub(super) fn look_around(camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
    let viewport = &taken.layout.viewport;
    let closer = |factor: f32, at: Pos2| camera.closer(factor, viewport.world_from_px([at.x, at.y]));
    let looked = match gesture {
        Gesture::Closer(factor, None) => camera.closer(factor, camera.at),
        Gesture::Closer(factor, Some(at)) => closer(factor, at),
        // As browsers have it: a notch of the wheel is about a sixth.
        Gesture::Wheel(by, at) => closer((by / 300.0).exp(), at),
        Gesture::Drag(by) => {
            let by = by / viewport.px_per_unit;
            Camera { at: [camera.at[0] - by.x, camera.at[1] - by.y], ..camera }
        }
        Gesture::Whole => Camera::default(),
    };
    looked.clamped()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::tests::studio;

    #[test]
    fn a_longer_history_than_a_picture_needs_changes_nothing_of_it() {
        let (mut alone, mut shared) = (studio(), studio());
        shared.keep(700);
        for composition in [Composition::Dots, Composition::Large] {
            let [mut one, mut other] = [&alone, &shared].map(|studio| RingExhibit::new(studio, composition));
            for position in [0.0, 3.5, 640.25, 641.0, 999.0, 1000.0, 20.5] {
                for (tail, window) in [(64, 256), (1, 1), (300, 20)] {
                    let view = View { tail, window, ..View::default() };
                    let expected = one.scene(&mut alone, Position::of(position), &view).expect("in memory");
                    let found = other.scene(&mut shared, Position::of(position), &view).expect("in memory");
                    assert!(expected == found, "{composition:?} at {position}, {tail}, {window}");
                }
            }
        }
    }
}
