//! A sort that shows what it does to memory.
//!
//!     cargo run --example bubble_sort
//!     orrery bubble_sort.orrery

use orrery::traced::{Recorder, Traced};

fn bubble_sort(a: &mut Traced<i32>, recorder: &Recorder) {
    for end in (1..a.len()).rev() {
        recorder.mark(format!("{end} left"));
        for i in 0..end {
            if a.get(i) > a.get(i + 1) {
                a.swap(i, i + 1);
            }
        }
    }
}

/// The worst case: the largest first.
pub fn record(n: i32) -> Recorder {
    let recorder = Recorder::new("Bubble sort").with_subtitle(format!("{n} numbers, the largest first"));
    let numbers: Vec<i32> = (0..n).rev().collect();
    let mut a = recorder.array("a", numbers);
    bubble_sort(&mut a, &recorder);
    assert!(a.values().is_sorted());
    recorder
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let references = record(64).write("bubble_sort.orrery")?;
    eprintln!("bubble_sort.orrery: {references} references; orrery bubble_sort.orrery plays them");
    Ok(())
}
