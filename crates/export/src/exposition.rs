//! A run as Prometheus's text exposition (format 0.0.4).

use std::fmt::Write as _;

use busyhour_record::{Snapshot, SnapshotRow};

use crate::csv_seconds::kind;
use crate::histograms::Clock;
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, Sender};

/// Upper bounds of the histograms' buckets in seconds: 1, 2, 5 in each decade.
pub(crate) const BOUNDS_S: [f64; 17] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0];

/// Collects a run for scrapes: counters only ever grow, as Prometheus wants them.
#[derive(Debug, Clone, Default)]
pub struct Exposition {
    run: RunSoFar,
    plan: String,
}

impl Exposition {
    /// Of a run of `plan`, which is a label of `busyhour_run_info`.
    #[must_use]
    pub fn new(plan: impl Into<String>) -> Self {
        Self { run: RunSoFar::default(), plan: plan.into() }
    }

    /// The text of a scrape.
    #[must_use]
    pub fn text(&self) -> String {
        exposition_text(self)
    }
}

impl Exporter for Exposition {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        Ok(())
    }
}

/// Writes the text of a scrape at the end of the run.
pub struct ExpositionExporter<S> {
    exposition: Exposition,
    sender: S,
}

impl<S: Sender> ExpositionExporter<S> {
    /// Writes by `sender` a run of `plan`.
    pub fn new(sender: S, plan: &str) -> Self {
        Self { exposition: Exposition::new(plan), sender }
    }
}

impl<S: Sender> Exporter for ExpositionExporter<S> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.exposition.second(snapshot)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.sender.send(&self.exposition.text())
    }
}

/// The text of a scrape of what was collected so far.
#[must_use]
pub fn exposition_text(exposition: &Exposition) -> String {
    let Exposition { run, plan } = exposition;
    let mut out = String::new();
    head(&mut out, "busyhour_run_info", "gauge", "The run; always 1.");
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(out, "busyhour_run_info{{plan=\"{}\",version=\"{version}\"}} 1", escaped(plan));

    head(&mut out, "busyhour_samples_total", "counter", "Samples that ended.");
    for row in run.rows.values() {
        let labels = labels(row);
        let passed = row.samples.saturating_sub(row.errors);
        let _ = writeln!(out, "busyhour_samples_total{{{labels},outcome=\"passed\"}} {passed}");
        let _ = writeln!(out, "busyhour_samples_total{{{labels},outcome=\"failed\"}} {}", row.errors);
    }
    head(&mut out, "busyhour_response_codes_total", "counter", "Samples that ended, by response code.");
    for row in run.rows.values() {
        for code in &row.codes {
            let (labels, text) = (labels(row), escaped(&code.code));
            let _ =
                writeln!(out, "busyhour_response_codes_total{{{labels},code=\"{text}\"}} {}", code.samples);
        }
    }
    let counters: [(&str, &str, fn(&SnapshotRow) -> u64); 2] = [
        ("busyhour_received_bytes_total", "Bytes received.", |row| row.bytes),
        ("busyhour_sent_bytes_total", "Bytes sent.", |row| row.sent_bytes),
    ];
    for (name, help, value) in counters {
        head(&mut out, name, "counter", help);
        for row in run.rows.values() {
            let _ = writeln!(out, "{name}{{{}}} {}", labels(row), value(row));
        }
    }
    let clocks = [
        (Clock::Response, "busyhour_response_time_seconds", "Time from the intended start to the end."),
        (Clock::Service, "busyhour_service_time_seconds", "Time from the actual start to the end."),
    ];
    for (clock, name, help) in clocks {
        head(&mut out, name, "histogram", help);
        for row in run.rows.values() {
            histogram(&mut out, name, row, clock);
        }
    }
    if let Some(users) = run.users {
        head(&mut out, "busyhour_users", "gauge", "Most active users that samples of the last second saw.");
        let _ = writeln!(out, "busyhour_users {users}");
    }
    if let Some(arrivals) = &run.arrivals {
        head(
            &mut out,
            "busyhour_arrivals_total",
            "counter",
            "Arrivals of open workloads, by what became of them.",
        );
        for (fate, count) in arrivals.fates() {
            let _ = writeln!(out, "busyhour_arrivals_total{{fate=\"{fate}\"}} {count}");
        }
    }
    if let Some(cov) = run.cov {
        let help = "Coefficient of variation of the gaps between arrivals of the last ten seconds.";
        head(&mut out, "busyhour_arrivals_cov", "gauge", help);
        let _ = writeln!(out, "busyhour_arrivals_cov {cov}");
    }
    if let Some(second) = run.second {
        head(&mut out, "busyhour_run_seconds", "gauge", "Seconds of the run that are in these numbers.");
        let _ = writeln!(out, "busyhour_run_seconds {}", second + 1);
    }
    out
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn labels(row: &SnapshotRow) -> String {
    format!("label=\"{}\",kind=\"{}\"", escaped(&row.label), kind(row.kind))
}

fn histogram(out: &mut String, name: &str, row: &SnapshotRow, clock: Clock) {
    let (labels, times) = (labels(row), clock.times(row));
    for bound in BOUNDS_S {
        let count = times.count_up_to_ms(bound * 1e3);
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
    }
    let _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", times.count());
    let _ = writeln!(out, "{name}_sum{{{labels}}} {}", times.sum_ns() as f64 / 1e9);
    let _ = writeln!(out, "{name}_count{{{labels}}} {}", times.count());
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
