//! The guarantees of the reader of access logs and of the comparison for arbitrary bytes.

use busyhour_logs::{StampSettings, Zone};
use busyhour_serverlog::{
    LineReader, LogFormat, LoggedRequest, MatchSettings, SentRequest, match_requests, target_key,
};

/// Checks the guarantees for a file whose first line describes the format, or is a line of the log.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let first = text.lines().next().unwrap_or_default();
    let format = LogFormat::parse(first).unwrap_or_else(|_| LogFormat::detect(first));
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 1_795_000_000_000_000_000 };
    let mut reader = LineReader::new(format, stamps);
    let mut lines: Vec<LoggedRequest> =
        text.lines().take(2_000).filter_map(|line| reader.read(line).ok()).collect();
    for line in &lines {
        assert!(line.tick_ns > 0 && line.start_ns().is_none_or(|start_ns| start_ns <= line.end_ns()));
    }
    lines.sort_by_key(|line| line.stamp_ns);
    let request = |(at, line): (usize, &LoggedRequest)| SentRequest {
        start_ns: line.start_ns().unwrap_or(line.stamp_ns).saturating_sub(1_000_000),
        end_ns: line.end_ns().saturating_add(1_000_000),
        target: line.target,
        path: line.path,
        status: line.status,
        server: (at % 3) as u32,
        label: 0,
        id: line.id,
    };
    let mut sent: Vec<SentRequest> = lines.iter().enumerate().map(request).collect();
    sent.sort_by_key(|request| request.start_ns);
    let matches = match_requests(&sent, &lines, MatchSettings::default());
    let counts = matches.counts;
    assert_eq!(counts.sent, counts.arrived + counts.lost + counts.answered_elsewhere);
    assert_eq!(matches.pairs.len() as u64, counts.arrived);
    let others: u64 = matches.other_servers.iter().map(|(_, requests)| requests).sum();
    assert_eq!(counts.sent + others, sent.len() as u64);
    let mut used: Vec<u32> = matches.pairs.iter().map(|pair| pair.line).collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used.len(), matches.pairs.len(), "a line has two requests");
    assert_eq!(matches.lines_of_run.len() as u64, counts.arrived + counts.repeated);
    assert!(matches.offset.is_none_or(|offset| offset.low_ms <= offset.high_ms));
    for word in first.split(' ') {
        let (key, path) = target_key(word);
        assert!(key > 0 && path > 0);
    }
}
