//! The settings of a case: the contents of `case.json`.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

/// How the order of requests and result rows is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One thread at a time: everything in the order of arrival, connections numbered.
    #[default]
    Sequence,
    /// Threads run side by side: requests in order within each connection, connections as a set; result rows in
    /// order within each thread name.
    Connections,
    /// The order is left to chance: requests and rows as sets, connections ignored.
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
pub struct Settings {
    /// The group of the case; `conformance/README.md` lists the groups.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The elements (`LoopController`) and functions (`__P`) that the case is there for.
    #[serde(default)]
    pub covers: Vec<String>,
    /// What the case shows, and what JMeter does that one would not expect.
    #[serde(default)]
    pub why: String,
    /// How order is compared.
    #[serde(default)]
    pub order: Order,
    /// Texts left to chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<Mask>,
    /// Result columns that are not compared, besides those that hold times and the machine's name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask_columns: Vec<String>,
    /// The columns of a result file without a header line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The delimiter of the result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Equal adjacent items (requests, rows) count once, because their number depends on time or chance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collapse: bool,
    /// Requests and rows are not compared one by one; only that masked ones occur, each counted once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// Plugins that JMeter needs for the recording, as `group:artifact:version` of Maven Central.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<String>,
    /// Further JMeter properties (`-J`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// Further arguments at the end of the command line; `{PORT}` is replaced by the port, `{CASE}` by the folder of
    /// the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}

/// Whether a file that a run left behind is part of the recording.
pub(crate) fn is_output(name: &OsStr) -> bool {
    !matches!(name.to_str(), Some("results.jtl" | "jmeter.log") | None)
}
