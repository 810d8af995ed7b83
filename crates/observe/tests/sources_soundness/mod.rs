//! Invariants of the parsers of PerfMon's protocol, resctrl's files, `pqos` and `xl`, for any text.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use busyhour_observe::perfmon::client_session::{ClientSession, MetricRow, MetricValue};
use busyhour_observe::perfmon::request::PerfMonMetric;
use busyhour_observe::perfmon::sample::PerfMonSample;
use busyhour_observe::rdt::info::MonitorInfo;
use busyhour_observe::rdt::schemata::parse_schemata;
use busyhour_observe::rdt::{RdtProbe, Resctrl, ResctrlFiles, ResctrlGroup, pqos, xen};
use busyhour_observe::{ProbeRunner, SeriesStore};
use busyhour_program::clock::Clock;

/// Checks the invariants for a text.
pub fn check(text: &str) {
    check_perfmon(text);
    check_resctrl(text);
    for row in pqos::latest_rows(text) {
        assert!(row.misses.is_none_or(f64::is_finite) && row.others.len() <= 64);
        assert!(row.cycles_per_instruction().is_none_or(|cpi| cpi > 0.0));
    }
    let table = xen::parse_cmt_show(text);
    let lines = text.lines().count();
    assert!(table.domains.len() + table.bad_lines as usize <= lines);
    assert!(table.domains.iter().all(|row| row.values.iter().all(|value| *value >= 0.0)));
    assert!(xen::parse_cat_show(text).iter().all(|row| !row.masks.is_empty()));
    assert!(xen::parse_pairs(text).len() <= lines);
}

fn check_perfmon(text: &str) {
    for name in text.split('\t') {
        if let Err(refusal) = name.parse::<PerfMonMetric>() {
            assert!(refusal.to_string().chars().count() < 200, "{refusal}");
        }
    }
    // The table of a plan; each sample has its label.
    let beginning: String = text.chars().take(1_000).collect();
    let (metric, parameters) = beginning.split_once(':').unwrap_or((&beginning, ""));
    let row = MetricRow { host: "h".into(), port: 1, metric: metric.into(), parameters: parameters.into() };
    let mut session = ClientSession::new(std::slice::from_ref(&row), Duration::from_secs(1));
    assert_eq!(session.labels(), [row.label()]);
    let (mut send, mut samples) = (String::new(), Vec::new());
    let record = |label: &str, value: MetricValue| {
        samples.push(match value {
            MetricValue::Number(value) => PerfMonSample::of_value(0, label, value),
            MetricValue::Text(text) => PerfMonSample::of_error(0, label, text),
        });
    };
    let bytes = format!("Yep\n{text}\n");
    if session.receive(bytes.as_bytes(), &mut send, record).is_ok() {
        assert_eq!(send.lines().count(), 2, "a request must not contain other commands: {send:?}");
    }
    for sample in samples {
        assert_eq!((sample.row().label, sample.row().success), (&*row.label(), sample.error.is_none()));
    }
    #[cfg(target_os = "linux")]
    check_agent(text);
}

#[cfg(target_os = "linux")]
fn check_agent(text: &str) {
    use busyhour_observe::ProcRoot;
    use busyhour_observe::perfmon::agent_session::AgentSession;
    use busyhour_observe::perfmon::system::SystemCounters;

    let root = ProcRoot::recorded("/nonexistent");
    let snapshot = SystemCounters::new(&root, Duration::ZERO);
    let mut session = AgentSession::default();
    let mut actions = Vec::new();
    session.receive(text.as_bytes(), &snapshot, &mut actions);
    assert!(actions.len() <= 2 * text.len() + 2);
    let line = session.values_line(&snapshot);
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
}

/// A file system with one group, all of whose files contain the same text.
#[derive(Debug)]
struct SameText(String);

impl ResctrlFiles for SameText {
    fn read(&self, _path: &Path) -> io::Result<String> {
        Ok(self.0.clone())
    }

    fn write(&mut self, _path: &Path, _text: &str) -> io::Result<()> {
        Err(io::ErrorKind::InvalidInput.into())
    }

    fn directories(&self, path: &Path) -> io::Result<Vec<String>> {
        let names: &[&str] = match path.to_str() {
            Some("info") => &["L3", "L3_MON"],
            Some("mon_data") => &["mon_L3_00", "mon_PERF_PKG_1", "mon_", "other"],
            _ => &[],
        };
        Ok(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn files(&self, _path: &Path) -> io::Result<Vec<String>> {
        let first = self.0.lines().next().unwrap_or_default().to_owned();
        Ok(vec!["llc_occupancy".to_owned(), "mon_features".to_owned(), first])
    }

    fn create_directory(&mut self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn remove_directory(&mut self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn check_resctrl(text: &str) {
    if let Ok(schemata) = parse_schemata(text) {
        let written: Vec<String> = schemata.iter().map(ToString::to_string).collect();
        assert_eq!(parse_schemata(&written.join("\n")).as_ref(), Ok(&schemata), "{written:?}");
    }
    let info = MonitorInfo::of_files(&BTreeMap::from([("mon_features".to_owned(), text.to_owned())]));
    assert!(info.events.iter().all(|event| !event.contains(char::is_whitespace) || !event.is_ascii()));
    let mut resctrl = Resctrl::new(Box::new(SameText(text.to_owned())));
    let error =
        resctrl.create(&ResctrlGroup::control(text)).expect_err("the hardware has no identifier left");
    assert!(!error.to_string().is_empty());
    let store = SeriesStore::in_memory();
    ProbeRunner::new(&store, Box::new(RdtProbe::new(resctrl))).read(&Clock::manual(0));
    assert!(store.latest().iter().all(|value| value.value.is_finite()));
}
