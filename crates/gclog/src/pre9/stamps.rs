//! Stamps before events, and numbers of collections.

use crate::stamp::{LineStamp, leading};

/// The largest number of bytes of the stamps before an event.
const STAMPS_MAX: usize = 80;

/// The stamps and the number before an event, and the event.
pub(crate) fn stamped(text: &str) -> (LineStamp, Option<u64>, &str) {
    let (stamp, rest) = leading(text);
    // -XX:+PrintGCID
    if let Some((number, after)) = rest.strip_prefix('#').and_then(|rest| rest.split_once(':'))
        && let Ok(number) = number.trim().parse()
    {
        return (stamp, Some(number), after.trim_start());
    }
    (stamp, None, rest)
}

/// The stamps directly before a place, and where they begin.
pub(crate) fn stamps_before(line: &str, at: usize) -> (usize, LineStamp) {
    let mut from = at.saturating_sub(STAMPS_MAX);
    while !line.is_char_boundary(from) {
        from += 1;
    }
    let before = &line[from..at];
    let mut previous = b' ';
    for (offset, byte) in before.bytes().enumerate() {
        let is_start = (byte.is_ascii_digit() || byte == b'#')
            && !(previous.is_ascii_digit()
                || matches!(previous, b'.' | b',' | b'-' | b':' | b'T' | b'#' | b'+'));
        previous = byte;
        if !is_start {
            continue;
        }
        let (stamp, _, rest) = stamped(&before[offset..]);
        if rest.is_empty() && (stamp.is_present() || byte == b'#') {
            return (from + offset, stamp);
        }
    }
    (at, LineStamp::default())
}
