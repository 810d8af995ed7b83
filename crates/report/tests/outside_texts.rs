//! Tests that labels and messages from servers neither give commands to CI systems nor reverse the direction of the
//! surrounding text.

use busyhour_analysis::{RunFacts, Summary};
use busyhour_record::{Recorder, RecorderConfig};
use busyhour_report::{Look, RunShow, Written, end_of_run, html_report, summary_markdown, thresholds_junit};
use busyhour_sample::{Labels, Nanos, Sample, SampleOutcome, SampleTimes};

const HOSTILE: [&str; 6] = [
    "::stop-commands::x",
    "  ::error file=a::b",
    "##vso[task.complete result=Failed]",
    "##teamcity[testFailed name='a']",
    "##[error]a",
    "abc\u{202E}def\u{2066}",
];

fn summary() -> Summary {
    let labels = Labels::new();
    let config = RecorderConfig { labels: labels.clone(), ..RecorderConfig::default() };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut writer = writers.remove(0);
    for (second, text) in (1u64..).zip(HOSTILE) {
        let end = Nanos::from_secs(second);
        writer
            .record(&Sample {
                label: labels.intern(text),
                outcome: SampleOutcome::new(text, text, false),
                error_count: 1,
                times: SampleTimes { end, ..SampleTimes::default() },
                ..Sample::default()
            })
            .unwrap();
    }
    writer.flush(Nanos::from_secs(10));
    drop(writer);
    let facts = RunFacts { plan_name: HOSTILE[0].into(), source: HOSTILE[5].into(), ..RunFacts::default() };
    Summary::new(facts, &recorder.finish())
}

/// The part of a page between its style and its data.
fn body(page: &str) -> String {
    let body = page.split_once("<body").map_or(page, |(_, body)| body);
    body.split("<script type=\"application/json\"").next().unwrap_or_default().to_owned()
}

#[test]
fn texts_from_outside_are_not_commands() {
    let summary = summary();
    let details = RunShow { details: true, ..RunShow::default() };
    let look = |width| Look { width, colour: false };
    for (name, text) in [
        ("terminal", end_of_run(&summary, details, &Written::default(), look(None))),
        ("screen", end_of_run(&summary, RunShow::default(), &Written::default(), look(Some(80)))),
        ("narrow terminal", end_of_run(&summary, details, &Written::default(), look(Some(40)))),
        ("Markdown", summary_markdown(&summary)),
        ("JUnit", thresholds_junit(&summary)),
        ("page", body(&html_report(&summary))),
    ] {
        assert!(name == "JUnit" || text.contains("abc·def"), "{name}: {text}");
        assert!(!text.contains(['\u{202E}', '\u{2066}']), "{name}");
        for line in text.lines() {
            // GitHub skips blanks at the beginning; the others search the whole line.
            assert!(!line.trim_start().starts_with("::"), "{name}: {line}");
            for command in ["##vso[", "##teamcity[", "##["] {
                assert!(!line.contains(command), "{name}: {line}");
            }
        }
    }
}
