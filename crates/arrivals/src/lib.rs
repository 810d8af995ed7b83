//! Arrival processes: parses their notation, generates intended start times, and divides the arrivals into shares.
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
//! # The notation
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
//! The arrow may be written `->` or `to`, digits may be grouped (`1_000`), `for` and `over` are synonyms, and words are
//! case-insensitive. `count N` after an `even` or `fixed` stage sets its number of arrivals (by default the integer part of
//! the expected number); an even stage with a count does not continue the preceding even stage. `java_random N` after a
//! `fixed` stage sets the inner state of the `java.util.Random` that places its points, as computed by
//! [`jmeter::parse_seeded`]. A file name with a closing parenthesis must be quoted. A stage is the half-open interval
//! [begin, end); stages follow one another without gaps.
//!
//! In the table, *by mark* means that the random number of an arrival ([`Arrival::mark`]) determines its share of the load, and
//! *by index* that the shares take arrivals in turn, by their number ([`Arrival::index`]).
//!
//! | law | arrivals | division into shares |
//! |---|---|---|
//! | `poisson` | a Poisson process with the rate of the stage, constant or linear in time | by mark; each share is Poisson |
//! | `even` | arrival k (from 0) occurs when the expected number of arrivals reaches k; adjacent even stages, also with pauses between them, share one count | by index |
//! | `jittered` | the stage is divided into intervals in which one arrival is expected; each has one arrival, at a uniformly random point | by index |
//! | `gamma`, `weibull` | a stationary renewal process with this coefficient of variation of its gaps | by index |
//! | `mmpp` | Poisson arrivals with two alternating rates; the time at each rate is exponential with the given mean | by mark |
//! | `fixed` | a fixed number of independent points: Apache JMeter's random arrivals | by mark |
//! | `replay` | the start times in a file, shifted to the start of the stage | by index |
//!
//! # Reproducibility
//!
//! A schedule is a function of the text and the seed. Mathematical functions come from the portable code of `libm` rather than
//! from the platform. Machines of different kinds can therefore each generate the whole schedule and keep only their
//! [`LoadShare`] of it. Together, the machines have exactly the arrivals of the whole schedule.

mod arrival;
mod changes;
mod division;
mod error;
mod fraction;
mod generate;
mod java_random;
pub mod jmeter;
mod law;
mod linear_rate;
mod notation;
mod precise;
mod process;
mod random;
mod schedule;
mod share;
mod stage;

pub use arrival::Arrival;
pub use changes::{ChangingSchedule, CumulativeRate, RateChange, ScheduleChanges};
pub use error::{ParseError, nearest};
pub use law::Law;
pub use notation::time_ns;
pub use precise::{PreciseError, PreciseSchedule};
pub use process::ArrivalProcess;
pub use random::pick;
pub use schedule::{Schedule, SharedSchedule};
pub use share::{LoadShare, ShareError, ShareRule};
pub use stage::{Mmpp, MmppState, Per, Process, Rate, Replay, Stage};
