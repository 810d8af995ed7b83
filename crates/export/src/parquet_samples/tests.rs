use super::*;
use busyhour_sample::SampleTimes;
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

/// Converts a result file; returns the rows of the Parquet file, read by the crate's reader, and the number of its row groups.
fn exported(jtl: &str, group_rows: usize) -> (Vec<Row>, usize) {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("results.jtl"), dir.path().join("samples.parquet"));
    std::fs::write(&from, jtl).unwrap();
    let create = || std::fs::File::create(&to);
    let inputs = [ResultsInput::path(from)];
    let rows =
        export_grouped(&inputs, &RecordReading::default(), create, "shop", "samples.parquet", group_rows)
            .unwrap()
            .rows;
    let reader = SerializedFileReader::new(std::fs::File::open(&to).unwrap()).unwrap();
    let metadata = reader.metadata();
    assert_eq!(metadata.file_metadata().num_rows(), rows as i64);
    for group in metadata.row_groups() {
        for column in group.columns() {
            assert!(matches!(column.compression(), Compression::ZSTD(_)), "{column:?}");
        }
        let label = group.column(0);
        assert!(label.dictionary_page_offset().is_some(), "labels are in a dictionary");
    }
    let found = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    (found, metadata.num_row_groups())
}

/// The value of a row in the column `name`.
fn field(row: &Row, name: &str) -> Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1.clone()
}

const JTL: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,sentBytes,\
                   grpThreads,allThreads,Latency,IdleTime,\"user\"\n";

#[test]
fn a_row_for_each_sample_of_a_result_file() {
    let mut jtl = String::from(JTL);
    for at in 0..25u64 {
        let (label, code, ok) = if at % 5 == 4 { ("cart", 503, false) } else { ("home", 200, true) };
        let stamp = 1_700_000_000_000 + at * 40;
        let end =
            format!("{ok},{},{},0,3,7,{},0,u{at}\n", if ok { "" } else { "too late" }, 100 + at, at % 3);
        jtl += &format!("{stamp},{},{label},{code},OK,Shop users 2-{},{end}", 10 + at, at % 4 + 1);
    }
    let (rows, groups) = exported(&jtl, 10);
    assert_eq!((rows.len(), groups), (25, 3));
    let row = &rows[4];
    assert_eq!(field(row, "label"), Field::Str("cart".into()));
    assert_eq!(field(row, "kind"), Field::Str("request".into()));
    assert_eq!(field(row, "thread_group"), Field::Str("Shop users 2".into()));
    assert_eq!(field(row, "user_number"), Field::Int(1));
    let started_ns = (1_700_000_000_000 + 160) * 1_000_000;
    assert_eq!(field(row, "started_at"), Field::Long(started_ns));
    assert_eq!(field(row, "ended_at"), Field::Long(started_ns + 14_000_000));
    assert_eq!(field(row, "service_ns"), Field::Long(14_000_000));
    assert_eq!(field(row, "success"), Field::Bool(false));
    assert_eq!(field(row, "code"), Field::Str("503".into()));
    assert_eq!(field(row, "failure_message"), Field::Str("too late".into()));
    assert_eq!(field(row, "bytes"), Field::Long(104));
    assert_eq!((field(row, "samples"), field(row, "errors")), (Field::Int(1), Field::Int(1)));
    assert_eq!(field(row, "variable_user"), Field::Str("u4".into()));
    // Latencies were measured, although some of them are 0.
    assert_eq!(field(&rows[3], "latency_ns"), Field::Long(0));
    // Values that a result file does not contain are null.
    for unknown in ["intended_at", "response_ns", "connect_ns", "idle_ns", "sent_bytes", "url", "encoding"] {
        assert_eq!(field(row, unknown), Field::Null, "{unknown}");
    }
    assert_eq!(field(&rows[0], "failure_message"), Field::Null);
}

#[test]
fn a_run_directory_has_both_clocks_in_nanoseconds() {
    use busyhour_record::{Recorder, RecorderConfig, RunDir};
    use busyhour_sample::Nanos;
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    let labels = Labels::new();
    let wall_anchor_ms = 1_700_000_000_000;
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: RunNames {
            groups: vec![GroupName { name: "Users".into(), number: 1 }],
            ..RunNames::default()
        },
        labels: labels.clone(),
        wall_anchor_ms,
        ..RecorderConfig::default()
    };
    let (recorder, writers) = Recorder::start(config).unwrap();
    for mut core in writers {
        let sample = Sample {
            label: labels.intern("home"),
            times: SampleTimes {
                intended: Nanos(1_000_000_001),
                start: Nanos(1_000_250_007),
                end: Nanos(1_003_000_009),
                ..SampleTimes::default()
            },
            user: 3,
            ..Sample::default()
        };
        core.record(&sample).unwrap();
    }
    assert_eq!(recorder.finish().total.samples, 1);
    let to = temp.path().join("samples.parquet");
    let (inputs, whole) = ([ResultsInput::path(dir.path())], RecordReading::default());
    let create = || std::fs::File::create(&to);
    let rows = export_parquet(&inputs, &whole, create, "Plan", "samples.parquet").unwrap().rows;
    assert_eq!(rows, 1);
    let reader = SerializedFileReader::new(std::fs::File::open(&to).unwrap()).unwrap();
    let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let anchor_ns = wall_anchor_ms * 1_000_000;
    assert_eq!(field(&row, "intended_at"), Field::Long(anchor_ns + 1_000_000_001));
    assert_eq!(field(&row, "started_at"), Field::Long(anchor_ns + 1_000_250_007));
    assert_eq!(field(&row, "ended_at"), Field::Long(anchor_ns + 1_003_000_009));
    assert_eq!(field(&row, "response_ns"), Field::Long(3_000_008));
    assert_eq!(field(&row, "service_ns"), Field::Long(2_750_002));
    assert_eq!(
        (field(&row, "thread_group"), field(&row, "user_number")),
        (Field::Str("Users 1".into()), Field::Int(3))
    );
    // A reused connection took no time to establish. This value is known to be 0.
    assert_eq!(field(&row, "connect_ns"), Field::Long(0));
}

#[test]
fn unreadable_input_creates_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("results.jtl"), dir.path().join("samples.parquet"));
    std::fs::write(&from, "this is no result file\n").unwrap();
    let create = || std::fs::File::create(&to);
    let inputs = [ResultsInput::path(&from)];
    let error =
        export_parquet(&inputs, &RecordReading::default(), create, "shop", "samples.parquet").unwrap_err();
    assert!(matches!(error, ExportError::Samples(_)), "{error:?}");
    assert!(!to.exists());
    std::fs::write(&from, JTL).unwrap();
    let (rows, groups) = exported(JTL, 10);
    assert_eq!((rows.len(), groups), (0, 0));
}
