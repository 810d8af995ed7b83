//! Findings about measurements and fits, each with its advice.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// Information, which does not affect the result.
    Note,
    /// The result may mislead.
    Doubt,
    /// The measurements contradict an operational law, so a value was entered or measured wrongly.
    Contradiction,
}

/// A finding about measurements or a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CapacityFinding {
    /// The number of users is the number of samples: N is many times X(R + Z).
    SamplesAsUsers {
        /// The measurement.
        point: String,
        /// The stated N.
        users: f64,
        /// The number of users by Little's law, X(R + Z).
        users_by_law: f64,
        /// N/X, the time in seconds in which N samples are completed.
        seconds: f64,
    },
    /// In all measurements X(R + Z) is the same integer multiple of N, probably because several generators ran the plan.
    SeveralGenerators {
        /// The integer multiple.
        times: u32,
        /// X(R + Z)/N of each measurement.
        ratios: Vec<f64>,
    },
    /// N and X(R + Z) differ.
    WrongPopulation {
        /// The measurement.
        point: String,
        /// The stated N.
        users: f64,
        /// The number of users by Little's law, X(R + Z).
        users_by_law: f64,
    },
    /// The think time is unknown, so N = X(R + Z) cannot be checked.
    ThinkTimeUnknown,
    /// Measurements have different think times.
    ThinkTimesDiffer {
        /// The shortest think time in seconds.
        least_s: f64,
        /// The longest think time in seconds.
        most_s: f64,
    },
    /// The utilization of a resource exceeds 1.
    OverUtilized {
        /// The measurement.
        point: String,
        /// The resource.
        resource: String,
        /// The utilization.
        share: f64,
    },
    /// The number of requests in the system is not X·R.
    LittleViolated {
        /// The measurement.
        point: String,
        /// The measured number of requests.
        in_system: f64,
        /// The number of requests by Little's law, X·R.
        by_law: f64,
    },
    /// The measured throughput exceeds 1/D_max.
    BeyondCapacity {
        /// The measurement.
        point: String,
        /// The measured throughput per second.
        throughput_per_s: f64,
        /// The capacity 1/D_max per second.
        capacity_per_s: f64,
    },
    /// The throughput decreases with more users.
    ThroughputFalls {
        /// The measurement with the highest throughput.
        peak: String,
        /// The highest throughput per second.
        peak_per_s: f64,
        /// The measurement with the lowest throughput beyond the peak.
        point: String,
        /// The lowest throughput per second.
        throughput_per_s: f64,
    },
    /// Many requests failed, and response times of failed requests are not those of successful requests.
    ManyErrors {
        /// The measurement.
        point: String,
        /// Share of failed requests, 0 to 1.
        share: f64,
    },
    /// Values of a measurement are missing or not positive.
    NotUsable {
        /// The measurement.
        point: String,
    },
    /// Several users of a run have the same name.
    NamesShared {
        /// The measurement.
        point: String,
        /// Share of requests that started before the previous request with the same user name ended; 0 to 1.
        share: f64,
    },
    /// The load was open: users did not wait for responses, and N is undefined.
    OpenLoad {
        /// The measurement.
        point: String,
    },
    /// There are too few measurements for a fit with intervals.
    FewPoints {
        /// The number of distinct numbers of users.
        loads: usize,
        /// The minimum for a fit.
        wanted: usize,
    },
    /// There are fewer points than recommended for the Universal Scalability Law.
    FewForUsl {
        /// The number of points.
        points: usize,
    },
    /// No measurement is near saturation.
    NotNearSaturation {
        /// The highest utilization of the bottleneck in the model, 0 to 1.
        utilization: f64,
    },
    /// Models with very different capacities describe the measurements about equally well.
    CapacityNotDetermined {
        /// The highest measured throughput divided by the estimated capacity.
        reached: f64,
        /// Lower end of the capacity per second.
        low_per_s: f64,
        /// Upper end; `None` if unbounded.
        high_per_s: Option<f64>,
    },
    /// The fitted service times are more variable than is plausible.
    ImplausibleVariability {
        /// The fitted c².
        scv: f64,
    },
    /// The Universal Scalability Law describes the throughputs better than the queueing model.
    ScalabilityLawFitsBetter {
        /// Root mean square of the relative errors of the model's throughputs.
        queue_off: f64,
        /// Root mean square of the relative errors of the law's throughputs.
        law_off: f64,
    },
    /// All measurements are saturated, so the response time of a single user is unknown.
    AllSaturated,
    /// The resource has a utilization that is not caused by requests.
    BackgroundLoad {
        /// The resource.
        resource: String,
        /// The utilization without load, 0 to 1.
        share: f64,
    },
    /// The fitted curve is far from a measurement.
    PoorFit {
        /// The measurement.
        point: String,
        /// The measured quantity.
        what: String,
        /// The relative error of the curve.
        off: f64,
    },
    /// Several models fit about equally well.
    OthersFitToo {
        /// Descriptions of the other models.
        models: Vec<String>,
    },
    /// κ is 0: the fitted throughput does not decrease.
    NoCoherency,
    /// The precision of the measurements is unknown.
    NoStandardErrors,
}

/// A finding with its message and advice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: CapacityFinding,
    /// The severity.
    pub weight: FindingSeverity,
    /// The message.
    pub message: String,
    /// The recommended action.
    pub advice: String,
}

impl From<CapacityFinding> for ReportedFinding {
    fn from(finding: CapacityFinding) -> ReportedFinding {
        ReportedFinding {
            weight: finding.weight(),
            message: finding.to_string(),
            advice: finding.advice().to_owned(),
            finding,
        }
    }
}

impl CapacityFinding {
    /// The severity.
    #[must_use]
    pub fn weight(&self) -> FindingSeverity {
        use CapacityFinding as F;
        match self {
            F::SamplesAsUsers { .. }
            | F::SeveralGenerators { .. }
            | F::WrongPopulation { .. }
            | F::OverUtilized { .. }
            | F::LittleViolated { .. }
            | F::BeyondCapacity { .. }
            | F::NotUsable { .. } => FindingSeverity::Contradiction,
            F::ThinkTimeUnknown
            | F::ThroughputFalls { .. }
            | F::ManyErrors { .. }
            | F::NamesShared { .. }
            | F::OpenLoad { .. }
            | F::FewPoints { .. }
            | F::FewForUsl { .. }
            | F::NotNearSaturation { .. }
            | F::CapacityNotDetermined { .. }
            | F::ImplausibleVariability { .. }
            | F::ScalabilityLawFitsBetter { .. }
            | F::AllSaturated
            | F::PoorFit { .. } => FindingSeverity::Doubt,
            F::ThinkTimesDiffer { .. }
            | F::BackgroundLoad { .. }
            | F::OthersFitToo { .. }
            | F::NoCoherency
            | F::NoStandardErrors => FindingSeverity::Note,
        }
    }

    /// The recommended action.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        use CapacityFinding as F;
        match self {
            F::SamplesAsUsers { .. } => {
                "enter the number of users (threads of all generators), not the number of samples"
            }
            F::SeveralGenerators { .. } => {
                "probably several generators ran the plan, each with all its users; the model is fitted to the total number \
                 of users, and predictions are for the total"
            }
            F::WrongPopulation { .. } => {
                "check the number of users and the think time; --users-by-law uses X(R + Z) as N"
            }
            F::ThinkTimeUnknown => "give the think time: --think 700ms, or a column think_ms",
            F::ThinkTimesDiffer { .. } => {
                "each measurement is fitted with its own think time; curves and bounds are drawn for the median"
            }
            F::OverUtilized { .. } => {
                "divide by the number of processors, and check that the utilization was recorded during the run"
            }
            F::LittleViolated { .. } => {
                "check that the number of requests in the system was counted for the same requests and the same time as \
                 throughput and response time"
            }
            F::BeyondCapacity { .. } => {
                "a service demand is too large, or the throughput counts other requests"
            }
            F::ThroughputFalls { .. } => {
                "queues alone cannot cause this: check for errors, locks, lack of memory or a saturated generator; \
                 --model usl describes the decrease, and a queueing model is fitted to the measurements before it"
            }
            F::ManyErrors { .. } => {
                "the measurement is excluded from the fit; a higher --errors-max includes it"
            }
            F::NotUsable { .. } => {
                "users, throughput and response time must be numbers greater than 0; the measurement is excluded from the \
                 fit"
            }
            F::NamesShared { .. } => {
                "several generators wrote the log, so it contains the number of users of only one of them; use a file of \
                 points with the total number of users, or merge the logs with distinct thread names"
            }
            F::OpenLoad { .. } => {
                "a closed model describes users who wait for each response; the measurement is excluded from the fit"
            }
            F::FewPoints { .. } => {
                "the highest measured throughput is used as the capacity, without an interval; measure at more loads, below \
                 and above the knee"
            }
            F::FewForUsl { .. } => {
                "with so few points the three parameters follow the noise; measure at more loads"
            }
            F::NotNearSaturation { .. } => {
                "the capacity is extrapolated; it is certain only that it exceeds the highest measured throughput; measure \
                 with more users"
            }
            F::CapacityNotDetermined { .. } => {
                "measure with more users, beyond the knee; if known, --servers and --service-cv narrow the interval"
            }
            F::ImplausibleVariability { .. } => {
                "the model does not describe some effect: locks, a cache, errors, or several kinds of requests; check \
                 whether --model usl describes the measurements, and measure at more loads"
            }
            F::ScalabilityLawFitsBetter { .. } => {
                "users delay each other in ways other than queueing, such as by locks; see --model usl, and do not rely on \
                 the capacity of this model"
            }
            F::AllSaturated => "measure with fewer users, too: the curve below the knee is extrapolated",
            F::BackgroundLoad { .. } => {
                "the demand of requests excludes this background; check which other processes use the resource"
            }
            F::PoorFit { .. } => "the model does not describe this measurement; check the run",
            F::OthersFitToo { .. } => {
                "the intervals cover all of them; more measurements near and beyond the knee distinguish them"
            }
            F::NoCoherency => "Amdahl's law is sufficient; there may be a peak beyond the measured range",
            F::NoStandardErrors => {
                "all points have equal weight, and there is no verdict on a comparison; run directories and JTLs contain \
                 standard errors, files of points may have throughput_se and response_se_ms"
            }
        }
    }
}

impl fmt::Display for CapacityFinding {
    #[expect(clippy::too_many_lines, reason = "a table of messages")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use CapacityFinding as F;
        match self {
            F::SamplesAsUsers { point, users, users_by_law, seconds } => write!(
                f,
                "{point}: {} users are impossible: X(R + Z) is {}, {} times fewer. {} is the number of samples in {} s: \
                 samples were entered as users",
                number(*users),
                number(*users_by_law),
                (users / users_by_law).round(),
                number(*users),
                seconds.round()
            ),
            F::SeveralGenerators { times, ratios } => {
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let most = ratios.iter().copied().fold(0.0, f64::max);
                let times = match times {
                    2 => "twice".to_owned(),
                    times => format!("{times} times"),
                };
                if most - least < 0.005 {
                    write!(f, "about {times} the stated number of users ran: X(R + Z) is {least:.2} N")
                } else {
                    write!(
                        f,
                        "about {times} the stated number of users ran: X(R + Z) is {least:.2} to {most:.2} N"
                    )
                }
            }
            F::WrongPopulation { point, users, users_by_law } => write!(
                f,
                "{point}: {} users are stated, but X(R + Z) is {}, {:.2} times as many",
                number(*users),
                number(*users_by_law),
                users_by_law / users
            ),
            F::ThinkTimeUnknown => f.write_str(
                "the think time is unknown, so N = X(R + Z) cannot be checked; Z is estimated as N/X − R",
            ),
            F::ThinkTimesDiffer { least_s, most_s } => {
                write!(f, "think times differ between measurements: {} to {}", time(*least_s), time(*most_s))
            }
            F::OverUtilized { point, resource, share } => write!(
                f,
                "{point}: {resource} is busy for {:.1} % of the time, which is impossible",
                share * 100.0
            ),
            F::LittleViolated { point, in_system, by_law } => write!(
                f,
                "{point}: {} requests were counted in the system, but by Little's law there are X·R = {}",
                number(*in_system),
                number(*by_law)
            ),
            F::BeyondCapacity { point, throughput_per_s, capacity_per_s } => write!(
                f,
                "{point}: the measured throughput of {throughput_per_s:.1}/s exceeds the capacity of the model \
                 (1/D_max), {capacity_per_s:.1}/s"
            ),
            F::ThroughputFalls { peak, peak_per_s, point, throughput_per_s } => write!(
                f,
                "the throughput decreases with more users: from {peak_per_s:.1}/s ({peak}) to {throughput_per_s:.1}/s ({point})"
            ),
            F::ManyErrors { point, share } => {
                write!(f, "{point}: {:.1} % of the requests failed", share * 100.0)
            }
            F::NotUsable { point } => write!(f, "{point}: a number is missing or not greater than 0"),
            F::NamesShared { point, share } => write!(
                f,
                "{point}: {:.1} % of the requests started before the previous request with the same user name ended",
                share * 100.0
            ),
            F::OpenLoad { point } => write!(f, "{point}: the load was open"),
            F::FewPoints { loads, wanted } => write!(
                f,
                "throughput and response time are known for only {loads} {} of users; a fit with intervals needs {wanted}",
                if *loads == 1 { "number" } else { "numbers" }
            ),
            F::FewForUsl { points } => {
                write!(f, "the law is fitted to {points} points; at least six are recommended")
            }
            F::NotNearSaturation { utilization } => write!(
                f,
                "no measurement is near saturation: in the model the bottleneck was busy for at most {:.0} % of the time",
                utilization * 100.0
            ),
            F::CapacityNotDetermined { reached, low_per_s, high_per_s } => {
                write!(
                    f,
                    "the loads do not determine the capacity: the highest measured throughput is {:.0} % of the estimate, and \
                     the capacity of models that fit equally well is ",
                    reached * 100.0
                )?;
                match high_per_s {
                    Some(high_per_s) => write!(f, "{} to {}/s", rate(*low_per_s), rate(*high_per_s)),
                    None => write!(f, "{}/s or more, without limit", rate(*low_per_s)),
                }
            }
            F::ImplausibleVariability { scv } => write!(
                f,
                "the model needs service times with a c² of {scv:.1} (standard deviation {:.1} times the mean)",
                scv.sqrt()
            ),
            F::ScalabilityLawFitsBetter { queue_off, law_off } => write!(
                f,
                "the Universal Scalability Law describes the throughputs better: its error is {:.1} % (root mean square), \
                 that of the queueing model {:.1} %",
                law_off * 100.0,
                queue_off * 100.0
            ),
            F::AllSaturated => f.write_str("all measurements are saturated"),
            F::BackgroundLoad { resource, share } => {
                write!(f, "{resource} is busy for {:.1} % of the time without requests", share * 100.0)
            }
            F::PoorFit { point, what, off } => {
                write!(f, "{point}: the error of the model's {what} is {:+.0} %", off * 100.0)
            }
            F::OthersFitToo { models } => {
                write!(f, "the measurements do not rule out: {}", models[..models.len().min(4)].join("; "))?;
                match models.len().saturating_sub(4) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
            F::NoCoherency => f.write_str("κ is 0: the measurements show no coherency cost"),
            F::NoStandardErrors => f.write_str("the precision of the measurements is unknown"),
        }
    }
}

/// Formats a number of users or requests: with one decimal if it is less than 100 and not an integer.
fn number(value: f64) -> String {
    if value.fract().abs() < 1e-9 || value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn rate(per_s: f64) -> String {
    if per_s < 9.995 { format!("{per_s:.2}") } else { format!("{per_s:.1}") }
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}
