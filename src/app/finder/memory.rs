//! Elements, addresses and sets that are typed, to be pinned.

use super::{Does, Finder, Row};
use crate::app::desk::Desk;
use crate::app::start::path_of;
use crate::overlay::tip::bytes_tip;
use crate::reference::bytes_named;
use crate::sim::Hierarchy;
use crate::units::{ByteRange, CacheId, SetIndex};

/// Sets that are offered for a number without the name of a level, at most.
const MOST_SETS: usize = 4;

/// A row for the file whose path this is.
fn file_named(typed: &str) -> Option<Row> {
    let path = path_of(typed, std::env::home_dir().as_deref()).filter(|path| typed.contains('/') && path.is_file())?;
    Some(Row::new(format!("compare with {}", path.display()), "", Does::Against(path)))
}

impl Desk {
    /// Takes what is typed in the finder, and offers what of memory it names.
    pub(in crate::app) fn type_in_finder(&mut self, text: &str) {
        let Some(mut finder) = self.finder.take() else { return };
        if finder.type_in(text) {
            let mut rows = self.memory_named(finder.typed());
            rows.extend(file_named(finder.typed()));
            finder.offer(rows);
        }
        self.finder = Some(finder);
    }

    /// Rows for what these words name.
    fn memory_named(&self, typed: &str) -> Vec<Row> {
        let (studio, colors) = (self.studio(), &self.session.view().colors);
        let mut rows = Vec::new();
        // A number alone is one of a reference; a word may be the name of a region.
        let is_number = typed.starts_with(|c: char| c.is_ascii_digit()) && !typed.starts_with("0x");
        if !is_number && let Ok(bytes) = bytes_named(&studio.tables().regions, typed) {
            rows.push(Row::new(
                format!("pin {}", bytes_tip(studio, colors, bytes, false).title),
                hex(bytes),
                Does::Pin(bytes),
            ));
        }
        let state = studio.moment().before;
        for (cache, set) in sets_named(state, typed) {
            let line = state.geometry(cache).line_bytes;
            let Some(first) = state.order(cache, set).next() else { continue };
            let bytes = ByteRange::new(first.line.base(line).0, u64::from(line));
            let title = bytes_tip(studio, colors, bytes, false).title;
            let words = format!("pin the newest line of set {} of {}: {title}", set.0, state.name(cache));
            rows.push(Row::new(words, hex(bytes), Does::Pin(bytes)));
        }
        rows
    }
}

fn hex(bytes: ByteRange) -> String {
    format!("0x{:x}", bytes.first)
}

/// The sets that are meant by `set 3`, `L1 set 3`, `set 3 of L2`.
fn sets_named(state: &Hierarchy, typed: &str) -> Vec<(CacheId, SetIndex)> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let Some(at) = words.iter().position(|word| word == "set") else { return Vec::new() };
    let Some(set) = words.get(at + 1).and_then(|word| word.parse::<u32>().ok()) else { return Vec::new() };
    let named = |cache: &CacheId| words.contains(&state.name(*cache).to_lowercase());
    let has = |cache: &CacheId| set < state.geometry(*cache).sets;
    let any_named = state.caches().any(|cache| named(&cache));
    let meant = state.caches().filter(|cache| has(cache) && (!any_named || named(cache)));
    meant.take(MOST_SETS).map(|cache| (cache, SetIndex(set))).collect()
}

impl Finder {
    /// Puts these rows before all others.
    fn offer(&mut self, rows: Vec<Row>) {
        self.fit += rows.len();
        self.found.splice(0..0, rows);
        self.found.truncate(super::SHOWN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::desk::tests::desk;
    use crate::app::keys::Action;

    fn first(desk: &mut Desk, typed: &str) -> String {
        desk.type_in_finder(typed);
        desk.finder.as_ref().and_then(|finder| finder.found().first()).map_or(String::new(), |row| row.words.clone())
    }

    #[test]
    fn elements_addresses_and_sets_are_found_and_pinned() {
        let mut desk = desk();
        desk.transport.jump(crate::axis::Position::at(700));
        desk.refresh().expect("in memory");
        desk.apply(Action::Finder, 0.0);
        assert_eq!(first(&mut desk, "B[7]"), "pin B[7]");
        assert_eq!(first(&mut desk, "0x1008"), "pin A[1]");
        assert!(first(&mut desk, "L1 set 0").starts_with("pin the newest line of set 0 of L1: "));
        assert!(first(&mut desk, "set 1 of l2").starts_with("pin the newest line of set 1 of L2: "));
        assert!(!first(&mut desk, "set 99999").starts_with("pin"));
        assert_eq!(first(&mut desk, "613"), "go to reference 613");
        assert_eq!(first(&mut desk, "B[7]"), "pin B[7]");
        desk.found(0, 0.0);
        assert_eq!(desk.pinned(), Some(ByteRange::new(0x4000 + 56, 8)));
        assert!(desk.finder.is_none());
    }
}
