//! PerfMon Metrics Collectors of jmeter-plugins: listeners that fetch values from agents on the machines of the system under test.

use std::path::Path;

use busyhour_program::run::JmeterProperties;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::{JtlColumn, ResultFileConfig, SampleFilter, SaveConfig, TimestampFormat};

use crate::save_settings::base_prefix;

/// The property that gives collectors without a file name a file in the current directory.
pub(crate) const FORCE_FILE: &str = "forcePerfmonFile";

/// A PerfMon Metrics Collector at the start of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfMonListener {
    /// Its name in the plan.
    pub name: String,
    /// The rows of its table, in their order.
    pub rows: Vec<PerfMonRow>,
    /// The file for its values, if it has one.
    pub file: Option<ResultFileConfig>,
    /// The time between two values in ms, as the property sets it.
    pub interval_ms: u64,
}

/// A metric of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfMonRow {
    /// The host of the agent.
    pub host: String,
    /// The port of the agent; 0 if the text is not a port.
    pub port: u16,
    /// The type of the metric: `CPU`, `Network I/O`.
    pub metric: String,
    /// Its parameters, separated by colons.
    pub parameters: String,
}

/// A collector before its texts are evaluated.
#[derive(Clone, Debug)]
pub(crate) struct PerfMonTemplate {
    pub(crate) name: String,
    /// Host, port, metric and parameters of each row.
    pub(crate) rows: Vec<[Template; 4]>,
    pub(crate) path: Template,
    pub(crate) config: SaveConfig,
    pub(crate) interval_ms: u64,
}

/// Evaluates the collectors as at the start of the test. Names of files are relative to `base_dir` if they have the prefix for it.
pub(crate) fn at_start(
    collectors: &[PerfMonTemplate],
    properties: &JmeterProperties,
    base_dir: &Path,
    user: &mut UserState,
) -> Vec<PerfMonListener> {
    let prefix = base_prefix(properties);
    let is_forced = properties.get(FORCE_FILE).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    let mut names = is_forced.then(|| AutomaticNames::new(user));
    let listener = |collector: &PerfMonTemplate| {
        let written = collector.path.text(user).trim().to_owned();
        let (name, config) = match &mut names {
            Some(names) if written.is_empty() => (names.next(), plain_csv(collector.config.clone())),
            Some(_) | None => (written, collector.config.clone()),
        };
        let path = busyhour_processors::resolve_file_name(&name, &prefix, base_dir).into();
        let file = ResultFileConfig { path, config, filter: SampleFilter::All };
        PerfMonListener {
            name: collector.name.clone(),
            rows: collector.rows.iter().map(|row| row_at_start(row, user)).collect(),
            file: Some(file).filter(|_| !name.is_empty()),
            interval_ms: collector.interval_ms,
        }
    };
    collectors.iter().map(listener).collect()
}

fn row_at_start(cells: &[Template; 4], user: &mut UserState) -> PerfMonRow {
    let [host, port, metric, parameters] = cells.each_ref().map(|cell| cell.text(user).into_owned());
    PerfMonRow { host, port: port.trim().parse().unwrap_or(0), metric, parameters }
}

/// The names of files of collectors without one: `perfMon_20261127-110000.csv`, `perfMon_20261127-110000_2.csv`.
struct AutomaticNames {
    base: String,
    count: u32,
}

impl AutomaticNames {
    fn new(user: &mut UserState) -> Self {
        let stamp = busyhour_functions::evaluate_text("${__time(yyyyMMdd-HHmmss,)}", user);
        Self { base: format!("perfMon_{stamp}"), count: 0 }
    }

    fn next(&mut self) -> String {
        self.count += 1;
        match self.count {
            1 => format!("{}.csv", self.base),
            count => format!("{}_{count}.csv", self.base),
        }
    }
}

/// The configuration that the plug-in gives such files. Columns that are not named keep their state.
fn plain_csv(mut config: SaveConfig) -> SaveConfig {
    const SHOWN: [JtlColumn; 10] = [
        JtlColumn::Success,
        JtlColumn::Message,
        JtlColumn::ThreadCounts,
        JtlColumn::Latency,
        JtlColumn::Label,
        JtlColumn::ThreadName,
        JtlColumn::Bytes,
        JtlColumn::Time,
        JtlColumn::Timestamp,
        JtlColumn::Code,
    ];
    const HIDDEN: [JtlColumn; 8] = [
        JtlColumn::FileName,
        JtlColumn::IdleTime,
        JtlColumn::Encoding,
        JtlColumn::Hostname,
        JtlColumn::FailureMessage,
        JtlColumn::Url,
        JtlColumn::DataType,
        JtlColumn::SampleCount,
    ];
    (config.xml, config.field_names) = (false, true);
    config.timestamp_format = TimestampFormat::Millis;
    SHOWN.into_iter().for_each(|column| config.shown.set(column, true));
    HIDDEN.into_iter().for_each(|column| config.shown.set(column, false));
    config
}
