//! The exchange on an open connection: frames sent, and frames received through the filters.

use busyhour_limits::files::{UPLOAD_BYTES, read_in_run};
use busyhour_record::SampleTimes;
use std::io;
use std::path::Path;

use busyhour_program::result::SampleResult;
use busyhour_program::user::UserState;
use rand::Rng as _;

use super::call::{Call, Does, Sent, limit};
use crate::binary;
use crate::connection::{Connection, Trouble};
use crate::filter::Prepared;
use crate::frame::{Frame, Kind};
use crate::limits::{self, FILTERED_FRAMES_MAX, FRAME_BYTES_MAX};
use crate::settings::WebSocketSampler;

/// Performs the sampler's action; returns the response frame, if there is one.
pub(super) async fn exchange(
    sampler: &WebSocketSampler,
    call: &Call,
    connection: &mut Connection,
    user: &mut UserState,
) -> Result<Option<Frame>, Trouble> {
    let reading = Reading { sampler, call };
    match &call.does {
        Does::Open => Ok(None),
        Does::Write(sent) => {
            send(connection, sent, user).await?;
            Ok(None)
        }
        Does::RequestResponse(sent) => {
            send(connection, sent, user).await?;
            let frame = reading.read(connection, user).await?;
            let wanted = if sent.binary { Kind::Binary } else { Kind::Text };
            expect(frame, |frame| frame.kind == wanted).map(Some)
        }
        Does::Read { data_type, optional } => {
            let frame = match reading.read(connection, user).await {
                Err(Trouble::TimedOut) if *optional => return Ok(None),
                read => read?,
            };
            let fits = match data_type.as_str() {
                "Text" => frame.kind == Kind::Text,
                "Binary" => frame.kind == Kind::Binary,
                "Any" => frame.is_data(),
                other => {
                    return Err(Trouble::Thrown(format!(
                        "java.lang.IllegalArgumentException: No enum constant \
                         eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler.DataType.{other}"
                    )));
                }
            };
            expect(frame, |_| fits).map(Some)
        }
        Does::PingPong(kind) if kind == "Pong" => {
            user.result.sent_bytes = connection.send(Kind::Pong, &[], user.random.random()).await?;
            Ok(None)
        }
        Does::PingPong(_) => {
            user.result.sent_bytes = connection.send(Kind::Ping, &[], user.random.random()).await?;
            let frame = reading.read(connection, user).await?;
            expect(frame, |frame| frame.kind == Kind::Pong).map(Some)
        }
        Does::Close(status) => {
            const REASON: &str = "sampler requested close";
            let Ok(code) = status.parse::<i32>() else {
                return Err(Trouble::Thrown(format!(
                    "java.lang.NumberFormatException: For input string: \"{status}\""
                )));
            };
            user.result.request_data =
                format!("Requested connection close with status {code} and reason '{REASON}'.");
            let mut payload = vec![(code >> 8) as u8, code as u8];
            payload.extend_from_slice(REASON.as_bytes());
            user.result.sent_bytes = connection.send(Kind::Close, &payload, user.random.random()).await?;
            let frame = reading.read(connection, user).await?;
            expect(frame, |frame| frame.kind == Kind::Close).map(Some)
        }
    }
}

fn expect(frame: Frame, fits: impl Fn(&Frame) -> bool) -> Result<Frame, Trouble> {
    if fits(&frame) { Ok(frame) } else { Err(Trouble::Unexpected(frame)) }
}

async fn send(connection: &mut Connection, sent: &Sent, user: &mut UserState) -> Result<(), Trouble> {
    let file = match &sent.file {
        Some(path) => Some(read_file(path)?),
        None => None,
    };
    let (kind, payload, shown) = match (sent.binary, file) {
        (true, Some(bytes)) => {
            let shown = binary::shown(&bytes, 100, "...");
            (Kind::Binary, bytes, shown)
        }
        (true, None) => {
            let bytes = binary::parse(&sent.text)
                .map_err(|()| Trouble::Unsendable(format!("Request data is not binary: {}", sent.text)))?;
            (Kind::Binary, bytes, sent.text.clone())
        }
        (false, bytes) => {
            let text = bytes.map_or_else(|| sent.text.clone(), |bytes| lossy(&bytes));
            let text = sent.zero.map_or_else(|| text.clone(), |zero| text.replace(zero, "\0"));
            (Kind::Text, text.clone().into_bytes(), text)
        }
    };
    let data = &mut user.result.request_data;
    data.push_str("\nRequest data:\n");
    data.push_str(&shown);
    data.push('\n');
    user.result.sent_bytes = connection.send(kind, &payload, user.random.random()).await?;
    Ok(())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The whole of a file that is to be sent; files of requests are small, and rare.
fn read_file(path: &str) -> Result<Vec<u8>, Trouble> {
    read_in_run(Path::new(path), UPLOAD_BYTES).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("file '{path}' not found"),
            io::ErrorKind::PermissionDenied => format!("file '{path}' not readable"),
            _ => return Trouble::Io(error.to_string()),
        };
        Trouble::Unsendable(format!("Request data cannot be loaded, {why}"))
    })
}

/// What one sample has received through filters.
#[derive(Default)]
struct Received {
    frames: u32,
    bytes: u64,
}

impl Received {
    /// Counts a frame. A server that exceeds a limit loses its connection.
    fn count(&mut self, frame: &Frame, connection: &mut Connection) -> Result<(), Trouble> {
        self.frames += 1;
        self.bytes += frame.size;
        let exceeded = if self.bytes > FRAME_BYTES_MAX {
            limits::frames_too_long()
        } else if self.frames > FILTERED_FRAMES_MAX {
            limits::too_many_frames()
        } else {
            return Ok(());
        };
        connection.dispose();
        Err(exceeded)
    }
}

/// Receives through the filters.
struct Reading<'a> {
    sampler: &'a WebSocketSampler,
    call: &'a Call,
}

impl Reading<'_> {
    async fn read(&self, connection: &mut Connection, user: &mut UserState) -> Result<Frame, Trouble> {
        let filters = match &self.call.filters {
            Ok(filters) => filters,
            Err(exception) => return Err(Trouble::Thrown(exception.to_string())),
        };
        if filters.is_empty() {
            return connection.receive(self.call.read_timeout).await;
        }
        // A filter reads frames from the next one, the last from the connection; each has its caller's remaining time.
        let mut left: Vec<i32> = vec![self.call.read_timeout_ms; filters.len()];
        let mut begun = vec![user.now(); filters.len()];
        let mut all = Received::default();
        loop {
            let innermost = filters.len() - 1;
            let next = connection.receive(limit(left[innermost])).await?;
            all.count(&next, connection)?;
            let mut frame = Some(next);
            for at in (0..filters.len()).rev() {
                let Some(received) = frame.take() else { break };
                let started = begun[at];
                let spent = user.now().since(started) / 1_000_000;
                let taken = filters[at].takes(&received);
                if taken {
                    self.discard(&filters[at], &received, started, connection, user).await?;
                }
                let spent = i32::try_from(spent).unwrap_or(i32::MAX);
                if spent >= left[at] {
                    return Err(Trouble::TimedOut);
                }
                left[at] -= spent;
                begun[at] = user.now();
                if taken {
                    // The filters inside start again with the time left here.
                    let rest = left[at];
                    for inner in at + 1..filters.len() {
                        left[inner] = rest;
                        begun[inner] = begun[at];
                    }
                } else {
                    frame = Some(received);
                }
            }
            if let Some(frame) = frame {
                return Ok(frame);
            }
        }
    }

    /// Records a frame that a filter took, and replies to it if the filter does.
    async fn discard(
        &self,
        filter: &Prepared,
        frame: &Frame,
        started: busyhour_record::Nanos,
        connection: &mut Connection,
        user: &mut UserState,
    ) -> Result<(), Trouble> {
        let end = user.now();
        let mut sent = 0;
        if filter.replies_to(frame) {
            sent = connection.send(Kind::Pong, &frame.payload, user.random.random()).await?;
        }
        let (head, body) = (frame.head_bytes(), frame.payload.len() as u64);
        let result = &mut user.result;
        if self.sampler.size_of_filtered {
            result.header_bytes += head;
            result.body_bytes += body;
            if sent > 0 {
                result.sent_bytes += sent;
            }
        }
        // Named by its place, as all results inside others; the filter's name is lost.
        let label = format!("{}-{}", result.label, result.sub_results.len());
        let message = format!("Received {frame}");
        let data = if frame.is_data() { frame.payload.clone() } else { Vec::new() };
        let encoding = if frame.kind == Kind::Text { "UTF-8".to_owned() } else { String::new() };
        result.sub_results.push(SampleResult {
            label,
            times: SampleTimes { intended: started, start: started, end, ..SampleTimes::default() },
            message,
            success: true,
            header_bytes: head,
            body_bytes: body,
            sent_bytes: sent,
            body: data,
            encoding,
            ..SampleResult::default()
        });
        Ok(())
    }
}
