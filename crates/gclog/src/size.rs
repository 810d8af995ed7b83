//! Amounts of memory as logs print them.

use serde::{Deserialize, Serialize};

/// Memory of a heap or of one generation before and after an event. All amounts are in KiB.
///
/// Logs round to whole K, M or G. The rounding stays in the figures, because the log has nothing finer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SizeChange {
    /// Used before the event, KiB.
    pub before_kib: i64,
    /// Used after the event, KiB.
    pub after_kib: i64,
    /// Committed after the event, KiB, if the log prints it.
    pub capacity_kib: Option<i64>,
}

impl SizeChange {
    /// Memory that the event freed, KiB; negative if more was used afterwards.
    #[must_use]
    pub fn freed_kib(&self) -> i64 {
        self.before_kib - self.after_kib
    }

    /// The sizes of two spaces together. The capacity is known only if both are.
    #[must_use]
    pub fn plus(&self, other: &SizeChange) -> SizeChange {
        SizeChange {
            before_kib: self.before_kib.saturating_add(other.before_kib),
            after_kib: self.after_kib.saturating_add(other.after_kib),
            capacity_kib: match (self.capacity_kib, other.capacity_kib) {
                (Some(one), Some(two)) => Some(one.saturating_add(two)),
                _ => None,
            },
        }
    }

    /// These sizes without those of a part, for a generation that the log leaves out. `None` if the part is larger than
    /// the whole.
    #[must_use]
    pub fn minus(&self, part: &SizeChange) -> Option<SizeChange> {
        let rest = SizeChange {
            before_kib: self.before_kib - part.before_kib,
            after_kib: self.after_kib - part.after_kib,
            capacity_kib: match (self.capacity_kib, part.capacity_kib) {
                (Some(whole), Some(part)) => Some(whole - part),
                _ => None,
            },
        };
        (rest.before_kib >= 0 && rest.after_kib >= 0 && rest.capacity_kib.is_none_or(|kib| kib >= 0))
            .then_some(rest)
    }
}

/// The largest amount that is accepted, KiB (1 EiB). Larger amounts are treated as damage; sums of accepted amounts cannot overflow.
const SIZE_MAX_KIB: f64 = (1_u64 << 50) as f64;

/// Reads digits with an optional fraction after a point or a comma; returns the number and the rest of the text.
pub(crate) fn number(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    if whole == 0 {
        return None;
    }
    let mut end = whole;
    if matches!(bytes.get(whole), Some(b'.' | b',')) {
        let fraction = digits(whole + 1);
        if fraction > 0 {
            end = whole + 1 + fraction;
        }
    }
    let (value, rest) = text.split_at(end);
    let value = if value.contains(',') { value.replace(',', ".").parse() } else { value.parse() };
    Some((value.ok()?, rest))
}

/// Reads an amount of memory such as `24M`, `1533.9M`, `0.0B` or `10451 K`; returns KiB and the rest of the text.
pub(crate) fn amount(text: &str) -> Option<(i64, &str)> {
    let (value, rest) = number(text)?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let kib = match rest.bytes().next()? {
        b'B' => value / 1024.0,
        b'K' => value,
        b'M' => value * 1024.0,
        b'G' => value * 1024.0 * 1024.0,
        b'T' => value * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let rest = &rest[1..];
    // A unit ends the amount: `3M` but not `3Min`.
    if rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()) || kib > SIZE_MAX_KIB {
        return None;
    }
    Some((kib.round_ties_even() as i64, rest))
}

/// Reads `before->after(capacity)`, `before(capacity)->after(capacity)` or `before->after`; returns the rest of the text.
pub(crate) fn change(text: &str) -> Option<(SizeChange, &str)> {
    let (before_kib, rest) = amount(text)?;
    let rest = amount_in_brackets(rest).map_or(rest, |(_, rest)| rest);
    let (after_kib, rest) = amount(rest.strip_prefix("->")?)?;
    let (capacity_kib, rest) =
        amount_in_brackets(rest).map_or((None, rest), |(capacity, rest)| (Some(capacity), rest));
    Some((SizeChange { before_kib, after_kib, capacity_kib }, rest))
}

/// Reads `used(capacity)`: sizes that an event did not change.
pub(crate) fn unchanged(text: &str) -> Option<(SizeChange, &str)> {
    let (used_kib, rest) = amount(text)?;
    let (capacity_kib, rest) = amount_in_brackets(rest)?;
    Some((SizeChange { before_kib: used_kib, after_kib: used_kib, capacity_kib: Some(capacity_kib) }, rest))
}

fn amount_in_brackets(text: &str) -> Option<(i64, &str)> {
    let (kib, rest) = amount(text.strip_prefix('(')?)?;
    Some((kib, rest.strip_prefix(')')?))
}

/// Sizes with shares of the maximum heap, as ZGC prints them: `22M(23%)->4M(4%)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SharedSizes {
    /// The sizes; the capacity is unknown.
    pub sizes: SizeChange,
    /// Percent of the maximum heap before and after, rounded by the JVM.
    pub percent: (f64, f64),
}

/// Reads [`SharedSizes`]; returns the rest of the text.
pub(crate) fn change_with_shares(text: &str) -> Option<(SharedSizes, &str)> {
    let share = |text| -> Option<(i64, f64, &str)> {
        let (kib, rest) = amount(text)?;
        let (percent, rest) = number(rest.strip_prefix('(')?)?;
        Some((kib, percent, rest.strip_prefix("%)")?))
    };
    let (before_kib, before, rest) = share(text)?;
    let (after_kib, after, rest) = share(rest.strip_prefix("->")?)?;
    let sizes = SizeChange { before_kib, after_kib, capacity_kib: None };
    Some((SharedSizes { sizes, percent: (before, after) }, rest))
}

/// Reads a duration with its unit at the start of a text (`4.086ms`, `0.007s`, `0,5 secs`); returns seconds and the rest.
pub(crate) fn duration_s(text: &str) -> Option<(f64, &str)> {
    let (value, rest) = number(text)?;
    let rest = rest.trim_start();
    for (unit, divisor) in
        [("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("secs", 1.0), ("seconds", 1.0), ("s", 1.0)]
    {
        if let Some(rest) = rest.strip_prefix(unit)
            && !rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        {
            return Some((value / divisor, rest));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units_and_fractions() {
        assert_eq!(amount("24M->"), Some((24 * 1024, "->")));
        assert_eq!(amount("1533.9M("), Some((1_570_714, "(")));
        assert_eq!(amount("10451 K (47936 K)"), Some((10451, " (47936 K)")));
        assert_eq!(amount("0.0B"), Some((0, "")));
        assert_eq!(amount("1,5G"), Some((1_572_864, "")));
        assert_eq!(amount("512B"), Some((0, "")), "half of a KiB is rounded to even");
        for damaged in ["", "M", "12", "12Q", "3Min", "99999999999999G", "->"] {
            assert_eq!(amount(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn changes_have_capacities_in_all_places() {
        let sizes = |before_kib, after_kib, capacity_kib| SizeChange { before_kib, after_kib, capacity_kib };
        assert_eq!(change("6K->1K(96K) 4.086ms"), Some((sizes(6, 1, Some(96)), " 4.086ms")));
        assert_eq!(change("89K(320K)->80K(320K) N"), Some((sizes(89, 80, Some(320)), " N")));
        assert_eq!(change("0B->8192K Heap"), Some((sizes(0, 8192, None), " Heap")));
        assert_eq!(unchanged("7666K(16320K), 0.1"), Some((sizes(7666, 7666, Some(16320)), ", 0.1")));
        let (shared, rest) = change_with_shares("22M(23%)->4M(4%) 0.005s").unwrap();
        assert_eq!((shared.sizes, shared.percent, rest), (sizes(22528, 4096, None), (23.0, 4.0), " 0.005s"));
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration_s("4.5ms"), Some((0.0045, "")));
        assert_eq!(duration_s("0,5 secs]"), Some((0.5, "]")));
        assert_eq!(duration_s("12"), None);
        assert_eq!(duration_s("12 maps"), None);
    }

    #[test]
    fn a_missing_generation_is_the_rest_of_the_heap() {
        let heap = SizeChange { before_kib: 10, after_kib: 4, capacity_kib: Some(20) };
        let young = SizeChange { before_kib: 8, after_kib: 1, capacity_kib: Some(10) };
        assert_eq!(
            heap.minus(&young),
            Some(SizeChange { before_kib: 2, after_kib: 3, capacity_kib: Some(10) })
        );
        assert_eq!(young.minus(&heap), None);
    }
}
