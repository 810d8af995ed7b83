//! Exports of observed series.

use std::io::Cursor;

use busyhour_export::{
    ExportError, ExportedSeries, SeriesSelection, export_series_csv, export_series_parquet,
};
use busyhour_sample::Nanos;
use busyhour_series::{FileStart, Mark, MarkKind, Metric, SeriesEncoder};

/// A file with a counter with labels and a gauge, read every 500 ms for 3 s.
fn series_file() -> Vec<u8> {
    let (mut encoder, mut bytes) = (SeriesEncoder::default(), Vec::new());
    let start = FileStart { wall_anchor_ms: 1_800_000_000_000, ..FileStart::default() };
    encoder.start(&mut bytes, &start);
    let os = encoder.source(&mut bytes, "os");
    let labels = [("device", "sd\"a\\"), ("text", "two\nlines")];
    let counter =
        encoder.series(&mut bytes, os, &Metric::counter("node_disk_read_bytes_total", "Bytes."), &labels);
    let process = encoder.source(&mut bytes, "process:7\u{1b}[31m");
    let gauge = encoder.series(&mut bytes, process, &Metric::gauge("process_threads", "Threads."), &[]);
    let mark = Mark { kind: MarkKind::User, from: Nanos(0), to: Nanos(0), text: "deployed".to_owned() };
    encoder.mark(&mut bytes, os, &mark);
    for step in 0..6_u32 {
        let time = Nanos(u64::from(step) * 500_000_000 + 1_234);
        encoder.values(&mut bytes, &[(time, counter, f64::from(step) * 0.1), (time, gauge, 3.0)]);
    }
    bytes
}

fn csv(bytes: &[u8], selection: &SeriesSelection) -> (String, ExportedSeries) {
    let mut out = Vec::new();
    let exported = export_series_csv(Cursor::new(bytes), selection, &mut out, "the output").unwrap();
    (String::from_utf8(out).unwrap(), exported)
}

#[test]
fn csv_has_a_line_per_value() {
    let (text, exported) = csv(&series_file(), &SeriesSelection::default());
    assert_eq!(exported, ExportedSeries { rows: 12, series: 2, damaged_end: None });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "time_ms,run_s,source,metric,labels,kind,value");
    assert_eq!(
        lines[3],
        r#"1800000000500,0.500001,os,node_disk_read_bytes_total,"device=""sd\""a\\"",text=""two\nlines""",counter,0.1"#
    );
    assert_eq!(lines.len(), 13);
    assert!(
        lines[4].starts_with("1800000000500,0.500001,process:7")
            && lines[4].ends_with(",process_threads,,gauge,3")
    );
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn metrics_and_a_window_are_selected() {
    let selection = SeriesSelection { metrics: vec!["node_*".to_owned()], window_s: Some((0.5, 2.0)) };
    let (text, exported) = csv(&series_file(), &selection);
    assert_eq!((exported.rows, exported.series), (3, 1));
    assert!(text.lines().skip(1).all(|line| line.contains("node_disk_read_bytes_total")), "{text}");
    let none = SeriesSelection { metrics: vec!["jvm_*".to_owned()], window_s: None };
    assert_eq!(csv(&series_file(), &none).1.rows, 0);
}

#[test]
fn a_damaged_file_is_exported_up_to_the_damage() {
    let mut bytes = series_file();
    bytes.truncate(bytes.len() - 3);
    let (_, exported) = csv(&bytes, &SeriesSelection::default());
    assert_eq!(exported.rows, 10);
    assert!(exported.damaged_end.is_some_and(|end| end.is_torn));
    let other =
        export_series_csv(Cursor::new(b"PAR1"), &SeriesSelection::default(), Vec::new(), "the output");
    assert!(matches!(other, Err(ExportError::Series(_))));
}

#[test]
fn parquet_has_the_same_rows() {
    let mut out = Vec::new();
    let selection = SeriesSelection::default();
    let exported =
        export_series_parquet(Cursor::new(series_file()), &selection, || Ok(&mut out), "shop", "the output");
    match exported {
        Err(ExportError::NotBuilt { feature, .. }) => assert_eq!(feature, "parquet"),
        exported => {
            assert_eq!(exported.unwrap(), ExportedSeries { rows: 12, series: 2, damaged_end: None });
            assert!(out.starts_with(b"PAR1") && out.ends_with(b"PAR1"));
        }
    }
}
