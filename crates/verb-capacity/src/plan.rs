//! `busyhour capacity plan`: numbers of users and think times for a target rate.

use std::path::PathBuf;

use busyhour_analysis::arrivals::ARRIVALS_FOR_VERDICT;
use busyhour_queueing::cycle::{Cycle, Think, ThinkDistribution};
use busyhour_queueing::planning::{
    COV_BAND, ExpectedCov, FEEDBACK_MAX, INDEPENDENT_MAX, Pair, PlanError, System, TargetLoad, choose,
};
use busyhour_terminal::columns::Columns;
use busyhour_terminal::exit::{Exit, complain, print};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use busyhour_terminal::quantities::{rate_per_s, time_s};
use clap::{Args, ValueEnum};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

/// The rate and times of a system, for numbers of users and think times.
#[derive(Debug, Args)]
#[command(
    after_help = "N users with think time Z generate λ = N/Z − Q/Z requests per second, where Q = λR is the number of \
    requests in the system. If N and Z grow together, N/Z stays constant and Q/Z shrinks, so the system under test has less \
    influence on the rate (Principle A of Brady & Gunther, arXiv 1607.05356).\n\n\
    Examples:\n  busyhour capacity plan --rate 20/s --response 50ms\n  busyhour capacity plan --rate 20/s --response 50ms --think 10s\n  \
    busyhour capacity plan --rate 1200/min --response 50ms --think-law exponential\n  \
    busyhour capacity plan --rate 20/s --demands 50ms,40ms --users 100,200,400"
)]
pub struct PlanArgs {
    /// Target rate: requests per second, or with the unit /s, /min or /h.
    #[arg(long, value_parser = rate_per_s)]
    rate: f64,
    /// Mean response time R at that rate.
    #[arg(long, value_name = "TIME", value_parser = time_s, required_unless_present = "demands")]
    response: Option<f64>,
    /// Service demands of the system's stations, instead of R; waiting times are then computed and simulated.
    #[arg(long, value_name = "TIME,…", value_parser = time_s, value_delimiter = ',', conflicts_with = "response")]
    demands: Vec<f64>,
    /// Show the pairs for these think times Z.
    #[arg(long, value_name = "TIME,…", value_parser = time_s, value_delimiter = ',', conflicts_with = "users")]
    think: Vec<f64>,
    /// Show the pairs for these numbers of users N.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    users: Vec<u64>,
    /// Distribution of think times: uniform on [0, 2Z], exponential, or constant.
    #[arg(long, value_enum, default_value_t = Law::Uniform)]
    think_law: Law,
    /// Seed of the simulations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the result as JSON to FILE.json.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Law {
    Uniform,
    Exponential,
    Constant,
}

impl Law {
    fn law(self) -> ThinkDistribution {
        match self {
            Self::Uniform => ThinkDistribution::Uniform,
            Self::Exponential => ThinkDistribution::Exponential,
            Self::Constant => ThinkDistribution::Constant,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Exponential => "exponential",
            Self::Constant => "constant",
        }
    }
}

pub(crate) fn main(args: &PlanArgs) -> Exit {
    let (files, json_to_stdout) = match requested(&args.output, args.json, None, &[OutputKind::Json]) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    match Answer::find(args) {
        Ok(answer) => {
            print(&if json_to_stdout { answer.json(args) } else { answer.text(args) });
            if let Err(exit) = write_files(&files, &mut |_| Ok(answer.json(args))) {
                return exit;
            }
            note_written(&files);
            Exit::Completed
        }
        Err(error) => complain(Exit::Usage, &with_hint(&error, args)),
    }
}

fn with_hint(error: &PlanError, args: &PlanArgs) -> String {
    let hint = match error {
        PlanError::Saturated { saturation_per_s, .. } => {
            format!("; use --rate {:.2} or less, or try a faster station", floor(*saturation_per_s))
        }
        PlanError::TooFew { in_system, .. } => {
            format!(
                "; use --users {:.0} or more, far more to approximate an open load",
                (in_system - 1e-9).ceil().max(1.0)
            )
        }
        PlanError::TooMany { .. } => {
            format!(
                "; an open load needs no users: busyhour run PLAN --arrivals 'poisson({}/s) for 10min'",
                args.rate
            )
        }
        _ => String::new(),
    };
    format!("{error}{hint}")
}

fn floor(value: f64) -> f64 {
    (value * 100.0 + 1e-6).floor() / 100.0
}

/// The result: the pairs to show, and the recommended pair.
struct Answer {
    target: TargetLoad,
    pairs: Vec<Pair>,
    take: Option<Pair>,
    /// Whether the user selected the pairs; otherwise they are a default series.
    asked: bool,
}

impl Answer {
    fn find(args: &PlanArgs) -> Result<Self, PlanError> {
        let system = match args.response {
            Some(response_s) => System::Response(response_s),
            None => System::Demands(args.demands.clone()),
        };
        let target = TargetLoad { rate_per_s: args.rate, system, think: args.think_law.law() };
        let mut pairs = Vec::new();
        // Each pair has its own random stream, so that its result does not depend on the other pairs.
        let random = |pair: u64| {
            Xoshiro256PlusPlus::seed_from_u64(args.seed.wrapping_mul(0x9E37_79B9).wrapping_add(pair))
        };
        for &users in &args.users {
            pairs.push(target.for_users(users, &mut random(users))?);
        }
        for &think_s in &args.think {
            pairs.push(target.for_think(think_s, &mut random(think_s.to_bits()))?);
        }
        let asked = !pairs.is_empty();
        let mut take = choose(&pairs).copied();
        if take.is_none() {
            // If none of the selected pairs is good enough, another one is recommended.
            let candidates = target.candidate_pairs(&mut random(0))?;
            take = choose(&candidates).copied();
            if !asked {
                pairs = candidates;
            }
        }
        pairs.sort_by_key(|pair| pair.users);
        pairs.dedup_by_key(|pair| pair.users);
        Ok(Self { target, pairs, take, asked })
    }

    fn text(&self, args: &PlanArgs) -> String {
        let mut out = self.heading();
        out.push('\n');
        let mut table =
            Columns::new(0, &["N", "Z s", "N/Z /s", "λ /s", "R s", "Q", "Q/Z /s", "R/(R+Z)", "CoV", ""]);
        let simulated = self.is_simulated();
        let taken = |pair: &Pair| self.take.is_some_and(|take| take.users == pair.users);
        for pair in &self.pairs {
            table.row(vec![
                pair.users.to_string(),
                format!("{:.3}", pair.think_s),
                finite(pair.rate_max_per_s(), 2),
                format!("{:.2}", pair.rate_per_s),
                format!("{:.4}", pair.response_s),
                format!("{:.2}", pair.in_system()),
                finite(pair.q_over_z_per_s(), 2),
                format!("{:.3}", pair.waiting_share()),
                cov(&pair.cov, simulated),
                // Each cell is padded to the width of the widest cell, so that the column is left-aligned.
                format!("{:<14}", if taken(pair) { "<- recommended" } else { "" }),
            ]);
        }
        out += &table.render();
        out.push('\n');
        out += &self.method(args);
        out.push('\n');
        out += &self.advice(args);
        out
    }

    fn heading(&self) -> String {
        let rate = self.target.rate_per_s;
        match (&self.target.system, self.target.open_response_s()) {
            (System::Response(response_s), _) => format!(
                "{rate}/s with a response time R of {response_s} s: Q = λR = {:.2} requests in the system\n",
                rate * response_s
            ),
            (System::Demands(demands_s), Some(response_s)) => format!(
                "{rate}/s on stations with demands of {} s: the busiest is at {:.0} %, R = {response_s:.4} s, Q = λR = {:.2}\n",
                list(demands_s),
                100.0 * rate * largest(demands_s),
                rate * response_s
            ),
            (System::Demands(demands_s), None) => format!(
                "{rate}/s on stations with demands of {} s: the busiest is busy all the time, so the rate\n  is approached but not reached; all pairs have the same N/Z\n",
                list(demands_s)
            ),
        }
    }

    fn is_simulated(&self) -> bool {
        self.pairs.iter().any(|pair| matches!(pair.cov, ExpectedCov::Simulation { .. }))
    }

    fn method(&self, args: &PlanArgs) -> String {
        let law = match args.think_law {
            Law::Uniform => "uniform on [0, 2Z]",
            Law::Exponential => "exponential",
            Law::Constant => "constant",
        };
        let simulated = self.is_simulated();
        let mut out = format!(
            "CoV: expected coefficient of variation of the gaps between arrivals (Poisson: 1), with think times\n\
             {law}. Found as the superposition of N independent users "
        );
        out += &match (simulated, &self.target.system) {
            (true, _) => format!(
                "where R/(R+Z) is at most {INDEPENDENT_MAX};\nwith ±, by simulation of the closed network (exponential service in \
                 order of arrival, seed {}),\nand its standard error.\n",
                args.seed
            ),
            (false, System::Demands(_)) => "with response time R.\n".to_owned(),
            (false, System::Response(_)) => {
                "with response time R;\nwaiting between users is unknown (use --demands).\n".to_owned()
            }
        };
        out
    }

    fn advice(&self, args: &PlanArgs) -> String {
        let Some(take) = &self.take else {
            return format!(
                "None of these is recommended: none has R/Z of at most {FEEDBACK_MAX} and a CoV within {COV_BAND} of 1.\n{}",
                self.open_load()
            );
        };
        let shown = self.pairs.iter().any(|pair| pair.users == take.users);
        let why = match (self.asked, shown) {
            (true, true) => "the fewest of these",
            _ => "the fewest users",
        };
        let none = if self.asked && !shown { "None of these is close to an open load. " } else { "" };
        let cov = match take.cov.value() {
            Some(_) => format!("the CoV is within {COV_BAND} of 1"),
            None => "the CoV is unknown".to_owned(),
        };
        let mut out = format!(
            "{none}Recommended: N = {} and Z = {} s, {why} for which Q/Z is small.\n\
             R/Z is at most {FEEDBACK_MAX}: a system twice as slow lowers the rate by no more than {:.0} %; {cov}.\n\
             More users with a longer Z are also suitable.\n",
            take.users,
            // Rounded to the millisecond, as in the table.
            (take.think_s * 1e3).round() / 1e3,
            100.0 * FEEDBACK_MAX
        );
        out += &jmeter(args.think_law, take);
        let think = Think { mean_s: take.think_s, law: self.target.think };
        let dispersion = Cycle { think, response_s: take.response_s }.cov().powi(2);
        if dispersion < 0.8 {
            out += &format!(
                "Over times much longer than Z, counts vary less than those of a Poisson process for every N: their dispersion\n\
                 approaches {dispersion:.2} (with --think-law exponential: 1).\n"
            );
        }
        out + &self.open_load()
    }

    fn open_load(&self) -> String {
        let rate = self.target.rate_per_s;
        let (first, narrow) = (ARRIVALS_FOR_VERDICT as f64, busyhour_launch::ARRIVALS_NARROW as f64);
        format!(
            "For an open load: busyhour run PLAN --arrivals 'poisson({rate}/s) for 10min'\n\
             A verdict on its arrivals needs {first} arrivals ({:.0} s); {narrow} arrivals ({:.0} s) determine the CoV to ± 0.03.\n",
            (first / rate).ceil(),
            (narrow / rate).ceil(),
        )
    }

    fn json(&self, args: &PlanArgs) -> String {
        let pair = |pair: &Pair| {
            let (method, standard_error, gaps) = match pair.cov {
                ExpectedCov::Superposition(_) => (Some("superposition"), None, None),
                ExpectedCov::Simulation { standard_error, gaps, .. } => {
                    (Some("simulation"), Some(standard_error), Some(gaps))
                }
                ExpectedCov::Unavailable => (None, None, None),
            };
            json!({
                "users": pair.users,
                "think_s": pair.think_s,
                "users_over_think_per_s": number(pair.rate_max_per_s()),
                "rate_per_s": pair.rate_per_s,
                "response_s": pair.response_s,
                "in_system": pair.in_system(),
                "in_system_over_think_per_s": number(pair.q_over_z_per_s()),
                "response_share": pair.waiting_share(),
                "gap_cov": pair.cov.value(),
                "gap_cov_method": method,
                "gap_cov_standard_error": standard_error,
                "gap_cov_gaps": gaps,
            })
        };
        let value = json!({
            "version": 1,
            "wanted_rate_per_s": self.target.rate_per_s,
            "response_s": args.response,
            "demands_s": args.demands,
            "think_law": args.think_law.name(),
            "seed": args.seed,
            "at_saturation": self.target.is_at_saturation(),
            "pairs": self.pairs.iter().map(pair).collect::<Vec<Value>>(),
            "take": self.take.as_ref().map(pair),
        });
        format!("{value:#}\n")
    }
}

/// The settings in JMeter for the pair.
fn jmeter(law: Law, pair: &Pair) -> String {
    let ms = |seconds: f64| (seconds * 1_000.0).round();
    let timer = match law {
        Law::Uniform => {
            format!(
                "Uniform Random Timer with Random Delay Maximum {} ms and Constant Delay Offset 0 ms",
                ms(2.0 * pair.think_s)
            )
        }
        Law::Constant => format!("Constant Timer with Thread Delay {} ms", ms(pair.think_s)),
        Law::Exponential => format!(
            "JSR223 Timer with \"return (long) (-{} * Math.log(1 - Math.random()))\"",
            ms(pair.think_s)
        ),
    };
    format!(
        "In JMeter: {} threads, a ramp-up of at least {:.0} s, and for each request a\n  {timer}.\n",
        pair.users,
        pair.think_s.ceil()
    )
}

/// The value with its error. Padded, so that it is aligned with rows that have an error.
fn cov(expected: &ExpectedCov, simulated: bool) -> String {
    match expected {
        ExpectedCov::Superposition(cov) if simulated => format!("{cov:.2}      "),
        ExpectedCov::Superposition(cov) => format!("{cov:.2}"),
        ExpectedCov::Simulation { cov, standard_error, .. } => {
            format!("{cov:.2} ±{}", two_digits_up(*standard_error))
        }
        ExpectedCov::Unavailable => "unknown".into(),
    }
}

/// Formats a standard error with two decimals. It is rounded up, so that it is never shown as 0.00.
fn two_digits_up(value: f64) -> String {
    format!("{:.2}", ((value * 100.0).ceil() / 100.0).max(0.01))
}

fn finite(value: f64, digits: usize) -> String {
    if value.is_finite() { format!("{value:.digits$}") } else { "-".into() }
}

fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

fn largest(demands_s: &[f64]) -> f64 {
    demands_s.iter().copied().fold(0.0, f64::max)
}

fn list(demands_s: &[f64]) -> String {
    demands_s.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}
