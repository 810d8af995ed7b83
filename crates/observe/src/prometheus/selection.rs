//! Patterns that select series.
//!
//! A pattern is a name in which `*` matches any text, with conditions on labels in braces if needed:
//! `node_disk_*_total`, `container_memory_working_set_bytes{pod="shop-*"}`. A pattern that starts with `!` excludes the
//! series that the rest of the pattern matches. A series is selected if a pattern matches it and no excluding pattern
//! does.

use busyhour_series::EXPLAINED_METRICS;

use super::line_error::LineProblem;
use super::scan::Scanner;
use super::text::Label;

/// Names of widespread exporters that describe the load and the saturation of a system: node_exporter, cAdvisor, the JVM
/// (Prometheus client, Micrometer, OpenTelemetry), process-exporter, connection pools, PostgreSQL and MySQL exporters. The
/// [`EXPLAINED_METRICS`] of a remote observer are selected in addition.
const DEFAULT_PATTERNS: &[&str] = &[
    "node_cpu_seconds_total",
    "node_load1",
    "node_procs_running",
    "node_procs_blocked",
    "node_memory_MemTotal_bytes",
    "node_memory_MemAvailable_bytes",
    "node_pressure_*_seconds_total",
    "node_vmstat_pswp*",
    "node_vmstat_oom_kill",
    "node_disk_io_time_weighted_seconds_total",
    "node_disk_read_time_seconds_total",
    "node_disk_write_time_seconds_total",
    "node_disk_reads_completed_total",
    "node_disk_writes_completed_total",
    "node_disk_read_bytes_total",
    "node_disk_written_bytes_total",
    "node_network_receive_bytes_total",
    "node_network_transmit_bytes_total",
    "node_network_*_drop_total",
    "node_network_*_errs_total",
    "node_netstat_Tcp_RetransSegs",
    "node_netstat_Tcp_CurrEstab",
    "node_netstat_TcpExt_ListenOverflows",
    "node_netstat_TcpExt_ListenDrops",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_open_fds",
    "process_max_fds",
    "process_cpu_usage",
    "process_threads",
    "system_cpu_usage",
    "jvm_memory_used_bytes",
    "jvm_memory_bytes_used",
    "jvm_memory_used",
    "jvm_gc_collection_seconds*",
    "jvm_gc_pause_seconds*",
    "jvm_gc_duration_seconds*",
    "jvm_gc_memory_allocated_bytes_total",
    "jvm_gc_memory_promoted_bytes_total",
    "jvm_threads_current",
    "jvm_threads_live_threads",
    "jvm_threads_states_threads",
    "jvm_thread_count",
    "jvm_classes_loaded",
    "jvm_classes_loaded_classes",
    "namedprocess_namegroup_cpu_seconds_total",
    "namedprocess_namegroup_memory_bytes",
    "namedprocess_namegroup_num_threads",
    "container_cpu_usage_seconds_total",
    "container_cpu_cfs_periods_total",
    "container_cpu_cfs_throttled_periods_total",
    "container_cpu_cfs_throttled_seconds_total",
    "container_pressure_*_seconds_total",
    "container_memory_working_set_bytes",
    "container_oom_events_total",
    "http_server_requests_seconds*",
    "http_server_request_duration_seconds*",
    "hikaricp_connections*",
    "tomcat_threads_busy*",
    "tomcat_threads_config_max*",
    "pg_stat_activity_count",
    "pg_stat_database_xact_commit*",
    "pg_stat_database_xact_rollback*",
    "pg_stat_database_deadlocks*",
    "pg_locks_count",
    "mysql_global_status_threads_running",
    "mysql_global_status_threads_connected",
    "mysql_global_status_questions",
    "mysql_global_status_innodb_row_lock_waits",
    "mysql_global_status_innodb_row_lock_time",
    "busyhour_*",
    "!hikaricp_connections_creation_seconds*",
];

/// Counters that are added up over a label by default, because a machine with many cores would exceed the limit on series.
const DEFAULT_SUMS: &[(&str, &str)] =
    &[("node_cpu_seconds_total", "cpu"), ("container_cpu_usage_seconds_total", "cpu")];

/// A pattern cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` is not NAME or NAME{{label=\"value\"}}, where `*` matches any text")]
pub struct SelectionError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with the labels; `None` if the name is wrong.
    #[source]
    pub source: Option<LineProblem>,
}

/// Decides which series are recorded.
#[derive(Clone, Debug)]
pub struct MetricSelection {
    patterns: Vec<Pattern>,
    sums: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Debug)]
struct Pattern {
    excludes: bool,
    name: String,
    labels: Vec<(String, String)>,
}

impl Default for MetricSelection {
    /// The names of widespread exporters that describe the load and the saturation of a system.
    fn default() -> Self {
        let of_name = |text: &&str| Pattern {
            excludes: text.starts_with('!'),
            name: text.trim_start_matches('!').to_owned(),
            labels: Vec::new(),
        };
        let names = DEFAULT_PATTERNS.iter().chain(&EXPLAINED_METRICS);
        Self { patterns: names.map(of_name).collect(), sums: DEFAULT_SUMS }
    }
}

impl MetricSelection {
    /// The series that these patterns select. If all patterns start with `!`, everything else is selected.
    ///
    /// # Errors
    /// A pattern cannot be read.
    pub fn parse<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, SelectionError> {
        let mut parsed = patterns.into_iter().map(parse_pattern).collect::<Result<Vec<_>, _>>()?;
        if parsed.iter().all(|pattern| pattern.excludes) {
            parsed.push(Pattern { excludes: false, name: "*".to_owned(), labels: Vec::new() });
        }
        Ok(Self { patterns: parsed, sums: &[] })
    }

    /// Whether no series of this name can be selected, for any labels.
    #[must_use]
    pub fn rejects_name(&self, name: &str) -> bool {
        let named = |excludes| {
            let of_kind = self.patterns.iter().filter(move |pattern| pattern.excludes == excludes);
            of_kind.filter(|pattern| matches(&pattern.name, name))
        };
        named(false).next().is_none() || named(true).any(|pattern| pattern.labels.is_empty())
    }

    /// Whether a series is selected.
    #[must_use]
    pub fn selects(&self, name: &str, labels: &[Label<'_>]) -> bool {
        let mut is_selected = false;
        for pattern in self.patterns.iter().filter(|pattern| pattern.matches(name, labels)) {
            if pattern.excludes {
                return false;
            }
            is_selected = true;
        }
        is_selected
    }

    /// The label over which the series of this name are added up, if any.
    #[must_use]
    pub fn summed_label(&self, name: &str) -> Option<&'static str> {
        self.sums.iter().find(|(summed, _)| *summed == name).map(|(_, label)| *label)
    }
}

impl Pattern {
    fn matches(&self, name: &str, labels: &[Label<'_>]) -> bool {
        let of =
            |wanted: &str| labels.iter().find(|(label, _)| label == wanted).map_or("", |(_, value)| value);
        matches(&self.name, name) && self.labels.iter().all(|(label, glob)| matches(glob, of(label)))
    }
}

fn parse_pattern(text: &str) -> Result<Pattern, SelectionError> {
    let failed = |source| SelectionError { pattern: text.to_owned(), source };
    let body = text.trim();
    let (excludes, body) = body.strip_prefix('!').map_or((false, body), |rest| (true, rest));
    let (name, labels) = match body.split_once('{') {
        Some((name, labels)) => (name.trim(), Some(labels)),
        None => (body, None),
    };
    if name.is_empty() || name.contains([' ', '"', '}', '=']) {
        return Err(failed(None));
    }
    let mut conditions = Vec::new();
    if let Some(labels) = labels {
        let mut scanner = Scanner::new(labels);
        read_conditions(&mut scanner, &mut conditions).map_err(|problem| failed(Some(problem)))?;
        scanner.skip_blanks();
        if !scanner.is_at_end() {
            return Err(failed(Some(LineProblem::TrailingText)));
        }
    }
    Ok(Pattern { excludes, name: name.to_owned(), labels: conditions })
}

fn read_conditions(
    scanner: &mut Scanner<'_>,
    conditions: &mut Vec<(String, String)>,
) -> Result<(), LineProblem> {
    loop {
        scanner.skip_blanks();
        if scanner.take(b'}') {
            return Ok(());
        }
        let label = if scanner.peek() == Some(b'"') {
            scanner.quoted()?.into_owned()
        } else {
            scanner.plain_name(false).ok_or(LineProblem::NoName)?.to_owned()
        };
        scanner.skip_blanks();
        if !scanner.take(b'=') {
            return Err(LineProblem::NoEquals);
        }
        scanner.skip_blanks();
        conditions.push((label, scanner.quoted()?.into_owned()));
        scanner.skip_blanks();
        if !scanner.take(b',') && scanner.peek() != Some(b'}') {
            return Err(LineProblem::NoBrace);
        }
    }
}

/// Whether `text` matches `glob`, in which `*` matches any text. The time is at most the product of both lengths.
fn matches(glob: &str, text: &str) -> bool {
    let (glob, text) = (glob.as_bytes(), text.as_bytes());
    let (mut at_glob, mut at_text) = (0, 0);
    // The last `*` and the position in the text up to which it has matched.
    let mut star = None;
    while at_text < text.len() {
        if glob.get(at_glob) == Some(&b'*') {
            star = Some((at_glob, at_text));
            at_glob += 1;
        } else if glob.get(at_glob) == Some(&text[at_text]) {
            (at_glob, at_text) = (at_glob + 1, at_text + 1);
        } else if let Some((of_star, matched)) = star {
            star = Some((of_star, matched + 1));
            (at_glob, at_text) = (of_star + 1, matched + 1);
        } else {
            return false;
        }
    }
    glob[at_glob..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(patterns: &[&str], name: &str, labels: &[(&'static str, &'static str)]) -> bool {
        let labels: Vec<Label<'_>> =
            labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let selection = MetricSelection::parse(patterns.iter().copied()).unwrap();
        let selects = selection.selects(name, &labels);
        assert!(!(selects && selection.rejects_name(name)), "{patterns:?} {name}");
        selects
    }

    #[test]
    fn stars_match_any_text() {
        for (glob, text, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acd", false),
            ("*_total", "x_total_total", true),
            ("a*b*c", "aXbYbZc", true),
            ("a**", "a", true),
            ("a*b*c", "ac", false),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
        assert!(!matches(&"*a".repeat(100), &"a".repeat(99)));
    }

    #[test]
    fn labels_and_exclusions_limit_the_selection() {
        let pod = [("pod", "shop-1"), ("mode", "idle")];
        assert!(selects(&["mem*{pod=\"shop-*\"}"], "mem_bytes", &pod));
        assert!(!selects(&["mem*{pod=\"other\"}"], "mem_bytes", &pod));
        assert!(!selects(&["mem*", "!*{mode=\"idle\"}"], "mem_bytes", &pod));
        assert!(selects(&["!*{mode=\"user\"}"], "mem_bytes", &pod));
        assert!(selects(&["m{absent=\"\"}"], "m", &pod), "an absent label equals an empty one");
        assert!(selects(&[], "anything", &[]));
    }

    #[test]
    fn names_are_rejected_without_their_labels() {
        let selection = MetricSelection::parse(["a*", "b{x=\"1\"}", "!ab*", "!ac{x=\"1\"}"]).unwrap();
        let rejected: Vec<_> = ["a", "b", "ab", "ac", "c"].map(|name| selection.rejects_name(name)).into();
        assert_eq!(rejected, [false, false, true, false, true]);
    }

    #[test]
    fn bad_patterns_are_refused() {
        for pattern in ["", "!", "a b", "a{", "a{x}", "a{x=1}", "a{x=\"1\"} b", "{x=\"1\"}"] {
            let error = MetricSelection::parse([pattern]).unwrap_err();
            assert!(error.to_string().contains(&format!("`{pattern}`")), "{error}");
        }
    }

    #[test]
    fn the_default_selects_all_metrics_of_explanations() {
        let default = MetricSelection::default();
        let missing: Vec<&str> =
            EXPLAINED_METRICS.into_iter().filter(|name| !default.selects(name, &[])).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(!default.rejects_name("process_run_queue_wait_seconds_total"));
    }

    #[test]
    fn the_default_selects_names_of_exporters() {
        let default = MetricSelection::default();
        for name in [
            "node_cpu_seconds_total",
            "node_pressure_cpu_waiting_seconds_total",
            "jvm_gc_pause_seconds_sum",
            "jvm_memory_bytes_used",
            "container_cpu_cfs_throttled_seconds_total",
            "namedprocess_namegroup_num_threads",
        ] {
            assert!(default.selects(name, &[]), "{name}");
        }
        for name in
            ["go_goroutines", "node_scrape_collector_success", "hikaricp_connections_creation_seconds_max"]
        {
            assert!(default.rejects_name(name), "{name}");
        }
        assert_eq!(default.summed_label("node_cpu_seconds_total"), Some("cpu"));
    }
}
