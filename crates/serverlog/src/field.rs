//! The fields of a line.

use crate::entry::StampKind;

/// The meaning of a field in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// A field that is not used.
    Unused,
    /// Method, target and protocol.
    RequestLine,
    /// Path and query.
    Target,
    /// Path without the query.
    Path,
    /// Query, with or without its question mark.
    Query,
    /// Status of the response.
    Status,
    /// Address of the client.
    Client,
    /// Identifier of the request.
    Id,
    /// Time in any notation that [`busyhour_logs::StampReader`] reads.
    Stamp(StampKind),
    /// Time since 1970 in units of this many ns.
    Since1970(StampKind, u64),
    /// The part of a second that is added to the stamp, in units of this many ns.
    Fraction(u64),
    /// Duration in units of this many ns.
    Duration(u64),
}

/// One second, millisecond, microsecond, nanosecond in ns.
pub(crate) const S: u64 = 1_000_000_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const US: u64 = 1_000;
pub(crate) const NS: u64 = 1;

/// Whether a header or field with this name contains the identifier of a request.
pub(crate) fn is_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '_'], "");
    ["requestid", "correlationid", "traceparent", "traceid"].iter().any(|id| name.contains(id))
}

/// A number in units of `unit_ns` as ns, and its resolution: that of the last digit. `None` for other texts.
pub(crate) fn number(text: &str, unit_ns: u64) -> Option<(i64, u64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value = whole.parse::<i64>().ok()?.checked_mul(i64::try_from(unit_ns).ok()?)?;
    let mut tick = unit_ns;
    for digit in fraction.bytes() {
        tick /= 10;
        if tick == 0 {
            return Some((value, 1));
        }
        value = value.checked_add(i64::from(digit - b'0') * i64::try_from(tick).ok()?)?;
    }
    Some((value, tick.max(1)))
}

/// The resolution of a stamp in a text: that of its last digit of a second.
pub(crate) fn stamp_tick_ns(stamp: &str) -> u64 {
    // The fraction follows the seconds: two digits, then a point or a comma.
    let bytes = stamp.as_bytes();
    let from = (3..bytes.len()).find(|&at| {
        matches!(bytes[at], b'.' | b',')
            && bytes[at - 1].is_ascii_digit()
            && bytes[at - 2].is_ascii_digit()
            && (bytes[at - 3] == b':' || bytes[..at].iter().all(u8::is_ascii_digit))
    });
    let digits = from.map_or(0, |at| bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count());
    S / 10_u64.pow(u32::try_from(digits.min(9)).unwrap_or(9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_resolution_of_their_last_digit() {
        assert_eq!(number("0.012", S), Some((12 * MS as i64, MS)));
        assert_eq!(number("12", MS), Some((12 * MS as i64, MS)));
        assert_eq!(number("1609459200.123", S), Some((1_609_459_200_123 * MS as i64, MS)));
        assert_eq!(number("1.5", MS), Some((1_500_000, 100_000)));
        assert_eq!(number("0.0000000019", S), Some((1, 1)));
        for bad in ["", "-", ".5", "1e3", "99999999999999999999", "9223372036854775807"] {
            assert_eq!(number(bad, S), None, "{bad}");
        }
    }

    #[test]
    fn stamps_have_the_resolution_of_their_last_digit() {
        assert_eq!(stamp_tick_ns("10/Oct/2000:13:55:36 -0700"), S);
        assert_eq!(stamp_tick_ns("2026-11-27T13:55:36.123Z"), MS);
        assert_eq!(stamp_tick_ns("2026-11-27 13:55:36,123456"), US);
        assert_eq!(stamp_tick_ns("1609459200.123"), MS);
        assert_eq!(stamp_tick_ns(""), S);
    }
}
