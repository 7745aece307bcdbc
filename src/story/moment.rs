//! Places in a trace, in words: `120`, `start`, `middle`, `end`, `40 %`, `mark sweep 3`, `end of mark sweep 3`, `miss 5`,
//! `miss 5 of B`, `miss 1 of B in L2`, `reference 10 of A`; each may be followed by `+ 20` or `- 20` references.

use super::board::Moment;
use super::error::unknown;
use crate::reference::{Mark, RegionMap, all_of};
use crate::timeline::Timeline;

/// The tick of a place in a trace.
///
/// # Errors
/// What was found, and what was expected.
pub(super) fn tick(moment: &Moment, timeline: &Timeline) -> Result<u64, String> {
    let len = timeline.len();
    let tick = match moment {
        Moment::Reference(tick) => *tick,
        Moment::Words(words) => {
            let (words, offset) = apart(words)?;
            let tick = place(words.trim(), timeline)?;
            tick.checked_add_signed(offset)
                .ok_or_else(|| format!("found `{words} {offset}`, which lies before the trace"))?
        }
    };
    if tick > len {
        return Err(format!("found reference {tick}; expected 0 to {len}, as the trace has {len} references"));
    }
    Ok(tick)
}

/// Words, and the references that are added to them.
fn apart(words: &str) -> Result<(&str, i64), String> {
    // The name of a mark may have a sign in it: what follows is a number, or no offset.
    let Some((at, sign)) = words.rmatch_indices([' ']).find_map(|(at, _)| {
        let rest = words[at..].trim_start();
        let sign = rest.chars().next().filter(|c| matches!(c, '+' | '-'))?;
        Some((at, sign))
    }) else {
        return Ok((words, 0));
    };
    let number = words[at..].trim_start()[1..].trim();
    match number.parse::<i64>() {
        Ok(number) => Ok((&words[..at], if sign == '-' { -number } else { number })),
        Err(_) => Ok((words, 0)),
    }
}

fn place(words: &str, timeline: &Timeline) -> Result<u64, String> {
    let len = timeline.len();
    match words {
        "start" => return Ok(0),
        "middle" => return Ok(len / 2),
        "end" => return Ok(len),
        _ => {}
    }
    if let Ok(tick) = words.parse() {
        return Ok(tick);
    }
    if let Some(share) = words.strip_suffix('%') {
        return percent(share.trim(), len).ok_or_else(|| format!("found `{words}`; expected 0 % to 100 %"));
    }
    if let Some(name) = words.strip_prefix("end of mark ") {
        let (at, marks) = mark(name.trim(), timeline)?;
        return Ok(marks.get(at + 1).map_or(len, |mark| mark.reference.min(len)));
    }
    if let Some(name) = words.strip_prefix("mark ") {
        let (at, marks) = mark(name.trim(), timeline)?;
        return Ok(marks[at].reference.min(len));
    }
    if let Some(rest) = words.strip_prefix("miss ") {
        return nth(rest, timeline, true).map_err(|error| format!("{words}: {error}"));
    }
    if let Some(rest) = words.strip_prefix("reference ") {
        return nth(rest, timeline, false).map_err(|error| format!("{words}: {error}"));
    }
    Err(format!(
        "{}; or the number of a reference, 40 %, mark NAME, end of mark NAME, miss N of REGION in LEVEL, reference N of REGION",
        unknown(words, &["start", "middle", "end"])
    ))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
fn percent(share: &str, len: u64) -> Option<u64> {
    let share: f64 = share.parse().ok()?;
    (0.0..=100.0).contains(&share).then(|| (share / 100.0 * len as f64).round() as u64)
}

/// The mark of this name, or else the first whose name begins so: its number, and all of them.
fn mark<'a>(name: &str, timeline: &'a Timeline) -> Result<(usize, &'a [Mark]), String> {
    let marks = &timeline.tables().marks;
    let exact = marks.iter().position(|mark| mark.name == name);
    let at = exact.or_else(|| marks.iter().position(|mark| !name.is_empty() && mark.name.starts_with(name)));
    let known = || marks.iter().map(|mark| mark.name.as_str()).collect::<Vec<_>>();
    at.map(|at| (at, marks.as_slice())).ok_or_else(|| format!("mark: {}", unknown(name, &known())))
}

/// `5`, `5 of B`, `5 of B in L2`: the reference that is the fifth miss, or simply the fifth.
fn nth(words: &str, timeline: &Timeline, misses: bool) -> Result<u64, String> {
    let (words, level) = match words.rsplit_once(" in ") {
        Some((words, level)) => (words, Some(level.trim())),
        None => (words, None),
    };
    let (number, region) = match words.split_once(" of ") {
        Some((number, region)) => (number.trim(), Some(region.trim())),
        None => (words.trim(), None),
    };
    let number: u64 =
        number.parse().ok().filter(|n| *n > 0).ok_or("expected a number, 1 or more, as in miss 5 of B")?;
    let levels = &timeline.config().levels;
    let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
    let level = match level {
        None => None,
        Some(name) => Some(
            names.iter().position(|known| *known == name).ok_or_else(|| format!("level: {}", unknown(name, &names)))?,
        ),
    };
    let regions = &timeline.tables().regions;
    if let Some(name) = region.filter(|name| !regions.iter().any(|region| region.name == *name)) {
        let names: Vec<&str> = regions.iter().map(|region| region.name.as_str()).collect();
        return Err(format!("region: {}", unknown(name, &names)));
    }
    let outcomes = timeline.outcomes();
    if misses && outcomes.is_none() {
        return Err(
            "found a trace too long for single misses to be known; expected the number of a reference, or a mark"
                .into(),
        );
    }
    let map = RegionMap::new(regions);
    let mut next = all_of(timeline.source().as_ref());
    let (mut chunk, mut tick, mut left) = (Vec::new(), 0, number);
    loop {
        chunk.clear();
        next(&mut chunk).map_err(|error| error.0)?;
        if chunk.is_empty() {
            break;
        }
        for reference in &chunk {
            let counts = !misses || {
                let outcome = outcomes.and_then(|outcomes| outcomes.get(tick));
                outcome.is_some_and(|outcome| match level {
                    None => outcome.missed(),
                    Some(level) => outcome.class(level).is_some(),
                })
            };
            let is_of = |name: &str| map.find(reference.addr, tick).is_some_and(|at| regions[at].name == name);
            if counts && region.is_none_or(is_of) {
                left -= 1;
                if left == 0 {
                    return Ok(tick);
                }
            }
            tick += 1;
        }
    }
    let found = number - left;
    Err(match found {
        0 => "found none of them in the whole trace; expected one that occurs".into(),
        _ => format!("found {found} of them in the whole trace; expected a number of 1 to {found}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::tests::studio;

    #[test]
    fn places_are_found_by_number_share_mark_miss_and_region() {
        // 1,000 references: marks at 100 and 600; every fourth is of B, and A misses once a line of four.
        let studio = studio();
        let at = |words: &str| tick(&Moment::Words(words.into()), studio.timeline());
        assert_eq!(tick(&Moment::Reference(7), studio.timeline()), Ok(7));
        for (words, expect) in [
            ("start", 0),
            ("middle", 500),
            ("end", 1000),
            ("12", 12),
            ("12 + 3", 15),
            ("12 - 3", 9),
            ("25 %", 250),
            ("25%", 250),
            ("mark first", 100),
            ("mark sec", 600),
            ("mark first + 20", 120),
            ("end of mark first", 600),
            ("end of mark second", 1000),
            ("miss 1", 0),
            ("miss 1 of B", 3),
            ("miss 2 of A", 4),
            ("miss 2 of A in L2", 4),
            ("reference 2 of B", 7),
        ] {
            assert_eq!(at(words), Ok(expect), "{words}");
        }
        for (words, expect) in [
            ("1001", "found reference 1001; expected 0 to 1000"),
            ("start - 1", "which lies before the trace"),
            ("101 %", "expected 0 % to 100 %"),
            ("mark third", "mark: found `third`"),
            ("miss 0 of A", "expected a number, 1 or more"),
            ("miss 5 of B", "found 1 of them in the whole trace; expected a number of 1 to 1"),
            ("miss 1 of B in L7", "level: found `L7`"),
            ("reference 999 of B", "found 250 of them"),
            ("strat", "(did you mean `start`?)"),
        ] {
            let error = at(words).expect_err(words);
            assert!(error.contains(expect), "{words}: {error}");
        }
    }
}
