//! Invariants of the Prometheus parser, for any text.

use busyhour_observe::prometheus::exposition::{
    ExpositionFamily, ExpositionSample, ExpositionType, write_exposition,
};
use busyhour_observe::prometheus::text::{LABELS_MAX, MetricSample, Samples, SeriesRole, TextFormat};

/// Reads `text` in both formats and checks the invariants.
pub fn check(text: &str) {
    for format in [TextFormat::Prometheus, TextFormat::OpenMetrics] {
        let lines = text.lines().count().max(1);
        let (mut samples, mut last_error) = (Vec::new(), 0);
        for item in Samples::new(text, format) {
            match item {
                Ok(sample) => samples.push(sample),
                Err(error) => {
                    assert!(error.line > last_error && error.line <= lines, "{error} of {lines} lines");
                    last_error = error.line;
                }
            }
        }
        assert!(samples.len() <= lines);
        for sample in &samples {
            assert!(sample.labels.len() <= LABELS_MAX);
            assert!(sample.stamp_seconds.is_none_or(f64::is_finite));
        }
        check_written(&samples);
    }
}

/// Checks that the output of the exposition writer is read as the same samples.
fn check_written(samples: &[MetricSample<'_>]) {
    for sample in samples {
        let stamp_ms = sample.stamp_seconds.map(|stamp| (stamp * 1e3).clamp(-1e15, 1e15).round() as i64);
        let labels = sample.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        let family = ExpositionFamily {
            name: &sample.name,
            family_type: ExpositionType::Counter,
            help: "A \\ help\ntext.",
            samples: vec![ExpositionSample { labels, value: sample.value.into(), stamp_ms }],
        };
        let mut written = String::new();
        write_exposition(&[family], &mut written);
        let mut reader = Samples::new(&written, TextFormat::Prometheus);
        let again = reader.by_ref().next().expect("a sample was written").expect("it is valid");
        assert_eq!((&again.name, &again.labels), (&sample.name, &sample.labels), "{written}");
        assert_eq!(again.value.to_bits(), canonical(sample.value).to_bits(), "{written}");
        assert_eq!(again.stamp_seconds.map(|stamp| (stamp * 1e3).round() as i64), stamp_ms, "{written}");
        assert_eq!(again.role, SeriesRole::Counter);
        assert!(reader.next().is_none());
        assert_eq!(reader.help(&sample.name), Some("A \\ help\ntext."));
    }
}

/// The format has one NaN only.
fn canonical(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}
