//! Reading JMeter's CSV result files, whoever wrote them (XML: `jtl_xml`).
//!
//! JMeter keeps one clock in whole milliseconds: the intended start is unknown and reads as the actual one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::book::Book;
use crate::jtl_xml::XmlReader;
use crate::labels::Labels;
use crate::recorder::{GroupName, RunNames};
use crate::replay::Replay;
use crate::sample::{DataType, Nanos, Sample, SampleFlags};
use crate::samples_file::SamplesEnd;

/// Longest row.
const ROW_MAX: usize = 64 << 20;

/// How the message of a transaction controller's sample begins.
pub(crate) const TRANSACTION: &str = "Number of samples in transaction : ";

/// Why a result file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JtlError {
    /// The system says no.
    #[error("cannot read the result file")]
    Io(#[from] io::Error),
    /// It is of JMeter's XML format.
    #[error("the result file is XML, not CSV")]
    Xml,
    /// The XML is damaged.
    #[error("the XML of the result file is damaged at byte {at}: {problem}")]
    BrokenXml {
        /// Offset in the file.
        at: u64,
        /// What is wrong.
        problem: String,
    },
    /// The XML is something else.
    #[error("the XML is no result file: it begins with <{0}> instead of <testResults>")]
    XmlRoot(String),
    /// An attribute is no number, or missing.
    #[error("the attribute {attribute} of the sample at byte {at} is no number: {text:?}")]
    XmlNumber {
        /// Offset in the file, behind the tag.
        at: u64,
        /// The attribute.
        attribute: String,
        /// What stands there.
        text: String,
    },
    /// The first line does not name columns.
    #[error(
        "the first line of the result file does not name JMeter's columns (jmeter.save.saveservice.print_field_names)"
    )]
    NoColumnNames,
    /// A column is missing without which nothing can be said.
    #[error("the result file has no column {0}")]
    Column(&'static str),
    /// A cell is no number.
    #[error("line {line}: {text:?} in column {column} is no number")]
    Number {
        /// Line at which the row begins, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// What stands there.
        text: String,
    },
    /// A quote is not closed.
    #[error("line {line}: a quoted cell does not end")]
    Quote {
        /// Line at which the row begins, from 1.
        line: u64,
    },
}

/// The columns that are read.
const COLUMNS: [&str; 21] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "Encoding",
    "SampleCount",
    "ErrorCount",
    "Hostname",
    "IdleTime",
    "Connect",
];

/// A row, taken apart.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) line: Vec<u8>,
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Cell number `at`; empty beyond the last.
    pub(crate) fn get(&self, at: usize) -> &str {
        let from = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or(self.text.len()) };
        let to = self.ends.get(at).copied().unwrap_or(from);
        self.text.get(from..to).unwrap_or_default()
    }
}

/// Reads a result file row by row, in bounded memory.
#[derive(Debug)]
pub struct JtlReader<R> {
    input: R,
    delimiter: u8,
    /// Place of each of [`COLUMNS`] in a row.
    places: [Option<usize>; COLUMNS.len()],
    columns: usize,
    variables: Vec<(String, usize)>,
    line: u64,
    /// Whether the last row was cut off.
    cut: bool,
    stamps_are_ends: bool,
}

impl JtlReader<BufReader<File>> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, or is no CSV with column names.
    pub fn open(path: &Path) -> Result<Self, JtlError> {
        JtlReader::new(BufReader::with_capacity(1 << 18, File::open(path)?))
    }
}

impl<R: BufRead> JtlReader<R> {
    /// Reads from `input`.
    ///
    /// # Errors
    /// It cannot be read, or is no CSV with column names.
    pub fn new(mut input: R) -> Result<JtlReader<R>, JtlError> {
        let mut head = Vec::new();
        io::Read::take(&mut input, 1 << 20).read_until(b'\n', &mut head)?;
        let head = String::from_utf8_lossy(&head);
        let head = head.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
        if head.starts_with("<?xml") || head.starts_with("<testResults") {
            return Err(JtlError::Xml);
        }
        let word = head.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let first = &head[..head.len() - word.len()];
        if !COLUMNS.contains(&first) {
            return Err(JtlError::NoColumnNames);
        }
        let delimiter = word.bytes().next().unwrap_or(b',');
        let mut places = [None; COLUMNS.len()];
        let mut variables = Vec::new();
        let mut columns = 0;
        for (at, name) in head.split(char::from(delimiter)).enumerate() {
            columns = at + 1;
            let plain = name.trim_matches('"');
            match COLUMNS.iter().position(|column| *column == name) {
                Some(column) => places[column] = Some(at),
                None if plain.len() + 2 == name.len() => variables.push((plain.to_owned(), at)),
                None => {}
            }
        }
        for needed in ["timeStamp", "elapsed", "label"] {
            let at = COLUMNS.iter().position(|column| *column == needed).unwrap_or_default();
            if places[at].is_none() {
                return Err(JtlError::Column(needed));
            }
        }
        Ok(JtlReader {
            input,
            delimiter,
            places,
            columns,
            variables,
            line: 1,
            cut: false,
            stamps_are_ends: false,
        })
    }

    /// The same reader for a file whose time stamps are the ends of samples (`sampleresult.timestamp.start=false`).
    #[must_use]
    pub fn with_end_stamps(mut self) -> JtlReader<R> {
        self.stamps_are_ends = true;
        self
    }

    /// The names of the `sample_variables` columns.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }

    /// Reads a row; false at the end. A last row that was cut off is left out.
    fn row(&mut self, cells: &mut Cells) -> Result<bool, JtlError> {
        loop {
            cells.line.clear();
            let begin = self.line + 1;
            let mut quotes = 0usize;
            loop {
                let from = cells.line.len();
                let read = self.input.read_until(b'\n', &mut cells.line)?;
                if read == 0 || cells.line.last() != Some(&b'\n') {
                    // Every writer ends a row with a line feed: without one it was cut off.
                    self.cut = !cells.line.is_empty();
                    return Ok(false);
                }
                self.line += 1;
                quotes += cells.line[from..].iter().filter(|b| **b == b'"').count();
                if quotes.is_multiple_of(2) {
                    break;
                }
                if cells.line.len() > ROW_MAX {
                    return Err(JtlError::Quote { line: begin });
                }
            }
            cells.line.pop();
            if cells.line.last() == Some(&b'\r') {
                cells.line.pop();
            }
            if !cells.line.is_empty() {
                break;
            }
        }
        split(cells, self.delimiter);
        Ok(true)
    }

    fn place(&self, column: &'static str) -> Option<usize> {
        COLUMNS.iter().position(|c| *c == column).and_then(|at| self.places[at])
    }

    fn number(&self, cells: &Cells, column: &'static str) -> Result<i64, JtlError> {
        let Some(at) = self.place(column) else { return Ok(0) };
        let text = cells.get(at);
        if text.is_empty() {
            return Ok(0);
        }
        let bad = || JtlError::Number { line: self.line, column, text: text.chars().take(40).collect() };
        text.parse().map_err(|_| bad())
    }

    /// The start of a row's sample in ms since 1970: a number, or one of the patterns that JMeter itself reads, in
    /// local time.
    fn start_ms(&self, cells: &Cells) -> Result<i64, JtlError> {
        let text = cells.get(self.place("timeStamp").unwrap_or_default());
        let stamp = match text.parse() {
            Ok(ms) => ms,
            Err(_) => formatted_ms(text).ok_or_else(|| JtlError::Number {
                line: self.line,
                column: "timeStamp",
                text: text.chars().take(40).collect(),
            })?,
        };
        if !self.stamps_are_ends {
            return Ok(stamp);
        }
        Ok(stamp - self.number(cells, "elapsed")? - self.number(cells, "IdleTime")?)
    }

    /// Calls `see` with every row as a sample whose stamps count from `wall_anchor_ms`.
    ///
    /// # Errors
    /// The file cannot be read or holds something else.
    pub fn read(
        mut self,
        wall_anchor_ms: i64,
        labels: &Labels,
        mut see: impl FnMut(&Sample<'_>),
    ) -> Result<(SamplesEnd, RunNames), JtlError> {
        let mut cells = Cells::default();
        let mut groups = Groups::default();
        let mut end = SamplesEnd::default();
        let variable_places: Vec<usize> = self.variables.iter().map(|(_, at)| *at).collect();
        let place = |column| self.places[COLUMNS.iter().position(|c| *c == column).unwrap_or_default()];
        let at = |column| place(column).unwrap_or(usize::MAX);
        let (label, code, message, thread) =
            (at("label"), at("responseCode"), at("responseMessage"), at("threadName"));
        let (data_type, success, failure) = (at("dataType"), at("success"), at("failureMessage"));
        let (url, encoding) = (at("URL"), at("Encoding"));
        let counts = place("SampleCount").is_some();
        let hostname = at("Hostname");
        let mut host = String::new();
        let mut variables: Vec<String> = Vec::new();
        while self.row(&mut cells)? {
            if cells.ends.len() < self.columns {
                // A run that was killed and appended to can leave half a row in the middle: it says nothing.
                end.cut_at.get_or_insert(self.line);
                continue;
            }
            let number = |column| self.number(&cells, column);
            let ns = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
            let start = ns(self.start_ms(&cells)?.saturating_sub(wall_anchor_ms));
            let idle_ns = ns(number("IdleTime")?);
            let elapsed = ns(number("elapsed")?);
            let passed = cells.get(success).eq_ignore_ascii_case("true") || success == usize::MAX;
            let (group, user) = groups.of(cells.get(thread));
            if host.is_empty() {
                host.push_str(cells.get(hostname));
            }
            variables.clear();
            variables.extend(variable_places.iter().map(|at| cells.get(*at).to_owned()));
            let borrowed: Vec<&str> = variables.iter().map(String::as_str).collect();
            let mut flags = SampleFlags::NONE;
            if cells.get(message).starts_with(TRANSACTION) {
                flags = flags | SampleFlags::TRANSACTION;
            }
            if cells.get(url) == "null" {
                flags = flags | SampleFlags::NO_URL;
            }
            let count = |column, without: u32| -> Result<u32, JtlError> {
                if counts { Ok(u32::try_from(number(column)?).unwrap_or(0)) } else { Ok(without) }
            };
            see(&Sample {
                label: labels.intern(cells.get(label)),
                group,
                user,
                intended: Nanos(start),
                start: Nanos(start),
                end: Nanos(start.saturating_add(elapsed).saturating_add(idle_ns)),
                connect_ns: ns(number("Connect")?),
                latency_ns: ns(number("Latency")?),
                idle_ns,
                code: cells.get(code),
                message: cells.get(message),
                data_type: match cells.get(data_type) {
                    "text" => DataType::Text,
                    "bin" => DataType::Binary,
                    _ => DataType::Unknown,
                },
                encoding: cells.get(encoding),
                success: passed,
                failure_message: cells.get(failure),
                bytes: u64::try_from(number("bytes")?).unwrap_or(0),
                sent_bytes: u64::try_from(number("sentBytes")?).unwrap_or(0),
                users_group: u32::try_from(number("grpThreads")?).unwrap_or(0),
                users_all: u32::try_from(number("allThreads")?).unwrap_or(0),
                url: if flags.contains(SampleFlags::NO_URL) { "" } else { cells.get(url) },
                sample_count: count("SampleCount", 1)?,
                error_count: count("ErrorCount", u32::from(!passed))?,
                flags,
                listeners: 0,
                variables: &borrowed,
            });
            end.samples += 1;
        }
        if self.cut {
            end.cut_at.get_or_insert(self.line);
        }
        let variables = self.variables.into_iter().map(|(name, _)| name).collect();
        Ok((end, RunNames { groups: groups.names, variables, hostname: host, ..RunNames::default() }))
    }

    /// The least time stamp in the file, in ms since 1970; `None` without rows.
    ///
    /// # Errors
    /// As for [`JtlReader::read`].
    pub fn first_ms(mut self) -> Result<Option<i64>, JtlError> {
        let mut cells = Cells::default();
        let mut first = None;
        while self.row(&mut cells)? {
            if cells.ends.len() >= self.columns {
                let ms = self.start_ms(&cells)?;
                first = Some(first.map_or(ms, |least: i64| least.min(ms)));
            }
        }
        Ok(first)
    }
}

/// An instant in ms since 1970 from one of the patterns that JMeter itself reads, in local time.
pub(crate) fn formatted_ms(text: &str) -> Option<i64> {
    let formats = ["%Y/%m/%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"];
    let civil = formats.iter().find_map(|format| jiff::civil::DateTime::strptime(format, text).ok())?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::system()).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// Takes the cells of `cells.line` apart.
pub(crate) fn split(cells: &mut Cells, delimiter: u8) {
    let Cells { line, text, ends } = cells;
    text.clear();
    ends.clear();
    let line = String::from_utf8_lossy(line);
    let bytes = line.as_bytes();
    let mut at = 0;
    loop {
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            while at < bytes.len() {
                let from = at;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += 1;
                }
                text.push_str(&line[from..at]);
                at += 1;
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                text.push('"');
                at += 1;
            }
        }
        let from = at.min(bytes.len());
        at = from;
        while at < bytes.len() && bytes[at] != delimiter {
            at += 1;
        }
        text.push_str(&line[from..at]);
        ends.push(text.len());
        if at >= bytes.len() {
            return;
        }
        at += 1;
    }
}

/// The thread groups that thread names tell of.
#[derive(Default)]
pub(crate) struct Groups {
    pub(crate) names: Vec<GroupName>,
    index: HashMap<String, u32>,
}

impl Groups {
    /// The group and number of the thread `name`: `group name 1-5`.
    pub(crate) fn of(&mut self, name: &str) -> (u32, u32) {
        let (prefix, user) = name.rsplit_once('-').unwrap_or((name, "0"));
        let user = user.parse().unwrap_or(0);
        if let Some(group) = self.index.get(prefix) {
            return (*group, user);
        }
        let (title, number) = prefix.rsplit_once(' ').unwrap_or((prefix, ""));
        let group = self.names.len() as u32;
        self.names.push(GroupName { name: title.to_owned(), number: number.parse().unwrap_or(0) });
        self.index.insert(prefix.to_owned(), group);
        (group, user)
    }
}

impl Replay {
    /// Adds up the result file at `path`, which JMeter or anything else wrote in its CSV or XML format.
    ///
    /// # Errors
    /// It cannot be read, or is neither CSV with column names nor XML.
    pub fn of_jtl(path: &Path) -> Result<Replay, JtlError> {
        let labels = Labels::new();
        let mut book = Book::new(labels.clone());
        let see = |sample: &Sample<'_>| {
            book.add(sample);
            while let Some(second) = book.next_closed() {
                book.recycle(second);
            }
        };
        // Rows are in the order of their ends: which one started first is known at the end only.
        let (wall_anchor_ms, (end, names)) = match JtlReader::open(path) {
            Ok(rows) => {
                let first = rows.first_ms()?.unwrap_or(0);
                (first, JtlReader::open(path)?.read(first, &labels, see)?)
            }
            Err(JtlError::Xml) => {
                let first = XmlReader::open(path)?.first_ms()?.unwrap_or(0);
                (first, XmlReader::open(path)?.read(first, &labels, see)?)
            }
            Err(error) => return Err(error),
        };
        book.close_all();
        Ok(Replay { totals: book.finish(Vec::new()), end, names, wall_anchor_ms })
    }
}
