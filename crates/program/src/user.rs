//! The state of one virtual user that elements and functions access.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use busyhour_sample::Nanos;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

pub use crate::logical_action::LogicalAction;
use crate::result::SampleResult;
use crate::run::{LogLevel, RunShared};
pub use crate::thrown::Thrown;
use crate::variables::Variables;

/// Index of an element's private state in each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub u32);

/// The bit that marks a stream number as that of an arrival.
const OF_ARRIVAL: u64 = 1 << 63;

/// The services of a core for the elements of its users.
pub trait CoreAccess {
    /// Number of the core, from 0.
    fn index(&self) -> u32;

    /// Sleeps until `deadline`, or until the run is stopped.
    fn sleep_until(&self, deadline: Nanos) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

/// One virtual user, as elements, functions and scripts access it.
pub struct UserState {
    /// Its variables.
    pub variables: Variables,
    /// The data that all users of the run share.
    pub run: Arc<RunShared>,
    /// The core that runs this user; `None` while initial values are computed before the run.
    pub core: Option<Rc<dyn CoreAccess>>,
    /// Index of the thread group in the program.
    pub group: u32,
    /// Number of the user within its group, from 0 (`${__threadNum}` is one more).
    pub number: u32,
    /// Iterations of the thread group started so far.
    pub iteration: u32,
    /// Its random number generator.
    pub random: Xoshiro256PlusPlus,
    /// The result of the current sample; between samples, that of the last one.
    pub result: SampleResult,
    /// Whether there is a previous sample.
    pub has_result: bool,
    /// The internal variable in which JMeter's sampler has stored the name of the user's thread, if the protocol has sent a
    /// request for which it does so. Only the Debug Sampler shows it.
    pub token_variable: Option<&'static str>,
    /// The next step of the user.
    pub action: LogicalAction,
    /// Whether the user continues (JMeter's `running`).
    pub running: bool,
    /// Whether a processor failed on the current sample, see [`UserState::abandon_sample`].
    pub sample_abandoned: bool,
    /// When the group's schedule ends this user.
    pub end_time: Option<Nanos>,
    /// Sleep time requested by scripts, in nanoseconds. Scripts continue as if this time had passed already; the user waits
    /// for it before the next step.
    pub requested_sleep_ns: u64,
    /// When a Sample Timeout interrupts the current sample, for samplers that check it themselves.
    pub interrupt_at: Option<Nanos>,
    /// Name of the current sampler (for `__samplerName` and logs).
    pub sampler_name: String,
    /// The exception that a function in the request has thrown and for which JMeter fails the sample.
    pub thrown: Option<Box<Thrown>>,
    /// The current sampler in the form that its protocol provides to the scripts around it, until the end of the sample;
    /// `None` if no script needs it.
    pub request: Option<Box<dyn Any>>,
    /// The part of the protocol's session that scripts access between samples.
    pub script_session: Option<Box<dyn Any>>,
    /// The number of its random stream: its own, or that of the arrival that it serves.
    stream: u64,
    states: Box<[Option<Box<dyn Any>>]>,
    scratch: Vec<String>,
}

impl UserState {
    /// A user about to start. `number` is its number within the group from 0.
    pub fn new(run: Arc<RunShared>, core: Option<Rc<dyn CoreAccess>>, group: u32, number: u32) -> Self {
        let variables = run.initial_variables(group);
        let random =
            Xoshiro256PlusPlus::seed_from_u64(stream_key(run.seed, u64::from(group), u64::from(number), 0));
        let states = (0..run.state_count).map(|_| None).collect();
        Self {
            variables,
            run,
            core,
            group,
            number,
            iteration: 0,
            random,
            result: SampleResult::default(),
            has_result: false,
            token_variable: None,
            action: LogicalAction::Continue,
            running: true,
            sample_abandoned: false,
            end_time: None,
            requested_sleep_ns: 0,
            interrupt_at: None,
            sampler_name: String::new(),
            thrown: None,
            request: None,
            script_session: None,
            stream: u64::from(number),
            states,
            scratch: Vec::new(),
        }
    }

    /// Skips the rest of the current sample after a processor failed for which JMeter throws an exception. A sampler that
    /// has not started is skipped; a finished result is not passed to assertions, listeners or transactions.
    pub fn abandon_sample(&mut self, why: &str) {
        self.sample_abandoned = true;
        let line = format!("Error while processing sampler: '{}': {why}", self.sampler_name);
        self.log(LogLevel::Error, &line);
    }

    /// Starts an iteration: counts it and seeds the random stream with (seed, group, user, iteration), so that its random
    /// choices do not depend on the previous iteration.
    pub fn begin_iteration(&mut self) {
        self.iteration += 1;
        // The iteration in which a user serves an arrival depends on timing, so it must not affect the stream.
        let iteration = if self.stream & OF_ARRIVAL == 0 { self.iteration } else { 1 };
        let key = stream_key(self.run.seed, u64::from(self.group), self.stream, u64::from(iteration));
        self.random = Xoshiro256PlusPlus::seed_from_u64(key);
    }

    /// The random stream of a parallel branch in the current pass.
    pub fn branch_stream(&mut self, branch: u32) -> Xoshiro256PlusPlus {
        use rand::Rng as _;
        let pass: u64 = self.random.random();
        Xoshiro256PlusPlus::seed_from_u64(pass ^ u64::from(branch).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Sets the arrival that the next iteration serves; its number seeds the random choices.
    pub fn serve_arrival(&mut self, arrival: u64) {
        self.stream = OF_ARRIVAL | arrival;
    }

    /// Starts a session of an open workload: the user is reset to a new one, with the random stream of the arrival. The
    /// stream does not depend on the user that serves the arrival.
    pub fn begin_session(&mut self, arrival: u64) {
        self.run.reset_variables(self.group, &mut self.variables);
        self.states.fill_with(|| None);
        self.result.reset();
        self.has_result = false;
        self.action = LogicalAction::Continue;
        self.running = true;
        self.sampler_name.clear();
        self.request = None;
        self.script_session = None;
        self.iteration = 0;
        self.stream = arrival;
        let key = stream_key(self.run.seed, u64::from(self.group), arrival, 0);
        self.random = Xoshiro256PlusPlus::seed_from_u64(key);
    }

    /// An element's private state in this user, created at first use.
    ///
    /// # Panics
    /// If the same id is used with two types, which cannot happen because the compiler assigns an id to each element.
    pub fn state<T: Any>(&mut self, id: StateId, init: impl FnOnce() -> T) -> &mut T {
        let place = &mut self.states[id.0 as usize];
        place.get_or_insert_with(|| Box::new(init())).downcast_mut().expect("one type per state id")
    }

    /// An element's private state if it exists.
    pub fn existing_state<T: Any>(&mut self, id: StateId) -> Option<&mut T> {
        self.states[id.0 as usize].as_mut()?.downcast_mut()
    }

    /// An empty buffer to render into; return it with [`Self::give_back`].
    pub fn take_buffer(&mut self) -> String {
        self.scratch.pop().unwrap_or_default()
    }

    /// Returns a buffer for the next use.
    pub fn give_back(&mut self, mut buffer: String) {
        if self.scratch.len() < 4 && buffer.capacity() <= 4096 {
            buffer.clear();
            self.scratch.push(buffer);
        }
    }

    /// Appends JMeter's thread name: group name, group number, thread number from 1.
    pub fn thread_name(&self, out: &mut String) {
        use std::fmt::Write as _;
        let group = &self.run.groups[self.group as usize];
        let _ = write!(out, "{} {}-{}", group.thread_prefix, group.number, self.number + 1);
    }

    /// Writes a line to the run's log.
    pub fn log(&self, level: crate::run::LogLevel, message: &str) {
        self.run.log(level, message);
    }

    /// Time since the run's start.
    pub fn now(&self) -> Nanos {
        self.run.clock.now()
    }
}

/// Key of a random stream: the finaliser of SplitMix64, applied to the parts one after another (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
pub fn stream_key(seed: u64, group: u64, user: u64, iteration: u64) -> u64 {
    let mut key = seed;
    for part in [group, user, iteration] {
        key = key.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(part.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        key = (key ^ (key >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        key = (key ^ (key >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        key ^= key >> 31;
    }
    key
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::Rng as _;

    use super::*;
    use crate::clock::Clock;
    use crate::testing::{SEED, lone_user, run_with_stopped_clock, shared_with};
    use crate::variables::Names;

    #[test]
    fn streams_have_different_keys() {
        let mut keys = HashSet::new();
        for seed in [0, 1, SEED] {
            for group in 0..5 {
                for user in 0..50 {
                    for iteration in 0..20 {
                        assert!(keys.insert(stream_key(seed, group, user, iteration)));
                    }
                }
            }
        }
        // Neighbouring keys differ in about half of their bits: 32 ± 4 on average.
        let flips: u32 =
            (0..1000).map(|n| (stream_key(1, 0, n, 0) ^ stream_key(1, 0, n + 1, 0)).count_ones()).sum();
        assert!((30_000..34_000).contains(&flips), "{flips}");
    }

    #[test]
    fn an_iteration_does_not_depend_on_the_random_choices_of_the_previous_one() {
        let shared = run_with_stopped_clock(&Clock::manual(0));
        let drawn_in_third = |before: usize| {
            let mut user = lone_user(&shared, 3);
            for _ in 0..3 {
                user.begin_iteration();
                for _ in 0..before {
                    let _: u64 = user.random.random();
                }
            }
            user.begin_iteration();
            user.random.random::<u64>()
        };
        assert_eq!(drawn_in_third(0), drawn_in_third(17));
    }

    #[test]
    fn thread_names_and_element_states() {
        let (shared, _) = shared_with(Clock::manual(0), 1, 2, Names::default(), 2);
        let mut user = UserState::new(shared, None, 1, 4);
        let mut name = String::new();
        user.thread_name(&mut name);
        assert_eq!(name, "group 2 2-5");
        assert_eq!(user.existing_state::<u8>(StateId(1)), None);
        *user.state(StateId(1), || 1_u8) += 1;
        assert_eq!(user.existing_state(StateId(1)), Some(&mut 2_u8));
        assert_eq!(user.existing_state::<u8>(StateId(0)), None);
    }
}
