//! Converts a run's summary to HTML, JSON and terminal tables.
//!
//! ```
//! use busyhour_analysis::{RunFacts, Summary};
//! use busyhour_report::{Look, RunShow, Written, end_of_run, html_report, statistics_json};
//! # use busyhour_record::{Recorder, RecorderConfig};
//! # let (recorder, writers) = Recorder::start(RecorderConfig::default())?;
//! # drop(writers);
//! # let totals = recorder.finish();
//!
//! // At the end of a run:
//! let summary = Summary::new(RunFacts::default(), &totals);
//! let text = end_of_run(&summary, RunShow::default(), &Written::default(), Look { width: Some(120), colour: false });
//! let page = html_report(&summary);
//! let statistics = statistics_json(&summary);
//! // With a run directory: `write_reports(&dir, &summary)?` writes summary.json and report.html, and later
//! // `busyhour_results::summarise(&dir)?` makes the same summary again from the record.
//! assert!(page.starts_with("<!doctype html>") && statistics.contains("\"Total\""));
//! assert!(text.contains("No request ended"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent_lines;
mod arrival_plots;
mod capacity_plot;
mod capacity_table;
mod capacity_words;
mod caveat_rank;
mod claims;
mod comparison_change;
mod comparison_csv;
mod comparison_power;
mod comparison_quartiles;
mod comparison_system;
mod comparison_table;
mod comparison_trend;
mod dashboard;
mod delivery;
mod error_causes;
mod experiment_more_tables;
mod experiment_tables;
mod experiment_text;
mod explanation_lines;
mod gc_words;
mod headline;
mod incident_lines;
mod largest_load_text;
mod largest_load_words;
mod leak_words;
mod load_changes;
mod log_tables;
mod log_words;
mod marks;
mod neighbour_lines;
pub mod numbers;
mod observation_text;
mod observed_logs;
mod page;
mod percentiles;
mod progress;
mod row_columns;
mod run_title;
mod saturation_lines;
mod server_log_lines;
mod sparkline;
mod stack_lines;
mod statistics;
mod summariser;
mod system_lines;
mod system_values;
mod table;
mod terminal_plot;
mod terminal_text;
mod thresholds;
mod thresholds_junit;
mod times_table;
mod written;

pub use arrival_plots::{PlotFile, arrival_plots};
pub use capacity_table::{capacity_table, judgement_table, refusal_text, service_law_table};
pub use claims::{Claim, ClaimInterval, claims, summary_json};
pub use comparison_csv::comparison_csv;
pub use comparison_power::power_table;
pub use comparison_table::{ComparisonShow, comparison_percent, comparison_table};
pub use comparison_trend::trend_table;
pub use dashboard::{DashboardError, prepare_dashboard, write_dashboard};
pub use experiment_text::{experiment_csv, experiment_text};
pub use explanation_lines::explanation_text;
pub use gc_words::{NamedGcLog, gc_collector, gc_comparison_notes, gc_live_memory, gc_pause_ms};
pub use largest_load_text::largest_load_text;
pub use largest_load_words::{largest_load_sentence, load_text};
pub use leak_words::{JudgedMemory, LEAK_COLUMNS, leak_groups, leak_row, leak_sentence, memory_sentence};
pub use load_changes::describe_change;
pub use log_tables::{LogTablesShow, log_tables, log_tables_csv, log_tables_json};
pub use log_words::{NamedLog, log_comparison_note, log_entries, log_extent, log_notes, log_verdict};
pub use neighbour_lines::neighbour_text;
pub use observation_text::observation_text;
pub use observed_logs::observed_logs_text;
pub use page::{
    EVENTS_PATH, LIVE_TEXT_IDS, LivePage, LogBaseline, LogPage, NoSolution, WhatIfClass, WhatIfFound,
    WhatIfModel, WhatIfPage, WhatIfPoint, WhatIfStation, WhatIfValue, capacity_html, comparison_html,
    experiment_html, gc_comparison_html, gc_html, html_report, html_report_with_system, largest_load_html,
    leak_html, live_html, logs_html, memory_html, observation_html, percentiles_html, what_if_html,
};
pub use percentiles::{percentiles_json, percentiles_text};
pub use progress::{Progress, progress_line};
pub use server_log_lines::server_log_text;
pub use sparkline::curve;
pub use stack_lines::stacks_text;
pub use statistics::statistics_json;
pub use summariser::{ThreadCounts, summariser_end, summariser_interval};
pub use table::{RunShow, Written, end_of_run};
pub use terminal_plot::{PlotLine, TerminalPlot};
pub use terminal_text::{Look, shown_label as label_shown};
pub use thresholds::{summary_markdown, threshold_table};
pub use thresholds_junit::thresholds_junit;
pub use written::write_reports;
