use std::fs::{self, OpenOptions};
use std::io::Write as _;

use busyhour_observe::{MarkKind, SourceState};
use busyhour_sample::Nanos;
use serde_json::Value;

use super::*;

/// 2024-03-18T10:00:00Z.
const START_MS: u64 = 1_710_756_000_000;

struct Bench {
    dir: tempfile::TempDir,
    clock: Clock,
    store: SeriesStore,
    logs: GcLogSources,
    runner: ProbeRunner,
}

impl Bench {
    /// Follows a log with this content.
    fn new(content: Option<&str>) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gc.log");
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        let (clock, store) = (Clock::manual(START_MS), SeriesStore::in_memory());
        let mut logs = GcLogSources::new(dir.path(), &clock);
        let runner = ProbeRunner::new(&store, logs.probe(&path));
        Bench { dir, clock, store, logs, runner }
    }

    fn append(&self, text: &str) {
        let path = self.dir.path().join("gc.log");
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn second(&mut self) {
        self.clock.advance(Duration::from_secs(1));
        self.runner.read(&self.clock);
    }

    fn latest(&self, name: &str) -> f64 {
        let latest = self.store.latest();
        latest
            .iter()
            .find(|value| &*value.name == name)
            .unwrap_or_else(|| panic!("no {name}: {latest:?}"))
            .value
    }

    fn finish(self) -> Value {
        self.logs.finish(&self.store).unwrap();
        serde_json::from_slice(&fs::read(self.dir.path().join(GC_FILE_NAME)).unwrap()).unwrap()
    }
}

fn unified(stamp: &str, number: u32, before: u32) -> String {
    format!(
        "{stamp}[info][gc] GC({number}) Pause Young (Normal) (G1 Evacuation Pause) {before}M->10M(96M) 20.000ms\n"
    )
}

#[test]
fn pauses_have_the_wall_times_of_the_log() {
    let before = "[2024-03-18T09:00:00.000+0000][info][gc] Using G1\n".to_owned()
        + &unified("[2024-03-18T09:59:50.000+0000]", 0, 50);
    let mut bench = Bench::new(Some(&before));
    bench.second();
    bench.append(&unified("[2024-03-18T12:00:01.500+0200]", 1, 60));
    bench.second();
    bench.append(&unified("[2024-03-18T12:00:02.500+0200]", 2, 70));
    bench.second();
    let marks = bench.store.marks_since(0).0;
    let spans: Vec<_> = marks.iter().map(|mark| (mark.mark.kind, mark.mark.from, mark.mark.to)).collect();
    let span = |ms: u64| (MarkKind::GcPause, Nanos((ms - 20) * 1_000_000), Nanos(ms * 1_000_000));
    assert_eq!(spans, [span(1_500), span(2_500)]);
    assert_eq!(marks[0].mark.text, "young (G1 Evacuation Pause), 20.0 ms, heap 60 → 10 MiB");
    assert!((bench.latest("busyhour_gc_log_pause_seconds_total") - 0.04).abs() < 1e-12);
    assert_eq!(bench.latest("busyhour_gc_log_pauses_total"), 2.0);
    assert_eq!(bench.latest("busyhour_gc_log_heap_after_bytes"), 10.0 * 1024.0 * 1024.0);
    // The memory allocated before the first collection of the run is unknown.
    assert_eq!(bench.latest("busyhour_gc_log_allocated_bytes_total"), 60.0 * 1024.0 * 1024.0);
    let file = bench.finish();
    let source = &file["sources"][0];
    assert_eq!(source["summary"]["collector"], "g1");
    assert_eq!(source["uncertainty_s"], Value::Null);
    assert_eq!(source["origin_s"], 1.5, "the series begin at the first stamp");
    assert!(source["summary"]["figures"].as_array().unwrap().len() > 40);
}

#[test]
fn uptimes_are_aligned_by_arrival_and_the_uncertainty_is_stated() {
    let mut bench = Bench::new(Some(""));
    for (number, tenth) in [3_u32, 17, 25, 31, 49].into_iter().enumerate() {
        let uptime = f64::from(tenth) / 10.0 + 1_000.0;
        bench.append(&unified(&format!("[{uptime:.3}s]"), number as u32, 60));
        bench.second();
    }
    let marks = bench.store.marks_since(0).0;
    assert!(marks[0].mark.text.ends_with("; time ±500 ms"), "{:?}", marks[0]);
    let last = &marks[4].mark;
    let uncertainty_s = bench.latest("busyhour_gc_log_time_uncertainty_seconds");
    assert!(uncertainty_s < 0.2, "{uncertainty_s}");
    assert!((last.to.0 as f64 / 1e9 - 4.9).abs() <= uncertainty_s + 1e-6, "{last:?}");
}

#[test]
fn a_log_is_followed_over_rotation_and_before_it_exists() {
    let mut bench = Bench::new(None);
    bench.second();
    let state = bench.store.status().sources[0].state.clone();
    let SourceState::Failed(reason) = state else { panic!("{state:?}") };
    assert!(reason.contains("does not exist yet"), "{reason}");
    bench.append(&unified("[2024-03-18T10:00:01.500+0000]", 0, 60));
    bench.second();
    bench.append(&unified("[2024-03-18T10:00:02.200+0000]", 1, 60));
    let path = bench.dir.path().join("gc.log");
    fs::rename(&path, bench.dir.path().join("gc.log.0")).unwrap();
    bench.append(&unified("[2024-03-18T10:00:02.700+0000]", 2, 60));
    bench.second();
    assert_eq!(bench.latest("busyhour_gc_log_pauses_total"), 3.0);
    let file = bench.finish();
    assert_eq!(file["sources"][0]["summary"]["lines"]["damaged"], 0);
}

#[test]
fn the_rotated_parts_of_jdk_8_are_followed() {
    let mut bench = Bench::new(None);
    let path = |name: &str| bench.dir.path().join(name);
    let head = |name: &str| {
        format!(
            "2024-03-18 10:00:00 GC log file created /var/log/{name}\n\
             OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06)\n\
             CommandLine flags: -XX:+UseGCLogFileRotation -XX:+UseParallelGC \n"
        )
    };
    let pause = |ms: u32| {
        format!(
            "2024-03-18T10:00:0{}.{:03}+0000: 7.100: [GC (Allocation Failure) 1000K->500K(2000K), 0.0200000 secs]\n",
            ms / 1_000,
            ms % 1_000
        )
    };
    let saved = "2024-03-18 10:00:01 GC log file has reached the maximum size. Saved as /var/log/gc.log.0\n";
    let (first, second) = (path("gc.log.0.current"), path("gc.log.1.current"));
    fs::write(&first, head("gc.log.0") + &pause(100)).unwrap();
    bench.second();
    let text = fs::read_to_string(&first).unwrap() + &pause(1_200) + saved;
    fs::write(&first, text).unwrap();
    fs::rename(&first, bench.dir.path().join("gc.log.0")).unwrap();
    fs::write(&second, head("gc.log.1") + &pause(1_400)).unwrap();
    bench.second();
    assert_eq!(bench.latest("busyhour_gc_log_pauses_total"), 3.0);
    let file = bench.finish();
    let summary = &file["sources"][0]["summary"];
    assert_eq!((&summary["lines"]["damaged"], &summary["collector"]), (&0.into(), &"parallel".into()));
}

#[test]
fn stamps_of_logs_up_to_jdk_8_are_starts_of_pauses() {
    let mut bench = Bench::new(Some(""));
    bench.append(
        "2024-03-18T10:00:00.500+0000: 7.100: [GC (Allocation Failure) 1000K->500K(2000K), 0.2500000 secs]\n",
    );
    bench.second();
    let mark = &bench.store.marks_since(0).0[0].mark;
    assert_eq!((mark.from, mark.to), (Nanos(500_000_000), Nanos(750_000_000)), "{mark:?}");
}

#[test]
fn many_pauses_of_one_reading_become_a_bounded_number_of_marks() {
    let mut bench = Bench::new(Some(""));
    for number in 0..500 {
        bench.append(&unified("[2024-03-18T10:00:00.500+0000]", number, 60));
    }
    bench.second();
    let marks = bench.store.marks_since(0).0;
    assert_eq!(marks.len(), 201);
    assert_eq!(marks[200].mark.text, "300 more, shorter pauses since the last reading");
    assert_eq!(bench.latest("busyhour_gc_log_pauses_total"), 500.0);
}
