//! Tables for terminals.

use crate::shown;
use std::io::Write;

/// Columns two spaces apart: the first to the left, numbers to the right. A row is a line, whatever is in its cells. Rows are
/// made twice, once for their widths: of a million of them none is kept.
pub(super) fn write_aligned<T>(
    head: &[String],
    rows: &[T],
    row: &dyn Fn(&T) -> Vec<String>,
    out: &mut (impl Write + ?Sized),
) -> std::io::Result<()> {
    let mut widths: Vec<usize> = Vec::new();
    let mut measure = |row: &[String]| {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = shown::width(&shown::name(cell)).max(*width);
        }
    };
    measure(head);
    rows.iter().for_each(|n| measure(&row(n)));
    let mut put = |row: &[String]| {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = shown::name(cell);
            // By columns of the terminal: a sign may take none, or two.
            let gap = width.saturating_sub(shown::width(&cell));
            if column == 0 {
                write!(out, "{cell}{:gap$}", "")?
            } else {
                write!(out, "  {:gap$}{cell}", "")?
            };
        }
        writeln!(out)
    };
    put(head)?;
    rows.iter().try_for_each(|n| put(&row(n)))
}

/// As [`write_aligned`], of rows that are there; the first is the head.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let mut out = Vec::new();
    if let Some((head, rows)) = rows.split_first() {
        // Writing to memory cannot fail.
        let _ = write_aligned(head, rows, &Vec::clone, &mut out);
    }
    String::from_utf8(out).unwrap_or_default()
}
