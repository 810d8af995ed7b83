//! Doubts about arrivals, each with its advice.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::{count, rate, share, span};

/// One doubt about the arrivals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum ArrivalCaveat {
    /// Hardly any arrivals.
    TooFew {
        /// How many.
        arrivals: u64,
    },
    /// All stamps are equal.
    AllAtOnce {
        /// How many.
        arrivals: u64,
    },
    /// An interval holds an edge of its band.
    Inconclusive {
        /// A run of this length would likely decide, in s; `None` when a measure lies at the edge itself.
        run_for_s: Option<f64>,
    },
    /// Arrivals come in bunches.
    Bunched {
        /// CoV of the gaps.
        cov: Option<f64>,
        /// Share of short gaps over that of Poisson arrivals.
        short_ratio: Option<f64>,
    },
    /// Arrivals are more regular than those of independent users.
    TooEven {
        /// CoV of the gaps.
        cov: Option<f64>,
    },
    /// Gaps look right, but counts in windows vary less than they should.
    CountsTooEven {
        /// Width of the windows, s.
        scale_s: f64,
        /// Index of dispersion.
        dispersion: f64,
    },
    /// Gaps look right, but counts in windows vary more than they should.
    CountsTooUneven {
        /// Width of the windows, s.
        scale_s: f64,
        /// Index of dispersion.
        dispersion: f64,
    },
    /// In windows that are not short against a user's cycle, counts of a closed workload vary less than Poisson's.
    ClosedLoopRegular {
        /// Width of the windows, s.
        scale_s: f64,
        /// Index of dispersion.
        dispersion: f64,
    },
    /// What was delivered is not what was asked for.
    NotAsAsked {
        /// CoV of the gaps.
        cov: Option<f64>,
    },
    /// There is nothing to compare the arrivals with.
    NothingToCompare,
    /// Response times are not small against the users' cycle.
    ResponseInCycle {
        /// R/(R + Z).
        r_over_r_plus_z: f64,
    },
    /// Ramps and pauses were left out.
    PartJudged {
        /// What was judged, s.
        judged_s: f64,
        /// Of how much, s.
        span_s: f64,
    },
    /// No part with a steady rate was long enough.
    NeverSteady,
    /// Stamps in whole milliseconds cannot tell gaps at this rate.
    MillisecondStamps {
        /// Arrivals per s.
        rate_per_s: f64,
    },
    /// Stamps were not in order.
    Disordered {
        /// How many came before the one before them.
        stamps: u64,
    },
    /// Starts were late.
    Late {
        /// Median, µs.
        p50_us: f64,
        /// 99th percentile, µs.
        p99_us: f64,
    },
    /// Arrivals found no free user and were given up.
    Dropped {
        /// How many.
        arrivals: u64,
    },
    /// Arrivals had to wait for a free user.
    Waited {
        /// How many.
        arrivals: u64,
    },
    /// Gaps depend on those before them.
    SerialCorrelation {
        /// How many gaps before.
        lag: u32,
        /// Correlation coefficient.
        coefficient: f64,
    },
    /// The rate is not the one that was asked for.
    RateMissed {
        /// Asked for, per s.
        asked_per_s: f64,
        /// Achieved, per s.
        rate_per_s: f64,
    },
}

impl fmt::Display for ArrivalCaveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ArrivalCaveat::TooFew { arrivals: 0 } => f.write_str("nothing arrived"),
            ArrivalCaveat::TooFew { arrivals } => {
                write!(f, "{} arrivals are too few to say anything of their process", count(arrivals))
            }
            ArrivalCaveat::AllAtOnce { arrivals } => {
                write!(f, "all {} arrivals have the same stamp", count(arrivals))
            }
            ArrivalCaveat::Inconclusive { run_for_s: Some(_) } => {
                f.write_str("the arrivals are too few to decide what their process is")
            }
            ArrivalCaveat::Inconclusive { run_for_s: None } => {
                f.write_str("a measure of the arrivals lies at the very edge of its band")
            }
            ArrivalCaveat::Bunched { cov, short_ratio } => {
                f.write_str("requests were launched in bunches")?;
                if let Some(cov) = cov {
                    write!(f, ": the CoV of the gaps is {cov:.2}")?;
                }
                match short_ratio {
                    Some(ratio) => write!(
                        f,
                        ", and there are {ratio:.1} times as many short gaps as Poisson arrivals have"
                    ),
                    None => Ok(()),
                }
            }
            ArrivalCaveat::TooEven { cov } => {
                f.write_str("requests came more evenly than independent users send them")?;
                cov.map_or(Ok(()), |cov| write!(f, ": the CoV of the gaps is {cov:.2}"))
            }
            ArrivalCaveat::CountsTooEven { scale_s, dispersion } => {
                let scale = span(scale_s);
                write!(
                    f,
                    "counts per {scale} vary less than those of independent users (dispersion {dispersion:.2})"
                )
            }
            ArrivalCaveat::CountsTooUneven { scale_s, dispersion } => {
                let scale = span(scale_s);
                write!(f, "counts per {scale} vary more than chance allows (dispersion {dispersion:.2})")
            }
            ArrivalCaveat::ClosedLoopRegular { scale_s, dispersion } => {
                let scale = span(scale_s);
                write!(
                    f,
                    "a closed workload: counts per {scale} vary less than those of an open one (dispersion {dispersion:.2})"
                )
            }
            ArrivalCaveat::NotAsAsked { cov } => {
                f.write_str("the arrivals delivered are not those that were asked for")?;
                cov.map_or(Ok(()), |cov| write!(f, ": the CoV of the gaps is {cov:.2}"))
            }
            ArrivalCaveat::NothingToCompare => {
                f.write_str("the arrivals have no law that they could be compared with")
            }
            ArrivalCaveat::ResponseInCycle { r_over_r_plus_z } => {
                write!(
                    f,
                    "users spend {} of their cycle waiting for responses, R/(R+Z): the load follows the system under test",
                    share(r_over_r_plus_z)
                )
            }
            ArrivalCaveat::PartJudged { judged_s, span_s } => {
                let (judged, whole) = (span(judged_s), span(span_s));
                write!(
                    f,
                    "the arrivals were judged in the {judged} of {whole} in which their rate was steady"
                )
            }
            ArrivalCaveat::NeverSteady => {
                f.write_str("the rate was never steady, so gaps say nothing of the process")
            }
            ArrivalCaveat::MillisecondStamps { rate_per_s } => {
                write!(f, "stamps in whole milliseconds cannot tell gaps at {}", rate(rate_per_s))
            }
            ArrivalCaveat::Disordered { stamps } => {
                write!(
                    f,
                    "{} stamps were earlier than the one before them, and count as equal to it",
                    count(stamps)
                )
            }
            ArrivalCaveat::Late { p50_us, p99_us } => {
                let (p50, p99) = (span(p50_us / 1e6), span(p99_us / 1e6));
                write!(f, "starts were late by {p50} at the median and {p99} at p99")
            }
            ArrivalCaveat::Dropped { arrivals } => {
                write!(f, "{} arrivals found no free user and were given up", count(arrivals))
            }
            ArrivalCaveat::Waited { arrivals } => {
                write!(f, "{} arrivals waited for a free user", count(arrivals))
            }
            ArrivalCaveat::SerialCorrelation { lag, coefficient } => {
                write!(f, "gaps are not independent: correlation {coefficient:.2} at lag {lag}")
            }
            ArrivalCaveat::RateMissed { asked_per_s, rate_per_s } => {
                write!(f, "{} arrived where {} were asked for", rate(rate_per_s), rate(asked_per_s))
            }
        }
    }
}

impl ArrivalCaveat {
    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> String {
        let text = match self {
            ArrivalCaveat::AllAtOnce { .. } => {
                "look at where the stamps come from; a finer clock may tell them apart"
            }
            ArrivalCaveat::TooFew { .. } => "run longer, or at a higher rate",
            ArrivalCaveat::Inconclusive { run_for_s: Some(run_for_s) } => {
                return format!("run for about {} at this rate", span(*run_for_s));
            }
            ArrivalCaveat::Inconclusive { run_for_s: None } => {
                "look at the measures themselves; more time will hardly decide"
            }
            ArrivalCaveat::Bunched { .. } => {
                "where users wait for responses, raise users and think time together until R is small against Z (Principle A); otherwise look at the lateness of starts, and use more cores or machines"
            }
            ArrivalCaveat::TooEven { .. } | ArrivalCaveat::CountsTooEven { .. } => {
                "raise users and think time together, keeping N/Z (Principle A), or offer an open load: --arrivals 'poisson(RATE)'"
            }
            ArrivalCaveat::CountsTooUneven { .. } => {
                "look at the rate over time: a change of load, a pause of the generator or of the system under test"
            }
            ArrivalCaveat::ClosedLoopRegular { .. } => {
                "raise users and think time together, keeping N/Z, if queues in the system under test build up over such times"
            }
            ArrivalCaveat::NotAsAsked { .. } => {
                "look at the lateness of starts, and use more cores or machines"
            }
            ArrivalCaveat::NothingToCompare => "give the schedule with the delivered arrivals",
            ArrivalCaveat::ResponseInCycle { .. } => {
                "raise users and think time together, keeping N/Z (Principle A), or offer an open load with --arrivals"
            }
            ArrivalCaveat::PartJudged { .. } => {
                "no action is needed; give the window to judge if you know better"
            }
            ArrivalCaveat::NeverSteady => "hold the rate for a while, or give the rate that was asked for",
            ArrivalCaveat::MillisecondStamps { .. } => "run it with busyhour, whose record has nanoseconds",
            ArrivalCaveat::Disordered { .. } => "sort the stamps by start",
            ArrivalCaveat::Late { .. } => {
                "read response times, which count from the intended start; use more cores or a quieter machine"
            }
            ArrivalCaveat::Dropped { .. } => {
                "allow more users: the load offered was lower than asked for exactly when the system under test was slow"
            }
            ArrivalCaveat::Waited { .. } => {
                "allow more users; response times include the wait, the system under test saw the arrivals later"
            }
            ArrivalCaveat::SerialCorrelation { .. } => {
                "treat intervals that assume independence as too narrow"
            }
            ArrivalCaveat::RateMissed { .. } => {
                "look for a busy generator, too few users, or arrivals that were dropped"
            }
        };
        text.to_owned()
    }
}
