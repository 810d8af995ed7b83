//! The system under test, the load, and their settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{CoreList, Duration};

/// The default of `ready-within`.
const READY_WITHIN_S: f64 = 60.0;

/// A command: a text for the shell, or a program with its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a command is a text for the shell, or a list with a program and its arguments"
)]
pub enum Command {
    /// A text for `sh -c`.
    Shell(String),
    /// A program with its arguments, without a shell.
    Program(Vec<String>),
}

impl Command {
    /// Whether there is nothing to execute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Command::Shell(text) => text.trim().is_empty(),
            Command::Program(words) => words.first().is_none_or(|program| program.trim().is_empty()),
        }
    }
}

/// The system under test. Without `start`, it runs already.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SystemUnderTest {
    /// Starts the system. The command runs until the trial ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Command>,
    /// The system is ready when this URL returns a code below 400, or this command exits with 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Command>,
    /// Time in which the system must become ready; default 60s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_within: Option<Duration>,
    /// Stops the system. Without it, the started processes are ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Command>,
    /// Runs before each trial, for example to restore a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<Command>,
    /// Names of environment variables. Each trial sets them to free ports of 127.0.0.1; `ready` and [load] can contain
    /// them as `${NAME}`, and also `${TRIAL_DIR}` and `${BUSYHOUR}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Environment variables of the commands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Working directory of the commands; default: that of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Cores that the system may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// cgroup in which the system runs, as a path below /sys/fs/cgroup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
}

impl SystemUnderTest {
    /// Time in which the system must become ready, in seconds.
    #[must_use]
    pub fn ready_within_s(&self) -> f64 {
        self.ready_within.as_ref().map_or(READY_WITHIN_S, Duration::seconds)
    }
}

/// The load of every trial: a plan or a URL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrialLoad {
    /// Path of a JMeter plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// URL, instead of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Number of users of a closed load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Arrivals of an open load, as in `busyhour run --arrivals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Properties of the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// Further options of `busyhour run`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Cores that the generator may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
}
