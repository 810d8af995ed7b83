//! The fields of a sample in result files: reads them from the cells of a CSV row and from XML attributes.

use busyhour_sample::{
    ActiveUsers, DataType, LABELS_MAX, LabelId, Labels, Nanos, OTHER_LABELS, Sample, SampleContent,
    SampleFlags, SampleOutcome, SampleSizes, SampleTimes,
};
use rustc_hash::FxHashMap;

use crate::jtl_cells::Groups;
use crate::jtl_scan::{BadRow, Cell, Columns, CsvRow, RowPlace, Stamps, cells};

/// The error of an invalid or missing time stamp.
pub(super) const NO_STAMP: &str = "is not a time in ms since 1970";

/// The position of an absent column. It is so far beyond the last cell that the cell is empty.
const NOWHERE: usize = usize::MAX;

/// Maximum number of cached labels of a file. Samples of labels beyond [`LABELS_MAX`] are counted together anyway.
const LABELS_KNOWN_MAX: usize = 4 * LABELS_MAX;

/// Maximum number of thread groups with totals of their own.
const GROUPS_KNOWN_MAX: usize = LABELS_MAX;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Stamp,
    Elapsed,
    Label,
    Code,
    Message,
    Thread,
    DataType,
    Success,
    Failure,
    Bytes,
    SentBytes,
    UsersGroup,
    UsersAll,
    Url,
    Latency,
    Encoding,
    SampleCount,
    ErrorCount,
    Hostname,
    Idle,
    Connect,
}

/// The settings with which a column is read.
#[derive(Clone, Copy)]
enum Need {
    /// The column is always read, because totals need it.
    Always,
    /// The column is read if all columns are read.
    All,
    /// The column is read if all columns are read or totals of thread groups are computed.
    AllOrGroups,
}

/// The columns with their names in CSV files, in the order of [`Field`].
const FIELDS: [(Field, &str, Need); 21] = [
    (Field::Stamp, "timeStamp", Need::Always),
    (Field::Elapsed, "elapsed", Need::Always),
    (Field::Label, "label", Need::Always),
    (Field::Code, "responseCode", Need::Always),
    (Field::Message, "responseMessage", Need::Always),
    (Field::Thread, "threadName", Need::AllOrGroups),
    (Field::DataType, "dataType", Need::All),
    (Field::Success, "success", Need::Always),
    (Field::Failure, "failureMessage", Need::Always),
    (Field::Bytes, "bytes", Need::Always),
    (Field::SentBytes, "sentBytes", Need::Always),
    (Field::UsersGroup, "grpThreads", Need::All),
    (Field::UsersAll, "allThreads", Need::Always),
    (Field::Url, "URL", Need::All),
    (Field::Latency, "Latency", Need::All),
    (Field::Encoding, "Encoding", Need::All),
    (Field::SampleCount, "SampleCount", Need::Always),
    (Field::ErrorCount, "ErrorCount", Need::Always),
    (Field::Hostname, "Hostname", Need::Always),
    (Field::Idle, "IdleTime", Need::Always),
    (Field::Connect, "Connect", Need::All),
];

const _: () = {
    let mut at = 0;
    while at < FIELDS.len() {
        assert!(FIELDS[at].0 as usize == at, "FIELDS is in the order of Field");
        at += 1;
    }
};

/// The positions of the columns of a sample.
pub(super) struct SampleColumns {
    /// The position of each field, by [`Field`].
    places: [usize; FIELDS.len()],
    pub(super) variables: Vec<(String, usize)>,
    /// Whether all columns are read, or only those that totals need.
    pub(super) all: bool,
    stamps_are_ends: bool,
}

impl SampleColumns {
    /// The positions of all fields in `columns`. Without `all`, only those that totals need; `groups` adds the thread name.
    pub(super) fn new(columns: &Columns, all: bool, groups: bool, stamps_are_ends: bool) -> SampleColumns {
        let names = &columns.names;
        let place = |(_, name, need): (Field, &str, Need)| {
            let is_read = match need {
                Need::Always => true,
                Need::All => all,
                Need::AllOrGroups => all || groups,
            };
            names.iter().position(|known| known == name).filter(|_| is_read).unwrap_or(NOWHERE)
        };
        let mut places = FIELDS.map(place);
        places[Field::Stamp as usize] = columns.stamp;
        places[Field::Elapsed as usize] = columns.elapsed;
        places[Field::Label as usize] = columns.label;
        // Names in quotes are those of variables.
        let variable = |(at, name): (usize, &String)| {
            let plain = name.strip_prefix('"')?.strip_suffix('"')?;
            Some((plain.to_owned(), at))
        };
        SampleColumns {
            places,
            variables: if all { names.iter().enumerate().filter_map(variable).collect() } else { Vec::new() },
            all,
            stamps_are_ends,
        }
    }

    /// The position of a column, or [`NOWHERE`].
    #[inline]
    const fn at(&self, field: Field) -> usize {
        self.places[field as usize]
    }

    /// The last column that is read.
    pub(super) fn last(&self) -> usize {
        let variables = self.variables.iter().map(|(_, at)| *at);
        let places = self.places.into_iter().chain(variables);
        places.filter(|at| *at != NOWHERE).max().unwrap_or_default()
    }
}

/// The result of reading a row.
pub(super) enum RowResult {
    /// A sample, and its end.
    Sample {
        end: Nanos,
    },
    /// The column names. Files to which several runs were appended may contain them several times.
    Names,
    Bad(BadRow),
}

/// Converts rows to samples.
pub(super) struct RowSamples {
    pub(super) columns: SampleColumns,
    /// The last column that is read.
    pub(super) last: usize,
    labels: KnownLabels,
    stamps: Stamps,
    pub(super) groups: Groups,
    pub(super) hostname: String,
    texts: Texts,
}

/// Texts of the last row, which are reused if the next row has the same.
#[derive(Default)]
struct Texts {
    code: Text,
    message: Text,
    failure: Text,
    encoding: Text,
    url: Text,
}

impl RowSamples {
    pub(super) fn new(columns: SampleColumns, labels: Labels) -> RowSamples {
        RowSamples {
            last: columns.last(),
            labels: KnownLabels::new(labels),
            stamps: Stamps::default(),
            // If rows are written to another file, each group needs its own number.
            groups: if columns.all { Groups::default() } else { Groups::up_to(GROUPS_KNOWN_MAX) },
            columns,
            hostname: String::new(),
            texts: Texts::default(),
        }
    }

    /// Calls `see` with the sample of `row`. Its times count from `origin_ns`, in ns since 1970. `ALL` is
    /// [`SampleColumns::all`] as a constant, so that skipped columns cost nothing.
    #[inline]
    pub(super) fn take<const ALL: bool>(
        &mut self,
        row: &CsvRow<'_>,
        origin_ns: i64,
        see: impl FnOnce(&Sample<'_>),
    ) -> RowResult {
        let columns = &self.columns;
        let further = |at: usize| if ALL { row.cell(at) } else { Cell::default() };
        let bad = |column, cell: Cell<'_>, problem| {
            RowResult::Bad(BadRow::new(RowPlace::Line(row.line), column, cell.bytes(), problem))
        };
        let stamp = row.cell(columns.at(Field::Stamp));
        // Files to which several runs were appended may contain the column names several times, truncated like any other row.
        let is_names = || stamp.bytes() == b"timeStamp";
        if row.count <= self.last {
            let short = || bad("timeStamp", row.cell(0), "is the first cell of a row with too few columns");
            return if is_names() { RowResult::Names } else { short() };
        }
        let Some(stamp_ns) = self.stamps.ns(stamp) else {
            if is_names() {
                return RowResult::Names;
            }
            return bad("timeStamp", stamp, "is not a time in ms since 1970");
        };
        let number = |cell: Cell<'_>| if cell.is_empty() { Some(0) } else { cell.number() };
        let span = |cell: Cell<'_>| number(cell).and_then(cells::ms_to_ns);
        const SPAN: &str = "is not a duration in ms";
        let Some(elapsed_ns) = row.cell(columns.at(Field::Elapsed)).span_ns() else {
            return bad("elapsed", row.cell(columns.at(Field::Elapsed)), SPAN);
        };
        let idle = row.cell(columns.at(Field::Idle));
        let Some(idle_ns) = span(idle) else { return bad("IdleTime", idle, SPAN) };
        let length_ns = elapsed_ns + idle_ns;
        let start_ns =
            if columns.stamps_are_ends { stamp_ns.saturating_sub_unsigned(length_ns) } else { stamp_ns };
        let Ok(start_ns) = u64::try_from(start_ns.saturating_sub(origin_ns)) else {
            return bad("timeStamp", stamp, "is more than a year before the first row");
        };
        let (latency, connect) = (further(columns.at(Field::Latency)), further(columns.at(Field::Connect)));
        let Some(latency_ns) = span(latency) else { return bad("Latency", latency, SPAN) };
        let Some(connect_ns) = span(connect) else { return bad("Connect", connect, SPAN) };
        const BYTES: &str = "is not a number of bytes";
        let (bytes_cell, sent_cell) =
            (row.cell(columns.at(Field::Bytes)), row.cell(columns.at(Field::SentBytes)));
        let Some(bytes) = number(bytes_cell) else { return bad("bytes", bytes_cell, BYTES) };
        let Some(sent_bytes) = number(sent_cell) else { return bad("sentBytes", sent_cell, BYTES) };
        let count = |cell: Cell<'_>, without: u32| {
            let count = if cell.is_empty() { None } else { cell.number() };
            count.and_then(|count| u32::try_from(count).ok()).unwrap_or(without)
        };
        let success = columns.at(Field::Success) == NOWHERE
            || cells::passed(row.cell(columns.at(Field::Success)).bytes());
        let message = row.cell(columns.at(Field::Message));
        let url = further(columns.at(Field::Url));
        let flags = flags_of(message, url);
        let label = self.labels.of(row.cell(columns.at(Field::Label)));
        let thread = row.cell(columns.at(Field::Thread));
        let (group, user) = if thread.is_empty() { (0, 0) } else { self.groups.of(thread.bytes()) };
        if columns.at(Field::Hostname) != NOWHERE && self.hostname.is_empty() {
            self.hostname.push_str(&String::from_utf8_lossy(row.cell(columns.at(Field::Hostname)).bytes()));
        }
        let texts = &mut self.texts;
        texts.code.set(row.cell(columns.at(Field::Code)));
        texts.message.set(message);
        texts.failure.set(row.cell(columns.at(Field::Failure)));
        texts.encoding.set(further(columns.at(Field::Encoding)));
        texts.url.set(if flags.contains(SampleFlags::NO_URL) { Cell::default() } else { url });
        let (mut values, mut variables) = (Vec::new(), Vec::new());
        if ALL {
            let places = columns.variables.iter();
            values.extend(places.map(|(_, at)| String::from_utf8_lossy(row.cell(*at).bytes())));
            variables.extend(values.iter().map(AsRef::as_ref));
        }
        let start = Nanos(start_ns);
        let end = start + length_ns;
        see(&Sample {
            label,
            times: SampleTimes { connect_ns, latency_ns, idle_ns, ..SampleTimes::of_one_clock(start, end) },
            users: ActiveUsers {
                group: count(further(columns.at(Field::UsersGroup)), 0),
                all: count(row.cell(columns.at(Field::UsersAll)), 0),
            },
            group,
            user,
            outcome: SampleOutcome::new(&texts.code.text, &texts.message.text, success),
            content: SampleContent::new(
                data_type(further(columns.at(Field::DataType)).bytes()),
                &texts.encoding.text,
            ),
            failure_message: &texts.failure.text,
            sizes: SampleSizes::of_row(bytes, sent_bytes),
            url: &texts.url.text,
            sample_count: count(row.cell(columns.at(Field::SampleCount)), 1),
            error_count: count(row.cell(columns.at(Field::ErrorCount)), u32::from(!success)),
            flags,
            listeners: 0,
            variables: &variables,
        });
        RowResult::Sample { end }
    }
}

/// The text of the last cell of a column. Consecutive cells are mostly equal, and comparing them is cheaper than checking
/// UTF-8.
#[derive(Default)]
struct Text {
    text: String,
    /// The key [`Cell::short`] of the cell.
    short: Option<u64>,
}

impl Text {
    /// Sets the text to that of `cell`.
    #[inline]
    fn set(&mut self, cell: Cell<'_>) {
        if cell.is_empty() && self.text.is_empty() {
            return;
        }
        let short = cell.short();
        if short.is_none() || short != self.short {
            self.change(cell, short);
        }
    }

    #[cold]
    fn change(&mut self, cell: Cell<'_>, short: Option<u64>) {
        self.short = short;
        if self.text.as_bytes() != cell.bytes() {
            self.text.clear();
            self.text.push_str(&String::from_utf8_lossy(cell.bytes()));
        }
    }
}

/// A cache of labels by the contents of their cells.
struct KnownLabels {
    labels: Labels,
    /// Labels by [`Cell::medium_key`] key, whose lookup is faster than that of bytes.
    medium_key: FxHashMap<u128, LabelId>,
    long: FxHashMap<Box<[u8]>, LabelId>,
}

impl KnownLabels {
    fn new(labels: Labels) -> KnownLabels {
        KnownLabels { labels, medium_key: FxHashMap::default(), long: FxHashMap::default() }
    }

    /// The number of the label in `cell`.
    #[inline]
    fn of(&mut self, cell: Cell<'_>) -> LabelId {
        let known = match cell.medium_key() {
            Some(number) => self.medium_key.get(&number),
            None => self.long.get(cell.bytes()),
        };
        match known {
            Some(label) => *label,
            None => self.add_label(cell),
        }
    }

    /// Adds a label that is not in the cache.
    #[cold]
    fn add_label(&mut self, cell: Cell<'_>) -> LabelId {
        if self.medium_key.len() + self.long.len() >= LABELS_KNOWN_MAX {
            return self.labels.intern(OTHER_LABELS);
        }
        let id = self.labels.intern(&String::from_utf8_lossy(cell.bytes()));
        match cell.medium_key() {
            Some(number) => self.medium_key.insert(number, id),
            None => self.long.insert(cell.bytes().into(), id),
        };
        id
    }
}
/// The flags that the message and the URL of a row imply.
#[inline]
fn flags_of(message: Cell<'_>, url: Cell<'_>) -> SampleFlags {
    let mut flags = SampleFlags::NONE;
    if cells::is_transaction(message.bytes()) {
        flags = flags | SampleFlags::TRANSACTION;
    }
    if url.bytes() == b"null" {
        flags = flags | SampleFlags::NO_URL;
    }
    flags
}

/// A sample of an XML file that is being read.
#[derive(Default)]
pub(super) struct XmlSample {
    /// The error in the sample or in a nested one.
    pub(super) bad: Option<BadRow>,
    pub(super) label: String,
    pub(super) stamp_ns: i64,
    pub(super) elapsed_ns: u64,
    pub(super) idle_ns: u64,
    pub(super) latency_ns: u64,
    pub(super) connect_ns: u64,
    pub(super) outcome: SampleOutcome<String>,
    pub(super) content: SampleContent<String>,
    pub(super) sizes: SampleSizes,
    pub(super) users: ActiveUsers,
    pub(super) thread: String,
    pub(super) sample_count: Option<u32>,
    pub(super) error_count: Option<u32>,
    pub(super) hostname: String,
    pub(super) url: Option<String>,
    pub(super) failure: Option<String>,
    /// Variables: the attributes that JMeter does not define.
    pub(super) variables: Vec<(String, String)>,
    pub(super) children: Vec<XmlSample>,
}

impl XmlSample {
    pub(super) fn set_error(
        &mut self,
        line: u64,
        attribute: &'static str,
        text: &str,
        problem: &'static str,
    ) {
        self.bad
            .get_or_insert_with(|| BadRow::new(RowPlace::Element(line), attribute, text.as_bytes(), problem));
    }

    fn span(&mut self, line: u64, attribute: &'static str, text: &str) -> u64 {
        cells::span_ns(text.as_bytes()).unwrap_or_else(|| {
            self.set_error(line, attribute, text, "is not a duration in ms");
            0
        })
    }

    fn number(&mut self, line: u64, attribute: &'static str, text: &str) -> u64 {
        cells::number(text.as_bytes()).unwrap_or_else(|| {
            self.set_error(line, attribute, text, "is not a number");
            0
        })
    }

    /// Its start, in ns since 1970.
    pub(super) const fn start_ns(&self) -> i64 {
        self.stamp_ns
    }

    /// Its times, for this start and end in the run.
    pub(super) fn times(&self, start: Nanos, end: Nanos) -> SampleTimes {
        SampleTimes {
            connect_ns: self.connect_ns,
            latency_ns: self.latency_ns,
            idle_ns: self.idle_ns,
            ..SampleTimes::of_one_clock(start, end)
        }
    }

    /// Sets the field of an attribute. If JMeter does not define the attribute, returns its text.
    pub(super) fn set_attribute(&mut self, line: u64, key: &[u8], text: String) -> Option<String> {
        match key {
            b"t" => self.elapsed_ns = self.span(line, "t", &text),
            b"it" => self.idle_ns = self.span(line, "it", &text),
            b"lt" => self.latency_ns = self.span(line, "lt", &text),
            b"ct" => self.connect_ns = self.span(line, "ct", &text),
            b"ts" => match cells::stamp_ns(text.as_bytes()) {
                Some(stamp_ns) => self.stamp_ns = stamp_ns,
                None => self.set_error(line, "ts", &text, NO_STAMP),
            },
            b"s" => self.outcome.success = text.eq_ignore_ascii_case("true"),
            b"lb" => self.label = text,
            b"rc" | b"rs" => self.outcome.code = text,
            b"rm" => self.outcome.message = text,
            b"tn" => self.thread = text,
            b"dt" => self.content.data_type = data_type(text.as_bytes()),
            b"de" => self.content.encoding = text,
            b"by" => self.sizes.body_bytes = self.number(line, "by", &text),
            b"sby" => self.sizes.sent_bytes = self.number(line, "sby", &text),
            b"sc" => self.sample_count = Some(count(self.number(line, "sc", &text))),
            b"ec" => self.error_count = Some(count(self.number(line, "ec", &text))),
            b"ng" => self.users.group = count(self.number(line, "ng", &text)),
            b"na" => self.users.all = count(self.number(line, "na", &text)),
            b"hn" => self.hostname = text,
            _ => return Some(text),
        }
        None
    }
}

/// The data type with this name in a file.
fn data_type(name: &[u8]) -> DataType {
    match name {
        b"text" => DataType::Text,
        b"bin" => DataType::Binary,
        _ => DataType::Unknown,
    }
}

fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
