//! Flights of every kind between any two places: they begin and end where they should, and a path's direction is that of the way between two
//! places on it, since lines are drawn along it.

use crate::support::rings::configurations;
use orrery::scene::layout::Rings;
use orrery::scene::motion::{Endpoint, Flight, Path, on_path, place_on_path, position_at};
use orrery::trace::synth::Rng;
use std::f32::consts::TAU;

/// Random flights of every kind, some of no length, some over the branch cut.
fn flights(rings: &Rings, count: u32, rng: &mut Rng) -> Vec<(Flight, f32, bool)> {
    #[expect(clippy::cast_possible_truncation, reason = "a random number in 0..1")]
    let unit = |rng: &mut Rng| rng.unit() as f32;
    let place = |rng: &mut Rng| {
        if rng.below(4) == 0 {
            let r = if rng.below(20) == 0 { 0.0 } else { unit(rng) };
            return Endpoint::polar(r, TAU * (2.0 * unit(rng) - 1.0));
        }
        let cache = usize::try_from(rng.below(rings.sectors.len() as u64)).expect("small");
        let sector = &rings.sectors[cache];
        let set = u32::try_from(rng.below(u64::from(sector.sets))).expect("small");
        let rank = rng.below(u64::from(sector.ways)) as f32;
        Endpoint::slot(cache, set, rank, (unit(rng) - 0.5) * 0.05)
    };
    (0..count)
        .map(|n| {
            let a = place(rng);
            let b = if rng.below(16) == 0 { a } else { place(rng) };
            let flight = match n % 4 {
                0 => Flight::rest(b),
                1 => Flight::straight(a, b),
                2 => Flight::arc(a, b, &rings.sectors),
                _ => match (0u16..).zip(&rings.sectors).find(|(cache, _)| f32::from(*cache) == b.cache) {
                    Some((_, of)) => Flight::slide(Endpoint { b: rng.below(u64::from(of.ways)) as f32, ..b }, b),
                    None => Flight::rest(b),
                },
            };
            // Ends and what lies past them, and everything between.
            let share = [0.0, 1.0, -0.5, 1.5].get(usize::try_from(rng.below(12)).expect("small")).copied();
            let (share, is_eased) = (share.unwrap_or_else(|| unit(rng)), rng.below(2) == 0);
            // Half of the others have times of their own, some of no length, so that they overlap.
            if is_eased || rng.below(2) == 0 {
                return (flight, share, is_eased);
            }
            let start = 40.0 * unit(rng) - 20.0;
            let length = if rng.below(8) == 0 { 0.0 } else { 30.0 * unit(rng) };
            (flight.during(start, start + length), start + share * length, false)
        })
        .collect()
}

#[test]
fn paths_lead_from_end_to_end_and_have_the_direction_of_the_way() {
    let mut rng = Rng::new(42);
    let (mut seen, mut directions) = ([0u32; 4], 0u32);
    for rings in configurations() {
        let sectors = &rings.sectors;
        for (flight, now, is_eased) in flights(&rings, 2_000, &mut rng) {
            seen[flight.path as usize] += 1;
            let place = |e| place_on_path(sectors, &flight, e);
            if !is_eased {
                let at = position_at(sectors, &flight, now);
                assert!(at.iter().all(|v| v.is_finite()), "{flight:?} at {now}: {at:?}");
                let [start, end] = flight.times;
                let there = |e: Endpoint| {
                    let [x, y] = e.position(sectors);
                    assert!((x - at[0]).hypot(y - at[1]) < 2e-5, "{flight:?} at {now}: {at:?}, not {:?}", [x, y]);
                };
                match () {
                    () if now >= end => there(flight.to),
                    () if now < start && flight.path != Path::Rest => there(flight.from),
                    () => {}
                }
                continue;
            }
            let e = now.clamp(0.0, 1.0);
            if !(0.01..0.99).contains(&e) {
                continue;
            }
            let (a, b) = (place(e - 0.004), place(e + 0.004));
            let way = [b[0] - a[0], b[1] - a[1]];
            let along = on_path(sectors, &flight, e).along;
            let (length, told) = (way[0].hypot(way[1]), along[0].hypot(along[1]));
            if length > 1e-3 {
                assert!(told > 0.0, "{flight:?} at {e} moves and has no direction");
                let cosine = (way[0] * along[0] + way[1] * along[1]) / (length * told);
                assert!(cosine > 0.995, "{flight:?} at {e}: {way:?} against {along:?}");
                directions += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 1_000), "{seen:?}");
    assert!(directions > 1_000, "{directions}");
}
