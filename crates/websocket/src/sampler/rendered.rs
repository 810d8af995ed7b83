//! The rendered settings of one sample, with the plugin's checks.

use std::time::Duration;

use busyhour_java::{parse_boolean, parse_int};
use busyhour_program::ElementError;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::connection::Address;
use crate::filter::Prepared;
use crate::settings::{Action, Data, WebSocketSampler};

/// The data that a sample sends.
pub(super) struct Sent {
    pub(super) binary: bool,
    /// The characters in the text that represent a zero byte, if there are any.
    pub(super) zero: Option<&'static str>,
    pub(super) text: String,
    pub(super) file: Option<String>,
}

/// The action of a sample, rendered.
pub(super) enum SampleAction {
    Open,
    RequestResponse(Sent),
    Read { data_type: String, optional: bool },
    Write(Sent),
    PingPong(String),
    Close(String),
}

/// The rendered settings of one sample.
pub(super) struct SampleSettings {
    pub(super) action: SampleAction,
    /// The address for a new connection; `None`: the user's connection is used.
    pub(super) address: Option<Address>,
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Option<Duration>,
    /// The read timeout in milliseconds; 0: none.
    pub(super) read_timeout_ms: i32,
    pub(super) filters: Result<Vec<Prepared>, ElementError>,
}

fn render_data(data: &Data, user: &mut UserState) -> Sent {
    let kind = data.kind.text(user).into_owned();
    Sent {
        binary: if kind.is_empty() { parse_boolean(&data.binary.text(user)) } else { kind == "Binary" },
        // STOMP terminates its frames with a zero byte, which plans write as `^@`.
        zero: (kind == "TextStomp").then_some("^@"),
        text: data.text.text(user).into_owned(),
        file: parse_boolean(&data.from_file.text(user)).then(|| data.file.text(user).into_owned()),
    }
}

/// Parses a number of milliseconds within bounds; returns the plugin's error message otherwise.
fn parse_timeout(kind: &str, text: &str, least: i32, most: i32) -> Result<i32, ElementError> {
    match parse_int(text) {
        None => Err(format!("{kind} timeout '{text}' is not a number.").into()),
        Some(ms) if ms < least || ms > most => {
            Err(format!("{kind} timeout '{ms}' is not valid; should between {least} and {most}").into())
        }
        Some(ms) => Ok(ms),
    }
}

fn parse_port(text: &str) -> Result<u16, ElementError> {
    let Some(number) = parse_int(text) else {
        return Err(format!("Port number '{text}' is not a number.").into());
    };
    let valid = u16::try_from(number).ok().filter(|port| *port > 0);
    valid.ok_or_else(|| format!("Port number '{text}' is not valid.").into())
}

impl SampleSettings {
    /// Renders and checks the settings. The error is the plugin's message, or `None` if the plugin throws an exception.
    pub(super) fn new(
        sampler: &WebSocketSampler,
        user: &mut UserState,
    ) -> Result<Self, Option<ElementError>> {
        let mut trimmed = |template: &Template| template.text(user).trim().to_owned();
        let (connect, read) = (trimmed(&sampler.connect_timeout), trimmed(&sampler.read_timeout));
        let connects = match sampler.action {
            Action::Open => true,
            Action::PingPong(_) | Action::Close(_) => false,
            _ => parse_boolean(&sampler.fresh.text(user)),
        };
        let target = &sampler.target;
        let mut address = None;
        if connects {
            let port = parse_port(target.port.text(user).trim()).map_err(Some)?;
            parse_timeout("Connection", &connect, 1, 999_999).map_err(Some)?;
            let secure = parse_boolean(&target.secure.text(user));
            let path = target.path.text(user).into_owned();
            address = Some(Address::new(secure, &target.server.text(user), port, &path));
        }
        if !matches!(sampler.action, Action::Write(_)) {
            parse_timeout("Read", &read, 0, 9_999_999).map_err(Some)?;
        }
        // A timeout that was not checked above may be invalid.
        let (Some(read_timeout_ms), Some(connect_ms)) = (parse_int(&read), parse_int(&connect)) else {
            return Err(None);
        };
        let action = match &sampler.action {
            Action::Open => SampleAction::Open,
            Action::RequestResponse(data) => SampleAction::RequestResponse(render_data(data, user)),
            Action::Write(data) => SampleAction::Write(render_data(data, user)),
            Action::Read { data_type, binary, optional } => {
                let named = data_type.text(user).into_owned();
                let old = if parse_boolean(&binary.text(user)) { "Binary" } else { "Text" };
                let data_type = if named.is_empty() { old.to_owned() } else { named };
                SampleAction::Read { data_type, optional: parse_boolean(&optional.text(user)) }
            }
            Action::PingPong(kind) => SampleAction::PingPong(kind.text(user).into_owned()),
            Action::Close(status) => SampleAction::Close(status.text(user).into_owned()),
        };
        let filters = sampler.filters.iter().map(|filter| filter.prepare(user)).collect();
        Ok(Self {
            action,
            address,
            connect_timeout: Duration::from_millis(u64::try_from(connect_ms).unwrap_or(0)),
            read_timeout: to_duration(read_timeout_ms),
            read_timeout_ms,
            filters,
        })
    }
}

/// Converts one of the plugin's timeouts in milliseconds; 0 means no timeout.
pub(super) fn to_duration(ms: i32) -> Option<Duration> {
    u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_settings_are_reported_with_the_plugins_messages() {
        assert_eq!(parse_timeout("Read", "0", 0, 9), Ok(0));
        assert_eq!(
            parse_timeout("Connection", "0", 1, 9).unwrap_err().message(),
            "Connection timeout '0' is not valid; should between 1 and 9"
        );
        assert_eq!(
            parse_timeout("Read", "", 0, 9).unwrap_err().message(),
            "Read timeout '' is not a number."
        );
        assert_eq!(parse_port("443"), Ok(443));
        assert_eq!(parse_port("0").unwrap_err().message(), "Port number '0' is not valid.");
        assert_eq!(parse_port("70000").unwrap_err().message(), "Port number '70000' is not valid.");
        assert_eq!(parse_port("x").unwrap_err().message(), "Port number 'x' is not a number.");
    }
}
