//! The agent's side of the protocol, without input or output.
//!
//! A client sends one command per line: `test`, `interval:SECONDS`, `metrics:NAME\tNAME\t…` (values from now on, one line per
//! interval), `metrics-single:…` (one line), `exit`. A line of values has a tab after each value; a value that is not known
//! is empty. In place of a metric that is refused, the line has the reason: JMeter's collector writes it into its file as
//! the message of a failed sample. The original agent returns nothing for an error and stops on `shutdown`, which any client
//! may send; this agent refuses it.

use std::time::Duration;

use super::lines::{LineTooLong, Lines};
use super::measure::CounterDifference;
use super::request::{MetricRejection, PerfMonMetric};
use super::system::SystemCounters;

/// The largest number of metrics of one client.
const METRICS_MAX: usize = 1_000;

/// The interval until the client sets one.
const INTERVAL: Duration = Duration::from_secs(1);

/// The longest interval.
const INTERVAL_MAX: Duration = Duration::from_secs(3_600);

/// An action that the caller of the session must perform.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAction {
    /// Send this text.
    Send(String),
    /// Send one line of values now: [`AgentSession::values_line`].
    SendValues,
    /// Close the connection.
    Close,
    /// Report this to the user once.
    Problem(RejectedAgentRequest),
}

/// A request of a client that is refused or not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RejectedAgentRequest {
    /// A metric is refused.
    #[error("metric `{metric}`: {refusal}")]
    Refused {
        /// The metric.
        metric: String,
        /// The reason.
        #[source]
        refusal: MetricRejection,
    },
    /// A client requests the end of the agent.
    #[error("`shutdown` is refused: stop this agent where it was started")]
    Shutdown,
    /// A client requests values by UDP.
    #[error("`udp-transmitter` is not supported; use TCP")]
    Udp,
    /// A command is unknown.
    #[error("unknown command `{0}`")]
    UnknownCommand(String),
    /// The interval is not a number of seconds.
    #[error("bad interval `{0}`")]
    Interval(String),
    /// There are too many metrics.
    #[error("more than {METRICS_MAX} metrics")]
    TooManyMetrics,
    /// A line is too long.
    #[error(transparent)]
    LineTooLong(#[from] LineTooLong),
}

/// A metric of a client.
#[derive(Debug)]
enum Slot {
    Read(PerfMonMetric, CounterDifference),
    Refused(MetricRejection),
}

/// One client.
#[derive(Debug)]
pub struct AgentSession {
    lines: Lines,
    slots: Vec<Slot>,
    is_started: bool,
    interval: Duration,
}

impl Default for AgentSession {
    fn default() -> Self {
        Self { lines: Lines::default(), slots: Vec::new(), is_started: false, interval: INTERVAL }
    }
}

impl AgentSession {
    /// The interval of values; `None` before the command `metrics`.
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        self.is_started.then_some(self.interval)
    }

    /// Reads bytes of the client; appends the actions that are due to `actions`, in their order.
    ///
    /// `snapshot` is the current state of the system. If values are requested, the first interval starts with it.
    pub fn receive(&mut self, bytes: &[u8], snapshot: &SystemCounters<'_>, actions: &mut Vec<AgentAction>) {
        let mut lines = std::mem::take(&mut self.lines);
        let result = lines.receive(bytes, |line| self.command(line, snapshot, actions));
        self.lines = lines;
        if let Err(error) = result {
            actions.extend([AgentAction::Problem(error.into()), AgentAction::Close]);
        }
    }

    fn command(&mut self, line: &str, snapshot: &SystemCounters<'_>, actions: &mut Vec<AgentAction>) {
        let (command, parameters) = line.split_once(':').unwrap_or((line, ""));
        match command.trim() {
            "test" => actions.push(AgentAction::Send("Yep\n".to_owned())),
            "interval" => match parameters.trim().parse::<u64>() {
                Ok(seconds) => self.interval = Duration::from_secs(seconds.max(1)).min(INTERVAL_MAX),
                Err(_) => {
                    actions.push(AgentAction::Problem(RejectedAgentRequest::Interval(shortened(parameters))))
                }
            },
            "metrics" => {
                self.set_up(parameters, snapshot, actions);
                self.is_started = !self.slots.is_empty();
            }
            "metrics-single" => {
                self.set_up(parameters, snapshot, actions);
                actions.push(AgentAction::SendValues);
            }
            "exit" => actions.push(AgentAction::Close),
            "shutdown" => actions.push(AgentAction::Problem(RejectedAgentRequest::Shutdown)),
            "udp-transmitter" => actions.push(AgentAction::Problem(RejectedAgentRequest::Udp)),
            "" => {}
            other => {
                actions.push(AgentAction::Problem(RejectedAgentRequest::UnknownCommand(shortened(other))))
            }
        }
    }

    fn set_up(&mut self, names: &str, snapshot: &SystemCounters<'_>, actions: &mut Vec<AgentAction>) {
        let names = names.trim_matches([' ', '\t']);
        self.slots.clear();
        for name in names.split('\t').filter(|_| !names.is_empty()) {
            if self.slots.len() == METRICS_MAX {
                actions.push(AgentAction::Problem(RejectedAgentRequest::TooManyMetrics));
                return;
            }
            match name.parse::<PerfMonMetric>() {
                Ok(metric) => {
                    let mut difference = CounterDifference::default();
                    if let Ok(measure) = snapshot.measure(&metric) {
                        difference.next(snapshot.time(), measure);
                    }
                    self.slots.push(Slot::Read(metric, difference));
                }
                Err(refusal) => {
                    let metric = shortened(name);
                    actions.push(AgentAction::Problem(RejectedAgentRequest::Refused {
                        metric,
                        refusal: refusal.clone(),
                    }));
                    self.slots.push(Slot::Refused(refusal));
                }
            }
        }
    }

    /// A line of values. A value that needs an interval, such as a rate, is empty until one has passed.
    #[must_use]
    pub fn values_line(&mut self, snapshot: &SystemCounters<'_>) -> String {
        let mut line = String::new();
        for slot in &mut self.slots {
            match slot {
                Slot::Read(metric, difference) => match snapshot.measure(metric) {
                    Ok(measure) => {
                        if let Some(value) = difference.next(snapshot.time(), measure) {
                            line.push_str(&format!("{value:?}"));
                        }
                    }
                    Err(error) => push_reason(&mut line, &error),
                },
                Slot::Refused(refusal) => push_reason(&mut line, refusal),
            }
            line.push('\t');
        }
        line.push('\n');
        line
    }
}

/// Appends a reason without characters that separate values.
fn push_reason(line: &mut String, reason: &(impl std::fmt::Display + ?Sized)) {
    line.push_str(&reason.to_string().replace(['\t', '\n', '\r'], " "));
}

/// The beginning of a text from a client, for messages.
fn shortened(text: &str) -> String {
    text.trim().chars().filter(|character| !character.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests;
