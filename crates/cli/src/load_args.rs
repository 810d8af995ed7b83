//! Options that define the load: a schedule of arrivals, or a number of users with think time.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_arrivals::ArrivalProcess;
use busyhour_compile::{OpenOptions, no_free_user, think_law};
use busyhour_diagnostic::io_hints::{chain, with_hint};
use busyhour_launch::{GeneratedPlan, UrlPlan, UrlUsers, redaction, resolve_replays};
use busyhour_limits::files::{INPUT_BYTES, read_input_text};
use busyhour_program::open::NoFreeUser;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::say;
use busyhour_terminal::quantities::{refuse_bare_time, time_ns};
use clap::Args;

use crate::run_command::RunCommand;

/// Default number of users and duration of a run against a URL.
const URL_USERS: u32 = 1;
const URL_SECONDS: u64 = 30;

/// Heading of the options on the load.
const LOAD: &str = "Load";

#[derive(Debug, Default, Args)]
#[command(next_help_heading = LOAD)]
pub(crate) struct LoadArgs {
    /// Schedule of arrivals, e.g. 'poisson(500/s) for 60s'.
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
    /// Poisson arrivals at this rate, e.g. 200/s.
    #[arg(long, value_name = "RATE", conflicts_with = "arrivals")]
    rate: Option<String>,
    /// Relative share of arrivals for a thread group, for plans with several.
    #[arg(long = "weight", value_name = "GROUP=NUMBER", hide_short_help = true)]
    weights: Vec<String>,
    /// What to do when all users are busy: 'queue', 'drop' or 'grow to N' (default: grow to 10000).
    #[arg(long, value_name = "POLICY", hide_short_help = true)]
    no_free_user: Option<String>,
    /// Number of users of a URL (default: 1).
    ///
    /// Also with --arrivals and --no-free-user 'queue' or 'drop'.
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    users: Option<u32>,
    /// Think time of users, e.g. 1s or 'exponential(1s)'.
    ///
    /// Before each request to a URL: '1s', 'uniform(0s, 2s)', 'exponential(1s)', 'lognormal(1s, cov 0.5)'. Users start at random within the first mean think time, unless --ramp spreads them.
    #[arg(long, value_name = "TIME")]
    think: Option<String>,
    /// Length of the load (default for a URL: 30s).
    ///
    /// For a URL, --rate, or the last stage of --arrivals if it has no length.
    #[arg(short = 'z', long = "for", alias = "duration", value_name = "TIME")]
    length: Option<String>,
    /// Skip timers that set a rate instead of refusing them together with --arrivals.
    #[arg(long, hide_short_help = true)]
    ignore_rate_timers: bool,
    /// Reduce the lateness of starts to a few microseconds by polling the clock; uses a whole core.
    #[arg(long, hide_short_help = true)]
    spin: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request to a URL")]
pub(crate) struct UrlArgs {
    /// Request header; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", hide_short_help = true)]
    headers: Vec<String>,
    /// Request body, or @FILE (without its line ends); several are joined with &. Changes the default method to POST.
    #[arg(short = 'd', long = "data", value_name = "TEXT", hide_short_help = true)]
    data: Vec<String>,
    /// Request method (default: GET).
    #[arg(short = 'X', long = "request", value_name = "METHOD", hide_short_help = true)]
    method: Option<String>,
    /// Number of requests to a URL, instead of a length.
    ///
    /// In total: a multiple of the number of users.
    #[arg(help_heading = LOAD, short = 'n', long = "requests", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// Start the users one after the other over this time.
    #[arg(help_heading = LOAD, long, value_name = "TIME")]
    ramp: Option<String>,
    /// Do not slow down when all requests fail for 10 s (without it, each user then waits 1 s after a failure).
    #[arg(long, hide_short_help = true)]
    no_back_off: bool,
}

impl LoadArgs {
    /// Applies these options to a command for a plan or a URL.
    pub(crate) fn apply(self, url: UrlArgs, command: &mut RunCommand) -> Result<(), CommandError> {
        let target = command.run.plan.to_string_lossy().into_owned();
        let is_url = command.is_for_url();
        let request = &mut command.run;
        request.spin = self.spin;
        if !is_url && is_url_without_scheme(&target) && !request.plan.exists() {
            return Err(format!("file {target} not found; for a URL, add the scheme: http://{target}").into());
        }
        if !is_url {
            self.refuse_for_plan(&url)?;
        }
        request.open = self.open(is_url)?;
        if !is_url {
            return Ok(());
        }
        warn_of_time_as_body(&url.data);
        let closed = match &request.open {
            Some(_) => {
                refuse_closed_only(&url)?;
                None
            }
            None => Some(self.closed(&url)?),
        };
        request.length = closed.as_ref().and_then(|closed| closed.seconds).map(Duration::from_secs);
        request.backs_off = closed.is_some() && !url.no_back_off;
        let think = match self.think {
            Some(text) => {
                refuse_bare_time(&text).map_err(|error| format!("--think: {error}"))?;
                think_law(&text).map_err(|error| format!("--think {text:?}: {error}"))?;
                Some(text)
            }
            None => None,
        };
        request.has_secret_url = !request.keep_secrets && redaction::url(&target) != target;
        let plan = UrlPlan {
            url: &target,
            headers: &url.headers,
            data: body(&url.data)?,
            method: url.method,
            think,
            closed,
            keep_secrets: request.keep_secrets,
        };
        request.url_plan = Some(plan.facts().map_err(CommandError::of)?);
        let GeneratedPlan { name, text, properties, body } = plan.generate().map_err(CommandError::of)?;
        request.hashed_with_plan = body;
        request.plan = PathBuf::from(name);
        request.plan_text = Some(text);
        // A property on the command line takes precedence.
        request.properties.jmeter.splice(0..0, properties);
        Ok(())
    }

    /// Rejects options for settings that a plan itself defines.
    fn refuse_for_plan(&self, url: &UrlArgs) -> Result<(), CommandError> {
        let given = [
            ("--think", self.think.is_some()),
            ("--for", self.length.is_some() && !self.is_open()),
            ("-H", !url.headers.is_empty()),
            ("-d", !url.data.is_empty()),
            ("-X", url.method.is_some()),
            ("-n", url.requests.is_some()),
            ("--ramp", url.ramp.is_some()),
            ("--no-back-off", url.no_back_off),
            ("-c", self.users.is_some() && !self.is_open()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(format!(
                "{flag} is for a URL only; in a plan, change the element or its properties (-J NAME=VALUE)"
            )
            .into()),
            None => Ok(()),
        }
    }

    /// Whether sessions are started by arrivals.
    fn is_open(&self) -> bool {
        self.arrivals.is_some() || self.rate.is_some()
    }

    /// The users of a URL.
    fn closed(&self, url: &UrlArgs) -> Result<UrlUsers, CommandError> {
        let users = self.users.unwrap_or(URL_USERS);
        let loops = match url.requests {
            None => None,
            Some(requests) if requests % u64::from(users) == 0 => Some(requests / u64::from(users)),
            Some(requests) => {
                let down = requests - requests % u64::from(users);
                let nearest = if down == 0 { String::new() } else { format!("{down} or ") };
                return Err(format!(
                    "-n {requests} is not a multiple of the {users} users of -c; use {nearest}{}",
                    down + u64::from(users)
                )
                .into());
            }
        };
        let seconds = match (&self.length, loops) {
            (Some(text), _) => Some(whole_seconds("--for", text)?),
            (None, None) => Some(URL_SECONDS),
            (None, Some(_)) => None,
        };
        let ramp_s = url.ramp.as_deref().map(|text| whole_seconds("--ramp", text)).transpose()?;
        Ok(UrlUsers { users, seconds, loops, ramp_s })
    }

    /// The text of the arrival process, and the name of the option that contains it.
    fn process_text(&self) -> Result<Option<(Cow<'_, str>, &'static str)>, CommandError> {
        match (&self.arrivals, &self.rate) {
            (Some(text), _) => Ok(Some((Cow::Borrowed(text), "--arrivals"))),
            (None, Some(rate)) => {
                let number = rate.strip_suffix("/s").unwrap_or(rate).trim();
                let is_number = number.parse::<f64>().is_ok_and(|rate| rate > 0.0 && rate.is_finite());
                if !is_number && !rate.contains('/') {
                    return Err(format!("--rate {rate:?} is not a rate, e.g. 100 or 100/s").into());
                }
                let rate = if is_number { format!("{number}/s") } else { rate.clone() };
                Ok(Some((Cow::Owned(format!("poisson({rate})")), "--rate")))
            }
            (None, None) => Ok(None),
        }
    }

    fn open(&self, is_url: bool) -> Result<Option<OpenOptions>, CommandError> {
        let Some((text, option)) = self.process_text()? else {
            let given = [
                ("--weight", !self.weights.is_empty()),
                ("--no-free-user", self.no_free_user.is_some()),
                ("--ignore-rate-timers", self.ignore_rate_timers),
            ];
            return match given.iter().find(|(_, given)| *given) {
                Some((flag, _)) => Err(format!("{flag} needs --arrivals or --rate").into()),
                None => Ok(None),
            };
        };
        let text = text.as_ref();
        let process = match &self.length {
            Some(_) if ArrivalProcess::parse(text).is_ok() => {
                return Err("--for has no effect: every stage of --arrivals has a duration".into());
            }
            None if self.rate.is_some() && is_url => {
                ArrivalProcess::parse_for(text, URL_SECONDS * 1_000_000_000)
            }
            None if self.rate.is_some() => {
                return Err("--rate needs a duration for a plan; add --for TIME".into());
            }
            Some(length) => ArrivalProcess::parse_for(text, time_ns("--for", length)?),
            None => ArrivalProcess::parse(text),
        };
        let process = process.map_err(|error| format!("{option}: {}", error.render(text)))?;
        let mut process = process;
        resolve_replays(&mut process, &mut |warning| say(&format!("warning: {warning}")))
            .map_err(|error| chain(&error))?;
        let policy = self.no_free_user.as_deref().map(no_free_user).transpose();
        let policy = policy.map_err(|error| format!("--no-free-user: {error}"))?;
        if self.users.is_some() && !matches!(policy, Some(NoFreeUser::Queue | NoFreeUser::Drop)) {
            return Err(
                "-c with --arrivals or --rate needs --no-free-user queue or drop; by default, users are added when \
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

/// Rejects options that apply to users and not to arrivals.
fn refuse_closed_only(url: &UrlArgs) -> Result<(), CommandError> {
    let given = [("-n", url.requests.is_some()), ("--ramp", url.ramp.is_some())];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            Err(format!("{flag} is for users (-c) and cannot be combined with arrivals").into())
        }
        None => Ok(()),
    }
}

/// Warns if the body of `-d` looks like a duration.
fn warn_of_time_as_body(data: &[String]) {
    if let [text] = data
        && is_time(text)
    {
        busyhour_terminal::exit::say(&format!(
            "warning: -d sends the body {text:?} with every request\n  hint: for the duration of the run, write --for {text}"
        ));
    }
}

/// Whether a text is a number with a unit of time: `10s`, `5 min`.
fn is_time(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphabetic())
        && busyhour_arrivals::time_ns(text).is_ok()
}

/// Whether a text looks like a URL without `http://`: it contains a port or an IP address, or the host is `localhost` or
/// begins with `www.`.
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

/// The body that the `-d` options define, by curl's rules.
fn body(data: &[String]) -> Result<Option<String>, CommandError> {
    let mut parts = Vec::new();
    for text in data {
        parts.push(match text.strip_prefix('@') {
            Some(file) => read_input_text(Path::new(file), INPUT_BYTES)
                .map_err(|error| format!("-d {text}: {}", with_hint(&error)))?
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

/// Parses a time of `option`, which must be a whole number of seconds, as in JMeter's plans.
fn whole_seconds(option: &str, text: &str) -> Result<u64, CommandError> {
    let ns = time_ns(option, text)?;
    if ns < 1_000_000_000 || ns % 1_000_000_000 != 0 {
        return Err(format!("{option} {text:?}: not a whole number of seconds").into());
    }
    Ok(ns / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_a_time_is_recognised() {
        for text in ["10s", "500ms", "1.5min", "2h"] {
            assert!(is_time(text), "{text}");
        }
        for text in ["10", "s", "a=10s", "{}", "", "10 users", "@10s"] {
            assert!(!is_time(text), "{text}");
        }
    }

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
