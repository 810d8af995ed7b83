//! Reads JMeter's XML result files, in which samples contain nested samples.
//!
//! Unlike in CSV, nested samples can be distinguished: those within a sampler's sample are sub-results, and those
//! within a transaction are requests of the plan.

use std::cell::Cell;
use std::io::BufRead;
use std::rc::Rc;

use busyhour_sample::{Labels, Nanos, Sample, SampleFlags};
use quick_xml::Reader;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use rustc_hash::FxHashMap;

use crate::jtl_cells::{Groups, TRANSACTION};
use crate::jtl_scan::{BadRow, LogError, RowPlace};
use crate::unpack::LineCounted;

use super::sample_fields::{NO_STAMP, XmlSample};

/// Maximum depth of nested results. Deeper results are ignored.
const DEPTH_MAX: usize = 64;

/// Maximum length of a tag or text in bytes. Response data are not needed, but they have to be read into memory, and a
/// compressed file of 2 MB can contain a text of 2 GB.
const PART_BYTES_MAX: u64 = 256 << 20;

/// Maximum length in bytes of a URL or a failure message; longer ones are truncated.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Maximum number of samples nested in one sample, all of which are in memory at once. JMeter writes one for each embedded
/// resource and redirect.
const NESTED_MAX: usize = 100_000;

/// Maximum number of variables, as for the columns of a CSV file; further variables are ignored.
const VARIABLES_MAX: usize = 1_000;

/// Reads an XML result file sample by sample. Only one sample with its nested samples is in memory.
pub(super) struct XmlSamples<R> {
    reader: Reader<LineCounted<R>>,
    lines: Rc<Cell<u64>>,
    buffer: Vec<u8>,
    part_bytes_max: u64,
    /// The samples whose elements are open, outermost first.
    open: Vec<XmlSample>,
    /// Number of open samples deeper than [`DEPTH_MAX`].
    deeper: usize,
    /// Number of complete samples that are nested in the open ones.
    nested: usize,
    rooted: bool,
    closed: bool,
    text: Option<Text>,
    stamps_are_ends: bool,
    labels: Labels,
    pub(super) groups: Groups,
    /// Names of variables, in order of appearance.
    pub(super) variables: Vec<String>,
    variable_places: FxHashMap<String, usize>,
    pub(super) hostname: String,
}

/// The result of reading the next top-level sample.
pub(super) enum Step {
    /// A complete sample with its nested samples.
    Whole(Box<XmlSample>),
    /// An invalid sample, which is skipped with its nested samples.
    Bad(BadRow),
    /// The end of the file, or the offset at which it is truncated.
    End { cut_at: Option<u64> },
}

/// The element whose text is being read.
enum Text {
    Url,
    FailureMessage,
}

impl<R: BufRead> XmlSamples<R> {
    pub(super) fn new(input: R, labels: Labels, stamps_are_ends: bool) -> Self {
        let (input, lines) = LineCounted::new(input);
        XmlSamples {
            reader: Reader::from_reader(input),
            lines,
            buffer: Vec::new(),
            part_bytes_max: PART_BYTES_MAX,
            open: Vec::new(),
            deeper: 0,
            nested: 0,
            rooted: false,
            closed: false,
            text: None,
            stamps_are_ends,
            labels,
            groups: Groups::default(),
            variables: Vec::new(),
            variable_places: FxHashMap::default(),
            hostname: String::new(),
        }
    }

    fn line(&self) -> u64 {
        self.lines.get() + 1
    }

    /// The next top-level sample.
    pub(super) fn next(&mut self) -> Result<Step, LogError> {
        loop {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            let step = self.event(&mut buffer);
            self.buffer = buffer;
            if let Some(step) = step? {
                return Ok(step);
            }
        }
    }

    fn event(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Step>, LogError> {
        self.reader.get_mut().allow(self.part_bytes_max);
        let event = match self.reader.read_event_into(buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                return Err(LogError::XmlPart { line: self.line(), bytes: self.part_bytes_max });
            }
            Err(quick_xml::Error::Io(error)) => {
                return Err(std::io::Error::new(error.kind(), error.to_string()).into());
            }
            // If a run was killed, elements are not closed, and the file may end within a tag or an entity.
            Err(
                quick_xml::Error::Syntax(_) | quick_xml::Error::IllFormed(IllFormedError::UnclosedReference),
            ) if self.rooted && at_end(&mut self.reader) => {
                return Ok(Some(Step::End { cut_at: Some(self.reader.buffer_position()) }));
            }
            Err(error) => {
                let at = self.reader.error_position();
                return Err(LogError::Xml { line: self.line(), at, problem: error.to_string() });
            }
        };
        match event {
            Event::Start(element) if !self.rooted => self.root(&element)?,
            Event::Empty(element) if !self.rooted => {
                self.root(&element)?;
                self.closed = true;
            }
            Event::Start(element) => match element.name().as_ref() {
                b"sample" | b"httpSample" if self.open.len() >= DEPTH_MAX => self.deeper += 1,
                b"sample" | b"httpSample" => {
                    let read = self.begun(&element);
                    self.open.push(read);
                }
                b"java.net.URL" => self.text = Some(Text::Url),
                // As in CSV files, the failure message is that of the first assertion that has one.
                b"failureMessage" if self.open.last().is_some_and(|read| read.failure.is_none()) => {
                    self.text = Some(Text::FailureMessage);
                }
                _ => self.text = None,
            },
            Event::Empty(element) if matches!(element.name().as_ref(), b"sample" | b"httpSample") => {
                let read = self.begun(&element);
                return Ok(self.ended(read));
            }
            Event::End(element) => {
                self.text = None;
                match element.name().as_ref() {
                    b"sample" | b"httpSample" if self.deeper > 0 => self.deeper -= 1,
                    b"sample" | b"httpSample" => {
                        if let Some(read) = self.open.pop() {
                            return Ok(self.ended(read));
                        }
                    }
                    b"testResults" => self.closed = true,
                    _ => {}
                }
            }
            Event::Text(piece) => {
                if let (Some(text), Some(read)) = (&self.text, self.open.last_mut()) {
                    read.text(text, &String::from_utf8_lossy(&piece));
                }
            }
            Event::GeneralRef(name) => {
                if let (Some(text), Some(read)) = (&self.text, self.open.last_mut()) {
                    let name = String::from_utf8_lossy(&name);
                    read.text(text, &unescape(&format!("&{name};")).unwrap_or_default());
                }
            }
            Event::Eof if !self.rooted => {
                return Err(LogError::Xml {
                    line: self.line(),
                    at: 0,
                    problem: "there is no element".into(),
                });
            }
            Event::Eof => {
                let cut_at = (!self.closed).then(|| self.reader.buffer_position());
                return Ok(Some(Step::End { cut_at }));
            }
            _ => {}
        }
        Ok(None)
    }

    fn root(&mut self, element: &BytesStart<'_>) -> Result<(), LogError> {
        if element.name().as_ref() != b"testResults" {
            let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
            return Err(LogError::XmlRoot(name));
        }
        self.rooted = true;
        Ok(())
    }

    /// Adds a sample to its parent, or returns it if it has none.
    fn ended(&mut self, mut read: XmlSample) -> Option<Step> {
        let line = self.line();
        self.nested = if self.open.is_empty() { 0 } else { self.nested + 1 };
        match (self.open.last_mut(), read.bad.take()) {
            (Some(outer), None) if self.nested > NESTED_MAX => {
                let number = NESTED_MAX.to_string();
                outer.set_error(line, "sample", &number, "is the greatest number of nested samples");
            }
            (Some(outer), None) => outer.children.push(read),
            (Some(outer), Some(bad)) => {
                outer.bad.get_or_insert(bad);
            }
            (None, None) => return Some(Step::Whole(Box::new(read))),
            (None, Some(bad)) => return Some(Step::Bad(bad)),
        }
        None
    }

    /// Creates a sample from the attributes of its element.
    fn begun(&self, element: &BytesStart<'_>) -> XmlSample {
        let mut read = XmlSample::default();
        read.outcome.success = true;
        let line = self.line();
        let mut stamped = false;
        for attribute in element.attributes().with_checks(false).flatten() {
            let key = attribute.key.as_ref();
            let raw = String::from_utf8_lossy(&attribute.value);
            let text = unescape(&raw).map_or_else(|_| raw.clone().into_owned(), std::borrow::Cow::into_owned);
            stamped |= key == b"ts";
            if let Some(text) = read.set_attribute(line, key, text)
                && read.variables.len() < VARIABLES_MAX
            {
                read.variables.push((decoded_name(&String::from_utf8_lossy(key)), text));
            }
        }
        if !stamped {
            read.set_error(line, "ts", "", NO_STAMP);
        }
        if self.stamps_are_ends {
            let length_ns = read.elapsed_ns.saturating_add(read.idle_ns);
            read.stamp_ns = read.stamp_ns.saturating_sub_unsigned(length_ns);
        }
        read
    }

    /// Calls `see` with a sample and its nested samples, each after its parent. Times count from `origin_ns`, in ns since 1970.
    /// Returns the latest end and the number of samples.
    pub(super) fn emit(
        &mut self,
        read: &XmlSample,
        origin_ns: i64,
        see: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<(Nanos, u64), BadRow> {
        if read.stamp_ns < origin_ns {
            let stamp = (read.stamp_ns / 1_000_000).to_string();
            let problem = "is more than a year before the first sample";
            return Err(BadRow::new(RowPlace::Element(self.line()), "ts", stamp.as_bytes(), problem));
        }
        let mut emitted = (Nanos::ZERO, 0);
        self.emit_nested(read, origin_ns, SampleFlags::NONE, see, &mut emitted);
        Ok(emitted)
    }

    fn emit_nested(
        &mut self,
        read: &XmlSample,
        origin_ns: i64,
        kind: SampleFlags,
        see: &mut dyn FnMut(&Sample<'_>),
        emitted: &mut (Nanos, u64),
    ) {
        let start = Nanos(u64::try_from(read.stamp_ns.saturating_sub(origin_ns)).unwrap_or(0));
        let end = start + read.elapsed_ns.saturating_add(read.idle_ns);
        let (group, user) = self.groups.of(read.thread.as_bytes());
        if self.hostname.is_empty() {
            self.hostname.clone_from(&read.hostname);
        }
        for (name, _) in &read.variables {
            if self.variables.len() < VARIABLES_MAX && !self.variable_places.contains_key(name) {
                self.variable_places.insert(name.clone(), self.variables.len());
                self.variables.push(name.clone());
            }
        }
        let mut variables = vec![""; self.variables.len()];
        // If several variables have the same name, the first one is used.
        for (name, value) in read.variables.iter().rev() {
            if let Some(place) = self.variable_places.get(name) {
                variables[*place] = value;
            }
        }
        let mut flags = kind;
        if read.outcome.message.starts_with(TRANSACTION) && !kind.contains(SampleFlags::SUB_RESULT) {
            flags = flags | SampleFlags::TRANSACTION;
        }
        if read.url.is_none() {
            flags = flags | SampleFlags::NO_URL;
        }
        see(&Sample {
            label: self.labels.intern(&read.label),
            times: read.times(start, end),
            users: read.users,
            group,
            user,
            outcome: read.outcome.as_str(),
            content: read.content.as_str(),
            failure_message: read.failure.as_deref().unwrap_or_default(),
            sizes: read.sizes,
            url: read.url.as_deref().unwrap_or_default(),
            sample_count: read.sample_count.unwrap_or(1),
            error_count: read.error_count.unwrap_or(u32::from(!read.outcome.success)),
            flags,
            listeners: 0,
            variables: &variables,
        });
        *emitted = (emitted.0.max(end), emitted.1 + 1);
        let inside = if flags.contains(SampleFlags::TRANSACTION) {
            SampleFlags::TRANSACTION_CHILD
        } else {
            SampleFlags::SUB_RESULT
        };
        for child in &read.children {
            self.emit_nested(child, origin_ns, inside, see, emitted);
        }
    }
}

/// Whether the input is at its end.
fn at_end<R: BufRead>(reader: &mut Reader<R>) -> bool {
    reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// Decodes the name of a variable from that of its attribute.
fn decoded_name(name: &str) -> String {
    name.replace("__", "\0").replace("_-", "$").replace('\0', "_")
}

impl XmlSample {
    fn text(&mut self, text: &Text, piece: &str) {
        let kept = match text {
            Text::Url => self.url.get_or_insert_default(),
            Text::FailureMessage => self.failure.get_or_insert_default(),
        };
        let mut end = TEXT_BYTES_MAX.saturating_sub(kept.len()).min(piece.len());
        while !piece.is_char_boundary(end) {
            end -= 1;
        }
        kept.push_str(&piece[..end]);
    }
}

#[cfg(test)]
mod tests;
