//! The progress line during a run.

use std::time::Duration;

use busyhour_sample::Live;

use crate::numbers::{clock, counted, ms, percent, rate};
use crate::summariser::ThreadCounts;

/// The data of a progress line.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'l> {
    /// Time since the start.
    pub elapsed: Duration,
    /// Length of the whole run, if it is known.
    pub length: Option<Duration>,
    /// The numbers of users.
    pub users: ThreadCounts,
    /// The recorder's live values.
    pub live: &'l Live,
}

/// The progress line, without a line end, cut to `width` characters.
#[must_use]
pub fn progress_line(progress: &Progress<'_>, width: usize) -> String {
    let live = progress.live;
    let mut line = match progress.length {
        Some(length) => format!("{} of {}", clock(progress.elapsed.as_secs()), clock(length.as_secs())),
        None => clock(progress.elapsed.as_secs()),
    };
    line += &format!("  {}", counted(progress.users.active, "user"));
    match &live.last_second {
        Some(second) => {
            line += &format!(
                "  {} req/s  response mean {} ms, p95 {} ms",
                rate(second.requests as f64),
                ms(second.response.mean),
                ms(second.response.p95)
            );
        }
        None if live.total.samples == 0 => line += "  waiting for the first response",
        None => {}
    }
    line += &format!("  {}", counted(live.total.samples, "request"));
    if live.total.errors > 0 {
        let part = live.total.errors as f64 * 100.0 / live.total.samples.max(1) as f64;
        line += &format!("  {} ({} %)", counted(live.total.errors, "error"), percent(part));
    } else {
        line += "  no errors";
    }
    if let Some(arrivals) = &live.arrivals {
        line += &format!("  arrivals' CoV {:.2}", arrivals.cov);
    }
    if live.events > 0 {
        line += "  some results cannot be written";
    }
    line.chars().take(width).collect()
}
