//! Computes summaries of runs, with caveats. All functions are pure: they access neither files nor a clock.
//!
//! ```
//! use busyhour_analysis::{RunFacts, Summary};
//! use busyhour_record::{Recorder, RecorderConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (recorder, writers) = Recorder::start(RecorderConfig::default())?;
//! drop(writers);
//! // `RunFacts::from_manifest` reads the facts of a run that has ended; this example has none.
//! let summary = Summary::new(RunFacts::default(), &recorder.finish());
//! let json = summary.to_json();
//! assert_eq!(Summary::from_json(&json)?, summary);
//! for caveat in &summary.caveats {
//!     assert!(!caveat.message.is_empty() && !caveat.advice.is_empty());
//! }
//! # Ok(())
//! # }
//! ```

mod agents;
mod apdex;
mod arrival_caveat;
pub mod arrivals;
mod assessment;
mod caveat;
pub mod comparison;
pub mod explanation;
mod facts;
mod format;
mod generator;
mod groups;
pub mod incidents;
mod over_time;
mod plateaus;
mod result_file;
mod rounding;
mod row;
mod run_caveats;
pub mod saturation;
mod series;
pub mod server_log;
mod stalls;
mod steady;
mod summary;
pub mod system;
pub mod thresholds;
mod web_log;
mod window;

pub use agents::{AgentRow, Agents, DRIFT_MAX_PPM};
pub use apdex::Apdex;
pub use caveat::{Caveat, ReportedCaveat, late_ms};
pub use comparison::Comparison;
pub use facts::{InputSummary, LaterRows, RecordEnd, RunFacts};
pub use generator::{GeneratorMark, GeneratorState, generator_mark};
pub use groups::{GroupPhase, GroupRows};
pub use over_time::{HeatMap, RowSeries};
pub use plateaus::{Plateau, plateaus};
pub use result_file::{
    ARRIVAL_TICK_S_MAX, LabelTime, Omission, OmissionBounds, OmissionLimit, OtherTool, PercentileBounds,
    PercentileInterval,
};
pub use row::{ElapsedSummary, ErrorLabel, ErrorRow, Row, SlowSample, Times};
pub use series::{DistributionPoint, Series};
pub use stalls::{describe_stall, reported_stalls};
pub use steady::{SteadyPart, steady_part};
pub use summary::{SUMMARY_VERSION, Summary, SummaryError};
pub use web_log::{
    CellCounts, CellHistogram, CountFrequency, LogTableRow, LogWindow, QuantileRule, TOTAL, ThreadGroupRow,
    WebLog, WebLogOptions, WebLogTables,
};
pub use window::{Window, WindowChoice};
