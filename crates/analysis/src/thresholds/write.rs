//! Writes criteria in normalized notation.

use std::fmt;

use super::criterion::{
    Criterion, CriterionLimit, Meaning, MeasuredQuantity, MeasuredSamples, MeasuredTime, ValueUnit, Window,
};

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        f.write_str(match self.meaning {
            Meaning::Require => "require ",
            Meaning::FailIf => "fail if ",
        })?;
        if self.clock == MeasuredTime::Service {
            f.write_str("service ")?;
        }
        write!(f, "{}{} {} {}", self.subject, self.scope, self.comparison.as_str(), self.limit)?;
        match self.window {
            Window::Run => {}
            Window::Over(seconds) => write!(f, " over {seconds}s")?,
            Window::For(seconds) => write!(f, " for {seconds}s")?,
        }
        if self.after_s > 0 {
            write!(f, " after {}s", self.after_s)?;
        }
        if let Some(until) = self.until_s {
            write!(f, " until {until}s")?;
        }
        f.write_str(match (self.meaning, self.stops_run, self.fails_run) {
            (Meaning::Require, false, true) => "",
            (Meaning::Require, true, true) => ", or stop",
            (_, true, true) => ", stop as failed",
            (_, true, false) => ", stop as non-failed",
            (_, false, true) => ", continue as failed",
            (_, false, false) => ", continue as non-failed",
        })?;
        if self.passes_without_data { f.write_str(", if any") } else { Ok(()) }
    }
}

impl fmt::Display for MeasuredQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeasuredQuantity::Mean => f.write_str("mean"),
            MeasuredQuantity::Percentile(p) => write!(f, "p{p}"),
            MeasuredQuantity::Max => f.write_str("max"),
            MeasuredQuantity::Min => f.write_str("min"),
            MeasuredQuantity::Deviation => f.write_str("stdev-rt"),
            MeasuredQuantity::Latency => f.write_str("avg-lt"),
            MeasuredQuantity::Connect => f.write_str("avg-ct"),
            MeasuredQuantity::Hits => f.write_str("hits"),
            MeasuredQuantity::Rate => f.write_str("rate"),
            MeasuredQuantity::Passed => f.write_str("succ"),
            MeasuredQuantity::Failed => f.write_str("fail"),
            MeasuredQuantity::Codes(pattern) => write!(f, "rc{pattern}"),
            MeasuredQuantity::Users => f.write_str("concurrency"),
            MeasuredQuantity::Apdex { satisfied_ms, tolerating_ms } => {
                write!(f, "apdex({satisfied_ms}ms, {tolerating_ms}ms)")
            }
            MeasuredQuantity::ArrivalsCov => f.write_str("arrivals-cov"),
            MeasuredQuantity::DiscardedArrivals => f.write_str("dropped"),
            MeasuredQuantity::WaitedArrivals => f.write_str("waited"),
        }
    }
}

impl fmt::Display for MeasuredSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = |pattern: &super::LabelPattern| pattern.0.as_str().replace('/', "\\/");
        match self {
            MeasuredSamples::Total => Ok(()),
            MeasuredSamples::Label(label) => write!(f, " of {}", quoted(label)),
            MeasuredSamples::Matching(matching) => write!(f, " of /{}/", pattern(matching)),
            MeasuredSamples::Each(None) => f.write_str(" of each"),
            MeasuredSamples::Each(Some(matching)) => write!(f, " of each /{}/", pattern(matching)),
        }
    }
}

/// Quotes a label, with quotation marks and backslashes escaped.
fn quoted(label: &str) -> String {
    let mut text = String::from("'");
    for c in label.chars() {
        if matches!(c, '\'' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('\'');
    text
}

impl fmt::Display for CriterionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            ValueUnit::Milliseconds => write!(f, "{}ms", self.value),
            ValueUnit::Percent => write!(f, "{}%", self.value),
            ValueUnit::PerSecond => write!(f, "{}/s", self.value),
            ValueUnit::Count | ValueUnit::Users | ValueUnit::Ratio => write!(f, "{}", self.value),
        }
    }
}
