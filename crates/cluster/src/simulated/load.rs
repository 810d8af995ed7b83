//! The synthetic load of simulated agents: random samples with a fixed seed, their seconds, and their records.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_record::{
    MANIFEST_VERSION, Machine, Manifest, PlanFile, Recorder, RecorderConfig, RunDir, RunOutcome, plan_hash,
};
use busyhour_sample::{
    Labels, Nanos, RunNames, Sample, SampleFlags, SampleOutcome, SampleSizes, SampleTimes, SecondUsers,
    Snapshot, SnapshotMaker,
};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Number of different seconds of agents that write no records. The simulation then costs little CPU time.
const TEMPLATES: usize = 16;

/// Longest service time and longest wait before it in ns. Runs start two seconds after they are prepared.
const SERVICE_NS_MAX: f64 = 1.5e9;
const WAIT_NS_MAX: f64 = 0.4e9;

/// The time at which the seconds of snapshots are made in ns: after the longest response time.
const LIFT_NS: u64 = 3_000_000_000;

/// The shape of the Pareto distribution of service times, whose variance is infinite, and its least value in ns.
const SHAPE: f64 = 1.3;
const SERVICE_NS_MIN: f64 = 2e6;

/// The plan of the records.
const PLAN: &[u8] = b"<jmeterTestPlan version=\"1.2\"><hashTree/></jmeterTestPlan>";

/// The files of a record that a controller fetches.
pub(super) const RECORD_FILES: [&str; 2] = ["run.json", "samples.bhs"];

/// The load that simulated agents report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedLoad {
    /// Length in seconds.
    pub seconds: u64,
    /// Number of labels.
    pub labels: u32,
    /// Requests per second of each agent.
    pub rate: u32,
    /// The seed of the random samples.
    pub seed: u64,
}

/// A random sample.
struct Drawn {
    label: u32,
    /// When it ends, in ns of its second.
    end_ns: u64,
    service_ns: u64,
    wait_ns: u64,
    is_failed: bool,
    bytes: u64,
}

impl SimulatedLoad {
    /// The samples of one second of an agent, in the order of their ends. Equal arguments give equal samples.
    fn draw(&self, agent: usize, second: u64) -> Vec<Drawn> {
        let seed = self.seed
            ^ (agent as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ second.wrapping_mul(0xd134_2543_de82_ef95);
        let mut random = StdRng::seed_from_u64(seed);
        let mut ends: Vec<u64> = (0..self.rate).map(|_| random.random_range(0..1_000_000_000)).collect();
        ends.sort_unstable();
        let draw = |end_ns| {
            let label = random.random_range(0..self.labels.max(1));
            let heavy = |random: &mut StdRng| (1.0 - random.random::<f64>()).powf(-1.0 / SHAPE);
            // Labels differ in their times and errors.
            let service = SERVICE_NS_MIN * f64::from(1 + label % 7) * heavy(&mut random);
            let wait = if random.random_bool(0.3) { 1e5 * heavy(&mut random) } else { 0.0 };
            Drawn {
                label,
                end_ns,
                service_ns: service.min(SERVICE_NS_MAX) as u64,
                wait_ns: wait.min(WAIT_NS_MAX) as u64,
                is_failed: random.random_bool(f64::from(label % 5) / 50.0),
                bytes: random.random_range(100..100_000),
            }
        };
        ends.into_iter().map(draw).collect()
    }

    /// Calls `see` with the samples of one second.
    fn samples(&self, agent: usize, second: u64, labels: &Labels, mut see: impl FnMut(&Sample<'_>)) {
        for drawn in self.draw(agent, second) {
            let end = Nanos(second * 1_000_000_000 + drawn.end_ns);
            let start = end - drawn.service_ns;
            let (code, message) =
                if drawn.is_failed { ("503", "Service Unavailable") } else { ("200", "OK") };
            see(&Sample {
                label: labels.intern(&format!("Page {}", drawn.label)),
                flags: SampleFlags::NO_THREAD | SampleFlags::NO_URL,
                times: SampleTimes {
                    intended: start - drawn.wait_ns,
                    start,
                    end,
                    connect_ns: 0,
                    latency_ns: drawn.service_ns / 2,
                    idle_ns: 0,
                },
                outcome: SampleOutcome::new(code, message, !drawn.is_failed),
                sizes: SampleSizes::of_row(drawn.bytes, 200),
                sample_count: 1,
                error_count: u32::from(drawn.is_failed),
                ..Sample::default()
            });
        }
    }

    /// The second `second` of an agent.
    fn snapshot(&self, agent: usize, second: u64) -> Snapshot {
        let labels = Labels::new();
        let mut maker = SnapshotMaker::new(labels.clone());
        let mut made = Snapshot::default();
        // The maker would make all seconds before this one, too.
        let start = Nanos(second * 1_000_000_000);
        self.samples(agent, second, &labels, |sample| {
            let times = SampleTimes {
                intended: Nanos(sample.times.intended.0 + LIFT_NS - start.0),
                start: Nanos(sample.times.start.0 + LIFT_NS - start.0),
                end: Nanos(sample.times.end.0 + LIFT_NS - start.0),
                ..sample.times
            };
            maker.sample(&Sample { times, ..*sample }, &mut |_| {});
        });
        maker.finish(None, &mut |snapshot| made = snapshot);
        Snapshot { second, whole: true, users: Some(SecondUsers::one(1)), ..made }
    }
}

/// The seconds of simulated agents.
pub(super) struct Templates {
    pub(super) load: SimulatedLoad,
    /// The seconds of agents without records.
    made: Mutex<Vec<Option<Arc<Snapshot>>>>,
}

impl Templates {
    pub(super) fn new(load: SimulatedLoad) -> Templates {
        Templates { load, made: Mutex::new(vec![None; TEMPLATES]) }
    }

    /// A second of an agent. With a record, it contains the samples of the record.
    pub(super) fn second(&self, agent: usize, second: u64, has_record: bool) -> Snapshot {
        if has_record {
            return self.load.snapshot(agent, second);
        }
        let at = (agent * 7 + second as usize) % TEMPLATES;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Template numbers start at a second that leaves room for the longest times.
        let template = made[at].get_or_insert_with(|| Arc::new(self.load.snapshot(at, 10)));
        Snapshot { second, ..Snapshot::clone(template) }
    }
}

/// Writes the record of an agent: `run.json` and `samples.bhs`.
///
/// # Errors
/// A file cannot be written; the error is a text for the controller.
pub(super) fn write_record(
    load: &SimulatedLoad,
    agent: usize,
    seconds: Range<u64>,
    dir: &Path,
    wall_start_ms: u64,
    outcome: RunOutcome,
) -> Result<(), String> {
    let dir = RunDir::create(dir).map_err(|error| error.to_string())?;
    let wall_anchor_ms = i64::try_from(wall_start_ms).unwrap_or(i64::MAX);
    let labels = Labels::new();
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: RunNames::default(),
        labels: labels.clone(),
        wall_anchor_ms,
        ..RecorderConfig::default()
    };
    let (recorder, writers) = Recorder::start(config).map_err(|error| error.to_string())?;
    for mut writer in writers {
        for second in seconds.clone() {
            load.samples(agent, second, &labels, |sample| {
                while writer.record(sample).is_err() {
                    std::thread::yield_now();
                }
            });
            writer.flush(Nanos::from_secs(second + 1));
        }
    }
    let totals = recorder.finish();
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        busyhour: env!("CARGO_PKG_VERSION").into(),
        plan: PlanFile {
            path: "plan.jmx".into(),
            name: "Simulated".into(),
            sha256: plan_hash(PLAN),
            url: None,
        },
        seed: load.seed,
        share: None,
        command_line: Vec::new(),
        properties: std::collections::BTreeMap::default(),
        machine: Machine::this(format!("sim{agent:05}")),
        wall_anchor_ms,
        notes: Vec::new(),
        rate_timers: Vec::new(),
        request_deadline: None,
        results_file: None,
        thresholds: Vec::new(),
        events: Vec::new(),
        parts: RunDir::recorder_parts(),
        outcome: Some(RunOutcome { recorder_events: totals.events.clone(), ..outcome }),
    };
    dir.write_manifest(&manifest).map_err(|error| error.to_string())?;
    std::fs::write(dir.plan_path(), PLAN).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_records_have_the_same_samples() {
        let load = SimulatedLoad { seconds: 3, labels: 4, rate: 200, seed: 7 };
        let room = tempfile::tempdir().unwrap();
        let dir = room.path().join("record");
        write_record(&load, 3, 5..8, &dir, 0, RunOutcome::default()).unwrap();
        let reader = busyhour_record::SamplesReader::open(&RunDir::open(&dir).samples_path()).unwrap();
        let mut ends = Vec::new();
        reader
            .read(|_, sample| {
                ends.push((sample.times.end.second(), sample.response_ns(), sample.outcome.success))
            })
            .unwrap();
        for second in 5..8 {
            let own = load.snapshot(3, second);
            assert_eq!(own.second, second);
            let of_second = ends.iter().filter(|(at, ..)| *at == second);
            let times = busyhour_sample::TimeCounts::from_ns(of_second.clone().map(|(_, ns, _)| *ns));
            assert_eq!(own.total().response.all(), times);
            assert_eq!(own.total().errors, of_second.filter(|(.., success)| !success).count() as u64);
        }
        assert_eq!(ends.len(), 600);
    }
}
