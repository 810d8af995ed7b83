//! A run with one user, for tests of functions.

#![allow(dead_code)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use busyhour_functions::parse;
use busyhour_program::clock::Clock;
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// Wall clock at the start of the run: 2026-11-21 22:13:57.799 UTC.
pub const START_MS: u64 = 1_795_299_237_799;

/// A run with one user.
pub struct World {
    pub user: UserState,
    lines: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub fn new() -> Self {
        Self::with(Symbols::default(), 1)
    }

    /// A world for templates that were compiled with these symbols.
    pub fn with(symbols: Symbols, seed: u64) -> Self {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&lines);
        let log = Box::new(move |level, text: &str| {
            sink.lock().expect("no test panics while it logs").push(format!("{level:?} {text}"));
        });
        let group = GroupShared::new("Group".into(), 1, Vec::new());
        let state_count = symbols.state_count();
        let run = RunShared::new(
            seed,
            Clock::manual(START_MS),
            Arc::new(JmeterProperties::new(HashMap::new())),
            Arc::new(symbols.names),
            vec![group],
            state_count,
            log,
        );
        Self { user: UserState::new(Arc::new(run), None, 0, 2), lines }
    }

    /// Compiles the texts and creates a world for them.
    pub fn compiled(texts: &[&str]) -> (Self, Vec<Template>) {
        Self::seeded(texts, 1)
    }

    pub fn seeded(texts: &[&str], seed: u64) -> (Self, Vec<Template>) {
        let mut symbols = Symbols::default();
        let templates = texts.iter().map(|text| parse(text, &mut symbols).expect(text)).collect();
        (Self::with(symbols, seed), templates)
    }

    /// Evaluates a text that is built during the run.
    pub fn evaluate(&mut self, text: &str) -> String {
        busyhour_functions::evaluate_text(text, &mut self.user)
    }

    pub fn render(&mut self, template: &Template) -> String {
        let mut out = String::new();
        template.render(&mut self.user, &mut out);
        out
    }

    pub fn log(&self) -> Vec<String> {
        self.lines.lock().expect("no test panics while it logs").clone()
    }
}
