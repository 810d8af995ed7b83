//! Sends the reports of an agent's run to the controller, in order, and repeats each until it is acknowledged.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::Client;
use busyhour_program::clock::monotonic_ns;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::messages::Report;
use crate::wire::encode;

/// Maximum number of seconds that wait to be sent. Further ones are not sent; the records contain them.
const SECONDS_WAITING_MAX: usize = 600;

/// Time without an acknowledgement after which a report is sent again.
const ACKNOWLEDGE: Duration = Duration::from_secs(2);

/// Pause before a report is sent again.
const PAUSE: Duration = Duration::from_millis(200);

/// The reports that wait to be sent; clones refer to the same queue.
#[derive(Clone)]
pub(crate) struct ReportQueue {
    queue: UnboundedSender<(Report, Option<u64>)>,
    seconds: Arc<AtomicUsize>,
    /// The reports that another controller needs.
    stages: Arc<Mutex<Vec<Report>>>,
}

impl ReportQueue {
    /// Starts the task that sends reports. It ends when all clones of the queue are dropped and everything is acknowledged, or
    /// when the task is aborted.
    pub(crate) fn start(client: Client, subject: String) -> (ReportQueue, tokio::task::JoinHandle<()>) {
        let (queue, waiting) = unbounded_channel();
        let seconds = Arc::<AtomicUsize>::default();
        let task = tokio::spawn(send_all(client, subject, waiting, Arc::clone(&seconds)));
        (ReportQueue { queue, seconds, stages: Arc::default() }, task)
    }

    /// Queues a report.
    pub(crate) fn send(&self, report: Report) {
        if !matches!(report, Report::Said { .. }) {
            self.stages.lock().unwrap_or_else(PoisonError::into_inner).push(report.clone());
        }
        let _ = self.queue.send((report, None));
    }

    /// Queues all reports again, apart from seconds and messages.
    pub(crate) fn repeat(&self) {
        for report in self.stages.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = self.queue.send((report.clone(), None));
        }
    }

    /// Queues a second, to be sent after a delay. Returns whether there was room.
    pub(crate) fn send_second(&self, report: Report, delay: Duration) -> bool {
        if self.seconds.load(Ordering::Relaxed) >= SECONDS_WAITING_MAX {
            return false;
        }
        self.seconds.fetch_add(1, Ordering::Relaxed);
        self.queue
            .send((report, Some(monotonic_ns().saturating_add(u64::try_from(delay.as_nanos()).unwrap_or(0)))))
            .is_ok()
    }
}

async fn send_all(
    client: Client,
    subject: String,
    mut waiting: UnboundedReceiver<(Report, Option<u64>)>,
    seconds: Arc<AtomicUsize>,
) {
    while let Some((report, not_before)) = waiting.recv().await {
        if let Some(time_ns) = not_before {
            tokio::time::sleep(Duration::from_nanos(time_ns.saturating_sub(monotonic_ns()))).await;
            seconds.fetch_sub(1, Ordering::Relaxed);
        }
        let Ok(bytes) = encode(&report) else { continue };
        loop {
            let request = async_nats::Request::new().payload(bytes.clone().into()).timeout(Some(ACKNOWLEDGE));
            if client.send_request(subject.clone(), request).await.is_ok() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
