use proptest::prelude::*;

use super::*;
use crate::thresholds::{CriterionLimit, ValueUnit};

fn plain(text: &str, meaning: Meaning) -> String {
    match Criterion::parse(text, meaning) {
        Ok(criterion) => criterion.to_string(),
        Err(error) => format!("{error} | {}", error.hint.as_deref().unwrap_or_default()),
    }
}

#[test]
fn requirements_are_parsed() {
    let table = [
        ("p95 of checkout < 800ms", "require p95 of 'checkout' < 800ms"),
        ("p95 < 0.8s over 30s", "require p95 < 800ms over 30s"),
        ("  mean of /^GET / <= 1m30s  ", "require mean of /^GET / <= 90000ms"),
        ("service p99.9 of each < 2s500ms", "require service p99.9 of each < 2500ms"),
        ("median of each /cart|shop/ < 250us", "require p50 of each /cart|shop/ < 0.25ms"),
        ("errors < 1%", "require fail < 1%"),
        ("fail of login <= 3 over 1m", "require fail of 'login' <= 3 over 60s"),
        ("rc5xx = 0", "require rc5?? = 0"),
        ("rc4?? of home < 20% over 10s", "require rc4?? of 'home' < 20% over 10s"),
        ("rate > 200", "require rate > 200/s"),
        ("throughput of buy >= 600/min over 2m", "require rate of 'buy' >= 10/s over 120s"),
        ("hits > 1000", "require hits > 1000"),
        ("succ >= 99.5%", "require succ >= 99.5%"),
        ("apdex > 0.9", "require apdex(500ms, 1500ms) > 0.9"),
        ("apdex(300ms) of home >= 0.85", "require apdex(300ms, 1200ms) of 'home' >= 0.85"),
        ("apdex(300ms, 1s) of home >= 0.85", "require apdex(300ms, 1000ms) of 'home' >= 0.85"),
        ("cov < 1.1", "require arrivals-cov < 1.1"),
        ("dropped = 0", "require dropped = 0"),
        ("dropped < 1%", "require dropped < 1%"),
        ("users <= 500", "require concurrency <= 500"),
        ("max of 'a < b, c' < 2 s", "require max of 'a < b, c' < 2000ms"),
        (r#"max of "it's" < 2s"#, r"require max of 'it\'s' < 2000ms"),
        ("max of /api/cart < 2s", "require max of '/api/cart' < 2000ms"),
        ("avg-rt of GET http://host:80/x < 1s", "require mean of 'GET http://host:80/x' < 1000ms"),
        ("p95 of total < 1s", "require p95 < 1000ms"),
        ("p95 < 1s after 30s until 5m", "require p95 < 1000ms after 30s until 300s"),
        ("p95 < 1s over 30s, or stop", "require p95 < 1000ms over 30s, or stop"),
        ("p95 of rare < 1s, if any", "require p95 of 'rare' < 1000ms, if any"),
        ("Checkout is fast: p95 of checkout < 1s", "Checkout is fast: require p95 of 'checkout' < 1000ms"),
        (
            "require hits > 10 for 5s",
            "column 19: `for` sets the shortest duration of a failure, so it cannot be used in a requirement | write `over 30s` for every window of 30 s, or reverse the condition: `fail if … for 30s`",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(plain(text, Meaning::Require), expected, "{text}");
    }
}

/// The examples in the documentation of Taurus's pass/fail module, without those that Taurus itself rejects.
#[test]
fn criteria_of_taurus_are_parsed() {
    let table = [
        (
            "avg-rt of IndexPage>150ms for 10s, stop as failed",
            "fail if mean of 'IndexPage' > 150ms for 10s, stop as failed",
        ),
        (
            "fail of CheckoutPage>50% for 10s, stop as failed",
            "fail if fail of 'CheckoutPage' > 50% for 10s, stop as failed",
        ),
        ("avg-rt>2s500ms", "fail if mean > 2500ms, continue as failed"),
        ("avg-ct>100ms", "fail if avg-ct > 100ms, continue as failed"),
        ("stdev-rt>0.5", "fail if stdev-rt > 500ms, continue as failed"),
        ("p90>1s for 10s", "fail if p90 > 1000ms for 10s, stop as failed"),
        ("p99.9>10s, stop as failed", "fail if p99.9 > 10000ms, continue as failed"),
        (
            "hits of my-label>100 for 5s, stop as non-failed",
            "fail if hits of 'my-label' > 100 for 5s, stop as non-failed",
        ),
        ("succ<100%", "fail if succ < 100%, continue as failed"),
        ("failures>50% for 5s, stop as failed", "fail if fail > 50% for 5s, stop as failed"),
        ("rc500>20 for 5s, stop as failed", "fail if rc500 > 20 for 5s, stop as failed"),
        ("rc4??>20%", "fail if rc4?? > 20%, continue as failed"),
        ("rc*>=10 for 1m", "fail if rc* >= 10 for 60s, stop as failed"),
        (
            "rcException>99% for 1m, continue as failed",
            "fail if rcException > 99% for 60s, continue as failed",
        ),
        (
            "avg-rt of Sample Label>150ms for 10s, stop as failed",
            "fail if mean of 'Sample Label' > 150ms for 10s, stop as failed",
        ),
        ("My message: avg-rt>10s", "My message: fail if mean > 10000ms, continue as failed"),
        (
            "concurrency>=50 within 1m, continue as non-failed",
            "fail if concurrency >= 50 over 60s, continue as non-failed",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(plain(text, Meaning::FailIf), expected, "{text}");
        if text.contains(", ") {
            assert_eq!(
                plain(text, Meaning::Require),
                expected,
                "an action makes it a criterion of Taurus: {text}"
            );
        }
    }
    assert_eq!(
        plain("fail if p95 of checkout > 800ms for 30s", Meaning::Require),
        "fail if p95 of 'checkout' > 800ms for 30s, stop as failed"
    );
}

#[test]
fn criteria_of_k6_are_parsed() {
    let table = [
        ("p(95)<800", "require p95 < 800ms"),
        ("http_req_duration: p(99.9) < 1500", "http_req_duration: require p99.9 < 1500ms"),
        ("http_req_duration: avg<200", "http_req_duration: require mean < 200ms"),
        ("http_req_failed: rate<0.01", "http_req_failed: require fail < 1%"),
        ("http_reqs: rate>100", "http_reqs: require rate > 100/s"),
        ("http_reqs: count>100", "http_reqs: require hits > 100"),
    ];
    for (text, expected) in table {
        assert_eq!(plain(text, Meaning::Require), expected, "{text}");
    }
}

#[test]
fn errors_have_a_position_and_a_hint() {
    let texts = [
        "",
        "p95",
        "p95 off checkout < 800ms",
        "p95 of < 800ms",
        "p95 of checkout < 800",
        "p95 of checkout < fast",
        "p95 of checkout < 800ms over",
        "p95 of checkout < 800ms over 1.5s",
        "p95 of checkout < 800ms over 30s over 10s",
        "p95 of checkout < 800ms over 30s, explode",
        "p95 of checkout < 800ms, or stop",
        "p95 of checkout < 800ms please",
        "p95 of checkout < 5%",
        "p195 < 1s",
        "p(95) of checkout > 800ms",
        "errors > 1%",
        "errors < 101%",
        "latencyy < 1s",
        "users of checkout < 5",
        "service errors < 1%",
        "mean of 'open < 1s",
        "mean of /(/ < 1s",
        "apdex(1s, 500ms) > 0.9",
        "apdex > 90",
        "cov < 1.2 over 30s",
        "p95 < 1s after 60s until 60s",
        "http_req_waiting: p(95)<200",
        "http_req_waiting: avg<200",
        "hits < 5%",
        "añadir: p95 of žluťoučký < 5q",
    ];
    let mut report = String::new();
    for text in texts {
        let error = Criterion::parse(text, Meaning::Require).expect_err(text);
        let (column, len) = (error.column(), text[error.offset..error.offset + error.len].chars().count());
        report.push_str(&format!(
            "{text}\n{}{}\n{}\n",
            " ".repeat(column - 1),
            "^".repeat(len.max(1)),
            error.message
        ));
        if let Some(hint) = &error.hint {
            report.push_str(&format!("hint: {hint}\n"));
        }
        report.push('\n');
    }
    insta::assert_snapshot!(report);
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (1..100_000_u32).prop_map(f64::from), 0.0..10.0_f64]
}

fn scope() -> impl Strategy<Value = MeasuredSamples> {
    let pattern = prop_oneof!["[a-z/ ]{1,8}", Just(r"^\d+/\\".to_owned())]
        .prop_filter_map("a pattern", |text| regex::Regex::new(&text).ok().map(LabelPattern));
    let each = prop::option::of(pattern.clone()).prop_map(MeasuredSamples::Each);
    prop_oneof![
        Just(MeasuredSamples::Total),
        "\\PC{1,12}".prop_map(MeasuredSamples::Label),
        pattern.prop_map(MeasuredSamples::Matching),
        each
    ]
}

fn subject() -> impl Strategy<Value = (MeasuredQuantity, ValueUnit)> {
    let percentile =
        (0.001..=100.0_f64).prop_map(|p| (MeasuredQuantity::Percentile(p), ValueUnit::Milliseconds));
    prop_oneof![
        Just((MeasuredQuantity::Mean, ValueUnit::Milliseconds)),
        percentile,
        Just((MeasuredQuantity::Deviation, ValueUnit::Milliseconds)),
        Just((MeasuredQuantity::Hits, ValueUnit::Count)),
        Just((MeasuredQuantity::Failed, ValueUnit::Count)),
        Just((MeasuredQuantity::Rate, ValueUnit::PerSecond)),
        Just((MeasuredQuantity::Codes("4?*".into()), ValueUnit::Count)),
        (0.0..100.0_f64).prop_map(|ms| (
            MeasuredQuantity::Apdex { satisfied_ms: ms, tolerating_ms: ms + 1.0 },
            ValueUnit::Ratio
        )),
        Just((MeasuredQuantity::DiscardedArrivals, ValueUnit::Count)),
        Just((MeasuredQuantity::ArrivalsCov, ValueUnit::Ratio)),
    ]
}

fn criterion() -> impl Strategy<Value = Criterion> {
    let what = (subject(), scope(), any::<bool>(), any::<bool>(), number(), 0..5_usize);
    let when = (0..3_u32, 1..1_000_u32, 0..100_u64, prop::option::of(100..200_u64));
    let then = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of("[a-eg-z]{1,5} [a-m]{3,9}"));
    (what, when, then).prop_map(|(what, when, then)| {
        let ((subject, unit), scope, service, require, value, comparison) = what;
        let (kind, seconds, after_s, until_s) = when;
        let (stop, fails, passes_without_data, name) = then;
        let meaning = if require { Meaning::Require } else { Meaning::FailIf };
        let window = match kind {
            1 if subject != MeasuredQuantity::ArrivalsCov => Window::Over(seconds),
            2 if !require => Window::For(seconds),
            _ => Window::Run,
        };
        let clock = if service && subject.is_time() { MeasuredTime::Service } else { MeasuredTime::Response };
        let all =
            [Operator::Less, Operator::LessOrEqual, Operator::More, Operator::MoreOrEqual, Operator::Equal];
        Criterion {
            text: String::new(),
            name: name.filter(|name| !begins_as_criterion(name)),
            meaning,
            clock,
            scope: if subject.is_of_run() { MeasuredSamples::Total } else { scope },
            comparison: all[comparison],
            limit: CriterionLimit {
                value: if unit == ValueUnit::Ratio { value.min(1.0) } else { value },
                unit,
            },
            subject,
            window,
            after_s,
            until_s,
            stops_run: stop && window != Window::Run,
            fails_run: fails,
            passes_without_data,
        }
    })
}

proptest! {
    #[test]
    fn a_written_criterion_is_parsed_as_the_same_criterion(criterion in criterion()) {
        let text = criterion.to_string();
        let read = Criterion::parse(&text, Meaning::Require);
        prop_assert_eq!(read, Ok(Criterion { text: text.clone(), ..criterion }), "{}", text);
    }

    #[test]
    fn errors_in_invalid_texts_have_a_position_inside_the_text(text in "\\PC{0,40}|p95 of \\PC{0,9} < [0-9]{0,3}\\PC{0,9}|[a-z0-9 .,<>=%'/():]{0,40}") {
        for meaning in [Meaning::Require, Meaning::FailIf] {
            if let Err(error) = Criterion::parse(&text, meaning) {
                prop_assert!(text.get(error.offset..error.offset + error.len).is_some(), "{:?}", error);
                prop_assert!(!error.message.is_empty());
            }
        }
    }
}
