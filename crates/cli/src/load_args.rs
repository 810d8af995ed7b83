//! Options that define the load: a schedule of arrivals, or a number of users with think time.

use std::path::PathBuf;

use busyhour_arrivals::ArrivalProcess;
use busyhour_compile::{OpenOptions, no_free_user, think_law};
use busyhour_program::open::NoFreeUser;
use clap::Args;

use crate::command_error::CommandError;
use crate::run_request::RunRequest;
use crate::url_plan::{Closed, UrlPlan};

/// Default number of users and duration of a run against a URL.
const URL_USERS: u32 = 1;
const URL_SECONDS: u64 = 30;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadArgs {
    /// Start sessions on this schedule, regardless of responses, e.g. 'poisson(500/s) for 60s'.
    #[arg(
        long,
        value_name = "PROCESS",
        long_help = "Start sessions on this schedule, regardless of responses. Each arrival starts a new session: \
        one iteration of a thread group.\n\n\
        Stages are separated by commas:\n  \
        poisson(500/s) for 60s\n  ramp(500/s -> 2000/s) over 5min poisson\n  pause 10s\n  even(100/s) for 1min\n  \
        jittered(100/s) for 1min\n  gamma(100/s, cov 0.5) for 1min\n  weibull(100/s, cov 2) for 1min\n  \
        mmpp(100/s for 5s, 1000/s for 1s) for 60s\n  replay(results.jtl) speed 2"
    )]
    arrivals: Option<String>,
    /// Relative share of arrivals for a thread group, for plans with several.
    #[arg(long = "weight", value_name = "GROUP=NUMBER")]
    weights: Vec<String>,
    /// What to do when all users are busy: 'queue', 'drop' or 'grow to N' (default: grow to 10000).
    #[arg(long, value_name = "POLICY")]
    no_free_user: Option<String>,
    /// Number of users: for a URL, or with --arrivals and --no-free-user 'queue' or 'drop'.
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    users: Option<u32>,
    /// Think time before each request to a URL: '1s', 'uniform(0s, 2s)', 'exponential(1s)', 'lognormal(1s, cov 0.5)'.
    #[arg(long, value_name = "TIME")]
    think: Option<String>,
    /// Duration of a run against a URL (default: 30s), or of the last stage of --arrivals if it has none.
    #[arg(long = "for", value_name = "TIME")]
    length: Option<String>,
    /// Skip timers that set a rate instead of refusing them together with --arrivals.
    #[arg(long)]
    ignore_rate_timers: bool,
    /// Reduce the lateness of starts to a few microseconds by polling the clock; uses a whole core.
    #[arg(long)]
    spin: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request to a URL")]
pub(crate) struct UrlArgs {
    /// Request header; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Request body, or @FILE (without its line ends); several are joined with &. Changes the default method to POST.
    #[arg(short = 'd', long = "data", value_name = "TEXT")]
    data: Vec<String>,
    /// Request method (default: GET).
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    method: Option<String>,
}

impl LoadArgs {
    /// Applies these options to a request for a plan or a URL.
    pub(crate) fn apply(self, url: UrlArgs, request: &mut RunRequest) -> Result<(), CommandError> {
        let target = request.plan.to_string_lossy().into_owned();
        let is_url = request.is_for_url();
        request.spin = self.spin;
        if !is_url && is_url_without_scheme(&target) && !request.plan.exists() {
            return Err(format!("file {target} not found; for a URL, add the scheme: http://{target}").into());
        }
        if !is_url {
            self.refuse_for_plan(&url)?;
        }
        request.open = self.open()?;
        if !is_url {
            return Ok(());
        }
        let closed = match &request.open {
            Some(_) => None,
            None => {
                let seconds = match &self.length {
                    Some(text) => whole_seconds(text)?,
                    None => URL_SECONDS,
                };
                request.length_s = Some(seconds);
                Some(Closed { users: self.users.unwrap_or(URL_USERS), seconds })
            }
        };
        let think = match self.think {
            Some(text) => {
                think_law(&text).map_err(|error| format!("--think {text:?}: {error}"))?;
                Some(text)
            }
            None => None,
        };
        let plan = UrlPlan {
            url: &target,
            headers: &url.headers,
            data: body(&url.data)?,
            method: url.method,
            think,
            closed,
        };
        request.url_plan = Some(plan.facts()?);
        let (name, text) = plan.jmx()?;
        request.plan = PathBuf::from(name);
        request.plan_text = Some(text.into());
        Ok(())
    }

    /// Refuses options that a plan defines itself.
    fn refuse_for_plan(&self, url: &UrlArgs) -> Result<(), CommandError> {
        let given = [
            ("--think", self.think.is_some()),
            ("--for", self.length.is_some() && self.arrivals.is_none()),
            ("-H", !url.headers.is_empty()),
            ("-d", !url.data.is_empty()),
            ("-X", url.method.is_some()),
            ("-c", self.users.is_some() && self.arrivals.is_none()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(format!(
                "{flag} is for a URL only; in a plan, change the element or its properties (-J NAME=VALUE)"
            )
            .into()),
            None => Ok(()),
        }
    }

    fn open(&self) -> Result<Option<OpenOptions>, CommandError> {
        let Some(text) = &self.arrivals else {
            let given = [
                ("--weight", !self.weights.is_empty()),
                ("--no-free-user", self.no_free_user.is_some()),
                ("--ignore-rate-timers", self.ignore_rate_timers),
            ];
            return match given.iter().find(|(_, given)| *given) {
                Some((flag, _)) => Err(format!("{flag} needs --arrivals").into()),
                None => Ok(None),
            };
        };
        let process = match &self.length {
            Some(_) if ArrivalProcess::parse(text).is_ok() => {
                return Err("--for has no effect: every stage of --arrivals has a duration".into());
            }
            Some(length) => ArrivalProcess::parse_for(text, time_of_for(length)?),
            None => ArrivalProcess::parse(text),
        };
        let process = process.map_err(|error| format!("--arrivals: {}", error.render(text)))?;
        let process = crate::replay_times::resolved(process)?;
        let policy = self.no_free_user.as_deref().map(no_free_user).transpose();
        let policy = policy.map_err(|error| format!("--no-free-user: {error}"))?;
        if self.users.is_some() && !matches!(policy, Some(NoFreeUser::Queue | NoFreeUser::Drop)) {
            return Err(
                "-c with --arrivals needs --no-free-user queue or drop; by default, users are added when \
                        needed, up to the N of --no-free-user 'grow to N'"
                    .into(),
            );
        }
        Ok(Some(OpenOptions {
            process,
            weights: self.weights.iter().map(|text| weight(text)).collect::<Result<_, _>>()?,
            no_free_user: policy,
            users: self.users,
            ignore_rate_timers: self.ignore_rate_timers,
        }))
    }
}

/// Whether a text looks like a URL without `http://`: it has a port, an address or `localhost`.
fn is_url_without_scheme(text: &str) -> bool {
    let authority = text.split(['/', '?']).next().unwrap_or(text);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (host, Some(port))
        }
        _ => (authority, None),
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    !host.is_empty()
        && (port.is_some()
            || host.eq_ignore_ascii_case("localhost")
            || host.to_ascii_lowercase().starts_with("www.")
            || address.parse::<std::net::IpAddr>().is_ok())
}

/// The body of `-d` options, with curl's rules.
fn body(data: &[String]) -> Result<Option<String>, CommandError> {
    let mut parts = Vec::new();
    for text in data {
        parts.push(match text.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| format!("-d {text}: {}", crate::io_hints::with_hint(&error)))?
                .replace(['\r', '\n'], ""),
            None => text.clone(),
        });
    }
    Ok((!parts.is_empty()).then(|| parts.join("&")))
}

fn weight(text: &str) -> Result<(String, f64), CommandError> {
    let parsed =
        text.rsplit_once('=').and_then(|(name, number)| Some((name.to_owned(), number.trim().parse().ok()?)));
    match parsed {
        Some((name, weight)) if f64::is_finite(weight) && weight >= 0.0 => Ok((name, weight)),
        _ => Err(format!("--weight {text:?} does not have the form 'Name of the group=2'").into()),
    }
}

fn time_of_for(text: &str) -> Result<u64, CommandError> {
    busyhour_arrivals::time_ns(text).map_err(|error| format!("--for: {}", error.render(text)).into())
}

fn whole_seconds(text: &str) -> Result<u64, CommandError> {
    let ns = time_of_for(text)?;
    if ns < 1_000_000_000 || ns % 1_000_000_000 != 0 {
        return Err(format!("--for {text:?}: not a whole number of seconds").into());
    }
    Ok(ns / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_a_scheme_are_recognised() {
        for text in
            ["127.0.0.1:8971", "localhost/a?b=c", "shop.example:80", "[::1]:8080/", "10.0.0.7", "www.a.b/c"]
        {
            assert!(is_url_without_scheme(text), "{text}");
        }
        for text in ["plan.jmx", "plans/shop.jmx", "./plan", "C:\\plans\\a.jmx", "", ":80", "plan"] {
            assert!(!is_url_without_scheme(text), "{text}");
        }
    }
}
