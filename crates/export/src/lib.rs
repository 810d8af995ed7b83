//! Exports the figures of each second of a run to other programs.
//!
//! An [`Exporter`] receives [`Snapshot`]s, during a run ([`follow`]) or from its record ([`busyhour_results::read_snapshots`]),
//! and converts them to formats of other programs: CSV with a line per second, percentile distributions and histogram logs of
//! HdrHistogram, Prometheus's exposition and remote write, OpenTelemetry's metrics, and InfluxDB's line protocol and Graphite's
//! plain text as sent by JMeter's backend listeners. [`export_parquet`] writes individual samples instead,
//! [`export_series_csv`] and [`export_series_parquet`] the observed series of the system under test.
//!
//! ```
//! use busyhour_export::{CsvExporter, Exporter, TimeOrigin};
//! use busyhour_sample::Snapshot;
//!
//! let mut text = Vec::new();
//! let mut exporter = CsvExporter::new(&mut text, TimeOrigin { wall_anchor_ms: 1_700_000_000_000 });
//! exporter.second(&Snapshot::default())?;
//! exporter.finish()?;
//! drop(exporter);
//! assert!(text.starts_with(b"time_ms,second,label,kind,"));
//! # Ok::<(), busyhour_export::ExportError>(())
//! ```

mod backend;
mod csv_seconds;
mod csv_series;
mod error;
mod exponential;
mod exported_samples;
mod exported_series;
mod exposition;
mod exposition_protobuf;
mod follow;
mod graphite;
mod histograms;
mod influx;
mod latest_series;
mod metrics;
mod otlp;
mod otlp_messages;
#[cfg(feature = "parquet")]
mod parquet_columns;
#[cfg_attr(not(feature = "parquet"), path = "parquet_missing.rs")]
mod parquet_samples;
#[cfg_attr(not(feature = "parquet"), path = "parquet_series_missing.rs")]
mod parquet_series;
mod remote_write;
mod scrape;
mod totals;
mod transport;

pub use backend::{BackendSettings, SamplerFilter, UsersSoFar};
pub use csv_seconds::CsvExporter;
pub use csv_series::export_series_csv;
pub use error::ExportError;
pub use exported_samples::ExportedSamples;
pub use exported_series::{ExportedSeries, SeriesSelection};
pub use exposition::{Exposition, ExpositionExporter, exposition_text};
pub use follow::{Followed, NowMs, TimeOrigin, follow};
pub use graphite::GraphiteExporter;
pub use histograms::{HistogramLogExporter, PercentileExporter, TimeClock};
pub use influx::{InfluxExporter, InfluxNames};
pub use latest_series::LatestSeries;
pub use otlp::OtlpExporter;
pub use parquet_samples::export_parquet;
pub use parquet_series::export_series_parquet;
pub use remote_write::{
    BucketSpan, HistogramForm, NativeHistogram, RemoteWriteExporter, SeriesLabel, SeriesSample, TimeSeries,
    WriteRequest,
};
pub use scrape::{ScrapeExporter, ScrapeServer};
pub use transport::{HttpPost, Sender, TcpText, UdpText, WriteText};

use busyhour_sample::Snapshot;

/// Writes or sends the figures of each second of a run.
///
/// # Order of calls
/// [`second`](Self::second) is called for each second of the run in increasing order, then [`finish`](Self::finish) once.
/// Seconds are skipped if the exporter was too slow during a run. No second is passed twice, and no call follows `finish`. If
/// the run ends before it starts, no method is called.
///
/// # Threads
/// During a run each exporter has a separate thread, which makes all calls. A call may therefore block: neither the run nor
/// other exporters wait for it. Seconds that arrive meanwhile are queued up to a limit; further ones are lost. When a record is
/// exported, the thread that reads it makes the calls.
///
/// # Retention
/// A snapshot is borrowed for the call and contains the times of a whole second. An exporter should keep totals or a batch of
/// encoded values, not snapshots.
///
/// # Errors
/// An error of [`second`](Self::second) is counted and does not end the export: the next second is passed as usual, so that a
/// database that becomes available again receives later seconds. The exporter decides whether it retries failed data. The first
/// error is reported at the end of the run. [`finish`](Self::finish) is called after errors, too.
///
/// # Example
/// An exporter that writes the requests of each second:
///
/// ```
/// use std::io::Write;
///
/// use busyhour_export::{ExportError, Exporter};
/// use busyhour_sample::Snapshot;
///
/// struct Requests<W> {
///     out: W,
/// }
///
/// impl<W: Write> Exporter for Requests<W> {
///     fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
///         let failed = |source| ExportError::Io { target: "the list".to_owned(), source };
///         writeln!(self.out, "{} {}", snapshot.second, snapshot.total().samples).map_err(failed)
///     }
///
///     fn finish(&mut self) -> Result<(), ExportError> {
///         self.out.flush().map_err(|source| ExportError::Io { target: "the list".to_owned(), source })
///     }
/// }
///
/// let mut exporter = Requests { out: Vec::new() };
/// exporter.second(&Snapshot { second: 7, ..Snapshot::default() })?;
/// exporter.finish()?;
/// assert_eq!(exporter.out, b"7 0\n");
/// # Ok::<(), ExportError>(())
/// ```
pub trait Exporter {
    /// Writes or sends a second.
    ///
    /// # Errors
    /// If the second could not be written or sent. The exporter can continue with the next one.
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError>;

    /// Writes or sends the remaining data at the end of the run.
    ///
    /// # Errors
    /// If the remaining data could not be written or sent.
    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(())
    }
}
