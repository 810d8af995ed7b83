//! The positions of the columns of a CSV log.

use busyhour_record::SaveConfig;

use super::cells;
use super::csv_rows::CsvRows;
use super::error::LogError;

/// The default columns of JMeter 5.
const JMETER_5: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                        bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// The default columns of different versions of JMeter. Files of older versions have no column names. The first entry is also
/// the format of web-generator-toolkit.
const UNNAMED: [&str; 4] = [
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,Latency",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,grpThreads,allThreads,Latency",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
     bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect",
    JMETER_5,
];

/// Maximum number of cells that are counted in the first row.
const HEAD_CELLS_MAX: usize = 1_000;

/// The position of an absent column.
const NOWHERE: usize = usize::MAX;

/// The positions of the columns that are read, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) delimiter: u8,
    /// Names of all columns, in order; those of variables are in quotes.
    pub(crate) names: Vec<String>,
    /// Number of all columns.
    pub(crate) count: usize,
    /// Position of the last column that is read.
    pub(crate) last: usize,
    /// Whether the first line contains the column names.
    pub(crate) named: bool,
    pub(crate) stamp: usize,
    pub(crate) elapsed: usize,
    pub(crate) label: usize,
    pub(crate) message: Option<usize>,
    pub(crate) thread: Option<usize>,
    pub(crate) success: Option<usize>,
    pub(crate) bytes: Option<usize>,
    pub(crate) latency: Option<usize>,
    pub(crate) sample_count: Option<usize>,
    /// The position of the idle time, which is read only if time stamps are ends.
    pub(crate) idle: Option<usize>,
    pub(crate) stamps_are_ends: bool,
}

impl Columns {
    /// The columns of a log that starts with `head`; only the first row is used.
    pub(crate) fn of(head: &[u8]) -> Result<Columns, LogError> {
        // A line feed within quotes is part of the cell.
        let mut quoted = false;
        let is_end = |byte: &u8| {
            quoted ^= *byte == b'"';
            *byte == b'\n' && !quoted
        };
        let line = head.split(is_end).next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let word = line.iter().take_while(|byte| is_word(byte)).count();
        let delimiter = line.get(word).copied().unwrap_or(b',');
        let known: Vec<&str> = JMETER_5.split(',').collect();
        if known.iter().any(|name| name.as_bytes() == &line[..word]) {
            let names = String::from_utf8_lossy(line);
            let names: Vec<&str> = names.split(char::from(delimiter)).collect();
            return Columns::from_names(&names, delimiter, true);
        }
        Columns::unnamed(line)
    }

    /// The columns of a file without column names, according to the save configuration. The first row in `head` must match it.
    pub(crate) fn of_config(config: &SaveConfig, head: &[u8]) -> Result<Columns, LogError> {
        let names = config.column_names();
        let delimiter = u8::try_from(config.delimiter).map_err(|_| LogError::NoNames)?;
        let columns = Columns::from_names(&names, delimiter, false)?;
        let mut first = CsvRows::new(head, delimiter, false, HEAD_CELLS_MAX);
        match first.next(&mut |_| {})? {
            // The row may have further cells, with the values of variables.
            Some(row)
                if row.count >= columns.count
                    && cells::stamp_ns(row.cell(columns.stamp).bytes()).is_some() =>
            {
                Ok(columns)
            }
            Some(row) => Err(LogError::Properties { columns: row.count, asked: columns.count }),
            None => Err(LogError::Empty),
        }
    }

    fn from_names(names: &[&str], delimiter: u8, named: bool) -> Result<Columns, LogError> {
        // Names in quotes are those of variables.
        let place = |name: &str| names.iter().position(|column| *column == name);
        let need = |name: &'static str| place(name).ok_or(LogError::Column(name));
        let columns = Columns {
            delimiter,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            count: names.len(),
            last: 0,
            named,
            stamp: need("timeStamp")?,
            elapsed: need("elapsed")?,
            label: need("label")?,
            message: place("responseMessage"),
            thread: place("threadName"),
            success: place("success"),
            bytes: place("bytes"),
            latency: place("Latency"),
            sample_count: place("SampleCount"),
            idle: place("IdleTime"),
            stamps_are_ends: false,
        };
        Ok(columns.with_stamps(false))
    }

    /// Sets whether time stamps are ends of samples.
    pub(crate) fn with_stamps(mut self, are_ends: bool) -> Columns {
        self.stamps_are_ends = are_ends;
        let idle = self.idle.filter(|_| are_ends);
        self.last = self.places().chain(idle).max().unwrap_or_default();
        self
    }

    /// Determines the columns from a first line that is a row, not the column names.
    fn unnamed(line: &[u8]) -> Result<Columns, LogError> {
        let split = |delimiter| {
            let mut row = crate::jtl_cells::Cells::default();
            row.line.extend_from_slice(line);
            crate::jtl_cells::split(&mut row, delimiter);
            row
        };
        let begins = |delimiter: &u8| cells::stamp_ns(split(*delimiter).get(0).as_bytes()).is_some();
        let delimiter = [b',', b';', b'\t', b'|'].into_iter().find(|delimiter| {
            // A line with a single number is not a row.
            begins(delimiter) && split(*delimiter).len() > 1
        });
        let Some(delimiter) = delimiter else { return Err(LogError::NoNames) };
        let row = split(delimiter);
        for names in UNNAMED {
            let names: Vec<&str> = names.split(',').collect();
            let columns = Columns::from_names(&names, delimiter, false)?;
            let is_number = |place: usize| cells::number(row.get(place).as_bytes()).is_some();
            let numbers = [Some(columns.elapsed), columns.bytes, columns.latency];
            let success = row.get(columns.success.unwrap_or(NOWHERE));
            if row.len() == columns.count
                && numbers.into_iter().flatten().all(is_number)
                && (success.eq_ignore_ascii_case("true") || success.eq_ignore_ascii_case("false"))
            {
                return Ok(columns);
            }
        }
        Err(LogError::Unnamed { columns: row.len() })
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        [Some(self.stamp), Some(self.elapsed), Some(self.label), self.message, self.thread]
            .into_iter()
            .chain([self.success, self.bytes, self.latency, self.sample_count])
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_and_unnamed_columns_are_found() {
        let named = Columns::of(b"label;timeStamp;elapsed;\"my;var\"\r\nx").unwrap();
        assert_eq!((named.label, named.stamp, named.delimiter, named.last), (0, 1, b';', 2));
        assert!(named.named && named.latency.is_none());
        let ten =
            Columns::of(b"1331861403100,18,010_Home,200,OK,Thread Group 1-6,text,true,18078,13\n").unwrap();
        assert_eq!((ten.count, ten.bytes, ten.latency, ten.named), (10, Some(8), Some(9), false));
        let five = Columns::of(b"1,2,\"a,b\",200,OK,T 1-1,text,true,,10,20,1,1,http://h/,5,0,1\n").unwrap();
        assert_eq!((five.count, five.bytes, five.latency), (17, Some(9), Some(14)));
    }

    #[test]
    fn other_files_are_rejected() {
        assert!(matches!(Columns::of(b"hello, world\n"), Err(LogError::NoNames)));
        assert!(matches!(Columns::of(b"5\n"), Err(LogError::NoNames)));
        assert!(matches!(Columns::of(b"1,2,3\n"), Err(LogError::Unnamed { columns: 3 })));
        assert!(matches!(Columns::of(b"timeStamp,label\n"), Err(LogError::Column("elapsed"))));
    }
}
