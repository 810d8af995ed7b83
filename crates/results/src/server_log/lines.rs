//! Reads the lines of access logs.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use busyhour_logs::StampSettings;
use busyhour_serverlog::{LINE_BYTES_MAX, LineReader, LogFormat, LoggedRequest, UnreadableLine};

use super::files::{COMPARED_MAX, ServerLogError, ServerLogFiles};
use crate::unpack::unpacked;

/// The lines of the log.
pub(super) struct ReadLines {
    /// The lines at the time of the run, in order of their stamps.
    pub(super) lines: Vec<LoggedRequest>,
    /// The name of the format.
    pub(super) format: String,
    /// Number of lines, without blank ones and comments.
    pub(super) count: u64,
    pub(super) unreadable: u64,
    pub(super) first_unreadable: Option<String>,
}

/// Reads the lines whose stamps are at most the maximum offset away from the run, which is `span_ns`.
pub(super) fn read_lines(log: &ServerLogFiles, span_ns: (i64, i64)) -> Result<ReadLines, ServerLogError> {
    let margin_ns = (log.offset_max_s * 1e9) as i64 + 60_000_000_000;
    let time = span_ns.0.saturating_sub(margin_ns)..=span_ns.1.saturating_add(margin_ns);
    let stamps = StampSettings { zone: Some(log.zone.clone()), near_unix_ns: span_ns.0 };
    let mut reader = log.format.clone().map(|format| LineReader::new(format, stamps.clone()));
    let mut read = ReadLines {
        lines: Vec::new(),
        format: String::new(),
        count: 0,
        unreadable: 0,
        first_unreadable: None,
    };
    let mut first_error = None;
    for file in &log.files {
        let mut number = 0;
        let mut see = |line: Result<&str, UnreadableLine>| {
            number += 1;
            if line.is_ok_and(|line| line.trim().is_empty() || line.starts_with('#')) {
                return Ok(());
            }
            read.count += 1;
            let result = line.and_then(|line| {
                let reader =
                    reader.get_or_insert_with(|| LineReader::new(LogFormat::detect(line), stamps.clone()));
                reader.read(line)
            });
            match result {
                Ok(line) if !time.contains(&line.stamp_ns) => {}
                Ok(_) if read.lines.len() >= COMPARED_MAX => {
                    return Err(ServerLogError::TooMany { what: "lines at the time of the run in the log" });
                }
                Ok(line) => read.lines.push(line),
                Err(error) => {
                    read.unreadable += 1;
                    read.first_unreadable
                        .get_or_insert_with(|| format!("{}:{number}: {error}", file.display()));
                    first_error.get_or_insert((number, error));
                }
            }
            Ok(())
        };
        each_line(file, &mut see)?;
    }
    let Some(first) = log.files.first() else { return Err(ServerLogError::NoRequests) };
    read.format = reader.as_ref().map(|reader| reader.format().name().to_owned()).unwrap_or_default();
    match first_error {
        _ if read.count == 0 => return Err(ServerLogError::Empty(first.clone())),
        Some((line, error)) if read.unreadable == read.count => {
            return Err(ServerLogError::Format {
                file: first.clone(),
                format: read.format,
                line,
                reason: error.to_string(),
            });
        }
        _ => {}
    }
    read.lines.sort_by_key(|line| line.stamp_ns);
    Ok(read)
}

/// Calls `see` with each line, without its end. Bytes that are not UTF-8 are replaced. Lines that are too long are passed as an error.
fn each_line(
    path: &Path,
    see: &mut dyn FnMut(Result<&str, UnreadableLine>) -> Result<(), ServerLogError>,
) -> Result<(), ServerLogError> {
    let failed = |source: io::Error| ServerLogError::File { file: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let (bytes, _, _) = unpacked(Box::new(file)).map_err(failed)?;
    let mut input = BufReader::with_capacity(1 << 18, bytes);
    let (mut line, mut is_long) = (Vec::new(), false);
    loop {
        let buffer = input.fill_buf().map_err(failed)?;
        let is_end = buffer.is_empty();
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = (LINE_BYTES_MAX + 1).saturating_sub(line.len());
        is_long |= part.len() > room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() || (is_end && !line.is_empty()) {
            let text = String::from_utf8_lossy(&line);
            see(if is_long { Err(UnreadableLine::Long) } else { Ok(text.trim_end_matches('\r')) })?;
            line.clear();
            is_long = false;
        }
        if is_end {
            return Ok(());
        }
    }
}
