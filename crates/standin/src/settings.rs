//! The settings of a case: the contents of `case.json`.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

/// The rule by which the order of requests and result rows is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderRule {
    /// For one thread at a time: everything is compared in the order of arrival, with numbered connections.
    #[default]
    Sequence,
    /// For concurrent threads: requests are compared in order within each connection, and connections as a set. Result rows are
    /// compared in order within each thread name.
    Connections,
    /// For random order: requests and rows are compared as sets, and connections are ignored.
    Any,
}

/// A text that can differ between two runs, and its replacement in the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    /// A regular expression (of the `regex` crate), applied to request lines, headers, bodies, rows and files.
    pub pattern: String,
    /// The replacement; `$1` refers to groups.
    pub with: String,
}

/// The contents of `case.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseSettings {
    /// The group of the case; `conformance/README.md` lists the groups.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The elements (`LoopController`) and functions (`__P`) that the case covers.
    #[serde(default)]
    pub covers: Vec<String>,
    /// The purpose of the case, and a description of JMeter's behaviour if it is unexpected.
    #[serde(default)]
    pub why: String,
    /// The rule by which the order is compared.
    #[serde(default)]
    pub order: OrderRule,
    /// Texts that are masked because they depend on chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<Mask>,
    /// Additional result columns that are not compared. Columns with times and the name of the machine are never compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask_columns: Vec<String>,
    /// The columns of a result file without a header line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The delimiter of the result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Whether equal adjacent items (requests or rows) are combined, because their number depends on time or chance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collapse: bool,
    /// Whether requests and rows are compared as sets of distinct masked items, without the number of occurrences.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// Plugins that JMeter needs for the recording, as `group:artifact:version` of Maven Central.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<String>,
    /// Additional JMeter properties (`-J`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// Additional arguments at the end of the command line. `{PORT}` is replaced by the server's port, `{CASE}` by the case's
    /// folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}

/// Whether an output file of a run is part of the recording.
pub(crate) fn is_output(name: &OsStr) -> bool {
    !matches!(name.to_str(), Some("results.jtl" | "jmeter.log") | None)
}
