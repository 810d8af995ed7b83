//! A simulated observation.

use busyhour_detection::{Detector, HarmKind, SuspectId, UsageReading, Use, Victim};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::others::{Neighbour, Shape, machine};
use crate::system::{System, SystemKind};

/// The first number of a neighbour; harmless processes have smaller ones.
const NEIGHBOURS: u64 = 1_000_000;

/// The start of a neighbour is moved by up to this time.
pub(crate) const MOVED_MAX_S: f64 = 120.0;

/// The simulated machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) system: SystemKind,
    /// Harmless processes: of several kinds, and steady ones.
    pub(crate) processes: (usize, usize),
    pub(crate) length_s: u32,
    pub(crate) shape: Option<Shape>,
    /// The number of neighbours, and their starts.
    pub(crate) neighbours: u32,
    pub(crate) start_s: f64,
    /// Additional wait of a request that meets the neighbour, in s.
    pub(crate) harm_s: f64,
    /// CPU time of the neighbour in cores.
    pub(crate) cores: f64,
}

/// The findings of the detector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// Harmless processes that were named.
    pub(crate) wrong: u32,
    /// When the first neighbour was named, in s after its start.
    pub(crate) after_s: Option<f64>,
}

/// Simulates an observation.
pub(crate) fn observe(scene: &Scene, seed: u64) -> Found {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut system = System::new(scene.system, scene.harm_s);
    let mut others = machine(&mut rng, scene.processes);
    // Otherwise all neighbours would start with a job of cron.
    let start_s =
        scene.start_s + if scene.start_s > MOVED_MAX_S { rng.random_range(0.0..MOVED_MAX_S) } else { 0.0 };
    let mut neighbours: Vec<Neighbour> = scene
        .shape
        .iter()
        .flat_map(|shape| {
            (0..scene.neighbours).map(|number| Neighbour::new(*shape, start_s + 20.0 * f64::from(number)))
        })
        .collect();
    let noise = LogNormal::new(0.0, 0.1).unwrap();
    let mut detector = Detector::default();
    let mut found = Found::default();
    let mut uses = Vec::new();
    for second in 0..scene.length_s {
        let at_s = f64::from(second);
        let activities: Vec<f64> =
            neighbours.iter_mut().map(|neighbour| neighbour.activity(&mut rng, at_s)).collect();
        let harm = activities.iter().sum::<f64>();
        let now = system.second(&mut rng, at_s, harm);
        uses.clear();
        for (number, other) in others.iter_mut().enumerate() {
            let cores = other.cores(&mut rng, at_s, now.rate);
            if cores > 0.002 {
                uses.push(Use { id: SuspectId(number as u64), cores });
            }
        }
        for (number, activity) in activities.iter().enumerate().filter(|(_, activity)| **activity > 0.0) {
            let cores = scene.cores * activity * noise.sample(&mut rng);
            uses.push(Use { id: SuspectId(NEIGHBOURS + number as u64), cores });
        }
        let mut harm = [None; HarmKind::COUNT];
        harm[0] = Some(now.wait);
        let victim = Victim { cores: Some(now.cores), is_at_own_limit: now.is_at_own_limit, harm };
        if let Some(detection) = detector.add(&UsageReading { at_s, victim, uses: &uses }) {
            if detection.suspect.0 >= NEIGHBOURS {
                found.after_s.get_or_insert(at_s - start_s);
            } else {
                found.wrong += 1;
            }
        }
    }
    found
}
