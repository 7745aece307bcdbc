//! An observer of one's own: stack distances.
//!
//! The stack distance of an access is how many distinct lines were touched since its own line was last touched (Mattson and
//! others, 1970). A fully associative LRU cache of `n` lines hits exactly where the distance is below `n`: one run tells the
//! misses of every such cache. This measures the distances, and holds what they say against a cache of 64 lines.
//!
//!     cargo run --no-default-features --example observer

#![expect(clippy::print_stdout, reason = "an example's output is its result")]

use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::sim::{Event, Hierarchy, Observer};
use orrery::trace::synth::{MatmulOrder, matmul};
use orrery::units::{LevelId, LineAddr};

/// Lines of the cache that is simulated.
const LINES: usize = 64;

/// Stack distances of what the innermost level is asked for.
#[derive(Default)]
struct StackDistances {
    /// Lines, the one that was touched last at the end.
    stack: Vec<LineAddr>,
    /// Accesses by distance.
    counts: Vec<u64>,
    /// Accesses to lines that were never touched before.
    first: u64,
}

impl StackDistances {
    fn touch(&mut self, line: LineAddr) {
        match self.stack.iter().rposition(|other| *other == line) {
            Some(place) => {
                let distance = self.stack.len() - 1 - place;
                self.counts.resize(self.counts.len().max(distance + 1), 0);
                self.counts[distance] += 1;
                self.stack[place..].rotate_left(1);
            }
            None => {
                self.first += 1;
                self.stack.push(line);
            }
        }
    }

    /// Misses of a fully associative LRU cache of so many lines.
    fn misses(&self, lines: usize) -> u64 {
        self.first + self.counts.iter().skip(lines).sum::<u64>()
    }
}

impl Observer for StackDistances {
    fn event(&mut self, event: Event) {
        if let Event::Access { level: LevelId(0), line, .. } = event {
            self.touch(line);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = 64 * LINES as u64;
    let level = LevelConfig::new("L1", 0, size, Ways::Full, 64);
    let empty = Hierarchy::new(&HierarchyConfig::new("64 lines", vec![level]))?;

    for (name, order) in [("row by column", MatmulOrder::Standard), ("in blocks of 8", MatmulOrder::Blocked(8))] {
        let trace = matmul(32, order);
        let mut distances = StackDistances::default();
        let mut caches = empty.clone();
        caches.play(trace.references(), &mut distances);
        let simulated = caches.level_counters(LevelId(0)).misses();

        println!("32 x 32 matrices multiplied {name}: {} accesses", trace.references().len());
        let mut from = 0;
        while from < distances.counts.len() {
            let to = (2 * from).max(1);
            let count: u64 = distances.counts[from..to.min(distances.counts.len())].iter().sum();
            println!("  distance {from:>3} to {:>3}: {count:>6}", to - 1);
            from = to;
        }
        println!("  never before:        {:>6}", distances.first);
        println!("  misses of {LINES} lines, by distances {} and simulated {simulated}\n", distances.misses(LINES));
        assert_eq!(distances.misses(LINES), simulated);
    }
    Ok(())
}
