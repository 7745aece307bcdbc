//! A picture in words, for who hears it read aloud.

use super::info::{Info, counted};
use super::pen::percent;
use crate::axis::AxisUnit;
use crate::units::grouped;

/// Regions that are told, at most: those that miss most.
const MOST_REGIONS: usize = 4;

/// What a picture shows, in sentences: where it is, what happens, how each level does, which regions miss most.
#[must_use]
pub fn described(info: &Info) -> String {
    if info.axis.unit != AxisUnit::References {
        return format!("{}, {} of {}.", info.title, info.axis.words(info.tick), info.axis.length());
    }
    let mut sentences = vec![format!("{}, reference {} of {}", info.title, grouped(info.tick), grouped(info.len))];
    let what = if info.now.what.is_empty() { "end of the trace".to_owned() } else { info.now.what.replace("  ", " ") };
    sentences.push(what);
    sentences.extend(info.now.why.iter().cloned());
    for row in info.caches.iter().filter(|row| row.core.is_none() && row.hit_rate.is_some()) {
        sentences.push(format!("{} misses {}, {}", row.name, times(row.misses), percent(row.miss_rate())));
    }
    let mut most: Vec<_> = info.regions.iter().filter(|row| row.misses > 0).collect();
    most.sort_by_key(|row| std::cmp::Reverse(row.misses));
    for row in most.into_iter().take(MOST_REGIONS) {
        let (misses, level, rate) = (times(row.misses), &info.innermost, percent(row.miss_rate));
        sentences.push(format!("{} misses {level} {misses}, {rate}", row.name));
    }
    if info.counted.is_some() {
        sentences.push(format!("counted are {}", counted(info)));
    }
    if !info.pinned.is_empty() {
        sentences.push(format!("pinned is {}", info.pinned));
    }
    let mut text = sentences.join(". ");
    text.push('.');
    text
}

fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{} times", grouped(n)) }
}

#[cfg(test)]
mod tests {
    use super::super::exhibits::NumberExhibit;
    use super::super::tests::studio;
    use super::super::{Parts, Shot};
    use super::*;
    use crate::axis::Position;
    use crate::scene::View;
    use crate::units::ByteRange;

    #[test]
    fn a_picture_is_told_in_sentences() {
        let mut studio = studio();
        let mut numbers = NumberExhibit::new(&studio);
        let view = View { pin: Some(ByteRange::new(0x4000, 8)), ..View::default() };
        let shot = Shot::still([800, 600], Position::of(613.0), view, Parts::default());
        let taken = shot.take(&mut studio, &mut numbers).expect("in memory");
        let text = described(&taken.info);
        for part in
            ["two arrays, reference 613 of 1,000. read A[613]. ", "L1 misses ", "A[1024] misses L1 ", "pinned is B[0]."]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.ends_with('.') && !text.contains(".."), "{text}");
    }
}
