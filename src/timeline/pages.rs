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
    for event in events {
        let Event::Translate { origin, tlb, core, page, hit } = *event else { continue };
        if origin.parent.is_none() {
            out.push(Translation { page, core, missed: Vec::new(), hit: None });
        }
        if let Some(translation) = out.last_mut() {
            if hit {
                translation.hit = Some(tlb);
            } else {
                translation.missed.push(tlb);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Origin, RequestId};

    #[test]
    fn each_page_is_told_once_with_who_missed_and_who_hit() {
        // Each has the number of its place; `from` is the TLB asked before.
        let ask = |from: Option<usize>, tlb, page, hit| {
            let id = |n: usize| (0..n).fold(RequestId::FIRST, |id, _| id.next());
            let origin = Origin { request: id(usize::from(tlb)), parent: from.map(id) };
            Event::Translate { origin, tlb, core: 3, page: LineAddr(page), hit }
        };
        let told = |events: &[Event]| -> Vec<(u64, Vec<u8>, Option<u8>)> {
            let all = translations(events);
            assert!(all.iter().all(|t| t.core == 3));
            all.into_iter().map(|t| (t.page.0, t.missed, t.hit)).collect()
        };
        assert_eq!(told(&[]), []);
        assert_eq!(told(&[ask(None, 0, 7, true)]), [(7, vec![], Some(0))]);
        assert_eq!(told(&[ask(None, 0, 7, false), ask(Some(0), 2, 7, true)]), [(7, vec![0], Some(2))]);
        let page = |page| [ask(None, 0, page, false), ask(Some(0), 2, page, false)];
        assert_eq!(told(&[page(7), page(8)].concat()), [(7, vec![0, 2], None), (8, vec![0, 2], None)]);
        // A `Modify` of one TLB: the walk, then the hit of the write.
        assert_eq!(told(&[ask(None, 1, 7, false), ask(None, 1, 7, true)]), [(7, vec![1], None), (7, vec![], Some(1))]);
        // Two pages with one TLB each: no page is taken for the other's next level.
        assert_eq!(told(&[ask(None, 0, 7, false), ask(None, 1, 8, true)]).len(), 2);
    }
}
