//! Finds the observed cause that is associated with slow requests, with stated error rates. All functions are pure.
//!
//! The observations are [`Requests`] and the [`Signal`]s of causes; [`signals`] reads the latter from a series file.
//! [`explain`] compares them and returns an [`Explanation`](busyhour_analysis::explanation::Explanation):
//!
//! 1. [`SlowTimes`] ranks the requests within their labels and removes the part that follows the offered load and a
//!    slow drift.
//! 2. [`shift_test`] tests each signal: are requests slower when it is larger than after moving it in time?
//! 3. The p values of all causes are corrected together ([`holm`]).
//! 4. A cause is claimed if its corrected p value is at most 5 %, and if the [`effect`] is large: without it, at least a quarter of
//!    the time above the median would be absent, and slow requests are at least twice as frequent when it is present.
//! 5. Of several such causes, the one with the largest share is named. A more specific cause comes first if its share is nearly
//!    as large.
//!
//! [`saturation`] extrapolates the use of each resource to the load at which the first one saturates.
//!
//! `crates/explain/tests/study` measures the error rates; `docs/explanations.md` lists them.

mod choose;
mod effect;
mod episodes;
mod levels;
mod load;
mod multiplicity;
mod request_times;
mod saturation;
mod sentences;
mod series_pieces;
mod shift_test;
mod signal;
mod signals;
mod slow_times;
mod sums;

pub use choose::{Observations, explain};
pub use effect::{CauseEffect, effect};
pub use multiplicity::holm;
pub use request_times::{REQUESTS_MAX, Requests, TimedRequest};
pub use saturation::{RESOURCE_METRICS, is_resource_metric, saturation, utilizations};
pub use shift_test::{ShiftTest, Untestable, shift_test};
pub use signal::{Signal, SignalPiece, SignalShape};
pub use signals::{CpuFigures, SIGNAL_METRICS, Signals, is_signal_metric, signal_metrics, signals};
pub use slow_times::SlowTimes;
pub use sums::Sums;
