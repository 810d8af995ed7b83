//! Reading JMeter's XML result files: samples with those inside them.
//!
//! Other than in CSV, what stands inside a sampler's sample is known to be a sub-result, and what stands inside a
//! transaction's to be a request of the plan.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::jtl::{Groups, JtlError, TRANSACTION, formatted_ms};
use crate::labels::Labels;
use crate::recorder::RunNames;
use crate::sample::{DataType, Nanos, Sample, SampleFlags};
use crate::samples_file::SamplesEnd;

/// Results inside one another that are told apart; what is deeper counts as one level.
const DEPTH_MAX: usize = 64;

/// Reads an XML result file sample by sample; what is held is one sample with those inside it.
pub(crate) struct XmlReader<R> {
    reader: Reader<R>,
}

/// A sample as it is being read.
#[derive(Default)]
struct Read {
    label: String,
    stamp_ms: i64,
    elapsed_ms: i64,
    idle_ms: i64,
    latency_ms: i64,
    connect_ms: i64,
    success: bool,
    code: String,
    message: String,
    thread: String,
    data_type: DataType,
    encoding: String,
    bytes: u64,
    sent_bytes: u64,
    sample_count: Option<u32>,
    error_count: Option<u32>,
    users_group: u32,
    users_all: u32,
    hostname: String,
    url: Option<String>,
    failure: Option<String>,
    /// Attributes that are none of JMeter's own.
    variables: Vec<(String, String)>,
    children: Vec<Read>,
}

/// Which text is being read.
enum Text {
    Url,
    FailureMessage,
}

impl XmlReader<BufReader<File>> {
    /// Opens the file at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, JtlError> {
        Ok(XmlReader::new(BufReader::with_capacity(1 << 18, File::open(path)?)))
    }
}

impl<R: BufRead> XmlReader<R> {
    pub(crate) fn new(input: R) -> Self {
        XmlReader { reader: Reader::from_reader(input) }
    }

    /// The least start in ms since 1970; `None` without samples.
    pub(crate) fn first_ms(self) -> Result<Option<i64>, JtlError> {
        let mut first: Option<i64> = None;
        self.walk(|read| {
            first = Some(first.map_or(read.stamp_ms, |least| least.min(read.stamp_ms)));
        })?;
        Ok(first)
    }

    /// Calls `see` with every sample, those inside another one behind it; stamps count from `wall_anchor_ms`.
    pub(crate) fn read(
        self,
        wall_anchor_ms: i64,
        labels: &Labels,
        mut see: impl FnMut(&Sample<'_>),
    ) -> Result<(SamplesEnd, RunNames), JtlError> {
        let mut told = Told {
            wall_anchor_ms,
            labels,
            groups: Groups::default(),
            names: Vec::new(),
            hostname: String::new(),
            samples: 0,
        };
        let cut_at = self.walk(|read| told.tell(read, SampleFlags::NONE, &mut see))?;
        let names = RunNames {
            groups: told.groups.names,
            variables: told.names,
            hostname: told.hostname,
            ..RunNames::default()
        };
        Ok((SamplesEnd { samples: told.samples, cut_at }, names))
    }

    /// Calls `see` with each sample that stands in no other; gives where the file was cut off, if it was.
    fn walk(mut self, mut see: impl FnMut(&Read)) -> Result<Option<u64>, JtlError> {
        let mut buffer = Vec::new();
        let mut open: Vec<Read> = Vec::new();
        let (mut rooted, mut closed) = (false, false);
        let mut text = None;
        let mut deeper = 0usize;
        loop {
            buffer.clear();
            let event = match self.reader.read_event_into(&mut buffer) {
                Ok(event) => event,
                Err(quick_xml::Error::Io(error)) => {
                    return Err(std::io::Error::new(error.kind(), error.to_string()).into());
                }
                // A run that was killed leaves its elements open, perhaps within a tag or an entity.
                Err(
                    quick_xml::Error::Syntax(_)
                    | quick_xml::Error::IllFormed(IllFormedError::UnclosedReference),
                ) if rooted && at_end(&mut self.reader) => {
                    break;
                }
                Err(error) => {
                    let at = self.reader.error_position();
                    return Err(JtlError::BrokenXml { at, problem: error.to_string() });
                }
            };
            match event {
                Event::Start(element) | Event::Empty(element) if !rooted => {
                    if element.name().as_ref() != b"testResults" {
                        let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
                        return Err(JtlError::XmlRoot(name));
                    }
                    rooted = true;
                }
                Event::Start(element) => match element.name().as_ref() {
                    b"sample" | b"httpSample" if open.len() >= DEPTH_MAX => deeper += 1,
                    b"sample" | b"httpSample" => open.push(self.begun(&element)?),
                    b"java.net.URL" => text = Some(Text::Url),
                    // As in CSV: the message of the first that has one.
                    b"failureMessage" if open.last().is_some_and(|read| read.failure.is_none()) => {
                        text = Some(Text::FailureMessage);
                    }
                    _ => text = None,
                },
                Event::Empty(element) if matches!(element.name().as_ref(), b"sample" | b"httpSample") => {
                    let read = self.begun(&element)?;
                    match open.last_mut() {
                        Some(outer) => outer.children.push(read),
                        None => see(&read),
                    }
                }
                Event::End(element) => {
                    text = None;
                    match element.name().as_ref() {
                        b"sample" | b"httpSample" if deeper > 0 => deeper -= 1,
                        b"sample" | b"httpSample" => {
                            let Some(read) = open.pop() else { continue };
                            match open.last_mut() {
                                Some(outer) => outer.children.push(read),
                                None => see(&read),
                            }
                        }
                        b"testResults" => closed = true,
                        _ => {}
                    }
                }
                Event::Text(piece) => {
                    if let (Some(text), Some(read)) = (&text, open.last_mut()) {
                        read.text(text, &String::from_utf8_lossy(&piece));
                    }
                }
                Event::GeneralRef(name) => {
                    if let (Some(text), Some(read)) = (&text, open.last_mut()) {
                        let name = String::from_utf8_lossy(&name);
                        read.text(text, &unescape(&format!("&{name};")).unwrap_or_default());
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        if !rooted {
            return Err(JtlError::XmlRoot(String::new()));
        }
        Ok((!closed).then(|| self.reader.buffer_position()))
    }

    /// A sample from its attributes.
    fn begun(&self, element: &BytesStart<'_>) -> Result<Read, JtlError> {
        let mut read = Read { success: true, ..Read::default() };
        let mut stamped = false;
        for attribute in element.attributes().with_checks(false).flatten() {
            let key = attribute.key.as_ref();
            let raw = String::from_utf8_lossy(&attribute.value);
            let text = unescape(&raw).map_or_else(|_| raw.clone().into_owned(), std::borrow::Cow::into_owned);
            let number = || -> Result<i64, JtlError> {
                text.parse().map_err(|_| JtlError::XmlNumber {
                    at: self.reader.buffer_position(),
                    attribute: String::from_utf8_lossy(key).into_owned(),
                    text: text.chars().take(40).collect(),
                })
            };
            let count = |number: i64| u32::try_from(number).unwrap_or(0);
            match key {
                b"t" => read.elapsed_ms = number()?,
                b"it" => read.idle_ms = number()?,
                b"lt" => read.latency_ms = number()?,
                b"ct" => read.connect_ms = number()?,
                b"ts" => {
                    read.stamp_ms = match text.parse() {
                        Ok(ms) => ms,
                        Err(_) => formatted_ms(&text).map_or_else(number, Ok)?,
                    };
                    stamped = true;
                }
                b"s" => read.success = text.eq_ignore_ascii_case("true"),
                b"lb" => read.label = text,
                b"rc" | b"rs" => read.code = text,
                b"rm" => read.message = text,
                b"tn" => read.thread = text,
                b"dt" => {
                    read.data_type = match text.as_str() {
                        "text" => DataType::Text,
                        "bin" => DataType::Binary,
                        _ => DataType::Unknown,
                    }
                }
                b"de" => read.encoding = text,
                b"by" => read.bytes = u64::try_from(number()?).unwrap_or(0),
                b"sby" => read.sent_bytes = u64::try_from(number()?).unwrap_or(0),
                b"sc" => read.sample_count = Some(count(number()?)),
                b"ec" => read.error_count = Some(count(number()?)),
                b"ng" => read.users_group = count(number()?),
                b"na" => read.users_all = count(number()?),
                b"hn" => read.hostname = text,
                _ => read.variables.push((decoded_name(&String::from_utf8_lossy(key)), text)),
            }
        }
        if !stamped {
            return Err(JtlError::XmlNumber {
                at: self.reader.buffer_position(),
                attribute: "ts".into(),
                text: String::new(),
            });
        }
        Ok(read)
    }
}

/// Whether nothing is left to read.
fn at_end<R: BufRead>(reader: &mut Reader<R>) -> bool {
    reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// The name of a variable from that of its attribute.
fn decoded_name(name: &str) -> String {
    name.replace("__", "\0").replace("_-", "$").replace('\0', "_")
}

impl Read {
    fn text(&mut self, text: &Text, piece: &str) {
        match text {
            Text::Url => self.url.get_or_insert_default().push_str(piece),
            Text::FailureMessage => self.failure.get_or_insert_default().push_str(piece),
        }
    }
}

/// What has been told so far.
struct Told<'l> {
    wall_anchor_ms: i64,
    labels: &'l Labels,
    groups: Groups,
    names: Vec<String>,
    hostname: String,
    samples: u64,
}

impl Told<'_> {
    fn tell(&mut self, read: &Read, kind: SampleFlags, see: &mut impl FnMut(&Sample<'_>)) {
        let ns = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
        let start = ns(read.stamp_ms.saturating_sub(self.wall_anchor_ms));
        let idle_ns = ns(read.idle_ms);
        let (group, user) = self.groups.of(&read.thread);
        if self.hostname.is_empty() {
            self.hostname.clone_from(&read.hostname);
        }
        for (name, _) in &read.variables {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        let value = |name: &String| read.variables.iter().find(|(known, _)| known == name);
        let variables: Vec<&str> =
            self.names.iter().map(|name| value(name).map_or("", |(_, value)| value.as_str())).collect();
        let is_transaction = read.message.starts_with(TRANSACTION);
        let mut flags = kind;
        if is_transaction && !kind.contains(SampleFlags::SUB_RESULT) {
            flags = flags | SampleFlags::TRANSACTION;
        }
        if read.url.is_none() {
            flags = flags | SampleFlags::NO_URL;
        }
        see(&Sample {
            label: self.labels.intern(&read.label),
            group,
            user,
            intended: Nanos(start),
            start: Nanos(start),
            end: Nanos(start.saturating_add(ns(read.elapsed_ms)).saturating_add(idle_ns)),
            connect_ns: ns(read.connect_ms),
            latency_ns: ns(read.latency_ms),
            idle_ns,
            code: &read.code,
            message: &read.message,
            data_type: read.data_type,
            encoding: &read.encoding,
            success: read.success,
            failure_message: read.failure.as_deref().unwrap_or_default(),
            bytes: read.bytes,
            sent_bytes: read.sent_bytes,
            users_group: read.users_group,
            users_all: read.users_all,
            url: read.url.as_deref().unwrap_or_default(),
            sample_count: read.sample_count.unwrap_or(1),
            error_count: read.error_count.unwrap_or(u32::from(!read.success)),
            flags,
            listeners: 0,
            variables: &variables,
        });
        self.samples += 1;
        let inside = if flags.contains(SampleFlags::TRANSACTION) {
            SampleFlags::TRANSACTION_CHILD
        } else {
            SampleFlags::SUB_RESULT
        };
        for child in &read.children {
            self.tell(child, inside, see);
        }
    }
}

#[cfg(test)]
mod tests;
