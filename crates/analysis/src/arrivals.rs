//! The verdict on arrivals: whether they follow the requested process.
//!
//! An [`ArrivalTally`] consumes sorted start times, live or from a log, in bounded memory, and returns an [`Observed`].
//! [`judge`] compares it with the [`RequestedProcess`] and returns the [`ArrivalVerdict`], which begins with a one-line summary.
//!
//! The coefficient of variation (CoV) alone is misleading. A generator that sends ten requests at once every 10 ms can
//! have a CoV near 1. A generator that sends all requests of each second at the start of that second has a dispersion
//! of 0 in windows of 1 s. The CoV of the gaps and the dispersion of counts at several scales are therefore judged
//! together. Each measure passes if its confidence interval is inside a band of values that are practically equivalent
//! (`measures.rs` describes the bands and their error rates). Stalls and changes of rate are excluded from the measures
//! and reported separately, but the verdict takes them into account. The autocorrelation of counts shows whether a
//! pattern of starts recurs at a fixed interval. Missing short gaps are attributed to the delivery. The tests of
//! exponentiality and independence are listed only among the details, because with many arrivals they reject the
//! process for differences that do not matter in practice.
//!
//! If there is a schedule, the arrivals are compared with the schedule: both have the same random variation, so the comparison
//! is exact. Closed loads have no requested process; their arrivals are only described.
//!
//! The verdict also contains R/(R + Z), lateness, discarded arrivals and waits (Schroeder, Wierman and Harchol-Balter, "Open Versus
//! Closed", NSDI 2006; Brady and Gunther, "How to Emulate Web Traffic Using Standard Load Testing Tools", 2016).

mod blocks;
mod closed;
mod finding;
mod lateness;
mod measures;
mod observed;
mod phrases;
mod repetition;
mod requested;
mod retained;
mod same_user;
mod sentence;
mod settings;
mod slices;
mod stalls;
mod steady;
mod tally;
mod verdict;

pub use crate::arrival_caveat::ArrivalCaveat;
pub use finding::{ARRIVALS_FOR_VERDICT, Finding};
pub use lateness::{Lateness, LatenessTally};
pub use measures::{Measure, Quantity};
pub use observed::{Dispersion, Observed, RateRange, Serial, ShortGaps, Tests};
pub use repetition::Repetition;
pub use requested::{ArrivalContext, JudgedStarts, RequestedProcess};
pub use same_user::SameUserGaps;
pub use settings::{KnownRate, Resolution, TallySettings};
pub use stalls::{ArrivalGap, StallRule};
pub use steady::Part;
pub use tally::ArrivalTally;
pub use verdict::{ArrivalRating, ArrivalVerdict, judge};
