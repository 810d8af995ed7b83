//! Distributes the seconds of a run and evaluates its thresholds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use busyhour_analysis::thresholds::{Judge, RunMeasures, ThresholdResult};
use busyhour_sample::{SnapshotReceiver, SnapshotSender, snapshot_channel};

use crate::control::RunControl;
use crate::observers::Observers;

/// Maximum number of seconds that are queued for the evaluation of thresholds, which takes microseconds per second.
const SECONDS_WAITING_MAX: usize = 120;

/// A thread that distributes the seconds of a run to its observers and evaluates its thresholds.
pub(crate) struct Seconds {
    thread: JoinHandle<Judge>,
    lost: Arc<AtomicU64>,
}

impl Seconds {
    /// Starts the thread and returns a sender for the recorder.
    pub(crate) fn follow(
        judge: Judge,
        observers: &Observers,
        control: &RunControl,
    ) -> std::io::Result<(Seconds, SnapshotSender)> {
        let (sender, seconds) = snapshot_channel(SECONDS_WAITING_MAX);
        let (observers, control) = (observers.clone(), control.clone());
        let lost = Arc::<AtomicU64>::default();
        let lost_of_thread = Arc::clone(&lost);
        let thread = std::thread::Builder::new().name("seconds".into()).spawn(move || {
            let judge = distribute(judge, &seconds, &observers, &control);
            lost_of_thread.store(seconds.lost(), Ordering::Relaxed);
            judge
        })?;
        Ok((Seconds { thread, lost }, sender))
    }

    /// Waits for the last second; the recorder must have ended. Returns `None` if seconds are missing. The thresholds must
    /// then be evaluated from the record.
    pub(crate) fn finish(self) -> Option<Judge> {
        let judge = self.thread.join().ok();
        judge.filter(|_| self.lost.load(Ordering::Relaxed) == 0)
    }
}

fn distribute(
    mut judge: Judge,
    seconds: &SnapshotReceiver,
    observers: &Observers,
    control: &RunControl,
) -> Judge {
    while let Some(second) = seconds.recv() {
        if let Some(stop) = judge.second(&second) {
            control.stop_by_threshold(&stop);
        }
        if observers.need_seconds() {
            let thresholds: Arc<[ThresholdResult]> = judge.so_far(&RunMeasures::default()).into();
            observers.second(&second, &thresholds);
        }
    }
    judge
}
