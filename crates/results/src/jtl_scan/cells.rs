//! Parses the cells of a row.

use std::hash::Hasher as _;
use std::num::NonZeroU64;

use rustc_hash::FxHasher;

/// The largest time stamp that can be converted to ns since 1970: in the year 2262.
pub(super) const STAMP_MS_MAX: u64 = (i64::MAX / 1_000_000) as u64;

/// Maximum plausible duration in ms: about 31 years.
const SPAN_MS_MAX: u64 = 1_000_000_000_000;

/// Parses a whole number without a sign.
pub(crate) fn number(cell: &[u8]) -> Option<u64> {
    if cell.is_empty() || cell.len() > 19 {
        return None;
    }
    let mut value = 0u64;
    for byte in cell {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Numbers of up to 19 digits cannot overflow here.
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// Parses a duration in ms and converts it to ns.
pub(crate) fn span_ns(cell: &[u8]) -> Option<u64> {
    ms_to_ns(number(cell)?)
}

/// Converts a duration to ns; `None` if it is too long to be plausible.
#[inline]
pub(crate) fn ms_to_ns(ms: u64) -> Option<u64> {
    (ms <= SPAN_MS_MAX).then(|| ms * 1_000_000)
}

/// Parses a time, in ms since 1970 or in one of the patterns that JMeter reads (local time), and returns it in ns since 1970.
pub(crate) fn stamp_ns(cell: &[u8]) -> Option<i64> {
    if let Some(ms) = number(cell) {
        return (ms <= STAMP_MS_MAX).then(|| ms as i64 * 1_000_000);
    }
    let ms = crate::jtl_cells::formatted_ms(std::str::from_utf8(cell).ok()?)?;
    ms.checked_mul(1_000_000)
}

/// The start of a sample from its time stamp, in ns since 1970. If the time stamp is the end, duration and idle time are
/// subtracted. An empty `idle` means 0.
pub(crate) fn start_ns(stamp_ns: i64, elapsed_ns: u64, idle: &[u8], stamp_is_end: bool) -> Option<i64> {
    if !stamp_is_end {
        return Some(stamp_ns);
    }
    let idle_ns = if idle.is_empty() { 0 } else { span_ns(idle)? };
    Some(stamp_ns.saturating_sub_unsigned(elapsed_ns.saturating_add(idle_ns)))
}

/// The number at the end of a thread's name: 25 for `Thread Group 1-25`.
pub(crate) fn thread(name: &[u8]) -> Option<u32> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    number(&name[name.len() - digits..]).and_then(|number| u32::try_from(number).ok())
}

/// A number that identifies the thread with this name; `None` for an empty name.
pub(crate) fn user(name: &[u8]) -> Option<NonZeroU64> {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    NonZeroU64::new(hasher.finish()).filter(|_| !name.is_empty())
}

/// Whether the cell of the column `success` means that the sample was successful, by JMeter's rules.
#[inline]
pub(crate) fn passed(cell: &[u8]) -> bool {
    // Sets the bit that differs between upper and lower case.
    <[u8; 4]>::try_from(cell).is_ok_and(|cell| cell.map(|byte| byte | 0x20) == *b"true")
}

/// Whether the message is that of a transaction controller's sample.
pub(crate) fn is_transaction(message: &[u8]) -> bool {
    message.starts_with(crate::jtl_cells::TRANSACTION.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_parsed_as_numbers() {
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b"1331861403100"), Some(1_331_861_403_100));
        for bad in [b"".as_slice(), b"-1", b"1.5", b" 1", b"12345678901234567890"] {
            assert_eq!(number(bad), None);
        }
        assert_eq!(stamp_ns(b"9999999999999"), None);
        assert_eq!(stamp_ns(b"1331861403100"), Some(1_331_861_403_100_000_000));
        assert!(stamp_ns(b"2012/03/16 01:30:03.100").is_some_and(|ns| ns % 1_000_000_000 == 100_000_000));
        assert_eq!(span_ns(b"18"), Some(18_000_000));
        assert_eq!(thread(b"Thread Group 1-25"), Some(25));
        assert_eq!(thread(b"main"), None);
        assert_eq!(thread(b"12"), Some(12));
        assert_eq!(thread(b"x-99999999999"), None);
        assert_eq!(user(b""), None);
        assert!(user(b"Users 1-1") != user(b"Users 2-1") && user(b"a").is_some());
        for cell in
            [b"true".as_slice(), b"TRUE", b"tRue", b"false", b"", b"true ", b"TR\x15E", b"tr5e", b"\x14rue"]
        {
            assert_eq!(passed(cell), cell.eq_ignore_ascii_case(b"true"), "{cell:?}");
        }
    }
}
