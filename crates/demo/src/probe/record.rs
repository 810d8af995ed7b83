//! What a probe noted.

use std::io::{self, Write};

/// More stamps than this are counted and not kept (8 bytes each).
pub const STAMPS_MAX: usize = 100_000_000;

/// Version of the text form of a record.
pub const STAMPS_VERSION: u32 = 1;

/// What a probe noted.
///
/// As text (see [`ProbeRecord::write`]) it is one stamp a line, after lines that begin with `#` and hold a name and a value:
///
/// ```text
/// # busyhour probe stamps version 1
/// # wall_minus_monotonic_ns_begin 1763772995000000000
/// # wall_minus_monotonic_ns_end 1763772995000000312
/// # requests 3
/// # connections 1
/// # stamps_not_kept 0
/// 81000000000
/// 81000995000
/// 81002011000
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeRecord {
    /// When each request came: nanoseconds of the system's monotonic clock, never falling.
    pub stamps_ns: Vec<u64>,
    /// Stamps beyond [`STAMPS_MAX`].
    pub stamps_not_kept: u64,
    /// Requests that came whole. Fewer than stamps when some were broken off.
    pub requests: u64,
    /// Connections that were accepted.
    pub connections: u64,
    /// What to add to a stamp for nanoseconds since 1970, when the probe began.
    pub wall_minus_monotonic_ns_begin: i128,
    /// The same when it ended: apart from the former by what the wall clock was adjusted.
    pub wall_minus_monotonic_ns_end: i128,
}

/// Initial capacity for stamps, so that growing does not disturb the first seconds.
const ROOM: usize = 1 << 20;

impl ProbeRecord {
    pub(super) fn begin(monotonic_ns: u64, wall_ns: u64) -> Self {
        let difference = i128::from(wall_ns) - i128::from(monotonic_ns);
        Self {
            stamps_ns: Vec::with_capacity(ROOM),
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
            self.stamps_not_kept += 1;
        }
    }

    /// Writes the record as text.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "# busyhour probe stamps version {STAMPS_VERSION}")?;
        writeln!(out, "# wall_minus_monotonic_ns_begin {}", self.wall_minus_monotonic_ns_begin)?;
        writeln!(out, "# wall_minus_monotonic_ns_end {}", self.wall_minus_monotonic_ns_end)?;
        writeln!(out, "# requests {}", self.requests)?;
        writeln!(out, "# connections {}", self.connections)?;
        writeln!(out, "# stamps_not_kept {}", self.stamps_not_kept)?;
        self.stamps_ns.iter().try_for_each(|stamp| writeln!(out, "{stamp}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_its_documentation_shows() {
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
