//! From the cells of a CSV row to a sample.

use rustc_hash::FxHashMap;

use crate::jtl_cells::Groups;
use crate::jtl_scan::{BadRow, Columns, CsvRow, RowPlace, Stamps, cells};
use crate::labels::Labels;
use crate::sample::{DataType, LabelId, Nanos, Sample, SampleFlags};
use crate::totals::{LABELS_MAX, OTHER_LABELS};

/// Where a column is not: a cell so far behind the last is empty.
const NOWHERE: usize = usize::MAX;

/// Labels that a file's rows are looked up in. Beyond so many the numbers of all further ones are kept together anyway.
const LABELS_KNOWN_MAX: usize = 4 * LABELS_MAX;

/// The places of the columns of a sample.
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
    stamps_are_ends: bool,
}

impl SampleColumns {
    /// All of `columns`, or with `all` unset those that totals are made of.
    pub(super) fn new(columns: &Columns, all: bool, stamps_are_ends: bool) -> SampleColumns {
        let names = &columns.names;
        let place = |name: &str| names.iter().position(|known| known == name).unwrap_or(NOWHERE);
        let further = |name: &str| if all { place(name) } else { NOWHERE };
        // Names in quotes are variables of the plan.
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
            thread: further("threadName"),
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
            stamps_are_ends,
        }
    }

    /// The last column that is looked at.
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

/// What was found in a row.
pub(super) enum Found {
    /// A sample that ended then.
    Sample {
        end: Nanos,
    },
    /// The names of the columns: runs that were appended to a file may repeat them.
    Names,
    Bad(BadRow),
}

/// Makes samples of rows.
pub(super) struct RowSamples {
    pub(super) columns: SampleColumns,
    /// The last column that is looked at.
    pub(super) last: usize,
    labels: Labels,
    by_bytes: FxHashMap<Box<[u8]>, LabelId>,
    stamps: Stamps,
    pub(super) groups: Groups,
    pub(super) hostname: String,
    texts: Texts,
}

/// Cells of the last row as texts. Neighbours mostly say the same, and comparing is cheaper than checking UTF-8.
#[derive(Default)]
struct Texts {
    code: String,
    message: String,
    failure: String,
    encoding: String,
    url: String,
}

impl RowSamples {
    pub(super) fn new(columns: SampleColumns, labels: Labels) -> RowSamples {
        RowSamples {
            last: columns.last(),
            columns,
            labels,
            by_bytes: FxHashMap::default(),
            stamps: Stamps::default(),
            groups: Groups::default(),
            hostname: String::new(),
            texts: Texts::default(),
        }
    }

    /// Calls `see` with the sample of `row`, whose instants count from `origin_ns` since 1970.
    #[inline]
    pub(super) fn take(
        &mut self,
        row: &CsvRow<'_>,
        origin_ns: i64,
        see: &mut dyn FnMut(&Sample<'_>),
    ) -> Found {
        let columns = &self.columns;
        let bad =
            |column, cell, problem| Found::Bad(BadRow::new(RowPlace::Line(row.line), column, cell, problem));
        let stamp = row.cell(columns.stamp);
        let Some(stamp_ns) = self.stamps.ns(stamp) else {
            if stamp == b"timeStamp" {
                return Found::Names;
            }
            return bad("timeStamp", stamp, "is no time in ms since 1970");
        };
        let number = |at: usize| match row.cell(at) {
            b"" => Some(0),
            cell => cells::number(cell),
        };
        let span = |at: usize| match row.cell(at) {
            b"" => Some(0),
            cell => cells::span_ns(cell),
        };
        const SPAN: &str = "is no length of time in ms";
        let Some(elapsed_ns) = cells::span_ns(row.cell(columns.elapsed)) else {
            return bad("elapsed", row.cell(columns.elapsed), SPAN);
        };
        let Some(idle_ns) = span(columns.idle) else { return bad("IdleTime", row.cell(columns.idle), SPAN) };
        let length_ns = elapsed_ns + idle_ns;
        let start_ns =
            if columns.stamps_are_ends { stamp_ns.saturating_sub_unsigned(length_ns) } else { stamp_ns };
        let Ok(start_ns) = u64::try_from(start_ns.saturating_sub(origin_ns)) else {
            return bad("timeStamp", stamp, "lies more than a day before the first row");
        };
        let Some(latency_ns) = span(columns.latency) else {
            return bad("Latency", row.cell(columns.latency), SPAN);
        };
        let Some(connect_ns) = span(columns.connect) else {
            return bad("Connect", row.cell(columns.connect), SPAN);
        };
        let (Some(bytes), Some(sent_bytes)) = (number(columns.bytes), number(columns.sent_bytes)) else {
            let column = if number(columns.bytes).is_none() { "bytes" } else { "sentBytes" };
            let at = if column == "bytes" { columns.bytes } else { columns.sent_bytes };
            return bad(column, row.cell(at), "is no number of bytes");
        };
        let count = |at: usize, without: u32| match row.cell(at) {
            b"" => without,
            cell => cells::number(cell).and_then(|count| u32::try_from(count).ok()).unwrap_or(without),
        };
        let success = columns.success == NOWHERE || cells::passed(row.cell(columns.success));
        let message = row.cell(columns.message);
        let url = row.cell(columns.url);
        let mut flags = SampleFlags::NONE;
        if cells::is_transaction(message) {
            flags = flags | SampleFlags::TRANSACTION;
        }
        if url == b"null" {
            flags = flags | SampleFlags::NO_URL;
        }
        let label = row.cell(columns.label);
        let label = match self.by_bytes.get(label) {
            Some(label) => *label,
            None => known(&mut self.by_bytes, &self.labels, label),
        };
        let (group, user) = match row.cell(columns.thread) {
            b"" => (0, 0),
            name => self.groups.of(&String::from_utf8_lossy(name)),
        };
        if self.hostname.is_empty() && columns.hostname != NOWHERE {
            self.hostname.push_str(&String::from_utf8_lossy(row.cell(columns.hostname)));
        }
        let texts = &mut self.texts;
        remember(&mut texts.code, row.cell(columns.code));
        remember(&mut texts.message, message);
        remember(&mut texts.failure, row.cell(columns.failure));
        remember(&mut texts.encoding, row.cell(columns.encoding));
        remember(&mut texts.url, if flags.contains(SampleFlags::NO_URL) { b"" } else { url });
        // Totals are made without variables, and mostly it is totals that are wanted.
        let (mut values, mut variables) = (Vec::new(), Vec::new());
        if !columns.variables.is_empty() {
            values.extend(columns.variables.iter().map(|(_, at)| String::from_utf8_lossy(row.cell(*at))));
            variables.extend(values.iter().map(AsRef::as_ref));
        }
        let start = Nanos(start_ns);
        let end = start + length_ns;
        see(&Sample {
            label,
            group,
            user,
            intended: start,
            start,
            end,
            connect_ns,
            latency_ns,
            idle_ns,
            code: &texts.code,
            message: &texts.message,
            data_type: match row.cell(columns.data_type) {
                b"text" => DataType::Text,
                b"bin" => DataType::Binary,
                _ => DataType::Unknown,
            },
            encoding: &texts.encoding,
            success,
            failure_message: &texts.failure,
            bytes,
            sent_bytes,
            users_group: count(columns.users_group, 0),
            users_all: count(columns.users_all, 0),
            url: &texts.url,
            sample_count: count(columns.sample_count, 1),
            error_count: count(columns.error_count, u32::from(!success)),
            flags,
            listeners: 0,
            variables: &variables,
        });
        Found::Sample { end }
    }
}

/// Makes `text` that of the cell.
#[inline]
fn remember(text: &mut String, cell: &[u8]) {
    if text.as_bytes() != cell {
        text.clear();
        text.push_str(&String::from_utf8_lossy(cell));
    }
}

/// The number of a label that is met for the first time.
#[cold]
fn known(by_bytes: &mut FxHashMap<Box<[u8]>, LabelId>, labels: &Labels, label: &[u8]) -> LabelId {
    if by_bytes.len() >= LABELS_KNOWN_MAX {
        return labels.intern(OTHER_LABELS);
    }
    let id = labels.intern(&String::from_utf8_lossy(label));
    by_bytes.insert(label.into(), id);
    id
}
