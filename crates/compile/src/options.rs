//! Inputs of the compiler besides the plan.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use busyhour_arrivals::ArrivalProcess;
use busyhour_http::TlsPolicy;
use busyhour_program::open::NoFreeUser;
use busyhour_program::run::JmeterProperties;
use serde::{Deserialize, Serialize};

use crate::setting_error::SettingError;

/// Inputs of the compiler besides the plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// JMeter's properties, including those of the command line.
    pub properties: Arc<JmeterProperties>,
    /// The directory of the plan, in which relative file names are looked up first.
    pub base_dir: PathBuf,
    /// Whether unsupported elements and settings are ignored with a warning.
    pub allow_unsupported: bool,
    /// The policy for trusting servers.
    pub tls: TlsPolicy,
    /// The proxy of the command line.
    pub proxy: Option<ProxyOption>,
    /// The maximum time of one HTTP request; `None`: no limit, as in JMeter.
    pub request_deadline: Option<Duration>,
    /// Arrivals of the command line, which replace the main groups' own users.
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
    /// `-N`: hosts that are reached without the proxy, separated by `|`.
    pub no_proxy: Vec<String>,
}

/// The default limit of the users that an open workload may create.
pub const USERS_MAX: u32 = 10_000;

/// Arrivals of the command line, for all main groups of a plan together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenOptions {
    /// The process that determines when sessions start.
    pub process: ArrivalProcess,
    /// The weight of each group, by name. Required if the plan has several main groups.
    pub weights: Vec<(String, f64)>,
    /// The handling of an arrival if no user is idle; `None`: users are created, up to [`USERS_MAX`].
    pub no_free_user: Option<NoFreeUser>,
    /// The fixed number of users of each group, for [`NoFreeUser::Queue`] and [`NoFreeUser::Drop`]. `None`: the number
    /// of users that the plan specifies for the group.
    pub users: Option<u32>,
    /// Whether timers that set a rate are ignored with a warning instead of rejected.
    pub ignore_rate_timers: bool,
}

/// Parses `queue`, `drop`, `grow` or `grow to N`.
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
                let message = format!("{number:?} is not a number of users: write for example 'grow to 500'");
                Err(SettingError::new(message))
            }
        },
        _ => Err(SettingError::new(format!("{text:?} is unknown: use 'queue', 'drop' or 'grow to N'"))),
    }
}
