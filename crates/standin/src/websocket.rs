//! A WebSocket whose responses depend on the text of a frame; every frame is recorded like a request.
//!
//! | text | answer |
//! |---|---|
//! | `ping` | a ping with `are you there`, then a text `pinged` |
//! | `parts` | a text in two frames, `first` and `second` |
//! | `noise` | texts `noise 1`, `noise 2`, bytes 1 2 3, then a text `signal` |
//! | `bytes` | bytes 0 127 128 255 |
//! | `bye` | a close frame, 1001 `going away` |
//! | `nothing` | nothing |
//! | `drop` | the connection ends |
//! | anything else | the same text |
//!
//! Binary frames are echoed, pings and closes are answered, a close with its own status and no reason if that is 1001.

use std::io::{self, BufRead, BufReader, Read, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest as _, Sha1};

use crate::request::Request;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The response to a WebSocket handshake, if the request is one and the path is for WebSockets.
pub(crate) fn answer(request: &Request) -> Option<Vec<u8>> {
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

/// Answers frames until one side closes; each frame is handed to `record` as a request without headers.
pub(crate) fn converse<S: Read + Write>(
    stream: &mut BufReader<S>,
    mut record: impl FnMut(Request),
) -> io::Result<()> {
    loop {
        if stream.fill_buf()?.is_empty() {
            return Ok(());
        }
        let (opcode, payload) = read(stream)?;
        let name = match opcode {
            TEXT => "text",
            BINARY => "binary",
            CLOSE => "close",
            PING => "ping",
            PONG => "pong",
            _ => "other",
        };
        // The status of a close frame is no text.
        let body = match (opcode, payload.as_slice()) {
            (CLOSE, [high, low, rest @ ..]) => {
                let reason = String::from_utf8_lossy(rest);
                format!("{} {reason}", u16::from_be_bytes([*high, *low])).into_bytes()
            }
            _ => payload.clone(),
        };
        record(Request { line: format!("frame: {name}").into_bytes(), headers: Vec::new(), body });
        let out = stream.get_mut();
        let mut say = |opcode: u8, payload: &[u8]| out.write_all(&frame(0x80 | opcode, payload));
        match (opcode, payload.as_slice()) {
            (TEXT, b"ping") => {
                say(PING, b"are you there")?;
                say(TEXT, b"pinged")?;
            }
            (TEXT, b"parts") => {
                out.write_all(&frame(TEXT, b"first"))?;
                out.write_all(&frame(0x80, b"second"))?;
            }
            (TEXT, b"noise") => {
                say(TEXT, b"noise 1")?;
                say(TEXT, b"noise 2")?;
                say(BINARY, &[1, 2, 3])?;
                say(TEXT, b"signal")?;
            }
            (TEXT, b"bytes") => say(BINARY, &[0, 127, 128, 255])?,
            (TEXT, b"bye") => say(CLOSE, b"\x03\xe9going away")?,
            (TEXT, b"nothing") | (PONG, _) => {}
            (TEXT, b"drop") => return Ok(()),
            (CLOSE, [3, 0xe9, ..]) => say(CLOSE, &[3, 0xe9])?,
            (PING, _) => say(PONG, &payload)?,
            _ => say(opcode, &payload)?,
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

/// One masked frame: opcode and payload.
fn read(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    const LONGEST: u64 = 1 << 24;
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
    if length > LONGEST || head[1] & 0x80 == 0 {
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

    /// A stream that is read from one side and written to the other.
    struct Both(io::Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Both {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Both {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn frames_are_answered_and_written_down() {
        let masked = |opcode: u8, payload: &[u8]| {
            let mut bytes = vec![0x80 | opcode, 0x80 | payload.len() as u8, 0, 0, 0, 0];
            bytes.extend_from_slice(payload);
            bytes
        };
        let sent = [masked(TEXT, b"hello"), masked(TEXT, b"parts"), masked(CLOSE, b"\x03\xe8ok")].concat();
        let mut stream = BufReader::new(Both(io::Cursor::new(sent), Vec::new()));
        let mut seen = Vec::new();
        converse(&mut stream, |request| seen.push(request)).unwrap();
        let answered = &stream.get_ref().1;
        assert!(answered.starts_with(b"\x81\x05hello\x01\x05first\x80\x06second\x88\x04\x03\xe8ok"));
        assert_eq!(
            (seen[2].line.as_slice(), seen[2].body.as_slice()),
            (&b"frame: close"[..], &b"1000 ok"[..])
        );
    }
}
