//! The metrics of a broker.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use busyhour_server::exposition::{
    ExpositionFamily, ExpositionSample, ExpositionType, ExpositionValue, write_exposition,
};

use super::histogram::Histogram;
use super::options::BrokerOptions;
use super::pool::PoolFigures;
use super::reply::Reply;

/// Counts of the work of the front end.
#[derive(Clone, Debug, Default)]
struct FrontFigures {
    /// Number of responses by their code.
    responses: BTreeMap<u16, u64>,
    durations: Histogram,
    body_bytes: u64,
    connections: usize,
    connections_rejected: u64,
    processes: usize,
    processes_max: usize,
    processes_started: u64,
    processes_rejected: u64,
}

/// The figures of the front end.
#[derive(Debug)]
pub(super) struct FrontMetrics {
    figures: Mutex<FrontFigures>,
    started: Duration,
}

impl FrontMetrics {
    pub(super) fn new() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { figures: Mutex::default(), started }
    }

    fn lock(&self) -> MutexGuard<'_, FrontFigures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request whose response is ready. `duration` is the time since the request was read.
    pub(super) fn count_response(&self, reply: &Reply, duration: Duration) {
        let mut figures = self.lock();
        *figures.responses.entry(reply.status).or_default() += 1;
        figures.durations.record(duration);
        figures.body_bytes += reply.body.len() as u64;
    }

    /// Counts a new connection; returns whether there are at most `most`.
    pub(super) fn open_connection(&self, most: usize) -> bool {
        let mut figures = self.lock();
        let is_open = figures.connections < most;
        if is_open {
            figures.connections += 1;
        } else {
            figures.connections_rejected += 1;
        }
        is_open
    }

    pub(super) fn close_connection(&self) {
        self.lock().connections -= 1;
    }

    /// Counts a new process; returns whether there are at most `most`.
    pub(super) fn begin_process(&self, most: usize) -> bool {
        let mut figures = self.lock();
        let can_start = figures.processes < most;
        if can_start {
            figures.processes += 1;
            figures.processes_max = figures.processes_max.max(figures.processes);
            figures.processes_started += 1;
        } else {
            figures.processes_rejected += 1;
        }
        can_start
    }

    pub(super) fn end_process(&self) {
        self.lock().processes -= 1;
    }

    /// Writes all metrics in Prometheus's text format.
    pub(super) fn page(&self, options: &BrokerOptions, pool: &PoolFigures) -> String {
        let front = self.lock().clone();
        let mut families = pool_families(options, pool);
        families.extend(front_families(options, pool, &front));
        families.push(gauge(
            "process_start_time_seconds",
            "Start of the broker, in seconds since 1970.",
            self.started.as_secs_f64(),
        ));
        let codes: Vec<(String, u64)> =
            front.responses.iter().map(|(code, count)| (code.to_string(), *count)).collect();
        families.push(ExpositionFamily {
            name: "busyhour_broker_requests_total",
            family_type: ExpositionType::Counter,
            help: "Requests for records by the code of their response.",
            samples: codes.iter().map(|(code, count)| sample(vec![("code", code)], *count as f64)).collect(),
        });
        let mut out = String::new();
        write_exposition(&families, &mut out);
        out
    }
}

fn pool_families(options: &BrokerOptions, pool: &PoolFigures) -> Vec<ExpositionFamily<'static>> {
    vec![
        ExpositionFamily {
            name: "busyhour_broker_info",
            family_type: ExpositionType::Gauge,
            help: "The front end of the broker.",
            samples: vec![sample(vec![("front", options.front.name())], 1.0)],
        },
        gauge("busyhour_broker_agents", "Number of agents.", options.agents.get() as f64),
        gauge("busyhour_broker_agents_busy", "Number of agents that work on a request.", pool.busy as f64),
        counter(
            "busyhour_broker_agent_busy_seconds_total",
            "Time for which agents worked, in total.",
            pool.busy_time.as_secs_f64(),
        ),
        counter(
            "busyhour_broker_agent_requests_total",
            "Requests that agents completed.",
            pool.completed as f64,
        ),
        gauge("busyhour_broker_queue_limit", "Maximum number of requests that wait.", options.queue as f64),
        gauge("busyhour_broker_queue_depth", "Number of requests that wait for an agent.", pool.depth as f64),
        gauge(
            "busyhour_broker_queue_depth_max",
            "Largest number of requests that waited for an agent since the start.",
            pool.depth_max as f64,
        ),
        histogram(
            "busyhour_broker_queue_wait_seconds",
            "Time from the arrival of a request at the queue to the begin of its agent.",
            &pool.waits,
        ),
        gauge(
            "busyhour_broker_queue_wait_seconds_max",
            "Longest wait of a request that an agent began, since the start.",
            pool.waits.max().as_secs_f64(),
        ),
    ]
}

fn front_families(
    options: &BrokerOptions,
    pool: &PoolFigures,
    front: &FrontFigures,
) -> Vec<ExpositionFamily<'static>> {
    let rejected = [
        ("queue_full", pool.rejected),
        ("connections", front.connections_rejected),
        ("processes", front.processes_rejected),
    ];
    let mut families = vec![
        histogram(
            "busyhour_broker_request_duration_seconds",
            "Time from the receipt of a request for records to its complete response.",
            &front.durations,
        ),
        gauge(
            "busyhour_broker_request_duration_seconds_max",
            "Longest time from the receipt of a request for records to its complete response.",
            front.durations.max().as_secs_f64(),
        ),
        counter(
            "busyhour_broker_response_body_bytes_total",
            "Bytes of the bodies of responses to requests for records, after compression.",
            front.body_bytes as f64,
        ),
        ExpositionFamily {
            name: "busyhour_broker_rejected_total",
            family_type: ExpositionType::Counter,
            help: "Rejected requests and connections by the reason: the queue, or the number of connections or processes.",
            samples: rejected.map(|(reason, count)| sample(vec![("reason", reason)], count as f64)).to_vec(),
        },
        gauge("busyhour_broker_connections", "Number of open connections.", front.connections as f64),
    ];
    if options.front.has_processes() {
        families.extend([
            gauge("busyhour_broker_processes", "Number of processes of requests.", front.processes as f64),
            gauge(
                "busyhour_broker_processes_max",
                "Largest number of processes of requests since the start.",
                front.processes_max as f64,
            ),
            counter(
                "busyhour_broker_processes_started_total",
                "Processes that were started for requests.",
                front.processes_started as f64,
            ),
        ]);
    }
    families
}

fn sample<'l>(labels: Vec<(&'l str, &'l str)>, value: f64) -> ExpositionSample<'l> {
    ExpositionSample { labels, value: value.into(), stamp_ms: None }
}

fn gauge(name: &'static str, help: &'static str, value: f64) -> ExpositionFamily<'static> {
    let samples = vec![sample(Vec::new(), value)];
    ExpositionFamily { name, family_type: ExpositionType::Gauge, help, samples }
}

fn counter(name: &'static str, help: &'static str, value: f64) -> ExpositionFamily<'static> {
    ExpositionFamily { family_type: ExpositionType::Counter, ..gauge(name, help, value) }
}

fn histogram(name: &'static str, help: &'static str, times: &Histogram) -> ExpositionFamily<'static> {
    let value = ExpositionValue::Histogram {
        buckets: times.buckets(),
        sum: times.sum().as_secs_f64(),
        count: times.count(),
    };
    let samples = vec![ExpositionSample { labels: Vec::new(), value, stamp_ms: None }];
    ExpositionFamily { name, family_type: ExpositionType::Histogram, help, samples }
}
