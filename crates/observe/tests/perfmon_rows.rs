//! Rows of the PerfMon collector, compared with those of jmeter-plugins-perfmon 2.1 in JMeter 5.6.3 with this agent.

use std::time::Duration;

use busyhour_observe::perfmon::client_session::{ClientSession, MetricRow};
use busyhour_observe::perfmon::sample::PerfMonSample;
use busyhour_record::{JtlColumn, ResultFileConfig, SampleFilter, SaveConfig, ValueFile};

const RECORDED: &str = include_str!("recorded/perfmon_jmeter.csv");

/// Cells of a line without line ends in cells.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut in_quotes = false;
    for character in line.replace("\"\"", "\u{1}").chars() {
        match character {
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => cells.push(String::new()),
            '\u{1}' => cells.last_mut().expect("there is a cell").push('"'),
            other => cells.last_mut().expect("there is a cell").push(other),
        }
    }
    cells
}

#[test]
fn rows_equal_those_of_jmeter() {
    let mut config = SaveConfig { field_names: true, ..SaveConfig::default() };
    // The recording has all columns.
    for column in [JtlColumn::FileName, JtlColumn::Encoding, JtlColumn::SampleCount, JtlColumn::Hostname] {
        config.shown.set(column, true);
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("perfmon.csv");
    let output = ResultFileConfig { path: path.clone(), config, filter: SampleFilter::All };
    let mut file = ValueFile::open(output, "host1").expect("the file can be written");
    for line in RECORDED.lines().skip(1) {
        let cells = cells(line);
        let stamp_ms = cells[0].parse().expect("a stamp");
        let sample = if cells[7] == "true" {
            // The value that the agent sent: elapsed times 1/1000.
            let elapsed: f64 = cells[1].parse().expect("a number");
            PerfMonSample::of_value(stamp_ms, &cells[2], (elapsed + 0.5) / 1000.0)
        } else {
            PerfMonSample::of_error(stamp_ms, &cells[2], cells[4].clone())
        };
        file.append(&sample.row());
    }
    assert_eq!(file.finish(), None);
    assert_eq!(std::fs::read_to_string(path).expect("the file"), RECORDED);
}

#[test]
fn metrics_have_the_order_of_jmeter() {
    let row = |metric: &str, parameters: &str| MetricRow {
        host: "127.0.0.1".into(),
        port: 4444,
        metric: metric.into(),
        parameters: parameters.into(),
    };
    let table = [
        row("CPU", ""),
        row("Memory", "used:unit=mb"),
        row("Network I/O", "bytesrecv:label=net"),
        row("EXEC", "/bin/date"),
    ];
    let session = ClientSession::new(&table, Duration::from_secs(1));
    let recorded: Vec<String> = RECORDED.lines().skip(2).take(4).map(|line| cells(line)[2].clone()).collect();
    assert_eq!(session.labels(), recorded);
}
