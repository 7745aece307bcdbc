//! Each policy in one set, drawn after each access: lines in eviction order, the next victim last, dirty lines with `!`; a
//! `*` after the picture says hit. A reader can check every line by eye.

use super::*;

struct Bench {
    policy: Policy,
    words: Vec<u64>,
    notes: Vec<Note>,
    state: Vec<u32>,
    selector: u16,
    seed: u64,
    number: u32,
    sets: u32,
    /// For OPT.
    next_use: u32,
}

impl Bench {
    fn new(policy: Policy, ways: usize, notes: bool) -> Self {
        Self {
            policy,
            words: vec![0; ways],
            notes: if notes { vec![Note::default(); ways] } else { Vec::new() },
            state: vec![0; state_len(policy, ways)],
            selector: SELECTOR_START,
            seed: 1,
            number: 1,
            sets: 4,
            next_use: NEVER,
        }
    }

    fn set(&mut self) -> Set<'_> {
        Set {
            words: &mut self.words,
            notes: &mut self.notes,
            state: &mut self.state,
            number: self.number,
            sets: self.sets,
            seed: self.seed,
            selector: &mut self.selector,
            next_use: self.next_use,
        }
    }

    /// `A` reads, `A!` writes, `-A` removes; gives whether it was there.
    fn play(&mut self, word: &str) -> bool {
        let policy = self.policy;
        let letter = word.trim_start_matches('-').as_bytes()[0];
        let key = u64::from(letter) << FLAG_BITS | VALID;
        let dirty = if word.ends_with('!') { DIRTY } else { 0 };
        let mut set = self.set();
        let found = set.words.iter().position(|word| *word & !DIRTY == key);
        match (found, word.starts_with('-')) {
            (Some(way), true) => {
                remove(policy, &mut set, way);
            }
            (None, true) => {}
            (Some(way), false) => {
                let way = hit(policy, &mut set, way);
                set.words[way] |= dirty;
            }
            (None, false) => {
                let note = Note { ready: u64::from(letter), ..Note::default() };
                insert(policy, &mut set, key | dirty, note);
            }
        }
        found.is_some()
    }

    fn picture(&self) -> String {
        let view = View { words: &self.words, state: &self.state, number: self.number, seed: self.seed };
        let ways = order(self.policy, &view);
        let ways = ways.unwrap_or_else(|| (0..self.words.len()).filter(|&way| self.words[way] != 0).collect());
        let mut picture = String::new();
        for way in ways {
            let letter = u8::try_from(self.words[way] >> FLAG_BITS).unwrap();
            picture.push(char::from(letter));
            if self.words[way] & DIRTY != 0 {
                picture.push('!');
            }
            if let Some(note) = self.notes.get(way) {
                assert_eq!(note.ready, u64::from(letter), "notes go with their lines");
            }
        }
        picture
    }
}

fn check(policy: Policy, ways: usize, accesses: &str, expect: &str) {
    check_with(policy, ways, (1, 1, 4, SELECTOR_START), accesses, expect);
}

/// As [`check`], with seed, set number, number of sets, and where the selector stands.
fn check_with(policy: Policy, ways: usize, given: (u64, u32, u32, u16), accesses: &str, expect: &str) {
    let words: Vec<&str> = accesses.split(' ').collect();
    for notes in [false, true] {
        let (seed, number, sets, selector) = given;
        let mut bench = Bench { seed, number, sets, selector, ..Bench::new(policy, ways, notes) };
        let mut drawn = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let later = words[at + 1..].iter().position(|later| later.as_bytes()[0] == word.as_bytes()[0]);
            bench.next_use = later.map_or(NEVER, |n| u32::try_from(at + 1 + n).unwrap());
            let hit = bench.play(word);
            drawn.push(bench.picture() + if hit { "*" } else { "" });
        }
        assert_eq!(drawn.join(" "), expect, "{policy}, {ways} ways: {accesses}");
    }
    if !policy.about().ages || accesses.contains('-') {
        return;
    }
    // The way in one pass does the same.
    let mut set = vec![0; ways];
    let mut drawn = Vec::new();
    for word in words {
        let dirty = if word.ends_with('!') { DIRTY } else { 0 };
        let outcome = access(&mut set, u64::from(word.as_bytes()[0]) << FLAG_BITS | VALID, dirty, policy);
        let bench = Bench { words: set.clone(), ..Bench::new(policy, ways, false) };
        drawn.push(bench.picture() + if outcome == Outcome::Hit { "*" } else { "" });
    }
    assert_eq!(drawn.join(" "), expect, "{policy} in one pass, {ways} ways: {accesses}");
}

#[test]
fn lists() {
    use Policy::{Fifo, Lru, Mru};
    check(Lru, 4, "A B C D A E", "A BA CBA DCBA ADCB* EADC");
    check(Fifo, 4, "A B C D A E", "A BA CBA DCBA DCBA* EDCB");
    check(Lru, 4, "A B C D C A C E F", "A BA CBA DCBA CDBA* ACDB* CADB* ECAD FECA");
    check(Fifo, 4, "A B C D C A C E F", "A BA CBA DCBA DCBA* DCBA* DCBA* EDCB FEDC");
    // Belady's anomaly (Belady, Nelson, Shedler 1969): FIFO misses 9 times with 3 ways and 10 times with 4.
    check(Fifo, 3, "A B C D A B E A B C D E", "A BA CBA DCB ADC BAD EBA EBA* EBA* CEB DCE DCE*");
    check(Fifo, 4, "A B C D A B E A B C D E", "A BA CBA DCBA DCBA* DCBA* EDCB AEDC BAED CBAE DCBA EDCB");
    // Dirt sticks to its line, on a hit anywhere and through clean hits, and leaves with it.
    check(Lru, 2, "A B A! B C D", "A BA A!B* BA!* CB DC");
    check(Fifo, 2, "A B A! B C D", "A BA BA!* BA!* CB DC");
    check(Lru, 2, "A! A B A", "A! A!* BA! A!B*");
    check(Lru, 1, "A A! B A", "A A!* B A");
    check(Fifo, 1, "A A! B A", "A A!* B A");
    check(Lru, 3, "A B", "A BA");
    check(Fifo, 3, "A B A", "A BA BA*");
    // MRU: the line just used is the next to leave, so a loop that is one line too large keeps all but one.
    check(Mru, 4, "A B C D A E", "A AB ABC ABCD BCDA* BCDE");
    check(Mru, 3, "A B C D A B C D", "A AB ABC ABD BDA* DAB* DAC ACD*");
    check(Mru, 1, "A B B! A", "A B B!* A");
    // A removed line leaves a gap that closes, and that fills first.
    check(Lru, 3, "A B C -B D E", "A BA CBA CA* DCA EDC");
    check(Fifo, 3, "A B C -A D E", "A BA CBA CB* DCB EDC");
    check(Mru, 3, "A B C -A D E", "A AB ABC BC* BCD BCE");
}

#[test]
fn trees() {
    // Ways 0..3 hold A..D. After D the path of the bits is left, left.
    check(Policy::TreePlru, 4, "A B C D A E F", "A BA CBA DCBA ABDC* EDAB FAED");
    check(Policy::TreePlru, 2, "A B A C", "A BA AB* CA");
    check(Policy::TreePlru, 1, "A B A", "A B A");
    check(Policy::TreePlru, 4, "A B C D -C E", "A BA CBA DCBA DBA* EDBA");
}

#[test]
fn bits() {
    // After D all bits would be set, so only D's is. A, E, D have theirs when C comes back.
    check(Policy::BitPlru, 4, "A B C D A E C F", "A BA CBA DCBA DACB* DEAC CDEA* CFDE");
    check(Policy::BitPlru, 3, "A B C D", "A BA CBA CDB");
    check(Policy::BitPlru, 1, "A B A", "A B A");
    check(Policy::BitPlru, 2, "A B -A C", "A BA B* CB");
}

#[test]
fn predictions() {
    use Policy::{Brrip, Drrip, Srrip};
    check(Srrip, 4, "A B C D A E F G H", "A BA CBA DCBA ADCB* AEDC AFED AGFE HAGF");
    check(Srrip, 2, "A A B C B", "A A* AB AC BA");
    check(Srrip, 1, "A B A", "A B A");
    check(Srrip, 3, "A B C -B D", "A BA CBA CA* CDA");
    // With seed 23 the second fill of set 1 is the one in 32 that comes in near.
    check_with(Brrip, 4, (23, 1, 4, 0), "A B C D E F C", "A BA BCA BDCA BDCE BDCF CBDF*");
    check(Brrip, 2, "A B C D", "A BA BC BD");
    // Of 128 sets, 0 leads SRRIP, 3 leads BRRIP, 1 and 2 follow the better.
    check_with(Drrip, 2, (1, 0, 128, 512), "A B A C D", "A BA AB* AC DA");
    check_with(Drrip, 2, (1, 3, 128, 0), "A B C D", "A BA BC BD");
    check_with(Drrip, 2, (1, 1, 128, 511), "A B C A", "A BA CB AC");
    check_with(Drrip, 2, (1, 1, 128, 512), "A B C A", "A BA BC BA");
}

#[test]
fn sets_duel() {
    let mut bench = Bench { number: 0, sets: 128, ..Bench::new(Policy::Drrip, 2, false) };
    bench.play("A");
    assert_eq!(bench.selector, 512, "a miss of SRRIP's leader speaks for BRRIP");
    bench.play("A");
    assert_eq!(bench.selector, 512, "a hit says nothing");
    bench.number = 3;
    bench.play("B");
    bench.play("C");
    assert_eq!(bench.selector, 510);
    bench.number = 1;
    bench.play("D");
    assert_eq!(bench.selector, 510, "followers have no say");
    (bench.number, bench.selector) = (0, 1023);
    bench.play("E");
    assert_eq!(bench.selector, 1023);
    (bench.number, bench.selector) = (3, 0);
    bench.play("F");
    assert_eq!(bench.selector, 0);
}

#[test]
fn counts() {
    check(Policy::Lfu, 4, "A B C D A E F", "A BA CBA DCBA ADCB* ADCE ADCF");
    check(Policy::Lfu, 2, "A A A B B C B C", "A A* A* AB AB* AC AB AC");
    check(Policy::Lfu, 2, "A A -A B C D", "A A* * B CB CD");
}

#[test]
fn lots() {
    // With seed 1, set 1 draws the ways 3, 1, 1, 2.
    check(Policy::Random, 4, "A B C D E F G G", "A AB ABC ABCD ACEB ACEF AGEC AGEC*");
    check(Policy::Random, 1, "A B", "A B");
    let drawn = |seed, set| (0..64).map(|n| lot(seed, set, n) % 4).collect::<Vec<_>>();
    assert_ne!(drawn(1, 1), drawn(2, 1));
    assert_ne!(drawn(1, 1), drawn(1, 2));
    let even = (0..4000).fold([0; 4], |mut counts: [u32; 4], n| {
        counts[usize::try_from(lot(5, 9, n) % 4).unwrap()] += 1;
        counts
    });
    assert!(even.iter().all(|n| (900..1100).contains(n)), "{even:?}");
}

#[test]
fn the_future() {
    // Belady's own example: 7 misses where FIFO has 9 and LRU 10.
    check(Policy::Opt, 3, "A B C D A B E A B C D E", "A AB ABC ABD BAD* ABD* ABE BEA* EBA* EBC EBD EBD*");
    check(Policy::Opt, 1, "A B A A", "A B A A*");
    check(Policy::Opt, 2, "A B C A C", "A AB AC CA* CA*");
}
