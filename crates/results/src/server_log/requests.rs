//! Reads the requests that a run sent.

use busyhour_record::{RunDir, SamplesReader};
use busyhour_sample::{LabelId, Sample, SampleFlags};
use busyhour_serverlog::{SentRequest, target_key, text_key};
use rustc_hash::FxHashMap;

use super::files::{COMPARED_MAX, ServerLogError};
use crate::error::ReadRunError;

/// The requests of a run.
pub(super) struct RunRequests {
    /// Start of the run in ns since 1970.
    pub(super) origin_ns: i64,
    /// The requests, in order of their start after [`Self::sort`].
    pub(super) sent: Vec<SentRequest>,
    /// Intended start of each request in ns since 1970, in the same order.
    pub(super) intended_ns: Vec<i64>,
    servers: Vec<String>,
    labels: FxHashMap<u32, String>,
}

impl RunRequests {
    pub(super) fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.sent.len()).collect();
        order.sort_by_key(|at| (self.sent[*at].start_ns, *at));
        self.sent = order.iter().map(|at| self.sent[*at]).collect();
        self.intended_ns = order.iter().map(|at| self.intended_ns[*at]).collect();
    }

    /// Start of the first request and end of the last one in ns since 1970.
    pub(super) fn span_ns(&self) -> (i64, i64) {
        let first = self.sent.iter().map(|request| request.start_ns).min().unwrap_or(0);
        let last = self.sent.iter().map(|request| request.end_ns).max().unwrap_or(0);
        (first, last)
    }

    pub(super) fn server(&self, number: u32) -> String {
        self.servers.get(number as usize).cloned().unwrap_or_default()
    }

    pub(super) fn label(&self, number: u32) -> String {
        self.labels.get(&number).cloned().unwrap_or_default()
    }
}

/// The requests that were sent over the network: samples without sub-results, and those sub-results that have none themselves.
pub(super) fn read_requests(
    dir: &RunDir,
    window_s: Option<(f64, f64)>,
    id_variable: Option<&str>,
) -> Result<RunRequests, ServerLogError> {
    let reader = SamplesReader::open(&dir.samples_path()).map_err(ReadRunError::Samples)?;
    let origin_ns = reader.names().wall_anchor_ms.saturating_mul(1_000_000);
    let names = &reader.names().names;
    let id_at = match id_variable {
        None => None,
        Some(name) => Some(names.variables.iter().position(|known| known == name).ok_or_else(|| {
            let known =
                if names.variables.is_empty() { "none".to_owned() } else { names.variables.join(", ") };
            ServerLogError::NoVariable { name: name.to_owned(), known }
        })?),
    };
    let mut collected = Collected { origin_ns, window_s, id_at, ..Collected::default() };
    let (_, _, labels) =
        reader.read(|core, sample| collected.add(core, sample)).map_err(ReadRunError::Samples)?;
    if collected.is_too_many {
        return Err(ServerLogError::TooMany { what: "requests in the run" });
    }
    let mut run = RunRequests {
        origin_ns,
        sent: Vec::new(),
        intended_ns: Vec::new(),
        servers: collected.servers,
        labels: FxHashMap::default(),
    };
    for (request, intended_ns) in collected.requests.into_iter().flatten() {
        run.labels.entry(request.label).or_insert_with(|| labels.name(LabelId(request.label)).to_string());
        run.sent.push(request);
        run.intended_ns.push(intended_ns);
    }
    Ok(run)
}

#[derive(Default)]
struct Collected {
    origin_ns: i64,
    window_s: Option<(f64, f64)>,
    id_at: Option<usize>,
    /// Requests with their intended starts; `None` for those that turned out to consist of others.
    requests: Vec<Option<(SentRequest, i64)>>,
    /// The request of the latest sample of each core, and whether a sub-result may follow that is a part of it.
    latest: FxHashMap<usize, Latest>,
    servers: Vec<String>,
    server_numbers: FxHashMap<String, u32>,
    is_too_many: bool,
}

#[derive(Clone, Copy)]
struct Latest {
    at: Option<usize>,
    is_sub_result: bool,
    start_ns: u64,
    end_ns: u64,
}

impl Collected {
    fn add(&mut self, core: usize, sample: &Sample<'_>) {
        if sample.flags.contains(SampleFlags::TRANSACTION) {
            return;
        }
        let is_sub_result = sample.flags.contains(SampleFlags::SUB_RESULT);
        let (start_ns, end_ns) = (sample.times.start.0, sample.times.end.0);
        if is_sub_result && let Some(latest) = self.latest.get(&core) {
            // The first part of a result begins with it.
            let is_whole = !latest.is_sub_result || (latest.start_ns == start_ns && latest.end_ns >= end_ns);
            if is_whole && let Some(at) = latest.at {
                self.requests[at] = None;
            }
        }
        let at = self.request(sample);
        self.latest.insert(core, Latest { at, is_sub_result, start_ns, end_ns });
    }

    fn request(&mut self, sample: &Sample<'_>) -> Option<usize> {
        let rest = sample.url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?.1;
        let start_s = sample.times.start.0 as f64 / 1e9;
        if self.window_s.is_some_and(|(from_s, to_s)| !(from_s..to_s).contains(&start_s)) {
            return None;
        }
        if self.requests.len() >= COMPARED_MAX {
            self.is_too_many = true;
            return None;
        }
        let server = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        let server = match self.server_numbers.get(server) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.servers.len()).unwrap_or(u32::MAX);
                self.servers.push(server.to_owned());
                self.server_numbers.insert(server.to_owned(), number);
                number
            }
        };
        let (target, path) = target_key(sample.url);
        let instant = |ns: u64| self.origin_ns.saturating_add_unsigned(ns);
        let id = self.id_at.and_then(|at| sample.variables.get(at)).filter(|id| !id.is_empty());
        let request = SentRequest {
            start_ns: instant(sample.times.start.0),
            end_ns: instant(sample.times.end.0),
            target,
            path,
            status: sample.outcome.code.parse().unwrap_or(0),
            server,
            label: sample.label.0,
            id: id.map_or(0, |id| text_key(id)),
        };
        self.requests.push(Some((request, instant(sample.times.intended.0))));
        Some(self.requests.len() - 1)
    }
}
