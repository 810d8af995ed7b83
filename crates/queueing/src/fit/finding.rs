//! Findings about measurements and fits, each with its advice.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Information.
    Note,
    /// The result may mislead.
    Doubt,
    /// The measurements contradict a law that holds for every system: something was entered or measured wrongly.
    Contradiction,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CapacityFinding {
    /// The number of users is a count of samples: N is some hundred times X(R + Z).
    SamplesAsUsers {
        /// Which measurement.
        point: String,
        /// What was entered as N.
        users: f64,
        /// X(R + Z).
        users_by_law: f64,
        /// N over X, the seconds in which so many samples are made.
        seconds: f64,
    },
    /// The same whole multiple of the stated users ran, in all measurements: several generators ran the plan.
    SeveralGenerators {
        /// The multiple.
        times: u32,
        /// X(R + Z)/N of each measurement.
        ratios: Vec<f64>,
    },
    /// N and X(R + Z) differ.
    WrongPopulation {
        /// Which measurement.
        point: String,
        /// The stated users.
        users: f64,
        /// X(R + Z).
        users_by_law: f64,
    },
    /// The think time is unknown, so the law of the whole loop cannot be checked.
    ThinkTimeUnknown,
    /// Measurements have different think times.
    ThinkTimesDiffer {
        /// The least in seconds.
        least_s: f64,
        /// The largest in seconds.
        most_s: f64,
    },
    /// The utilization of a resource exceeds 1.
    OverUtilized {
        /// Which measurement.
        point: String,
        /// Which resource.
        resource: String,
        /// Its utilization.
        share: f64,
    },
    /// The number of requests in the system is not X·R.
    LittleViolated {
        /// Which measurement.
        point: String,
        /// As it was counted.
        in_system: f64,
        /// X·R.
        by_law: f64,
    },
    /// More was measured than 1/D_max allows.
    BeyondCapacity {
        /// Which measurement.
        point: String,
        /// The measured throughput per second.
        throughput_per_s: f64,
        /// 1/D_max.
        capacity_per_s: f64,
    },
    /// Throughput falls with more users.
    ThroughputFalls {
        /// The measurement with the most.
        peak: String,
        /// The most throughput per second.
        peak_per_s: f64,
        /// The measurement with the least behind it.
        point: String,
        /// Its throughput per second.
        throughput_per_s: f64,
    },
    /// Requests failed: what they took is not what requests take.
    ManyErrors {
        /// Which measurement.
        point: String,
        /// Failed ones, 0 to 1.
        share: f64,
    },
    /// Values of a measurement are missing or not positive.
    NotUsable {
        /// Which measurement.
        point: String,
    },
    /// Users of a run have the same names.
    NamesShared {
        /// Which measurement.
        point: String,
        /// Requests that began before the one before them, by the same name, had ended; 0 to 1.
        share: f64,
    },
    /// The load was open: users did not wait, and N is undefined.
    OpenLoad {
        /// Which measurement.
        point: String,
    },
    /// Too few measurements for a fit with intervals.
    FewPoints {
        /// Different numbers of users that can be used.
        loads: usize,
        /// The number that a fit needs.
        wanted: usize,
    },
    /// Fewer points than the Universal Scalability Law needs.
    FewForUsl {
        /// How many there are.
        points: usize,
    },
    /// No measurement is near saturation.
    NotNearSaturation {
        /// The largest utilization of the bottleneck by the model, 0 to 1.
        utilization: f64,
    },
    /// Models and capacities that differ much describe the measurements as well.
    CapacityNotDetermined {
        /// The best measured throughput over the estimated capacity.
        reached: f64,
        /// Lower end of the capacity per second.
        low_per_s: f64,
        /// Upper end; `None` if unbounded.
        high_per_s: Option<f64>,
    },
    /// The fitted service times vary more than those of a service do.
    ImplausibleVariability {
        /// The fitted c².
        scv: f64,
    },
    /// The Universal Scalability Law describes the throughputs better than the model of queues.
    ScalabilityLawFitsBetter {
        /// Root mean square of what the model's throughputs are off by, as a share.
        queue_off: f64,
        /// The same of the law.
        law_off: f64,
    },
    /// All measurements are saturated: how long a lonely user waits is not known.
    AllSaturated,
    /// The system's utilization has a part that no request makes.
    BackgroundLoad {
        /// Which resource.
        resource: String,
        /// The utilization without load, 0 to 1.
        share: f64,
    },
    /// The fitted curve is far from a measurement.
    PoorFit {
        /// Which measurement.
        point: String,
        /// What is off.
        what: String,
        /// By how much, as a share of the measured value.
        off: f64,
    },
    /// Several models fit about as well.
    OthersFitToo {
        /// Which.
        models: Vec<String>,
    },
    /// κ is 0: nothing falls within what was measured.
    NoCoherency,
    /// Precision of the measurements is unknown.
    NoStandardErrors,
}

/// A finding in words, with what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: CapacityFinding,
    /// How much it weighs.
    pub weight: Weight,
    /// In words.
    pub message: String,
    /// What to do.
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
    /// How much it weighs.
    #[must_use]
    pub fn weight(&self) -> Weight {
        use CapacityFinding as F;
        match self {
            F::SamplesAsUsers { .. }
            | F::SeveralGenerators { .. }
            | F::WrongPopulation { .. }
            | F::OverUtilized { .. }
            | F::LittleViolated { .. }
            | F::BeyondCapacity { .. }
            | F::NotUsable { .. } => Weight::Contradiction,
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
            | F::PoorFit { .. } => Weight::Doubt,
            F::ThinkTimesDiffer { .. }
            | F::BackgroundLoad { .. }
            | F::OthersFitToo { .. }
            | F::NoCoherency
            | F::NoStandardErrors => Weight::Note,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        use CapacityFinding as F;
        match self {
            F::SamplesAsUsers { .. } => {
                "enter the number of users (threads of all generators), not that of samples"
            }
            F::SeveralGenerators { .. } => {
                "that is what happens when as many generators run the plan with all its users each; the model counts all \
                 of them, and predictions are for all of them together"
            }
            F::WrongPopulation { .. } => {
                "find out how many users really ran, or how long they really thought; --users-by-law takes X(R + Z) for N"
            }
            F::ThinkTimeUnknown => "give the think time: --think 700ms, or a column think_ms",
            F::ThinkTimesDiffer { .. } => {
                "each measurement is fitted with its own think time; curves and bounds are drawn for the median"
            }
            F::OverUtilized { .. } => {
                "divide by the number of processors, and see that the probe and the run are of the same time"
            }
            F::LittleViolated { .. } => {
                "the count is of another place or another time than the throughput and the response time"
            }
            F::BeyondCapacity { .. } => {
                "a service demand is too large, or the throughput counts something else"
            }
            F::ThroughputFalls { .. } => {
                "a queue never does that: look for errors, locks, memory or a generator at its limit; --model usl \
                 describes the fall, and a queueing model is fitted to the part before it"
            }
            F::ManyErrors { .. } => "it is left out of the fit; --errors-max admits it",
            F::NotUsable { .. } => {
                "users, throughput and response time must be numbers above 0; it is left out"
            }
            F::NamesShared { .. } => {
                "several generators wrote the log, so the number of users in it is that of one of them; give a file of \
                 points with all users, or merge the logs with distinct thread names"
            }
            F::OpenLoad { .. } => "a closed model describes users who wait for each response; it is left out",
            F::FewPoints { .. } => {
                "the largest throughput is taken for the capacity, without an interval; measure at more numbers of users, \
                 below and above the knee"
            }
            F::FewForUsl { .. } => {
                "three parameters follow the noise of so few points; measure at more numbers of users"
            }
            F::NotNearSaturation { .. } => {
                "the capacity is extrapolated: only that it is above the largest measured throughput is sure; measure \
                 with more users"
            }
            F::CapacityNotDetermined { .. } => {
                "measure with more users, past the knee; --servers and --service-cv narrow the interval where they are known"
            }
            F::ImplausibleVariability { .. } => {
                "the model lacks something: locks, a cache, errors, or several kinds of requests; see whether --model usl \
                 describes the measurements, and measure at more loads"
            }
            F::ScalabilityLawFitsBetter { .. } => {
                "users delay each other in a way that queues do not describe, such as locks; see --model usl, and do not \
                 rely on the capacity of this model"
            }
            F::AllSaturated => "measure with fewer users, too: the curve below the knee is extrapolated",
            F::BackgroundLoad { .. } => {
                "the demand is that of a request without it; see what else runs there"
            }
            F::PoorFit { .. } => "the model lacks something there: look at that run",
            F::OthersFitToo { .. } => {
                "the intervals cover all of them; more measurements near and past the knee distinguish them"
            }
            F::NoCoherency => "Amdahl's law is enough; a peak may be beyond the measured range",
            F::NoStandardErrors => {
                "all points have equal weight, and a comparison cannot be judged; run directories and JTLs contain standard errors, files \
                 of points may have throughput_se and response_se_ms"
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
                "{point}: {} users cannot be: X(R + Z) is {}, {} times fewer. {} is the number of samples of {} s: \
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
                    write!(f, "about {times} the stated users ran: X(R + Z) is {least:.2} N")
                } else {
                    write!(f, "about {times} the stated users ran: X(R + Z) is {least:.2} to {most:.2} N")
                }
            }
            F::WrongPopulation { point, users, users_by_law } => write!(
                f,
                "{point}: {} users are stated, but X(R + Z) is {}: {:.2} times that",
                number(*users),
                number(*users_by_law),
                users_by_law / users
            ),
            F::ThinkTimeUnknown => f.write_str(
                "the think time is unknown, so it cannot be checked whether N is X(R + Z); Z is taken as what that law leaves, N/X − R",
            ),
            F::ThinkTimesDiffer { least_s, most_s } => {
                write!(f, "think times differ between measurements: {} to {}", time(*least_s), time(*most_s))
            }
            F::OverUtilized { point, resource, share } => write!(
                f,
                "{point}: {resource} is busy for {:.1} % of the time: more than all of it cannot be",
                share * 100.0
            ),
            F::LittleViolated { point, in_system, by_law } => write!(
                f,
                "{point}: {} requests were counted in the system, but X·R is {}",
                number(*in_system),
                number(*by_law)
            ),
            F::BeyondCapacity { point, throughput_per_s, capacity_per_s } => write!(
                f,
                "{point}: {throughput_per_s:.1}/s were measured, but 1/D_max is {capacity_per_s:.1}/s"
            ),
            F::ThroughputFalls { peak, peak_per_s, point, throughput_per_s } => write!(
                f,
                "throughput falls with more users: from {peak_per_s:.1}/s ({peak}) to {throughput_per_s:.1}/s ({point})"
            ),
            F::ManyErrors { point, share } => {
                write!(f, "{point}: {:.1} % of the requests failed", share * 100.0)
            }
            F::NotUsable { point } => write!(f, "{point}: a number is missing, or not above 0"),
            F::NamesShared { point, share } => write!(
                f,
                "{point}: {:.1} % of the requests began before the one before them, by the same user's name, had ended",
                share * 100.0
            ),
            F::OpenLoad { point } => write!(f, "{point}: the load was open"),
            F::FewPoints { loads, wanted } => write!(
                f,
                "{loads} {} of users with throughput and response time, and a fit with intervals needs {wanted}",
                if *loads == 1 { "number" } else { "numbers" }
            ),
            F::FewForUsl { points } => {
                write!(f, "the law is fitted to {points} points; six at least are wanted")
            }
            F::NotNearSaturation { utilization } => write!(
                f,
                "no measurement is near saturation: by the model the bottleneck was busy for {:.0} % at most",
                utilization * 100.0
            ),
            F::CapacityNotDetermined { reached, low_per_s, high_per_s } => {
                write!(
                    f,
                    "the loads do not determine the capacity: the highest reached {:.0} % of the estimate, and models that \
                     describe them as well have ",
                    reached * 100.0
                )?;
                match high_per_s {
                    Some(high_per_s) => write!(f, "{} to {}/s", rate(*low_per_s), rate(*high_per_s)),
                    None => write!(f, "{}/s or any more", rate(*low_per_s)),
                }
            }
            F::ImplausibleVariability { scv } => write!(
                f,
                "the model needs service times with a c² of {scv:.1} (standard deviation {:.1} times the mean)",
                scv.sqrt()
            ),
            F::ScalabilityLawFitsBetter { queue_off, law_off } => write!(
                f,
                "the Universal Scalability Law describes the throughputs better: it is off by {:.1} % (root mean square), \
                 the model of queues by {:.1} %",
                law_off * 100.0,
                queue_off * 100.0
            ),
            F::AllSaturated => f.write_str("every measurement is saturated"),
            F::BackgroundLoad { resource, share } => {
                write!(f, "{resource} is busy for {:.1} % of the time without any request", share * 100.0)
            }
            F::PoorFit { point, what, off } => {
                write!(f, "{point}: the model's {what} is {:+.0} % off", off * 100.0)
            }
            F::OthersFitToo { models } => {
                write!(f, "the measurements do not rule out: {}", models[..models.len().min(4)].join("; "))?;
                match models.len().saturating_sub(4) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
            F::NoCoherency => f.write_str("κ is 0: nothing shows that users cost each other in pairs"),
            F::NoStandardErrors => f.write_str("how precise the measurements are is not known"),
        }
    }
}

/// A number of users or requests: whole, or with a digit behind the point when small.
fn number(value: f64) -> String {
    if value.fract().abs() < 1e-9 || value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn rate(per_s: f64) -> String {
    if per_s < 9.995 { format!("{per_s:.2}") } else { format!("{per_s:.1}") }
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}
