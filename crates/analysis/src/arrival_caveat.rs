//! Caveats about arrivals, each with advice.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::{clock, count, interval, rate, share, span};

/// The cause of a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallCause {
    /// All users waited for responses, and arrivals waited for users.
    NoFreeUser,
    /// Either all users waited for responses, or the generator did not run.
    UsersOrGenerator,
    /// The cause is unknown.
    Unknown,
}

/// A caveat about the arrivals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum ArrivalCaveat {
    /// There are too few arrivals.
    TooFew {
        /// Number of arrivals.
        arrivals: u64,
    },
    /// All start times are equal.
    AllAtOnce {
        /// Number of arrivals.
        arrivals: u64,
    },
    /// The confidence interval of a measure is partly inside and partly outside the range that agrees with the process.
    Inconclusive {
        /// Length of a run that would probably settle whether the arrivals agree with the process, in s; `None` when a longer run
        /// is unlikely to settle it.
        run_for_s: Option<f64>,
    },
    /// There were stalls.
    Stall {
        /// Number of stalls.
        stalls: u64,
        /// Start of the longest stall, in s after the first arrival.
        at_s: f64,
        /// Length of the longest stall, in s.
        length_s: f64,
        /// Number of arrivals that were started together after this stall.
        backlog: u64,
        /// Time in which these arrivals started, in s.
        backlog_s: f64,
        /// Cause of the longest stall.
        cause: StallCause,
    },
    /// Gaps shorter than the time that the generator needs per request are missing.
    ShortGapsMissing {
        /// Approximate length of the shortest gap, in s.
        below_s: f64,
        /// Whether the arrivals come from a log, so that their generator is unknown.
        #[serde(default)]
        is_log: bool,
    },
    /// There are somewhat more short gaps than in the requested process. Only earlier versions raised this caveat.
    ShortGapsMany {
        /// Share of short gaps divided by the expected share.
        ratio: f64,
        /// Length below which a gap is short, in s.
        shorter_than_s: f64,
    },
    /// The same pattern of starts recurs at a fixed interval.
    #[serde(rename = "repeats")]
    PeriodicStarts {
        /// The interval, in s.
        period_s: f64,
        /// Autocorrelation of counts at this interval.
        correlation: f64,
    },
    /// Arrivals come in bursts.
    Bunched {
        /// CoV of the gaps.
        cov: Option<f64>,
        /// Share of short gaps divided by that of Poisson arrivals.
        short_ratio: Option<f64>,
        /// Whether arrivals waited for a free user.
        #[serde(default)]
        waited: bool,
    },
    /// Arrivals are more regular than those of independent users.
    TooEven {
        /// CoV of the gaps.
        cov: Option<f64>,
    },
    /// Gaps follow the process, but counts in windows vary less than expected.
    CountsTooEven {
        /// Width of the windows, in s.
        scale_s: f64,
        /// Index of dispersion.
        dispersion: f64,
    },
    /// Gaps follow the process, but counts in windows vary more than expected.
    CountsTooUneven {
        /// Width of the windows, in s.
        scale_s: f64,
        /// Index of dispersion.
        dispersion: f64,
    },
    /// In windows that are long compared with a user's cycle, counts of a closed load vary less than those of Poisson arrivals.
    ClosedLoopRegular {
        /// Width of the windows, in s.
        scale_s: f64,
        /// Index of dispersion.
        dispersion: f64,
    },
    /// The delivered arrivals differ from the requested process.
    #[serde(rename = "not_as_asked")]
    NotAsRequested {
        /// CoV of the gaps.
        cov: Option<f64>,
        /// Whether arrivals waited for a free user.
        #[serde(default)]
        waited: bool,
    },
    /// The process requires a schedule for comparison, and there is none.
    #[serde(rename = "nothing_to_compare")]
    ScheduleMissing,
    /// Waiting for responses takes a considerable share of the users' cycle.
    ResponseInCycle {
        /// R/(R + Z): response time R divided by the cycle, which is R plus the think time Z.
        r_over_r_plus_z: f64,
    },
    /// Only the part with a steady rate was judged, without ramps and pauses.
    #[serde(rename = "part_judged")]
    SteadyPartJudged {
        /// Length of the judged part, in s.
        judged_s: f64,
        /// Length of the whole run, in s.
        span_s: f64,
    },
    /// No part with a steady rate was long enough.
    NeverSteady,
    /// Timestamps in whole milliseconds cannot resolve gaps at this rate.
    MillisecondStamps {
        /// Arrivals per s.
        rate_per_s: f64,
    },
    /// The clocks of several generators are not known well enough for the rate.
    CoarseClocks {
        /// Largest error of the time between two arrivals of different generators, in s.
        bound_s: f64,
        /// Arrivals per s.
        rate_per_s: f64,
    },
    /// Start times were not in order.
    Disordered {
        /// Number of start times that were earlier than the preceding start time.
        stamps: u64,
    },
    /// Starts were late.
    Late {
        /// Median lateness, in µs.
        p50_us: f64,
        /// 99th percentile of the lateness, in µs.
        p99_us: f64,
    },
    /// Arrivals found no free user and were discarded.
    #[serde(rename = "dropped")]
    Discarded {
        /// Number of arrivals.
        arrivals: u64,
    },
    /// Arrivals waited for a free user.
    Waited {
        /// Number of arrivals.
        arrivals: u64,
    },
    /// Gaps are autocorrelated.
    SerialCorrelation {
        /// The lag, in gaps.
        lag: u32,
        /// The autocorrelation coefficient.
        coefficient: f64,
    },
    /// The achieved rate differs from the requested rate.
    RateMissed {
        /// Requested rate, per s.
        #[serde(rename = "asked_per_s")]
        requested_per_s: f64,
        /// Achieved rate, per s.
        rate_per_s: f64,
        /// Whether arrivals waited for a free user.
        #[serde(default)]
        waited: bool,
    },
}

impl fmt::Display for ArrivalCaveat {
    #[expect(clippy::too_many_lines, reason = "a table of messages")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ArrivalCaveat::TooFew { arrivals: 0 } => f.write_str("there were no arrivals"),
            ArrivalCaveat::TooFew { arrivals } => {
                write!(f, "{} arrivals are too few to determine their process", count(arrivals))
            }
            ArrivalCaveat::AllAtOnce { arrivals } => {
                write!(f, "all {} arrivals have the same start time", count(arrivals))
            }
            ArrivalCaveat::Inconclusive { run_for_s: Some(_) } => {
                f.write_str("there are too few arrivals to determine their process")
            }
            ArrivalCaveat::Inconclusive { run_for_s: None } => {
                f.write_str("the measures of the arrivals neither agree with the process nor rule it out")
            }
            ArrivalCaveat::Stall { stalls, at_s, length_s, backlog, backlog_s, .. } => {
                write!(f, "no request started for {} at {}", span(length_s), clock(at_s))?;
                if backlog > 0 && backlog_s > 0.0 {
                    write!(f, ", and then {} started within {}", count(backlog), span(backlog_s))?;
                } else if backlog > 0 {
                    write!(f, ", and then {} started in the same millisecond", count(backlog))?;
                }
                match stalls {
                    0 | 1 => Ok(()),
                    n => write!(f, "; {n} such stalls in total"),
                }
            }
            ArrivalCaveat::ShortGapsMissing { below_s, is_log: true } => {
                write!(f, "gaps below {} are missing", span(below_s))
            }
            ArrivalCaveat::PeriodicStarts { period_s, correlation } => write!(
                f,
                "the same pattern of starts recurs every {} (correlation {correlation:.2})",
                interval(period_s)
            ),
            ArrivalCaveat::ShortGapsMissing { below_s, is_log: false } => write!(
                f,
                "the generator needs about {} per request here: gaps below that are missing",
                span(below_s)
            ),
            ArrivalCaveat::ShortGapsMany { ratio, shorter_than_s } => write!(
                f,
                "{ratio:.1} times as many gaps below {} as in the requested process: some starts were delayed and then happened together",
                span(shorter_than_s)
            ),
            ArrivalCaveat::Bunched { cov, short_ratio, .. } => {
                f.write_str("requests started in bursts")?;
                if let Some(cov) = cov {
                    write!(f, ": the CoV of the gaps is {cov:.2}")?;
                }
                match short_ratio {
                    Some(ratio) => write!(
                        f,
                        ", and there are {ratio:.1} times as many short gaps as from independent users"
                    ),
                    None => Ok(()),
                }
            }
            ArrivalCaveat::TooEven { cov } => {
                f.write_str("requests started more evenly than those of independent users")?;
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
            ArrivalCaveat::NotAsRequested { cov, .. } => {
                f.write_str("the delivered arrivals differ from the requested process")?;
                cov.map_or(Ok(()), |cov| write!(f, ": the CoV of the gaps is {cov:.2}"))
            }
            ArrivalCaveat::ScheduleMissing => {
                f.write_str("the arrivals cannot be judged without their schedule")
            }
            ArrivalCaveat::ResponseInCycle { r_over_r_plus_z } => {
                write!(
                    f,
                    "users spend {} of their cycle waiting for responses, R/(R+Z): a slower server would lower this load",
                    share(r_over_r_plus_z)
                )
            }
            ArrivalCaveat::SteadyPartJudged { judged_s, span_s } => {
                let (judged, whole) = (span(judged_s), span(span_s));
                write!(
                    f,
                    "gaps and counts were judged only in the {judged} of {whole} in which the rate was steady"
                )
            }
            ArrivalCaveat::NeverSteady => {
                f.write_str("the rate was never steady, so the gaps do not identify the process")
            }
            ArrivalCaveat::MillisecondStamps { rate_per_s } => {
                write!(f, "timestamps in whole milliseconds cannot resolve gaps at {}", rate(rate_per_s))
            }
            ArrivalCaveat::CoarseClocks { bound_s, rate_per_s } => {
                write!(
                    f,
                    "the clocks of the agents agree within {}: gaps between arrivals at {} cannot be judged",
                    span(bound_s),
                    rate(rate_per_s)
                )
            }
            ArrivalCaveat::Disordered { stamps } => {
                write!(
                    f,
                    "{} start times were earlier than the preceding one and count as equal to it",
                    count(stamps)
                )
            }
            ArrivalCaveat::Late { p50_us, p99_us } => {
                let (p50, p99) = (span(p50_us / 1e6), span(p99_us / 1e6));
                write!(f, "starts were late by {p50} at the median and {p99} at p99")
            }
            ArrivalCaveat::Discarded { arrivals } => {
                write!(f, "{} arrivals found no free user and were discarded", count(arrivals))
            }
            ArrivalCaveat::Waited { arrivals } => {
                write!(f, "{} arrivals waited for a free user", count(arrivals))
            }
            ArrivalCaveat::SerialCorrelation { lag, coefficient } => {
                write!(f, "gaps are not independent: correlation {coefficient:.2} at lag {lag}")
            }
            ArrivalCaveat::RateMissed { requested_per_s, rate_per_s, .. } => {
                write!(
                    f,
                    "the achieved rate is {}, the requested rate {}",
                    rate(rate_per_s),
                    rate(requested_per_s)
                )
            }
        }
    }
}

impl ArrivalCaveat {
    /// Whether this caveat is the cause of most other caveats: all users waited for the system under test.
    #[must_use]
    pub fn explains_others(&self) -> bool {
        matches!(self, ArrivalCaveat::Stall { cause: StallCause::NoFreeUser, .. })
    }

    /// Advice for the user.
    #[must_use]
    pub fn advice(&self) -> String {
        let text = match self {
            ArrivalCaveat::AllAtOnce { .. } => {
                "check the source of the timestamps; a finer clock may separate them"
            }
            ArrivalCaveat::TooFew { .. } => "run longer, or at a higher rate",
            ArrivalCaveat::Inconclusive { run_for_s: Some(run_for_s) } => {
                return format!("run for about {} at this rate", span(*run_for_s));
            }
            ArrivalCaveat::Inconclusive { run_for_s: None } => {
                "look at the measures (report --arrivals --details); a longer run alone is unlikely to settle the question"
            }
            ArrivalCaveat::Stall { cause: StallCause::NoFreeUser, .. } => {
                "all users waited for the system under test: check what it did at that time; to keep the load up during a stall, allow more users (--no-free-user 'grow to N')"
            }
            ArrivalCaveat::Stall { cause: StallCause::UsersOrGenerator, .. } => {
                "check the response times during the stall: if they are long, the system under test stalled and the users waited for it; otherwise the generator stalled, so look at its CPU steal and load, and run again"
            }
            ArrivalCaveat::Stall { cause: StallCause::Unknown, .. } => {
                "find out what stopped the generator at that time (CPU steal, other processes), and run again; if the pause was intended, judge the parts before and after it"
            }
            ArrivalCaveat::ShortGapsMissing { is_log: true, .. } => {
                "the sender may need that long per request, or its arrivals may not be Poisson; the log alone cannot show which"
            }
            ArrivalCaveat::PeriodicStarts { .. } => {
                "look for timers or users with a fixed cycle; vary their delays, or offer an open load: --arrivals 'poisson(RATE)'"
            }
            ArrivalCaveat::ShortGapsMissing { is_log: false, .. } => {
                "this is caused by the delivery, not by the schedule; use more cores if the system under test can distinguish gaps that short"
            }
            ArrivalCaveat::ShortGapsMany { .. } => {
                "this is caused by the delivery, not by the schedule; look at CPU steal and the lateness of starts, and use a less busy machine"
            }
            ArrivalCaveat::Bunched { waited: true, .. }
            | ArrivalCaveat::NotAsRequested { waited: true, .. } => {
                "arrivals waited for a free user and were sent together later: look at what slowed the system under test, or allow more users (--no-free-user 'grow to N')"
            }
            ArrivalCaveat::Bunched { .. } => {
                "look at how the sender paces its requests: groups of requests, late starts, or users that wait for each other"
            }
            ArrivalCaveat::TooEven { .. } | ArrivalCaveat::CountsTooEven { .. } => {
                "look at how the sender paces its requests: a fixed timer, or too few users; an open load has independent arrivals: --arrivals 'poisson(RATE)'"
            }
            ArrivalCaveat::CountsTooUneven { .. } => {
                "look at the rate over time: a change of load, a pause of the generator or of the system under test"
            }
            ArrivalCaveat::ClosedLoopRegular { .. } => {
                "use more users with longer think times, keeping N/Z constant, if queues in the system under test build up over periods of that length"
            }
            ArrivalCaveat::NotAsRequested { .. } => {
                "look at the lateness of starts, and use more cores or machines"
            }
            ArrivalCaveat::ScheduleMissing => "provide the schedule together with the delivered arrivals",
            ArrivalCaveat::ResponseInCycle { .. } => {
                "use --arrivals to keep the load constant, or more users with longer think times, keeping N/Z constant (Principle A in docs/offered-load.md)"
            }
            ArrivalCaveat::SteadyPartJudged { .. } => {
                "if the rate was meant to be steady, find out what changed it; use --window to judge another part"
            }
            ArrivalCaveat::NeverSteady => {
                "keep the rate constant for some time, or specify the requested rate"
            }
            ArrivalCaveat::MillisecondStamps { .. } => {
                "run the plan with busyhour, which records nanoseconds"
            }
            ArrivalCaveat::CoarseClocks { .. } => {
                "use a faster network between controller and agents, or judge the arrivals at the server: report --server-log"
            }
            ArrivalCaveat::Disordered { .. } => "sort the samples by start time",
            ArrivalCaveat::Late { .. } => {
                "use response times instead of service times, because they count from the intended start; use more cores or a less busy machine"
            }
            ArrivalCaveat::Discarded { .. } => {
                "allow more users: the load was lower than requested exactly when the system under test was slow"
            }
            ArrivalCaveat::Waited { .. } => {
                "allow more users; response times include this wait, but the requests reached the system under test later than scheduled"
            }
            ArrivalCaveat::SerialCorrelation { .. } => {
                "treat confidence intervals that assume independent gaps as too narrow"
            }
            ArrivalCaveat::RateMissed { waited: true, .. } => {
                "arrivals waited for users that waited for the system under test: allow more users (--no-free-user 'grow to N')"
            }
            ArrivalCaveat::RateMissed { waited: false, .. } => {
                "look for a busy generator, too few users, or discarded arrivals"
            }
        };
        text.to_owned()
    }
}
