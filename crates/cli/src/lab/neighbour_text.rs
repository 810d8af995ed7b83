//! The output of `busyhour lab neighbour`.

use std::time::Duration;

use busyhour_neighbour::{EndReason, Neighbour, NeighbourSummary, NetworkProtocol, Parent, WorkDetail};
use busyhour_report::numbers::{rate, size, thousands};
use serde_json::{Value, json};

/// The neighbour that runs, and its process.
pub(super) struct Situation<'a> {
    pub(super) neighbour: &'a Neighbour,
    pub(super) parent: Parent,
}

/// The line that is printed when the work starts.
pub(super) fn start_line(situation: &Situation<'_>, detail: &str) -> String {
    let Situation { neighbour, parent } = situation;
    format!(
        "neighbour {} on {} at {} for {:?}: {detail} (process {}, ends with its parent, {parent})",
        neighbour.kind.name(),
        cores_in_words(neighbour),
        neighbour.intensity,
        neighbour.limit,
        std::process::id(),
    )
}

fn cores_in_words(neighbour: &Neighbour) -> String {
    let plural = if neighbour.cores.cores().len() == 1 { "" } else { "s" };
    format!("core{plural} {}", neighbour.cores)
}

/// The summary for people.
pub(super) fn summary_text(situation: &Situation<'_>, summary: &NeighbourSummary) -> String {
    let neighbour = situation.neighbour;
    let cores = neighbour.cores.cores().len();
    let mut out = String::new();
    if let WorkDetail::Stream(result) = &summary.detail {
        out += &result.printed();
    }
    let end = match summary.ended_by {
        EndReason::TimeLimit => "its time is over",
        EndReason::Signal => "a signal ended it",
        EndReason::ParentEnded => "its parent ended",
        EndReason::Failed => "it failed",
    };
    out += &format!(
        "neighbour {} on {}: {:.1} s, {end}\n",
        neighbour.kind.name(),
        cores_in_words(neighbour),
        summary.elapsed.as_secs_f64()
    );
    let operations = summary.operations as f64;
    out += &format!(
        "work       {} {}, {}\n",
        thousands(summary.operations),
        summary.detail.operation(),
        per_second(operations, summary.elapsed, &|per_s| format!("{}/s", large(per_s)))
    );
    if let Some(bytes) = summary.bytes {
        let mb_per_s = |per_s: f64| format!("{} MB/s", rate(per_s * 1e-6));
        out += &format!(
            "data       {}, {}\n",
            size(bytes),
            per_second(bytes as f64, summary.elapsed, &mb_per_s)
        );
    }
    out += &format!(
        "busy       {} of the time ({} requested)\n",
        share(summary.busy, summary.elapsed),
        neighbour.intensity
    );
    out += &format!(
        "CPU time   {:.2} s, {} of {cores} core{}\n",
        summary.cpu.as_secs_f64(),
        share(summary.cpu, summary.elapsed * u32::try_from(cores).unwrap_or(u32::MAX)),
        if cores == 1 { "" } else { "s" }
    );
    out + &detail_text(summary, cores)
}

/// Lines about this kind of neighbour.
fn detail_text(summary: &NeighbourSummary, cores: usize) -> String {
    match &summary.detail {
        WorkDetail::Stream(_) | WorkDetail::Cpu {} => String::new(),
        WorkDetail::Cache { buffer_bytes, .. } => format!("buffers    {} in total\n", size(*buffer_bytes)),
        WorkDetail::Memory { requested_bytes, allocated_bytes, is_scarce } => {
            let why = if *is_scarce { "; it stopped growing because too little memory was free" } else { "" };
            format!("memory     {} of {}{why}\n", size(*allocated_bytes), size(*requested_bytes))
        }
        WorkDetail::Disk { dir, file_bytes, is_in_memory, .. } => {
            let mean = match summary.operations {
                0 => "unavailable: no write ended".to_owned(),
                writes => {
                    let busy_ms = summary.busy.as_secs_f64() * 1e3 * cores as f64;
                    format!("{:.2} ms on average for a write and its fsync", busy_ms / writes as f64)
                }
            };
            let place = if *is_in_memory { ", in memory: no disk was written to" } else { "" };
            format!(
                "fsync      {mean}\nfiles      {} in total in {}{place}, removed\n",
                size(*file_bytes),
                dir.display()
            )
        }
        WorkDetail::Network { protocol, sent_bytes } => {
            let received = summary.bytes.unwrap_or(0);
            match protocol {
                NetworkProtocol::Tcp => String::new(),
                NetworkProtocol::Udp => {
                    format!(
                        "lost       {} of {}\n",
                        size(sent_bytes.saturating_sub(received)),
                        size(*sent_bytes)
                    )
                }
            }
        }
    }
}

/// A rate, or why there is none.
fn per_second(amount: f64, elapsed: Duration, show: &dyn Fn(f64) -> String) -> String {
    match elapsed.as_secs_f64() {
        seconds if seconds > 0.0 => show(amount / seconds),
        _ => "rate unavailable: no time passed".to_owned(),
    }
}

/// A number with a unit for large numbers.
fn large(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{} billion", rate(n / 1e9)),
        n if n >= 1e6 => format!("{} million", rate(n / 1e6)),
        n => rate(n),
    }
}

fn share(part: Duration, whole: Duration) -> String {
    match whole.as_secs_f64() {
        whole if whole > 0.0 => format!("{:.1} %", 100.0 * part.as_secs_f64() / whole),
        _ => "unavailable".to_owned(),
    }
}

/// The summary for programs.
pub(super) fn json_text(situation: &Situation<'_>, summary: &NeighbourSummary) -> String {
    let neighbour = situation.neighbour;
    let elapsed_s = summary.elapsed.as_secs_f64();
    // Without any time, a rate is unavailable.
    let per_s = |amount: u64| Some(amount as f64 / elapsed_s).filter(|rate| rate.is_finite());
    let document = json!({
        "version": 1,
        "neighbour": neighbour.kind.name(),
        "cores": neighbour.cores.cores(),
        "intensity_percent": neighbour.intensity.percent(),
        "limit_s": neighbour.limit.as_secs_f64(),
        "process": std::process::id(),
        "parent": situation.parent.pid(),
        "elapsed_s": elapsed_s,
        "ended_by": summary.ended_by,
        "busy_s": summary.busy.as_secs_f64(),
        "cpu_s": summary.cpu.as_secs_f64(),
        "operation": summary.detail.operation(),
        "operations": summary.operations,
        "operations_per_s": per_s(summary.operations),
        "bytes": summary.bytes,
        "bytes_per_s": summary.bytes.and_then(per_s),
        "detail": serde_json::to_value(&summary.detail).unwrap_or(Value::Null),
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use busyhour_neighbour::{CoreList, Intensity, NeighbourKind};
    use insta::assert_snapshot;

    use super::*;

    fn neighbour(kind: NeighbourKind) -> Neighbour {
        let cores: CoreList = "0-1".parse().unwrap();
        let intensity = Intensity::from_percent(50).unwrap();
        Neighbour { kind, cores, intensity, limit: Duration::from_secs(10) }
    }

    fn summary(operations: u64, bytes: Option<u64>, detail: WorkDetail) -> NeighbourSummary {
        NeighbourSummary {
            elapsed: Duration::from_millis(10_004),
            ended_by: EndReason::TimeLimit,
            busy: Duration::from_millis(5_001),
            cpu: Duration::from_millis(9_990),
            operations,
            bytes,
            detail,
        }
    }

    fn text(neighbour: &Neighbour, summary: &NeighbourSummary) -> String {
        let parent = Parent::default();
        summary_text(&Situation { neighbour, parent }, summary)
    }

    #[test]
    fn summaries_have_work_data_and_time() {
        let cpu = neighbour(NeighbourKind::Cpu);
        assert_snapshot!(text(&cpu, &summary(12_345_678_900, None, WorkDetail::Cpu {})), @r"
        neighbour cpu on cores 0-1: 10.0 s, its time is over
        work       12,345,678,900 xorshift numbers, 1.2 billion/s
        busy       50.0 % of the time (50 % requested)
        CPU time   9.99 s, 49.9 % of 2 cores
        ");
        let detail = WorkDetail::Disk {
            dir: "data".into(),
            file_bytes: 64 << 20,
            block_bytes: 64 << 10,
            is_in_memory: true,
        };
        let disk = neighbour(NeighbourKind::Disk(busyhour_neighbour::DiskOptions {
            dir: "data".into(),
            bytes: 64 << 20,
            block_bytes: 64 << 10,
        }));
        assert_snapshot!(text(&disk, &summary(2_000, Some(2_000 << 16), detail)), @r"
        neighbour disk on cores 0-1: 10.0 s, its time is over
        work       2,000 writes with fsync, 199.9/s
        data       125.0 MiB, 13.1 MB/s
        busy       50.0 % of the time (50 % requested)
        CPU time   9.99 s, 49.9 % of 2 cores
        fsync      5.00 ms on average for a write and its fsync
        files      64.0 MiB in total in data, in memory: no disk was written to, removed
        ");
    }

    #[test]
    fn a_neighbour_that_ends_at_once_has_no_rates() {
        let cpu = neighbour(NeighbourKind::Cpu);
        let ended = NeighbourSummary {
            elapsed: Duration::ZERO,
            ended_by: EndReason::Signal,
            ..summary(0, None, WorkDetail::Cpu {})
        };
        let printed = text(&cpu, &ended);
        assert!(printed.contains("rate unavailable") && printed.contains("a signal ended it"), "{printed}");
        let situation = Situation { neighbour: &cpu, parent: Parent::default() };
        let document: Value = serde_json::from_str(&json_text(&situation, &ended)).unwrap();
        assert_eq!(document["operations_per_s"], Value::Null);
        assert_eq!((&document["ended_by"], &document["cores"]), (&json!("signal"), &json!([0, 1])));
    }
}
