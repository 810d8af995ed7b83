//! Texts of the figures of the system under test.

use busyhour_analysis::system::{Figure, FigureKind, FigureUnit, SubjectKind, SystemSubject};

use crate::numbers::{ms, percent, rate, size, thousands};

/// A figure with its unit, or a dash if it is unavailable.
pub(crate) fn figure_text(kind: FigureKind, figure: &Figure) -> String {
    figure.value().map_or_else(|| "–".to_owned(), |value| value_text(kind.unit(), value))
}

/// A value with its unit.
pub(crate) fn value_text(unit: FigureUnit, value: f64) -> String {
    match unit {
        FigureUnit::Seconds => seconds(value),
        FigureUnit::Bytes => bytes(value),
        FigureUnit::BytesPerSecond => format!("{}/s", bytes(value)),
        FigureUnit::Share => format!("{} %", percent(value * 100.0)),
        FigureUnit::Cores => {
            let number = if value < 0.1 { rate(value) } else { ms(value) };
            format!("{number} {}", if value == 1.0 { "core" } else { "cores" })
        }
        FigureUnit::Count if value.fract() == 0.0 => thousands(value.max(0.0) as u64),
        FigureUnit::Count => rate(value),
        FigureUnit::PerSecond => format!("{}/s", rate(value)),
    }
}

fn bytes(value: f64) -> String {
    size(value.round().max(0.0) as u64)
}

/// A time with about three digits: `12.3 µs`, `1.82 ms`, `3.50 s`.
fn seconds(value: f64) -> String {
    match value.abs() {
        0.0 => "0 s".to_owned(),
        v if v < 0.000_999_5 => format!("{} µs", ms(value * 1e6)),
        v if v < 0.999_5 => format!("{} ms", ms(value * 1e3)),
        _ => format!("{} s", ms(value)),
    }
}

/// The heading of a subject: `machine sut (os)`, `JVM shop.jar (jvm:4711)`. The observation has no source of its own.
pub(crate) fn subject_heading(subject: &SystemSubject) -> String {
    match subject.kind {
        SubjectKind::Observation if subject.name.is_none() && subject.source == "observe" => {
            "Cost of the observation".to_owned()
        }
        kind => format!("{} {}", kind.noun(), subject.title()),
    }
}

/// The name of a figure of a subject, with the disk that it is about.
pub(crate) fn figure_words(subject: &SystemSubject, kind: FigureKind) -> String {
    match (kind, &subject.disk) {
        (FigureKind::DiskBusy | FigureKind::DiskAwait, Some(disk)) => {
            kind.words().replace("busiest disk", &format!("busiest disk ({disk})"))
        }
        (FigureKind::GcShare | FigureKind::GcPauseSeconds | FigureKind::GcPauseMax, _)
            if subject.pauses_at_least =>
        {
            format!("{} (at least)", kind.words())
        }
        _ => kind.words().to_owned(),
    }
}

/// The figures that are unavailable, by reason: `read from disks; written to disks (no permission)`. If no figure is
/// available, the text is the first reason.
pub(crate) fn unavailable_figures(subject: &SystemSubject) -> Vec<String> {
    if subject.figures.iter().all(|(_, figure)| figure.value().is_none()) {
        let first = subject.figures.iter().find_map(|(_, figure)| figure.reason());
        return first.map(|reason| format!("all figures ({reason})")).into_iter().collect();
    }
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for (kind, figure) in &subject.figures {
        let Some(reason) = figure.reason() else { continue };
        let words = figure_words(subject, *kind);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, figures)) => figures.push(words),
            None => by_reason.push((reason, vec![words])),
        }
    }
    by_reason.into_iter().map(|(reason, figures)| format!("{} ({reason})", figures.join("; "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_that_fits() {
        let text = value_text;
        assert_eq!(text(FigureUnit::Seconds, 0.001_82), "1.82 ms");
        assert_eq!(text(FigureUnit::Seconds, 0.000_012_3), "12.3 µs");
        assert_eq!(text(FigureUnit::Seconds, 61.5), "61.5 s");
        assert_eq!(text(FigureUnit::Seconds, 0.0), "0 s");
        assert_eq!(text(FigureUnit::Share, 0.431), "43.10 %");
        assert_eq!(text(FigureUnit::Bytes, 12_600.4), "12.3 KiB");
        assert_eq!(text(FigureUnit::BytesPerSecond, 5e7), "47.7 MiB/s");
        assert_eq!(text(FigureUnit::Cores, 0.91), "0.91 cores");
        assert_eq!(text(FigureUnit::Cores, 0.004), "0.004 cores");
        assert_eq!(text(FigureUnit::Count, 1234.0), "1,234");
        assert_eq!(text(FigureUnit::Count, 0.25), "0.2");
    }
}
