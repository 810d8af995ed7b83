//! Records simulated requests and summarizes them.

use busyhour_analysis::{RunFacts, Summary};
use busyhour_record::{Recorder, RecorderConfig};
use busyhour_sample::{
    ActiveUsers, ArrivalOutcome, ArrivalRecord, LabelId, Nanos, Sample, SampleOutcome, SampleTimes,
};

use crate::simulate::Run;

/// One request.
#[derive(Clone, Copy)]
pub struct Request {
    pub intended_s: f64,
    pub start_s: f64,
    pub end_s: f64,
    pub label: usize,
    pub success: bool,
    pub users: u32,
}

fn at(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

/// The summary of requests with labels `0`, `1` and so on. With `is_open`, each start is recorded as an offered arrival.
pub fn summary(requests: &[Request], labels: usize, is_open: bool, facts: RunFacts) -> Summary {
    let config = RecorderConfig::default();
    let ids: Vec<LabelId> = (0..labels).map(|label| config.labels.intern(&label.to_string())).collect();
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut by_end: Vec<&Request> = requests.iter().collect();
    by_end.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
    if is_open {
        for request in requests {
            let scheduled = at(request.intended_s);
            let outcome = ArrivalOutcome::Started { at: at(request.start_s) };
            writers[0].record_arrival(&ArrivalRecord { group: 0, scheduled, outcome }, Nanos::ZERO);
        }
    }
    for request in by_end {
        let end = at(request.end_s);
        let sample = Sample {
            label: ids[request.label],
            times: SampleTimes {
                intended: at(request.intended_s),
                start: at(request.start_s),
                end,
                ..SampleTimes::default()
            },
            outcome: SampleOutcome::new(
                if request.success { "200" } else { "503" },
                if request.success { "OK" } else { "Service Unavailable" },
                request.success,
            ),
            error_count: u32::from(!request.success),
            users: ActiveUsers { group: request.users, all: request.users },
            ..Sample::default()
        };
        while writers[0].record(&sample).is_err() {
            writers[0].flush(end);
        }
    }
    drop(writers);
    Summary::new(facts, &recorder.finish())
}

pub fn summary_of(run: &Run) -> Summary {
    summary(&run.requests, run.labels, run.is_open, RunFacts::default())
}
