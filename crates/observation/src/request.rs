//! The request for an observation.

use std::time::Duration;

use busyhour_observe::prometheus::{FetchOptions, MetricSelection};

use crate::source_spec::{ProcessName, SourceSpec};

/// Describes what to observe during a run, or without one.
#[derive(Clone, Debug)]
pub struct ObservationRequest {
    /// The sources. If the list is empty, nothing is observed.
    pub sources: Vec<SourceSpec>,
    /// Hosts and ports of the system under test, for [`SourceSpec::Auto`].
    pub targets: Vec<(String, u16)>,
    /// Interval between readings, at least 100 ms.
    pub interval: Duration,
    /// How metrics are fetched from other programs.
    pub fetch: FetchOptions,
    /// Which metrics of exporters are recorded.
    pub metrics: MetricSelection,
    /// Whether secrets in texts of logs are recorded. Otherwise they are replaced by `[redacted]`.
    pub keep_secrets: bool,
    /// Whether this process generates the load. [`SourceSpec::Auto`] then also finds the processes to which it is connected.
    pub is_generator: bool,
    /// Hosts and ports of servers to which this process is connected for internal purposes, such as the hub of a run on agents. They
    /// are not part of the system under test unless its processes are connected to them, too.
    pub own_servers: Vec<(String, u16)>,
    /// Whether JVMs that start during the observation are watched if they match a [`SourceSpec::Jvm`].
    pub finds_new_jvms: bool,
}

impl ObservationRequest {
    /// Whether JVMs are searched for during the observation. A JVM that is named by its process ID cannot start later.
    pub(crate) fn searches_for_jvms(&self) -> bool {
        let is_open =
            |source: &SourceSpec| matches!(source, SourceSpec::Jvm(None | Some(ProcessName::Matching(_))));
        self.finds_new_jvms && self.sources.iter().any(is_open)
    }
}

impl Default for ObservationRequest {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            targets: Vec::new(),
            interval: Duration::from_secs(1),
            fetch: FetchOptions::default(),
            metrics: MetricSelection::default(),
            keep_secrets: false,
            is_generator: false,
            own_servers: Vec::new(),
            finds_new_jvms: false,
        }
    }
}
