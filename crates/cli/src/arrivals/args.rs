//! The command line of `busyhour arrivals`.

use std::path::PathBuf;

use busyhour_analysis::{LogWindow, QuantileRule, WebLogOptions};
use busyhour_report::{LogLoad, LogTablesShow};
use clap::Args;

use crate::quantities::{log_span, window};

/// Most thread-group sizes that are looked at.
const SIZES_MAX: usize = 10_000;

#[derive(Debug, Args)]
#[command(
    after_help = "A log is a JTL (CSV with or without a line of column names, or XML) or a run directory. Rows count by \
    their start stamps; rows of transactions and results inside other ones (redirects, embedded resources) never do.\n\n\
    tps = n / dt, dt from the first start to the end of the record that started last; cv = standard deviation (n-1) / \
    mean, 1 for a Poisson process; vmr = variance / mean; KB = 1000 bytes. Quantiles are linear between neighbours \
    (type 7 of Hyndman and Fan).\n\n\
    The verdict compares arrivals with a Poisson process. It needs 500 arrivals at least; about 1,000 are recognised in eight \
    logs of ten, and 5,200 tell the CoV to ±0.05. Poisson arrivals are called something else in at most 3 logs of 100.\n\n\
    Examples:\n  busyhour arrivals results.jtl\n  busyhour arrivals --window 120,1320 1800.csv 1830.csv 1900.csv\n  \
    busyhour arrivals --by-threads 1,2,...,200 --plot plots 1830.csv\n  \
    busyhour arrivals --json busyhour-runs/plan-20260101-120000\n\n\
    Exit codes: 0 done, 1 the program or the system failed, 2 the command line cannot be understood, 3 a log cannot be \
    read or has nothing that counts (the others are shown)"
)]
pub(crate) struct ArrivalsArgs {
    /// Logs: JTL files or run directories.
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Count what starts from FROM until TO, in seconds from the first start of the log.
    #[arg(long, value_name = "FROM,TO", value_parser = log_span, conflicts_with = "window_for")]
    window: Option<LogWindow>,
    /// The same with the length of the part: from BEFORE seconds after the first start, for DURATION seconds.
    #[arg(long, value_name = "BEFORE,DURATION", value_parser = window)]
    window_for: Option<LogWindow>,
    /// Also show the gaps of the first k threads alone, for each k; "1,2,...,200" counts on in equal steps.
    #[arg(long, value_name = "LIST", value_parser = sizes)]
    by_threads: Option<Sizes>,
    /// Count samples with this label only; may be given several times.
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Vec<String>,
    /// With several logs: show the labels of each, not only its total.
    #[arg(long)]
    by_label: bool,
    /// Also show histograms of gaps and response times, in cells of this many ms.
    #[arg(long, value_name = "MS", value_parser = cell)]
    histogram: Option<f64>,
    /// Time stamps are the ends of samples (sampleresult.timestamp.start=false), not their starts.
    #[arg(long)]
    pub(crate) end_stamps: bool,
    /// The log is of an open workload: compare its arrivals with Poisson arrivals over all times. Without this, threads
    /// are taken to wait for each response, as JMeter's do.
    #[arg(long)]
    open: bool,
    /// Also show what the verdict on the arrivals rests on.
    #[arg(long)]
    details: bool,
    /// Read percentiles off as the web-generator-toolkit does.
    #[arg(long)]
    compat_percentiles: bool,
    /// Print the result as JSON.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the result as one CSV table.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write plots into this directory: SVG files, and arrivals.html with all of them.
    #[arg(long, value_name = "DIR")]
    pub(crate) plot: Option<PathBuf>,
}

impl ArrivalsArgs {
    pub(crate) fn options(&self) -> WebLogOptions {
        WebLogOptions {
            window: self.window.or(self.window_for),
            threads: self.by_threads.clone().unwrap_or_default().0,
            quantiles: if self.compat_percentiles { QuantileRule::Toolkit } else { QuantileRule::Type7 },
            cell_ms: self.histogram,
        }
    }

    pub(crate) fn load(&self) -> LogLoad {
        // Users do not wait between the requests of one label alone.
        if self.open || !self.label.is_empty() { LogLoad::Open } else { LogLoad::Closed }
    }

    pub(crate) fn show(&self) -> LogTablesShow {
        LogTablesShow { by_label: self.by_label, histograms: self.histogram.is_some(), details: self.details }
    }

    /// Whether all of a log counts.
    pub(crate) fn whole(&self) -> bool {
        self.window.or(self.window_for).is_none() && self.label.is_empty()
    }
}

/// Thread-group sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sizes(Vec<u32>);

fn cell(text: &str) -> Result<f64, String> {
    let cell: Option<f64> = text.parse().ok();
    cell.filter(|ms| *ms > 0.0 && ms.is_finite()).ok_or_else(|| "a number of ms above 0 is needed".into())
}

fn sizes(text: &str) -> Result<Sizes, String> {
    let mut sizes: Vec<u32> = Vec::new();
    let mut items = text.split(',').map(str::trim);
    while let Some(item) = items.next() {
        let number = |item: &str| match item.parse::<u32>() {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(format!("{item:?} is no number of threads")),
        };
        if !matches!(item, "..." | "…") {
            sizes.push(number(item)?);
        } else {
            let to = number(items.next().unwrap_or_default())?;
            let [.., before, last] = sizes[..] else {
                return Err("two sizes are needed before the dots: they tell the step".into());
            };
            let step = last.checked_sub(before).filter(|step| *step > 0);
            let step = step.ok_or("sizes must grow before the dots")?;
            sizes.extend((last..=to).skip(step as usize).step_by(step as usize).take(SIZES_MAX));
            if sizes.last() != Some(&to) {
                return Err(format!("steps of {step} from {last} do not meet {to}"));
            }
        }
        if sizes.len() > SIZES_MAX {
            return Err(format!("more than {SIZES_MAX} sizes"));
        }
    }
    Ok(Sizes(sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_on() {
        assert_eq!(sizes("1,2,...,5"), Ok(Sizes(vec![1, 2, 3, 4, 5])));
        assert_eq!(sizes("1, 5,10,…,20 ,50"), Ok(Sizes(vec![1, 5, 10, 15, 20, 50])));
        for wrong in ["", "0", "1,x", "1,...,5", "5,1,...,9", "1,3,...,10", "1,2,...", "1,2,...,99999"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }
}
