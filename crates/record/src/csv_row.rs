//! JMeter's CSV: the line of column names and the rows.

use busyhour_sample::{LabelId, Labels, Nanos, RunNames, Sample};

use crate::config::{SaveConfig, TimestampFormat};
use crate::date_format::DateFormat;
use crate::jtl_columns::{CsvRow, ValueRow, write_cells, write_value_cells};

/// The row format of a save configuration, prepared for one run.
pub(crate) struct RowFormat {
    config: SaveConfig,
    delimiter: Delimiter,
    stamp: Stamp,
    wall_anchor_ms: i64,
    /// For each group: the prefix of its thread names with quotes doubled, and whether the cell needs quotes.
    groups: Vec<(Vec<u8>, bool)>,
    hostname: Vec<u8>,
    default_encoding: Vec<u8>,
    variables: Vec<String>,
    labels: Labels,
    /// Cells of the labels, by label number. Each is filled when its label is first used.
    label_cells: Vec<Option<Box<[u8]>>>,
}

enum Stamp {
    Millis,
    Absent,
    Pattern(DateFormat),
}

/// The delimiter as bytes; one character may take several bytes.
#[derive(Clone, Copy)]
struct Delimiter {
    bytes: [u8; 4],
    len: usize,
}

impl Delimiter {
    fn new(delimiter: char) -> Delimiter {
        let mut bytes = [0; 4];
        let len = delimiter.encode_utf8(&mut bytes).len();
        Delimiter { bytes, len }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether JMeter puts quotes around a text.
    fn needs_quotes(&self, text: &[u8]) -> bool {
        // Without an early exit the compiler can vectorize this loop; few texts need quotes, so an early exit saves little.
        let one = if self.len == 1 { self.bytes[0] } else { b'"' };
        let special = |b: u8| (b == b'"') | (b == b'\r') | (b == b'\n') | (b == one);
        text.iter().fold(false, |found, b| found | special(*b))
            || (self.len > 1 && text.windows(self.len).any(|w| w == self.as_bytes()))
    }

    fn cell(&self, text: &str, out: &mut Vec<u8>) {
        if self.needs_quotes(text.as_bytes()) {
            out.push(b'"');
            double_quotes(text.as_bytes(), out);
            out.push(b'"');
        } else {
            out.extend_from_slice(text.as_bytes());
        }
    }
}

fn double_quotes(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
}

/// Appends `number` in decimal.
fn integer(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn whole_ms(ns: u64) -> i64 {
    (ns / 1_000_000) as i64
}

impl RowFormat {
    pub(crate) fn new(
        config: SaveConfig,
        names: &RunNames,
        labels: Labels,
        wall_anchor_ms: i64,
    ) -> RowFormat {
        let delimiter = Delimiter::new(config.delimiter);
        let stamp = match &config.timestamp_format {
            TimestampFormat::Millis => Stamp::Millis,
            TimestampFormat::None => Stamp::Absent,
            // The configuration has been checked before; an invalid pattern would leave the column empty.
            TimestampFormat::Pattern(p) => DateFormat::parse(p).map_or(Stamp::Absent, Stamp::Pattern),
        };
        let group = |group: &busyhour_sample::GroupName| {
            let prefix = format!("{} {}-", group.name, group.number);
            let quoted = delimiter.needs_quotes(prefix.as_bytes());
            let mut bytes = Vec::new();
            double_quotes(prefix.as_bytes(), &mut bytes);
            (bytes, quoted)
        };
        let cell = |text: &str| {
            let mut out = Vec::new();
            delimiter.cell(text, &mut out);
            out
        };
        RowFormat {
            delimiter,
            stamp,
            wall_anchor_ms,
            groups: names.groups.iter().map(group).collect(),
            hostname: cell(&names.hostname),
            default_encoding: cell(&config.default_encoding),
            variables: names.variables.clone(),
            labels,
            label_cells: Vec::new(),
            config,
        }
    }

    pub(crate) const fn config(&self) -> &SaveConfig {
        &self.config
    }

    /// Appends the line of column names, including the line end.
    pub(crate) fn header(&self, out: &mut Vec<u8>) {
        let from = out.len();
        for name in self.config.column_names() {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(self.delimiter.as_bytes());
        }
        // JMeter always quotes the names of variables and does not double quotes within them.
        for name in &self.variables {
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
            out.push(b'"');
            out.extend_from_slice(self.delimiter.as_bytes());
        }
        out.truncate(out.len().saturating_sub(self.delimiter.len).max(from));
        out.push(b'\n');
    }

    /// Appends the row of `sample`, including the line end. `file_name` is the name of the file that contains its saved
    /// response; it is empty if there is none.
    pub(crate) fn row(&mut self, sample: &Sample<'_>, file_name: &str, out: &mut Vec<u8>) {
        let (shown, timestamp_is_start) = (self.config.shown, self.config.timestamp_is_start);
        let mut row = Row { out, delimiter: self.delimiter, first: true, format: self };
        write_cells(shown, timestamp_is_start, sample, file_name, &mut row);
        for at in 0..row.format.variables.len() {
            row.text(sample.variables.get(at).copied().unwrap_or("null"));
        }
        row.out.push(b'\n');
    }
}

impl RowFormat {
    /// Appends the row of a value, including the line end. The format has the start of 1970 as the start of the run.
    pub(crate) fn value_row(&mut self, value: &ValueRow<'_>, out: &mut Vec<u8>) {
        let (shown, label) = (self.config.shown, self.labels.intern(value.label));
        let at = Nanos::from_millis(u64::try_from(value.stamp_ms).unwrap_or(0));
        let mut row = Row { out, delimiter: self.delimiter, first: true, format: self };
        write_value_cells(shown, value, (at, label), &mut row);
        row.out.push(b'\n');
    }
}

/// A row to which cells are appended.
struct Row<'o> {
    out: &'o mut Vec<u8>,
    delimiter: Delimiter,
    first: bool,
    format: &'o mut RowFormat,
}

impl Row<'_> {
    fn next(&mut self) {
        if !self.first {
            self.out.extend_from_slice(self.delimiter.as_bytes());
        }
        self.first = false;
    }
}

impl CsvRow for Row<'_> {
    fn integer(&mut self, number: i64) {
        self.next();
        integer(number, self.out);
    }

    fn text(&mut self, text: &str) {
        self.next();
        self.delimiter.cell(text, self.out);
    }

    fn word(&mut self, word: &'static str) {
        self.next();
        self.out.extend_from_slice(word.as_bytes());
    }

    fn stamp(&mut self, at: Nanos) {
        let ms = self.format.wall_anchor_ms + whole_ms(at.0);
        let format = match &self.format.stamp {
            Stamp::Millis => return self.integer(ms),
            Stamp::Absent => return,
            Stamp::Pattern(format) => format,
        };
        // Calling `next` here would borrow the format, too.
        if !self.first {
            self.out.extend_from_slice(self.delimiter.as_bytes());
        }
        self.first = false;
        let from = self.out.len();
        format.format(ms, self.out);
        if self.delimiter.needs_quotes(&self.out[from..]) {
            let plain = self.out.split_off(from);
            self.out.push(b'"');
            double_quotes(&plain, self.out);
            self.out.push(b'"');
        }
    }

    fn label(&mut self, label: LabelId) {
        self.next();
        let at = label.0 as usize;
        let RowFormat { label_cells, labels, .. } = &mut *self.format;
        if label_cells.len() <= at {
            label_cells.resize(at + 1, None);
        }
        let cell = label_cells[at].get_or_insert_with(|| {
            let mut cell = Vec::new();
            self.delimiter.cell(&labels.name(label), &mut cell);
            cell.into()
        });
        self.out.extend_from_slice(cell);
    }

    fn thread_name(&mut self, group: Option<u32>, user: u32) {
        self.next();
        let group = group.and_then(|group| self.format.groups.get(group as usize));
        let Some((prefix, quoted)) = group else { return };
        if *quoted {
            self.out.push(b'"');
        }
        self.out.extend_from_slice(prefix);
        integer(i64::from(user), self.out);
        if *quoted {
            self.out.push(b'"');
        }
    }

    fn default_encoding(&mut self) {
        self.next();
        self.out.extend_from_slice(&self.format.default_encoding);
    }

    fn hostname(&mut self) {
        self.next();
        self.out.extend_from_slice(&self.format.hostname);
    }
}
