//! Reading the rows of an XML log.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::cells;
use super::problem::{BadRow, LogError, RowPlace};
use super::rows::{LogLabels, LogRow, Seen};

/// What an open sample means for those inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outer {
    /// The sample of a transaction controller: what is directly inside are requests of the plan.
    Transaction,
    /// A sampler's: what is inside are redirects and embedded resources.
    Sampler,
}

/// Reads all rows.
pub(super) fn scan(
    input: impl BufRead,
    stamps_are_ends: bool,
    seen: &mut Seen,
    see: &mut impl FnMut(&LogRow, &LogLabels),
    progress: &mut dyn FnMut(u64),
) -> Result<(), LogError> {
    let mut reader = Reader::from_reader(input);
    let mut buffer = Vec::new();
    let mut open: Vec<Outer> = Vec::new();
    let mut rooted = false;
    let mut closed = false;
    let mut samples = 0u64;
    let mut told = 0;
    loop {
        buffer.clear();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) => {
                return Err(std::io::Error::new(error.kind(), error.to_string()).into());
            }
            // A run that was killed leaves its elements open, perhaps within a tag or an entity.
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
        if at - told > 1 << 20 {
            told = at;
            progress(at);
        }
        let outer = take(element, stamps_are_ends, samples, open.last().copied(), seen, see);
        if !is_empty {
            open.push(outer);
        }
    }
    if !rooted {
        return Err(LogError::Xml { line: 0, at: 0, problem: "there is no element".into() });
    }
    seen.facts.cut_off = !closed;
    Ok(())
}

/// Whether nothing is left to read.
fn at_end<R: BufRead>(reader: &mut Reader<R>) -> bool {
    reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// Makes a row of a sample's attributes, unless it stands inside another sampler's.
fn take(
    element: &BytesStart<'_>,
    stamp_is_end: bool,
    number: u64,
    outer: Option<Outer>,
    seen: &mut Seen,
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
        seen.facts.sub_results += 1;
        return Outer::Sampler;
    }
    if transaction {
        seen.facts.transactions += 1;
        return Outer::Transaction;
    }
    let (Some(start_ns), Some(elapsed_ns)) = (stamp_ns, elapsed_ns) else {
        let (key, problem) = match stamp_ns {
            None => ("ts", "is no time in ms since 1970"),
            Some(_) => ("t", "is no length of time in ms"),
        };
        let found = element.try_get_attribute(key).ok().flatten();
        let text = found.as_ref().map(|attribute| attribute.value.as_ref()).unwrap_or_default();
        seen.bad(|| BadRow::new(RowPlace::Sample(number), key, text, problem));
        return Outer::Sampler;
    };
    let Some(start_ns) = cells::start_ns(start_ns, elapsed_ns, &idle, stamp_is_end) else {
        seen.bad(|| BadRow::new(RowPlace::Sample(number), "it", &idle, "is no length of time in ms"));
        return Outer::Sampler;
    };
    seen.facts.of_several += u64::from(count.is_some_and(|count| count > 1));
    seen.facts.rows += 1;
    let label = match std::str::from_utf8(&label).ok().and_then(|text| unescape(text).ok()) {
        Some(text) => seen.labels.intern(text.as_bytes()),
        None => seen.labels.intern(&label),
    };
    let row = LogRow { start_ns, elapsed_ns, latency_ns, bytes, label, group: None, thread, user, success };
    see(&row, &seen.labels);
    Outer::Sampler
}
