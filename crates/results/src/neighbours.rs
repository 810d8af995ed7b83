//! Reads the neighbours of the observed system, and compares them with the explanation of slow requests.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use busyhour_analysis::Summary;
use busyhour_analysis::explanation::Cause;
use busyhour_detection::{Damage, NEIGHBOURS_FILE_NAME, NEIGHBOURS_VERSION, Neighbour, Neighbours};

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Adds the neighbours to the summary of an observed run. If the explanation names other processes as the cause of slow requests, it also
/// names the neighbour.
pub(crate) fn add_neighbours(dir: &Path, summary: &mut Summary) {
    summary.neighbours = read(dir);
    let Some((neighbours, explanation)) = summary.neighbours.as_ref().zip(summary.explanation.as_mut())
    else {
        return;
    };
    let is_wanted = |neighbour: &&Neighbour| match explanation.cause {
        Cause::CpuNeighbour => neighbour.damage.is_cpu_time(),
        Cause::MemoryBandwidth => neighbour.damage == Damage::CyclesPerInstruction,
        _ => false,
    };
    if let Some(neighbour) = neighbours.found.iter().find(is_wanted) {
        explanation.sentence += &format!(" The neighbour is {}.", neighbour.who.name());
    }
}

/// The neighbours in a run directory; `None` if there is no readable list.
fn read(dir: &Path) -> Option<Neighbours> {
    let mut text = String::new();
    File::open(dir.join(NEIGHBOURS_FILE_NAME)).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let neighbours: Neighbours = serde_json::from_str(&text).ok()?;
    (neighbours.version == NEIGHBOURS_VERSION).then_some(neighbours)
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::RunFacts;
    use busyhour_analysis::explanation::Explanation;
    use busyhour_sample::RunTotals;

    use super::*;

    const FILE: &str = r#"{"version": 1, "watched": ["cpu-wait"], "found": [{
        "who": {"kind": "process", "pid": 47, "name": "stress"}, "damage": "cpu-wait", "from_s": 61.0, "to_s": 95.0,
        "found_s": 70.0, "harm_with": 0.31, "harm_without": 0.04, "cores": 0.93, "chance": 0.004, "confidence": "very-likely"}]}"#;

    fn summary_with(cause: Cause, file: &str) -> Summary {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(NEIGHBOURS_FILE_NAME), file).unwrap();
        let mut summary = Summary::new(RunFacts::default(), &RunTotals::empty());
        summary.explanation = Some(Explanation {
            cause,
            sentence: "Slow requests go with it.".to_owned(),
            compared: 1,
            evidence: Vec::new(),
            not_examined: Vec::new(),
            next: String::new(),
        });
        add_neighbours(dir.path(), &mut summary);
        summary
    }

    #[test]
    fn the_explanation_names_the_neighbour_of_its_own_cause() {
        let summary = summary_with(Cause::CpuNeighbour, FILE);
        assert_eq!(
            summary.explanation.unwrap().sentence,
            "Slow requests go with it. The neighbour is process 47 (stress)."
        );
        assert_eq!(summary.neighbours.unwrap().found.len(), 1);
        let other = summary_with(Cause::GcPauses, FILE);
        assert_eq!(other.explanation.unwrap().sentence, "Slow requests go with it.");
    }

    #[test]
    fn files_of_other_versions_and_damaged_files_are_not_read() {
        assert!(
            summary_with(Cause::None, &FILE.replace("\"version\": 1", "\"version\": 2")).neighbours.is_none()
        );
        assert!(summary_with(Cause::None, &FILE[..FILE.len() - 5]).neighbours.is_none());
    }
}
