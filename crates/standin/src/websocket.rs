//! A WebSocket whose responses depend on the text of a received frame. Every frame is recorded like a request.
//!
//! | text | response |
//! |---|---|
//! | `ping` | a ping frame with `are you there`, then the text `pinged` |
//! | `parts` | one text in two frames, `first` and `second` |
//! | `noise` | the texts `noise 1` and `noise 2`, the bytes 1 2 3, then the text `signal` |
//! | `bytes` | the bytes 0 127 128 255 |
//! | `bye` | a close frame with status 1001 and reason `going away` |
//! | `nothing` | no response |
//! | `drop` | no response; the connection is closed |
//! | any other text | the same text |
//!
//! Binary frames are echoed, and pings are answered with pongs. A close frame is answered with the same status, without a
//! reason if the status is 1001.

use std::io::{self, BufRead, BufReader, Read, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest as _, Sha1};

use crate::request::ReceivedRequest;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The response to a WebSocket handshake; `None` if the request is not a handshake or the path is not for WebSockets.
pub(crate) fn accept_upgrade(request: &ReceivedRequest) -> Option<Vec<u8>> {
    let upgrade = request.header("upgrade")?;
    let key = request.header("sec-websocket-key")?;
    if !upgrade.eq_ignore_ascii_case("websocket") || !request.target().starts_with("/ws") {
        return None;
    }
    let accept = Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    let accept = if request.target() == "/ws-wrong" { "x".into() } else { BASE64_STANDARD.encode(accept) };
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nX-Stand-In: a\r\nConnection: Upgrade\r\nX-Stand-In: b";
    Some(format!("{head}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes())
}

/// Responds to frames until one side closes the connection. Passes each frame to `record` as a request without headers.
pub(crate) fn serve_frames<S: Read + Write>(
    stream: &mut BufReader<S>,
    mut record: impl FnMut(ReceivedRequest),
) -> io::Result<()> {
    loop {
        if stream.fill_buf()?.is_empty() {
            return Ok(());
        }
        let (opcode, payload) = read_frame(stream)?;
        let name = match opcode {
            TEXT => "text",
            BINARY => "binary",
            CLOSE => "close",
            PING => "ping",
            PONG => "pong",
            _ => "other",
        };
        // The first two bytes of a close frame are a binary status.
        let body = match (opcode, payload.as_slice()) {
            (CLOSE, [high, low, rest @ ..]) => {
                let reason = String::from_utf8_lossy(rest);
                format!("{} {reason}", u16::from_be_bytes([*high, *low])).into_bytes()
            }
            _ => payload.clone(),
        };
        record(ReceivedRequest { line: format!("frame: {name}").into_bytes(), headers: Vec::new(), body });
        let out = stream.get_mut();
        let mut send_frame = |opcode: u8, payload: &[u8]| out.write_all(&frame(0x80 | opcode, payload));
        match (opcode, payload.as_slice()) {
            (TEXT, b"ping") => {
                send_frame(PING, b"are you there")?;
                send_frame(TEXT, b"pinged")?;
            }
            (TEXT, b"parts") => {
                out.write_all(&frame(TEXT, b"first"))?;
                out.write_all(&frame(0x80, b"second"))?;
            }
            (TEXT, b"noise") => {
                send_frame(TEXT, b"noise 1")?;
                send_frame(TEXT, b"noise 2")?;
                send_frame(BINARY, &[1, 2, 3])?;
                send_frame(TEXT, b"signal")?;
            }
            (TEXT, b"bytes") => send_frame(BINARY, &[0, 127, 128, 255])?,
            (TEXT, b"bye") => send_frame(CLOSE, b"\x03\xe9going away")?,
            (TEXT, b"nothing") | (PONG, _) => {}
            (TEXT, b"drop") => return Ok(()),
            (CLOSE, [3, 0xe9, ..]) => send_frame(CLOSE, &[3, 0xe9])?,
            (PING, _) => send_frame(PONG, &payload)?,
            _ => send_frame(opcode, &payload)?,
        }
        stream.get_mut().flush()?;
    }
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match u16::try_from(payload.len()) {
        Ok(length @ 0..126) => bytes.push(length as u8),
        Ok(length) => {
            bytes.push(126);
            bytes.extend(length.to_be_bytes());
        }
        Err(_) => {
            bytes.push(127);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// Reads one masked frame and returns its opcode and payload.
fn read_frame(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    const PAYLOAD_BYTES_MAX: u64 = 1 << 24;
    let mut head = [0; 2];
    from.read_exact(&mut head)?;
    let length = match head[1] & 0x7f {
        126 => {
            let mut bytes = [0; 2];
            from.read_exact(&mut bytes)?;
            u64::from(u16::from_be_bytes(bytes))
        }
        127 => {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes)?;
            u64::from_be_bytes(bytes)
        }
        short => u64::from(short),
    };
    if length > PAYLOAD_BYTES_MAX || head[1] & 0x80 == 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut mask = [0; 4];
    from.read_exact(&mut mask)?;
    let mut payload = Vec::new();
    from.take(length).read_to_end(&mut payload)?;
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    Ok((head[0] & 0x0f, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with one buffer for reading and another for writing.
    struct TestStream(io::Cursor<Vec<u8>>, Vec<u8>);

    impl Read for TestStream {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for TestStream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn frames_are_recorded_and_get_responses() {
        let masked = |opcode: u8, payload: &[u8]| {
            let mut bytes = vec![0x80 | opcode, 0x80 | payload.len() as u8, 0, 0, 0, 0];
            bytes.extend_from_slice(payload);
            bytes
        };
        let received =
            [masked(TEXT, b"hello"), masked(TEXT, b"parts"), masked(CLOSE, b"\x03\xe8ok")].concat();
        let mut stream = BufReader::new(TestStream(io::Cursor::new(received), Vec::new()));
        let mut recorded = Vec::new();
        serve_frames(&mut stream, |request| recorded.push(request)).unwrap();
        let sent = &stream.get_ref().1;
        assert!(sent.starts_with(b"\x81\x05hello\x01\x05first\x80\x06second\x88\x04\x03\xe8ok"));
        assert_eq!(
            (recorded[2].line.as_slice(), recorded[2].body.as_slice()),
            (&b"frame: close"[..], &b"1000 ok"[..])
        );
    }
}
