//! What a reference did in the TLBs: told page by page from its events.

use crate::sim::Event;
use crate::units::LineAddr;

/// One page of a reference on its way through the TLBs of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// Page number: address divided by the page size in use.
    pub page: LineAddr,
    /// The core.
    pub core: u16,
    /// TLBs that did not hold it, from the first asked; indices into the configuration's.
    pub missed: Vec<u8>,
    /// The one that did; `None` = all missed: a page walk.
    pub hit: Option<u8>,
}

/// The translations among the events of one reference, in order.
#[must_use]
pub fn translations(events: &[Event]) -> Vec<Translation> {
    let mut out: Vec<Translation> = Vec::new();
    // The TLB asked last, while its answer was a miss.
    let mut open: Option<u8> = None;
    for event in events {
        let Event::Translate { tlb, core, page, hit } = *event else { continue };
        // A miss in the outermost is followed by the next page, or by the write half of a `Modify`, at an inner TLB.
        let goes_on = open.is_some_and(|last| last < tlb) && out.last().is_some_and(|t| t.page == page);
        if !goes_on {
            out.push(Translation { page, core, missed: Vec::new(), hit: None });
        }
        if let Some(translation) = out.last_mut() {
            if hit {
                translation.hit = Some(tlb);
            } else {
                translation.missed.push(tlb);
            }
        }
        open = (!hit).then_some(tlb);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_told_once_with_who_missed_and_who_hit() {
        let ask = |tlb, page, hit| Event::Translate { tlb, core: 3, page: LineAddr(page), hit };
        let told = |events: &[Event]| -> Vec<(u64, Vec<u8>, Option<u8>)> {
            let all = translations(events);
            assert!(all.iter().all(|t| t.core == 3));
            all.into_iter().map(|t| (t.page.0, t.missed, t.hit)).collect()
        };
        assert_eq!(told(&[]), []);
        assert_eq!(told(&[ask(0, 7, true)]), [(7, vec![], Some(0))]);
        assert_eq!(told(&[ask(0, 7, false), ask(2, 7, true)]), [(7, vec![0], Some(2))]);
        let walks = [ask(0, 7, false), ask(2, 7, false), ask(0, 8, false), ask(2, 8, false)];
        assert_eq!(told(&walks), [(7, vec![0, 2], None), (8, vec![0, 2], None)]);
        // A `Modify` of one TLB: the walk, then the hit of the write.
        assert_eq!(told(&[ask(1, 7, false), ask(1, 7, true)]), [(7, vec![1], None), (7, vec![], Some(1))]);
        // Two pages with one TLB each: no page is taken for the other's next level.
        assert_eq!(told(&[ask(0, 7, false), ask(1, 8, true)]).len(), 2);
    }
}
