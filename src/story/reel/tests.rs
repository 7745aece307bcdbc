//! Cameras that follow, and scenes that follow each other.

use super::*;
use crate::overlay::tests::studio;

/// A storyboard of one source under `text`.
fn reel(text: &str) -> Reel {
    let text = format!("title = 't'\n[source.s]\ntrace = 'in memory'\n{text}");
    let story = Storyboard::parse(&text, "test").expect(&text);
    Reel::new(&story, vec![("s".into(), studio())], [640, 400], 20).expect(&text)
}

/// Where the camera of the first picture looks in each frame.
fn cameras(reel: &mut Reel) -> Vec<Camera> {
    let frames = 0..reel.frames();
    let of = |k| {
        let frame = reel.frame(k).expect("in memory");
        reel.reuse(frame);
        let (n, time) = reel.at(k);
        reel.scenes[n].panels[0].camera(time)
    };
    frames.map(of).collect()
}

#[test]
fn a_camera_follows_without_a_jump_and_stays_where_it_was_left() {
    for what in ["follow B[0] x 4", "follow x 4"] {
        let text = format!(
            "[[scene]]\nsource = 's'\nfrom = 100\nto = 140\nseconds = 4\nlooks = [{{ at = 1, camera = '{what}', moves = 1 }}]\n\
             [[scene]]\nto = 150\nseconds = 1\n"
        );
        let mut film = reel(&text);
        let way = cameras(&mut film);
        assert_eq!(way.len(), 100);
        assert_eq!(way[0].zoom, 1.0);
        assert_eq!(way[79].zoom, 4.0);
        let farthest = way.windows(2).map(|pair| {
            let [dx, dy] = [0, 1].map(|axis| pair[1].at[axis] - pair[0].at[axis]);
            dx.hypot(dy)
        });
        let farthest = farthest.fold(0.0, f32::max);
        assert!(farthest < 0.25, "{what}: it jumps by {farthest}");
        assert!(way[40..80].windows(2).any(|pair| pair[0].at != pair[1].at), "{what}: it goes about");
        assert!(way[80..].iter().all(|camera| *camera == way[80]) && way[80].zoom == 4.0, "{what}: {:?}", &way[80..]);
        // The same wherever one comes from.
        let mut other = reel(&text);
        let back: Vec<Camera> = (0..100)
            .rev()
            .map(|k| {
                let frame = other.frame(k).expect("in memory");
                other.reuse(frame);
                let (n, time) = other.at(k);
                other.scenes[n].panels[0].camera(time)
            })
            .collect();
        assert!(back.iter().rev().eq(&way), "{what}: other ways to a frame");
    }
}

#[test]
fn what_is_followed_is_in_sight() {
    // It rests at the end: the element is in the middle then.
    let mut film = reel(
        "[[scene]]\nsource = 's'\nfrom = 100\nto = 140\nseconds = 2\nafter = 1.5\ncamera = 'follow B[0] x 4'\nlabels = [{ of = 'B[0]', text = 'here' }]\n",
    );
    let last = film.frame(film.frames() - 1).expect("in memory");
    let label = last.lettering.labels.first().expect("it is seen");
    let middle = last.pictures[0].layout.at([0.0, 0.0]);
    assert!(label.at.distance(middle) < 400.0, "{:?}", label.at);
    let (taken, camera) = (&last.pictures[0], film.scenes[0].panels[0].camera(3.5));
    let at = camera::nearest(taken.picture.scene().expect("rings"), 0).expect("labelled");
    let away = (at[0] - camera.at[0]).hypot(at[1] - camera.at[1]);
    assert!(away < 0.02, "{at:?} and {camera:?}");
}

#[test]
fn scenes_come_and_go_in_the_way_they_say() {
    let film = reel(
        "[[scene]]\nsource = 's'\nseconds = 2\nfade = 0\n[[scene]]\nfrom = 5\nseconds = 2\ntransition = 'wipe'\n[[scene]]\nfrom = 6\n\
         seconds = 2\ntransition = 'iris'\nfade = 1\n[[scene]]\nfrom = 7\nseconds = 2\ntransition = 'cut'\n",
    );
    let veil = |n: usize, time: f64| film.veil(n, time);
    assert_eq!(veil(0, 0.0), Veil::default());
    assert_eq!(veil(0, 1.8), Veil { share: 0.5, comes: false, way: Transition::Wipe });
    assert_eq!(veil(1, 0.2), Veil { share: 0.5, comes: true, way: Transition::Wipe });
    assert_eq!(veil(1, 1.0), Veil::default());
    assert_eq!(veil(1, 1.75), Veil { share: 0.5, comes: false, way: Transition::Iris });
    assert_eq!(veil(2, 0.25), Veil { share: 0.5, comes: true, way: Transition::Iris });
    assert_eq!((veil(2, 2.0), veil(3, 0.0)), (Veil::default(), Veil::default()));
}
