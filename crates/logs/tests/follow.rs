//! Following files that grow, are rotated or truncated, and the output of journalctl.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use busyhour_logs::follow::{FileFollower, Piece, PolledFile, StartAt};
use busyhour_logs::{CollectorSettings, LogCollector, Redactor, RunClock, StampSettings, Zone};

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// The text that a poll finds, with `|` where the content of another file or of the truncated file begins.
fn poll(follower: &mut FileFollower) -> (String, PolledFile) {
    let mut text = Vec::new();
    let polled = follower
        .poll(|piece| match piece {
            Piece::Bytes(bytes) => text.extend_from_slice(bytes),
            Piece::Begin => text.push(b'|'),
        })
        .unwrap();
    (String::from_utf8(text).unwrap(), polled)
}

#[test]
fn a_growing_file_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log");
    append(&path, "old\n");
    let mut from_end = FileFollower::open(&path, StartAt::End).unwrap();
    let mut from_beginning = FileFollower::open(&path, StartAt::Beginning).unwrap();
    assert_eq!(poll(&mut from_end).0, "");
    assert_eq!(poll(&mut from_beginning).0, "old\n");
    append(&path, "half");
    assert_eq!(poll(&mut from_end).0, "half");
    append(&path, " line\n");
    assert_eq!(poll(&mut from_end), (" line\n".into(), PolledFile { bytes: 6, ..PolledFile::default() }));
    assert_eq!(poll(&mut from_beginning).0, "half line\n");
    assert_eq!(poll(&mut from_beginning), (String::new(), PolledFile::default()));
}

#[test]
fn a_rotated_file_is_read_to_its_end_and_the_new_one_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("app.log"), folder.path().join("app.log.1"));
    append(&path, "a\n");
    let mut follower = FileFollower::open(&path, StartAt::Beginning).unwrap();
    assert_eq!(poll(&mut follower).0, "a\n");
    fs::rename(&path, &old).unwrap();
    append(&old, "written after the rotation\n");
    assert_eq!(poll(&mut follower).0, "written after the rotation\n");
    append(&old, "b");
    append(&path, "c\n");
    let (text, polled) = poll(&mut follower);
    assert_eq!(text, "b|c\n");
    assert!(polled.was_rotated && !polled.was_truncated);
    assert_eq!(poll(&mut follower), (String::new(), PolledFile::default()));
}

#[test]
fn a_truncated_file_is_read_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log");
    append(&path, "a long first line\n");
    let mut follower = FileFollower::open(&path, StartAt::Beginning).unwrap();
    poll(&mut follower);
    File::create(&path).unwrap();
    append(&path, "new\n");
    let (text, polled) = poll(&mut follower);
    assert_eq!(text, "|new\n");
    assert!(polled.was_truncated);
    // The file is truncated and, before the next poll, becomes longer than it was.
    File::create(&path).unwrap();
    append(&path, "something else that is longer\n");
    assert_eq!(poll(&mut follower).0, "|something else that is longer\n");
    assert_eq!(poll(&mut follower).0, "");
}

#[test]
fn a_file_may_appear_and_disappear() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log");
    let mut follower = FileFollower::open(&path, StartAt::End).unwrap();
    assert_eq!(poll(&mut follower), (String::new(), PolledFile::default()));
    append(&path, "first\n");
    assert_eq!(poll(&mut follower).0, "first\n");
    fs::remove_file(&path).unwrap();
    assert_eq!(poll(&mut follower), (String::new(), PolledFile::default()));
    // The new file must have another inode than the one that is still open.
    append(&path, "second\n");
    assert_eq!(poll(&mut follower).0, "|second\n");
}

#[test]
fn a_poll_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log");
    fs::write(&path, vec![b'x'; 9 << 20]).unwrap();
    let mut follower = FileFollower::open(&path, StartAt::Beginning).unwrap();
    let (mut total, mut polls) = (0, 0);
    loop {
        let polled = follower.poll(|_| {}).unwrap();
        total += polled.bytes;
        polls += 1;
        if !polled.has_more {
            break;
        }
    }
    assert_eq!((total, polls), (9 << 20, 3));
}

#[test]
fn a_rotated_log_is_counted_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log");
    // The run begins at 0, so that the stamps are of 1970-01-01.
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 0 };
    let clock = RunClock { start_unix_ns: 0, end_unix_ns: None };
    let redactor = Redactor::new(|_| false, |_| false);
    let mut collector = LogCollector::new(CollectorSettings::new(stamps, clock, redactor));
    let source = collector.add_source(None);
    let mut follower = FileFollower::open(&path, StartAt::Beginning).unwrap();
    let mut poll = |collector: &mut LogCollector| {
        let polled = follower.poll(|piece| match piece {
            Piece::Bytes(bytes) => collector.read(source, bytes),
            Piece::Begin => collector.end(source),
        });
        polled.unwrap()
    };
    append(&path, "1970-01-01 00:00:01 ERROR a\n1970-01-01 00:00:02 ERR");
    poll(&mut collector);
    append(&path, "OR b\n1970-01-01 00:00:03 ERROR cut o");
    fs::rename(&path, folder.path().join("app.log.1")).unwrap();
    append(&path, "1970-01-01 00:00:04 ERROR d\n");
    assert!(poll(&mut collector).was_rotated);
    let counts = collector.finish();
    assert_eq!(counts.matching_over_time.counts, [(1, 1), (2, 1), (3, 1), (4, 1)]);
}

#[test]
fn a_directory_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let result = FileFollower::open(folder.path(), StartAt::Beginning)
        .and_then(|mut follower| follower.poll(|_| {}).map(|_| ()));
    let error = result.unwrap_err();
    assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[cfg(unix)]
mod journal {
    use std::process::Command;

    use busyhour_logs::follow::{FollowError, JournalFollower};

    const RECORDED: &str = "tests/journal/journalctl-252.json";

    fn shell(script: &str) -> JournalFollower {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(env!("CARGO_MANIFEST_DIR"));
        JournalFollower::of(command).unwrap()
    }

    fn read_all(follower: &mut JournalFollower) -> Result<Vec<u8>, FollowError> {
        let mut bytes = Vec::new();
        while !follower.poll(|piece| bytes.extend_from_slice(piece))?.has_ended {
            std::thread::yield_now();
        }
        Ok(bytes)
    }

    #[test]
    fn the_output_of_the_process_is_read_to_its_end() {
        let bytes = read_all(&mut shell(&format!("cat {RECORDED}; cat {RECORDED}"))).unwrap();
        let recorded = include_bytes!("journal/journalctl-252.json");
        assert_eq!(bytes.len(), 2 * recorded.len());
        assert!(bytes.starts_with(recorded));
    }

    #[test]
    fn the_error_of_the_process_is_reported() {
        let error = read_all(&mut shell("echo no journal files were found >&2; exit 3")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no journal files were found") && text.contains('3'), "{text}");
    }

    #[test]
    fn a_process_that_writes_nothing_does_not_block_and_is_ended() {
        let mut follower = shell("exec sleep 600");
        let polled = follower.poll(|_| panic!("no output")).unwrap();
        assert_eq!((polled.bytes, polled.has_ended), (0, false));
        drop(follower);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = JournalFollower::of(Command::new("/does/not/exist")).unwrap_err();
        assert!(matches!(error, FollowError::Journal { action: "start", .. }));
    }
}
