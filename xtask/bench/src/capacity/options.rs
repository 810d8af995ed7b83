//! The options of `cargo xtask bench capacity`.

use anyhow::anyhow;
use std::path::PathBuf;

use crate::options::Program;

/// The default backend of the shop: two connections that respond at most 500 times per second, on any machine.
const BACKEND: &str = "2 x exponential(4ms)";

/// The default request with a backend: little work for the shop itself.
const REQUEST: &str = "/ticket-monster/rest/shows?maxResults=10";

/// The default request without a backend: a response of 120 kB, which takes about a millisecond of CPU time of the
/// shop. Wake-ups are short in comparison.
const CPU_BOUND_REQUEST: &str = "/ticket-monster/rest/forge/bookings?max=200";

/// Options of `capacity`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The program to measure with; it also serves the shop.
    #[command(flatten)]
    pub program: Program,
    /// Program that fits and compares; by default the measured program
    #[arg(long, value_name = "PATH")]
    pub fitted_with: Option<PathBuf>,
    /// Backend that each response of the shop waits for, as in `busyhour lab server --backend`. With `none`, the
    /// processor is the limit, and its speed must not change during the bench
    #[arg(long, value_name = "LAW", default_value = BACKEND)]
    backend: String,
    /// Path to request from the shop; the default costs little with a backend, and about 1 ms of CPU time without
    #[arg(long, value_name = "PATH", value_parser = parse_request_path)]
    request: Option<String>,
    /// Length of a run
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u64).range(4..))]
    pub seconds: u64,
    /// Runs at each number of users
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
    /// Folder to keep the runs and the fit in; `busyhour capacity fit DIR/fitted-*-users-?` repeats the fit
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

impl Options {
    /// The backend of the shop, if it has one.
    pub fn backend(&self) -> Option<&str> {
        (self.backend != "none").then_some(&*self.backend)
    }

    /// The path to request.
    pub fn request(&self) -> &str {
        let default = if self.backend().is_some() { REQUEST } else { CPU_BOUND_REQUEST };
        self.request.as_deref().unwrap_or(default)
    }
}

fn parse_request_path(text: &str) -> anyhow::Result<String> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err(anyhow!("the path must begin with /")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    #[test]
    fn the_default_request_depends_on_the_backend() {
        let options: Options = parse("--seconds 8 --rounds 2 --keep runs --request /a").unwrap();
        assert_eq!((options.seconds, options.rounds, options.request()), (8, 2, "/a"));
        assert_eq!(options.keep, Some(PathBuf::from("runs")));
        let (plain, cpu_bound) = (parse::<Options>("").unwrap(), parse::<Options>("--backend none").unwrap());
        assert_eq!((plain.backend(), plain.request()), (Some(BACKEND), REQUEST));
        assert_eq!((cpu_bound.backend(), cpu_bound.request()), (None, CPU_BOUND_REQUEST));
        for wrong in ["--seconds", "--rounds 0", "--fast yes", "--request a"] {
            assert!(parse::<Options>(wrong).is_err(), "{wrong}");
        }
    }
}
