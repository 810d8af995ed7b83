//! Runs replications in parallel until all measures have the requested precision.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_queueing::network::QueueingNetwork;

use crate::build::build;
use crate::inference::{TruncatedTally, find_transient};
use crate::measures::Measurements;
use crate::random::Streams;
use crate::result::{Ending, Reason, SimulationResult, Unconverged};
use crate::settings::{SimulationError, SimulationSettings, SimulationWatch};
use crate::simulator::{Halt, Simulator};
use crate::validity::Validity;

/// Number of events of the first batch of a replication. The simulated time of these events becomes the length of all batches.
const FIRST_BATCH: u64 = 64;
/// Number of events of the first round, over all replications. Percentiles exclude the first eighth of them.
const FIRST_ROUND: u64 = 400_000;
/// Number of events between two checks for a stop request.
const SLICE: u64 = 1 << 16;
/// Maximum and minimum factor by which a round extends the simulation.
const GROWTH_MAX: f64 = 4.0;
const GROWTH_MIN: f64 = 1.3;
/// Safety factor on the extension that the interval widths require. Without it, the last round would often be too short.
const GROWTH_RESERVE: f64 = 1.15;

/// Simulates a network until every measure has the requested precision or the maximum number of events is reached.
/// The result depends only on the network and the settings, not on the number of threads.
///
/// # Errors
/// The network or the settings are invalid, or the network deadlocks.
pub fn simulate(
    network: &QueueingNetwork,
    settings: &SimulationSettings,
) -> Result<SimulationResult, SimulationError> {
    simulate_watched(network, settings, &SimulationWatch::default())
}

/// Like [`simulate`], with a watch that reports progress and can request the end of the simulation.
///
/// # Errors
/// As for [`simulate`].
pub fn simulate_watched(
    network: &QueueingNetwork,
    settings: &SimulationSettings,
    watch: &SimulationWatch,
) -> Result<SimulationResult, SimulationError> {
    settings.check()?;
    let findings = network.validate();
    if !findings.is_empty() {
        return Err(SimulationError::Network(findings));
    }
    let mut replications: Vec<Replication> = (0..settings.replications)
        .map(|number| {
            let simulator = build(network, Streams::new(settings.seed, number))?;
            Ok(Replication { simulator, events: 0, transient_batches: 0 })
        })
        .collect::<Result<_, SimulationError>>()?;
    let count = u64::from(settings.replications);
    let each_max = settings.events_max.div_ceil(count);
    let mut target = (FIRST_ROUND / count).max(8_000).min(each_max);
    let mut rounds = Rounds { network, settings, watch };
    let validity = Validity::new(network);
    rounds.run(&mut replications, target / 8);
    for replication in &mut replications {
        replication.simulator.tally.clear_histograms(replication.simulator.now_s);
    }
    loop {
        rounds.run(&mut replications, target);
        if let Some(error) = halted(network, &replications) {
            return Err(error);
        }
        let has_too_many_customers =
            replications.iter().any(|replication| replication.simulator.halt == Some(Halt::TooManyCustomers));
        let unsettled = find_transients(network, &mut replications);
        let measurements = Measurements {
            network,
            replications: replications.iter().map(Replication::truncated).collect(),
            confidence: settings.confidence,
            validity: &validity,
        };
        let mut unconverged = measurements.unconverged(settings.precision, &unsettled);
        let is_pending = |measure: &&Unconverged| is_pending(measure, settings.precision);
        let ending = if watch.is_stopped() {
            Some(Ending::Stopped)
        } else if has_too_many_customers {
            Some(Ending::TooManyCustomers)
        } else if !unconverged.iter().any(|measure| is_pending(&measure)) {
            Some(Ending::Precise)
        } else if target >= each_max {
            Some(Ending::EventsMax)
        } else {
            None
        };
        if let Some(ending) = ending {
            // The width of an invalid interval is not reported to the user.
            unconverged
                .iter_mut()
                .filter(|measure| measure.reason.is_caused_by_laws())
                .for_each(|measure| measure.relative = None);
            return Ok(rounds.result(&measurements, &replications, ending, unconverged));
        }
        let growth = growth(unconverged.iter().filter(is_pending), settings.precision);
        target = ((target as f64 * growth) as u64).min(each_max);
        for replication in &mut replications {
            replication.clear_transient_responses();
        }
    }
}

/// Determines the start-up of each replication. For each station, and then for each class, returns whether the number of
/// customers has not become steady in at least half of the replications.
///
/// Each replication is truncated at the mean end of the start-up of the other replications, so that the truncation does not
/// depend on its own values. Otherwise it would selectively remove early peaks, and the means would be too low.
fn find_transients(network: &QueueingNetwork, replications: &mut [Replication]) -> Vec<bool> {
    let (stations, classes) = (network.stations.len(), network.classes.len());
    let mut unsettled = vec![0; stations + classes];
    let mut ends_s = Vec::with_capacity(replications.len());
    for replication in replications.iter() {
        let tally = &replication.simulator.tally;
        let transient = find_transient(tally, stations, classes);
        ends_s.push(transient.batches as f64 * tally.length_s());
        unsettled
            .iter_mut()
            .zip(transient.unsettled)
            .for_each(|(count, is_unsettled)| *count += usize::from(is_unsettled));
    }
    let (sum_s, others) = (ends_s.iter().sum::<f64>(), replications.len() - 1);
    for (replication, own_s) in replications.iter_mut().zip(ends_s) {
        let end_s = if others == 0 { own_s } else { (sum_s - own_s) / others as f64 };
        let tally = &replication.simulator.tally;
        let batches = if end_s > 0.0 { (end_s / tally.length_s()).ceil() as usize } else { 0 };
        replication.transient_batches = batches.min(tally.count() / 2);
    }
    unsettled.into_iter().map(|count| 2 * count >= replications.len()).collect()
}

/// Whether more events are needed for a measure. Heavy tails can make the interval invalid. It still must have the requested
/// width, so that the value is based on as many events as the values of other measures. If the mean is infinite, more events do
/// not help.
fn is_pending(measure: &Unconverged, precision: f64) -> bool {
    match measure.reason {
        Reason::Wide | Reason::TooLittle | Reason::NotSteady => true,
        Reason::InfiniteVariance | Reason::LongMemory => {
            measure.relative.is_none_or(|relative| relative > precision)
        }
        Reason::InfiniteMean => false,
    }
}

/// The factor by which the simulation should be extended. The width of an interval is inversely proportional to the square root
/// of the simulated time.
fn growth<'u>(pending: impl Iterator<Item = &'u Unconverged>, precision: f64) -> f64 {
    let factor = |measure: &Unconverged| match (measure.reason, measure.relative) {
        (Reason::NotSteady | Reason::TooLittle, _) | (_, None) => GROWTH_MAX,
        (_, Some(relative)) => (relative / precision).powi(2) * GROWTH_RESERVE,
    };
    pending.map(factor).fold(GROWTH_MIN, f64::max).min(GROWTH_MAX)
}

fn halted(network: &QueueingNetwork, replications: &[Replication]) -> Option<SimulationError> {
    replications.iter().find_map(|replication| {
        let at_s = replication.simulator.now_s;
        match replication.simulator.halt? {
            Halt::Deadlock => Some(SimulationError::Deadlock {
                at_s,
                stations: replication
                    .simulator
                    .deadlocked()
                    .into_iter()
                    .map(|station| network.stations[station].name.clone())
                    .collect(),
            }),
            Halt::Standstill => Some(SimulationError::Standstill { at_s }),
            Halt::TooManyCustomers => None,
        }
    })
}

/// A replication and its progress.
#[derive(Debug)]
struct Replication {
    simulator: Simulator,
    events: u64,
    /// Number of batches of the start-up, which are excluded from the results.
    transient_batches: usize,
}

impl Replication {
    fn run_until(&mut self, target: u64, watch: &SimulationWatch) {
        while self.events < target && self.simulator.halt.is_none() && !watch.is_stopped() {
            let has_batches = self.simulator.tally.length_s() > 0.0;
            let slice = if has_batches { SLICE } else { FIRST_BATCH };
            let done = self.simulator.run(slice.min(target - self.events));
            self.events += done;
            watch.add(done);
            if !has_batches {
                let now_s = self.simulator.now_s;
                self.simulator.tally.begin_batches(now_s);
            }
        }
    }

    fn truncated(&self) -> TruncatedTally<'_> {
        TruncatedTally { tally: &self.simulator.tally, first_batch: self.transient_batches }
    }

    fn transient_s(&self) -> f64 {
        self.transient_batches as f64 * self.simulator.tally.length_s()
    }

    /// Clears the histograms if they contain response times of the start-up.
    fn clear_transient_responses(&mut self) {
        if self.transient_s() > self.simulator.tally.histograms_from_s() {
            let now_s = self.simulator.now_s;
            self.simulator.tally.clear_histograms(now_s);
        }
    }
}

struct Rounds<'s> {
    network: &'s QueueingNetwork,
    settings: &'s SimulationSettings,
    watch: &'s SimulationWatch,
}

impl Rounds<'_> {
    /// Runs every replication, on several threads, until it has processed `target` events. The assignment of replications to
    /// threads does not affect the result.
    fn run(&mut self, replications: &mut [Replication], target: u64) {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = self.settings.threads.unwrap_or_else(cores).clamp(1, replications.len());
        if threads == 1 {
            replications.iter_mut().for_each(|replication| replication.run_until(target, self.watch));
            return;
        }
        let next = AtomicUsize::new(0);
        let slots: Vec<Mutex<&mut Replication>> = replications.iter_mut().map(Mutex::new).collect();
        let work = || {
            while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
                // Each slot is locked only once, so the lock never blocks. If a thread panics, the scope panics, too.
                if let Ok(mut replication) = slot.lock() {
                    replication.run_until(target, self.watch);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }

    fn result(
        &self,
        measurements: &Measurements<'_>,
        replications: &[Replication],
        ending: Ending,
        unconverged: Vec<Unconverged>,
    ) -> SimulationResult {
        SimulationResult {
            classes: (0..self.network.classes.len()).map(|class| measurements.class(class)).collect(),
            stations: (0..self.network.stations.len()).map(|station| measurements.station(station)).collect(),
            events: replications.iter().map(|replication| replication.events).sum(),
            replications: self.settings.replications,
            seed: self.settings.seed,
            simulated_s: replications.iter().map(|replication| replication.simulator.now_s).sum(),
            transient_s: replications.iter().map(Replication::transient_s).sum(),
            confidence: self.settings.confidence,
            precision: self.settings.precision,
            ending,
            unconverged,
        }
    }
}
