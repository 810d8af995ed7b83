//! Runs a WebSocket sampler, in the same steps as the plugin.

mod exchange;
mod rendered;

use std::any::Any;

use busyhour_http::HttpSession;
use busyhour_http::origin::Origin;
use busyhour_program::result::SampleResult;
use busyhour_program::user::UserState;
use busyhour_sample::DataType;
use busyhour_samplers::{OtherSampler, SampleRequest, SamplerSession, Sampling};
use rand::Rng as _;
use rendered::{SampleAction, SampleSettings};

use crate::connection::{Address, Connection, SampleFailure, State};
use crate::frame::{Frame, Kind};
use crate::settings::WebSocketSampler;

/// The connection of a user, if it has one.
#[derive(Default)]
struct Socket(Option<Connection>);

impl SamplerSession for Socket {
    /// A new user never reuses the connection of the previous one.
    fn begin_arrival(&mut self, _keep_connections: bool) {
        self.0 = None;
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl OtherSampler for WebSocketSampler {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        Box::pin(self.run(request))
    }
}

impl WebSocketSampler {
    async fn run(&self, request: SampleRequest<'_>) {
        let SampleRequest { user, session, label, intended, .. } = request;
        let prepared = SampleSettings::new(self, user);
        let headers = self.headers(user);
        user.begin_result(label, intended);
        user.result.outcome.success = false;
        let settings = match prepared {
            Ok(settings) => settings,
            Err(None) => {
                // The plugin throws an exception here, and JMeter does not record a sample.
                user.result.marks.ignore = true;
                user.result.outcome.success = true;
                return;
            }
            Err(Some(why)) => {
                user.result.times.end = user.result.times.start;
                user.result.outcome.code.push_str("Sampler error");
                user.result.outcome.message = format!("Sampler error: {why}");
                return;
            }
        };
        let existing = session.others.session_of::<Socket>().0.take();
        let Some(mut socket) = self.select_connection(&settings, existing, user) else {
            user.result.times.end = user.result.times.start;
            return;
        };
        let outcome = self.execute(&settings, &mut socket, headers, &mut session.http, user).await;
        if user.result.times.end.0 == 0 {
            user.result.times.end = user.now();
        }
        if let Err(failure) = outcome {
            write_failure(&mut user.result, failure, &settings.action);
        }
        session.others.session_of::<Socket>().0 = match socket {
            Connecting::Open { connection, new } if new || connection.state == State::Connected => {
                Some(connection)
            }
            _ => None,
        };
    }

    /// Selects the connection to use or to open. If there is none, records this in the result and returns `None`.
    fn select_connection(
        &self,
        settings: &SampleSettings,
        existing: Option<Connection>,
        user: &mut UserState,
    ) -> Option<Connecting> {
        if let Some(address) = &settings.address {
            return Some(Connecting::To(address.clone()));
        }
        if let Some(connection) = existing {
            return Some(Connecting::Open { connection, new: false });
        }
        let result = &mut user.result;
        match settings.action {
            SampleAction::Close(_) => {
                result.request_data.push_str("No request sent.");
                result.outcome.message.push_str("No connection; nothing to close.");
            }
            SampleAction::PingPong(_) => {
                result.outcome.code.push_str("Sampler error");
                result
                    .outcome
                    .message
                    .push_str("Sampler must use existing connection, but there is no connection");
            }
            _ => {
                result.outcome.code.push_str("Sampler error");
                result
                    .outcome
                    .message
                    .push_str("Sampler configured for using existing connection, but there is no connection");
            }
        }
        None
    }

    async fn execute(
        &self,
        settings: &SampleSettings,
        socket: &mut Connecting,
        headers: Vec<(String, String)>,
        http: &mut HttpSession,
        user: &mut UserState,
    ) -> Result<(), SampleFailure> {
        let mut response_headers = None;
        match socket {
            Connecting::To(address) => {
                let headers = self.with_cookies(headers, address, http, user);
                let lines: Vec<String> =
                    headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                user.result.request_headers = lines.join("\n");
                user.result.request_data = format!("Connect URL:\n{}\n", address.url());
                user.result.times.start = user.now();
                let random = user.random.random();
                let timeouts = (settings.connect_timeout, settings.read_timeout);
                let opened = Connection::open(
                    address.clone(),
                    &headers,
                    timeouts,
                    random,
                    &self.shared,
                    &user.run.clock,
                );
                let (connection, upgraded) = opened.await?;
                let result = &mut user.result;
                result.times.connect_ns = user.run.clock.now().since(result.times.start);
                result.sizes.header_bytes = upgraded.response_bytes;
                result.sizes.sent_bytes = upgraded.request_bytes;
                response_headers = Some(upgraded.headers);
                *socket = Connecting::Open { connection, new: true };
            }
            Connecting::Open { connection, .. } => {
                let url = connection.address.url();
                user.result.request_data = format!("Connect URL:\n{url}\n(using existing connection)\n");
                if connection.state != State::Connected {
                    let state = connection.state.name();
                    user.result.request_data = format!("Connect URL:\n{url}\n");
                    return Err(SampleFailure::Thrown(format!(
                        "java.lang.IllegalStateException: Cannot connect when state is {state}"
                    )));
                }
            }
        }
        let Connecting::Open { connection, .. } = socket else { return Ok(()) };
        let response = exchange::perform(self, settings, connection, user).await?;
        user.result.times.end = user.now();
        let result = &mut user.result;
        if let Some(frame) = &response {
            result.sizes.header_bytes += frame.head_bytes();
            result.sizes.body_bytes += frame.payload.len() as u64;
        }
        match response_headers {
            Some(headers) => {
                result.outcome.code = "101".into();
                result.outcome.message = "Switching Protocols".into();
                let lines: Vec<String> =
                    headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                result.response_headers = lines.join("\n");
            }
            None => {
                result.outcome.code = "200".into();
                result.outcome.message = "OK".into();
            }
        }
        write_response(user, response.as_ref(), &settings.action);
        user.result.outcome.success = true;
        Ok(())
    }

    /// The headers of the header manager, without those whose name is blank.
    fn headers(&self, user: &mut UserState) -> Vec<(String, String)> {
        let rendered: Vec<(String, String)> = self
            .headers
            .iter()
            .map(|header| (header.name.text(user).into_owned(), header.value.text(user).into_owned()))
            .filter(|(name, _)| !name.trim().is_empty())
            .collect();
        rendered
    }

    /// Adds the `Cookie` header, and returns the headers in the order of Java's hash map.
    fn with_cookies(
        &self,
        mut headers: Vec<(String, String)>,
        address: &Address,
        http: &mut HttpSession,
        user: &mut UserState,
    ) -> Vec<(String, String)> {
        if let Some(manager) = &self.cookies {
            let origin = Origin::new(address.secure, &address.host, Some(address.port));
            let now_ms = i64::try_from(user.run.clock.wall_ms(user.now())).unwrap_or(i64::MAX);
            let mut value = Vec::new();
            if http.jar(manager, user).write(&origin, &address.path, now_ms, &mut value) {
                headers.push(("Cookie".into(), String::from_utf8_lossy(&value).into_owned()));
            }
        }
        busyhour_java::hash_map(headers)
    }
}

/// The connection of one sample.
enum Connecting {
    /// The connection must be opened.
    To(Address),
    /// The connection is open; `new`: whether this sample opened it.
    Open { connection: Connection, new: bool },
}

/// Fills in the result of a failed sample with the plugin's messages.
fn write_failure(result: &mut SampleResult, failure: SampleFailure, action: &SampleAction) {
    let (code, message) = match failure {
        SampleFailure::Upgrade(status, why) => (status, why),
        SampleFailure::Io(why) => ("Websocket I/O error".into(), format!("WebSocket I/O error: {why}")),
        SampleFailure::TimedOut => {
            ("Websocket I/O error".into(), "WebSocket I/O error: Read timed out".into())
        }
        SampleFailure::Unexpected(frame) if matches!(action, SampleAction::Close(_)) => (
            "WebSocket error: unsuccesful close.".into(),
            format!("WebSocket error: received not a close frame, but {frame}"),
        ),
        SampleFailure::Unexpected(frame) => (
            format!("Sampler error: unexpected frame type ({}).", frame.type_name()),
            format!("Received: {frame}"),
        ),
        SampleFailure::Limited(why) => ("Sampler error".into(), format!("Sampler error: {why}")),
        SampleFailure::Thrown(exception) => ("Sampler error".into(), format!("Sampler error: {exception}")),
        SampleFailure::Unsendable(why) => ("Sampler Error".into(), why),
    };
    result.outcome.code = code;
    result.outcome.message = message;
    result.outcome.success = false;
}

/// Writes the response into the result.
fn write_response(user: &mut UserState, response: Option<&Frame>, action: &SampleAction) {
    match (action, response) {
        (SampleAction::Read { .. } | SampleAction::RequestResponse(_), Some(frame)) => {
            let result = &mut user.result;
            result.body.clone_from(&frame.payload);
            result.body_memory = frame.memory.clone();
            if frame.kind == Kind::Binary {
                result.content.data_type = DataType::Binary;
            } else {
                result.body = frame.text().into_bytes();
                result.content.encoding = "UTF-8".into();
                result.content.data_type = DataType::Text;
            }
            let last = if frame.fin { "true" } else { "false" };
            user.variables.set("websocket.last_frame_final", last);
        }
        (SampleAction::Read { .. }, None) => {
            user.result.outcome.code = "No response".into();
            user.result.outcome.message = "Read timeout, no response received.".into();
        }
        (SampleAction::Close(_), Some(frame)) => {
            let (status, reason) = frame.close_reason();
            let status = status.map(|status| status.to_string()).unwrap_or_default();
            let result = &mut user.result;
            result.outcome.message = match &reason {
                Some(reason) => format!("Connection closed; close reason: '{reason}'."),
                None => "Connection closed.".into(),
            };
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            result.body = format!("{status}{reason}").into_bytes();
            result.content.encoding = "UTF-8".into();
            result.content.data_type = DataType::Text;
            result.outcome.code = status;
        }
        _ => {}
    }
}
