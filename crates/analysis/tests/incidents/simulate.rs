//! Simulates systems request by request, with and without faults.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::recorded::Request;

/// Random values with a fixed seed.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn lognormal(&mut self, sigma: f64) -> f64 {
        (sigma * self.normal()).exp()
    }
}

/// The response times of a system.
#[derive(Clone, Copy, PartialEq)]
pub enum Times {
    /// Independent lognormal times; the number is the standard deviation of their logarithms.
    Lognormal(f64),
    /// Independent Pareto times with this tail index.
    Pareto(f64),
    /// A queue of one server with exponential service times and this utilization.
    Queue(f64),
    /// Lognormal times whose level is an autoregression with this correlation from second to second, and this standard
    /// deviation of logarithms.
    Wandering { correlation: f64, deviation: f64 },
}

/// The load on a system.
#[derive(Clone, Copy, PartialEq)]
pub enum Load {
    /// Poisson arrivals.
    Constant,
    /// Poisson arrivals whose rate follows a sine over the run, with this amplitude as a share of the mean rate.
    Diurnal(f64),
    /// Poisson arrivals whose rate rises with the users over a fifth of the run.
    Ramp,
    /// Users that think between requests.
    Closed { users: u32, think_s: f64 },
}

/// The fault in the faulty part of a run, or in the whole run.
#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// Times are multiplied by this factor.
    Slower(f64),
    /// The share of errors differs from the usual share.
    Fails {
        usual: f64,
        fails: f64,
    },
    /// Times of the label with this index are multiplied by this factor.
    LabelSlower(usize, f64),
    /// All requests of the label with this index fail.
    LabelFails(usize),
    /// The fast half of the requests is twenty times slower, which is still faster than the slowest label.
    Masked,
    /// No request ends until the end of the faulty part.
    Pause,
    /// The same number of users sends fewer requests per second, by this factor.
    Fewer(f64),
    /// Times rise to this factor at the end of the run.
    Drift(f64),
    /// A pause in each eighth of the run.
    PeriodicPause,
    /// Times rise to this factor in each eighth of the run.
    SawTooth(f64),
    /// Times begin at this multiple of the usual times and fall to the usual times.
    WarmUp(f64),
    /// Errors in groups of five consecutive requests; this share of all requests fails.
    Clustered(f64),
    /// Independent errors of this share of all requests.
    Errors(f64),
    /// Thirty labels. One of them has half of the requests.
    SmallLabels,
}

/// A kind of run.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub times: Times,
    pub load: Load,
    pub fault: Fault,
    /// The faulty part, in shares of the run; `None` for a run without a fault.
    pub part: Option<(f64, f64)>,
}

/// A simulated run.
pub struct Run {
    pub length_s: f64,
    pub fault_s: (f64, f64),
    pub requests: Vec<Request>,
    pub labels: usize,
    /// Whether the arrivals are recorded as offered.
    pub is_open: bool,
}

/// Mean times of the labels in ms, and their shares.
const MEANS_MS: [f64; 4] = [30.0, 50.0, 80.0, 40.0];
const SHARES: [f64; 4] = [0.5, 0.3, 0.15, 0.05];
const SMALL_LABELS: usize = 30;

/// Number of occurrences of a recurring fault in a run.
const RECURRENCES: f64 = 8.0;

/// The state of a simulation.
struct System {
    kind: Kind,
    random: Random,
    length_s: f64,
    rate_per_s: f64,
    fault_s: (f64, f64),
    free_s: f64,
    levels: Vec<f64>,
    cluster: u32,
}

impl System {
    fn is_faulty(&self, at_s: f64) -> bool {
        (self.fault_s.0..self.fault_s.1).contains(&at_s)
    }

    fn label(&mut self) -> usize {
        let draw = self.random.uniform();
        if self.kind.fault == Fault::SmallLabels {
            return if draw < 0.5 { 0 } else { (self.random.uniform() * SMALL_LABELS as f64) as usize };
        }
        let mut sum = 0.0;
        let at = SHARES.iter().position(|share| {
            sum += share;
            draw < sum
        });
        at.unwrap_or(SHARES.len() - 1)
    }

    /// Returns the factor by which the times of a request are multiplied, and the time at which its service begins.
    fn effect(&self, at_s: f64, label: usize) -> (f64, f64) {
        let is_faulty = self.is_faulty(at_s);
        let part_s = self.length_s / RECURRENCES;
        let phase = at_s % part_s / part_s;
        let factor = match self.kind.fault {
            Fault::Slower(factor) if is_faulty => factor,
            Fault::LabelSlower(only, factor) if is_faulty && label == only => factor,
            Fault::Masked if label == 1 => 10.0,
            Fault::Masked if label == 0 => {
                if is_faulty {
                    2.0
                } else {
                    0.1
                }
            }
            Fault::Drift(factor) => 1.0 + (factor - 1.0) * at_s / self.length_s,
            Fault::SawTooth(factor) => 1.0 + (factor - 1.0) * phase,
            Fault::WarmUp(factor) => 1.0 + (factor - 1.0) * (-at_s / (0.05 * self.length_s)).exp(),
            _ => 1.0,
        };
        let begin_s = match self.kind.fault {
            Fault::Pause if is_faulty => self.fault_s.1,
            Fault::PeriodicPause if phase < 0.1 => at_s + (0.1 - phase) * part_s,
            _ => at_s,
        };
        (factor, begin_s)
    }

    fn success(&mut self, at_s: f64, label: usize) -> bool {
        let share = match self.kind.fault {
            Fault::Fails { usual, fails } => {
                if self.is_faulty(at_s) {
                    fails
                } else {
                    usual
                }
            }
            Fault::LabelFails(only) => {
                if label == only && self.is_faulty(at_s) {
                    1.0
                } else {
                    0.001
                }
            }
            Fault::Errors(share) => share,
            Fault::Clustered(share) => {
                if self.cluster > 0 {
                    self.cluster -= 1;
                    return false;
                }
                if self.random.uniform() < share / 5.0 {
                    self.cluster = 4;
                    return false;
                }
                return true;
            }
            _ => 0.0,
        };
        self.random.uniform() >= share
    }

    fn request(&mut self, at_s: f64, users: u32) -> Request {
        let label = self.label();
        let (factor, begin_s) = self.effect(at_s, label);
        let mean_s = MEANS_MS[label % MEANS_MS.len()] / 1e3 * factor;
        let end_s = match self.kind.times {
            Times::Lognormal(sigma) => begin_s + mean_s * self.random.lognormal(sigma),
            Times::Pareto(index) => begin_s + mean_s * (1.0 - self.random.uniform()).powf(-1.0 / index),
            Times::Wandering { .. } => {
                begin_s + mean_s * self.random.lognormal(0.4) * self.levels[at_s as usize].exp()
            }
            Times::Queue(utilization) => {
                let service_s = self.random.exponential(utilization / self.rate_per_s) * factor;
                self.free_s = self.free_s.max(begin_s) + service_s;
                self.free_s
            }
        };
        let success = self.success(at_s, label);
        Request { intended_s: at_s, start_s: at_s, end_s, label, success, users }
    }

    fn open(&mut self) -> Vec<Request> {
        let mut requests = Vec::new();
        let mut at_s = 0.0;
        loop {
            // A process with twice the rate is thinned.
            at_s += self.random.exponential(0.5 / self.rate_per_s);
            if at_s >= self.length_s {
                return requests;
            }
            let (mut share, mut users) = (1.0, 50);
            match self.kind.load {
                Load::Diurnal(swing) => share += swing * (std::f64::consts::TAU * at_s / self.length_s).sin(),
                Load::Ramp => {
                    share = (at_s / (0.2 * self.length_s)).min(1.0);
                    users = (50.0 * share).ceil() as u32;
                }
                Load::Constant | Load::Closed { .. } => {}
            }
            if let Fault::Fewer(factor) = self.kind.fault
                && self.is_faulty(at_s)
            {
                share /= factor;
            }
            if self.random.uniform() < 0.5 * share {
                let request = self.request(at_s, users);
                requests.push(request);
            }
        }
    }

    fn closed(&mut self, users: u32, think_s: f64) -> Vec<Request> {
        let mut next: Vec<f64> = (0..users).map(|_| self.random.exponential(think_s)).collect();
        let mut requests = Vec::new();
        while let Some((user, &at_s)) = next.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)) {
            if at_s >= self.length_s {
                break;
            }
            let request = self.request(at_s, users);
            next[user] = request.end_s + self.random.exponential(think_s);
            requests.push(request);
        }
        requests
    }
}

/// Simulates a run. Its length and rate depend on the seed.
pub fn simulate(kind: &Kind, seed: u64) -> Run {
    let at = seed as usize;
    let (lengths, rates) = match kind.part {
        None => ([40.0, 120.0, 300.0, 600.0, 1200.0], [15.0, 40.0, 80.0, 120.0]),
        Some(_) => ([240.0, 300.0, 400.0, 600.0, 900.0], [60.0, 100.0, 80.0, 120.0]),
    };
    let (length_s, rate_per_s) = (lengths[at % 5], rates[at / 5 % 4]);
    let mut random = Random::new(seed + 1_000);
    let move_s = (random.uniform() - 0.5) * 0.1 * length_s;
    let fault_s = match kind.part {
        None => (0.0, 0.0),
        Some((from, to)) if to >= 1.0 => (from * length_s, length_s),
        Some((from, to)) => (from * length_s + move_s, to * length_s + move_s),
    };
    let mut levels = Vec::new();
    if let Times::Wandering { correlation, deviation } = kind.times {
        let mut level = 0.0;
        for _ in 0..length_s as usize + 1 {
            level =
                correlation * level + (1.0 - correlation * correlation).sqrt() * deviation * random.normal();
            levels.push(level);
        }
    }
    let mut system =
        System { kind: *kind, random, length_s, rate_per_s, fault_s, free_s: 0.0, levels, cluster: 0 };
    let requests = match kind.load {
        Load::Closed { users, think_s } => system.closed(users, think_s),
        Load::Constant | Load::Diurnal(_) | Load::Ramp => system.open(),
    };
    let labels = if kind.fault == Fault::SmallLabels { SMALL_LABELS } else { SHARES.len() };
    Run { length_s, fault_s, requests, labels, is_open: matches!(kind.load, Load::Diurnal(_)) }
}
