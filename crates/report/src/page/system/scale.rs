//! Units in which values are shown.

use busyhour_results::Unit;

/// A factor to the base unit, and the name of the scaled unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Values in the base unit are divided by it.
    pub(super) divisor: f64,
    /// The name; empty for counts.
    pub(super) name: &'static str,
}

/// Divisors and names, the largest first.
const BYTES: [(f64, &str); 5] = [
    (1024.0 * 1024.0 * 1024.0 * 1024.0, "TiB"),
    (1024.0 * 1024.0 * 1024.0, "GiB"),
    (1024.0 * 1024.0, "MiB"),
    (1024.0, "KiB"),
    (1.0, "B"),
];
const BYTES_PER_S: [(f64, &str); 5] = [
    (1024.0 * 1024.0 * 1024.0 * 1024.0, "TiB/s"),
    (1024.0 * 1024.0 * 1024.0, "GiB/s"),
    (1024.0 * 1024.0, "MiB/s"),
    (1024.0, "KiB/s"),
    (1.0, "B/s"),
];
const SECONDS: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];

impl Scale {
    /// The unit in which the largest value has one to three digits before the point.
    pub(super) fn of(unit: Unit, largest: f64) -> Scale {
        let fitting = |scales: &[(f64, &'static str)]| {
            let fits = scales.iter().find(|(divisor, _)| largest >= *divisor);
            let (divisor, name) = fits.or(scales.last()).copied().unwrap_or((1.0, ""));
            Scale { divisor, name }
        };
        let fixed = |name| Scale { divisor: 1.0, name };
        match unit {
            Unit::Percent => fixed("%"),
            Unit::Cores => fixed("CPUs"),
            Unit::Bytes => fitting(&BYTES),
            Unit::BytesPerSecond => fitting(&BYTES_PER_S),
            Unit::Seconds => fitting(&SECONDS),
            Unit::PerSecond => fixed("per s"),
            Unit::Count | Unit::Plain => fixed(""),
        }
    }

    /// Formats a value, given in the base unit, as a number in this unit.
    pub(super) fn number(self, value: f64) -> String {
        short(value / self.divisor)
    }

    /// The number with its unit.
    pub(super) fn quantity(self, value: f64) -> String {
        if self.name.is_empty() {
            self.number(value)
        } else {
            format!("{} {}", self.number(value), self.name)
        }
    }
}

/// A value with the unit that fits it.
pub(super) fn quantity(unit: Unit, value: f64) -> String {
    Scale::of(unit, value.abs()).quantity(value)
}

/// Formats a number with about three significant digits. Whole numbers have no decimals, and only zero is shown as
/// zero.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if size < 1e15 && size.fract() == 0.0 => crate::numbers::whole(value),
        size if size < 0.0005 => "<0.001".to_owned(),
        size if size < 0.0995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => crate::numbers::whole(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_that_fits() {
        assert_eq!(quantity(Unit::Bytes, 3.5 * 1024.0 * 1024.0), "3.50 MiB");
        assert_eq!(quantity(Unit::BytesPerSecond, 12.0), "12 B/s");
        assert_eq!(quantity(Unit::Seconds, 0.0042), "4.20 ms");
        assert_eq!(quantity(Unit::Seconds, 0.0), "0 µs");
        assert_eq!(quantity(Unit::Percent, 99.97), "100 %");
        assert_eq!(quantity(Unit::Count, 1_234.0), "1,234");
        assert_eq!(quantity(Unit::Plain, 0.000_01), "<0.001");
    }
}
