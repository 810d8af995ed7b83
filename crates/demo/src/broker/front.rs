//! Decides what a request gets.

use std::io;
use std::time::Instant;

use busyhour_server::exposition::CONTENT_TYPE;

use super::cgi::CgiRequest;
use super::metrics::FrontMetrics;
use super::options::{BrokerFront, BrokerOptions, BrokerProgram, PROCESSES_MAX};
use super::parameters::Parameters;
use super::pool::AgentPool;
use super::process;
use super::reply::{Reply, accepts_gzip};

/// The path of requests for records.
const BENCHMARK: &str = "/benchmark";

/// The path of a response of 4,096 bytes that needs no agent, for comparison.
const STATIC: &str = "/static";
const STATIC_LINE: &str = "static response\n";
const STATIC_LINES: usize = 256;

const PATHS: &str = "/benchmark?numFields=10&numRecords=10&msdelay=0\n/static\n/metrics\n";

/// A broker without its listening socket.
#[derive(Debug)]
pub(super) struct Broker {
    pub(super) options: BrokerOptions,
    pub(super) pool: AgentPool,
    pub(super) metrics: FrontMetrics,
}

impl Broker {
    /// Starts the agents.
    pub(super) fn start(options: BrokerOptions) -> io::Result<Self> {
        let pool = AgentPool::start(options.agents.get(), options.queue)?;
        Ok(Self { options, pool, metrics: FrontMetrics::new() })
    }

    /// Answers a GET request. `accept_encoding` is the value of this header.
    pub(super) fn answer(&self, target: &str, accept_encoding: &str) -> Reply {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            BENCHMARK => {
                let begin = Instant::now();
                let reply = self.records(query, accept_encoding);
                self.metrics.count_response(&reply, begin.elapsed());
                reply
            }
            "/metrics" => {
                let body = self.metrics.page(&self.options, &self.pool.figures()).into_bytes();
                Reply { content_type: CONTENT_TYPE.to_owned(), body, ..Reply::text(200, "") }
            }
            STATIC => Reply::text(200, STATIC_LINE.repeat(STATIC_LINES)),
            "/" => Reply::text(200, PATHS),
            _ => Reply::text(404, format!("not found; the paths are\n{PATHS}")),
        }
    }

    /// Answers a request for records.
    fn records(&self, query: &str, accept_encoding: &str) -> Reply {
        match &self.options.front {
            BrokerFront::Threads => match Parameters::parse(query) {
                Ok(parameters) => {
                    Reply::of_agent(self.pool.process(parameters), accepts_gzip(accept_encoding))
                }
                Err(error) => Reply::of_parameters(&error),
            },
            BrokerFront::Processes(program) => self.records_by_process(program, query, accept_encoding),
        }
    }

    fn records_by_process(&self, program: &BrokerProgram, query: &str, accept_encoding: &str) -> Reply {
        if !self.metrics.begin_process(PROCESSES_MAX) {
            return Reply::text(503, format!("{PROCESSES_MAX} requests have a process already\n"));
        }
        let request = CgiRequest { query: query.to_owned(), accept_encoding: accept_encoding.to_owned() };
        let reply = process::answer(program, &request, |parameters| self.pool.process(parameters));
        self.metrics.end_process();
        reply
            .unwrap_or_else(|error| Reply::text(500, format!("the process of the request failed: {error}\n")))
    }
}
