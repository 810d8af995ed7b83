//! Writes files of HdrHistogram: percentile distributions (`.hgrm`) and histogram logs (`.hlog`).

use std::io::{self, Write};
use std::time::Duration;

use busyhour_sample::{HISTOGRAM_DIGITS, Snapshot, SnapshotRow, TimeCounts};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::csv_seconds::kind;
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, TimeOrigin};

/// A clock of response times: the time at which the measurement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeClock {
    /// From the intended start to the end.
    Response,
    /// From the actual start to the end.
    Service,
}

impl TimeClock {
    /// The name of the clock.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            TimeClock::Response => "response",
            TimeClock::Service => "service",
        }
    }

    pub(crate) fn times(self, row: &SnapshotRow) -> TimeCounts {
        match self {
            TimeClock::Response => row.response.all(),
            TimeClock::Service => row.service.all(),
        }
    }
}

/// Converts times to a histogram in microseconds.
fn histogram(times: &TimeCounts) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 1_000_000, HISTOGRAM_DIGITS)
        .unwrap_or_else(|_| unreachable!("constant bounds are valid"));
    histogram.auto(true);
    for (us, count) in times.bands() {
        // The histogram resizes automatically, so recording cannot fail.
        let _ = histogram.record_n(*us, *count);
    }
    histogram
}

/// Writes the percentile distribution of a whole run in the format of HdrHistogram's `outputPercentileDistribution`: in ms, with
/// five steps for each halving of the distance to 100 %. HdrHistogram's plotters can read it.
pub struct PercentileExporter<W> {
    writer: W,
    label: Option<String>,
    clock: TimeClock,
    run: RunSoFar,
}

/// Number of steps for each halving of the distance to 100 %; the default of HdrHistogram.
const TICKS: u32 = 5;

impl<W: Write> PercentileExporter<W> {
    /// Creates an exporter that writes the times of `label` (`None`: of all requests) on the given clock to `writer`.
    pub fn new(writer: W, label: Option<String>, clock: TimeClock) -> Self {
        Self { writer, label, clock, run: RunSoFar::default() }
    }

    fn write(&mut self) -> io::Result<()> {
        let mut times = TimeCounts::default();
        match &self.label {
            Some(label) => {
                let rows = self.run.rows.values().filter(|row| row.label == *label);
                rows.for_each(|row| times.merge(&self.clock.times(row)));
            }
            None => times = self.clock.times(&self.run.total()),
        }
        let histogram = histogram(&times);
        let out = &mut self.writer;
        writeln!(
            out,
            "{:>12} {:>14} {:>10} {:>14}\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        )?;
        let mut seen = 0;
        for step in histogram.iter_quantiles(TICKS) {
            seen += step.count_since_last_iteration();
            let value = step.value_iterated_to() as f64 / 1e3;
            let quantile = step.quantile_iterated_to();
            write!(out, "{value:12.3} {quantile:2.12} {seen:10}")?;
            if quantile < 1.0 {
                write!(out, " {:14.2}", 1.0 / (1.0 - quantile))?;
            }
            writeln!(out)?;
        }
        let mean = times.mean_ms().unwrap_or(0.0);
        let deviation = times.deviation_ms().unwrap_or(0.0);
        writeln!(out, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
        let max = times.max_ms().unwrap_or(0.0);
        writeln!(out, "#[Max     = {max:12.3}, Total count    = {:12}]", times.count())?;
        writeln!(out, "#[Buckets = {:12}, SubBuckets     = {:12}]", histogram.buckets(), 2_048)?;
        out.flush()
    }
}

impl<W: Write> Exporter for PercentileExporter<W> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        if let Some(label) = &self.label
            && !self.run.rows.values().any(|row| row.label == *label)
        {
            let labels = self.run.rows.values().map(|row| row.label.as_str()).take(20).collect::<Vec<_>>();
            let text = format!("there is no sample of the label {label:?}; there are: {}", labels.join(", "));
            return Err(ExportError::Settings(text));
        }
        self.write()
            .map_err(|source| ExportError::Io { target: "the percentile distribution".into(), source })
    }
}

/// Writes a histogram log (format 1.3) with an interval of one second for each label and clock. The tag of an interval is
/// `response/request/LABEL`.
pub struct HistogramLogExporter<W: Write> {
    writer: W,
    origin: TimeOrigin,
    has_head: bool,
    serializer: V2DeflateSerializer,
}

impl<W: Write> HistogramLogExporter<W> {
    /// Creates an exporter that writes to `writer`.
    pub fn new(writer: W, origin: TimeOrigin) -> Self {
        Self { writer, origin, has_head: false, serializer: V2DeflateSerializer::new() }
    }

    fn write(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let start = std::time::UNIX_EPOCH
            + Duration::from_millis(u64::try_from(self.origin.wall_anchor_ms).unwrap_or(0));
        let mut block = Vec::new();
        {
            let mut builder = IntervalLogWriterBuilder::new();
            builder.with_max_value_divisor(1_000.0).with_start_time(start);
            builder.add_comment("[Histogram log format version 1.3]");
            builder.add_comment("Values in microseconds, maxima in milliseconds");
            let mut log = builder
                .begin_log_with(&mut block, &mut self.serializer)
                .map_err(|error| io::Error::other(format!("{error:?}")))?;
            for row in &snapshot.rows {
                for clock in [TimeClock::Response, TimeClock::Service] {
                    let name = format!("{}/{}/{}", clock.as_str(), kind(row.kind), tag_text(&row.label));
                    let written = log.write_histogram(
                        &histogram(&clock.times(row)),
                        Duration::from_secs(snapshot.second),
                        Duration::from_secs(1),
                        Tag::new(&name),
                    );
                    written.map_err(|error| io::Error::other(format!("{error:?}")))?;
                }
            }
        }
        // The writer of the format starts each log with a header; only the first header is kept.
        let text = String::from_utf8_lossy(&block);
        for line in text.split_inclusive('\n') {
            if !self.has_head || !line.starts_with(['#', '"']) {
                self.writer.write_all(line.as_bytes())?;
            }
        }
        self.has_head = true;
        self.writer.flush()
    }
}

/// A label as a part of a tag. Tags must not contain commas, blanks or line ends.
fn tag_text(label: &str) -> String {
    let mut text = String::with_capacity(label.len());
    for c in label.chars() {
        if c.is_whitespace() || c.is_control() || c == ',' || c == '%' {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| text.push_str(&format!("%{byte:02X}")));
        } else {
            text.push(c);
        }
    }
    text
}

impl<W: Write> Exporter for HistogramLogExporter<W> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.write(snapshot).map_err(|source| ExportError::Io { target: "the histogram log".into(), source })
    }
}
