//! The command line of `busyhour capacity find`.

use std::ffi::OsStr;
use std::path::PathBuf;

use busyhour_loadsearch::{ERRORS_THRESHOLD, LoadSearchPlan, LoadTarget, search_thresholds};
use busyhour_search::LoadKind;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::note;
use busyhour_terminal::quantities::{rate_per_s, share, time_s};
use busyhour_verb_inputs::thresholds::ThresholdArgs;
use clap::Args;

/// The directory of searches without `--dir`.
const DIRECTORY: &str = "busyhour-searches";

#[derive(Debug, Args)]
#[command(
    override_usage = "busyhour capacity find [OPTIONS] --threshold <CRITERION>\n       \
    <PLAN|--url <URL>> <--users <A..B>|--rate <A..B>>",
    after_help = "Each trial is a run at a fixed load that passes or fails the thresholds. The answer is the largest load that passes in \
    at least 95 % of the trials, with its interval. Light trials come first and lead to a guess; confirmation runs at the answer and \
    trials after an overload (hysteresis) come last. Trials whose load was not delivered, or that were disturbed on the host, do not \
    count. The journal in the directory contains each step: if it is run again, the search continues.\n\n\
    Without a threshold on errors, the threshold `errors < 1%` is added, because errors can be faster than responses.\n\n\
    A trial lasts as long as the percentile of the thresholds needs: from 59 (p95) or 299 (p99) requests on, up to 2,000 or 10,000 \
    requests, and at least --trial-min and --trial. docs/largest-load.md describes the method.\n\n\
    A plan with --users gets the number of users and the length in seconds as the properties `users` and `duration`, for example \
    ${__P(users)} in its thread group. With --rate, its thread groups are started by arrivals.\n\n\
    Examples:\n  busyhour capacity find shop.jmx --users 10..2000 --threshold 'p95 < 1s'\n  \
    busyhour capacity find shop.jmx --rate 5..99 --threshold 'p99 < 1s'\n  \
    busyhour capacity find --url http://a/ --rate 5..99 --threshold 'p95 < 1s'\n  \
    busyhour capacity find shop.jmx --rate 5..99 --thresholds slo.toml --json\n\n\
    Exit codes:\n  0  the search has ended with a load\n  1  the program or the system failed, or trials failed in succession\n  \
    2  the command line is wrong\n  3  the plan was refused, or the directory contains another search\n  \
    4  the search was stopped; run it again to continue\n  6  no load of the range meets the thresholds, or higher loads pass more often\n  \
    11 the interval is wider than the precision, or the budget was too small; raise --budget"
)]
#[command(group = clap::ArgGroup::new("target").args(["plan", "url"]).required(true))]
#[command(group = clap::ArgGroup::new("load").args(["users", "rate"]).required(true))]
pub(super) struct FindArgs {
    /// Plan (JMX).
    #[arg(value_name = "PLAN", conflicts_with = "url")]
    plan: Option<PathBuf>,
    /// URL to request, instead of a plan.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Search in these numbers of users, e.g. 10..2000.
    #[arg(long, value_name = "A..B", value_parser = users_range, conflicts_with = "rate")]
    users: Option<(f64, f64)>,
    /// Search in these rates of Poisson arrivals, e.g. 10..500 or 5/s..200/s.
    #[arg(long, value_name = "A..B", value_parser = rate_range)]
    rate: Option<(f64, f64)>,
    /// The search ends when the interval of the answer is at most twice as wide.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    precision: f64,
    /// Maximum time under load, summed over all trials.
    #[arg(long, value_name = "TIME", value_parser = time_s, default_value = "20min")]
    budget: f64,
    /// Length of a trial; longer if the percentile needs more requests.
    #[arg(long, value_name = "TIME", value_parser = time_s, default_value = "30s")]
    trial: f64,
    /// Shortest length of a trial, in which the system reaches its steady state (default: a sixth of --trial, at least 1s).
    #[arg(long, value_name = "TIME", value_parser = time_s)]
    trial_min: Option<f64>,
    /// Number of confirmation runs at the answer that all have to pass; a small budget reduces it.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100))]
    confirmations: u32,
    /// Number of trials that follow an overload; a small budget reduces it.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=100))]
    from_above: u32,
    /// Seed of the arrivals.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    pub(super) thresholds: ThresholdArgs,
    /// What to observe during trials: auto (default), none, os, jvm, …
    #[arg(long, value_name = "SOURCES")]
    observe: Option<String>,
    /// Set a property of the plan.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    property: Vec<String>,
    /// Further option of the runs, e.g. --run-option=--think=1s; may be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    run_option: Vec<String>,
    /// Property that sets the number of users of a plan.
    #[arg(long, value_name = "NAME", default_value = "users", hide_short_help = true)]
    users_property: String,
    /// Property that sets the length of a plan in seconds.
    #[arg(long, value_name = "NAME", default_value = "duration", hide_short_help = true)]
    duration_property: String,
    /// Directory for journal and trials (default: busyhour-searches/NAME).
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Write the result to a file (.html, .json); may be given several times.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}

impl FindArgs {
    /// The plan of the search, and its directory.
    pub(super) fn plan(&self) -> Result<(LoadSearchPlan, PathBuf), CommandError> {
        let (criteria, _) = self.thresholds.clone().read()?;
        if criteria.is_empty() {
            return Err("a search needs a threshold: add --threshold 'p95 < 200ms'".into());
        }
        if let Some(stopping) = criteria.iter().find(|criterion| criterion.stops_run) {
            return Err(format!(
                "the threshold `{}` stops a run before its end; add `, continue as failed`",
                stopping.text
            )
            .into());
        }
        let (kind, range) = match (self.users, self.rate) {
            (Some(range), _) => (LoadKind::Users, range),
            (None, Some(range)) => (LoadKind::Rate, range),
            (None, None) => return Err("a search needs --users A..B or --rate A..B".into()),
        };
        let shortest_s = self.trial_min.unwrap_or_else(|| (self.trial / 6.0).max(1.0).min(self.trial));
        if self.trial < 1.0 || shortest_s < 0.5 || shortest_s > self.trial {
            return Err("--trial must be at least 1s, and --trial-min from 500ms to --trial".into());
        }
        if self.budget < 2.0 * self.trial {
            return Err("--budget must be at least twice --trial, and should be 40 times as long".into());
        }
        let target = self.target()?;
        let thresholds = search_thresholds(&criteria);
        if thresholds.len() > criteria.len() {
            note(&format!(
                "the threshold `{ERRORS_THRESHOLD}` is added; one of your own on errors replaces it"
            ));
        }
        let plan = LoadSearchPlan {
            kind,
            lowest: range.0,
            highest: range.1,
            thresholds,
            precision: self.precision,
            budget_s: self.budget,
            full_s: self.trial,
            shortest_s,
            confirmations: self.confirmations,
            trials_from_above: self.from_above,
            seed: self.seed,
            options: self.run_options(),
            users_property: self.users_property.clone(),
            duration_property: self.duration_property.clone(),
            target,
        };
        let dir = self.dir.clone().unwrap_or_else(|| self.default_dir());
        let dir = std::path::absolute(&dir).map_err(|error| format!("--dir {}: {error}", dir.display()))?;
        Ok((plan, dir))
    }

    fn target(&self) -> Result<LoadTarget, CommandError> {
        match (&self.url, &self.plan) {
            (Some(url), _) => {
                let is_url = url.starts_with("http://") || url.starts_with("https://");
                is_url
                    .then(|| LoadTarget::Url(url.clone()))
                    .ok_or_else(|| format!("--url {url}: a URL begins with http:// or https://").into())
            }
            (None, Some(plan)) => {
                let content = std::fs::read(plan)
                    .map_err(|error| format!("cannot read the plan {}: {error}", plan.display()))?;
                let path =
                    std::path::absolute(plan).map_err(|error| format!("{}: {error}", plan.display()))?;
                Ok(LoadTarget::plan(path.to_string_lossy().into_owned(), &content))
            }
            (None, None) => Err("a search needs a plan or --url".into()),
        }
    }

    fn run_options(&self) -> Vec<String> {
        let observe = self.observe.iter().flat_map(|sources| ["--observe".to_owned(), sources.clone()]);
        let properties = self.property.iter().flat_map(|text| ["-J".to_owned(), text.clone()]);
        observe.chain(properties).chain(self.run_option.iter().cloned()).collect()
    }

    fn default_dir(&self) -> PathBuf {
        let name = match (&self.url, &self.plan) {
            (Some(url), _) => {
                let host = url.split("://").last().unwrap_or(url);
                let host = host.split(['/', '?']).next().unwrap_or(host);
                host.chars().map(|c| if c.is_alphanumeric() || "-.".contains(c) { c } else { '-' }).collect()
            }
            (None, Some(plan)) => {
                plan.file_stem().unwrap_or(OsStr::new("plan")).to_string_lossy().into_owned()
            }
            (None, None) => "search".to_owned(),
        };
        PathBuf::from(DIRECTORY).join(name)
    }
}

/// Parses a range of numbers of users.
fn users_range(text: &str) -> Result<(f64, f64), CommandError> {
    range(text, "10..2000", |end| {
        let users = end.parse::<u32>().ok().filter(|users| *users > 0);
        users.map(f64::from).ok_or_else(|| format!("\"{end}\" is not a whole number of users").into())
    })
}

/// Parses a range of rates.
fn rate_range(text: &str) -> Result<(f64, f64), CommandError> {
    range(text, "10..500 or 10/s..500/s", |end| rate_per_s(end).map_err(CommandError::from))
}

fn range(
    text: &str,
    example: &str,
    end: impl Fn(&str) -> Result<f64, CommandError>,
) -> Result<(f64, f64), CommandError> {
    let (low, high) = text
        .split_once("..")
        .ok_or_else(|| CommandError::from(format!("expected A..B, such as {example}")))?;
    let (low, high) = (end(low.trim())?, end(high.trim())?);
    if low > 0.0 && low < high {
        Ok((low, high))
    } else {
        Err("the range needs two positive loads, the smaller one first".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed() {
        assert_eq!(users_range("10..2000"), Ok((10.0, 2000.0)));
        assert_eq!(rate_range("0.5/s .. 120/min"), Ok((0.5, 2.0)));
        for wrong in ["10", "20..10", "10..10", "0..10", "1.5..3", "a..b"] {
            assert!(users_range(wrong).is_err(), "{wrong}");
        }
        assert!(rate_range("0..1").is_err() && rate_range("5/year..9").is_err());
    }
}
