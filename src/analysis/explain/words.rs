//! The sentences.

use super::{AccessTold, Deeds, DepartureTold, Explanation, LeftTold, Telling};
use crate::reference::{Kind, Region};
use crate::sim::{Event, MissClass};
use crate::units::{ByteRange, counted, grouped};

/// Pieces of a reference that are told one by one; more are counted.
const FEW: usize = 2;
/// Departures that are told.
const TOLD: usize = 3;

impl Telling<'_> {
    /// The region that holds a byte while a reference runs: the one that begins last.
    fn region(&self, addr: u64, tick: u64) -> Option<&Region> {
        let lives = |region: &&Region| {
            let (from, to) = region.lifetime.unwrap_or((0, u64::MAX));
            (region.base..region.end()).contains(&addr) && from <= tick && tick < to
        };
        self.source.tables().regions.iter().rfind(lives)
    }

    /// `B[3][5]`, or an address.
    pub(super) fn byte_name(&self, addr: u64, tick: u64) -> String {
        self.region(addr, tick).map_or_else(|| format!("0x{addr:x}"), |region| region.element_name(addr))
    }

    /// What lies in a line: `A[2][0..3]`, `A[2][15] to A[3][2]`, or an address.
    pub(super) fn line_name(&self, bytes: ByteRange) -> String {
        let first = (bytes.first..=bytes.last).find_map(|addr| Some((addr, self.region(addr, self.tick)?)));
        let Some((first, region)) = first else { return format!("0x{:x}", bytes.first) };
        let last = bytes.last.min(region.end() - 1);
        let (from, to) = (region.element_name(first), region.element_name(last));
        if from == to {
            return from;
        }
        // Names that differ in the last index alone share all before it.
        match (from.rsplit_once('['), to.rsplit_once('[')) {
            (Some((front, low)), Some((other, high))) if front == other => {
                format!("{front}[{}..{}", low.trim_end_matches(']'), high)
            }
            _ => format!("{from} to {to}"),
        }
    }

    pub(super) fn sentences(&self, told: &Explanation, deeds: &Deeds) -> Vec<String> {
        let mut first = format!("{} {}", told.kind, told.name);
        first.push_str(": ");
        if let Some(words) = self.translations(deeds) {
            first.push_str(&format!("{words}; "));
        }
        let pieces = self.pieces(told);
        match pieces.as_slice() {
            [] => first.push_str("passes no cache"),
            few if few.len() <= FEW => {
                let words: Vec<String> = few.iter().map(|piece| self.piece(piece)).collect();
                first.push_str(&words.join("; then the next line "));
            }
            many => {
                let missed = many.iter().filter(|piece| piece.first().is_some_and(|access| !access.hit)).count();
                let cache = many[0].first().map_or("", |access| access.cache.as_str());
                first.push_str(&format!("touches {} lines, of which {missed} miss {cache}", many.len()));
                if let Some(piece) = many.iter().find(|piece| piece.first().is_some_and(|access| !access.hit)) {
                    first.push_str(&format!("; the first of these {}", self.piece(piece)));
                }
            }
        }
        let memory = told.memory_bytes;
        if memory > 0 {
            first.push_str(&format!("; {} come from memory", counted(memory, "byte")));
        }
        let more = told.more_memory_bytes;
        if more > 0 {
            first.push_str(&format!("; {} more come for prefetches and write-backs", counted(more, "byte")));
        }
        first.push('.');
        let mut sentences = vec![first];
        if let Some(words) = self.departed(&told.departures) {
            sentences.push(words);
        }
        let is_there = told.accesses.first().is_some_and(|access| access.hit);
        sentences.push(match (told.last_use, told.next_use) {
            (None, next) if is_there => {
                let next = next.map_or("there is no later one".to_owned(), |next| {
                    format!("the next use is reference {}", grouped(next))
                });
                format!("Nobody touched its line before, so a prefetch brought it; {next}.")
            }
            (None, None) => "Nobody touched its line before, and nobody does later.".into(),
            (None, Some(next)) => {
                format!("Nobody touched its line before; the next use is reference {}.", grouped(next))
            }
            (Some(last), None) => {
                format!("The last use of its line was reference {}; there is no later one.", grouped(last))
            }
            (Some(last), Some(next)) => {
                let (last, next) = (grouped(last), grouped(next));
                format!("The last use of its line was reference {last}, the next is {next}.")
            }
        });
        sentences
    }

    /// The accesses of each line: one of the reference, and those that follow from it. The write half of a modify, which finds what the
    /// read half brought, is left out unless it misses.
    fn pieces<'t>(&self, told: &'t Explanation) -> Vec<Vec<&'t AccessTold>> {
        let mut pieces: Vec<Vec<&AccessTold>> = Vec::new();
        for access in &told.accesses {
            match pieces.last_mut() {
                Some(piece) if !access.first => piece.push(access),
                _ => pieces.push(vec![access]),
            }
        }
        if self.reference.kind == Kind::Modify {
            let half = pieces.len() / 2;
            let mut number = 0;
            pieces.retain(|piece| {
                number += 1;
                number <= half || piece.iter().any(|access| !access.hit)
            });
        }
        pieces
    }

    /// `misses L1 set 1 (...); hits L2`.
    fn piece(&self, piece: &[&AccessTold]) -> String {
        let access = |access: &&AccessTold| {
            let AccessTold { cache, set, ways, lines, hit, kind, left, .. } = access;
            // `L1 set 3`, but `L1 of core 2, set 3`.
            let comma = if cache.contains(' ') { "," } else { "" };
            let place = if u64::from(*ways) == *lines { cache.clone() } else { format!("{cache}{comma} set {set}") };
            if *hit {
                return format!("hits {place}");
            }
            let why = kind.map(|class| match class {
                // It came with a prefetch, or from a cache inside.
                MissClass::Compulsory if left.is_some() => {
                    "compulsory: this cache was never asked for the line, though it once held it".to_owned()
                }
                MissClass::Compulsory => "compulsory: this cache was never asked for the line".to_owned(),
                MissClass::Capacity => {
                    format!(
                        "capacity: a fully associative {cache} of {} lines would have lost it, too",
                        grouped(*lines)
                    )
                }
                MissClass::Conflict => format!("conflict: a fully associative {cache} would still hold it"),
                MissClass::Coherence => "coherence: another core's store took the line".to_owned(),
            });
            let left = left.as_ref().map(departure);
            let why: Vec<String> = why.into_iter().chain(left).collect();
            if why.is_empty() { format!("misses {place}") } else { format!("misses {place} ({})", why.join("; ")) }
        };
        let mut words: Vec<String> = piece.iter().map(access).collect();
        if self.is_stored_whole(piece) {
            words.push("stored whole, so nothing is fetched".to_owned());
        }
        words.join("; ")
    }

    /// Whether these are a store of all bytes of a line, for which nobody else is asked.
    fn is_stored_whole(&self, piece: &[&AccessTold]) -> bool {
        let [access] = piece else { return false };
        let line = self.before.config().levels.first().map_or(u64::MAX, |level| u64::from(level.line));
        let bytes = ByteRange::new(self.reference.addr, u64::from(self.reference.size));
        let is_whole = bytes.first <= access.line && access.line.saturating_add(line - 1) <= bytes.last;
        !access.hit && is_whole && matches!(self.reference.kind, Kind::Write | Kind::Modify)
    }

    /// What had to leave.
    fn departed(&self, departures: &[DepartureTold]) -> Option<String> {
        if departures.is_empty() {
            return None;
        }
        let words = |DepartureTold { cache, name, dirty, to, written_to, cause, .. }: &DepartureTold| {
            let dirt = if *dirty { ", dirty," } else { "" };
            let written = written_to.as_ref().map(|to| format!(" and is written to {to}")).unwrap_or_default();
            match (*cause, to) {
                ("promotion", _) => format!("the line of {name} moves inward and leaves {cache}, which is exclusive"),
                ("coherence", _) => format!("the line of {name}{dirt} is taken from {cache}{written}"),
                ("inclusion", _) => {
                    format!("{cache} loses the line of {name}{dirt} too, as the cache outside it includes it")
                }
                (_, _) if written_to.is_some() => format!("the line of {name}, dirty, leaves {cache}{written}"),
                (_, Some(to)) => format!("the line of {name}{dirt} leaves {cache}; the nearest copy is in {to}"),
                (_, None) if *dirty => format!("the line of {name}, dirty, leaves {cache} for memory"),
                (_, None) => format!("the line of {name}, clean, leaves {cache}; memory alone has it"),
            }
        };
        let mut told: Vec<String> = departures.iter().take(TOLD).map(words).collect();
        if departures.len() > TOLD {
            told.push(match departures.len() - TOLD {
                1 => "one more line leaves a cache".to_owned(),
                more => format!("{more} more lines leave caches"),
            });
        }
        let text = told.join("; ");
        let mut signs = text.chars();
        let first = signs.next().map(|sign| sign.to_uppercase().to_string()).unwrap_or_default();
        Some(format!("{first}{}.", signs.as_str()))
    }

    /// What TLBs said, where one missed.
    fn translations(&self, deeds: &Deeds) -> Option<String> {
        let name = |tlb: u8| self.before.config().tlbs.get(usize::from(tlb)).map_or("TLB", |tlb| tlb.name.as_str());
        let mut words = Vec::new();
        let mut asked = Vec::new();
        for (event, _) in &deeds.events {
            if let Event::Translate { tlb, page, hit, .. } = *event {
                // The store of a modify finds what its load brought.
                if hit && asked.contains(&(tlb, page)) {
                    continue;
                }
                asked.push((tlb, page));
                match (hit, words.is_empty()) {
                    (false, _) => words.push(format!("misses {}", name(tlb))),
                    (true, false) => words.push(format!("hits {}", name(tlb))),
                    (true, true) => {}
                }
            }
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

fn departure(LeftTold { reference, by, cause }: &LeftTold) -> String {
    let reference = grouped(*reference);
    match *cause {
        "evicted" => format!("the line left at reference {reference}, pushed out by {by}"),
        "inclusion" => format!("the line left at reference {reference}, when the cache outside gave it up for {by}"),
        "coherence" => format!("the line was taken at reference {reference}, by a store to {by}"),
        _ => format!("the line moved inward at reference {reference}"),
    }
}
