//! The record of a probe.

use std::io::{self, Write};

/// The maximum number of stamps that are retained (8 bytes each); further stamps are only counted.
pub const STAMPS_MAX: usize = 100_000_000;

/// Version of the text form of a record.
pub const STAMPS_VERSION: u32 = 1;

/// The record of a probe.
///
/// The text form (see [`ProbeRecord::write`]) has one stamp per line, after lines that begin with `#` and contain a
/// name and a value:
///
/// ```text
/// # busyhour probe stamps version 1
/// # wall_minus_monotonic_ns_begin 1763772995000000000
/// # wall_minus_monotonic_ns_end 1763772995000000312
/// # requests 3
/// # connections 1
/// # stamps_omitted 0
/// 81000000000
/// 81000995000
/// 81002011000
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeRecord {
    /// The arrival time of each request in nanoseconds of the system's monotonic clock, in ascending order.
    pub stamps_ns: Vec<u64>,
    /// Number of further stamps that were not retained because of [`STAMPS_MAX`].
    pub stamps_omitted: u64,
    /// The number of complete requests, which is less than the number of stamps if requests were aborted.
    pub requests: u64,
    /// Number of connections that were accepted.
    pub connections: u64,
    /// The difference between wall clock (nanoseconds since 1970) and monotonic clock when the probe started.
    pub wall_minus_monotonic_ns_begin: i128,
    /// The same difference at the time when the probe ended. It changes if the wall clock is adjusted.
    pub wall_minus_monotonic_ns_end: i128,
}

/// The initial capacity for stamps, so that reallocation does not disturb the first seconds.
const INITIAL_CAPACITY: usize = 1 << 20;

impl ProbeRecord {
    pub(super) fn begin(monotonic_ns: u64, wall_ns: u64) -> Self {
        let difference = i128::from(wall_ns) - i128::from(monotonic_ns);
        Self {
            stamps_ns: Vec::with_capacity(INITIAL_CAPACITY),
            wall_minus_monotonic_ns_begin: difference,
            wall_minus_monotonic_ns_end: difference,
            ..Self::default()
        }
    }

    pub(super) fn end(&mut self, monotonic_ns: u64, wall_ns: u64) {
        self.wall_minus_monotonic_ns_end = i128::from(wall_ns) - i128::from(monotonic_ns);
    }

    pub(super) fn stamp(&mut self, at_ns: u64) {
        if self.stamps_ns.len() < STAMPS_MAX {
            self.stamps_ns.push(at_ns);
        } else {
            self.stamps_omitted += 1;
        }
    }

    /// Writes the record as text.
    ///
    /// # Errors
    /// `out` returns an error.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "# busyhour probe stamps version {STAMPS_VERSION}")?;
        writeln!(out, "# wall_minus_monotonic_ns_begin {}", self.wall_minus_monotonic_ns_begin)?;
        writeln!(out, "# wall_minus_monotonic_ns_end {}", self.wall_minus_monotonic_ns_end)?;
        writeln!(out, "# requests {}", self.requests)?;
        writeln!(out, "# connections {}", self.connections)?;
        writeln!(out, "# stamps_omitted {}", self.stamps_omitted)?;
        self.stamps_ns.iter().try_for_each(|stamp| writeln!(out, "{stamp}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_equals_its_documentation() {
        let mut record = ProbeRecord::begin(81_000_000_000, 1_763_773_076_000_000_000);
        record.end(82_000_000_000, 1_763_773_077_000_000_312);
        (record.requests, record.connections) = (3, 1);
        for at_ns in [81_000_000_000, 81_000_995_000, 81_002_011_000] {
            record.stamp(at_ns);
        }
        let mut text = Vec::new();
        record.write(&mut text).unwrap();
        let documented = include_str!("record.rs");
        for line in String::from_utf8(text).unwrap().lines() {
            assert!(documented.contains(&format!("/// {line}\n")), "{line}");
        }
    }
}
