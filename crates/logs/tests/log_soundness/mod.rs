//! Properties that hold for any bytes: reading them ends, the counts add up and do not depend on how the bytes are split into
//! pieces.

use busyhour_logs::{
    CollectorSettings, DurationUnit, Envelope, Exposure, LogCollector, LogCounts, MinerSettings, Redactor,
    RunClock, StampSettings, TemplateMiner, TemplateScope, Zone, compare,
};

/// 2024-03-18T10:00:00Z.
const START: i64 = 1_710_756_000_000_000_000;

fn collect(envelope: Option<Envelope>, scope: TemplateScope, pieces: &[&[u8]]) -> LogCounts {
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: START };
    let clock = RunClock { start_unix_ns: START - 86_400_000_000_000, end_unix_ns: None };
    let redactor = Redactor::new(|name| name.ends_with("word"), |value| value.starts_with("eyJ"));
    let mut settings = CollectorSettings::new(stamps, clock, redactor);
    settings.scope = scope;
    settings.duration_unit = Some(DurationUnit::Microseconds);
    settings.miner = MinerSettings { templates_max: 50, leaf_templates_max: 5, ..MinerSettings::default() };
    settings.counts_max = 64;
    settings.example_bytes_max = 100;
    let mut collector = LogCollector::new(settings);
    let source = collector.add_source(envelope);
    for piece in pieces {
        collector.read(source, piece);
    }
    collector.finish()
}

/// Checks the properties for these bytes. The first byte selects the envelope.
pub fn check(bytes: &[u8]) {
    let envelopes =
        [None, Some(Envelope::Plain), Some(Envelope::Docker), Some(Envelope::Cri), Some(Envelope::Journal)];
    let (choice, bytes) = bytes.split_first().map_or((0, bytes), |(first, rest)| (usize::from(*first), rest));
    let envelope = envelopes[choice % envelopes.len()];
    let whole = collect(envelope, TemplateScope::All, &[bytes]);
    let middle = bytes.len() / 2;
    assert_eq!(collect(envelope, TemplateScope::All, &[&bytes[..middle], &bytes[middle..]]), whole);

    assert!(whole.lines <= bytes.len() as u64);
    assert!(whole.unreadable_lines <= whole.lines);
    let in_run: u64 = whole.entries_over_time.counts.iter().map(|(_, count)| u64::from(*count)).sum();
    let grouped: u64 = whole.templates.iter().map(|group| group.count).sum();
    assert_eq!(grouped + whole.ungrouped, in_run, "all entries in the run are grouped");
    let matching: u64 = whole.matching_over_time.counts.iter().map(|(_, count)| u64::from(*count)).sum();
    assert_eq!(matching, whole.matching);
    assert!(whole.outside + whole.without_time.values().sum::<u64>() + in_run <= whole.entries);
    for group in whole.templates.iter().chain(&whole.traces) {
        let counted: u64 = group.over_time.counts.iter().map(|(_, count)| u64::from(*count)).sum();
        assert_eq!(counted, group.count);
        assert!(group.example.len() < 1_000, "{}", group.example);
        assert!(group.over_time.counts.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    let matching_only = collect(envelope, TemplateScope::Matching, &[bytes]);
    assert_eq!((matching_only.entries, matching_only.matching), (whole.entries, whole.matching));
    if whole.length_s.is_some() {
        let comparison = compare(&whole, &whole, Exposure::RunLength).unwrap();
        assert!(comparison.templates.new.is_empty() && comparison.templates.risen.is_empty());
        assert!(comparison.traces.new.is_empty() && comparison.traces.risen.is_empty());
    }

    let text = String::from_utf8_lossy(bytes);
    let mut miner = TemplateMiner::default();
    if let Some(id) = miner.add(&text) {
        assert_eq!(miner.add(&text), Some(id));
    }
}
