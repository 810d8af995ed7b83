//! The command line of `busyhour arrivals`.

use std::path::PathBuf;

use busyhour_analysis::arrivals::ARRIVALS_FOR_VERDICT;
use busyhour_analysis::{LogWindow, QuantileRule, WebLogOptions};
use busyhour_launch::ARRIVALS_NARROW;
use busyhour_report::LogTablesShow;
use busyhour_results::LogLoad;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::outputs::OutputFile;
use busyhour_terminal::quantities::{cell_ms, log_span, window};
use busyhour_verb_inputs::results_args::WorkloadArgs;
use clap::Args;

/// Maximum number of thread-group sizes.
const SIZES_MAX: usize = 10_000;

/// The command line of `busyhour arrivals`, the old name of `busyhour report --arrivals`.
#[derive(Debug, Default, Args)]
#[command(after_help = after_help())]
pub(crate) struct ArrivalsArgs {
    /// Logs: JTL files or run directories.
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Use only requests that start between FROM and TO, in seconds from the first start in the log.
    #[arg(long, value_name = "FROM,TO", value_parser = log_span, conflicts_with = "window_for")]
    pub(crate) window: Option<LogWindow>,
    /// Like --window, but with a duration: skip BEFORE seconds, then use DURATION seconds.
    #[arg(long, value_name = "BEFORE,DURATION", value_parser = window)]
    pub(crate) window_for: Option<LogWindow>,
    #[command(flatten)]
    pub(crate) tables: TablesArgs,
    /// Time stamps are the ends of samples, not their starts (sampleresult.timestamp.start=false).
    #[arg(long)]
    pub(crate) end_stamps: bool,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// Also show the tests behind the verdict.
    #[arg(long)]
    pub(crate) details: bool,
    /// Print the result as JSON.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the result as one CSV table.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write plots to this directory: SVG files, and arrivals.html with all of them.
    #[arg(long, value_name = "DIR")]
    pub(crate) plot: Option<PathBuf>,
    /// The files of `report --arrivals -o`.
    #[arg(skip)]
    pub(crate) outputs: Vec<OutputFile>,
}

/// The tables of arrival statistics.
#[derive(Debug, Default, Args)]
pub(crate) struct TablesArgs {
    /// Also show the gaps of only the first k threads, for each k in the list; "1,2,...,200" is a range.
    #[arg(long, value_name = "LIST", value_parser = sizes)]
    by_threads: Option<Sizes>,
    /// Use only samples with this label; may be given several times.
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Vec<String>,
    /// Also show each label if there are several logs.
    #[arg(long)]
    by_label: bool,
    /// Also show histograms of gaps and response times, with bins of this width.
    #[arg(long, value_name = "TIME", value_parser = cell_ms)]
    histogram: Option<f64>,
    /// Compute percentiles as the web-generator-toolkit does.
    #[arg(long)]
    compat_percentiles: bool,
}

impl TablesArgs {
    /// The first of these options that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--by-threads", self.by_threads.is_some()),
            ("--label", !self.label.is_empty()),
            ("--by-label", self.by_label),
            ("--histogram", self.histogram.is_some()),
            ("--compat-percentiles", self.compat_percentiles),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

impl ArrivalsArgs {
    pub(crate) fn options(&self) -> WebLogOptions {
        WebLogOptions {
            window: self.window.or(self.window_for),
            threads: self.tables.by_threads.clone().unwrap_or_default().0,
            quantiles: if self.tables.compat_percentiles {
                QuantileRule::Toolkit
            } else {
                QuantileRule::Type7
            },
            cell_ms: self.tables.histogram,
        }
    }

    pub(crate) fn load(&self) -> LogLoad {
        // The requests of a single label do not form a closed loop: users also send other requests between them.
        if self.workload.is_open() || !self.tables.label.is_empty() { LogLoad::Open } else { LogLoad::Closed }
    }

    pub(crate) fn show(&self) -> LogTablesShow {
        LogTablesShow {
            by_label: self.tables.by_label,
            histograms: self.tables.histogram.is_some(),
            details: self.details,
        }
    }

    /// Whether the whole log is used, without a window.
    pub(crate) fn whole(&self) -> bool {
        self.window.or(self.window_for).is_none() && self.tables.label.is_empty()
    }
}

/// Explains the statistics, and the requirements of the verdict.
pub(crate) fn explanation() -> String {
    format!(
        "Each request counts as an arrival at its start time. Rows of transactions, redirects and embedded resources do not \
    count.\n\n\
    tps = n / dt, with dt from the first start to the end of the record that started last; cv = standard deviation (n-1) / \
    mean, 1 for a Poisson process; vmr = variance / mean; KB = 1000 bytes. Quantiles are interpolated linearly \
    (type 7 of Hyndman and Fan).\n\n\
    The verdict describes a closed load, and compares an open one (--workload open) with a Poisson process. It needs \
         {ARRIVALS_FOR_VERDICT} arrivals. With 1,000 arrivals it recognizes a Poisson process in eight of ten logs; \
         {ARRIVALS_NARROW} determine the CoV to ± 0.03. It rejects a Poisson process in at most 5 of 100 logs."
    )
}

/// Explanations, examples and exit codes of the old verb.
fn after_help() -> String {
    format!(
        "A log is a JTL (CSV with or without a header line, or XML) or a run directory. {}\n\n\
    Examples:\n  busyhour report --arrivals results.jtl\n  \
    busyhour report --arrivals --window 2min,22min 1800.csv 1830.csv 1900.csv\n\n\
    Exit codes: 0 success, 1 the program or the system failed, 2 the command line is wrong, 3 a log cannot be read or \
    has no arrivals (the other logs are shown)",
        explanation()
    )
}

/// Thread-group sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sizes(Vec<u32>);

fn sizes(text: &str) -> Result<Sizes, CommandError> {
    let mut sizes: Vec<u32> = Vec::new();
    let mut items = text.split(',').map(str::trim);
    while let Some(item) = items.next() {
        let number = |item: &str| match item.parse::<u32>() {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(format!("{item:?} is not a number of threads")),
        };
        if !matches!(item, "..." | "…") {
            sizes.push(number(item)?);
        } else {
            let to = number(items.next().unwrap_or_default())?;
            let [.., before, last] = sizes[..] else {
                return Err("expected two sizes before the dots, which define the step".into());
            };
            let step = last.checked_sub(before).filter(|step| *step > 0);
            let step = step.ok_or("the sizes before the dots must increase")?;
            sizes.extend((last..=to).skip(step as usize).step_by(step as usize).take(SIZES_MAX));
            if sizes.last() != Some(&to) {
                return Err(format!("steps of {step} from {last} do not reach {to}").into());
            }
        }
        if sizes.len() > SIZES_MAX {
            return Err(format!("more than {SIZES_MAX} sizes").into());
        }
    }
    Ok(Sizes(sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_sizes_are_expanded() {
        assert_eq!(sizes("1,2,...,5").unwrap(), Sizes(vec![1, 2, 3, 4, 5]));
        assert_eq!(sizes("1, 5,10,…,20 ,50").unwrap(), Sizes(vec![1, 5, 10, 15, 20, 50]));
        for wrong in ["", "0", "1,x", "1,...,5", "5,1,...,9", "1,3,...,10", "1,2,...", "1,2,...,99999"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }
}
