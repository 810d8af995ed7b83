//! Compressed bodies, decompressed while they arrive.
//!
//! Errors and their messages are those of `java.util.zip` and HttpClient's `DeflateInputStream`, because JMeter records them. An
//! invalid body fails its sample even if the text is not needed.

use std::cell::RefCell;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use busyhour_limits::Limit;
use busyhour_slices::tick;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::failure::Failure;
use crate::limits::{CONTENT_ENCODINGS_MAX, UNPACKED_BYTES_MIN, UNPACKED_PER_RECEIVED_MAX};
use crate::retained_body::RetainedBody;

/// The number of decoders that a thread retains for later bodies; each takes some 50 KiB.
const POOL_MAX: usize = 32;

/// The maximum number of bytes that one call decompresses.
const PLAIN_BYTES: usize = 32 * 1024;

/// The sizes of gzip's header without its optional fields, and of its trailer.
const GZIP_HEAD: usize = 10;
const GZIP_TRAILER: usize = 8;

/// The message for invalid data if the cause is unknown.
const UNKNOWN: &str = "Invalid ZLIB data format";

/// Flags of the gzip header (RFC 1952).
const HEAD_CHECKSUM: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// The number of decompressed bytes that count as one step: about 50 ns.
const BYTES_PER_STEP: usize = 16;

thread_local! {
    #[expect(clippy::vec_box, reason = "a decoder goes to its response and back as a pointer")]
    static POOL: RefCell<Vec<Box<Decoder>>> = const { RefCell::new(Vec::new()) };
    /// Buffers for decompressed data; nested decoders use one each at the same time.
    static PLAIN: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Deflate,
    Brotli,
}

impl Format {
    fn named(name: &[u8]) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            2 if is("br") => Some(Self::Brotli),
            4 if is("gzip") => Some(Self::Gzip),
            6 if is("x-gzip") => Some(Self::Gzip),
            7 if is("deflate") => Some(Self::Deflate),
            _ => None,
        }
    }
}

/// The destination of decompressed text, and its limit.
struct Output<'a, 'k> {
    retained: Option<&'a mut RetainedBody<'k>>,
    /// The number of bytes that all layers together may still yield.
    bytes_left: u64,
}

/// A body that is being decompressed; at the end its decoder is returned to the thread's pool.
pub(crate) struct Decoding {
    decoder: Option<Box<Decoder>>,
    /// The number of compressed bytes so far.
    received: u64,
    /// The number of bytes that all layers have yielded so far.
    unpacked: u64,
}

impl Decoding {
    /// Creates the decoders for a `Content-Encoding`; `None` if there is nothing to decode. Unknown names are ignored, as in
    /// HttpClient.
    ///
    /// # Errors
    /// If more than [`CONTENT_ENCODINGS_MAX`] encodings are stacked.
    pub(crate) fn named(encoding: &[u8]) -> Result<Option<Self>, Failure> {
        let mut formats =
            encoding.split(|byte| *byte == b',').filter_map(|name| Format::named(name.trim_ascii()));
        let Some(first) = formats.next() else { return Ok(None) };
        let mut decoding = Self::new(first);
        if let Some(decoder) = &mut decoding.decoder {
            // HttpClient decodes in the order of the names.
            let mut last = decoder;
            for (stacked, format) in formats.enumerate() {
                if stacked + 1 >= CONTENT_ENCODINGS_MAX {
                    let most = CONTENT_ENCODINGS_MAX as u64;
                    let limit = Limit::ContentEncodings;
                    return Err(Failure::constraint(limit, "number of content encodings", most));
                }
                last = last.next.insert(Decoder::boxed(format));
            }
        }
        Ok(Some(decoding))
    }

    fn new(format: Format) -> Self {
        let pooled = POOL.with_borrow_mut(Vec::pop);
        let decoder = match pooled {
            Some(mut decoder) => {
                decoder.begin(format);
                decoder
            }
            None => Decoder::boxed(format),
        };
        Self { decoder: Some(decoder), received: 0, unpacked: 0 }
    }

    /// Decodes a piece of the body and appends the text to `retained` if it is needed. An invalid body is reported at
    /// its end, so that the connection can be reused.
    ///
    /// # Errors
    /// If the decompressed body exceeds a limit.
    pub(crate) fn feed(
        &mut self,
        piece: &[u8],
        retained: Option<&mut RetainedBody<'_>>,
    ) -> Result<(), Failure> {
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        self.received += piece.len() as u64;
        let most = UNPACKED_BYTES_MIN.max(self.received.saturating_mul(UNPACKED_PER_RECEIVED_MAX));
        let bytes_left = most.saturating_sub(self.unpacked);
        let mut output = Output { retained, bytes_left };
        let fed = decoder.feed(piece, &mut output);
        self.unpacked += bytes_left - output.bytes_left;
        fed
    }

    /// Ends the body.
    ///
    /// # Errors
    /// If the body cannot be decoded.
    pub(crate) fn end(mut self) -> Result<(), Failure> {
        self.decoder.as_deref_mut().map_or(Ok(()), Decoder::end)
    }
}

impl Drop for Decoding {
    fn drop(&mut self) {
        if let Some(mut decoder) = self.decoder.take() {
            decoder.next = None;
            POOL.with_borrow_mut(|pool| {
                if pool.len() < POOL_MAX {
                    pool.push(decoder);
                }
            });
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The number of received bytes of the gzip header, or of the bytes that distinguish zlib from raw deflate.
    Head(usize),
    /// The first byte of the length of gzip's extra field.
    ExtraLength(Option<u8>),
    Extra(u16),
    Name,
    Comment,
    HeadChecksum(Option<u8>),
    Data,
    /// The number of received bytes of gzip's trailer.
    Trailer(usize),
    /// The remaining bytes are ignored.
    Tail,
}

struct Decoder {
    format: Format,
    state: State,
    /// Whether a complete gzip member was read: it may be followed by another one, or by other bytes, which are
    /// ignored.
    member_read: bool,
    inflate: Decompress,
    /// The checksum of the text; before that, of the header.
    crc: Crc,
    /// The received bytes of the header or trailer.
    bytes: [u8; GZIP_HEAD],
    failure: Option<Failure>,
    /// The decoder for brotli, which zlib does not support.
    brotli: Option<Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>>,
    /// The decoder of the next layer, if the text is itself compressed.
    next: Option<Box<Self>>,
}

impl Decoder {
    fn boxed(format: Format) -> Box<Self> {
        let mut decoder = Box::new(Self {
            format,
            state: State::Head(0),
            member_read: false,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            bytes: [0; GZIP_HEAD],
            failure: None,
            brotli: None,
            next: None,
        });
        decoder.begin(format);
        decoder
    }

    fn begin(&mut self, format: Format) {
        self.format = format;
        self.state = State::Head(0);
        self.member_read = false;
        self.inflate.reset(false);
        self.crc.reset();
        self.failure = None;
        // Strict: windows of more than 16 MiB are an extension that JMeter's decoder does not support.
        let state = || {
            BrotliState::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            )
        };
        self.brotli = (format == Format::Brotli).then(|| Box::new(state()));
        if self.brotli.is_some() {
            self.state = State::Data;
        }
    }

    /// Decodes a piece. Returns only errors of limits; an error in the body is stored for [`Self::end`].
    fn feed(&mut self, mut piece: &[u8], output: &mut Output<'_, '_>) -> Result<(), Failure> {
        while !piece.is_empty() && self.failure.is_none() && self.state != State::Tail {
            let used = match self.state {
                State::Data if self.format == Format::Brotli => self.brotli_data(piece, output),
                State::Data => self.inflate_data(piece, output),
                _ => self.framing_byte(piece[0], output).map(|()| 1),
            };
            match used {
                Ok(used) => piece = &piece[used..],
                Err(failure) if failure.limit.is_some() => return Err(failure),
                Err(failure) => self.failure = Some(failure),
            }
        }
        if self.format == Format::Brotli && !piece.is_empty() && self.failure.is_none() {
            // There are bytes after the compressed text.
            self.failure = Some(brotli_failure());
        }
        Ok(())
    }

    /// Passes decompressed text to the next layer or to the destination.
    fn pass_on(&mut self, text: &[u8], output: &mut Output<'_, '_>) -> Result<(), Failure> {
        let Some(bytes_left) = output.bytes_left.checked_sub(text.len() as u64) else {
            return Err(decompressed_too_large());
        };
        output.bytes_left = bytes_left;
        tick(text.len() / BYTES_PER_STEP);
        match (&mut self.next, &mut output.retained) {
            // At most CONTENT_ENCODINGS_MAX deep.
            (Some(next), _) => next.feed(text, output),
            (None, Some(retained)) => retained.push(text),
            (None, None) => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match self.state {
            State::Tail => {}
            State::Data if self.format == Format::Brotli => return Err(brotli_failure()),
            State::Data => return Err(end_of_file("Unexpected end of ZLIB input stream")),
            State::Trailer(_) => return Err(end_of_file("null")),
            _ if self.member_read => {}
            _ if self.format == Format::Gzip => return Err(end_of_file("null")),
            _ => return Err(zip_exception("Unexpected end of stream")),
        }
        self.next.as_deref_mut().map_or(Ok(()), Self::end)
    }

    /// Processes one byte of the framing around the data.
    fn framing_byte(&mut self, byte: u8, output: &mut Output<'_, '_>) -> Result<(), Failure> {
        self.state = match (self.format, self.state) {
            (Format::Deflate, State::Head(seen)) => {
                self.bytes[seen] = byte;
                if seen == 0 {
                    State::Head(1)
                } else {
                    self.state = State::Data;
                    let start = [self.bytes[0], byte];
                    self.inflate.reset(is_zlib(start));
                    let mut rest = &start[..];
                    while !rest.is_empty() && self.state == State::Data {
                        let used = self.inflate_data(rest, output)?;
                        rest = &rest[used..];
                    }
                    self.state
                }
            }
            (Format::Gzip, State::Head(seen)) => {
                self.bytes[seen] = byte;
                match seen {
                    1 if self.bytes[..2] != [0x1F, 0x8B] => self.invalid_head("Not in GZIP format")?,
                    2 if byte != 8 => self.invalid_head("Unsupported compression method")?,
                    _ if seen + 1 < GZIP_HEAD => State::Head(seen + 1),
                    _ => {
                        self.crc.reset();
                        if self.has(HEAD_CHECKSUM) {
                            self.crc.update(&self.bytes);
                        }
                        self.after_head(EXTRA)
                    }
                }
            }
            (_, State::ExtraLength(None)) => self.in_head(byte, State::ExtraLength(Some(byte))),
            (_, State::ExtraLength(Some(low))) => match u16::from_le_bytes([low, byte]) {
                0 => {
                    let next = self.after_head(NAME);
                    self.in_head(byte, next)
                }
                length => self.in_head(byte, State::Extra(length)),
            },
            (_, State::Extra(left)) => {
                let next = if left > 1 { State::Extra(left - 1) } else { self.after_head(NAME) };
                self.in_head(byte, next)
            }
            (_, State::Name) => {
                let next = if byte == 0 { self.after_head(COMMENT) } else { State::Name };
                self.in_head(byte, next)
            }
            (_, State::Comment) => {
                let next = if byte == 0 { self.after_head(HEAD_CHECKSUM) } else { State::Comment };
                self.in_head(byte, next)
            }
            (_, State::HeadChecksum(None)) => State::HeadChecksum(Some(byte)),
            (_, State::HeadChecksum(Some(low))) => {
                if u32::from(u16::from_le_bytes([low, byte])) == self.crc.sum() & 0xFFFF {
                    self.begin_member()
                } else {
                    self.invalid_head("Corrupt GZIP header")?
                }
            }
            (_, State::Trailer(seen)) => {
                self.bytes[seen] = byte;
                if seen + 1 < GZIP_TRAILER {
                    State::Trailer(seen + 1)
                } else {
                    let expected = u64::from(self.crc.amount()) << 32 | u64::from(self.crc.sum());
                    if self.bytes[..GZIP_TRAILER] != expected.to_le_bytes() {
                        return Err(zip_exception("Corrupt GZIP trailer"));
                    }
                    self.member_read = true;
                    State::Head(0)
                }
            }
            (_, state) => state,
        };
        Ok(())
    }

    fn has(&self, flag: u8) -> bool {
        self.bytes[3] & flag != 0
    }

    /// Processes a byte of an optional field of the header, which is included in its checksum.
    fn in_head(&mut self, byte: u8, next: State) -> State {
        if self.has(HEAD_CHECKSUM) && next != State::Data {
            self.crc.update(&[byte]);
        }
        next
    }

    /// The state for the first optional field, from `flag` on, that is present.
    fn after_head(&mut self, flag: u8) -> State {
        for (field, state) in
            [(EXTRA, State::ExtraLength(None)), (NAME, State::Name), (COMMENT, State::Comment)]
        {
            if flag != HEAD_CHECKSUM && field >= flag && self.has(field) {
                return state;
            }
        }
        if self.has(HEAD_CHECKSUM) { State::HeadChecksum(None) } else { self.begin_member() }
    }

    fn begin_member(&mut self) -> State {
        self.crc.reset();
        self.inflate.reset(false);
        State::Data
    }

    /// Handles an invalid header, which does not matter after a complete member.
    fn invalid_head(&self, message: &str) -> Result<State, Failure> {
        if self.member_read { Ok(State::Tail) } else { Err(zip_exception(message)) }
    }

    /// Decompresses; returns the number of bytes used.
    fn inflate_data(&mut self, piece: &[u8], output: &mut Output<'_, '_>) -> Result<usize, Failure> {
        let mut buffer = take_buffer();
        let mut used = 0;
        let outcome = loop {
            let (read, made) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(&piece[used..], &mut buffer, FlushDecompress::None);
            let made = (self.inflate.total_out() - made) as usize;
            used += (self.inflate.total_in() - read) as usize;
            let text = &buffer[..made];
            if self.format == Format::Gzip {
                self.crc.update(text);
            }
            if let Err(failure) = self.pass_on(text, output) {
                break Err(failure);
            }
            match status {
                Ok(Status::StreamEnd) => {
                    self.state = if self.format == Format::Gzip { State::Trailer(0) } else { State::Tail };
                    break Ok(used);
                }
                // The buffer was large enough for the available output.
                Ok(_) if made < buffer.len() => break Ok(piece.len()),
                Ok(_) => {}
                // Java treats a text that needs a dictionary as empty.
                Err(error) if error.needs_dictionary().is_some() => {
                    self.state = State::Tail;
                    break Ok(used);
                }
                Err(error) => break Err(zip_exception(reason(&error))),
            }
        };
        return_buffer(buffer);
        outcome
    }

    /// Decompresses brotli; returns the number of bytes used.
    fn brotli_data(&mut self, piece: &[u8], output: &mut Output<'_, '_>) -> Result<usize, Failure> {
        let Some(mut brotli) = self.brotli.take() else { return Err(brotli_failure()) };
        let mut buffer = take_buffer();
        let (mut left, mut used, mut total) = (piece.len(), 0, 0);
        let outcome = loop {
            let (mut space, mut made) = (buffer.len(), 0);
            let result = BrotliDecompressStream(
                &mut left,
                &mut used,
                piece,
                &mut space,
                &mut made,
                &mut buffer,
                &mut total,
                &mut brotli,
            );
            if let Err(failure) = self.pass_on(&buffer[..made], output) {
                break Err(failure);
            }
            match result {
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::NeedsMoreInput => break Ok(piece.len()),
                BrotliResult::ResultSuccess => {
                    self.state = State::Tail;
                    break Ok(used);
                }
                BrotliResult::ResultFailure => break Err(brotli_failure()),
            }
        };
        return_buffer(buffer);
        self.brotli = Some(brotli);
        outcome
    }
}

fn take_buffer() -> Vec<u8> {
    PLAIN.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; PLAIN_BYTES])
}

fn return_buffer(buffer: Vec<u8>) {
    PLAIN.with_borrow_mut(|buffers| {
        if buffers.len() < CONTENT_ENCODINGS_MAX {
            buffers.push(buffer);
        }
    });
}

fn decompressed_too_large() -> Failure {
    let message = format!(
        "Compressed body unpacks to more than {} MiB and to more than {} times its size",
        UNPACKED_BYTES_MIN >> 20,
        crate::response::grouped(UNPACKED_PER_RECEIVED_MAX)
    );
    Failure::limited(Limit::UnpackedBytes, "org.apache.http.ContentTooLongException", message)
}

/// The reason why data cannot be decompressed, in zlib's wording.
fn reason(error: &flate2::DecompressError) -> &str {
    // The library's fast path does not report the cause; use Java's message for an unknown cause.
    error.message().filter(|text| *text != "repeated call with bad state").unwrap_or(UNKNOWN)
}

/// Whether deflate data has a zlib header, by HttpClient's test.
fn is_zlib(start: [u8; 2]) -> bool {
    start[0] & 0x0F == 8 && start[0] >> 4 <= 7 && u16::from_be_bytes(start).is_multiple_of(31)
}

fn brotli_failure() -> Failure {
    Failure::new("java.io.IOException", "Brotli stream decoding failed")
}

fn zip_exception(message: &str) -> Failure {
    Failure::new("java.util.zip.ZipException", message)
}

fn end_of_file(message: &str) -> Failure {
    Failure::new("java.io.EOFException", message)
}

#[cfg(test)]
mod tests;
