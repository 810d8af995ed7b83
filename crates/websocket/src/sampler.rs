//! One sample of a WebSocket sampler, in the steps of the plugin.

mod call;
mod exchange;

use std::any::Any;

use busyhour_http::HttpSession;
use busyhour_http::origin::Origin;
use busyhour_program::result::SampleResult;
use busyhour_program::user::UserState;
use busyhour_record::DataType;
use busyhour_samplers::{Kept, OtherSampler, SampleRequest, Sampling};
use call::{Call, Does};
use rand::Rng as _;

use crate::connection::{Address, Connection, State, Trouble};
use crate::frame::{Frame, Kind};
use crate::settings::WebSocketSampler;

/// The user's connection.
#[derive(Default)]
struct Socket(Option<Connection>);

impl Kept for Socket {
    /// A new visitor never continues the connection of the previous one.
    fn visitor_changed(&mut self, _keep_connections: bool) {
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
        let prepared = Call::new(self, user);
        let headers = self.headers(user);
        user.begin_result(label, intended);
        user.result.success = false;
        let call = match prepared {
            Ok(call) => call,
            Err(None) => {
                // Java's sampler throws here, and JMeter makes no sample of it.
                user.result.ignore = true;
                user.result.success = true;
                return;
            }
            Err(Some(why)) => {
                user.result.times.end = user.result.times.start;
                user.result.code.push_str("Sampler error");
                user.result.message = format!("Sampler error: {why}");
                return;
            }
        };
        let kept = session.others.of::<Socket>().0.take();
        let Some(mut socket) = self.socket(&call, kept, user) else {
            user.result.times.end = user.result.times.start;
            return;
        };
        let made = self.make(&call, &mut socket, headers, &mut session.http, user).await;
        if user.result.times.end.0 == 0 {
            user.result.times.end = user.now();
        }
        if let Err(trouble) = made {
            write_trouble(&mut user.result, trouble, &call.does);
        }
        session.others.of::<Socket>().0 = match socket {
            Connecting::Open { connection, new } if new || connection.state == State::Connected => {
                Some(connection)
            }
            _ => None,
        };
    }

    /// The connection to use or to open; `None` if there is none, which is recorded in the result.
    fn socket(&self, call: &Call, kept: Option<Connection>, user: &mut UserState) -> Option<Connecting> {
        if let Some(address) = &call.address {
            return Some(Connecting::To(address.clone()));
        }
        if let Some(connection) = kept {
            return Some(Connecting::Open { connection, new: false });
        }
        let result = &mut user.result;
        match call.does {
            Does::Close(_) => {
                result.request_data.push_str("No request sent.");
                result.message.push_str("No connection; nothing to close.");
            }
            Does::PingPong(_) => {
                result.code.push_str("Sampler error");
                result.message.push_str("Sampler must use existing connection, but there is no connection");
            }
            _ => {
                result.code.push_str("Sampler error");
                result
                    .message
                    .push_str("Sampler configured for using existing connection, but there is no connection");
            }
        }
        None
    }

    async fn make(
        &self,
        call: &Call,
        socket: &mut Connecting,
        headers: Vec<(String, String)>,
        http: &mut HttpSession,
        user: &mut UserState,
    ) -> Result<(), Trouble> {
        let mut answered = None;
        match socket {
            Connecting::To(address) => {
                let headers = self.with_cookies(headers, address, http, user);
                let shown: Vec<String> =
                    headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                user.result.request_headers = shown.join("\n");
                user.result.request_data = format!("Connect URL:\n{}\n", address.url());
                user.result.times.start = user.now();
                let random = user.random.random();
                let timeouts = (call.connect_timeout, call.read_timeout);
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
                result.header_bytes = upgraded.response_bytes;
                result.sent_bytes = upgraded.request_bytes;
                answered = Some(upgraded.headers);
                *socket = Connecting::Open { connection, new: true };
            }
            Connecting::Open { connection, .. } => {
                let url = connection.address.url();
                user.result.request_data = format!("Connect URL:\n{url}\n(using existing connection)\n");
                if connection.state != State::Connected {
                    let state = connection.state.name();
                    user.result.request_data = format!("Connect URL:\n{url}\n");
                    return Err(Trouble::Thrown(format!(
                        "java.lang.IllegalStateException: Cannot connect when state is {state}"
                    )));
                }
            }
        }
        let Connecting::Open { connection, .. } = socket else { return Ok(()) };
        let response = exchange::exchange(self, call, connection, user).await?;
        user.result.times.end = user.now();
        let result = &mut user.result;
        if let Some(frame) = &response {
            result.header_bytes += frame.head_bytes();
            result.body_bytes += frame.payload.len() as u64;
        }
        match answered {
            Some(headers) => {
                result.code = "101".into();
                result.message = "Switching Protocols".into();
                let shown: Vec<String> =
                    headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                result.response_headers = shown.join("\n");
            }
            None => {
                result.code = "200".into();
                result.message = "OK".into();
            }
        }
        write_response(user, response.as_ref(), &call.does);
        user.result.success = true;
        Ok(())
    }

    /// The header manager's headers, in the order of Java's hash map.
    fn headers(&self, user: &mut UserState) -> Vec<(String, String)> {
        let rendered: Vec<(String, String)> = self
            .headers
            .iter()
            .map(|header| (header.name.text(user).into_owned(), header.value.text(user).into_owned()))
            .filter(|(name, _)| !name.trim().is_empty())
            .collect();
        rendered
    }

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
    /// It must be opened.
    To(Address),
    /// It is open; `new`: this sample opened it.
    Open { connection: Connection, new: bool },
}

/// Fills in the result of a failed sample with the plugin's messages.
fn write_trouble(result: &mut SampleResult, trouble: Trouble, does: &Does) {
    let (code, message) = match trouble {
        Trouble::Upgrade(status, why) => (status, why),
        Trouble::Io(why) => ("Websocket I/O error".into(), format!("WebSocket I/O error: {why}")),
        Trouble::TimedOut => ("Websocket I/O error".into(), "WebSocket I/O error: Read timed out".into()),
        Trouble::Unexpected(frame) if matches!(does, Does::Close(_)) => (
            "WebSocket error: unsuccesful close.".into(),
            format!("WebSocket error: received not a close frame, but {frame}"),
        ),
        Trouble::Unexpected(frame) => (
            format!("Sampler error: unexpected frame type ({}).", frame.type_name()),
            format!("Received: {frame}"),
        ),
        Trouble::Limited(why) => ("Sampler error".into(), format!("Sampler error: {why}")),
        Trouble::Thrown(exception) => ("Sampler error".into(), format!("Sampler error: {exception}")),
        Trouble::Unsendable(why) => ("Sampler Error".into(), why),
    };
    result.code = code;
    result.message = message;
    result.success = false;
}

/// Writes the response into the result.
fn write_response(user: &mut UserState, response: Option<&Frame>, does: &Does) {
    match (does, response) {
        (Does::Read { .. } | Does::RequestResponse(_), Some(frame)) => {
            let result = &mut user.result;
            result.body.clone_from(&frame.payload);
            result.body_memory = frame.memory.clone();
            if frame.kind == Kind::Binary {
                result.data_type = DataType::Binary;
            } else {
                result.body = frame.text().into_bytes();
                result.encoding = "UTF-8".into();
                result.data_type = DataType::Text;
            }
            let last = if frame.fin { "true" } else { "false" };
            user.variables.set("websocket.last_frame_final", last);
        }
        (Does::Read { .. }, None) => {
            user.result.code = "No response".into();
            user.result.message = "Read timeout, no response received.".into();
        }
        (Does::Close(_), Some(frame)) => {
            let (status, reason) = frame.close_reason();
            let status = status.map(|status| status.to_string()).unwrap_or_default();
            let result = &mut user.result;
            result.message = match &reason {
                Some(reason) => format!("Connection closed; close reason: '{reason}'."),
                None => "Connection closed.".into(),
            };
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            result.body = format!("{status}{reason}").into_bytes();
            result.encoding = "UTF-8".into();
            result.data_type = DataType::Text;
            result.code = status;
        }
        _ => {}
    }
}
