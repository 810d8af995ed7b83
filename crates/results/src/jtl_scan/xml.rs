//! Reads the rows of an XML log.

use std::borrow::Cow;
use std::io::BufRead;

use busyhour_sample::LogRow;
use quick_xml::Reader;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::cells;
use super::error::{BadRow, LogError, RowPlace};
use super::rows::{LogLabels, ScanState};

/// The kind of a sample that contains other samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outer {
    /// The sample of a transaction controller; its direct children are requests of the plan.
    Transaction,
    /// The sample of a sampler; its children are redirects and embedded resources.
    Sampler,
}

/// Reads all rows and passes them to `see`.
pub(super) fn scan(
    input: impl BufRead,
    stamps_are_ends: bool,
    state: &mut ScanState,
    see: &mut impl FnMut(&LogRow, &LogLabels),
    progress: &mut dyn FnMut(u64),
) -> Result<(), LogError> {
    let mut reader = Reader::from_reader(input);
    let mut buffer = Vec::new();
    let mut open: Vec<Outer> = Vec::new();
    let mut rooted = false;
    let mut closed = false;
    let mut samples = 0u64;
    let mut reported = 0;
    loop {
        buffer.clear();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) => {
                return Err(std::io::Error::new(error.kind(), error.to_string()).into());
            }
            // If a run was killed, elements are not closed, and the file may end within a tag or an entity.
            Err(
                quick_xml::Error::Syntax(_) | quick_xml::Error::IllFormed(IllFormedError::UnclosedReference),
            ) if rooted && at_end(&mut reader) => {
                break;
            }
            Err(error) => {
                let at = reader.error_position();
                return Err(LogError::Xml { line: 0, at, problem: error.to_string() });
            }
        };
        let (element, is_empty) = match &event {
            Event::Start(element) => (element, false),
            Event::Empty(element) => (element, true),
            Event::End(element) => {
                match element.name().as_ref() {
                    b"sample" | b"httpSample" => {
                        open.pop();
                    }
                    b"testResults" => closed = true,
                    _ => {}
                }
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        if !rooted {
            if element.name().as_ref() != b"testResults" {
                let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
                return Err(LogError::XmlRoot(name));
            }
            rooted = true;
            closed = is_empty;
            continue;
        }
        if !matches!(element.name().as_ref(), b"sample" | b"httpSample") {
            continue;
        }
        samples += 1;
        let at = reader.buffer_position();
        if at - reported > 1 << 20 {
            reported = at;
            progress(at);
        }
        let outer = take(element, stamps_are_ends, samples, open.last().copied(), state, see);
        if !is_empty {
            open.push(outer);
        }
    }
    if !rooted {
        return Err(LogError::Xml { line: 0, at: 0, problem: "there is no element".into() });
    }
    state.facts.cut_off = !closed;
    Ok(())
}

/// Whether the input is at its end.
fn at_end<R: BufRead>(reader: &mut Reader<R>) -> bool {
    reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// Creates a row from the attributes of a sample, unless the sample is nested in a sampler's sample.
fn take(
    element: &BytesStart<'_>,
    stamp_is_end: bool,
    number: u64,
    outer: Option<Outer>,
    state: &mut ScanState,
    see: &mut impl FnMut(&LogRow, &LogLabels),
) -> Outer {
    let mut label = Cow::Borrowed(&b""[..]);
    let (mut stamp_ns, mut elapsed_ns, mut latency_ns, mut bytes) = (None, None, None, None);
    let (mut idle, mut count) = (Cow::Borrowed(&b""[..]), None);
    let (mut thread, mut user, mut success, mut transaction) = (None, None, true, false);
    for attribute in element.attributes().with_checks(false).flatten() {
        let value = attribute.value.as_ref();
        match attribute.key.as_ref() {
            b"ts" => stamp_ns = cells::stamp_ns(value),
            b"t" => elapsed_ns = cells::span_ns(value),
            b"lt" => latency_ns = cells::span_ns(value),
            b"it" => idle = attribute.value,
            b"sc" => count = cells::number(value),
            b"by" => bytes = cells::number(value),
            b"s" => success = cells::passed(value),
            b"tn" => (thread, user) = (cells::thread(value), cells::user(value)),
            b"rm" => transaction = cells::is_transaction(value),
            b"lb" => label = attribute.value,
            _ => {}
        }
    }
    if outer == Some(Outer::Sampler) {
        state.facts.sub_results += 1;
        return Outer::Sampler;
    }
    if transaction {
        state.facts.transactions += 1;
        return Outer::Transaction;
    }
    let (Some(start_ns), Some(elapsed_ns)) = (stamp_ns, elapsed_ns) else {
        let (key, problem) = match stamp_ns {
            None => ("ts", "is not a time in ms since 1970"),
            Some(_) => ("t", "is not a duration in ms"),
        };
        let found = element.try_get_attribute(key).ok().flatten();
        let text = found.as_ref().map(|attribute| attribute.value.as_ref()).unwrap_or_default();
        state.add_bad_row(|| BadRow::new(RowPlace::Sample(number), key, text, problem));
        return Outer::Sampler;
    };
    let Some(start_ns) = cells::start_ns(start_ns, elapsed_ns, &idle, stamp_is_end) else {
        state.add_bad_row(|| BadRow::new(RowPlace::Sample(number), "it", &idle, "is not a duration in ms"));
        return Outer::Sampler;
    };
    state.facts.of_several += u64::from(count.is_some_and(|count| count > 1));
    state.facts.rows += 1;
    let label = match std::str::from_utf8(&label).ok().and_then(|text| unescape(text).ok()) {
        Some(text) => state.labels.intern(text.as_bytes()),
        None => state.labels.intern(&label),
    };
    let row = LogRow {
        start_ns,
        elapsed_ns,
        latency_ns,
        late_ns: None,
        bytes,
        label,
        group: None,
        thread,
        user,
        success,
    };
    see(&row, &state.labels);
    Outer::Sampler
}
