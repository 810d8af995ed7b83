//! Makes samples of the rows of a CSV file.

use busyhour_sample::{
    ActiveUsers, DataType, LABELS_MAX, LabelId, Labels, Nanos, OTHER_LABELS, Sample, SampleFlags, SampleTimes,
};
use rustc_hash::FxHashMap;

use crate::jtl_cells::Groups;
use crate::jtl_scan::{BadRow, Cell, Columns, CsvRow, RowPlace, Stamps, cells};

/// The position of an absent column: a cell so far beyond the last is empty.
const NOWHERE: usize = usize::MAX;

/// Most cached labels of a file. Samples of labels beyond [`LABELS_MAX`] are counted together anyway.
const LABELS_KNOWN_MAX: usize = 4 * LABELS_MAX;

/// Most thread groups with totals of their own.
const GROUPS_KNOWN_MAX: usize = LABELS_MAX;

/// The positions of the columns of a sample.
pub(super) struct SampleColumns {
    stamp: usize,
    elapsed: usize,
    label: usize,
    code: usize,
    message: usize,
    thread: usize,
    data_type: usize,
    success: usize,
    failure: usize,
    bytes: usize,
    sent_bytes: usize,
    users_group: usize,
    users_all: usize,
    url: usize,
    latency: usize,
    encoding: usize,
    sample_count: usize,
    error_count: usize,
    hostname: usize,
    idle: usize,
    connect: usize,
    pub(super) variables: Vec<(String, usize)>,
    /// Whether all columns are read, or only those that totals need.
    pub(super) all: bool,
    stamps_are_ends: bool,
}

impl SampleColumns {
    /// All of `columns`, or without `all` those that totals need, and with `groups` the thread name.
    pub(super) fn new(columns: &Columns, all: bool, groups: bool, stamps_are_ends: bool) -> SampleColumns {
        let names = &columns.names;
        let place = |name: &str| names.iter().position(|known| known == name).unwrap_or(NOWHERE);
        let further = |name: &str| if all { place(name) } else { NOWHERE };
        // Names in quotes are those of variables.
        let variable = |(at, name): (usize, &String)| {
            let plain = name.strip_prefix('"')?.strip_suffix('"')?;
            Some((plain.to_owned(), at))
        };
        SampleColumns {
            stamp: columns.stamp,
            elapsed: columns.elapsed,
            label: columns.label,
            code: place("responseCode"),
            message: place("responseMessage"),
            thread: if all || groups { place("threadName") } else { NOWHERE },
            data_type: further("dataType"),
            success: place("success"),
            failure: place("failureMessage"),
            bytes: place("bytes"),
            sent_bytes: place("sentBytes"),
            users_group: further("grpThreads"),
            users_all: place("allThreads"),
            url: further("URL"),
            latency: further("Latency"),
            encoding: further("Encoding"),
            sample_count: place("SampleCount"),
            error_count: place("ErrorCount"),
            hostname: place("Hostname"),
            idle: place("IdleTime"),
            connect: further("Connect"),
            variables: if all { names.iter().enumerate().filter_map(variable).collect() } else { Vec::new() },
            all,
            stamps_are_ends,
        }
    }

    /// The last column that is read.
    pub(super) fn last(&self) -> usize {
        let places = [
            self.stamp,
            self.elapsed,
            self.label,
            self.code,
            self.message,
            self.thread,
            self.data_type,
            self.success,
            self.failure,
            self.bytes,
            self.sent_bytes,
            self.users_group,
            self.users_all,
            self.url,
            self.latency,
            self.encoding,
            self.sample_count,
            self.error_count,
            self.hostname,
            self.idle,
            self.connect,
        ];
        let variables = self.variables.iter().map(|(_, at)| *at);
        places.into_iter().chain(variables).filter(|at| *at != NOWHERE).max().unwrap_or_default()
    }
}

/// The result of reading a row.
pub(super) enum RowResult {
    /// A sample with this end.
    Sample {
        end: Nanos,
    },
    /// The column names: files to which several runs were appended may repeat them.
    Names,
    Bad(BadRow),
}

/// Makes samples of rows.
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

/// Texts of the last row.
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
            // When rows are written to another file, each needs its own group.
            groups: if columns.all { Groups::default() } else { Groups::up_to(GROUPS_KNOWN_MAX) },
            columns,
            hostname: String::new(),
            texts: Texts::default(),
        }
    }

    /// Calls `see` with the sample of `row`, whose times count from `origin_ns` since 1970. `ALL` is
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
        let stamp = row.cell(columns.stamp);
        // Files to which several runs were appended may repeat the names, truncated like any other row.
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
        let Some(elapsed_ns) = row.cell(columns.elapsed).span_ns() else {
            return bad("elapsed", row.cell(columns.elapsed), SPAN);
        };
        let idle = row.cell(columns.idle);
        let Some(idle_ns) = span(idle) else { return bad("IdleTime", idle, SPAN) };
        let length_ns = elapsed_ns + idle_ns;
        let start_ns =
            if columns.stamps_are_ends { stamp_ns.saturating_sub_unsigned(length_ns) } else { stamp_ns };
        let Ok(start_ns) = u64::try_from(start_ns.saturating_sub(origin_ns)) else {
            return bad("timeStamp", stamp, "is more than a year before the first row");
        };
        let (latency, connect) = (further(columns.latency), further(columns.connect));
        let Some(latency_ns) = span(latency) else { return bad("Latency", latency, SPAN) };
        let Some(connect_ns) = span(connect) else { return bad("Connect", connect, SPAN) };
        const BYTES: &str = "is not a number of bytes";
        let (bytes_cell, sent_cell) = (row.cell(columns.bytes), row.cell(columns.sent_bytes));
        let Some(bytes) = number(bytes_cell) else { return bad("bytes", bytes_cell, BYTES) };
        let Some(sent_bytes) = number(sent_cell) else { return bad("sentBytes", sent_cell, BYTES) };
        let count = |cell: Cell<'_>, without: u32| {
            let count = if cell.is_empty() { None } else { cell.number() };
            count.and_then(|count| u32::try_from(count).ok()).unwrap_or(without)
        };
        let success = columns.success == NOWHERE || cells::passed(row.cell(columns.success).bytes());
        let message = row.cell(columns.message);
        let url = further(columns.url);
        let flags = flags_of(message, url);
        let label = self.labels.of(row.cell(columns.label));
        let thread = row.cell(columns.thread);
        let (group, user) = if thread.is_empty() { (0, 0) } else { self.groups.of(thread.bytes()) };
        if columns.hostname != NOWHERE && self.hostname.is_empty() {
            self.hostname.push_str(&String::from_utf8_lossy(row.cell(columns.hostname).bytes()));
        }
        let texts = &mut self.texts;
        texts.code.set(row.cell(columns.code));
        texts.message.set(message);
        texts.failure.set(row.cell(columns.failure));
        texts.encoding.set(further(columns.encoding));
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
            times: SampleTimes { intended: start, start, end, connect_ns, latency_ns, idle_ns },
            users: ActiveUsers {
                group: count(further(columns.users_group), 0),
                all: count(row.cell(columns.users_all), 0),
            },
            group,
            user,
            code: &texts.code.text,
            message: &texts.message.text,
            data_type: match further(columns.data_type).bytes() {
                b"text" => DataType::Text,
                b"bin" => DataType::Binary,
                _ => DataType::Unknown,
            },
            encoding: &texts.encoding.text,
            success,
            failure_message: &texts.failure.text,
            bytes,
            sent_bytes,
            url: &texts.url.text,
            sample_count: count(row.cell(columns.sample_count), 1),
            error_count: count(row.cell(columns.error_count), u32::from(!success)),
            flags,
            listeners: 0,
            variables: &variables,
        });
        RowResult::Sample { end }
    }
}

/// The text of a cell. Consecutive cells are mostly equal, and comparing is cheaper than checking UTF-8.
#[derive(Default)]
struct Text {
    text: String,
    /// [`Cell::short`] of the cell.
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
    /// By [`Cell::middling`], which is faster to look up than bytes.
    middling: FxHashMap<u128, LabelId>,
    long: FxHashMap<Box<[u8]>, LabelId>,
}

impl KnownLabels {
    fn new(labels: Labels) -> KnownLabels {
        KnownLabels { labels, middling: FxHashMap::default(), long: FxHashMap::default() }
    }

    /// The number of the label in `cell`.
    #[inline]
    fn of(&mut self, cell: Cell<'_>) -> LabelId {
        let known = match cell.middling() {
            Some(number) => self.middling.get(&number),
            None => self.long.get(cell.bytes()),
        };
        match known {
            Some(label) => *label,
            None => self.add_label(cell),
        }
    }

    /// Adds a label that is not cached.
    #[cold]
    fn add_label(&mut self, cell: Cell<'_>) -> LabelId {
        if self.middling.len() + self.long.len() >= LABELS_KNOWN_MAX {
            return self.labels.intern(OTHER_LABELS);
        }
        let id = self.labels.intern(&String::from_utf8_lossy(cell.bytes()));
        match cell.middling() {
            Some(number) => self.middling.insert(number, id),
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
