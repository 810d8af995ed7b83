//! The exchange on an open connection: sends frames, and receives frames through the filters.

use busyhour_limits::files::{UPLOAD_BYTES, read_in_run};
use busyhour_sample::{SampleContent, SampleOutcome, SampleSizes, SampleTimes};
use std::io;
use std::path::Path;

use busyhour_program::result::SampleResult;
use busyhour_program::user::UserState;
use rand::Rng as _;

use super::rendered::{SampleAction, SampleSettings, Sent, to_duration};
use crate::binary;
use crate::connection::{Connection, SampleFailure};
use crate::filter::Prepared;
use crate::frame::{Frame, Kind};
use crate::limits::{self, FILTERED_FRAMES_MAX, FRAME_BYTES_MAX};
use crate::settings::WebSocketSampler;

/// Performs the sampler's action; returns the response frame, if there is one.
pub(super) async fn perform(
    sampler: &WebSocketSampler,
    settings: &SampleSettings,
    connection: &mut Connection,
    user: &mut UserState,
) -> Result<Option<Frame>, SampleFailure> {
    let reading = Reading { sampler, settings };
    match &settings.action {
        SampleAction::Open => Ok(None),
        SampleAction::Write(sent) => {
            send(connection, sent, user).await?;
            Ok(None)
        }
        SampleAction::RequestResponse(sent) => {
            send(connection, sent, user).await?;
            let frame = reading.read(connection, user).await?;
            let expected = if sent.binary { Kind::Binary } else { Kind::Text };
            expect(frame, |frame| frame.kind == expected).map(Some)
        }
        SampleAction::Read { data_type, optional } => {
            let frame = match reading.read(connection, user).await {
                Err(SampleFailure::TimedOut) if *optional => return Ok(None),
                read => read?,
            };
            let matches_type = match data_type.as_str() {
                "Text" => frame.kind == Kind::Text,
                "Binary" => frame.kind == Kind::Binary,
                "Any" => frame.is_data(),
                other => {
                    return Err(SampleFailure::Thrown(format!(
                        "java.lang.IllegalArgumentException: No enum constant \
                         eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler.DataType.{other}"
                    )));
                }
            };
            expect(frame, |_| matches_type).map(Some)
        }
        SampleAction::PingPong(kind) if kind == "Pong" => {
            user.result.sizes.sent_bytes = connection.send(Kind::Pong, &[], user.random.random()).await?;
            Ok(None)
        }
        SampleAction::PingPong(_) => {
            user.result.sizes.sent_bytes = connection.send(Kind::Ping, &[], user.random.random()).await?;
            let frame = reading.read(connection, user).await?;
            expect(frame, |frame| frame.kind == Kind::Pong).map(Some)
        }
        SampleAction::Close(status) => {
            const REASON: &str = "sampler requested close";
            let Ok(code) = status.parse::<i32>() else {
                return Err(SampleFailure::Thrown(format!(
                    "java.lang.NumberFormatException: For input string: \"{status}\""
                )));
            };
            user.result.request_data =
                format!("Requested connection close with status {code} and reason '{REASON}'.");
            let mut payload = vec![(code >> 8) as u8, code as u8];
            payload.extend_from_slice(REASON.as_bytes());
            user.result.sizes.sent_bytes =
                connection.send(Kind::Close, &payload, user.random.random()).await?;
            let frame = reading.read(connection, user).await?;
            expect(frame, |frame| frame.kind == Kind::Close).map(Some)
        }
    }
}

fn expect(frame: Frame, is_expected: impl Fn(&Frame) -> bool) -> Result<Frame, SampleFailure> {
    if is_expected(&frame) { Ok(frame) } else { Err(SampleFailure::Unexpected(frame)) }
}

async fn send(connection: &mut Connection, sent: &Sent, user: &mut UserState) -> Result<(), SampleFailure> {
    let file = match &sent.file {
        Some(path) => Some(read_file(path)?),
        None => None,
    };
    let (kind, payload, printed) = match (sent.binary, file) {
        (true, Some(bytes)) => {
            let printed = binary::format_bytes(&bytes, 100, "...");
            (Kind::Binary, bytes, printed)
        }
        (true, None) => {
            let bytes = binary::parse(&sent.text).map_err(|()| {
                SampleFailure::Unsendable(format!("Request data is not binary: {}", sent.text))
            })?;
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
    data.push_str(&printed);
    data.push('\n');
    user.result.sizes.sent_bytes = connection.send(kind, &payload, user.random.random()).await?;
    Ok(())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a file to be sent. It is read on the core's thread, because such files are small and rare.
fn read_file(path: &str) -> Result<Vec<u8>, SampleFailure> {
    read_in_run(Path::new(path), UPLOAD_BYTES).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("file '{path}' not found"),
            io::ErrorKind::PermissionDenied => format!("file '{path}' not readable"),
            _ => return SampleFailure::Io(error.to_string()),
        };
        SampleFailure::Unsendable(format!("Request data cannot be loaded, {why}"))
    })
}

/// Number and size of the frames that one sample has received through filters.
#[derive(Default)]
struct ReceivedCount {
    frames: u32,
    bytes: u64,
}

impl ReceivedCount {
    /// Counts a frame; closes the connection if the server exceeds a limit.
    fn count(&mut self, frame: &Frame, connection: &mut Connection) -> Result<(), SampleFailure> {
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

/// Receives frames through the filters.
struct Reading<'a> {
    sampler: &'a WebSocketSampler,
    settings: &'a SampleSettings,
}

impl Reading<'_> {
    async fn read(&self, connection: &mut Connection, user: &mut UserState) -> Result<Frame, SampleFailure> {
        let filters = match &self.settings.filters {
            Ok(filters) => filters,
            Err(exception) => return Err(SampleFailure::Thrown(exception.to_string())),
        };
        if filters.is_empty() {
            return connection.receive(self.settings.read_timeout).await;
        }
        // Each filter reads frames from the next one, and the last one from the connection. The timeout of each is the
        // remaining time of its caller.
        let mut left: Vec<i32> = vec![self.settings.read_timeout_ms; filters.len()];
        let mut started = vec![user.now(); filters.len()];
        let mut all = ReceivedCount::default();
        loop {
            let innermost = filters.len() - 1;
            let next = connection.receive(to_duration(left[innermost])).await?;
            all.count(&next, connection)?;
            let mut frame = Some(next);
            for at in (0..filters.len()).rev() {
                let Some(received) = frame.take() else { break };
                let start = started[at];
                let spent = user.now().since(start) / 1_000_000;
                let is_discarded = filters[at].discards(&received);
                if is_discarded {
                    self.discard(&filters[at], &received, start, connection, user).await?;
                }
                let spent = i32::try_from(spent).unwrap_or(i32::MAX);
                if spent >= left[at] {
                    return Err(SampleFailure::TimedOut);
                }
                left[at] -= spent;
                started[at] = user.now();
                if is_discarded {
                    // The inner filters start again with the remaining time of this filter.
                    let rest = left[at];
                    for inner in at + 1..filters.len() {
                        left[inner] = rest;
                        started[inner] = started[at];
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

    /// Records a discarded frame, and responds to it if the filter requires that.
    async fn discard(
        &self,
        filter: &Prepared,
        frame: &Frame,
        started: busyhour_sample::Nanos,
        connection: &mut Connection,
        user: &mut UserState,
    ) -> Result<(), SampleFailure> {
        let end = user.now();
        let mut sent = 0;
        if filter.replies_to(frame) {
            sent = connection.send(Kind::Pong, &frame.payload, user.random.random()).await?;
        }
        let (head, body) = (frame.head_bytes(), frame.payload.len() as u64);
        let result = &mut user.result;
        if self.sampler.size_of_filtered {
            result.sizes.header_bytes += head;
            result.sizes.body_bytes += body;
            if sent > 0 {
                result.sizes.sent_bytes += sent;
            }
        }
        // As for all sub-results, the label ends with a number; the filter's name is not used.
        let label = format!("{}-{}", result.label, result.sub_results.len());
        let message = format!("Received {frame}");
        let data = if frame.is_data() { frame.payload.clone() } else { Vec::new() };
        let encoding = if frame.kind == Kind::Text { "UTF-8".to_owned() } else { String::new() };
        result.sub_results.push(SampleResult {
            label,
            times: SampleTimes { intended: started, start: started, end, ..SampleTimes::default() },
            outcome: SampleOutcome { message, success: true, ..SampleOutcome::default() },
            sizes: SampleSizes::new(head, body, sent),
            body: data,
            content: SampleContent { encoding, ..SampleContent::default() },
            ..SampleResult::default()
        });
        Ok(())
    }
}
