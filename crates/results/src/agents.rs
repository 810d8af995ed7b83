//! Reads the agents of a run on several machines.

use std::path::Path;

use busyhour_analysis::{AgentRow, Agents, DRIFT_MAX_PPM, Summary};
use busyhour_record::RunDir;
use serde::Deserialize;

/// The file with the agents of a run.
const FILE: &str = "cluster.json";

/// The version that is read.
const VERSION: u32 = 1;

/// Maximum sizes of the file, and of the summary of one agent.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The parts of `cluster.json` that the summary needs.
#[derive(Deserialize)]
struct ClusterFile {
    version: u32,
    agents: Vec<ClusterAgent>,
}

#[derive(Deserialize)]
struct ClusterAgent {
    name: String,
    share: String,
    cores: u32,
    record: Option<String>,
    samples: u64,
    clock: Clock,
    problem: String,
}

#[derive(Deserialize)]
struct Clock {
    offsets: Vec<Offset>,
}

#[derive(Deserialize)]
struct Offset {
    at_ns: i64,
    offset_ns: i64,
    bound_ns: i64,
}

impl Clock {
    /// By how much the clock changed, beyond its bounds and the usual drift, between two estimates, in ms.
    fn step_ms(&self) -> Option<f64> {
        let beyond = self.offsets.windows(2).filter_map(|pair| {
            let change = (pair[1].offset_ns - pair[0].offset_ns) as f64;
            let span = (pair[1].at_ns - pair[0].at_ns).max(0) as f64;
            let allowed = (pair[0].bound_ns + pair[1].bound_ns) as f64 + span * DRIFT_MAX_PPM / 1e6;
            (change.abs() > allowed).then_some(change / 1e6)
        });
        beyond.max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }
}

/// The largest error of the time between two arrivals of different agents in ns: the two largest errors of their clocks together.
/// 0 for a run on one machine.
pub(crate) fn clock_bound_ns(dir: &Path) -> u64 {
    let file = read_limited(&dir.join(FILE)).and_then(|text| serde_json::from_str::<ClusterFile>(&text).ok());
    let agents = file.filter(|file| file.version == VERSION).map(|file| file.agents).unwrap_or_default();
    if agents.len() < 2 {
        return 0;
    }
    let bound =
        |agent: &ClusterAgent| agent.clock.offsets.iter().map(|offset| offset.bound_ns).max().unwrap_or(0);
    let mut bounds: Vec<i64> = agents.iter().map(bound).collect();
    bounds.sort_unstable_by(|a, b| b.cmp(a));
    bounds.iter().take(2).filter_map(|bound| u64::try_from(*bound).ok()).sum()
}

/// Adds the agents to the summary of a run on several machines.
pub(crate) fn add_agents(dir: &Path, summary: &mut Summary) {
    let Some(file) =
        read_limited(&dir.join(FILE)).and_then(|text| serde_json::from_str::<ClusterFile>(&text).ok())
    else {
        return;
    };
    if file.version != VERSION {
        return;
    }
    let of_agents: Vec<Option<Summary>> = file.agents.iter().map(|agent| agent_summary(dir, agent)).collect();
    let rows =
        file.agents.into_iter().zip(&of_agents).map(|(agent, summary)| row(dir, agent, summary.as_ref()));
    let mut agents = Agents { rows: rows.collect(), not_compared: None };
    let series: Vec<_> =
        of_agents.iter().map(|summary| summary.as_ref().map(|summary| &summary.series)).collect();
    agents.compare(&series);
    summary.agents = Some(agents);
}

/// The directory of an agent's record.
fn record_dir(dir: &Path, agent: &ClusterAgent) -> Option<RunDir> {
    let record = Path::new(agent.record.as_ref()?);
    let is_inside = record.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_inside.then(|| RunDir::open(dir.join(record)))
}

/// The agent's summary of its part of the run.
fn agent_summary(dir: &Path, agent: &ClusterAgent) -> Option<Summary> {
    let text = read_limited(&record_dir(dir, agent)?.summary_path())?;
    Summary::from_json(&text).ok()
}

fn row(dir: &Path, agent: ClusterAgent, summary: Option<&Summary>) -> AgentRow {
    let report = record_dir(dir, &agent).filter(|record| record.report_path().is_file());
    let report =
        report.and_then(|record| Some(record.report_path().strip_prefix(dir).ok()?.display().to_string()));
    let has_requests = |summary: &&Summary| summary.total.samples > 0;
    let total = summary.filter(has_requests).map(|summary| &summary.total);
    let generator = summary.map(|summary| &summary.run.generator);
    let lateness = summary.and_then(|summary| summary.arrivals.iter().find_map(|verdict| verdict.lateness));
    AgentRow {
        clock_step_ms: agent.clock.step_ms(),
        error_percent: total.map(|total| total.error_percent),
        response_p50_ms: total.map(|total| total.response.p50),
        response_p95_ms: total.map(|total| total.response.p95),
        lateness_p99_ms: lateness.map(|lateness| lateness.p99_ns as f64 / 1e6),
        busiest_core: generator
            .and_then(|facts| facts.cores.iter().filter_map(|core| core.busy).reduce(f64::max)),
        cpu_stolen: generator.and_then(|facts| facts.cpu_stolen),
        cpu_throttled: generator.and_then(|facts| facts.cpu_throttled),
        clock_bound_ms: agent
            .clock
            .offsets
            .iter()
            .map(|offset| offset.bound_ns)
            .max()
            .map(|ns| ns as f64 / 1e6),
        name: agent.name,
        share: agent.share,
        cores: agent.cores,
        samples: agent.samples,
        problem: agent.problem,
        differs: Vec::new(),
        report,
    }
}

/// The text of a file; `None` if it does not exist, is too long or is not a text.
fn read_limited(path: &Path) -> Option<String> {
    let is_short = std::fs::metadata(path).is_ok_and(|facts| facts.len() <= FILE_BYTES_MAX);
    if is_short { std::fs::read_to_string(path).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::RunFacts;
    use busyhour_sample::RunTotals;

    use super::*;

    #[test]
    fn agents_without_records_have_unknown_figures() {
        let dir = tempfile::tempdir().unwrap();
        let file = r#"{"version": 1, "started_ns": 5, "late_seconds": 0, "agents": [
            {"name": "a", "id": "a-1", "share": "1/2", "cores": 2, "record": null, "samples": 7,
             "clock": {"offsets": [{"at_ns": 1, "offset_ns": 2, "bound_ns": 250000}]}, "losses": [], "problem": "lost"},
            {"name": "b", "id": "b-1", "share": "2/2", "cores": 2, "record": "../elsewhere", "samples": 0,
             "clock": {"offsets": []}, "losses": [], "problem": ""}]}"#;
        std::fs::write(dir.path().join(FILE), file).unwrap();
        let mut summary = Summary::new(RunFacts::default(), &RunTotals::empty());
        add_agents(dir.path(), &mut summary);
        let agents = summary.agents.unwrap();
        assert_eq!((agents.rows[0].samples, agents.rows[0].clock_bound_ms), (7, Some(0.25)));
        assert_eq!((agents.rows[0].response_p50_ms, agents.rows[1].report.as_deref()), (None, None));
        assert!(agents.not_compared.unwrap().contains("fewer than two"));
    }

    #[test]
    fn other_runs_and_other_versions_have_no_agents() {
        let dir = tempfile::tempdir().unwrap();
        let mut summary = Summary::new(RunFacts::default(), &RunTotals::empty());
        add_agents(dir.path(), &mut summary);
        std::fs::write(dir.path().join(FILE), r#"{"version": 2, "agents": []}"#).unwrap();
        add_agents(dir.path(), &mut summary);
        assert_eq!(summary.agents, None);
    }
}
