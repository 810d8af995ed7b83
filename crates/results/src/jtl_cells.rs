//! Code that the readers of JMeter's result files share: the cells of a row, formatted time stamps, thread names.

use rustc_hash::FxHashMap;

use busyhour_sample::{GroupName, OTHER_GROUP};

/// The start of the message of a transaction controller's sample.
pub(crate) const TRANSACTION: &str = "Number of samples in transaction : ";

/// A row, split into cells.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) line: Vec<u8>,
    /// The texts of the cells, each followed by one separator byte.
    text: String,
    /// The start of each cell in `text`, and the end of the last cell plus one.
    bounds: Vec<usize>,
}

impl Cells {
    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Cell number `at`; empty if there is none.
    pub(crate) fn get(&self, at: usize) -> &str {
        match self.bounds.get(at..).and_then(<[usize]>::first_chunk) {
            Some([from, next]) => self.text.get(*from..next - 1).unwrap_or_default(),
            None => "",
        }
    }

    /// The texts of the cells, each followed by one separator byte.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The start of each cell in the text, and the end of the last cell plus one.
    pub(crate) fn bounds(&self) -> &[usize] {
        &self.bounds
    }
}

/// Parses a time in one of the patterns that JMeter reads, in local time; returns ms since 1970.
pub(crate) fn formatted_ms(text: &str) -> Option<i64> {
    let formats = ["%Y/%m/%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"];
    let civil = formats.iter().find_map(|format| jiff::civil::DateTime::strptime(format, text).ok())?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::system()).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// Splits `cells.line` into cells.
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

/// The thread groups found in thread names.
pub(crate) struct Groups {
    pub(crate) names: Vec<GroupName>,
    /// The number of each group, by the prefix of its thread names.
    index: FxHashMap<Box<[u8]>, u32>,
    /// The prefix of the last name, and its group, because consecutive rows mostly belong to one group.
    last: (Vec<u8>, u32),
    /// Maximum number of groups that have their own numbers.
    limit: usize,
}

impl Default for Groups {
    fn default() -> Self {
        Groups::up_to(usize::MAX)
    }
}

impl Groups {
    /// A table for at most `limit` groups. All further groups have the number [`OTHER_GROUP`].
    pub(crate) fn up_to(limit: usize) -> Self {
        Groups { names: Vec::new(), index: FxHashMap::default(), last: (Vec::new(), 0), limit }
    }

    /// The number of the thread group, and the number of the thread in it, for a thread name such as `group name 1-5`.
    pub(crate) fn of(&mut self, name: &[u8]) -> (u32, u32) {
        let (prefix, user) = match name.iter().rposition(|byte| *byte == b'-') {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (name, &b"0"[..]),
        };
        let user = std::str::from_utf8(user).ok().and_then(|user| user.parse().ok()).unwrap_or(0);
        if self.last.0 != prefix || self.names.is_empty() {
            self.last.1 = self.find(prefix);
            self.last.0.clear();
            self.last.0.extend_from_slice(prefix);
        }
        (self.last.1, user)
    }

    fn find(&mut self, prefix: &[u8]) -> u32 {
        if let Some(group) = self.index.get(prefix) {
            return *group;
        }
        if self.names.len() >= self.limit {
            return OTHER_GROUP;
        }
        let text = String::from_utf8_lossy(prefix);
        let (title, number) = text.rsplit_once(' ').unwrap_or((&text, ""));
        let group = self.names.len() as u32;
        self.names.push(GroupName { name: title.to_owned(), number: number.parse().unwrap_or(0) });
        self.index.insert(prefix.into(), group);
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_and_user_are_parsed_from_thread_names() {
        let mut groups = Groups::up_to(2);
        let names = ["Data Injection 1-1", "Load 2-7", "Load 2-8", "Data Injection 1-1", "odd", "Load 2-x"];
        let found = names.map(|name| groups.of(name.as_bytes()));
        assert_eq!(found, [(0, 1), (1, 7), (1, 8), (0, 1), (OTHER_GROUP, 0), (1, 0)]);
        assert_eq!(groups.names[0], GroupName { name: "Data Injection".into(), number: 1 });
    }
}
