//! The verdict on arrivals: are they the process that was asked for?
//!
//! An [`ArrivalTally`] takes sorted stamps, live or from a log, in bounded memory; [`Observed`] is what it saw;
//! [`judge`] compares that with what was [`Asked`] and gives the [`ArrivalVerdict`]: one plain line first.
//!
//! CoV alone misleads: a generator that sends ten requests at once every 10 ms can have one near 1, and one that
//! sends a second's worth at the beginning of each second has no dispersion at all over seconds. So the coefficient of
//! variation of the gaps and the dispersion of counts at several scales are judged together, each by whether its interval
//! lies inside a band within which nobody would act differently (see `measures.rs` for the bands and their error rates).
//! Stalls are left out and reported on their own; missing or additional short gaps are a property of delivery. Tests of exponentiality and independence are among the details: with many arrivals they reject what does
//! not matter.
//!
//! What a verdict depends on besides (Schroeder, Wierman and Harchol-Balter, "Open Versus Closed", NSDI 2006; Brady and
//! Gunther, "How to Emulate Web Traffic Using Standard Load Testing Tools", 2016): R/(R + Z), lateness, drops and
//! waits stand beside it.

mod asked;
mod blocks;
mod doubts;
mod finding;
mod lateness;
mod measures;
mod observed;
mod settings;
mod slices;
mod stalls;
mod steady;
mod tally;
mod verdict;
mod words;

pub use asked::{Asked, Circumstances, Scope};
pub use doubts::ArrivalCaveat;
pub use finding::Finding;
pub use lateness::{Lateness, LatenessTally};
pub use measures::{Measure, Quantity};
pub use observed::{Dispersion, Observed, Serial, ShortGaps, Tests};
pub use settings::{KnownRate, Resolution, TallySettings};
pub use stalls::{Stall, StallRule};
pub use steady::Part;
pub use tally::ArrivalTally;
pub use verdict::{ArrivalVerdict, judge};
