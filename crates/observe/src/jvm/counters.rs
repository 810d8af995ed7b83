//! The performance counter file of HotSpot (`hsperfdata`): its entries and their values.
//!
//! The layout is that of `sun.jvmstat.perfdata.monitor.v2_0` and HotSpot's `perfMemory.hpp`, version 2.0. All offsets of an entry
//! count from the entry's start:
//!
//! | header | | entry | |
//! |---|---|---|---|
//! | 0 | u32 magic `ca fe c0 c0`, in any byte order | 0 | i32 length of the entry |
//! | 4 | u8 byte order: 0 big, 1 little | 4 | i32 offset of the name, which ends with a zero byte |
//! | 5, 6 | u8 major 2, minor 0 | 8 | i32 length of the vector, 0 for a single value |
//! | 7 | u8 1 if the entries may be read | 12 | u8 type: `J` i64, `B` bytes of a text |
//! | 8 | i32 bytes used | 13 | u8 flags |
//! | 12 | i32 bytes that did not fit | 14 | u8 unit |
//! | 16 | i64 time of the last new entry | 15 | u8 variability |
//! | 24 | i32 offset of the first entry | 16 | i32 offset of the value |
//! | 28 | i32 number of entries | | |
//!
//! The JVM writes values without a lock while others read. An aligned `i64` is written atomically. A text may consist
//! of an old and a new part if it is read while it is written. Entries are only appended, so an index stays valid until
//! the number of entries changes.

use rustc_hash::FxHashMap;

/// The longest file that is read. HotSpot uses 32 KiB, and permits up to 2 MiB (`-XX:PerfDataMemorySize`) plus a part of a page.
pub const FILE_BYTES_MAX: usize = 4 << 20;
/// The largest number of entries that is read. JDK 8 to 25 publish up to 300.
pub const ENTRIES_MAX: usize = 20_000;
/// The longest name and text, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const HEADER_BYTES: usize = 32;
const ENTRY_BYTES_MIN: usize = 20;

/// Why a performance counter file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterFileError {
    /// The file is shorter than its header.
    #[error("the file has {bytes} bytes, fewer than the 32 of the header")]
    NoHeader {
        /// Length of the file in bytes.
        bytes: usize,
    },
    /// The file does not start with the magic number.
    #[error("the file does not start with the magic number cafec0c0 of JVM performance counters")]
    NotCounters,
    /// The byte order is neither 0 nor 1.
    #[error("the byte order is {0}, neither 0 (big) nor 1 (little)")]
    ByteOrder(
        /// The stored number.
        u8,
    ),
    /// Another version of the format.
    #[error("version {major}.{minor} of the format is not supported, only 2.x (JDK 5 and later)")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The JVM is still starting.
    #[error("the JVM is still starting and has not published its counters yet")]
    NotReady,
    /// An entry does not fit into the file.
    #[error("entry {entry} at byte {offset} is damaged: {detail}")]
    Entry {
        /// Number of the entry, from 0.
        entry: usize,
        /// Where it starts.
        offset: usize,
        /// What is wrong.
        detail: EntryDamage,
    },
    /// There are too many entries.
    #[error("the file states {stated} entries, more than {ENTRIES_MAX}")]
    TooManyEntries {
        /// The stored number.
        stated: i32,
    },
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryDamage {
    /// The entry is too short or extends beyond the end of the file.
    #[error("it is shorter than 20 bytes or extends beyond the end of the file")]
    Length,
    /// The name is outside the entry or does not end with a zero byte.
    #[error("its name is not within the entry")]
    Name,
    /// The value is outside the entry.
    #[error("its value is not within the entry")]
    Value,
}

/// The order of the bytes of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Big,
    Little,
}

/// The unit of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterUnit {
    /// No unit.
    None,
    /// Bytes.
    Bytes,
    /// Ticks of the high-resolution timer, whose frequency is the counter `sun.os.hrt.frequency`.
    Ticks,
    /// A number of events.
    Events,
    /// A text.
    Text,
    /// Hertz.
    Hertz,
    /// A unit of a later version.
    Unknown(
        /// The stored number.
        u8,
    ),
}

/// How a counter changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variability {
    /// Never.
    Constant,
    /// It only increases.
    Monotonic,
    /// It increases and decreases.
    Variable,
    /// A variability of a later version.
    Unknown(
        /// The stored number.
        u8,
    ),
}

/// The position of a counter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Long { offset: usize },
    Text { offset: usize, bytes: usize },
}

/// A counter of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    name: Box<str>,
    unit: CounterUnit,
    variability: Variability,
    place: Place,
}

impl Counter {
    /// Its name, such as `sun.gc.collector.0.time`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its unit.
    #[must_use]
    pub fn unit(&self) -> CounterUnit {
        self.unit
    }

    /// How it changes.
    #[must_use]
    pub fn variability(&self) -> Variability {
        self.variability
    }
}

/// The value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterValue {
    /// A number in the counter's unit.
    Long(
        /// The number.
        i64,
    ),
    /// A text; bytes that are not UTF-8 are replaced.
    Text(
        /// The text.
        String,
    ),
}

/// A counter of a [`CounterIndex`]; valid for this index only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CounterId(usize);

/// The counters of a file, by name. Values are read from the file's current bytes.
#[derive(Clone, Debug)]
pub struct CounterIndex {
    order: ByteOrder,
    counters: Vec<Counter>,
    by_name: FxHashMap<Box<str>, CounterId>,
    entries: i32,
    unsupported: usize,
    overflow_bytes: i32,
}

impl CounterIndex {
    /// Reads the entries of a file. Costs one pass over the entries; memory is proportional to their names.
    ///
    /// Vectors of numbers, and entries with types of later versions, are counted and skipped. If two entries have the same name,
    /// the first is used.
    ///
    /// # Errors
    /// The file is not a file of counters, is not complete yet, or an entry is damaged. Entries before a damaged one are not
    /// returned.
    pub fn parse(bytes: &[u8]) -> Result<CounterIndex, CounterFileError> {
        let header = Header::parse(bytes)?;
        let count = usize::try_from(header.entries)
            .ok()
            .filter(|count| *count <= ENTRIES_MAX)
            .ok_or(CounterFileError::TooManyEntries { stated: header.entries })?;
        let mut index = CounterIndex {
            order: header.order,
            counters: Vec::with_capacity(count.min(bytes.len() / ENTRY_BYTES_MIN)),
            by_name: FxHashMap::default(),
            entries: header.entries,
            unsupported: 0,
            overflow_bytes: header.overflow,
        };
        let mut offset = header.first;
        for number in 0..count {
            let damaged = |detail| CounterFileError::Entry { entry: number, offset, detail };
            let entry = Entry::parse(bytes, offset, header.order).map_err(damaged)?;
            offset += entry.bytes;
            index.add(entry.counter);
        }
        Ok(index)
    }

    fn add(&mut self, counter: Option<Counter>) {
        let Some(counter) = counter else {
            self.unsupported += 1;
            return;
        };
        let id = CounterId(self.counters.len());
        self.by_name.entry(counter.name.clone()).or_insert(id);
        self.counters.push(counter);
    }

    /// Whether the index still describes these bytes: the same byte order and number of entries.
    #[must_use]
    pub fn describes(&self, bytes: &[u8]) -> bool {
        Header::parse(bytes).is_ok_and(|header| header.order == self.order && header.entries == self.entries)
    }

    /// All counters in the order of the file.
    pub fn counters(&self) -> impl Iterator<Item = (CounterId, &Counter)> {
        self.counters.iter().enumerate().map(|(at, counter)| (CounterId(at), counter))
    }

    /// The counter with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<CounterId> {
        self.by_name.get(name).copied()
    }

    /// The number of entries that are neither an `i64` nor a text.
    #[must_use]
    pub fn unsupported(&self) -> usize {
        self.unsupported
    }

    /// Bytes of counters that did not fit into the file (`-XX:PerfDataMemorySize` enlarges it); 0 if it is complete.
    #[must_use]
    pub fn overflow_bytes(&self) -> i32 {
        self.overflow_bytes
    }

    /// The current number of a counter; `None` if it is a text or the bytes are shorter than those of the index.
    #[must_use]
    pub fn long(&self, bytes: &[u8], id: CounterId) -> Option<i64> {
        match self.counters.get(id.0)?.place {
            Place::Long { offset } => long_at(bytes, offset, self.order),
            Place::Text { .. } => None,
        }
    }

    /// The current text of a counter; `None` if it is a number or the bytes are shorter than those of the index.
    #[must_use]
    pub fn text(&self, bytes: &[u8], id: CounterId) -> Option<String> {
        match self.counters.get(id.0)?.place {
            Place::Long { .. } => None,
            Place::Text { offset, bytes: length } => {
                let text = bytes.get(offset..offset.checked_add(length)?)?;
                Some(String::from_utf8_lossy(until_zero(text)).into_owned())
            }
        }
    }

    /// The current value of a counter.
    #[must_use]
    pub fn value(&self, bytes: &[u8], id: CounterId) -> Option<CounterValue> {
        match self.counters.get(id.0)?.place {
            Place::Long { .. } => self.long(bytes, id).map(CounterValue::Long),
            Place::Text { .. } => self.text(bytes, id).map(CounterValue::Text),
        }
    }

    /// The current number of the counter with this name.
    #[must_use]
    pub fn long_of(&self, bytes: &[u8], name: &str) -> Option<i64> {
        self.long(bytes, self.find(name)?)
    }

    /// The current text of the counter with this name.
    #[must_use]
    pub fn text_of(&self, bytes: &[u8], name: &str) -> Option<String> {
        self.text(bytes, self.find(name)?)
    }
}

struct Header {
    order: ByteOrder,
    overflow: i32,
    first: usize,
    entries: i32,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Header, CounterFileError> {
        if bytes.len() < HEADER_BYTES {
            return Err(CounterFileError::NoHeader { bytes: bytes.len() });
        }
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let reversed = [MAGIC[3], MAGIC[2], MAGIC[1], MAGIC[0]];
        if magic != MAGIC && magic != reversed {
            return Err(CounterFileError::NotCounters);
        }
        let order = match bytes[4] {
            0 => ByteOrder::Big,
            1 => ByteOrder::Little,
            other => return Err(CounterFileError::ByteOrder(other)),
        };
        let (major, minor) = (bytes[5], bytes[6]);
        if major != 2 {
            return Err(CounterFileError::Version { major, minor });
        }
        if bytes[7] != 1 {
            return Err(CounterFileError::NotReady);
        }
        let int = |offset| int_at(bytes, offset, order).unwrap_or_default();
        let (overflow, first, entries) = (int(12), int(24), int(28));
        let damaged = CounterFileError::Entry { entry: 0, offset: 24, detail: EntryDamage::Length };
        let first = usize::try_from(first).ok().filter(|first| *first >= HEADER_BYTES).ok_or(damaged)?;
        Ok(Header { order, overflow, first, entries })
    }
}

struct Entry {
    bytes: usize,
    /// `None` for a type that is not supported.
    counter: Option<Counter>,
}

impl Entry {
    fn parse(file: &[u8], start: usize, order: ByteOrder) -> Result<Entry, EntryDamage> {
        let length = size_at(file, start, order).ok_or(EntryDamage::Length)?;
        let end = start.checked_add(length).ok_or(EntryDamage::Length)?;
        if length < ENTRY_BYTES_MIN {
            return Err(EntryDamage::Length);
        }
        let entry = file.get(start..end).ok_or(EntryDamage::Length)?;

        let name_at = size_at(entry, 4, order).ok_or(EntryDamage::Name)?;
        let name = entry.get(name_at..).ok_or(EntryDamage::Name)?;
        let name_bytes =
            name.iter().take(TEXT_BYTES_MAX).position(|byte| *byte == 0).ok_or(EntryDamage::Name)?;
        let name = String::from_utf8_lossy(&name[..name_bytes]).into_owned();

        let vector = size_at(entry, 8, order).ok_or(EntryDamage::Value)?;
        let value_at = size_at(entry, 16, order).ok_or(EntryDamage::Value)?;
        let inside = |bytes: usize| value_at.checked_add(bytes).is_some_and(|end| end <= entry.len());
        let place = match (entry[12], vector) {
            (b'J', 0) if inside(8) => Place::Long { offset: start + value_at },
            (b'B', 1..) if inside(vector) => {
                Place::Text { offset: start + value_at, bytes: vector.min(TEXT_BYTES_MAX) }
            }
            (b'J', 0) | (b'B', 1..) => return Err(EntryDamage::Value),
            _ => return Ok(Entry { bytes: length, counter: None }),
        };
        let counter = Counter {
            name: name.into_boxed_str(),
            unit: CounterUnit::from_byte(entry[14]),
            variability: Variability::from_byte(entry[15]),
            place,
        };
        Ok(Entry { bytes: length, counter: Some(counter) })
    }
}

impl CounterUnit {
    fn from_byte(byte: u8) -> CounterUnit {
        match byte {
            1 => Self::None,
            2 => Self::Bytes,
            3 => Self::Ticks,
            4 => Self::Events,
            5 => Self::Text,
            6 => Self::Hertz,
            other => Self::Unknown(other),
        }
    }
}

impl Variability {
    fn from_byte(byte: u8) -> Variability {
        match byte {
            1 => Self::Constant,
            2 => Self::Monotonic,
            3 => Self::Variable,
            other => Self::Unknown(other),
        }
    }
}

fn int_at(bytes: &[u8], offset: usize, order: ByteOrder) -> Option<i32> {
    let part: [u8; 4] = bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?;
    Some(match order {
        ByteOrder::Big => i32::from_be_bytes(part),
        ByteOrder::Little => i32::from_le_bytes(part),
    })
}

fn size_at(bytes: &[u8], offset: usize, order: ByteOrder) -> Option<usize> {
    int_at(bytes, offset, order).and_then(|size| usize::try_from(size).ok())
}

fn long_at(bytes: &[u8], offset: usize, order: ByteOrder) -> Option<i64> {
    let part: [u8; 8] = bytes.get(offset..offset.checked_add(8)?)?.try_into().ok()?;
    Some(match order {
        ByteOrder::Big => i64::from_be_bytes(part),
        ByteOrder::Little => i64::from_le_bytes(part),
    })
}

fn until_zero(text: &[u8]) -> &[u8] {
    &text[..text.iter().position(|byte| *byte == 0).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests;
