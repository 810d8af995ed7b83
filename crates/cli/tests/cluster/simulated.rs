//! Runs on simulated agents, which are more than real ones that a machine can run.

use busyhour_cluster::Invitation;
use busyhour_cluster::simulated::{SimulatedAgents, SimulatedLoad, SimulatedSettings};
use serde_json::Value;

use crate::processes::{Site, code};

/// The figures that are computed from samples without their times of day.
const FIGURES: [&str; 8] =
    ["samples", "errors", "bytes", "sent_bytes", "response", "service", "apdex", "distribution"];

fn figures(row: &Value) -> Vec<&Value> {
    FIGURES.iter().map(|name| &row[name]).collect()
}

/// The kinds of errors, without their times of day.
fn errors(summary: &Value) -> Vec<[&Value; 4]> {
    let errors = summary["errors"].as_array().unwrap().iter();
    errors.map(|error| ["code", "message", "count", "labels"].map(|name| &error[name])).collect()
}

/// The rows of all labels, sorted by label.
fn rows(summary: &Value) -> Vec<&Value> {
    let mut rows: Vec<&Value> = summary["labels"].as_array().unwrap().iter().collect();
    rows.sort_by_key(|row| row["label"].as_str().unwrap().to_owned());
    rows
}

#[test]
fn the_figures_of_a_hundred_agents_are_those_of_one_record_with_all_samples() {
    let Some(site) = Site::start(0) else { return };
    let invitation = site.dir().join("hub/agent.json").display().to_string();
    let load = SimulatedLoad { seconds: 3, labels: 6, rate: 40, seed: 20_261_128 };
    let settings = SimulatedSettings {
        invitation: Invitation::read(&invitation).unwrap(),
        agents: 100,
        load,
        dir: Some(site.dir().join("simulated")),
    };
    let _agents = SimulatedAgents::start(settings, |_| {}).unwrap();
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "100/s", "--for", "3s", "--agents", "100"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());

    let merged = site.json("run/summary.json");
    assert_eq!(merged["total"]["samples"], 100 * 3 * 40);
    assert!(merged["total"]["errors"].as_u64().unwrap() > 100);
    // The records that the agents have written, not those that were fetched.
    let agents = std::fs::read_dir(site.dir().join("simulated")).unwrap().flatten();
    let runs = agents.flat_map(|agent| std::fs::read_dir(agent.path()).unwrap().flatten());
    let records: Vec<String> = runs.map(|run| run.path().display().to_string()).collect();
    assert_eq!(records.len(), 100);
    let mut arguments = vec!["report", "--json"];
    arguments.extend(records.iter().map(String::as_str));
    let together: Value = serde_json::from_str(&site.execute(&arguments)).unwrap();
    assert_eq!(figures(&merged["total"]), figures(&together["total"]));
    assert_eq!(merged["distribution"], together["distribution"]);
    let (merged_rows, rows_together) = (rows(&merged), rows(&together));
    assert_eq!(merged_rows.len(), 6);
    for (merged, together) in merged_rows.iter().zip(&rows_together) {
        assert_eq!(merged["label"], together["label"]);
        assert_eq!(figures(merged), figures(together), "{}", merged["label"]);
    }
    assert_eq!(errors(&merged), errors(&together));

    let cluster = site.json("run/cluster.json");
    let agents = cluster["agents"].as_array().unwrap();
    assert!(agents.iter().all(|agent| agent["samples"] == 120 && agent["problem"] == ""), "{cluster}");
}

/// Without records, the samples are restored from the seconds: counts and histograms are exact.
#[test]
fn agents_without_records_are_counted_by_their_seconds() {
    let Some(site) = Site::start(0) else { return };
    let invitation = site.dir().join("hub/agent.json").display().to_string();
    let settings = SimulatedSettings {
        invitation: Invitation::read(&invitation).unwrap(),
        agents: 20,
        load: SimulatedLoad { seconds: 3, labels: 3, rate: 20, seed: 1 },
        dir: None,
    };
    let _agents = SimulatedAgents::start(settings, |_| {}).unwrap();
    let url = site.url();
    let mut run = site.run(&[&url, "--rate", "20/s", "--for", "3s", "--agents", "20", "--leave-records"]);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    assert_eq!(site.json("run/summary.json")["total"]["samples"], 20 * 3 * 20);
}
