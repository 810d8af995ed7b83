//! Pages of application logs.

use std::collections::BTreeMap;

use busyhour_logs::{
    CollectorSettings, Exposure, LogCollector, Redactor, RunClock, StampSettings, Zone, compare, find_bursts,
};
use busyhour_report::{LogBaseline, LogPage, NamedLog, logs_html};

use crate::sample::HOSTILE;

/// A log of this many minutes. With `has_problems`, it has many templates, stack traces, a burst and failed requests.
fn log(minutes: u32, has_problems: bool) -> NamedLog {
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 0 };
    // 2026-03-18T00:00:00Z
    let clock = RunClock { start_unix_ns: 1_773_792_000_000_000_000, end_unix_ns: None };
    let mut collector = LogCollector::new(CollectorSettings {
        counts_rules: true,
        ..CollectorSettings::new(stamps, clock, Redactor::standard())
    });
    let source = collector.add_source(None);
    let mut severities = BTreeMap::new();
    for second in 0..minutes * 60 {
        let stamp = format!("2026-03-18 {:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
        let mut text = format!("{stamp} INFO alive\n");
        if second % 40 == 0 {
            text += &format!("{stamp} WARN payment {second} failed\n");
        }
        if has_problems && second % 7 == 0 {
            let kind = ["seat", "performance", HOSTILE][(second / 7 % 3) as usize];
            text += &format!(
                "{stamp} ERROR shop.Seats{} - no {kind}\njava.lang.IllegalStateException: no {kind}\n",
                second % 5
            );
            text += &format!(
                "\tat shop.Seats.take{}(Seats.java:1)\n\tat {}.long(X.java)\n",
                second % 4,
                "pack.age".repeat(12)
            );
        }
        if has_problems && second % 11 == 0 {
            let status = [200, 404, 500, 503][(second / 11 % 4) as usize];
            text += &format!(
                "127.0.0.1 - - [18/Mar/2026:00:{:02}:{:02} +0000] \"GET /{} HTTP/1.1\" {status} 1\n",
                second / 60 % 60,
                second % 60,
                "event/".repeat(20)
            );
        }
        if has_problems && second == minutes * 40 {
            text += &format!("{stamp} ERROR database unreachable\n").repeat(200);
        }
        collector
            .read_each(source, text.as_bytes(), |entry| *severities.entry(entry.severity).or_default() += 1);
    }
    collector.end_each(source, |entry| *severities.entry(entry.severity).or_default() += 1);
    NamedLog { name: format!("logs/{HOSTILE}"), counts: collector.finish(), severities, has_times: true }
}

fn page(log: &NamedLog, baseline: Option<&NamedLog>) -> String {
    let (zone, bursts) = (Zone::utc(), find_bursts(&log.counts));
    let comparison =
        baseline.map(|baseline| compare(&baseline.counts, &log.counts, Exposure::RunLength).unwrap());
    let baseline = baseline.zip(comparison.as_ref());
    logs_html(&LogPage {
        log,
        zone: &zone,
        bursts: bursts.as_deref().map_err(|reason| *reason),
        baseline: baseline.map(|(log, comparison)| LogBaseline { log, comparison }),
    })
}

/// Names and pages.
pub fn pages() -> Vec<(&'static str, String)> {
    let (bad, quiet) = (log(30, true), log(30, false));
    vec![
        ("logs", page(&bad, None)),
        ("logs-quiet", page(&quiet, None)),
        ("logs-compared", page(&bad, Some(&quiet))),
        ("logs-short", page(&log(1, false), None)),
    ]
}
