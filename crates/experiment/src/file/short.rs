//! The short form of an experiment.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Duration;

/// A short form, to try the experiment: fewer levels, and shorter and fewer trials. `busyhour experiment run --short` uses it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShortForm {
    /// Time of load in each trial; default: that of [trials].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// Start of each trial that its results exclude; default: that of [trials].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp_up: Option<Duration>,
    /// Number of repetitions; default: those of [trials].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u32>,
    /// The levels that remain, by the name of their factor: at least two, with the base level. Other factors keep all levels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Vec<String>>,
}
