//! Reads a record with `examples/read_samples.py`, which was written only from the description of the format.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use busyhour_record::{Recorder, RecorderConfig, SamplesReader};
use busyhour_sample::{
    ActiveUsers, ArrivalOutcome, ArrivalRecord, BatchWriter, DataType, GroupName, Labels, Nanos, RunNames,
    Sample, SampleContent, SampleFlags, SampleKind, SampleOutcome, SampleSizes, SampleTimes,
};

const SAMPLES: u64 = 5_000;

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/read_samples.py")
}

/// Writes the samples of one core: every kind of field, in two batches or more.
fn write(core: u64, mut writer: BatchWriter, labels: &Labels) {
    for n in 0..SAMPLES {
        let label = labels.intern(["home", "pay, now", "a \"quoted\" label", "größe"][n as usize % 4]);
        let start = Nanos::from_millis(n * 3 + core);
        let (message, url) = (format!("message {}", n % 7), format!("http://127.0.0.1/{n}"));
        let flags = match n % 50 {
            3 => SampleFlags::TRANSACTION,
            4 => SampleFlags::SUB_RESULT,
            5 => SampleFlags::LISTENERS_ONLY,
            _ => SampleFlags::NONE,
        };
        let sample = Sample {
            label,
            group: (n % 2) as u32,
            user: 1 + n as u32 % 30,
            times: SampleTimes {
                // Some samples have an intended start after the actual one, or an idle time longer than the sample.
                intended: if n % 40 == 7 { start + 5_u64 } else { start - n % 1_000 },
                start,
                end: start + n * 1_000,
                connect_ns: n % 3,
                latency_ns: n,
                idle_ns: if n % 60 == 8 { u64::from(u32::MAX) * 4 } else { 0 },
            },
            outcome: SampleOutcome::new("200", &message, n % 9 != 0),
            content: SampleContent::new(
                [DataType::Unknown, DataType::Text, DataType::Binary][n as usize % 3],
                "UTF-8",
            ),
            failure_message: if n % 9 == 0 { "expected \"this\",\nnot that" } else { "" },
            sizes: SampleSizes::of_row(n << 20, n),
            users: ActiveUsers { group: 3, all: 7 },
            url: &url,
            error_count: u32::from(n % 9 == 0),
            flags,
            variables: &["blue", &message],
            ..Sample::default()
        };
        while writer.record(&sample).is_err() {
            std::thread::yield_now();
        }
        let outcome = ArrivalOutcome::Started { at: start };
        writer.record_arrival(&ArrivalRecord { group: 0, scheduled: start, outcome }, start);
        writer.record_users(1, start);
    }
}

fn record(dir: &Path) {
    let labels = Labels::new();
    let group = |name: &str, number| GroupName { name: name.into(), number };
    let (recorder, writers) = Recorder::start(RecorderConfig {
        dir: Some(dir.to_owned()),
        names: RunNames {
            groups: vec![group("Users", 1), group("Admins", 2)],
            variables: vec!["colour".into(), "text".into()],
            ..RunNames::default()
        },
        labels: labels.clone(),
        writers: 2,
        ..RecorderConfig::default()
    })
    .unwrap();
    for (core, writer) in writers.into_iter().enumerate() {
        write(core as u64, writer, &labels);
    }
    assert_eq!(recorder.finish().events, []);
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// The expected output of the script, computed with the reader in Rust.
fn expected(file: &Path) -> String {
    let mut out = String::from(
        "core,kind,label,group,user,intended_start_ns,actual_start_ns,end_ns,response_ns,service_ns,connect_ns,latency_ns,\
         idle_ns,success,code,message,failure_message,data_type,encoding,bytes,sent_bytes,group_users,all_users,samples,\
         errors,url,colour,text\n",
    );
    let reader = SamplesReader::open(file).unwrap();
    let (labels, names) = (reader.labels().clone(), reader.names().clone());
    let see = |core: usize, sample: &Sample<'_>| {
        let kind = match SampleKind::of(sample.flags) {
            SampleKind::Request => "request",
            SampleKind::Transaction => "transaction",
            SampleKind::SubResult => "sub-result",
        };
        let times = sample.times;
        let label = quoted(&labels.name(sample.label));
        let group = &names.names.groups[sample.group as usize].name;
        let (user, users) = (sample.user, sample.users);
        let [intended, start, end] = [times.intended, times.start, times.end].map(|at| at.0);
        let (response, service) = (times.response_ns(), times.service_ns());
        let SampleTimes { connect_ns, latency_ns, idle_ns, .. } = times;
        let Sample {
            outcome: SampleOutcome { code, message, success, .. },
            content: SampleContent { data_type, encoding, .. },
            sizes,
            url,
            ..
        } = *sample;
        let failure = quoted(sample.failure_message);
        let (data_type, bytes, sent_bytes) = (data_type.as_str(), sizes.bytes(), sizes.sent_bytes);
        let (group_users, all_users) = (users.group, users.all);
        let (samples, errors) = (sample.sample_count, sample.error_count);
        let variables = sample.variables.join(",");
        writeln!(
            out,
            "{core},{kind},{label},{group},{user},{intended},{start},{end},{response},{service},{connect_ns},{latency_ns},\
             {idle_ns},{success},{code},{message},{failure},{data_type},{encoding},{bytes},{sent_bytes},{group_users},\
             {all_users},{samples},{errors},{url},{variables}"
        )
        .unwrap();
    };
    reader.read(see).unwrap();
    out
}

#[test]
fn the_reader_in_python_reads_every_field() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path());
    let file = dir.path().join("samples.bhs");
    let python = |file: &Path| Command::new("python3").arg(script()).arg(file).output();
    let Ok(output) = python(&file) else {
        // Visible with `cargo test -- --nocapture`, and when the test fails.
        std::io::stderr().write_all(b"SKIPPED: python3 is not installed\n").unwrap();
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let expected = expected(&file);
    assert!(expected.lines().count() as u64 > SAMPLES);
    let first = printed.lines().zip(expected.lines()).find(|(printed, expected)| printed != expected);
    assert_eq!(first, None);
    assert_eq!(printed.len(), expected.len());

    // Both stop at the same place of a truncated record.
    let whole = std::fs::read(&file).unwrap();
    let cut = dir.path().join("cut.bhs");
    std::fs::write(&cut, &whole[..whole.len() * 2 / 3]).unwrap();
    let printed = String::from_utf8(python(&cut).unwrap().stdout).unwrap();
    assert_eq!(printed, self::expected(&cut));
    assert!(printed.len() < expected.len());

    // Another version is refused.
    let mut other = whole;
    other[8] = 2;
    std::fs::write(&cut, other).unwrap();
    let output = python(&cut).unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("version 2 of the format"), "{message}");
}
