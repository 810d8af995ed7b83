//! Inputs of the compiler besides the plan.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use busyhour_arrivals::ArrivalProcess;
use busyhour_http::TlsPolicy;
use busyhour_program::open::NoFreeUser;
use busyhour_program::run::Properties;
use serde::{Deserialize, Serialize};

use crate::setting_error::SettingError;

/// Inputs of the compiler besides the plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// JMeter's properties, those of the command line included.
    pub properties: Arc<Properties>,
    /// Directory of the plan: relative file names are looked up there first.
    pub base_dir: PathBuf,
    /// What is not supported becomes a warning and is left out.
    pub allow_unsupported: bool,
    /// Which servers are trusted.
    pub tls: TlsPolicy,
    /// The proxy of the command line.
    pub proxy: Option<ProxyOption>,
    /// Longest time of one HTTP request; `None`: no limit, as in JMeter.
    pub request_deadline: Option<Duration>,
    /// Arrivals of the command line: they take the place of the main groups' own users.
    pub open: Option<OpenOptions>,
}

/// The proxy flags of JMeter's command line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ProxyOption {
    /// `-H`
    pub host: String,
    /// `-P`
    pub port: u16,
    /// `-u`; empty: no credentials.
    pub user: String,
    /// `-a`
    pub password: String,
    /// `-N`: hosts reached without it, separated by `|`.
    pub no_proxy: Vec<String>,
}

/// Users that an open workload may make unless a limit is given.
pub const USERS_MAX: u32 = 10_000;

/// Arrivals of the command line, for all main groups of a plan together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenOptions {
    /// When sessions begin.
    pub process: ArrivalProcess,
    /// Weights of the groups, by name. Needed when the plan has several main groups.
    pub weights: Vec<(String, f64)>,
    /// What becomes of an arrival that finds no free user; `None`: users are made, up to [`USERS_MAX`].
    pub no_free_user: Option<NoFreeUser>,
    /// Users of each group when none are made; `None`: the group's own number.
    pub users: Option<u32>,
    /// Timers that set a rate are left out with a warning instead of refused.
    pub ignore_rate_timers: bool,
}

/// Reads `queue`, `drop`, `grow to N`.
///
/// # Errors
/// The text is not one of these.
pub fn no_free_user(text: &str) -> Result<NoFreeUser, SettingError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["queue"] => Ok(NoFreeUser::Queue),
        ["drop"] => Ok(NoFreeUser::Drop),
        ["grow"] => Ok(NoFreeUser::Grow(USERS_MAX)),
        ["grow", "to", number] => match number.replace('_', "").parse() {
            Ok(most) if most > 0 => Ok(NoFreeUser::Grow(most)),
            _ => {
                let message = format!("{number:?} is no number of users: write for instance 'grow to 500'");
                Err(SettingError::new(message))
            }
        },
        _ => Err(SettingError::new(format!("{text:?} is not known: it is 'queue', 'drop' or 'grow to N'"))),
    }
}
