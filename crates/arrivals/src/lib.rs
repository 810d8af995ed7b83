//! Arrival processes: from a line of text to intended start times, and shares of them.
//!
//! ```
//! use busyhour_arrivals::ArrivalProcess;
//!
//! let process: ArrivalProcess = "poisson(500/s) for 60s, ramp(500/s → 2000/s) over 5min".parse()?;
//! assert_eq!(process.expected_count(), 30_000.0 + 375_000.0);
//! let first = process.schedule(42).next().unwrap();
//! assert_eq!(Some(first), process.schedule(42).next());
//! # Ok::<(), busyhour_arrivals::ParseError>(())
//! ```
//!
//! # The text
//!
//! ```text
//! process  = stage { "," stage }
//! stage    = "pause" time
//!          | law "(" rate ")" "for" time                 poisson, even, jittered, fixed
//!          | law "(" rate "," "cov" number ")" "for" time         gamma, weibull
//!          | "ramp" "(" rate "→" rate ")" "over" time [ law [ "cov" number ] ]
//!          | "mmpp" "(" rate "for" time "," rate "for" time ")" "for" time
//!          | "replay" "(" file ")" [ "speed" number ] [ "for" time ]
//!          | rate "for" time                             the same as poisson(rate)
//! rate     = number "/" ( "ms" | "s" | "min" | "h" | "d" )
//! time     = number ( "ns" | "us" | "ms" | "s" | "min" | "h" | "d" ) { number unit }
//! ```
//!
//! The arrow may be written `->` or `to`, numbers may be grouped (`1_000`), `for` and `over` mean the same, words
//! may be in upper case. `count N` after an `even` or `fixed` stage sets how many arrivals it has (by default the
//! whole part of the expected number); an even stage with a count begins anew instead of continuing the stage
//! before it. `java_random N` after a `fixed` stage gives the inner state of the `java.util.Random` that places its
//! points, as [`jmeter::parse_seeded`] finds it. A file name with a closing parenthesis stands in quotes. A stage is the half-open time
//! [begin, end); stages follow one another without gaps.
//!
//! | law | arrivals | a share of it |
//! |---|---|---|
//! | `poisson` | a Poisson process whose rate is the stage's, constant or linear in time | by mark: again Poisson |
//! | `even` | the k-th (from 0) when the expected number reaches k, through adjoining even stages and pauses | by index |
//! | `jittered` | one at a uniform point in each cell of one expected arrival | by index |
//! | `gamma`, `weibull` | a stationary renewal process with this coefficient of variation of its gaps | by index |
//! | `mmpp` | Poisson with one of two rates, which take turns for exponential times of these means | by mark |
//! | `fixed` | a fixed number of independent points: what Apache JMeter calls random arrivals | by mark |
//! | `replay` | the stamps of a file, moved to begin with the stage | by index |
//!
//! # The same everywhere
//!
//! A schedule is a function of the text and the seed. Logarithms and the like are taken from `libm`'s portable code
//! and not from the platform, so that machines of different kinds that each generate the whole schedule and keep
//! their [`LoadShare`] of it hold exactly the pieces of one schedule.

mod changes;
mod error;
mod generate;
mod java_random;
pub mod jmeter;
mod linear_rate;
mod notation;
mod precise;
mod process;
mod random;
mod schedule;
mod share;
mod stage;

pub use changes::{ChangedRate, Changes, ChangingSchedule, RateChange};
pub use error::ParseError;
pub use notation::time_ns;
pub use precise::{PreciseError, PreciseSchedule};
pub use process::{ArrivalProcess, Law};
pub use random::pick;
pub use schedule::{Arrival, Schedule, SharedSchedule};
pub use share::{LoadShare, ShareError, ShareRule};
pub use stage::{Mmpp, MmppState, Per, Process, Rate, Replay, Stage};
