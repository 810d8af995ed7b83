//! Formatting of numbers for display.

/// A time in ms with about three significant digits.
#[must_use]
pub fn ms(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => whole(value),
    }
}

/// A rate or a size with about three significant digits; a number other than zero is never shown as zero.
#[must_use]
pub fn rate(value: f64) -> String {
    match value.abs() {
        v if v > 0.0 && v < 0.0005 => "<0.001".into(),
        v if v > 0.0 && v < 0.00995 => format!("{value:.3}"),
        v if v > 0.0 && v < 0.0995 => format!("{value:.2}"),
        v if v < 999.95 => format!("{value:.1}"),
        _ => whole(value),
    }
}

/// A number without decimals, with separators between thousands.
pub(crate) fn whole(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", thousands(value.abs().round() as u64))
}

/// A percentage; a number other than zero is never shown as zero.
#[must_use]
pub fn percent(value: f64) -> String {
    if value > 0.0 && value < 0.005 { "<0.01".into() } else { format!("{value:.2}") }
}

/// A count with separators between thousands.
#[must_use]
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A duration: `12.3 s`, `4 min 05 s`, `1 h 02 min`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
    }
}

/// A time of the run as `hh:mm:ss`.
#[must_use]
pub fn clock(seconds: u64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds % 3600 / 60, seconds % 60)
}

/// A number with its noun: `1 user`, `2 users`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A number of bytes with a suitable unit.
#[must_use]
pub fn size(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{kib:.1} KiB"),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", kib / 1024.0),
        _ => format!("{:.2} GiB", kib / 1024.0 / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits() {
        assert_eq!(
            [size(12), size(1_536), size(3 << 20), size(5 << 29)],
            ["12 bytes", "1.5 KiB", "3.0 MiB", "2.50 GiB"]
        );
    }

    #[test]
    fn numbers_have_about_three_significant_digits() {
        assert_eq!([ms(0.123), ms(12.34), ms(123.4), ms(9.999)], ["0.12", "12.3", "123", "10.0"]);
        assert_eq!([ms(1234.5), ms(-1234.5)], ["1,235", "-1,235"]);
        assert_eq!([rate(0.0), rate(999.9), rate(1234.5)], ["0.0", "999.9", "1,235"]);
        assert_eq!(
            [rate(0.0001), rate(0.0083), rate(0.042), rate(0.0999)],
            ["<0.001", "0.008", "0.04", "0.1"]
        );
        assert_eq!([percent(0.0), percent(0.001), percent(12.345)], ["0.00", "<0.01", "12.35"]);
        assert_eq!([thousands(0), thousands(999), thousands(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([duration(3.21), duration(65.0), duration(3725.0)], ["3.2 s", "1 min 05 s", "1 h 02 min"]);
        assert_eq!(clock(3725), "01:02:05");
    }
}
