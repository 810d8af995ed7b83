//! Prometheus: reading and writing the text formats, scraping, and serving.
//!
//! - [`text`] parses Prometheus's text format and OpenMetrics, without input or output.
//! - [`histogram`] computes quantiles of an interval from two scrapes of a histogram.
//! - [`selection`] selects series by patterns.
//! - [`ScrapeProbe`] records the selected series of a page.
//! - [`exposition`] writes metrics in the text format, and [`MetricsServer`] serves those of a watch.

mod fetch;
pub mod histogram;
mod line_error;
mod page;
mod scan;
mod scrape;
pub mod selection;
mod serve;
pub mod text;

pub use busyhour_server::{ServerTls, ServerTlsError, exposition};
pub use fetch::{FetchError, FetchOptions, Fetcher, PAGE_MAX};
pub use scrape::{ScrapeError, ScrapeProbe};
pub use selection::MetricSelection;
pub use serve::{MetricsServer, MetricsServerOptions, exposition_text};
