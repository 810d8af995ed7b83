//! Reads the result files of other load generators.
//!
//! [`detect`] recognizes a file by its first bytes. A file with samples is read by a [`SampleReader`], one sample at a time and in
//! bounded memory. A file with percentiles only is read by [`read_aggregate`].
//!
//! | tool | file | contents |
//! |---|---|---|
//! | k6 | `--out json`, `--out csv` | samples |
//! | k6 | `--summary-export` | percentiles |
//! | vegeta | `vegeta encode --to json`, `--to csv` | samples |
//! | vegeta | `vegeta report --type json` | percentiles |
//! | Locust | `--csv`: `_stats.csv`, `_stats_history.csv` | percentiles |
//! | Gatling | `simulation.log`, text (up to 3.12) and binary (from 3.13) | samples |
//! | oha | `--output-format csv` | samples |
//! | oha | `--output-format json` | percentiles |
//! | wrk2, HdrHistogram | percentile distribution | percentiles |
//!
//! The crate does no I/O of its own: it reads from any [`std::io::Read`].
//!
//! ```
//! use busyhour_imports::{Detected, ImportedSample, SampleReader, Step, detect};
//!
//! let file = br#"{"attack":"","seq":0,"code":200,"timestamp":"2026-11-01T10:00:00Z","latency":1500000}"#;
//! let Some(Detected::Samples(form)) = detect(file) else { panic!("not recognized") };
//! let mut reader = SampleReader::new(form, &file[..]);
//! let mut sample = ImportedSample::default();
//! assert_eq!(reader.read(&mut sample)?, Step::Sample);
//! assert_eq!((sample.duration_ns, sample.code.as_str()), (1_500_000, "200"));
//! # Ok::<(), busyhour_imports::ImportError>(())
//! ```

mod aggregate;
mod aggregate_doubt;
mod aggregate_result;
mod csv_cells;
mod detect;
mod error;
mod form;
mod gatling_binary;
mod gatling_text;
mod k6;
mod k6_csv;
mod k6_json;
mod lines;
mod oha_csv;
mod reader;
mod sample;
mod stamps;
mod vegeta_csv;
mod vegeta_json;

pub use aggregate::read_aggregate;
pub use aggregate_doubt::AggregateDoubt;
pub use aggregate_result::{AggregateResult, AggregateRow, MovingWindow, PercentileMethod, StatedPercentile};
pub use detect::detect;
pub use error::{BadLine, ImportError};
pub use form::{AggregateFormat, Detected, SampleForm, SampleFormat, UnsupportedFormat};
pub use reader::SampleReader;
pub use sample::{ImportNotes, ImportedSample, Step};
