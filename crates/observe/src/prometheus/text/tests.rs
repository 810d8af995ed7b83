//! Tests of the parser on single lines and small texts.

use super::*;

fn read(text: &str, format: TextFormat) -> (Vec<MetricSample<'_>>, Vec<LineError>) {
    let mut samples = Vec::new();
    let mut errors = Vec::new();
    for line in Samples::new(text, format) {
        match line {
            Ok(sample) => samples.push(sample),
            Err(error) => errors.push(error),
        }
    }
    (samples, errors)
}

fn one(line: &str) -> MetricSample<'_> {
    let (mut samples, errors) = read(line, TextFormat::Prometheus);
    assert_eq!((samples.len(), errors.as_slice()), (1, &[][..]), "{line}");
    samples.remove(0)
}

fn labels<'s>(sample: &'s MetricSample<'_>) -> Vec<(&'s str, &'s str)> {
    sample.labels.iter().map(|(name, value)| (&**name, &**value)).collect()
}

#[test]
fn plain_samples_are_read() {
    let sample = one("up 1");
    assert_eq!((&*sample.name, sample.value, sample.stamp_seconds), ("up", 1.0, None));
    let sample = one("  a:b_c { x = \"1\" , y=\"2\", } \t -Inf\t1700000000123 ");
    assert_eq!((&*sample.name, labels(&sample)), ("a:b_c", vec![("x", "1"), ("y", "2")]));
    assert_eq!((sample.value, sample.stamp_seconds), (f64::NEG_INFINITY, Some(1_700_000_000.123)));
    assert!(one("x NaN").value.is_nan());
    assert_eq!(one("x{} 1e3").value, 1000.0);
    assert_eq!(one("x{}5").value, 5.0);
    assert_eq!(one("x +Inf\r").value, f64::INFINITY);
}

#[test]
fn label_values_may_contain_everything() {
    let sample = one(r#"a{b="c,}",d="\\ \" \n \q { # é"} 2"#);
    assert_eq!(labels(&sample), [("b", "c,}"), ("d", "\\ \" \n \\q { # é")]);
    assert!(matches!(sample.labels[0].1, Cow::Borrowed(_)));
}

#[test]
fn names_may_be_quoted() {
    let sample = one(r#"{"http.server \"x\"", zone="a", "k8s.pod"="p"} 3"#);
    assert_eq!(sample.name, "http.server \"x\"");
    assert_eq!(labels(&sample), [("zone", "a"), ("k8s.pod", "p")]);
    let sample = one(r#"plain{"k8s.pod"="p"} 3"#);
    assert_eq!((&*sample.name, labels(&sample)), ("plain", vec![("k8s.pod", "p")]));
    let text = "# TYPE \"http.jobs\" counter\n{\"http.jobs\"} 1\n";
    assert_eq!(read(text, TextFormat::Prometheus).0[0].role, SeriesRole::Counter);
}

#[test]
fn stamps_may_be_floats() {
    assert_eq!(one("x 1 1395066363000.5").stamp_seconds, Some(1_395_066_363.000_5));
    assert_eq!(one("x 1 -1").stamp_seconds, Some(-0.001));
    let (samples, _) = read("x 1 1700000000.25\n# EOF\n", TextFormat::OpenMetrics);
    assert_eq!(samples[0].stamp_seconds, Some(1_700_000_000.25));
}

#[test]
fn roles_follow_types_and_suffixes() {
    let text = "\
        # TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n\
        # TYPE s summary\ns{quantile=\"0.5\"} 1\ns_sum 1\ns_count 1\n\
        # TYPE c counter\nc 4\n# TYPE g_total gauge\ng_total 1\n\
        # TYPE u untyped\nu 4\nn_total 1\nn_count 7\nm 1\n";
    let (samples, errors) = read(text, TextFormat::Prometheus);
    assert_eq!(errors, []);
    let roles: Vec<_> = samples.iter().map(|sample| sample.role).collect();
    use SeriesRole::{Bucket, Count, Counter, Gauge, Quantile, Sum};
    assert_eq!(
        roles,
        [Bucket, Bucket, Sum, Count, Quantile, Sum, Count, Counter, Gauge, Gauge, Counter, Gauge, Gauge]
    );
    assert!(Bucket.is_cumulative() && Sum.is_cumulative() && !Quantile.is_cumulative());
}

#[test]
fn open_metrics_has_units_exemplars_and_an_end() {
    let text = "\
        # TYPE req_seconds histogram\n# UNIT req_seconds seconds\n# HELP req_seconds How \\\"long\\\"\\nit takes\n\
        req_seconds_bucket{le=\"+Inf\"} 7 # {trace_id=\"a } b\"} 0.67 1700000000.1\n\
        req_seconds_created 1.7e9\n# TYPE jobs counter\njobs_total 5 # {} 1\n# EOF\nlate 1\n";
    let mut reader = Samples::new(text, TextFormat::OpenMetrics);
    let samples: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    let read: Vec<_> = samples.iter().map(|s| (&*s.name, s.value, s.role)).collect();
    assert_eq!(
        read,
        [
            ("req_seconds_bucket", 7.0, SeriesRole::Bucket),
            ("req_seconds_created", 1.7e9, SeriesRole::Created),
            ("jobs_total", 5.0, SeriesRole::Counter)
        ]
    );
    assert!(reader.is_complete());
    assert_eq!(reader.help("req_seconds_bucket"), Some("How \"long\"\nit takes"));
    assert_eq!(reader.help("jobs_total"), None);
    let mut cut = Samples::new("x 1\n", TextFormat::OpenMetrics);
    assert_eq!(cut.by_ref().count(), 1);
    assert!(!cut.is_complete());
}

#[test]
fn content_types_name_the_format() {
    let of = TextFormat::of_content_type;
    assert_eq!(of("application/openmetrics-text; version=1.0.0; charset=utf-8"), TextFormat::OpenMetrics);
    assert_eq!(of("text/plain; version=0.0.4"), TextFormat::Prometheus);
    assert_eq!(of(""), TextFormat::Prometheus);
}

#[test]
fn bad_lines_are_reported_and_the_next_ones_are_read() {
    use LineProblem::*;
    let long = format!("x{{a=\"{}\"}} 1", "y".repeat(TEXT_MAX + 1));
    let many: String = (0..=LABELS_MAX).map(|n| format!("l{n}=\"\",")).collect();
    let many = format!("x{{{many}}} 1");
    for (line, problem) in [
        ("x", NoValue),
        ("x one", NoValue),
        ("x 0x10", NoValue),
        ("x{a=\"1\" 1", NoBrace),
        ("x{a=\"1", NoQuote),
        ("x{a=1} 1", NoQuote),
        ("x{a} 1", NoEquals),
        ("x{=\"1\"} 1", NoName),
        ("x{,} 1", NoName),
        ("{a=\"1\"} 1", NoName),
        ("{\"a\",\"b\"} 1", RepeatedName),
        ("a{\"b\"} 1", RepeatedName),
        ("x{a=\"1\",a=\"2\"} 1", RepeatedLabel),
        ("x 1 soon", BadStamp),
        ("x 1 NaN", BadStamp),
        ("x 1 2 3", TrailingText),
        ("9x 1", NoName),
        ("é 1", NoName),
        ("# TYPE x sometimes", BadType),
        ("# HELP", NoName),
        (&long, TooLong),
        (&many, TooManyLabels),
    ] {
        let text = format!("{line}\n# just a comment\n\nok 1");
        let (samples, errors) = read(&text, TextFormat::Prometheus);
        assert_eq!(errors, [LineError { line: 1, problem }], "{line:.40}");
        assert_eq!(samples.len(), 1, "{line:.40}");
    }
    assert_eq!(LineError { line: 3, problem: NoValue }.to_string(), "line 3: expected a number as value");
}
