//! Texts of watched programs are recorded without secrets.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use busyhour_observe::{
    DiscoveryStart, Mark, MarkKind, Metric, Probe, ProbeError, ProbeRunner, ProcRoot, ProcessProbe, Reading,
    SeriesStore, discover_from,
};
use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;
use busyhour_series::{FileStart, SERIES_FILE_NAME};

fn store(dir: &std::path::Path) -> SeriesStore {
    let start = FileStart { wall_anchor_ms: 0, hostname: "host".into(), program: "busyhour".into() };
    SeriesStore::create(dir, &start).unwrap()
}

fn has_secret(dir: &std::path::Path) -> bool {
    let bytes = fs::read(dir.join(SERIES_FILE_NAME)).unwrap();
    bytes.windows(6).any(|bytes| bytes == b"S3CRET")
}

#[test]
fn the_arguments_of_a_process_are_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    // It waits for its standard input, and ends when that is closed.
    let mut child = Command::new("sh")
        .args(["-c", "read line", "sh", "--password=S3CRET", "--token", "S3CRET"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let root = ProcRoot::live();
    let (clock, store) = (Clock::start(), store(dir.path()));
    let found = discover_from(&root, &[DiscoveryStart::Process(child.id())]);
    assert!(!found.is_empty());
    assert!(!format!("{found:?}").contains("S3CRET"), "{found:?}");
    let probe = ProcessProbe::new(&root, child.id(), &[]).unwrap();
    let mut runner = ProbeRunner::new(&store, Box::new(probe));
    runner.read(&clock);
    drop(child.stdin.take());
    child.wait().unwrap();
    // The end of the process is a mark.
    runner.read(&clock);
    assert!(!has_secret(dir.path()));
    assert!(!store.latest().is_empty());
}

static VALUE: Metric = Metric::gauge("value", "A value.");
static OTHER: Metric = Metric::gauge("other", "A value.");

/// Records texts of another program.
struct Talkative(u32);

impl Probe for Talkative {
    fn source(&self) -> &str {
        "talkative"
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let labels =
            [("groupname", "shop --password=S3CRET --port 80"), ("url", "http://me:S3CRET@h/?token=S3CRET")];
        let id = reading.series(&VALUE, &labels);
        reading.set(id, 1.0);
        reading.unavailable(&OTHER, "cannot connect: Authorization: Bearer S3CRET was refused");
        let text = "java -Dapp.secret=S3CRET ended".to_owned();
        reading.mark(Mark { kind: MarkKind::Other, from: Nanos(0), to: Nanos(0), text });
        self.0 += 1;
        match self.0 {
            1 => Err(ProbeError::format("http://h/?apiKey=S3CRET", "a page --api-key S3CRET")),
            _ => Err(ProbeError::Ended { what: "shop password: S3CRET".into() }),
        }
    }
}

#[test]
fn labels_marks_and_reasons_have_no_secrets_unless_they_are_kept() {
    for keeps in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (clock, store) = (Clock::start(), store(dir.path()));
        if keeps {
            store.keep_secrets();
        }
        let mut runner = ProbeRunner::new(&store, Box::new(Talkative(0)));
        runner.read(&clock);
        runner.read(&clock);
        assert_eq!(has_secret(dir.path()), keeps);
        let shown = format!("{:?} {:?} {:?}", store.latest(), store.status(), store.marks_since(0));
        assert_eq!(shown.contains("S3CRET"), keeps, "{shown}");
        assert!(shown.contains("--port 80"), "other parts are kept: {shown}");
        assert_eq!(store.latest().len(), 1, "the series is found again");
    }
}
