//! "Did you mean": the known word next to one that is unknown.

/// The candidate a slip of the finger away, for "did you mean": at most about a third of the letters differ.
#[must_use]
pub fn nearest(text: &str, candidates: &[&str]) -> Option<String> {
    let (distance, best) = candidates.iter().map(|c| (edit_distance(text, c), *c)).min()?;
    (distance <= text.chars().count().max(3) / 3 + 1 && distance < best.chars().count()).then(|| best.to_owned())
}

/// Insertions, deletions, replacements, and swaps of neighbours between two words (optimal string alignment: Damerau 1964).
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swapped = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(swapped)
            };
        }
    }
    rows[a.len()][b.len()]
}
