//! Decompresses inputs, and counts the bytes and lines that are read.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// The bytes of a file or stream.
pub(crate) type Bytes = Box<dyn Read>;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// gzip (`.gz`)
    Gzip,
    /// Zstandard (`.zst`)
    Zstd,
}

impl std::fmt::Display for Packing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
        })
    }
}

/// Number of bytes of a file read so far, before decompression. Progress is reported in these bytes.
pub(crate) type ReadBytes = Rc<Cell<u64>>;

struct Counted {
    input: Bytes,
    read: ReadBytes,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// The bytes of `input`, decompressed if necessary.
pub(crate) fn unpacked(input: Bytes) -> io::Result<(Bytes, Option<Packing>, ReadBytes)> {
    let read = ReadBytes::default();
    let mut input = Counted { input, read: Rc::clone(&read) };
    let mut head = Vec::with_capacity(4);
    (&mut input).take(4).read_to_end(&mut head)?;
    let packing = match head[..] {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd] => Some(Packing::Zstd),
        _ => None,
    };
    let whole = io::Cursor::new(head).chain(input);
    let bytes: Bytes = match packing {
        // Concatenated files are read as one.
        Some(Packing::Gzip) => Box::new(UntilCut(flate2::read::MultiGzDecoder::new(whole))),
        Some(Packing::Zstd) => Box::new(UntilCut(zstd::stream::read::Decoder::new(whole)?)),
        None => Box::new(whole),
    };
    Ok((bytes, packing, read))
}

/// Treats a truncated compressed file as if it ended there, so that the part that can be decompressed is used.
struct UntilCut<R>(R);

impl<R: Read> Read for UntilCut<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            other => other,
        }
    }
}

/// Counts the lines that are read, and limits how much is read at a time.
pub(crate) struct LineCounted<R> {
    input: R,
    lines: Rc<Cell<u64>>,
    /// Number of bytes that may be read before [`LineCounted::allow`] is called again.
    allowed: u64,
}

impl<R> LineCounted<R> {
    /// Returns the reader, and the number of line feeds that it has read.
    pub(crate) fn new(input: R) -> (LineCounted<R>, Rc<Cell<u64>>) {
        let lines = Rc::new(Cell::new(0));
        (LineCounted { input, lines: Rc::clone(&lines), allowed: u64::MAX }, lines)
    }

    /// Allows about `bytes` bytes to be read until the next call; further reads fail with [`io::ErrorKind::FileTooLarge`].
    pub(crate) const fn allow(&mut self, bytes: u64) {
        self.allowed = bytes;
    }
}

impl<R: BufRead> Read for LineCounted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let lines = memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
        self.lines.set(self.lines.get() + lines);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for LineCounted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.allowed == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The consumed bytes are still in the buffer, so this does not read from the input.
        if let Ok(buffer) = self.input.fill_buf() {
            let passed = &buffer[..amount.min(buffer.len())];
            let lines = memchr::memchr_iter(b'\n', passed).count() as u64;
            self.lines.set(self.lines.get() + lines);
        }
        self.allowed = self.allowed.saturating_sub(amount as u64);
        self.input.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(bytes: Vec<u8>) -> (String, Option<Packing>, u64) {
        let (mut input, packing, read) = unpacked(Box::new(io::Cursor::new(bytes))).unwrap();
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        (text, packing, read.get())
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compression_is_detected_from_the_first_bytes() {
        assert_eq!(read(b"1,2".to_vec()), ("1,2".into(), None, 3));
        assert_eq!(read(Vec::new()), (String::new(), None, 0));
        let twice = [gzip("one\n"), gzip("two\n")].concat();
        let length = twice.len() as u64;
        assert_eq!(read(twice), ("one\ntwo\n".into(), Some(Packing::Gzip), length));
        let packed = zstd::encode_all(&b"one\n"[..], 3).unwrap();
        let twice = [packed.clone(), packed].concat();
        assert_eq!(read(twice).0, "one\none\n");
    }

    #[test]
    fn a_truncated_compressed_file_gives_its_readable_part() {
        let text: String = (0..20_000).map(|line| format!("{line} {}\n", line * 7919 % 10_007)).collect();
        let packed = gzip(&text);
        let (part, _, _) = read(packed[..packed.len() / 2].to_vec());
        assert!(part.len() > 1_000 && text.starts_with(&part));
    }

    #[test]
    fn lines_are_counted_as_they_pass() {
        let (mut input, lines) = LineCounted::new(io::BufReader::with_capacity(4, &b"a\nbb\n\nc"[..]));
        let mut line = Vec::new();
        input.read_until(b'b', &mut line).unwrap();
        assert_eq!(lines.get(), 1);
        io::copy(&mut input, &mut io::sink()).unwrap();
        assert_eq!(lines.get(), 3);
    }
}
