//! Replications side by side until everything is known well enough.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_queueing::network::QueueingNetwork;

use crate::build::build;
use crate::inference::{Cut, transient};
use crate::measures::Measured;
use crate::random::Streams;
use crate::result::{Ending, Reason, SimulationResult, Unconverged};
use crate::settings::{SimulationError, SimulationSettings, SimulationWatch};
use crate::validity::Validity;
use crate::world::{Halt, World};

/// Events of a replication before batches begin: their time is the length of the first.
const FIRST_BATCH: u64 = 64;
/// Events of the first round, of all replications together; an eighth of them is over before percentiles begin.
const FIRST_ROUND: u64 = 400_000;
/// Events between two checks for a stop request.
const SLICE: u64 = 1 << 16;
/// A round makes all at most this many times as long, and at the least so much longer.
const GROWTH_MAX: f64 = 4.0;
const GROWTH_MIN: f64 = 1.3;
/// Slightly more than the width of the intervals requires, because otherwise the last step would often not suffice.
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

/// As [`simulate`], with a progress that can also request the end.
///
/// # Errors
/// As [`simulate`].
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
            let world = build(network, Streams::new(settings.seed, number))?;
            Ok(Replication { world, events: 0, transient_batches: 0 })
        })
        .collect::<Result<_, SimulationError>>()?;
    let count = u64::from(settings.replications);
    let each_max = settings.events_max.div_ceil(count);
    let mut target = (FIRST_ROUND / count).max(8_000).min(each_max);
    let mut rounds = Rounds { network, settings, watch };
    let validity = Validity::of(network);
    rounds.run(&mut replications, target / 8);
    for replication in &mut replications {
        replication.world.tally.clear_histograms(replication.world.now_s);
    }
    loop {
        rounds.run(&mut replications, target);
        if let Some(error) = halted(network, &replications) {
            return Err(error);
        }
        let flooded = replications.iter().any(|one| one.world.halt == Some(Halt::Flood));
        let unsettled = find_transients(network, &mut replications);
        let measured = Measured {
            network,
            cuts: replications.iter().map(Replication::cut).collect(),
            confidence: settings.confidence,
            validity: &validity,
        };
        let mut unconverged = measured.unconverged(settings.precision, &unsettled);
        let is_pending = |one: &&Unconverged| is_pending(one, settings.precision);
        let ending = if watch.is_stopped() {
            Some(Ending::Stopped)
        } else if flooded {
            Some(Ending::Flooded)
        } else if !unconverged.iter().any(|one| is_pending(&one)) {
            Some(Ending::Precise)
        } else if target >= each_max {
            Some(Ending::EventsMax)
        } else {
            None
        };
        if let Some(ending) = ending {
            // The width of an invalid interval is not reported.
            unconverged.iter_mut().filter(|one| one.reason.is_of_laws()).for_each(|one| one.relative = None);
            return Ok(rounds.result(&measured, &replications, ending, unconverged));
        }
        let growth = growth(unconverged.iter().filter(is_pending), settings.precision);
        target = ((target as f64 * growth) as u64).min(each_max);
        for replication in &mut replications {
            replication.forget_transient_responses();
        }
    }
}

/// Determines the start-up of each replication, and the numbers of customers that have not settled in at least half
/// of the replications: stations first, then classes.
///
/// Each replication is truncated at the mean end of the start-up of the others, so that the truncation does not
/// depend on its own values. Otherwise it would remove early peaks selectively, and the means would be too low.
fn find_transients(network: &QueueingNetwork, replications: &mut [Replication]) -> Vec<bool> {
    let (stations, classes) = (network.stations.len(), network.classes.len());
    let mut unsettled = vec![0; stations + classes];
    let mut ends_s = Vec::with_capacity(replications.len());
    for replication in replications.iter() {
        let tally = &replication.world.tally;
        let found = transient(tally, stations, classes);
        ends_s.push(found.cut as f64 * tally.length_s());
        unsettled.iter_mut().zip(found.unsettled).for_each(|(count, one)| *count += usize::from(one));
    }
    let (all_s, others) = (ends_s.iter().sum::<f64>(), replications.len() - 1);
    for (replication, own_s) in replications.iter_mut().zip(ends_s) {
        let end_s = if others == 0 { own_s } else { (all_s - own_s) / others as f64 };
        let tally = &replication.world.tally;
        let batches = if end_s > 0.0 { (end_s / tally.length_s()).ceil() as usize } else { 0 };
        replication.transient_batches = batches.min(tally.count() / 2);
    }
    unsettled.into_iter().map(|count| 2 * count >= replications.len()).collect()
}

/// Whether more events are needed. Measures that have no valid interval are simulated for as long as if they had one, so that
/// their values are not worse than others; a mean that is infinite is not waited for.
fn is_pending(one: &Unconverged, precision: f64) -> bool {
    match one.reason {
        Reason::Wide | Reason::TooLittle | Reason::NotSteady => true,
        Reason::InfiniteVariance | Reason::LongMemory => {
            one.relative.is_none_or(|relative| relative > precision)
        }
        Reason::InfiniteMean => false,
    }
}

/// How many times as long the simulation should be: widths shrink with the root of the length.
fn growth<'u>(pending: impl Iterator<Item = &'u Unconverged>, precision: f64) -> f64 {
    let wanted = |one: &Unconverged| match (one.reason, one.relative) {
        (Reason::NotSteady | Reason::TooLittle, _) | (_, None) => GROWTH_MAX,
        (_, Some(relative)) => (relative / precision).powi(2) * GROWTH_RESERVE,
    };
    pending.map(wanted).fold(GROWTH_MIN, f64::max).min(GROWTH_MAX)
}

fn halted(network: &QueueingNetwork, replications: &[Replication]) -> Option<SimulationError> {
    replications.iter().find_map(|one| {
        let at_s = one.world.now_s;
        match one.world.halt? {
            Halt::Deadlock => Some(SimulationError::Deadlock {
                at_s,
                stations: one
                    .world
                    .deadlocked()
                    .into_iter()
                    .map(|station| network.stations[station].name.clone())
                    .collect(),
            }),
            Halt::Standstill => Some(SimulationError::Standstill { at_s }),
            Halt::Flood => None,
        }
    })
}

/// One replication and how far it is.
#[derive(Debug)]
struct Replication {
    world: World,
    events: u64,
    /// Batches at its beginning that are left out.
    transient_batches: usize,
}

impl Replication {
    fn run_until(&mut self, target: u64, watch: &SimulationWatch) {
        while self.events < target && self.world.halt.is_none() && !watch.is_stopped() {
            let begun = self.world.tally.length_s() > 0.0;
            let slice = if begun { SLICE } else { FIRST_BATCH };
            let done = self.world.run(slice.min(target - self.events));
            self.events += done;
            watch.add(done);
            if !begun {
                let now_s = self.world.now_s;
                self.world.tally.begin_batches(now_s);
            }
        }
    }

    fn cut(&self) -> Cut<'_> {
        Cut { tally: &self.world.tally, from: self.transient_batches }
    }

    fn transient_s(&self) -> f64 {
        self.transient_batches as f64 * self.world.tally.length_s()
    }

    /// Percentiles are cleared if they contain responses from the start-up.
    fn forget_transient_responses(&mut self) {
        if self.transient_s() > self.world.tally.histograms_from_s() {
            let now_s = self.world.now_s;
            self.world.tally.clear_histograms(now_s);
        }
    }
}

struct Rounds<'s> {
    network: &'s QueueingNetwork,
    settings: &'s SimulationSettings,
    watch: &'s SimulationWatch,
}

impl Rounds<'_> {
    /// Every replication until it has seen so many events, on as many threads as there may be. Which thread runs which
    /// replication makes no difference.
    fn run(&mut self, replications: &mut [Replication], target: u64) {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = self.settings.threads.unwrap_or_else(cores).clamp(1, replications.len());
        if threads == 1 {
            replications.iter_mut().for_each(|one| one.run_until(target, self.watch));
            return;
        }
        let next = AtomicUsize::new(0);
        let slots: Vec<Mutex<&mut Replication>> = replications.iter_mut().map(Mutex::new).collect();
        let work = || {
            while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
                // Each slot is taken once, so the lock is always free; a thread that panicked ends the scope.
                if let Ok(mut one) = slot.lock() {
                    one.run_until(target, self.watch);
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
        measured: &Measured<'_>,
        replications: &[Replication],
        ending: Ending,
        unconverged: Vec<Unconverged>,
    ) -> SimulationResult {
        SimulationResult {
            classes: (0..self.network.classes.len()).map(|class| measured.class(class)).collect(),
            stations: (0..self.network.stations.len()).map(|station| measured.station(station)).collect(),
            events: replications.iter().map(|one| one.events).sum(),
            replications: self.settings.replications,
            seed: self.settings.seed,
            simulated_s: replications.iter().map(|one| one.world.now_s).sum(),
            transient_s: replications.iter().map(Replication::transient_s).sum(),
            confidence: self.settings.confidence,
            precision: self.settings.precision,
            ending,
            unconverged,
        }
    }
}
