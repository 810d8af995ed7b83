use super::*;
use crate::query::Query;
use crate::severity::EntrySeverity;
use crate::stamps::{StampSettings, Zone};
use busyhour_redaction::Redactor;

/// 2024-03-18T10:00:00Z.
const START: i64 = 1_710_756_000_000_000_000;

fn settings() -> CollectorSettings {
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: START };
    let clock = RunClock { start_unix_ns: START, end_unix_ns: Some(START + 600_000_000_000) };
    CollectorSettings::new(stamps, clock, Redactor::standard())
}

fn counts(text: &str) -> LogCounts {
    let mut collector = LogCollector::new(settings());
    let source = collector.add_source(None);
    collector.read(source, text.as_bytes());
    collector.finish()
}

#[test]
fn problems_are_counted_by_template_trace_and_second() {
    let text = "\
2024-03-18 09:59:59 ERROR shop.Shop - no seat for booking 1
2024-03-18 10:00:00 INFO shop.Shop - started
2024-03-18 10:00:05 ERROR shop.Shop - no seat for booking 1
2024-03-18 10:00:05 ERROR shop.Shop - no seat for booking 2
java.lang.IllegalStateException: x
	at shop.Shop.book(Shop.java:5)
2024-03-18 10:00:07 ERROR shop.Shop - no seat for booking 3, password=hunter2
2024-03-18 10:10:00 ERROR shop.Shop - no seat for booking 4
";
    let counts = counts(text);
    assert_eq!((counts.lines, counts.entries, counts.matching, counts.outside), (8, 6, 3, 2));
    assert_eq!(counts.entries_over_time.counts, [(0, 1), (5, 2), (7, 1)]);
    assert_eq!(counts.matching_over_time.counts, [(5, 2), (7, 1)]);
    let templates: Vec<_> = counts.templates.iter().map(|group| (group.text.as_str(), group.count)).collect();
    assert_eq!(
        templates,
        [("no seat for booking <*>", 2), ("no seat for booking <*>, password=[redacted]", 1)]
    );
    let [first, second] = counts.templates.as_slice() else { panic!() };
    assert_eq!((first.severity, first.logger.as_deref()), (Some(EntrySeverity::Error), Some("shop.Shop")));
    assert_eq!(first.example, "2024-03-18 10:00:05 ERROR shop.Shop - no seat for booking 1");
    assert!(!second.example.contains("hunter2"));
    assert_eq!(counts.traces[0].text, "java.lang.IllegalStateException at shop.Shop.book");
    assert_eq!(counts.traces[0].over_time.counts, [(5, 1)]);
    assert_eq!(counts.length_s, Some(600.0));
}

#[test]
fn requests_have_templates_with_their_status_and_path() {
    let line = |target: &str, status| {
        format!("::1 - - [18/Mar/2024:10:00:01 +0000] \"GET {target} HTTP/1.1\" {status} 5\n")
    };
    let text = [
        line("/api/orders/5?x=1", 500),
        line("/api/orders/77", 500),
        line("/api/orders/5", 404),
        line("/api/error", 200),
    ];
    let counts = counts(&text.concat());
    let templates: Vec<_> = counts.templates.iter().map(|group| (group.text.as_str(), group.count)).collect();
    assert_eq!(templates, [("500 GET /api/orders/<*>", 2), ("404 GET /api/orders/<*>", 1)]);
    assert_eq!((counts.entries, counts.matching), (4, 3));
}

#[test]
fn entries_without_a_time_are_counted_with_the_reason() {
    let mut settings = settings();
    settings.stamps.zone = None;
    let mut collector = LogCollector::new(settings);
    let source = collector.add_source(None);
    collector.read(source, b"2024-03-18 10:00:00 ERROR a\n");
    let source = collector.add_source(None);
    collector.read(source, b"ERROR b\nERROR c\nfine\n");
    let counts = collector.finish();
    assert_eq!(counts.without_time, BTreeMap::from([(MissingTime::NoStamp, 2), (MissingTime::NoZone, 1)]));
    assert_eq!((counts.entries, counts.matching), (4, 0));
    assert!(counts.templates.is_empty());
}

#[test]
fn parts_of_container_logs_are_joined_per_stream() {
    let text = "\
2024-03-18T10:00:01Z stdout P 2024-03-18 10:00:01 ERROR no 
2024-03-18T10:00:01Z stderr F panic: x
2024-03-18T10:00:01Z stdout F seat
2024-03-18T10:00:01Z stderr F
2024-03-18T10:00:01Z stderr F goroutine 1 [running]:
2024-03-18T10:00:01Z stdout F 	at shop.Shop.book(Shop.java:5)
2024-03-18T10:00:02Z stderr F main.main()
broken
";
    let mut query = settings();
    query.query = "level>=error".parse().unwrap();
    let mut collector = LogCollector::new(query);
    let source = collector.add_source(None);
    collector.read(source, text.as_bytes());
    let counts = collector.finish();
    let texts: Vec<_> = counts.templates.iter().map(|group| group.text.as_str()).collect();
    assert_eq!(texts, ["no seat", "panic: x"]);
    let traces: Vec<_> = counts.traces.iter().map(|group| group.text.as_str()).collect();
    assert_eq!(traces, [" at shop.Shop.book", "panic at main.main"]);
    assert_eq!((counts.unreadable_lines, counts.lines), (1, 8));
}

#[test]
fn long_lines_in_parts_are_cut_and_counted() {
    let part = |tag| format!("2024-03-18T10:00:01Z stdout {tag} error{}\n", " x".repeat(20_000));
    let text = [part("P"), part("P"), part("F"), part("F")].concat();
    let mut collector = LogCollector::new(settings());
    let source = collector.add_source(Some(Envelope::Cri));
    collector.read(source, text.as_bytes());
    let counts = collector.finish();
    assert_eq!((counts.truncated_lines, counts.entries, counts.lines), (1, 2, 4));
}

#[test]
fn a_journal_is_counted_by_the_time_of_its_records() {
    let mut settings = settings();
    settings.clock = RunClock { start_unix_ns: 1_795_739_590_000_000_000, end_unix_ns: None };
    let mut collector = LogCollector::new(settings);
    let source = collector.add_source(Some(Envelope::Journal));
    collector.read(source, include_bytes!("../../tests/journal/journalctl-252.json"));
    let counts = collector.finish();
    assert_eq!((counts.lines, counts.unreadable_lines), (6, 1));
    let texts: Vec<_> = counts.templates.iter().map(|group| group.text.as_str()).collect();
    assert_eq!(texts, ["booking failed", "no seat for booking <*>"]);
    assert_eq!(counts.traces[0].text, "java.lang.IllegalStateException at shop.Shop.book");
    assert_eq!(counts.length_s, Some(7.0));
}

#[test]
fn an_open_entry_is_completed_on_request() {
    let mut collector = LogCollector::new(settings());
    let source = collector.add_source(None);
    collector.read(source, b"2024-03-18 10:00:00 ERROR a\n\tat a.B.c(B.java:1)\n");
    assert_eq!(collector.counts().matching, 0);
    collector.complete_entries(source, |_| ());
    assert_eq!(collector.counts().matching, 1);
    collector.read(SourceId(7), b"ignored");
    assert_eq!(collector.finish().matching, 1);
}

#[test]
fn counts_are_serialized_and_read_back() {
    let counts = counts("2024-03-18 10:00:00 ERROR a\n");
    let text = serde_json::to_string(&counts).unwrap();
    assert_eq!(serde_json::from_str::<LogCounts>(&text).unwrap(), counts);
}

#[test]
fn many_streams_and_templates_stay_bounded() {
    let mut collector = LogCollector::new(settings());
    let source = collector.add_source(Some(Envelope::Journal));
    for process in 0..3_000 {
        let word: String = format!("{process:05}").bytes().map(|digit| (digit + 49) as char).collect();
        let line = format!(
            "{{\"MESSAGE\":\"error {word} {word}\",\"_PID\":\"{process}\",\"__REALTIME_TIMESTAMP\":\"1710756001000000\"}}\n"
        );
        collector.read(source, line.as_bytes());
    }
    assert!(collector.sources[0].streams.open.len() <= 64);
    let counts = collector.finish();
    assert_eq!(counts.matching, 3_000);
    assert_eq!(counts.templates.iter().map(|group| group.count).sum::<u64>() + counts.ungrouped, 3_000);
}

proptest::proptest! {
    #[test]
    fn counts_do_not_depend_on_the_pieces(
        lines in proptest::collection::vec("(2024-03-18 10:0[01]:00 ERROR |\tat a.B.c\\(|Caused by: a.E: |\\{\"log\":\"|)[ -~é]{0,20}", 0..20),
        cut in 0_usize..400,
    ) {
        let text = lines.join("\n");
        let whole = counts(&text);
        let mut collector = LogCollector::new(settings());
        let source = collector.add_source(None);
        let cut = cut.min(text.len());
        collector.read(source, &text.as_bytes()[..cut]);
        collector.read(source, &text.as_bytes()[cut..]);
        proptest::prop_assert_eq!(collector.finish(), whole);
    }
}

#[test]
fn entries_are_counted_by_rule_if_the_settings_ask_for_it() {
    let text = "\
2024-03-18 10:00:05 ERROR shop.Shop - no seat
2024-03-18 10:00:07 WARN shop.Shop - payment failed
java.io.IOException: write failed
	at shop.Shop.pay(Shop.java:5)
127.0.0.1 - - [18/Mar/2024:10:00:09 +0000] \"GET /a HTTP/1.1\" 503 12
";
    assert_eq!(counts(text).rules, []);
    let mut collector = LogCollector::new(CollectorSettings { counts_rules: true, ..settings() });
    let source = collector.add_source(None);
    collector.read(source, text.as_bytes());
    let rules = collector.finish().rules;
    let counted = rules.iter().filter(|rule| rule.count > 0);
    let counted: Vec<_> =
        counted.map(|rule| (rule.rule.to_string(), rule.count, rule.over_time.counts.clone())).collect();
    assert_eq!(
        counted,
        [
            ("exception".to_owned(), 1, vec![(7, 1)]),
            ("failed".to_owned(), 1, vec![(7, 1)]),
            ("level>=error".to_owned(), 1, vec![(5, 1)]),
            ("status=503".to_owned(), 1, vec![(9, 1)]),
        ]
    );
    assert_eq!(rules.len(), Query::default().rules().len());
}
