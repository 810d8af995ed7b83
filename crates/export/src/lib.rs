//! The seconds of a run for other programs.
//!
//! An [`Exporter`] takes [`Snapshot`]s, during a run ([`follow`]) or from its record
//! ([`busyhour_results::read_snapshots`]), and makes of them what others read: CSV by the second, percentile distributions
//! and logs of HdrHistogram, Prometheus's exposition and remote write, OpenTelemetry's metrics, InfluxDB's line protocol and
//! Graphite's plain text as JMeter's backend listeners send them. [`export_parquet`] writes its samples
//! instead, one by one.
//!
//! ```
//! use busyhour_export::{CsvExporter, Exporter, Origin};
//! use busyhour_sample::Snapshot;
//!
//! let mut text = Vec::new();
//! let mut exporter = CsvExporter::new(&mut text, Origin { wall_anchor_ms: 1_700_000_000_000 });
//! exporter.second(&Snapshot::default())?;
//! exporter.finish()?;
//! drop(exporter);
//! assert!(text.starts_with(b"time_ms,second,label,kind,"));
//! # Ok::<(), busyhour_export::ExportError>(())
//! ```

mod backend;
mod csv_seconds;
mod error;
mod exponential;
mod exposition;
mod exposition_protobuf;
mod follow;
mod graphite;
mod histograms;
mod influx;
mod metrics;
mod otlp;
mod otlp_messages;
mod parquet_samples;
mod remote_write;
mod scrape;
mod totals;
mod transport;

pub use backend::{BackendSettings, SamplerFilter, UserCounts};
pub use csv_seconds::CsvExporter;
pub use error::ExportError;
pub use exposition::{Exposition, ExpositionExporter, exposition_text};
pub use follow::{Followed, NowMs, Origin, follow};
pub use graphite::GraphiteExporter;
pub use histograms::{Clock, HistogramLogExporter, PercentileExporter};
pub use influx::{InfluxExporter, InfluxNames};
pub use otlp::OtlpExporter;
pub use parquet_samples::{ExportedSamples, export_parquet};
pub use remote_write::{
    BucketSpan, HistogramForm, NativeHistogram, RemoteWriteExporter, SeriesLabel, SeriesSample, TimeSeries,
    WriteRequest,
};
pub use scrape::{ScrapeExporter, ScrapeServer};
pub use transport::{HttpPost, Sender, TcpText, UdpText, WriteText};

use busyhour_sample::Snapshot;

/// Takes the seconds of a run in their order.
pub trait Exporter {
    /// Takes a second.
    ///
    /// # Errors
    /// A second could not be written or sent. The exporter can continue with the next one.
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError>;

    /// The run is over.
    ///
    /// # Errors
    /// What was left could not be written or sent.
    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(())
    }
}
