//! Files of other load generators. The first byte selects the parser, so that all of them are reached at once; the rest is the file.
//! Reading ends, and each step reads at least a byte.

#![no_main]

use busyhour_imports::{
    AggregateFormat, ImportedSample, SampleForm, SampleFormat, SampleReader, Step, detect, read_aggregate,
};
use libfuzzer_sys::fuzz_target;

const SAMPLES: [SampleFormat; 7] = [
    SampleFormat::K6Json,
    SampleFormat::K6Csv,
    SampleFormat::VegetaJson,
    SampleFormat::VegetaCsv,
    SampleFormat::GatlingText,
    SampleFormat::GatlingBinary,
    SampleFormat::OhaCsv,
];

const AGGREGATES: [AggregateFormat; 6] = [
    AggregateFormat::K6Summary,
    AggregateFormat::VegetaReport,
    AggregateFormat::OhaJson,
    AggregateFormat::HdrTable,
    AggregateFormat::LocustStats,
    AggregateFormat::LocustHistory,
];

fuzz_target!(|data: &[u8]| {
    let Some((selected, file)) = data.split_first() else { return };
    let _ = detect(file);
    let selected = usize::from(*selected) % (SAMPLES.len() + AGGREGATES.len());
    let Some(format) = SAMPLES.get(selected).copied() else {
        if let Ok(read) = read_aggregate(AGGREGATES[selected - SAMPLES.len()], file) {
            let texts: Vec<String> = read.doubts().iter().map(ToString::to_string).collect();
            assert!(!texts.is_empty());
        }
        return;
    };
    let mut reader = SampleReader::new(SampleForm { format, tick_ns: 1 }, file);
    let mut sample = ImportedSample::default();
    for _ in 0..=file.len() {
        match reader.read(&mut sample) {
            Ok(Step::Sample | Step::Bad(_)) => {}
            Ok(Step::End { .. }) | Err(_) => return,
        }
    }
    panic!("more steps than bytes");
});
