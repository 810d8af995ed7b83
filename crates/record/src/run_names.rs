//! The names in the rows of a run.

use serde::{Deserialize, Serialize};

/// The name and number of a thread group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupName {
    /// Its name in the plan.
    pub name: String,
    /// Its number, from 1. JMeter counts setUp, main and tearDown groups apart.
    pub number: u32,
}

/// The names that a run's rows need; fixed before it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNames {
    /// The thread groups, by [`crate::Sample::group`].
    pub groups: Vec<GroupName>,
    /// `sample_variables`.
    pub variables: Vec<String>,
    /// The generator's host name, for the `Hostname` column.
    pub hostname: String,
    /// Numbers of the groups that run before or after the main ones: what they send is no part of the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_up_and_tear_down: Vec<u32>,
}

/// The name under which samples of further thread groups are counted.
pub const OTHER_GROUPS: &str = "(other thread groups)";

/// Stands for the thread groups beyond [`PARTS_MAX`].
pub(crate) const OTHER_GROUP: u32 = u32::MAX;
