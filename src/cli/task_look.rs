//! Flags that say what of a file of tasks is looked at.

use crate::tasks::LocationOrder;
use crate::tasks::metrics::Metric;
use crate::units::parse_seconds;
use clap::Args;
use std::ops::Range;

/// What of a file of tasks is looked at.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Files of tasks")]
pub struct TaskLookArgs {
    /// Choose the task of this id
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Show the tasks of this location
    #[arg(long, value_name = "NAME")]
    pub location: Option<String>,
    /// Chart the locations whose names match this regular expression; case does not matter
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    pub filter: String,
    /// What charts tell on their left and right axis, by the names of `orrery tasks --metric`; the default is ReqInCount,AvgLatency
    #[arg(long, value_name = "LEFT,RIGHT", value_delimiter = ',', num_args = 1..=2)]
    pub metrics: Vec<Metric>,
    /// Order of the charts: by name, by kind (all L2 banks together), or by pressure (the busiest first)
    #[arg(long, value_name = "ORDER", default_value_t = LocationOrder::Name)]
    pub charts: LocationOrder,
    /// Show this part of the run, such as 8.95us..10.12us
    #[arg(long, value_name = "FROM..TO", value_parser = part)]
    pub part: Option<Range<f64>>,
    /// Begin at this time, such as 8.97us; a picture is of this time
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub time: Option<f64>,
}

impl TaskLookArgs {
    /// The first flag that was given, if any.
    #[must_use]
    pub fn first_given(&self) -> Option<&'static str> {
        [
            (self.task.is_some(), "--task"),
            (self.location.is_some(), "--location"),
            (!self.filter.is_empty(), "--filter"),
            (!self.metrics.is_empty(), "--metrics"),
            (self.charts != LocationOrder::Name, "--charts"),
            (self.part.is_some(), "--part"),
            (self.time.is_some(), "--time"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }
}

/// `8.97us`: a time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    parse_seconds(text).ok_or_else(|| {
        format!("found `{text}`; expected a time with its unit (s, ms, us, ns, ps or fs), such as 8.97us")
    })
}

/// `8.95us..10.12us`.
fn part(text: &str) -> Result<Range<f64>, String> {
    let (from, to) =
        text.split_once("..").ok_or_else(|| format!("found `{text}`; expected two times, as in 8.95us..10.12us"))?;
    let (from, to) = (seconds(from)?, seconds(to)?);
    if from < to { Ok(from..to) } else { Err(format!("found `{text}`; expected a time, and a later one")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        for (text, expected) in [("8.97us", 8.97e-6), ("8.97 µs", 8.97e-6), ("3s", 3.0), ("12fs", 12e-15), ("0ns", 0.0)]
        {
            let found = seconds(text).expect("a time");
            assert!((found - expected).abs() <= 1e-9 * expected, "{text}: {found}");
        }
        for wrong in ["8.97", "us", "-1us", "1e999s", "five ms"] {
            assert!(seconds(wrong).is_err_and(|words| words.contains("such as 8.97us")), "{wrong}");
        }
        assert!(part("1us..2us").is_ok_and(|part| part == (1e-6..2e-6)));
        for wrong in ["1us", "2us..1us", "1us..1us", "1..2"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
    }
}
