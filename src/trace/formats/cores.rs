//! Threads as cores: numbers without gaps, in the order in which they appear.

use super::text::counted;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Threads that the notice names one by one.
const NAMED: usize = 4;

/// The cores that stand for threads, or for CPUs with gaps between their numbers.
pub(super) struct Cores {
    /// What the numbers of the trace are: `thread`.
    what: &'static str,
    known: BTreeMap<u64, u16>,
    last: Option<(u64, u16)>,
}

impl Cores {
    pub(super) fn of(what: &'static str) -> Self {
        Self { what, known: BTreeMap::new(), last: None }
    }

    /// The core that stands for this number.
    pub(super) fn core(&mut self, id: u64) -> Result<u16, Cow<'static, str>> {
        if let Some((last, core)) = self.last
            && last == id
        {
            return Ok(core);
        }
        let core = match self.known.get(&id) {
            Some(core) => *core,
            None => {
                let next = u16::try_from(self.known.len());
                let next = next.map_err(|_| format!("{} {id} is the 65,537th: there are 65,536 cores", self.what))?;
                self.known.insert(id, next);
                next
            }
        };
        self.last = Some((id, core));
        Ok(core)
    }

    /// Which thread is which core, where there are several.
    pub(super) fn notice(&self) -> Option<String> {
        if self.known.len() < 2 {
            return None;
        }
        let mut pairs: Vec<(u16, u64)> = self.known.iter().map(|(id, core)| (*core, *id)).collect();
        pairs.sort_unstable();
        let shown: Vec<String> = pairs.iter().take(NAMED).map(|(core, id)| format!("{id} is core {core}")).collect();
        let more = if pairs.len() > NAMED { ", and so on" } else { "" };
        let all = counted(pairs.len() as u64, self.what);
        Some(format!("{all}, as cores in order of appearance: {}{more}", shown.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_have_no_gaps_and_there_are_as_many_as_fit() {
        let mut cores = Cores::of("thread");
        assert_eq!(cores.core(4711), Ok(0));
        assert_eq!(cores.notice(), None);
        assert_eq!((cores.core(9), cores.core(4711), cores.core(u64::MAX)), (Ok(1), Ok(0), Ok(2)));
        let told =
            "3 threads, as cores in order of appearance: 4711 is core 0, 9 is core 1, 18446744073709551615 is core 2";
        assert_eq!(cores.notice().as_deref(), Some(told));
        for id in 10_000..75_533 {
            assert_eq!(cores.core(id), Ok(u16::try_from(id - 10_000 + 3).unwrap()));
        }
        assert!(cores.core(5).unwrap_err().contains("65,536 cores"));
        assert!(cores.notice().unwrap().ends_with(", and so on"));
    }
}
