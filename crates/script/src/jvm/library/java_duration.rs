//! The classes `Duration`, `Period`, `DayOfWeek`, `Month` and `Year` of `java.time`.

use jiff::SignedDuration;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{text_of, unknown};

/// Static methods of `java.time.Duration`, which shares its simple name with Groovy's `Duration`.
pub const DURATION_STATICS: &str = "ofDays ofHours ofMinutes ofSeconds ofMillis ofNanos between parse";
/// Methods of the objects of `java.time.Duration`.
pub const DURATION_METHODS: &str = "toDays toHours toMinutes toSeconds toMillis toNanos getSeconds getNano plus plusDays \
    plusHours plusMinutes plusSeconds plusMillis minus minusDays minusHours minusMinutes minusSeconds minusMillis \
    multipliedBy dividedBy negated abs isZero isNegative compareTo toMinutesPart toSecondsPart toHoursPart toMillisPart \
    toDaysPart";

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "Period",
        statics: "of ofDays ofMonths ofYears ofWeeks between",
        constructor_arguments: None,
        methods: "getYears getMonths getDays toTotalMonths isNegative isZero plusDays plusMonths plusYears",
        call_static: call_period,
        construct: no_constructor,
    },
    LibraryClass {
        class: "DayOfWeek",
        statics: "of valueOf values from",
        constructor_arguments: None,
        methods: "getValue name ordinal plus minus getDisplayName compareTo",
        call_static: |machine, method, given| call_enum(machine, "DayOfWeek", method, given),
        construct: no_constructor,
    },
    LibraryClass {
        class: "Month",
        statics: "of valueOf values from",
        constructor_arguments: None,
        methods: "getValue name ordinal plus minus getDisplayName compareTo",
        call_static: |machine, method, given| call_enum(machine, "Month", method, given),
        construct: no_constructor,
    },
    LibraryClass {
        class: "Year",
        statics: "isLeap",
        constructor_arguments: None,
        methods: "",
        call_static: call_year,
        construct: no_constructor,
    },
    LibraryClass {
        class: "TextStyle",
        statics: "",
        constructor_arguments: None,
        methods: "name",
        call_static: no_static_method,
        construct: no_constructor,
    },
];

const DAYS: &[&str] = &["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const MONTHS: &[&str] = &[
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// A duration of `java.time`.
pub fn duration(nanos: i128) -> V {
    new_object(Duration(nanos))
}

/// The length of a duration in nanoseconds; `None` for other values.
pub fn nanos_of(value: &V) -> Option<i128> {
    let V::Object(object) = value else { return None };
    object.library()?.nanos()
}

/// Years, months and days of a `Period`.
pub fn period_of(value: &V) -> Option<[i64; 3]> {
    let V::Object(object) = value else { return None };
    object.library()?.period()
}

/// A constant of `DayOfWeek` or `Month`; `number` counts from 1.
pub fn constant(class: &'static str, number: i64) -> V {
    new_object(EnumConstant { class, number })
}

/// The constant with this name.
pub fn constant_named(class: &'static str, name: &str) -> Option<V> {
    let names = if class == "Month" { MONTHS } else { DAYS };
    let at = names.iter().position(|known| *known == name)?;
    Some(constant(class, at as i64 + 1))
}

fn unit_nanos(unit: &str) -> Option<i128> {
    Some(match unit {
        "NANOS" | "Nanos" => 1,
        "MICROS" => 1_000,
        "MILLIS" | "Millis" => 1_000_000,
        "SECONDS" | "Seconds" => 1_000_000_000,
        "MINUTES" | "Minutes" => 60_000_000_000,
        "HOURS" | "Hours" => 3_600_000_000_000,
        "DAYS" | "Days" => 86_400_000_000_000,
        _ => return None,
    })
}

/// Calls static methods of `Duration`, such as `Duration.ofSeconds(5)`.
pub fn call_static(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`Duration.{method}` with these arguments"));
    match (method, arguments) {
        ("between", [V::Object(from), V::Object(to)]) => {
            let at = |object: &Object| match object {
                Object::Temporal(kind, at, zone) => {
                    let zone =
                        if matches!(kind, Temporal::Zoned) { zone.clone() } else { jiff::tz::TimeZone::UTC };
                    at.to_zoned(zone).ok().map(|zoned| zoned.timestamp().as_nanosecond())
                }
                _ => None,
            };
            Ok(duration(at(to).ok_or_else(wrong)? - at(from).ok_or_else(wrong)?))
        }
        ("parse", [text]) => {
            let text = text_of(machine, text)?;
            let parsed = text.parse::<SignedDuration>();
            parsed
                .map(|length| duration(length.as_nanos()))
                .map_err(|_| thrown("DateTimeParseException", "Text cannot be parsed to a Duration"))
        }
        (_, [amount]) => {
            let unit = method.strip_prefix("of").and_then(unit_nanos).ok_or_else(wrong)?;
            Ok(duration(i128::from(amount.as_long().ok_or_else(wrong)?) * unit))
        }
        _ => Err(wrong()),
    }
}

/// A length of time in nanoseconds.
#[derive(Debug)]
struct Duration(i128);

impl Instance for Duration {
    fn class(&self) -> Class {
        Class::qualified("java.time.Duration").unwrap_or_else(|| Class::known("Duration"))
    }

    fn nanos(&self) -> Option<i128> {
        Some(self.0)
    }

    fn is_equal(&self, other: &V) -> bool {
        nanos_of(other) == Some(self.0)
    }

    fn length_ms(&self) -> Option<i64> {
        i64::try_from(self.0 / 1_000_000).ok()
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let whole = |unit: &str| Ok(V::long((self.0.div_euclid(unit_nanos(unit).unwrap_or(1))) as i64));
        let sign = if method.starts_with("minus") { -1 } else { 1 };
        match (method, arguments) {
            ("getSeconds" | "toSeconds", []) => whole("Seconds"),
            ("toDays" | "toDaysPart", []) => Ok(V::long((self.0 / 86_400_000_000_000) as i64)),
            ("toHours", []) => Ok(V::long((self.0 / 3_600_000_000_000) as i64)),
            ("toMinutes", []) => Ok(V::long((self.0 / 60_000_000_000) as i64)),
            ("toMillis", []) => whole("Millis"),
            ("toNanos", []) => whole("Nanos"),
            ("getNano", []) => Ok(V::int(self.0.rem_euclid(1_000_000_000) as i64)),
            ("toHoursPart", []) => Ok(V::int((self.0 / 3_600_000_000_000 % 24) as i64)),
            ("toMinutesPart", []) => Ok(V::int((self.0 / 60_000_000_000 % 60) as i64)),
            ("toSecondsPart", []) => Ok(V::int((self.0 / 1_000_000_000 % 60) as i64)),
            ("toMillisPart", []) => Ok(V::int((self.0 / 1_000_000 % 1_000) as i64)),
            ("isZero", []) => Ok(V::truth(self.0 == 0)),
            ("isNegative", []) => Ok(V::truth(self.0 < 0)),
            ("negated", []) => Ok(duration(-self.0)),
            ("abs", []) => Ok(duration(self.0.abs())),
            ("plus" | "minus", [other]) => match nanos_of(other) {
                Some(other) => Ok(duration(self.0 + sign * other)),
                None => Err(unknown(object, method)),
            },
            ("plus" | "minus", [amount, V::Object(unit)]) => match &**unit {
                Object::Unit(unit) => {
                    let nanos = unit_nanos(unit).ok_or_else(|| unknown(object, method))?;
                    Ok(duration(self.0 + sign * nanos * i128::from(amount.as_long().unwrap_or(0))))
                }
                _ => Err(unknown(object, method)),
            },
            ("multipliedBy", [by]) => Ok(duration(self.0 * i128::from(by.as_long().unwrap_or(0)))),
            ("dividedBy", [by]) => match by.as_long() {
                Some(0) | None => Err(thrown("ArithmeticException", "Cannot divide by zero")),
                Some(by) => Ok(duration(self.0 / i128::from(by))),
            },
            ("compareTo", [other]) => match nanos_of(other) {
                Some(other) => Ok(V::int(self.0.cmp(&other) as i64)),
                None => Err(unknown(object, method)),
            },
            (_, [amount]) => {
                let unit =
                    method.strip_prefix("plus").or_else(|| method.strip_prefix("minus")).and_then(unit_nanos);
                let unit = unit.ok_or_else(|| unknown(object, method))?;
                Ok(duration(self.0 + sign * unit * i128::from(amount.as_long().unwrap_or(0))))
            }
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        if self.0 == 0 {
            return Ok("PT0S".to_owned());
        }
        let seconds = self.0 / 1_000_000_000;
        let (hours, minutes, rest) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
        let nanos = (self.0 % 1_000_000_000).unsigned_abs();
        let mut text = String::from("PT");
        for (amount, unit) in [(hours, 'H'), (minutes, 'M')] {
            if amount != 0 {
                text.push_str(&format!("{amount}{unit}"));
            }
        }
        if rest != 0 || nanos != 0 {
            let sign = if rest == 0 && self.0 < 0 { "-" } else { "" };
            let fraction = format!("{nanos:09}");
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            text.push_str(&format!("{sign}{rest}{point}{fraction}S"));
        }
        Ok(text)
    }
}

fn call_period(_: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`Period.{method}` with these arguments"));
    let long = |value: &V| value.as_long().ok_or_else(wrong);
    Ok(new_object(Period(match (method, arguments) {
        ("of", [years, months, days]) => [long(years)?, long(months)?, long(days)?],
        ("ofDays", [days]) => [0, 0, long(days)?],
        ("ofWeeks", [weeks]) => [0, 0, long(weeks)? * 7],
        ("ofMonths", [months]) => [0, long(months)?, 0],
        ("ofYears", [years]) => [long(years)?, 0, 0],
        ("between", [V::Object(from), V::Object(to)]) => match (&**from, &**to) {
            (Object::Temporal(_, from, _), Object::Temporal(_, to, _)) => {
                let span = from.date().until((jiff::Unit::Year, to.date())).map_err(|_| wrong())?;
                [i64::from(span.get_years()), i64::from(span.get_months()), i64::from(span.get_days())]
            }
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    })))
}

#[derive(Debug)]
struct Period([i64; 3]);

impl Instance for Period {
    fn class(&self) -> Class {
        Class::known("Period")
    }

    fn period(&self) -> Option<[i64; 3]> {
        Some(self.0)
    }

    fn is_equal(&self, other: &V) -> bool {
        period_of(other) == Some(self.0)
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let [years, months, days] = self.0;
        let amount = arguments.first().and_then(V::as_long).unwrap_or(0);
        Ok(match (method, arguments.len()) {
            ("getYears", 0) => V::int(years),
            ("getMonths", 0) => V::int(months),
            ("getDays", 0) => V::int(days),
            ("toTotalMonths", 0) => V::long(years * 12 + months),
            ("isNegative", 0) => V::truth(years < 0 || months < 0 || days < 0),
            ("isZero", 0) => V::truth(self.0 == [0; 3]),
            ("plusDays", 1) => new_object(Period([years, months, days + amount])),
            ("plusMonths", 1) => new_object(Period([years, months + amount, days])),
            ("plusYears", 1) => new_object(Period([years + amount, months, days])),
            _ => return Err(unknown(object, method)),
        })
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        let parts: String = self
            .0
            .iter()
            .zip(['Y', 'M', 'D'])
            .filter(|(amount, _)| **amount != 0)
            .map(|(amount, unit)| format!("{amount}{unit}"))
            .collect();
        Ok(if parts.is_empty() { "P0D".to_owned() } else { format!("P{parts}") })
    }
}

fn call_enum(machine: &mut Machine<'_>, class: &'static str, method: &str, arguments: &[V]) -> Outcome {
    let names = if class == "Month" { MONTHS } else { DAYS };
    let wrong = || unsupported(format!("`{class}.{method}` with these arguments"));
    match (method, arguments) {
        ("of", [number]) => match number.as_long() {
            Some(number) if (1..=names.len() as i64).contains(&number) => Ok(constant(class, number)),
            Some(number) => {
                let message = format!("Invalid value for {class}: {number}");
                Err(thrown("DateTimeException", message))
            }
            None => Err(wrong()),
        },
        ("valueOf", [name]) => {
            let name = text_of(machine, name)?;
            constant_named(class, &name).ok_or_else(|| {
                thrown("IllegalArgumentException", format!("No enum constant java.time.{class}.{name}"))
            })
        }
        ("values", []) => {
            let all = (1..=names.len() as i64).map(|number| constant(class, number)).collect();
            Ok(V::array(all, super::super::tree::Base::Any))
        }
        ("from", [date]) => {
            let getter = if class == "Month" { "getMonth" } else { "getDayOfWeek" };
            machine.invoke(date, getter, Vec::new())
        }
        _ => Err(wrong()),
    }
}

#[derive(Debug)]
struct EnumConstant {
    class: &'static str,
    number: i64,
}

impl EnumConstant {
    fn names(&self) -> &'static [&'static str] {
        if self.class == "Month" { MONTHS } else { DAYS }
    }

    fn name(&self) -> &'static str {
        usize::try_from(self.number - 1).ok().and_then(|at| self.names().get(at)).copied().unwrap_or("")
    }
}

impl Instance for EnumConstant {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn constant(&self) -> Option<(&'static str, i64)> {
        Some((self.class, self.number))
    }

    fn is_equal(&self, other: &V) -> bool {
        let V::Object(other) = other else { return false };
        other.library().and_then(Instance::constant) == Some((self.class, self.number))
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let count = self.names().len() as i64;
        match (method, arguments) {
            ("getValue", []) => Ok(V::int(self.number)),
            ("ordinal", []) => Ok(V::int(self.number - 1)),
            ("name", []) => Ok(V::text(self.name())),
            ("plus" | "minus", [by]) => {
                let by = by.as_long().ok_or_else(|| unknown(object, method))?;
                let by = if method == "plus" { by } else { by.wrapping_neg() };
                Ok(constant(self.class, (self.number - 1 + by).rem_euclid(count) + 1))
            }
            ("getDisplayName", [style, _]) => {
                let name = self.name();
                let full = name[..1].to_owned() + &name[1..].to_lowercase();
                match style.as_text().unwrap_or("FULL") {
                    "FULL" => Ok(V::text(full)),
                    "SHORT" => Ok(V::text(&full[..3])),
                    _ => Err(unknown(object, method)),
                }
            }
            ("compareTo", [V::Object(other)]) => match other.library().and_then(Instance::constant) {
                Some((_, number)) => Ok(V::int(self.number - number)),
                None => Err(unknown(object, method)),
            },
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.name().to_owned())
    }
}

fn call_year(_: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("isLeap", [year]) => {
            let year = year.as_long().unwrap_or(0);
            Ok(V::truth(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)))
        }
        _ => Err(unsupported(format!("`Year.{method}` with these arguments"))),
    }
}
