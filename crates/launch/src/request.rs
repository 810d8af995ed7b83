//! The request for a run.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_analysis::thresholds::Criterion;
use busyhour_arrivals::LoadShare;
use busyhour_compile::{OpenOptions, ProxyOption};
use busyhour_record::UrlPlanFacts;
use serde::{Deserialize, Serialize};

use crate::exports::ExportSettings;
use crate::properties::PropertySources;

/// The request for a run. Only [`plan`](Self::plan) is required:
///
/// ```
/// let request = busyhour_launch::RunRequest { plan: "shop.jmx".into(), ..Default::default() };
/// ```
///
/// A request can be stored and sent to another machine (`serde`); durations are in seconds and nanoseconds, arrivals and
/// thresholds in their notations. It may contain secrets, in properties and credentials of a proxy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunRequest {
    /// The plan (JMX).
    pub plan: PathBuf,
    /// The plan's text, if it is not in a file; in this case, `plan` is only its name.
    pub plan_text: Option<String>,
    /// Facts about the plan's requests, if the plan was generated for a URL.
    pub url_plan: Option<UrlPlanFacts>,
    /// Data that determine the plan besides its text; they are included in the plan's hash.
    pub hashed_with_plan: String,
    /// The results file (JTL); by default one in the run directory.
    pub results: Option<PathBuf>,
    /// The action if the results file is not empty.
    pub existing_results: ExistingResults,
    /// Codes of intended warnings about the plan, which are not reported.
    pub known_warnings: Vec<String>,
    /// JMeter's properties.
    pub properties: PropertySources,
    /// The run directory; by default a new one in `busyhour-runs`.
    pub dir: Option<PathBuf>,
    /// Seed of all random choices; by default a new one, stored in the manifest.
    pub seed: Option<u64>,
    /// The share of the load that this run generates, in the notation of [`LoadShare`] (`"2/3"`); by default the whole
    /// load. The runs of all shares, with the same plan and seed, together start all users and arrivals of the load.
    /// Users have the same numbers and random choices as in a single run, and users and arrivals have the same start
    /// times. setUp and tearDown thread groups run in the share with the first user. Counters, rows of CSV files and
    /// locks are shared only within a run.
    pub share: LoadShare,
    /// By what the users of the plan's main thread groups are multiplied, as JMeter does with each of its remote engines.
    /// Plans whose rates or numbers of users follow a schedule are then rejected. By default, they are not multiplied.
    pub user_factor: Option<u32>,
    /// Number of cores that generate load; by default all cores that this process may use.
    pub cores: Option<usize>,
    /// Whether unsupported elements are skipped; otherwise, the plan is rejected.
    pub allow_unsupported: bool,
    /// Whether server certificates are verified.
    pub verify_tls: bool,
    /// The log file; by default `run.log` in the run directory.
    pub log: Option<PathBuf>,
    /// The proxy for HTTP requests.
    pub proxy: Option<ProxyOption>,
    /// Maximum time of one HTTP request.
    pub request_deadline: Option<Duration>,
    /// Arrivals that replace the users of the plan's main thread groups.
    pub open: Option<OpenOptions>,
    /// Whether cores poll the clock instead of sleeping just before a start.
    pub spin: bool,
    /// Exports of metrics during the run.
    pub exports: ExportSettings,
    /// Thresholds.
    #[serde(with = "criteria")]
    pub thresholds: Vec<Criterion>,
    /// The command line, for the manifest.
    pub command_line: Vec<String>,
    /// Whether secrets of the command line and the properties are stored in the run directory.
    pub keep_secrets: bool,
    /// Whether the URL of the request contains a secret, so that the results file has no column with URLs.
    pub has_secret_url: bool,
    /// Whether users wait after failures while all requests fail.
    pub backs_off: bool,
    /// Expected duration, if it is known; by default it is computed from the plan.
    pub length: Option<Duration>,
}

/// The action if the results file is not empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExistingResults {
    /// The run appends to it, as in JMeter.
    #[default]
    Append,
    /// The file is deleted.
    Overwrite,
    /// The run is refused.
    Refuse,
}

/// Converts thresholds to and from their complete notation.
mod criteria {
    use busyhour_analysis::thresholds::{Criterion, Meaning};
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(criteria: &[Criterion], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(criteria.iter().map(Criterion::portable))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Criterion>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        let parse =
            |text: &String| Criterion::parse(text, Meaning::Require).map_err(serde::de::Error::custom);
        texts.iter().map(parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::thresholds::Meaning;
    use busyhour_arrivals::ArrivalProcess;
    use busyhour_program::open::NoFreeUser;

    use super::*;

    #[test]
    fn a_request_can_be_stored_and_read() {
        let request = RunRequest {
            plan: "shop.jmx".into(),
            properties: PropertySources {
                jmeter: vec![("USERS".into(), "5".into())],
                ..PropertySources::default()
            },
            request_deadline: Some(Duration::from_millis(1_500)),
            open: Some(OpenOptions {
                process: ArrivalProcess::parse("poisson(50/s) for 10s, ramp(50/s -> 200/s) over 1min")
                    .unwrap(),
                weights: vec![("Visitors".into(), 2.0)],
                no_free_user: Some(NoFreeUser::Grow(500)),
                users: None,
                ignore_rate_timers: true,
            }),
            thresholds: vec![
                Criterion::parse("p95 of checkout < 800ms over 30s", Meaning::Require).unwrap(),
                Criterion::parse("rc5xx>20 for 5s, stop as failed", Meaning::FailIf).unwrap(),
            ],
            share: LoadShare::WHOLE.divide(&[3, 1]).unwrap().remove(1),
            proxy: Some(ProxyOption { host: "proxy".into(), port: 3128, ..ProxyOption::default() }),
            ..RunRequest::default()
        };
        let text = serde_json::to_string_pretty(&request).unwrap();
        let read: RunRequest = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string_pretty(&read).unwrap(), text);
        assert_eq!(
            read.thresholds.iter().map(ToString::to_string).collect::<Vec<_>>(),
            request.thresholds.iter().map(ToString::to_string).collect::<Vec<_>>()
        );
        assert_eq!(read.share, request.share);
        assert_eq!(read.open.map(|open| open.process), request.open.map(|open| open.process));
        let short: RunRequest = serde_json::from_str(r#"{"plan": "a.jmx"}"#).unwrap();
        assert_eq!((short.plan, short.share), (PathBuf::from("a.jmx"), LoadShare::WHOLE));
        let wrong = serde_json::from_str::<RunRequest>(r#"{"plan": "a.jmx", "share": "4/3"}"#).unwrap_err();
        assert!(wrong.to_string().starts_with("\"4/3\" is not a share of the load"), "{wrong}");
        let wrong = serde_json::from_str::<RunRequest>(r#"{"plan": "a.jmx", "thresholds": ["p95 off"]}"#);
        assert!(wrong.is_err());
    }
}
