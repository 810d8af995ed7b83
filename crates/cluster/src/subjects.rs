//! The subjects of messages. The permissions of users refer to them, see [`crate::hub`].

/// Asks all agents to describe themselves.
pub(crate) const CALL: &str = "bh.call";

/// Requests to one agent that works for no run.
pub(crate) fn agent(id: &str) -> String {
    format!("bh.agent.{id}")
}

/// Orders to one agent of a run.
pub(crate) fn down(run: &str, agent: &str) -> String {
    format!("bh.run.{run}.down.{agent}")
}

/// Orders to all agents of a run, without answers.
pub(crate) fn down_all(run: &str) -> String {
    format!("bh.run.{run}.down.all")
}

/// Reports of one agent of a run.
pub(crate) fn up(run: &str, agent: &str) -> String {
    format!("bh.run.{run}.up.{agent}")
}

/// Reports of all agents of a run.
pub(crate) fn up_all(run: &str) -> String {
    format!("bh.run.{run}.up.*")
}

/// Requests for the files of a run.
pub(crate) fn files(run: &str) -> String {
    format!("bh.run.{run}.files")
}

/// A text that can be one token of a subject: letters, digits, `-` and `_`.
pub(crate) fn token(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let token: String = text.chars().map(safe).take(60).collect();
    if token.is_empty() { "x".to_owned() } else { token }
}

/// A random token.
pub(crate) fn random_token() -> String {
    format!("{:012x}", rand::random::<u64>() & 0xffff_ffff_ffff)
}
