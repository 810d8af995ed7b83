//! Time stamps and durations as text.

/// Parses a time such as `2026-11-01T10:00:00.123456789+01:00` into ns since 1970.
pub(crate) fn rfc3339_ns(text: &[u8]) -> Option<i64> {
    let digits = |at: usize, length: usize| -> Option<i64> {
        let part = text.get(at..at + length)?;
        part.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let is = |at: usize, wanted: &[u8]| text.get(at).is_some_and(|byte| wanted.contains(byte));
    if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 2)?, digits(8, 2)?);
    let (hour, minute, second) = (digits(11, 2)?, digits(14, 2)?, digits(17, 2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut at = 19;
    let mut fraction_ns = 0;
    if is(at, b".") {
        let length = text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        fraction_ns = digits(at + 1, length.min(9))? * 10_i64.pow(9 - length.min(9) as u32);
        at += 1 + length;
    }
    let offset_s = match text.get(at..)? {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let seconds = digits(at + 1, 2)? * 3_600 + digits(at + 4, 2)? * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset_s;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction_ns)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that a leap day is the last of its year.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Parses a whole number of the given unit into ns.
pub(crate) fn whole_ns(text: &[u8], unit_ns: i64) -> Option<i64> {
    let number: i64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
    number.checked_mul(unit_ns)
}

/// Converts a duration in units of `unit_ns` into ns; `None` if it is negative, not finite or longer than 292 years.
pub(crate) fn duration_ns(value: f64, unit_ns: f64) -> Option<u64> {
    let ns = value * unit_ns;
    (ns >= 0.0 && ns < i64::MAX as f64).then(|| ns.round() as u64)
}

/// Parses a duration in units of `unit_ns` into ns.
pub(crate) fn parse_duration_ns(text: &[u8], unit_ns: f64) -> Option<u64> {
    duration_ns(std::str::from_utf8(text).ok()?.trim().parse().ok()?, unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_converted_to_ns() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-11-01T10:00:00.5Z", Some(1_793_527_200_500_000_000)),
            ("2026-11-01T11:00:00.5+01:00", Some(1_793_527_200_500_000_000)),
            ("2026-11-01T09:30:00.500000000123-00:30", Some(1_793_527_200_500_000_000)),
            ("2024-02-29T00:00:00Z", Some(1_709_164_800_000_000_000)),
            ("1969-12-31T23:59:59Z", Some(-1_000_000_000)),
            ("2026-13-01T00:00:00Z", None),
            ("2026-11-01T10:00:00", None),
            ("9999-11-01T10:00:00Z", None),
            ("2026-11-01T10:00:00.Z", Some(1_793_527_200_000_000_000)),
            ("x", None),
        ] {
            assert_eq!(rfc3339_ns(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn durations_must_be_finite_and_not_negative() {
        assert_eq!(parse_duration_ns(b"1.5", 1e6), Some(1_500_000));
        for wrong in ["-1", "nan", "inf", "1e300", "", "x"] {
            assert_eq!(parse_duration_ns(wrong.as_bytes(), 1e6), None, "{wrong}");
        }
        assert_eq!(whole_ns(b"1793527200", 1_000_000_000), Some(1_793_527_200_000_000_000));
        assert_eq!(whole_ns(b"99999999999999", 1_000_000_000), None);
    }
}
