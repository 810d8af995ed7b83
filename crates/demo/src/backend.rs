//! A simulated backend of the shop: a pool of slow connections.
//!
//! A shop that responds from memory is limited only by its processor, and on many machines the speed of the processor
//! changes from minute to minute. With a backend, each response occupies a connection of a pool for some time without using
//! processor time. The capacity of such a system is the number of connections divided by the mean time. It is known exactly,
//! so capacity models can be tested with it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::oneshot;

/// The seed for the times of the first connection. Each further connection uses the next higher number.
const SEED: u64 = 0x0BAC_0E2D;

/// The time for which a response occupies a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendTime {
    /// Always this time.
    Constant(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

impl BackendTime {
    fn draw(self, random: &mut impl Rng) -> Duration {
        match self {
            BackendTime::Constant(time) => time,
            // 1 − u is in (0, 1].
            BackendTime::Exponential(mean) => mean.mul_f64(-(1.0 - random.random::<f64>()).ln()),
        }
    }
}

/// The pool of connections to the simulated backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackendOptions {
    /// The number of responses that are processed concurrently; others wait in order of arrival.
    pub connections: NonZeroUsize,
    /// The time that each response takes.
    pub time: BackendTime,
}

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<oneshot::Sender<()>>,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Pool {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Pool {
    fn with<T>(&self, work: impl FnOnce(&mut Waiting) -> T) -> T {
        work(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the next request in the queue, and whether the pool was idle before it arrived; `None` if the pool is
    /// closed.
    fn next(&self) -> Option<(oneshot::Sender<()>, bool)> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut was_idle = false;
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(next) = waiting.queue.pop_front() {
                return Some((next, was_idle));
            }
            was_idle = true;
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs one connection. It has its own thread, which wakes up within about 50 µs; the timers of the shop's runtime
    /// are rounded up to a millisecond.
    fn work(&self, time: BackendTime, mut random: StdRng) {
        let mut end = Instant::now();
        while let Some((answered, was_idle)) = self.next() {
            // If the queue was not empty, the request is served from the end of the previous one, so that late wake-ups do
            // not accumulate.
            let begin = if was_idle { Instant::now() } else { end };
            end = begin + time.draw(&mut random);
            while let left @ 1.. = end.saturating_duration_since(Instant::now()).as_nanos() {
                std::thread::park_timeout(Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX)));
            }
            // If the client has disconnected, there is no receiver.
            let _ = answered.send(());
        }
    }
}

/// A running pool.
#[derive(Debug)]
pub(crate) struct Backend {
    pool: Arc<Pool>,
}

impl Backend {
    /// Opens the connections.
    pub(crate) fn open(options: BackendOptions) -> std::io::Result<Backend> {
        let backend = Backend { pool: Arc::default() };
        for (number, seed) in (1..=options.connections.get()).zip(SEED..) {
            let (pool, random) = (Arc::clone(&backend.pool), StdRng::seed_from_u64(seed));
            std::thread::Builder::new()
                .name(format!("backend-{number}"))
                .spawn(move || pool.work(options.time, random))?;
        }
        Ok(backend)
    }

    /// Waits until a connection has processed a request.
    pub(crate) async fn process(&self) {
        let (answered, answer) = oneshot::channel();
        self.pool.with(|waiting| waiting.queue.push_back(answered));
        self.pool.changed.notify_one();
        // The pool is closed only together with the shop, which also closes the client's connection.
        let _ = answer.await;
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.pool.with(|waiting| waiting.is_closed = true);
        self.pool.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_requested_mean_and_variability() {
        let mut random = StdRng::seed_from_u64(1);
        let mean = Duration::from_millis(5);
        assert_eq!(BackendTime::Constant(mean).draw(&mut random), mean);
        let times: Vec<f64> = (0..20_000)
            .map(|_| BackendTime::Exponential(mean).draw(&mut random).as_secs_f64() / 0.005)
            .collect();
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        let scv = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / n / mean.powi(2);
        assert!((mean - 1.0).abs() < 0.03 && (scv - 1.0).abs() < 0.06, "{mean} {scv}");
    }

    #[tokio::test]
    async fn no_more_requests_are_processed_at_once_than_there_are_connections() {
        let time = Duration::from_millis(4);
        let connections = NonZeroUsize::new(2).unwrap();
        let backend =
            Backend::open(BackendOptions { connections, time: BackendTime::Constant(time) }).unwrap();
        let begin = Instant::now();
        let passes = (0..6).map(|_| backend.process());
        all_completed(passes).await;
        // Six requests on two connections: three run in sequence, so they take at least three times as long as one.
        assert!(begin.elapsed() >= 3 * time, "{:?}", begin.elapsed());
    }

    async fn all_completed(passes: impl Iterator<Item = impl Future<Output = ()>>) {
        let mut passes: Vec<_> = passes.map(Box::pin).collect();
        std::future::poll_fn(|context| {
            passes.retain_mut(|pass| pass.as_mut().poll(context).is_pending());
            if passes.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}
