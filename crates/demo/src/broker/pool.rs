//! The agents, and the queue of requests that wait for one of them.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::histogram::Histogram;
use super::parameters::Parameters;
use super::records;

/// The reason why a request gets no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoolError {
    /// No agent is free and the queue is full.
    QueueFull,
    /// The broker is closing.
    Closed,
}

/// The figures of the pool at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PoolFigures {
    /// Number of agents that work.
    pub(super) busy: usize,
    /// Number of requests that wait.
    pub(super) depth: usize,
    /// Largest number of requests that waited.
    pub(super) depth_max: usize,
    /// Times that requests waited, of all that an agent began.
    pub(super) waits: Histogram,
    /// Number of requests that agents completed.
    pub(super) completed: u64,
    /// Number of requests that were rejected because the queue was full.
    pub(super) rejected: u64,
    /// Time that agents worked, in total.
    pub(super) busy_time: Duration,
}

/// A request for an agent.
#[derive(Debug)]
struct Job {
    parameters: Parameters,
    arrived: Instant,
    answer: mpsc::SyncSender<Vec<u8>>,
}

#[derive(Debug)]
struct State {
    /// Requests that wait because all agents work, in order of arrival.
    waiting: VecDeque<Job>,
    /// Requests whose agent is free but has not begun yet. These agents count as busy.
    assigned: VecDeque<Job>,
    figures: PoolFigures,
    /// The time up to which `figures.busy_time` is counted.
    counted_until: Instant,
    is_closed: bool,
}

impl State {
    /// Changes the number of busy agents.
    fn set_busy(&mut self, busy: usize, now: Instant) {
        self.count_until(now);
        self.figures.busy = busy;
    }

    fn count_until(&mut self, now: Instant) {
        let busy = u32::try_from(self.figures.busy).unwrap_or(u32::MAX);
        self.figures.busy_time += now.saturating_duration_since(self.counted_until) * busy;
        self.counted_until = self.counted_until.max(now);
    }

    /// Takes the next request, for an agent that has just completed one.
    fn take_waiting(&mut self, now: Instant) -> Option<Job> {
        let job = self.waiting.pop_front();
        if job.is_none() {
            self.set_busy(self.figures.busy - 1, now);
        }
        job
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a request is assigned.
    assigned: Condvar,
    /// Notified when the pool closes.
    closing: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one agent until the pool is closed.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            let Some(mut job) = state.assigned.pop_front() else {
                if state.is_closed {
                    return;
                }
                state = self.assigned.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            loop {
                state.figures.waits.record(job.arrived.elapsed());
                state = self.delay(state, job.parameters.delay());
                if state.is_closed {
                    return;
                }
                drop(state);
                let body = records::render(job.parameters.fields, job.parameters.records);
                state = self.lock();
                state.figures.completed += 1;
                let next = state.take_waiting(Instant::now());
                // The channel has room for this answer. If there is no receiver, nobody waits for it.
                let _ = job.answer.try_send(body);
                match next {
                    Some(next) => job = next,
                    None => break,
                }
            }
        }
    }

    /// Waits for the delay of a request, or until the pool is closed.
    fn delay<'s>(&'s self, state: MutexGuard<'s, State>, delay: Duration) -> MutexGuard<'s, State> {
        if delay.is_zero() {
            return state;
        }
        let waited = self.closing.wait_timeout_while(state, delay, |state| !state.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A fixed number of agents; each of them is a thread that works on one request at a time.
#[derive(Debug)]
pub(super) struct AgentPool {
    shared: Arc<Shared>,
    agents: usize,
    queue: usize,
}

impl AgentPool {
    /// Starts the agents.
    pub(super) fn start(agents: usize, queue: usize) -> io::Result<Self> {
        let state = State {
            waiting: VecDeque::new(),
            assigned: VecDeque::new(),
            figures: PoolFigures::default(),
            counted_until: Instant::now(),
            is_closed: false,
        };
        let shared =
            Arc::new(Shared { state: state.into(), assigned: Condvar::new(), closing: Condvar::new() });
        // Created first: if a thread cannot be started, dropping the pool ends the others.
        let pool = Self { shared, agents, queue };
        for number in 1..=agents {
            let shared = Arc::clone(&pool.shared);
            let agent = std::thread::Builder::new().name(format!("agent-{number}"));
            agent.spawn(move || shared.work())?;
        }
        Ok(pool)
    }

    /// Gives a request to a free agent, or to the queue. The receiver gets the records; it fails if the pool is closed.
    pub(super) fn submit(&self, parameters: Parameters) -> Result<mpsc::Receiver<Vec<u8>>, PoolError> {
        let (answer, receiver) = mpsc::sync_channel(1);
        let mut state = self.shared.lock();
        let arrived = Instant::now();
        let job = Job { parameters, arrived, answer };
        if state.is_closed {
            return Err(PoolError::Closed);
        }
        if state.figures.busy < self.agents {
            let busy = state.figures.busy + 1;
            state.set_busy(busy, arrived);
            state.assigned.push_back(job);
            self.shared.assigned.notify_one();
        } else if state.waiting.len() < self.queue {
            state.waiting.push_back(job);
            state.figures.depth_max = state.figures.depth_max.max(state.waiting.len());
        } else {
            state.figures.rejected += 1;
            return Err(PoolError::QueueFull);
        }
        Ok(receiver)
    }

    /// Waits until an agent has made the records of a request.
    pub(super) fn process(&self, parameters: Parameters) -> Result<Vec<u8>, PoolError> {
        self.submit(parameters)?.recv().map_err(|_| PoolError::Closed)
    }

    /// The present figures.
    pub(super) fn figures(&self) -> PoolFigures {
        let mut state = self.shared.lock();
        state.count_until(Instant::now());
        PoolFigures { depth: state.waiting.len(), ..state.figures.clone() }
    }

    /// Waits until the pool is closed, at most for this time.
    pub(super) fn wait_until_closed(&self, most: Duration) {
        drop(self.shared.delay(self.shared.lock(), most));
    }

    /// Ends the agents and all requests, also those in progress.
    pub(super) fn close(&self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.waiting.clear();
        state.assigned.clear();
        drop(state);
        self.shared.assigned.notify_all();
        self.shared.closing.notify_all();
    }
}

impl Drop for AgentPool {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A delay that no test waits for.
    const LONG_MS: u32 = 60_000;

    fn delayed(delay_ms: u32) -> Parameters {
        Parameters { fields: 1, records: 1, delay_ms }
    }

    #[test]
    fn requests_are_served_in_order_of_arrival() {
        let pool = AgentPool::start(1, 10).unwrap();
        let submit = |delay_ms| pool.submit(delayed(delay_ms)).unwrap();
        let [first, second, third, last] = [30, 20, 0, LONG_MS].map(submit);
        third.recv().unwrap();
        assert!(first.try_recv().is_ok() && second.try_recv().is_ok());
        assert_eq!(last.try_recv(), Err(mpsc::TryRecvError::Empty));
        let figures = pool.figures();
        assert_eq!((figures.busy, figures.depth, figures.depth_max, figures.completed), (1, 0, 3, 3));
    }

    #[test]
    fn a_full_queue_rejects_requests_and_a_closed_pool_ends_them() {
        let pool = AgentPool::start(2, 1).unwrap();
        let submit = || pool.submit(delayed(LONG_MS));
        let accepted = [submit(), submit(), submit()].map(Result::unwrap);
        assert_eq!(submit().unwrap_err(), PoolError::QueueFull);
        let figures = pool.figures();
        assert_eq!((figures.busy, figures.depth, figures.depth_max, figures.rejected), (2, 1, 1, 1));
        pool.close();
        for receiver in accepted {
            assert!(receiver.recv().is_err());
        }
        assert_eq!(submit().unwrap_err(), PoolError::Closed);
    }

    #[test]
    fn without_a_queue_free_agents_accept_requests() {
        let pool = AgentPool::start(1, 0).unwrap();
        for _ in 0..20 {
            assert_eq!(pool.process(delayed(0)), Ok(records::render(1, 1)));
        }
        let figures = pool.figures();
        assert_eq!(
            (figures.busy, figures.depth_max, figures.completed, figures.waits.count()),
            (0, 0, 20, 20)
        );
    }

    #[test]
    fn busy_time_is_at_least_the_delays_and_waits_follow_from_the_order() {
        let pool = AgentPool::start(2, 10).unwrap();
        let receivers = [10_u32; 6].map(|delay_ms| pool.submit(delayed(delay_ms)).unwrap());
        for receiver in receivers {
            receiver.recv().unwrap();
        }
        let figures = pool.figures();
        assert!(figures.busy_time >= Duration::from_millis(60), "{figures:?}");
        // The third to sixth request wait for one or two others of 10 ms, less the time between the submissions.
        assert!(figures.waits.max() > Duration::from_millis(10), "{figures:?}");
        assert_eq!((figures.waits.count(), figures.busy), (6, 0));
    }
}
