//! The work that the neighbours of a trial did, from their logs.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::process::{Kept, POLL_INTERVAL, Waited};
use crate::stop::StopRequest;

/// The summary that a neighbour writes at its end.
#[derive(Debug, Deserialize)]
struct WorkSummary {
    elapsed_s: f64,
    operation: String,
    operations: u64,
    detail: WorkFacts,
}

/// The part of the details that determines whether the neighbour had an effect.
#[derive(Debug, Default, Deserialize)]
struct WorkFacts {
    /// Whether a neighbour of the kind disk wrote to memory.
    #[serde(default)]
    is_in_memory: bool,
}

/// The name of the log of a neighbour. `number` counts the processes of a treatment from 1.
pub(crate) fn neighbour_log(name: &str, number: u32) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("neighbour-{}-{number}.log", name.chars().map(safe).collect::<String>())
}

/// How waiting for the work of a neighbour ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NeighbourStart {
    /// It works.
    Working,
    /// It ended, with this status.
    Ended(String),
    /// It still prepares its work.
    TimedOut,
    /// A stop was requested.
    Stopped,
}

/// Waits until a neighbour works, which the first line of its log reports.
pub(crate) fn wait_for_work(
    kept: &mut Kept,
    log: &Path,
    limit: Duration,
    stop: &StopRequest,
) -> NeighbourStart {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = kept.exit() {
            return NeighbourStart::Ended(status.to_owned());
        }
        if std::fs::metadata(log).map_or(0, |file| file.len()) > 0 {
            // A neighbour that fails at its start writes its error first.
            return match kept.wait(POLL_INTERVAL, &StopRequest::default()) {
                Waited::Ended(status) => NeighbourStart::Ended(status),
                Waited::TimedOut | Waited::Stopped => NeighbourStart::Working,
            };
        }
        if stop.is_requested() {
            return NeighbourStart::Stopped;
        }
        if Instant::now() >= deadline {
            return NeighbourStart::TimedOut;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Notes about a neighbour that had no effect: it did no work, or not on the resource that it is to load.
pub(crate) fn work_notes(name: &str, log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let Some(summary) = summary(&text) else {
        return vec![format!("the work of the neighbour {name:?} is unavailable: its log has no summary")];
    };
    let mut notes = Vec::new();
    if summary.operations == 0 {
        notes.push(format!(
            "the neighbour {name:?} did no work in {:.1} s: 0 {}",
            summary.elapsed_s, summary.operation
        ));
    }
    if summary.detail.is_in_memory {
        notes.push(format!(
            "the neighbour {name:?} wrote to no disk, because the directory of the experiment is in memory"
        ));
    }
    notes
}

/// The summary, which follows the lines that the neighbour wrote while it worked.
fn summary(text: &str) -> Option<WorkSummary> {
    let begin = if text.starts_with('{') { 0 } else { text.find("\n{\n")? + 1 };
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
    values.next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::KeptCommand;

    fn notes(text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("neighbour.log");
        std::fs::write(&log, text).unwrap();
        work_notes("bully", &log)
    }

    fn log(operations: u64, detail: &serde_json::Value) -> String {
        let summary = serde_json::json!({
            "version": 1, "elapsed_s": 4.04, "operation": "kernels", "operations": operations, "detail": detail,
        });
        format!(
            "neighbour stream on core 1 at 100 % for 60s: 3 arrays of 8.0 MiB\n{summary:#}\nwarning: more\n"
        )
    }

    #[test]
    fn a_neighbour_without_an_effect_is_noted() {
        let none = serde_json::json!({});
        assert!(notes(&log(12, &none)).is_empty());
        assert_eq!(notes(&log(0, &none)), ["the neighbour \"bully\" did no work in 4.0 s: 0 kernels"]);
        let in_memory = serde_json::json!({ "is_in_memory": true });
        let noted = notes(&log(12, &in_memory));
        assert!(noted.len() == 1 && noted[0].contains("wrote to no disk"), "{noted:?}");
        for cut_off in ["", "neighbour stream on core 1", "neighbour\n{\n  \"version\": 1,"] {
            let noted = notes(cut_off);
            assert!(noted.len() == 1 && noted[0].contains("its log has no summary"), "{noted:?}");
        }
    }

    /// Waits for a neighbour whose keeper executes this shell script.
    fn started(script: &str, stop: &StopRequest) -> NeighbourStart {
        let dir = tempfile::tempdir().unwrap();
        // The shell takes the first argument, which is the verb of the keeper, as its script.
        std::fs::write(dir.path().join("experiment"), script).unwrap();
        let log = dir.path().join("neighbour.log");
        let command = KeptCommand {
            busyhour: Path::new("/bin/sh"),
            experiment: dir.path(),
            words: Vec::new(),
            environment: Vec::new(),
            directory: dir.path(),
            cores: &[],
            log: log.clone(),
            grace: Duration::from_secs(1),
            lingers: false,
            waits: false,
        };
        wait_for_work(&mut command.start().unwrap(), &log, Duration::from_millis(50), stop)
    }

    #[test]
    fn a_neighbour_that_does_not_start_to_work_is_not_working() {
        let stop = StopRequest::default();
        assert_eq!(started("cat > waiting", &stop), NeighbourStart::TimedOut);
        assert!(matches!(started("exit 0", &stop), NeighbourStart::Ended(_)));
        stop.request();
        assert_eq!(started("cat > waiting", &stop), NeighbourStart::Stopped);
    }

    #[test]
    fn logs_have_safe_names() {
        assert_eq!(neighbour_log("a b/c", 2), "neighbour-a-b-c-2.log");
    }
}
