//! Logs that grow, are rotated or are missing, on a clock that the test advances.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::time::Duration;

use busyhour_observe::{MarkKind, SourceState};
use busyhour_series::{FileStart, SERIES_FILE_NAME, SeriesData, SeriesQuery, SeriesSet, read_series};

use super::*;

/// 2024-03-18T10:00:00Z.
const START_MS: u64 = 1_710_756_000_000;

struct Bench {
    dir: tempfile::TempDir,
    clock: Clock,
    store: SeriesStore,
    logs: LogSources,
    probes: Vec<ProbeRunner>,
}

impl Bench {
    fn new(options: LogOptions) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START_MS);
        let start =
            FileStart { wall_anchor_ms: START_MS as i64, hostname: String::new(), program: String::new() };
        let store = SeriesStore::create(dir.path(), &start).unwrap();
        let logs = LogSources::new(dir.path(), &clock, options);
        Bench { dir, clock, store, logs, probes: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn follow(&mut self, name: &str) {
        let probe = self.logs.probe(&SourceSpec::Log(self.path(name))).unwrap();
        self.probes.push(ProbeRunner::new(&self.store, probe));
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Advances the clock by a second, and reads all logs.
    fn second(&mut self) {
        self.clock.advance(Duration::from_secs(1));
        self.probes.iter_mut().for_each(|probe| probe.read(&self.clock));
    }

    fn finish(self) -> (LogsFile, SeriesSet, tempfile::TempDir) {
        drop(self.probes);
        self.logs.finish(&self.store).unwrap();
        let file = LogsFile::read(&self.dir.path().join(LOGS_FILE_NAME)).unwrap();
        let query = SeriesQuery { width_ns: 1_000_000_000, ..SeriesQuery::default() };
        let set = read_series(&self.dir.path().join(SERIES_FILE_NAME), &query).unwrap();
        (file, set, self.dir)
    }
}

fn series<'s>(set: &'s SeriesSet, name: &str, label: Option<&str>) -> &'s SeriesData {
    let has = |data: &&SeriesData| {
        data.info.name == name
            && label.is_none_or(|label| data.info.labels.iter().any(|(_, value)| value == label))
    };
    set.series.iter().find(has).unwrap_or_else(|| panic!("no {name} {label:?}: {:?}", names(set)))
}

fn names(set: &SeriesSet) -> Vec<String> {
    set.series.iter().map(|data| format!("{} {:?}", data.info.name, data.info.labels)).collect()
}

#[test]
fn entries_are_counted_in_the_seconds_of_their_stamps() {
    let mut bench = Bench::new(LogOptions::default());
    bench.append("server.log", "2024-03-18 09:59:00,000 ERROR shop.Shop - before the run\n");
    bench.follow("server.log");
    for _ in 0..4 {
        bench.second();
    }
    // The stamps have no offset and are two hours ahead of UTC.
    bench.append(
        "server.log",
        "2024-03-18 12:00:03,500 ERROR shop.Shop - no seat for booking 12\n\
         java.lang.IllegalStateException: no seat\n\tat shop.Shop.book(Shop.java:5)\n\
         2024-03-18 12:00:03,900 INFO shop.Shop - fine\n\
         2024-03-18 12:00:04,100 ERROR shop.Shop - no seat for booking 13, password=S3CRET\n",
    );
    for _ in 0..5 {
        bench.second();
    }
    let (file, set, _dir) = bench.finish();
    let source = &file.sources[0];
    assert!(source.name.ends_with("server.log") && source.name.starts_with("log:/"), "{}", source.name);
    assert_eq!(source.assumed_offset.as_deref(), Some("+02:00"));
    assert_eq!((source.counts.entries, source.counts.matching, source.counts.lines), (3, 2, 5));
    assert_eq!(source.counts.length_s, Some(9.0));
    assert_eq!(source.counts.matching_over_time.counts, [(3, 1), (4, 1)]);
    assert_eq!(source.counts.traces.len(), 1);
    assert!(!format!("{file:?}").contains("CRET"));
    let errors = series(&set, "busyhour_log_entries_total", Some("error"));
    let rates: Vec<(f64, f64)> =
        errors.points.iter().map(|point| (point.from.0 as f64 / 1e9, point.mean)).collect();
    assert_eq!((errors.increase, errors.resets), (2.0, 0), "{rates:?}");
    assert_eq!(series(&set, "busyhour_log_problems_total", None).last, Some((Nanos(9_000_000_000), 2.0)));
    assert_eq!(series(&set, "busyhour_log_exceptions_total", None).increase, 1.0);
    assert_eq!(series(&set, "busyhour_log_lines_total", None).last.unwrap().1, 5.0);
    assert_eq!(set.out_of_order, 0);
}

#[test]
fn an_access_log_is_counted_by_status() {
    let mut bench = Bench::new(LogOptions::default());
    bench.append("access.log", "");
    bench.follow("access.log");
    bench.second();
    for (status, count) in [(200, 5), (404, 2), (503, 1)] {
        for _ in 0..count {
            let line = format!(
                "10.0.0.1 - - [18/Mar/2024:10:00:01 +0000] \"GET /seats/7 HTTP/1.1\" {status} 12 \"-\" \"-\"\n"
            );
            bench.append("access.log", &line);
        }
    }
    for _ in 0..4 {
        bench.second();
    }
    let (file, set, _dir) = bench.finish();
    assert_eq!(file.sources[0].assumed_offset, None);
    for (code, count) in [("2xx", 5.0), ("404", 2.0), ("503", 1.0)] {
        assert_eq!(series(&set, "busyhour_log_http_responses_total", Some(code)).increase, count, "{code}");
    }
    assert_eq!(series(&set, "busyhour_log_exceptions_total", None).increase, 0.0);
}

#[test]
fn a_log_that_is_rotated_truncated_or_in_an_envelope_is_read_completely() {
    let mut bench = Bench::new(LogOptions::default());
    bench.append("app.log", "");
    bench.append("container.log", "");
    bench.append("pod.log", "");
    for name in ["app.log", "container.log", "pod.log"] {
        bench.follow(name);
    }
    let line = |second: u32| format!("2024-03-18T10:00:{second:02}Z ERROR shop.Shop - failed {second}\n");
    for second in 1..=9 {
        match second {
            3 => {
                bench.append("app.log", &line(second));
                fs::rename(bench.path("app.log"), bench.path("app.log.1")).unwrap();
                bench.append("app.log.1", &line(second));
            }
            6 => fs::write(bench.path("app.log"), "").unwrap(),
            _ => bench.append("app.log", &line(second)),
        }
        let text = line(second);
        let text = text.trim_end();
        let docker = format!(
            "{{\"log\":\"{text}\\n\",\"stream\":\"stderr\",\"time\":\"2024-03-18T10:00:{second:02}.5Z\"}}\n"
        );
        bench.append("container.log", &docker);
        bench.append("pod.log", &format!("2024-03-18T10:00:{second:02}.5Z stderr F {text}\n"));
        bench.second();
    }
    let (file, _, _dir) = bench.finish();
    let counted: Vec<u64> = file.sources.iter().map(|source| source.counts.matching).collect();
    assert_eq!(counted, [9, 9, 9], "{file:?}");
    assert!(file.sources.iter().all(|source| source.counts.templates[0].text == "failed <*>"));
}

#[test]
fn a_missing_file_is_read_when_it_appears() {
    let mut bench = Bench::new(LogOptions::default());
    bench.follow("later.log");
    bench.second();
    bench.second();
    let state = |bench: &Bench| bench.store.status().sources[0].state.clone();
    let SourceState::Failed(reason) = state(&bench) else { panic!("{:?}", state(&bench)) };
    assert!(
        reason.ends_with("later.log is not available: it does not exist yet and is read as soon as it does")
    );
    bench.append("later.log", "ERROR no seat\n");
    bench.second();
    assert_eq!(state(&bench), SourceState::Watching);
    let (file, set, _dir) = bench.finish();
    let counts = &file.sources[0].counts;
    assert_eq!(
        (counts.matching, counts.by_arrival),
        (1, 1),
        "a line without a stamp has the time of its arrival"
    );
    let states: Vec<_> = set.states.iter().map(|change| std::mem::discriminant(&change.state)).collect();
    assert_eq!(states.len(), 2, "each change is recorded once");
    // The seconds without the file have no values.
    let problems = series(&set, "busyhour_log_problems_total", None);
    assert!(problems.points.iter().all(|point| point.from >= Nanos(2_000_000_000)), "{problems:?}");
}

#[test]
fn a_burst_is_marked_with_its_template() {
    let mut bench = Bench::new(LogOptions::default());
    bench.append("server.log", "");
    bench.follow("server.log");
    for second in 0..320 {
        let count = if (200..203).contains(&second) { 20 } else { u32::from(second % 50 == 0) };
        let (minute, rest) = (second / 60, second % 60);
        for number in 0..count {
            let stamp = format!("2024-03-18T10:{minute:02}:{rest:02}.5Z");
            bench
                .append("server.log", &format!("{stamp} ERROR shop.Shop - no seat for {number} token=abc\n"));
        }
        bench.second();
    }
    let marks: Vec<_> = bench.store.marks_since(0).0;
    assert_eq!(marks.len(), 1, "{marks:?}");
    let mark = &marks[0].mark;
    assert_eq!(
        (mark.kind, mark.from, mark.to),
        (MarkKind::LogBurst, Nanos(200_000_000_000), Nanos(203_000_000_000))
    );
    assert_eq!(
        mark.text,
        "60 problems in 3 s; before, at most 1 in any 10 s of 3 min; 60 × no seat for <*> token=[redacted]"
    );
}

#[test]
fn the_last_file_before_a_kill_is_at_most_ten_seconds_old() {
    let mut bench = Bench::new(LogOptions::default());
    bench.append("server.log", "");
    bench.follow("server.log");
    let mut written = Vec::new();
    for second in 1..=25 {
        bench.append("server.log", &format!("2024-03-18T10:00:{second:02}Z ERROR failed\n"));
        bench.second();
        let file = LogsFile::read(&bench.path(LOGS_FILE_NAME)).unwrap();
        written.push(file.sources[0].counts.length_s.unwrap());
    }
    assert!((1..=25).zip(&written).all(|(second, length)| f64::from(second) - length < 10.0), "{written:?}");
    written.dedup();
    assert_eq!(written, [1.0, 11.0, 21.0]);
}

#[test]
fn secrets_are_kept_on_request() {
    let mut bench = Bench::new(LogOptions { keeps_secrets: true, ..LogOptions::default() });
    bench.append("server.log", "");
    bench.follow("server.log");
    bench.append("server.log", "2024-03-18T10:00:00Z ERROR login failed, password=S3CRET\n");
    bench.second();
    let (file, _, _dir) = bench.finish();
    assert!(file.sources[0].counts.templates[0].example.contains("password=S3CRET"));
}

#[cfg(unix)]
#[test]
fn a_journal_is_read_from_the_program_that_prints_it() {
    let mut bench = Bench::new(LogOptions::default());
    let record = "{\"MESSAGE\":\"no seat failed\",\"PRIORITY\":\"3\",\"_SYSTEMD_UNIT\":\"shop.service\",\
                  \"__REALTIME_TIMESTAMP\":\"1710756001500000\"}";
    let program = ["sh", "-c", "printf '%s\\n' \"$0\"", record].map(str::to_owned).to_vec();
    let input = LogInput::journal(JournalStart::Program(program), 0);
    let probe = bench.logs.follow("journal:shop.service".into(), input);
    let mut runner = ProbeRunner::new(&bench.store, Box::new(probe));
    // The program takes a moment to start; its end is noticed, too.
    let is_ended = |bench: &Bench| matches!(bench.store.status().sources[0].state, SourceState::Failed(_));
    for _ in 0..100_000 {
        runner.read(&bench.clock);
        if is_ended(&bench) {
            break;
        }
        std::thread::yield_now();
    }
    assert!(is_ended(&bench));
    bench.clock.advance(Duration::from_secs(3));
    let (file, ..) = bench.finish();
    assert_eq!(file.sources[0].counts.matching, 1, "{file:?}");
    assert_eq!(file.sources[0].counts.templates[0].severity, Some(busyhour_logs::EntrySeverity::Error));
}

#[test]
fn only_logs_have_probes_and_parts() {
    let mut bench = Bench::new(LogOptions::default());
    assert!(bench.logs.probe(&SourceSpec::Os).is_none());
    assert_eq!(LogSources::parts(&[SourceSpec::Os]), []);
    let parts = LogSources::parts(&[SourceSpec::Os, SourceSpec::Journal(None)]);
    assert_eq!((parts.len(), parts[0].kind.as_str(), parts[0].file.as_str()), (1, "logs", "logs.json"));
}
