//! What of a picture changes from one frame to the next.

/// Left, top, width and height of the smallest rectangle that holds all pixels in which two pictures `width` pixels across differ; all of
/// it where there is none before, `None` where they are equal.
pub(crate) fn changed<T: PartialEq>(now: &[T], before: &[T], width: usize) -> Option<[usize; 4]> {
    if before.is_empty() {
        return Some([0, 0, width, now.len() / width]);
    }
    let (mut left, mut right, mut top, mut bottom) = (width, 0, None, 0);
    for (y, (new, old)) in now.chunks_exact(width).zip(before.chunks_exact(width)).enumerate() {
        if new == old {
            continue;
        }
        top = top.or(Some(y));
        bottom = y + 1;
        let differs = |x: &usize| new[*x] != old[*x];
        left = (0..left).find(differs).unwrap_or(left);
        right = (right..width).rfind(differs).map_or(right, |x| x + 1);
    }
    top.map(|top| [left, top, right - left, bottom - top])
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn the_smallest_rectangle_holds_all_that_differs() {
        let before = [0; 5 * 4];
        assert_eq!(changed(&before, &[], 5), Some([0, 0, 5, 4]), "the first");
        assert_eq!(changed(&before, &before, 5), None);
        for (a, b) in [(0, 19), (6, 6), (8, 11), (16, 3)] {
            let mut now = before;
            (now[a], now[b]) = (1, 2);
            let ([ax, ay], [bx, by]) = ([a % 5, a / 5], [b % 5, b / 5]);
            let want = [ax.min(bx), ay.min(by), ax.abs_diff(bx) + 1, ay.abs_diff(by) + 1];
            assert_eq!(changed(&now, &before, 5), Some(want), "{a} and {b}");
        }
    }
}
