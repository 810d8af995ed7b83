//! The statements of a report as data: each has its estimate, interval, test and assumptions, and the conclusions that
//! it does not support. A program can therefore quote results with their limitations.

use busyhour_analysis::arrivals::{ArrivalVerdict, Quantity};
use busyhour_analysis::explanation::{Basis, Cause};
use busyhour_analysis::server_log::{ServerArrivals, ServerLog};
use busyhour_analysis::{Caveat, Summary, generator_mark};
use busyhour_stacks::StackDifference;
use busyhour_stats::{CONFIDENCE, Estimate};
use serde::Serialize;

use crate::headline::headline;
use crate::incident_lines::incident_line;
use crate::numbers::{ms, percent, thousands};

/// One run does not show how much runs differ.
const ONE_RUN: &str = "one run does not show the variation between runs; repeat it and use busyhour compare";

/// A statement of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// Kind of the statement: `result`, `errors`, `percentile`, `arrivals`, `generator`, `incident`, `cause`, `stacks`,
    /// `saturation`, `server-log`, `threshold`.
    pub kind: &'static str,
    /// The statement.
    pub sentence: String,
    /// The value that is stated; `null` for statements in words.
    pub estimate: Option<f64>,
    /// Unit of the estimate and of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The confidence interval; `null` if there is none.
    pub interval: Option<ClaimInterval>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<&'static str>,
    /// The test behind the statement; `null` for descriptions.
    pub test: Option<&'static str>,
    /// The p value of the test.
    pub p: Option<f64>,
    /// The p value after correction for the number of tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// Number of requests, arrivals or windows behind the statement.
    pub n: Option<u64>,
    /// What must be true for the interval and the test.
    pub assumptions: Vec<&'static str>,
    /// What does not follow from the statement.
    pub does_not_imply: Vec<&'static str>,
    /// The page of the documentation with the method and its error rates.
    pub method: &'static str,
    /// JSON pointer to the data in this file (RFC 6901).
    pub data: String,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClaimInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end; `null` if there is no upper bound.
    pub high: Option<f64>,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
}

impl From<Estimate> for ClaimInterval {
    fn from(estimate: Estimate) -> ClaimInterval {
        ClaimInterval { low: estimate.low, high: Some(estimate.high), confidence: estimate.confidence }
    }
}

impl Claim {
    fn new(kind: &'static str, sentence: String, method: &'static str, data: impl Into<String>) -> Claim {
        Claim {
            kind,
            sentence,
            estimate: None,
            unit: None,
            interval: None,
            no_interval: None,
            test: None,
            p: None,
            p_adjusted: None,
            n: None,
            assumptions: Vec::new(),
            does_not_imply: Vec::new(),
            method,
            data: data.into(),
        }
    }

    fn estimate(mut self, value: f64, unit: &'static str) -> Claim {
        (self.estimate, self.unit) = (Some(value), Some(unit));
        self
    }
}

/// `summary.json`: the summary, and its statements as `claims`.
#[must_use]
pub fn summary_json(summary: &Summary) -> String {
    // The summary is a JSON object in one line.
    let mut text = summary.to_json();
    let claims = serde_json::to_string(&claims(summary)).unwrap_or_default();
    if let Some(end) = text.rfind('}') {
        text.truncate(end);
        text.push_str(",\"claims\":");
        text.push_str(&claims);
        text.push_str("}\n");
    }
    text
}

/// All statements of the report of a run, in the order of the report.
#[must_use]
pub fn claims(summary: &Summary) -> Vec<Claim> {
    let mut claims = vec![result(summary)];
    if summary.total.samples > 0 {
        claims.push(errors(summary));
        claims.extend(percentiles(summary));
    }
    claims.extend(cause(summary));
    claims.extend(summary.stacks.iter().enumerate().map(|(at, found)| stacks(at, found)));
    claims.extend(saturation(summary));
    claims.push(generator(summary));
    let shown = summary.shown_arrivals().iter().enumerate();
    claims.extend(shown.map(|(at, verdict)| arrivals(at, verdict)));
    claims.extend(summary.server_log.as_ref().map(server_log));
    claims.extend(summary.incidents.iter().enumerate().map(|(at, incident)| {
        let mut claim = Claim::new(
            "incident",
            format!("Incident: {}.", incident_line(incident)),
            "docs/reports.md#incidents",
            format!("/incidents/{at}"),
        );
        claim.test = Some("scan of the seconds for changes of p95, errors and rate, with fixed limits");
        claim.assumptions = vec!["without a cause, the level does not drift for tens of seconds"];
        claim.does_not_imply = vec!["a cause"];
        claim
    }));
    claims.extend(summary.thresholds.iter().enumerate().map(|(at, threshold)| {
        let words = match threshold.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "could not be evaluated",
        };
        let sentence =
            format!("Threshold {} {words}: {}.", threshold.criterion, threshold.describe_observed());
        let mut claim = Claim::new("threshold", sentence, "docs/thresholds.md", format!("/thresholds/{at}"));
        claim.estimate = threshold.observed;
        claim.no_interval = Some(ONE_RUN);
        claim.n = Some(threshold.windows);
        claim.does_not_imply = vec!["that another run passes or fails, too"];
        claim
    }));
    claims
}

fn result(summary: &Summary) -> Claim {
    let mut claim = Claim::new("result", headline(summary), "docs/reports.md", "/total")
        .estimate(summary.total.rate_per_s, "requests/s");
    claim.no_interval = Some(ONE_RUN);
    claim.n = Some(summary.total.samples);
    claim.does_not_imply = vec![
        "response times at another load",
        "the capacity of the system: a completed rate below the limit is the offered one",
    ];
    claim
}

fn errors(summary: &Summary) -> Claim {
    let total = &summary.total;
    let sentence = format!(
        "{} of {} requests failed ({} %).",
        thousands(total.errors),
        thousands(total.samples),
        percent(total.error_percent)
    );
    let mut claim = Claim::new("errors", sentence, "docs/reports.md", "/total/error_percent")
        .estimate(total.error_percent, "%");
    claim.no_interval = Some("failures of one run depend on each other");
    claim.n = Some(total.samples);
    claim.does_not_imply =
        vec!["that responses without an error were correct, unless assertions checked them"];
    claim
}

fn percentiles(summary: &Summary) -> Vec<Claim> {
    let times = &summary.total.response;
    let few = summary.caveats.iter().find_map(|reported| match reported.caveat {
        Caveat::FewSamplesBeyond(interval) => Some(interval),
        _ => None,
    });
    [("50", "p50", times.p50), ("95", "p95", times.p95), ("99", "p99", times.p99)]
        .into_iter()
        .map(|(percent, name, value)| {
            let sentence = format!(
                "{percent} % of the requests took at most {} ms from their intended start.",
                ms(value)
            );
            let data = format!("/total/response/{name}");
            let mut claim = Claim::new("percentile", sentence, "docs/reports.md", data).estimate(value, "ms");
            claim.n = Some(summary.total.samples);
            match few.filter(|few| percent.parse() == Ok(few.percentile)) {
                Some(few) => {
                    let (low, high) = (few.lower_ms, few.upper_ms);
                    claim.interval = Some(ClaimInterval { low, high, confidence: CONFIDENCE });
                    claim.assumptions = vec!["requests are independent of each other"];
                }
                None => claim.no_interval = Some(ONE_RUN),
            }
            claim.does_not_imply = vec![
                "the percentile of a single label or of another load",
                "the experience of a user, who sends several requests",
            ];
            claim
        })
        .collect()
}

/// The test of a cause against all requests.
const SHIFTS: &str = "circular shifts of the cause against ranks of response times, Holm over causes";

fn cause(summary: &Summary) -> Option<Claim> {
    let explanation = summary.explanation.as_ref()?;
    let sentence = explanation.sentence.clone();
    let mut claim = Claim::new("cause", sentence, "docs/explanations.md", "/explanation");
    claim.n = Some(summary.total.samples);
    claim.does_not_imply = if explanation.cause == Cause::None {
        vec![
            "that none of the causes in /explanation/not_examined was present",
            "that the system has no bottleneck",
        ]
    } else {
        vec![
            "causation: the evidence is an association in time; /explanation/next names the measurement that decides",
        ]
    };
    if let Some(evidence) = explanation.main() {
        claim.estimate = Some(evidence.share);
        claim.unit = Some(match evidence.basis {
            Basis::Timing | Basis::Incidents => {
                "share of the time above the median, or of the requests beyond p95"
            }
            Basis::Level => "share of the mean response time",
        });
        claim.no_interval = Some("the share is an estimate without an interval");
        (claim.p, claim.p_adjusted) = (evidence.p, evidence.p_adjusted);
        claim.test = match (evidence.basis, evidence.p) {
            (Basis::Timing, _) => Some(SHIFTS),
            (Basis::Incidents, _) => Some("circular shifts of the incidents against the level of the cause"),
            // The claim does not depend on the test.
            (Basis::Level, p) => p.map(|_| SHIFTS),
        };
        claim.assumptions = match evidence.basis {
            Basis::Timing | Basis::Incidents => vec![
                "cause and response times would be unrelated after a shift in time",
                "the clocks of the sources differ by less than their interval",
            ],
            Basis::Level => vec![
                "Little's law: the mean number of waiting requests, divided by the rate, is the mean waiting time",
                "only the requests of the run wait, and each one in one place at a time",
            ],
        };
    }
    Some(claim)
}

fn stacks(at: usize, found: &StackDifference) -> Claim {
    let sentence = format!("{}.", found.sentence);
    let mut claim = Claim::new("stacks", sentence, "docs/stack-samples.md", format!("/stacks/{at}"));
    claim.n = Some(found.dumps_slow + found.dumps_fast);
    claim.test =
        Some("circular shifts of the slow windows against the shares of threads per frame, Holm over frames");
    claim.assumptions = vec![
        "stacks and slow windows would be unrelated after a shift in time",
        "frames are seen at safepoints",
    ];
    claim.does_not_imply = vec!["causation: the evidence is an association in time", "a share of CPU time"];
    match found.frames.first() {
        Some(frame) => {
            claim.estimate = Some(frame.share_slow - frame.share_fast);
            claim.unit =
                Some("share of the threads with the first frame, in slow windows minus in the others");
            claim.interval = Some(ClaimInterval {
                low: frame.difference_low,
                high: Some(frame.difference_high),
                confidence: CONFIDENCE,
            });
            claim.p_adjusted = Some(frame.p_adjusted);
        }
        None => claim.no_interval = Some("no frame is known to differ"),
    }
    claim
}

fn saturation(summary: &Summary) -> Option<Claim> {
    let found = summary.saturation.as_ref()?;
    let mut claim = Claim::new(
        "saturation",
        found.sentence.clone(),
        "docs/explanations.md#what-saturates-first",
        "/saturation",
    );
    claim.n = Some(summary.total.samples);
    claim.does_not_imply = vec![
        "the largest load that meets a threshold: response times grow before a resource is saturated",
        "the use of resources that were not observed, such as locks",
    ];
    if let Some(first) = found.resources.first()
        && let Some(at) = first.saturation_per_s
    {
        claim = claim.estimate(at, "requests/s");
        match first.interval_per_s {
            Some((low, high)) => claim.interval = Some(ClaimInterval { low, high, confidence: CONFIDENCE }),
            None => claim.no_interval = Some("the measured part is too short"),
        }
        claim.assumptions = vec![
            "the use of the resource grows in proportion to the load, also beyond the observed one",
            "the mix of requests stays the same",
        ];
    }
    Some(claim)
}

fn generator(summary: &Summary) -> Claim {
    let mark = generator_mark(summary);
    let reasons =
        if mark.reasons.is_empty() { String::new() } else { format!(": {}", mark.reasons.join("; ")) };
    let sentence = format!("Generator: {}{reasons}.", mark.words);
    let mut claim = Claim::new("generator", sentence, "docs/offered-load.md", "/run/generator");
    claim.does_not_imply = vec!["anything about the network between generator and system"];
    claim
}

fn arrivals(at: usize, verdict: &ArrivalVerdict) -> Claim {
    let data = format!("/arrivals/{at}");
    let of = verdict.of.as_ref().map_or_else(String::new, |of| format!(" of {of}"));
    let line = verdict.line.trim_end_matches('.');
    let sentence = format!("Arrivals{of}: {}.", line.strip_prefix("Arrivals: ").unwrap_or(line));
    let mut claim = Claim::new("arrivals", sentence, "docs/offered-load.md#the-verdict", data);
    claim.n = Some(verdict.observed.arrivals);
    if let Some(cov) = verdict.observed.cov {
        claim = claim.estimate(cov.value, "coefficient of variation of the gaps");
        if cov.half_width() > 0.0 {
            claim.interval = Some(cov.into());
        } else {
            claim.no_interval = Some("too few arrivals in the judged part");
        }
    }
    // The measure has no interval if it is compared with that of a schedule.
    if let Some(measure) = verdict.measures.iter().find(|measure| measure.quantity == Quantity::Cov) {
        claim.p = measure.p_value;
        claim.test =
            Some("equivalence: the intervals of all measures against bands around the requested process");
    }
    claim.assumptions = vec!["the rate is steady in the judged part (/observed/part of the data)"];
    claim.does_not_imply = vec!["arrivals at the server: they are judged where requests leave the generator"];
    claim
}

fn server_log(log: &ServerLog) -> Claim {
    let sentence = format!("{}.", log.line);
    let mut claim = Claim::new("server-log", sentence, "docs/server-log.md", "/server_log");
    let counts = log.counts;
    claim.n = Some(counts.sent);
    claim = claim
        .estimate((counts.sent - counts.arrived) as f64, "requests of the run without a line in the log");
    claim.no_interval = Some("a count, not an estimate from a sample");
    claim.assumptions = vec!["the log is that of the servers to which the requests were sent, and complete"];
    if !counts.by_id {
        claim.assumptions.push(
            "requests with the same path and status are interchangeable: they have no identifier in the log",
        );
    }
    if matches!(log.arrivals, ServerArrivals::Judged(_)) {
        claim.test = Some(
            "equivalence: the measures of arrivals at the server against bands around those that were sent",
        );
    }
    claim.does_not_imply = vec![
        "where a request was lost",
        "that a line belongs to the request that it was matched with, at a high rate",
    ];
    claim
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use busyhour_analysis::RunFacts;
    use busyhour_analysis::explanation::{Evidence, Explanation};
    use busyhour_sample::{Aggregator, Labels, Nanos, Sample, SampleOutcome, SampleTimes, TotalsSettings};

    use super::*;

    /// Two hundred requests; every tenth request failed.
    fn summary_of_few() -> Summary {
        let labels = Labels::new();
        let mut aggregator = Aggregator::new(labels.clone(), TotalsSettings::default());
        for number in 0..200u64 {
            let start = Nanos(number * 10_000_000);
            let end = Nanos(start.0 + 1_000_000 * (1 + number % 7));
            let is_ok = number % 10 > 0;
            aggregator.add(&Sample {
                label: labels.intern("shop"),
                times: SampleTimes { intended: start, start, end, ..SampleTimes::default() },
                outcome: SampleOutcome::new(if is_ok { "200" } else { "500" }, "", is_ok),
                ..Sample::default()
            });
        }
        aggregator.close_all();
        Summary::new(RunFacts::default(), &aggregator.finish(Vec::new()))
    }

    #[test]
    fn every_claim_points_to_data_and_says_what_does_not_follow() {
        let mut summary = summary_of_few();
        summary.explanation = Some(Explanation {
            cause: Cause::None,
            sentence: "None of the 4 causes that were compared goes with slow requests.".to_owned(),
            compared: 4,
            evidence: Vec::new(),
            not_examined: Vec::new(),
            next: "Take profiles.".to_owned(),
        });
        let text = summary_json(&summary);
        let json: Value = serde_json::from_str(&text).unwrap();
        let claims = json["claims"].as_array().unwrap();
        let kinds: Vec<&str> = claims.iter().filter_map(|claim| claim["kind"].as_str()).collect();
        for kind in ["result", "errors", "percentile", "cause", "generator"] {
            assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
        }
        for claim in claims {
            let pointer = claim["data"].as_str().unwrap();
            assert!(json.pointer(pointer).is_some(), "{pointer}");
            assert!(!claim["does_not_imply"].as_array().unwrap().is_empty(), "{claim}");
            let has_value = claim["estimate"].is_number();
            let is_bounded = claim["interval"].is_object() || claim["no_interval"].is_string();
            assert!(!has_value || is_bounded, "an estimate without an interval or a reason: {claim}");
            let value = json.pointer(pointer).unwrap();
            assert!(!value.is_number() || *value == claim["estimate"], "{pointer} has another value");
        }
        assert_eq!(Summary::from_json(&text).unwrap(), summary, "readers ignore the claims");
    }

    #[test]
    fn a_cause_has_the_unit_and_the_assumptions_of_its_basis() {
        let claim_of = |basis, p| {
            let mut summary = summary_of_few();
            summary.explanation = Some(Explanation {
                cause: Cause::DatabaseLock,
                sentence: "Slow requests go with locks in the database.".to_owned(),
                compared: 4,
                evidence: vec![Evidence {
                    cause: Cause::DatabaseLock,
                    holds: true,
                    basis,
                    source: "postgres".to_owned(),
                    signal: "blocked".to_owned(),
                    sentence: "requests took longer".to_owned(),
                    p,
                    p_adjusted: p,
                    share: 0.6,
                    present: 0.3,
                    windows_s: Vec::new(),
                }],
                not_examined: Vec::new(),
                next: "Repeat the run.".to_owned(),
            });
            claims(&summary).into_iter().find(|claim| claim.kind == "cause").unwrap()
        };
        let by_level = claim_of(Basis::Level, None);
        assert_eq!(by_level.unit, Some("share of the mean response time"));
        assert_eq!((by_level.test, by_level.p), (None, None));
        assert!(by_level.assumptions[0].starts_with("Little's law"), "{:?}", by_level.assumptions);
        assert_eq!(claim_of(Basis::Level, Some(0.2)).test, Some(SHIFTS), "the test behind the p value");
        let by_time = claim_of(Basis::Timing, Some(0.001));
        assert!(by_time.unit.unwrap().starts_with("share of the time above the median"));
        assert!(by_time.assumptions[0].contains("after a shift in time"), "{:?}", by_time.assumptions);
    }
}
