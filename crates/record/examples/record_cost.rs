//! Records two million samples with all outputs and prints nothing, so that its cost can be measured with other
//! programs:
//!
//! ```text
//! cargo build --release -p busyhour-record --example record_cost
//! perf stat target/release/examples/record_cost
//! ```
//!
//! The user time divided by 2,000,000 is the cost of a sample from the engine's call to the buffers of the files.
//! `perf record -s` shows the share of each thread, and thus the part on the core that generates the load.

use busyhour_record::{Recorder, RecorderConfig, ResultFileConfig, RunDir, SampleFilter, SaveConfig};
use busyhour_sample::{
    ActiveUsers, GroupName, Labels, Nanos, RunNames, Sample, SampleContent, SampleOutcome, SampleSizes,
    SampleTimes,
};

const SAMPLES: u64 = 2_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temp = tempfile::tempdir()?;
    let dir = RunDir::create(temp.path().join("run"))?;
    let labels = Labels::new();
    let ids =
        ["GET /", "GET /rest/events", "POST /rest/bookings", "GET /rest/venues"].map(|l| labels.intern(l));
    let (recorder, mut writers) = Recorder::start(RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: RunNames {
            groups: vec![GroupName { name: "Users".into(), number: 1 }],
            ..RunNames::default()
        },
        labels,
        wall_anchor_ms: 1_700_000_000_000,
        main: Some(ResultFileConfig {
            path: dir.jtl_path(),
            config: SaveConfig::default(),
            filter: SampleFilter::All,
        }),
        ..RecorderConfig::default()
    })?;
    let mut writer = writers.remove(0);
    for i in 0..SAMPLES {
        // 100,000 samples per second with times between 0.2 and 1.2 ms.
        let start = Nanos(i * 10_000);
        let ns = 200_000 + i * 7919 % 1_000_000;
        let sample = Sample {
            label: ids[i as usize % ids.len()],
            times: SampleTimes {
                intended: start,
                start,
                end: start + ns,
                latency_ns: ns - 20_000,
                ..SampleTimes::default()
            },
            users: ActiveUsers { group: 64, all: 64 },
            user: (i % 64) as u32 + 1,
            outcome: SampleOutcome::new("200", "OK", true),
            content: SampleContent { encoding: "UTF-8", ..SampleContent::default() },
            sizes: SampleSizes::of_row(1_234, 167),
            url: "http://127.0.0.1:8080/rest/events?page=1",
            ..Sample::default()
        };
        while writer.record(&sample).is_err() {
            std::thread::yield_now();
        }
    }
    drop(writer);
    let totals = recorder.finish();
    assert_eq!((totals.total.samples, totals.events.len()), (SAMPLES, 0));
    Ok(())
}
