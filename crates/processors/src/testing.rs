//! Users for tests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use busyhour_program::clock::Clock;
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::symbols::Symbols;
use busyhour_program::user::UserState;

/// A user of group 0 with the given symbols and number. Log lines are appended to `log`.
pub(crate) fn user_logging(symbols: &Symbols, number: u32, log: Arc<Mutex<Vec<String>>>) -> UserState {
    let group = GroupShared::new("Thread Group".into(), 1, Vec::new());
    let run = RunShared::new(
        1,
        Clock::manual(1_700_000_000_000),
        Arc::new(JmeterProperties::new(HashMap::new())),
        Arc::new(symbols.names.clone()),
        vec![group],
        symbols.state_count(),
        Box::new(move |_, line| log.lock().expect("no panic while logging").push(line.to_owned())),
    );
    UserState::new(Arc::new(run), None, 0, number)
}

/// A user with the given symbols.
pub(crate) fn user(symbols: &Symbols) -> UserState {
    user_logging(symbols, 0, Arc::default())
}

/// A user whose last sample received the given body.
pub(crate) fn user_with_body(body: &str) -> UserState {
    let mut user = user(&Symbols::default());
    user.has_result = true;
    user.result.body = body.as_bytes().to_vec();
    user
}

/// All variables, sorted by name.
pub(crate) fn all_variables(user: &UserState) -> String {
    let mut all: Vec<(&str, &str)> =
        user.variables.iter().map(|(name, value)| (name, value.unwrap_or("object"))).collect();
    all.sort_unstable();
    all.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}
