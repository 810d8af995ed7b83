//! Files with pressure stall information, of the system and of cgroups.

use crate::fields::{fields, lines, number};

/// The totals of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PressureTotals {
    /// Time in which some thread waited, in seconds.
    pub(crate) some_seconds: Option<f64>,
    /// Time in which all threads waited, in seconds.
    pub(crate) full_seconds: Option<f64>,
}

/// Reads `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`: totals are microseconds.
pub(crate) fn read_totals(bytes: &[u8]) -> PressureTotals {
    let mut totals = PressureTotals::default();
    for line in lines(bytes) {
        let mut fields = fields(line);
        let kind = fields.next();
        let total = fields.find_map(|field| number(field.strip_prefix(b"total=")?));
        let seconds = total.map(|microseconds| microseconds as f64 / 1e6);
        match kind {
            Some(b"some") => totals.some_seconds = seconds,
            Some(b"full") => totals.full_seconds = seconds,
            _ => {}
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_seconds() {
        let text = b"some avg10=32.77 avg60=17.60 avg300=16.80 total=202602223\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(
            read_totals(text),
            PressureTotals { some_seconds: Some(202.602223), full_seconds: Some(0.0) }
        );
        assert_eq!(read_totals(b"some total=x\nfull\n\nother total=1"), PressureTotals::default());
    }
}
