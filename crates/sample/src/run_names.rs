//! The names of thread groups and variables, which rows of result files contain.

use serde::{Deserialize, Serialize};

/// The name and number of a thread group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupName {
    /// Its name in the plan.
    pub name: String,
    /// Its number, from 1. As in JMeter, setUp, main and tearDown groups are numbered separately.
    pub number: u32,
}

/// The names that the rows of a run contain. They are fixed before the run starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNames {
    /// The thread groups; [`crate::Sample::group`] is an index into this list.
    pub groups: Vec<GroupName>,
    /// The names of the variables in JMeter's property `sample_variables`.
    pub variables: Vec<String>,
    /// The generator's host name, for the `Hostname` column.
    pub hostname: String,
    /// Indices of setUp and tearDown thread groups, whose samples are not part of the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_up_and_tear_down: Vec<u32>,
}
