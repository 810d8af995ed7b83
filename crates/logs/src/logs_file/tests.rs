use super::*;
use crate::collector::{CollectorSettings, LogCollector, RunClock};
use crate::series::CountSeries;
use crate::severity::EntrySeverity;
use crate::stamps::{StampSettings, Zone};
use busyhour_redaction::Redactor;

fn counts() -> LogCounts {
    let start_unix_ns = 1_710_756_000_000_000_000;
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: start_unix_ns };
    let clock = RunClock { start_unix_ns, end_unix_ns: None };
    let mut collector = LogCollector::new(CollectorSettings::new(stamps, clock, Redactor::standard()));
    let source = collector.add_source(None);
    collector.read(source, b"2024-03-18 10:00:05,123 ERROR shop.Shop - no seat for booking 12\n");
    collector.finish()
}

fn source(counts: LogCounts) -> LoggedSource {
    let name = String::from("log:server.log");
    LoggedSource { name, assumed_offset: Some("+02:00".into()), counts, omitted: OmittedGroups::default() }
}

fn group(number: usize, severity: EntrySeverity, example_bytes: usize) -> GroupCounts {
    GroupCounts {
        text: format!("template {number}"),
        severity: Some(severity),
        logger: None,
        count: number as u64,
        example: "x".repeat(example_bytes),
        over_time: CountSeries { counts: vec![(1, 2)] },
    }
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let file = LogsFile::new(vec![source(counts())]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(LOGS_FILE_NAME);
    std::fs::write(&path, file.to_json().unwrap()).unwrap();
    assert_eq!(LogsFile::read(&path).unwrap(), file);
    assert_eq!(file.sources[0].counts.templates[0].text, "no seat for booking <*>");
}

#[test]
fn the_rarest_templates_are_omitted_beyond_the_limit() {
    let mut counts = counts();
    // Each source may have 8 MiB of templates: 2,000 × 10,000 bytes are too many.
    counts.templates = (0..2_000).map(|number| group(number, EntrySeverity::Info, 10_000)).collect();
    counts.templates.push(group(2, EntrySeverity::Fatal, 10));
    let file = LogsFile::new(vec![source(counts)]);
    let kept = &file.sources[0].counts.templates;
    assert!((700..840).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept.last().unwrap().severity, Some(EntrySeverity::Fatal), "severe ones are kept");
    assert_eq!(kept[0].text, format!("template {}", 2_000 - (kept.len() - 1)), "the order is kept");
    let omitted = file.sources[0].omitted;
    assert_eq!(omitted.templates as usize + kept.len(), 2_001);
    let entries: u64 = kept.iter().map(|group| group.count).sum();
    assert_eq!(omitted.template_entries + entries, 1_999 * 2_000 / 2 + 2);
    assert!(file.to_json().unwrap().len() < LOGS_GROUP_BYTES_MAX);
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let path = Path::new("logs.json");
    let text = |of: &LogsFile| of.to_json().unwrap();
    let mut file = LogsFile::new(vec![source(counts())]);
    assert!(LogsFile::parse(&text(&file), path).is_ok());
    file.sources[0].counts.format = 9;
    assert!(matches!(LogsFile::parse(&text(&file), path), Err(LogsFileError::Version { found: 9, .. })));
    let later = br#"{"version":2,"logs":[]}"#;
    assert!(matches!(LogsFile::parse(later, path), Err(LogsFileError::Version { found: 2, .. })));
    assert!(matches!(LogsFile::parse(b"{", path), Err(LogsFileError::Damaged { .. })));
    let many = LogsFile { version: 1, sources: vec![source(counts()); LOGGED_SOURCES_MAX + 1] };
    assert!(matches!(LogsFile::parse(&text(&many), path), Err(LogsFileError::Sources { found: 65, .. })));
    let missing = LogsFile::read(Path::new("does/not/exist.json"));
    assert!(matches!(missing, Err(LogsFileError::Read { .. })));
}
