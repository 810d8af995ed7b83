//! Simulated programs: 300 classes of a JVM, and the class that a kind is about.

use busyhour_leak::{ClassSize, LeakRounds};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The classes of the background. Their sizes vary independently from round to round, each with its own spread.
const BACKGROUND: usize = 300;

const REQUESTS: u64 = 1_000;

/// The random choices of one simulated program.
pub struct Chance {
    random: Xoshiro256PlusPlus,
    /// A share from 0 to 1 that stays the same during the rounds.
    pub fixed: f64,
    /// A number that the kind accumulates over the rounds.
    pub state: f64,
}

impl Chance {
    /// A number from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.random.random()
    }

    /// A number from -1 to 1, more often near 0.
    pub fn around_zero(&mut self) -> f64 {
        self.uniform() + self.uniform() - 1.0
    }
}

/// A kind of program.
pub struct ClassKind {
    pub name: &'static str,
    /// Rounds, with the one of the warm-up.
    pub rounds: usize,
    /// Instances of the subject after a round; the second value is the number of rounds before it.
    pub subject: fn(&mut Chance, f64) -> f64,
    /// Bounds of the share of searches that report a leak.
    pub leaks: (f64, f64),
    /// The growth of the live bytes per request.
    pub bytes_per_request: f64,
}

/// Bytes of one instance of the subject with its array.
const SUBJECT_BYTES: f64 = 1_080.0;

const fn clean(name: &'static str, rounds: usize, subject: fn(&mut Chance, f64) -> f64) -> ClassKind {
    ClassKind { name, rounds, subject, leaks: (0.0, 0.01), bytes_per_request: 0.0 }
}

/// A program whose suspects only the test of the last half rejects, at 5 %.
const fn rising(name: &'static str, rounds: usize, subject: fn(&mut Chance, f64) -> f64) -> ClassKind {
    ClassKind { leaks: (0.0, 0.05), ..clean(name, rounds, subject) }
}

const fn leak(
    name: &'static str,
    rounds: usize,
    least: f64,
    instances_per_request: f64,
    subject: fn(&mut Chance, f64) -> f64,
) -> ClassKind {
    let bytes_per_request = SUBJECT_BYTES * instances_per_request;
    ClassKind { name, rounds, subject, leaks: (least, 1.0), bytes_per_request }
}

/// A cache whose keys are random: the share of 1,000 keys that were used after this many requests per key.
fn random_keys(chance: &mut Chance, requests_per_key: f64) -> f64 {
    1_000.0 * (1.0 - (-requests_per_key).exp()) + 4.0 * chance.around_zero()
}

/// Threads of a pool that starts one in half of the rounds, up to `most`.
fn pool(chance: &mut Chance, most: f64) -> f64 {
    chance.state = (chance.state + f64::from(u8::from(chance.uniform() < 0.5))).min(most);
    20.0 + chance.state
}

/// All kinds of the study.
pub const CLASS_KINDS: &[ClassKind] = &[
    clean("constant", 10, |_, _| 500.0),
    clean("noise of 10 %", 10, |chance, _| 500.0 + 50.0 * chance.around_zero()),
    clean("noise of 10 %, 20 rounds", 20, |chance, _| 500.0 + 50.0 * chance.around_zero()),
    clean("LRU cache that is full after 2 to 5 rounds", 10, |chance, round| {
        1_000.0 * round.min(2.0 + 3.0 * chance.fixed)
    }),
    clean("LRU cache that is full after 2 to 8 rounds, 20 rounds", 20, |chance, round| {
        1_000.0 * round.min(2.0 + 6.0 * chance.fixed)
    }),
    clean("cache with random keys, full within the rounds", 10, random_keys),
    clean("cache with random keys, two thirds full at the end", 10, |chance, round| {
        random_keys(chance, round / 9.0)
    }),
    clean("classes that are loaded in one of the rounds", 10, |chance, round| {
        if round > 9.0 * chance.fixed { 40.0 } else { 0.0 }
    }),
    clean("soft references, cleared every 4 to 6 rounds", 10, |chance, round| {
        300.0 * ((round + 6.0 * chance.fixed) % (4.0 + 2.0 * chance.fixed)).floor()
    }),
    rising("thread pool that grows by 3", 10, |chance, _| pool(chance, 3.0)),
    clean("thread pool that grows by 3, 20 rounds", 20, |chance, _| pool(chance, 3.0)),
    clean("sawtooth of 3 rounds", 10, |_, round| 500.0 + 100.0 * (round % 3.0)),
    clean("step after half of the rounds", 10, |chance, round| {
        if round < 5.0 { 500.0 } else { 700.0 + chance.around_zero() }
    }),
    rising("step with noise", 10, |chance, round| {
        (if round < 5.0 { 500.0 } else { 700.0 }) + 50.0 * chance.around_zero()
    }),
    leak("leak of 1 per request, 6 rounds", 6, 0.0, 1.0, |_, round| 1_000.0 * round),
    leak("leak of 1 per request, 8 rounds", 8, 0.0, 1.0, |_, round| 1_000.0 * round),
    leak("leak of 1 per request, 10 rounds", 10, 0.95, 1.0, |_, round| 1_000.0 * round),
    leak("leak of 0.02 per request, 10 rounds", 10, 0.95, 0.02, |_, round| 100.0 + 20.0 * round),
    leak("leak of 0.001 per request, 10 rounds", 10, 0.95, 0.001, |_, round| 100.0 + round),
    leak("leak of 0.02 per request, noise of 10, 10 rounds", 10, 0.5, 0.02, |chance, round| {
        100.0 + 20.0 * round + 10.0 * chance.around_zero()
    }),
    leak("leak of 0.02 per request, noise of 20, 10 rounds", 10, 0.0, 0.02, |chance, round| {
        100.0 + 20.0 * round + 20.0 * chance.around_zero()
    }),
    leak("leak of 0.02 per request, noise of 80, 10 rounds", 10, 0.0, 0.02, |chance, round| {
        500.0 + 20.0 * round + 80.0 * chance.around_zero()
    }),
    leak("leak of 0.02 per request, noise of 80, 20 rounds", 20, 0.0, 0.02, |chance, round| {
        500.0 + 20.0 * round + 80.0 * chance.around_zero()
    }),
    leak("leak of 0.02 per request, noise of 80, 30 rounds", 30, 0.8, 0.02, |chance, round| {
        500.0 + 20.0 * round + 80.0 * chance.around_zero()
    }),
    leak("leak of 0.2 per request, noise of 800, 10 rounds", 10, 0.0, 0.2, |chance, round| {
        5_000.0 + 200.0 * round + 800.0 * chance.around_zero()
    }),
    leak("leak of 0.2 per request, noise of 400, 10 rounds", 10, 0.0, 0.2, |chance, round| {
        5_000.0 + 200.0 * round + 400.0 * chance.around_zero()
    }),
    leak("leak of 0.02 per request, noise of 20, 15 rounds", 15, 0.8, 0.02, |chance, round| {
        100.0 + 20.0 * round + 20.0 * chance.around_zero()
    }),
    leak("leak of 0.02 per request, noise of 40, 20 rounds", 20, 0.6, 0.02, |chance, round| {
        100.0 + 20.0 * round + 40.0 * chance.around_zero()
    }),
    leak("leak that is random: one in 50 requests, 10 rounds", 10, 0.8, 0.02, |chance, _| {
        chance.state += (0..1_000).filter(|_| chance.random.random_ratio(1, 50)).count() as f64;
        chance.state
    }),
];

/// The rounds of one simulated program.
pub fn rounds_of(kind: &ClassKind, seed: u64) -> LeakRounds {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let background: Vec<(String, f64, f64)> = (0..BACKGROUND)
        .map(|at| {
            let name = if at % 3 == 0 { format!("shop.Part{at}") } else { format!("java.util.Part{at}") };
            let level = 10.0_f64.powf(4.0 * random.random::<f64>());
            // Two thirds of the classes are constant, as in a measured server.
            let spread = if at % 3 == 2 { 0.02 * random.random::<f64>() * level + 1.0 } else { 0.0 };
            (name, level, spread)
        })
        .collect();
    let fixed = random.random();
    let mut chance = Chance { random, fixed, state: 0.0 };
    let mut rounds = LeakRounds::new();
    for round in 0..kind.rounds {
        let subject = (kind.subject)(&mut chance, round as f64).max(0.0) as u64;
        let mut sizes: Vec<ClassSize<'_>> = background
            .iter()
            .map(|(name, level, spread)| {
                let instances = (level + spread * chance.around_zero()).max(0.0) as u64;
                ClassSize { class: name, module: None, instances, bytes: 32 * instances }
            })
            .collect();
        sizes.push(ClassSize {
            class: "shop.Subject",
            module: None,
            instances: subject,
            bytes: 40 * subject,
        });
        sizes.push(ClassSize { class: "[B", module: None, instances: subject, bytes: 1_040 * subject });
        rounds.push(REQUESTS, sizes).unwrap();
    }
    rounds
}
