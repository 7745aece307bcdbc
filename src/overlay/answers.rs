//! What takes a pass over the trace of a studio, or over the loops that make it: counts that charts are drawn of, why a reference missed,
//! what would help, what loops move. Found when a picture asks for it, or by somebody else while pictures go on.

use crate::analysis::{Advice, ChartParts, Charted, ChartsOf, Explanation, advise_while, charted, explain_while};
use crate::nest::{Volumes, Walk};
use crate::reference::{ReferenceSource, SourceError};
use crate::timeline::{Grid, GridOf, Timeline};
use crate::units::LevelId;
use std::sync::Arc;

/// References that are counted for charts, and played for advice, at most: of longer traces, the first ones.
pub(super) const MOST: u64 = 1 << 25;
/// Answers that are kept.
const KEPT: usize = 16;
/// And grids among them.
const GRIDS: usize = 3;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Counts that charts are drawn of.
    Charts(ChartsOf),
    /// What this reference did, and why.
    Why(u64),
    /// What the loops move that references are computed from.
    Volumes,
    /// Accesses by element and slice of time.
    Grid(GridOf),
    /// What would help. It is simulated, which takes as long as many passes.
    Advice,
}

impl Question {
    /// Whether others are not to wait for it.
    #[must_use]
    pub fn takes_long(&self) -> bool {
        *self == Self::Advice
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Answer {
    /// To [`Question::Charts`].
    Charts(Arc<Charted>),
    /// To [`Question::Why`].
    Why(Arc<Explanation>),
    /// To [`Question::Volumes`].
    Volumes(Arc<Volumes>),
    /// To [`Question::Grid`].
    Grid(GridOf, Arc<Grid>),
    /// To [`Question::Advice`].
    Advice(Arc<Vec<Advice>>),
}

impl Answer {
    fn is_of(&self, question: &Question) -> bool {
        match (self, question) {
            (Self::Charts(found), Question::Charts(of)) => found.of == *of,
            (Self::Why(found), Question::Why(tick)) => found.reference == *tick,
            (Self::Volumes(_), Question::Volumes) | (Self::Advice(_), Question::Advice) => true,
            (Self::Grid(asked, _), Question::Grid(of)) => asked == of,
            _ => false,
        }
    }
}

/// A question that somebody should answer.
#[derive(Clone)]
pub struct Asked {
    /// The trace under its caches.
    pub timeline: Arc<Timeline>,
    /// The question.
    pub question: Question,
}

impl Asked {
    /// Whether both ask the same of the same trace under the same caches.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.question == other.question && Arc::ptr_eq(&self.timeline, &other.timeline)
    }

    /// Finds the answer; `goes_on` is asked now and then.
    ///
    /// # Errors
    /// When the trace cannot be read, or `goes_on` says no.
    pub fn answer(&self, goes_on: &(dyn Fn() -> bool + Sync)) -> Result<Answer, SourceError> {
        let (timeline, source) = (&self.timeline, self.timeline.source().as_ref());
        let failed = |error: &dyn std::fmt::Display| SourceError(error.to_string());
        match &self.question {
            Question::Charts(of) => {
                let touched: Vec<u64> =
                    timeline.regions_over(0..of.references).0.iter().map(|share| share.references).collect();
                let found = charted(source, timeline.config(), of, &touched, goes_on).map_err(|e| failed(&e))?;
                Ok(Answer::Charts(Arc::new(found)))
            }
            Question::Why(tick) => {
                let found = explain_while(source, timeline.config(), *tick, goes_on).map_err(|e| failed(&e))?;
                Ok(Answer::Why(Arc::new(found)))
            }
            Question::Volumes => {
                let found = walk(source).and_then(Walk::volumes);
                let found = found.ok_or_else(|| SourceError("the trace is made of no file of loops".into()))?;
                Ok(Answer::Volumes(found.map_err(|e| failed(&e))?))
            }
            Question::Grid(of) => {
                let found = Grid::count(timeline, of.clone(), goes_on).map_err(|e| failed(&e))?;
                Ok(Answer::Grid(of.clone(), Arc::new(found)))
            }
            Question::Advice => {
                let found = advise_while(source, timeline.config(), MOST, goes_on).map_err(|e| failed(&e))?;
                Ok(Answer::Advice(Arc::new(found)))
            }
        }
    }
}

/// The nest that a source walks, where it does.
pub(super) fn walk(source: &dyn ReferenceSource) -> Option<&Walk> {
    source.computed_by()?.downcast_ref()
}

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Answers {
    found: Vec<Answer>,
    /// Somebody else finds answers.
    elsewhere: bool,
    /// What is to be found for charts, of a reference, of loops, by element, and as advice: the newest question of each.
    wanted: [Option<Question>; 5],
    /// So many were found, or not.
    taken: u64,
    /// What could not be found, the newest last, and why: it is not asked for again.
    failed: Vec<(Question, String)>,
}

impl Answers {
    /// Counts for charts of a level, where they are there.
    pub(super) fn charts(
        &mut self,
        timeline: &Arc<Timeline>,
        level: LevelId,
        parts: ChartParts,
    ) -> Result<Option<Arc<Charted>>, SourceError> {
        let question = Self::about_charts(timeline, level, parts);
        Ok(self.of(timeline, question)?.and_then(|answer| match answer {
            Answer::Charts(found) => Some(found),
            _ => None,
        }))
    }

    /// What a reference did and why, where that is there.
    pub(super) fn why(&mut self, timeline: &Arc<Timeline>, tick: u64) -> Result<Option<Arc<Explanation>>, SourceError> {
        if tick >= timeline.len() {
            return Ok(None);
        }
        Ok(self.of(timeline, Question::Why(tick))?.and_then(|answer| match answer {
            Answer::Why(found) => Some(found),
            _ => None,
        }))
    }

    /// What the loops move that references are computed from, where that is there.
    pub(super) fn volumes(&mut self, timeline: &Arc<Timeline>) -> Result<Option<Arc<Volumes>>, SourceError> {
        // Loops are known before their references are counted.
        if let Some(found) = walk(timeline.source().as_ref()).and_then(Walk::volumes_so_far) {
            return Ok(Some(found));
        }
        Ok(self.of(timeline, Question::Volumes)?.and_then(|answer| match answer {
            Answer::Volumes(found) => Some(found),
            _ => None,
        }))
    }

    /// Accesses by element and slice, where they are there; the inner error is why they cannot be.
    pub(super) fn grid(
        &mut self,
        timeline: &Arc<Timeline>,
        of: &GridOf,
    ) -> Result<Result<Option<Arc<Grid>>, String>, SourceError> {
        let question = Question::Grid(of.clone());
        if let Some(why) = self.failed(&question) {
            return Ok(Err(why.to_owned()));
        }
        // Grids are large, and the ones before are seldom asked for again.
        let mut grids = self.found.iter().filter(|found| matches!(found, Answer::Grid(..))).count();
        self.found.retain(|found| {
            let is_grid = matches!(found, Answer::Grid(..)) && !found.is_of(&question);
            let goes = is_grid && grids >= GRIDS;
            grids -= usize::from(goes);
            !goes
        });
        match self.of(timeline, question.clone()) {
            Ok(found) => Ok(Ok(found.and_then(|answer| match answer {
                Answer::Grid(_, found) => Some(found),
                _ => None,
            }))),
            Err(SourceError(why)) => {
                self.fail(question, why.clone());
                Ok(Err(why))
            }
        }
    }

    /// What would help, where that is there.
    pub(super) fn advice(&mut self, timeline: &Arc<Timeline>) -> Result<Option<Arc<Vec<Advice>>>, SourceError> {
        Ok(self.of(timeline, Question::Advice)?.and_then(|answer| match answer {
            Answer::Advice(found) => Some(found),
            _ => None,
        }))
    }

    fn of(&mut self, timeline: &Arc<Timeline>, question: Question) -> Result<Option<Answer>, SourceError> {
        if !timeline.is_whole() && question != Question::Volumes {
            return Ok(None);
        }
        if let Some(found) = self.found.iter().find(|found| found.is_of(&question)) {
            return Ok(Some(found.clone()));
        }
        if self.elsewhere {
            if self.failed(&question).is_some() {
                return Ok(None);
            }
            let place = match question {
                Question::Charts(_) => 0,
                Question::Why(_) => 1,
                Question::Volumes => 2,
                Question::Grid(_) => 3,
                Question::Advice => 4,
            };
            self.wanted[place] = Some(question);
            return Ok(None);
        }
        let found = Asked { timeline: Arc::clone(timeline), question }.answer(&|| true)?;
        self.take(found.clone());
        Ok(Some(found))
    }

    /// Takes what was found.
    pub(super) fn take(&mut self, found: Answer) {
        for wanted in &mut self.wanted {
            wanted.take_if(|wanted| found.is_of(wanted));
        }
        if self.found.len() >= KEPT {
            // Counts are dearer than explanations, and advice is dearer than both.
            let of = |goes: fn(&Answer) -> bool| self.found.iter().position(goes);
            let place = of(|answer| matches!(answer, Answer::Why(_)));
            let place = place.or_else(|| of(|answer| !matches!(answer, Answer::Advice(_)))).unwrap_or(0);
            self.found.remove(place);
        }
        self.found.push(found);
        self.taken += 1;
    }

    /// Takes note that a question has no answer.
    pub(super) fn fail(&mut self, question: Question, why: String) {
        if self.failed.len() >= KEPT {
            self.failed.remove(0);
        }
        self.failed.push((question, why));
        self.taken += 1;
    }

    /// Why a question has no answer.
    pub(super) fn failed(&self, question: &Question) -> Option<&str> {
        self.failed.iter().find(|(failed, _)| failed == question).map(|(_, why)| why.as_str())
    }

    /// The question that [`Answers::charts`] asks.
    pub(super) fn about_charts(timeline: &Timeline, level: LevelId, parts: ChartParts) -> Question {
        Question::Charts(ChartsOf { level, references: timeline.len().min(MOST), parts })
    }

    /// Has somebody else find answers from now on.
    pub(super) fn answer_elsewhere(&mut self) {
        self.elsewhere = true;
    }

    /// Whether somebody else does.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.elsewhere
    }

    /// What somebody should find now, of what takes long or of all else; told once. `plays`: the moment passes, so that nobody reads of its
    /// reference.
    pub(super) fn wanted(&mut self, plays: bool, takes_long: bool) -> Option<Question> {
        let [charts, why, volumes, grid, advice] = &mut self.wanted;
        if takes_long {
            return advice.take();
        }
        // The newest moment is asked about when it rests: a picture that stays as it is does not ask again.
        volumes
            .take()
            .or_else(|| charts.take())
            .or_else(|| grid.take())
            .or_else(|| if plays { None } else { why.take() })
    }

    /// A number that grows with what is there.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// For somebody who goes about in the same trace, and finds what is not there yet.
    pub(super) fn another(&self) -> Self {
        Self { elsewhere: false, wanted: Default::default(), failed: Vec::new(), ..self.clone() }
    }
}
