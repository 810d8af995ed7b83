//! What every reader of JMeter's result files needs: cells of a row, formatted stamps, thread names.

use std::collections::HashMap;

use crate::recorder::GroupName;

/// How the message of a transaction controller's sample begins.
pub(crate) const TRANSACTION: &str = "Number of samples in transaction : ";

/// A row, taken apart.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) line: Vec<u8>,
    /// The cells, a byte behind each.
    text: String,
    /// Where they begin, and one behind the end of the last.
    bounds: Vec<usize>,
}

impl Cells {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Cell number `at`; empty beyond the last.
    pub(crate) fn get(&self, at: usize) -> &str {
        match self.bounds.get(at..).and_then(<[usize]>::first_chunk) {
            Some([from, next]) => self.text.get(*from..next - 1).unwrap_or_default(),
            None => "",
        }
    }

    /// The cells, a byte behind each.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Where the cells begin in the text, and one behind the end of the last: one more than there are cells.
    pub(crate) fn bounds(&self) -> &[usize] {
        &self.bounds
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
    let Cells { line, text, bounds } = cells;
    text.clear();
    bounds.clear();
    bounds.push(0);
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
        text.push('\n');
        bounds.push(text.len());
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
