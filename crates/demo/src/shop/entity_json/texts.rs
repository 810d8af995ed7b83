//! Numbers and dates in the format of TicketMonster's Java code.

use std::fmt::Write as _;

/// Formats a single-precision number as Java does: always with a fraction, and with an exponent outside of the range from
/// 0.001 to 10⁷.
pub(super) fn float_text(value: f32) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => format!("{mantissa}E{exponent}"),
        Some((mantissa, exponent)) => format!("{mantissa}.0E{exponent}"),
        None => text,
    }
}

/// Formats a time as in TicketMonster's titles: `2020-11-13 06:00:00.0`, in UTC.
pub(super) fn timestamp_text(ms: i64) -> String {
    let Ok(stamp) = jiff::Timestamp::from_millisecond(ms) else { return ms.to_string() };
    let mut out = stamp.strftime("%Y-%m-%d %H:%M:%S").to_string();
    let fraction = format!("{:03}", ms.rem_euclid(1000));
    let trimmed = fraction.trim_end_matches('0');
    let _ = write!(out, ".{}", if trimmed.is_empty() { "0" } else { trimmed });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_java_prints_them() {
        for (value, text) in [
            (200.0, "200.0"),
            (0.1, "0.1"),
            (1e7, "1.0E7"),
            (1.25e10, "1.25E10"),
            (1e-4, "1.0E-4"),
            (0.0, "0.0"),
            (9_999_999.0, "9999999.0"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    fn times_are_formatted_in_utc_with_a_short_fraction() {
        assert_eq!(timestamp_text(1_605_247_200_000), "2020-11-13 06:00:00.0");
        assert_eq!(timestamp_text(1_605_247_200_120), "2020-11-13 06:00:00.12");
        assert_eq!(timestamp_text(-1), "1969-12-31 23:59:59.999");
    }
}
