//! What one run of a script knows of its virtual user, and what it wants changed.
//!
//! The engine's functions outlive any borrow of a [`Scope`], so that a script runs on a copy: what it may ask for is
//! fetched before, what it changes is applied after. A name that nobody foresaw ends the run; it is fetched, and the
//! script starts anew, as if nothing had happened.

use std::collections::HashMap;

use crate::{Level, SampleFacts, Scope};

/// Something that a script does to its surroundings.
#[derive(Debug)]
enum Effect {
    Set(String, String),
    Remove(String),
    SetProperty(String, String),
    Log(Level, String),
}

/// The facts of a sample result, in the order of the prelude.
#[derive(Debug, Clone)]
pub(super) enum Fact {
    Text(String),
    Number(f64),
    Truth(bool),
}

#[derive(Debug, Default)]
pub(super) struct Session {
    variables: HashMap<String, Option<String>>,
    properties: HashMap<String, Option<String>>,
    /// Names that were asked for in vain: variables, properties.
    missing: (Vec<String>, Vec<String>),
    effects: Vec<Effect>,
    pub(super) facts: Vec<Fact>,
    pub(super) thread_name: String,
    pub(super) thread_number: u32,
    pub(super) now_ms: i64,
    random: u64,
    /// Calls of the interrupt handler that are left.
    pub(super) budget: u32,
}

impl Session {
    /// A session that knows the names.
    pub(super) fn new(
        scope: &mut dyn Scope,
        names: &[Box<str>],
        draws_random: bool,
        asks_sample: bool,
    ) -> Session {
        let mut session = Session {
            thread_name: scope.thread_name(),
            thread_number: scope.thread_number(),
            now_ms: scope.wall_clock_ms(),
            ..Session::default()
        };
        if draws_random {
            session.random = scope.random_bits();
        }
        if asks_sample && let Some(sample) = scope.sample() {
            session.facts = facts_of(sample, &session.thread_name);
        }
        for name in names {
            session.variables.insert(name.to_string(), scope.get(name));
            session.properties.insert(name.to_string(), scope.property(name));
        }
        session
    }

    /// What is to be fetched before the script can run; empty when it has run.
    pub(super) fn fetch_missing(&mut self, scope: &dyn Scope) -> bool {
        let (variables, properties) = std::mem::take(&mut self.missing);
        let any = !variables.is_empty() || !properties.is_empty();
        if any {
            // What the script had changed is not to be seen by its second start.
            for effect in std::mem::take(&mut self.effects) {
                match effect {
                    Effect::Set(name, _) | Effect::Remove(name) => {
                        self.variables.insert(name.clone(), scope.get(&name));
                    }
                    Effect::SetProperty(name, _) => {
                        self.properties.insert(name.clone(), scope.property(&name));
                    }
                    Effect::Log(..) => {}
                }
            }
            for name in variables {
                let value = scope.get(&name);
                self.variables.insert(name, value);
            }
            for name in properties {
                let value = scope.property(&name);
                self.properties.insert(name, value);
            }
        }
        any
    }

    /// Does what the script wanted done.
    pub(super) fn apply(self, scope: &mut dyn Scope) {
        for effect in self.effects {
            match effect {
                Effect::Set(name, value) => scope.set(&name, &value),
                Effect::Remove(name) => scope.remove(&name),
                Effect::SetProperty(name, value) => scope.set_property(&name, &value),
                Effect::Log(level, message) => scope.log(level, &message),
            }
        }
    }

    /// The variable; `Err` when it must be fetched first.
    pub(super) fn get(&mut self, name: String) -> Result<Option<String>, ()> {
        match self.variables.get(&name) {
            Some(value) => Ok(value.clone()),
            None => {
                self.missing.0.push(name);
                Err(())
            }
        }
    }

    pub(super) fn property(&mut self, name: String) -> Result<Option<String>, ()> {
        match self.properties.get(&name) {
            Some(value) => Ok(value.clone()),
            None => {
                self.missing.1.push(name);
                Err(())
            }
        }
    }

    pub(super) fn put(&mut self, name: String, value: Option<String>) {
        self.variables.insert(name.clone(), value.clone());
        self.effects.push(match value {
            Some(value) => Effect::Set(name, value),
            None => Effect::Remove(name),
        });
    }

    pub(super) fn set_property(&mut self, name: String, value: String) {
        self.properties.insert(name.clone(), Some(value.clone()));
        self.effects.push(Effect::SetProperty(name, value));
    }

    pub(super) fn log(&mut self, level: u32, message: String) {
        let levels = [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error];
        self.effects.push(Effect::Log(levels.get(level as usize).copied().unwrap_or(Level::Info), message));
    }

    pub(super) fn random_state(&self) -> u64 {
        self.random
    }

    /// Random numbers of a run that starts anew are those of the first start.
    pub(super) fn restore_random(&mut self, state: u64) {
        self.random = state;
    }

    /// A number in [0, 1); SplitMix64, started from the virtual user's stream.
    pub(super) fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn facts_of(sample: &dyn SampleFacts, thread_name: &str) -> Vec<Fact> {
    let number = |value: i64| Fact::Number(value as f64);
    vec![
        Fact::Text(sample.label()),
        Fact::Text(sample.response_code()),
        Fact::Text(sample.response_message()),
        Fact::Text(sample.response_data_as_string()),
        Fact::Text(sample.response_headers()),
        Fact::Text(sample.url()),
        Fact::Text(thread_name.to_owned()),
        number(sample.elapsed_ms()),
        number(sample.latency_ms()),
        number(sample.connect_ms()),
        number(sample.start_time_ms()),
        number(sample.end_time_ms()),
        number(sample.received_bytes()),
        Fact::Truth(sample.is_successful()),
    ]
}
