//! WebSocket frames.

use std::fmt;

use busyhour_program::body_memory::BodyMemory;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::binary;

/// The kind of a frame; a continuation has the kind of its first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// A frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    /// Whether it is the last frame of its message.
    pub(crate) fin: bool,
    /// Whether it is not the first frame of its message.
    pub(crate) continuation: bool,
    pub(crate) payload: Vec<u8>,
    /// The payload's reservation in the memory for the responses of all users.
    pub(crate) memory: BodyMemory,
    /// The size of the frame on the wire in bytes.
    pub(crate) size: u64,
}

impl Frame {
    pub(crate) fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Binary)
    }

    /// The size of the header in bytes.
    pub(crate) fn head_bytes(&self) -> u64 {
        self.size - self.payload.len() as u64
    }

    /// The plugin's name for this type of frame.
    pub(crate) fn type_name(&self) -> &'static str {
        match (self.kind, self.continuation, self.fin) {
            (Kind::Text | Kind::Binary, true, true) => "final continuation",
            (Kind::Text | Kind::Binary, true, false) => "continuation",
            (Kind::Text, false, true) => "text",
            (Kind::Text, false, false) => "non-final text",
            (Kind::Binary, false, true) => "binary",
            (Kind::Binary, false, false) => "non-final binary",
            (Kind::Close, ..) => "close",
            (Kind::Ping, ..) => "ping",
            (Kind::Pong, ..) => "pong",
        }
    }

    /// The payload as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.payload).into_owned()
    }

    /// The status and reason of a close frame, if it contains them.
    pub(crate) fn close_reason(&self) -> (Option<i32>, Option<String>) {
        let status = match self.payload.as_slice() {
            [high, low, ..] => Some(i32::from(i16::from_be_bytes([*high, *low]))),
            _ => None,
        };
        let reason = self.payload.get(2..).filter(|reason| !reason.is_empty());
        (status, reason.map(|reason| String::from_utf8_lossy(reason).into_owned()))
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTED_BYTES_MAX: usize = 16;
        match self.kind {
            Kind::Text => write!(f, "Text frame with text '{}'", self.text()),
            Kind::Binary if self.payload.is_empty() => f.write_str("Binary frame, empty payload"),
            Kind::Binary => {
                let bytes = binary::format_bytes(&self.payload, PRINTED_BYTES_MAX, " ...");
                write!(f, "Binary frame, payload (length {}): {bytes}", self.payload.len())
            }
            Kind::Close => {
                let (status, reason) = self.close_reason();
                let status = status.map_or_else(|| "null".into(), |status| status.to_string());
                let reason = reason.unwrap_or_else(|| "null".into());
                write!(f, "Close frame with status code {status} and close reason '{reason}'")
            }
            Kind::Ping | Kind::Pong => {
                let name = if self.kind == Kind::Ping { "Ping" } else { "Pong" };
                if self.payload.is_empty() {
                    write!(f, "{name} frame with no application data")
                } else {
                    write!(f, "{name} frame with application data '{}'", self.text())
                }
            }
        }
    }
}

/// Encodes a masked frame for sending.
pub(crate) fn encode(kind: Kind, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let opcode = match kind {
        Kind::Text => OpCode::Data(Data::Text),
        Kind::Binary => OpCode::Data(Data::Binary),
        Kind::Close => OpCode::Control(Control::Close),
        Kind::Ping => OpCode::Control(Control::Ping),
        Kind::Pong => OpCode::Control(Control::Pong),
    };
    let header = FrameHeader { opcode, mask: Some(mask), ..FrameHeader::default() };
    let mut bytes = Vec::with_capacity(header.len(payload.len() as u64) + payload.len());
    // Writing to a vector does not fail.
    let _ = header.format(payload.len() as u64, &mut bytes);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: Kind, payload: &[u8]) -> Frame {
        let size = payload.len() as u64 + 2;
        Frame {
            kind,
            fin: true,
            continuation: false,
            payload: payload.to_vec(),
            memory: BodyMemory::default(),
            size,
        }
    }

    #[test]
    fn frames_are_formatted_as_in_the_plugin() {
        assert_eq!(frame(Kind::Text, b"hi").to_string(), "Text frame with text 'hi'");
        assert_eq!(
            frame(Kind::Close, &[3, 232]).to_string(),
            "Close frame with status code 1000 and close reason 'null'"
        );
        assert_eq!(frame(Kind::Close, &[]).close_reason(), (None, None));
        assert_eq!(frame(Kind::Ping, b"").to_string(), "Ping frame with no application data");
        assert_eq!(frame(Kind::Binary, &[1]).to_string(), "Binary frame, payload (length 1): 0x01");
        let part = Frame { fin: false, continuation: true, ..frame(Kind::Text, b"") };
        assert_eq!(part.type_name(), "continuation");
        assert_eq!(frame(Kind::Pong, b"x").head_bytes(), 2);
    }

    #[test]
    fn encoded_frames_are_masked() {
        assert_eq!(encode(Kind::Text, b"ab", [1, 2, 3, 4]), [0x81, 0x82, 1, 2, 3, 4, b'a' ^ 1, b'b' ^ 2]);
        assert_eq!(encode(Kind::Binary, &[0; 126], [0; 4])[..4], [0x82, 0xFE, 0, 126]);
        assert_eq!(encode(Kind::Ping, &[], [0; 4]), [0x89, 0x80, 0, 0, 0, 0]);
    }
}
