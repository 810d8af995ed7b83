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

/// The configuration that the plugin uses for such files. Columns that the plugin does not set are those of the
/// element.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use busyhour_http::TlsPolicy;
    use busyhour_program::clock::Clock;

    use super::*;
    use crate::options::Options;

    /// A collector with these properties.
    fn collector(properties: &str) -> String {
        format!(
            "<kg.apc.jmeter.perfmon.PerfMonCollector testname=\"watch\">{properties}\
             </kg.apc.jmeter.perfmon.PerfMonCollector><hashTree/>"
        )
    }

    /// The collectors of a plan with the variable `host`, at the start of a run, and the codes of the findings.
    fn started(elements: &str, properties: &[(&str, &str)]) -> (Vec<PerfMonListener>, Vec<String>) {
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"><elementProp name=\"TestPlan.user_defined_variables\" \
             elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"host\" \
             elementType=\"Argument\"><stringProp name=\"Argument.name\">host</stringProp><stringProp \
             name=\"Argument.value\">sut</stringProp></elementProp></collectionProp></elementProp></TestPlan>\
             <hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"
        );
        let given = properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let properties = Arc::new(JmeterProperties::new(given));
        let options = Options {
            properties: Arc::clone(&properties),
            base_dir: "/plans".into(),
            allow_unsupported: false,
            tls: TlsPolicy::AcceptAny,
            proxy: None,
            request_deadline: None,
            open: None,
        };
        let (plan, _) = busyhour_plan::parse(text.as_bytes(), "plan.jmx");
        let (compiled, findings) = crate::compile(&plan, &options);
        let started =
            crate::start(compiled.expect("a program"), 1, Clock::start(), &properties, Box::new(|_, _| {}));
        let codes = findings.iter().map(|finding| finding.code.to_string());
        (started.perfmon, codes.filter(|code| code != "no-thread-group").collect())
    }

    fn cells(texts: &[&str]) -> String {
        let cells: String =
            texts.iter().map(|text| format!("<stringProp name=\"x\">{text}</stringProp>")).collect();
        format!("<collectionProp name=\"r\">{cells}</collectionProp>")
    }

    #[test]
    fn texts_are_evaluated_at_the_start() {
        let table = [
            cells(&["${host}", "${__P(port,4444)}", "CPU", "core=1:idle"]),
            cells(&["${host}", "none", "Memory", ""]),
            cells(&["too", "short"]),
        ];
        let element = collector(&format!(
            "<stringProp name=\"filename\">~/${{host}}.jtl</stringProp><collectionProp name=\"metricConnections\">{}</collectionProp>",
            table.concat()
        ));
        let (listeners, findings) = started(&element, &[("jmeterPlugin.perfmon.interval", "2500")]);
        let [listener] = &listeners[..] else { panic!("{listeners:?}") };
        let row = |port, metric: &str, parameters: &str| PerfMonRow {
            host: "sut".into(),
            port,
            metric: metric.into(),
            parameters: parameters.into(),
        };
        assert_eq!(listener.rows, [row(4444, "CPU", "core=1:idle"), row(0, "Memory", "")]);
        assert_eq!((listener.name.as_str(), listener.interval_ms), ("watch", 2500));
        assert_eq!(listener.file.as_ref().unwrap().path, Path::new("/plans/sut.jtl"));
        assert_eq!(findings, ["perfmon-row"]);
    }

    #[test]
    fn collectors_have_file_names_if_the_property_requests_them() {
        let save = "<objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\"><xml>true</xml>\
                    <url>true</url><idleTime>true</idleTime><connectTime>true</connectTime></value></objProp>";
        let both = collector(save) + &collector("<stringProp name=\"filename\"> </stringProp>");
        let (listeners, findings) = started(&both, &[]);
        assert_eq!(listeners.iter().filter(|listener| listener.file.is_some()).count(), 0);
        assert_eq!(findings, ["perfmon-without-file", "perfmon-without-file"]);
        let (listeners, findings) =
            started(&both, &[("forcePerfmonFile", "TRUE"), ("jmeterPlugin.perfmon.useUDP", "true")]);
        assert_eq!(findings, ["ignored-property", "ignored-property"]);
        let files: Vec<_> = listeners.iter().filter_map(|listener| listener.file.as_ref()).collect();
        let [first, second] = files[..] else { panic!("{files:?}") };
        let name = first.path.to_str().unwrap();
        let stamp = name.strip_prefix("perfMon_").and_then(|rest| rest.strip_suffix(".csv")).unwrap();
        let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        assert_eq!(shape, "99999999-999999");
        assert_eq!(second.path.to_str().unwrap(), format!("perfMon_{stamp}_2.csv"));
        assert!(!first.config.xml && first.config.field_names);
        // The columns that the plugin does not set are those of the element.
        let columns = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,\
                       Latency,Connect";
        assert_eq!(first.config.column_names().join(","), columns);
    }
}
