//! `groovy.time.TimeCategory`: `use(TimeCategory) { new Date() + 5.minutes }`, and the durations that it makes.

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::missing;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, Offer, no_static, not_made};
use super::unknown;
use crate::Value;
use crate::syntax::ast::Binary;

const NAME: &str = "TimeCategory";

const fn duration(class: &'static str) -> Offer {
    Offer {
        class,
        statics: "",
        made: None,
        methods: "toMilliseconds getYears getMonths getDays getHours getMinutes getSeconds getMillis getAgo getFrom plus \
                  minus",
        call: no_static,
        make: not_made,
    }
}

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: NAME,
        statics: "minus getYear getYears getMonth getMonths getWeek getWeeks getDay getDays getHour getHours getMinute \
                  getMinutes getSecond getSeconds getMillisecond getMilliseconds",
        made: None,
        methods: "",
        call: call_static,
        make: not_made,
    },
    duration("Duration"),
    duration("TimeDuration"),
    duration("DatumDependentDuration"),
    duration("TimeDatumDependentDuration"),
    Offer {
        class: "From",
        statics: "",
        made: None,
        methods: "getNow getToday",
        call: no_static,
        make: not_made,
    },
];

/// A length of time in the fields of a calendar, which are added one by one.
#[derive(Debug, Clone, Copy, Default)]
struct Duration {
    years: i32,
    months: i32,
    days: i32,
    hours: i32,
    minutes: i32,
    seconds: i32,
    millis: i32,
    /// Made of years or months, whose length depends on the date.
    depends_on_date: bool,
    /// Made of hours or less: dates keep their time of day.
    has_time: bool,
}

impl Duration {
    /// `5.minutes` and its relatives, by their getters without `get`.
    fn of(number: i32, unit: &str) -> Option<Duration> {
        let none = Duration::default();
        let (date, time) = (Duration { depends_on_date: true, ..none }, Duration { has_time: true, ..none });
        Some(match unit {
            "Year" | "Years" => Duration { years: number, ..date },
            "Month" | "Months" => Duration { months: number, ..date },
            "Week" | "Weeks" => Duration { days: number.wrapping_mul(7), ..none },
            "Day" | "Days" => Duration { days: number, ..none },
            "Hour" | "Hours" => Duration { hours: number, ..time },
            "Minute" | "Minutes" => Duration { minutes: number, ..time },
            "Second" | "Seconds" => Duration { seconds: number, ..time },
            "Millisecond" | "Milliseconds" => Duration { millis: number, ..time },
            _ => return None,
        })
    }

    fn plus(self, other: Duration) -> Duration {
        Duration {
            years: self.years.wrapping_add(other.years),
            months: self.months.wrapping_add(other.months),
            days: self.days.wrapping_add(other.days),
            hours: self.hours.wrapping_add(other.hours),
            minutes: self.minutes.wrapping_add(other.minutes),
            seconds: self.seconds.wrapping_add(other.seconds),
            millis: self.millis.wrapping_add(other.millis),
            depends_on_date: self.depends_on_date || other.depends_on_date,
            has_time: self.has_time || other.has_time,
        }
    }

    fn negated(self) -> Duration {
        Duration {
            years: self.years.wrapping_neg(),
            months: self.months.wrapping_neg(),
            days: self.days.wrapping_neg(),
            hours: self.hours.wrapping_neg(),
            minutes: self.minutes.wrapping_neg(),
            seconds: self.seconds.wrapping_neg(),
            millis: self.millis.wrapping_neg(),
            ..self
        }
    }

    /// The time between two dates, `TimeCategory.minus(Date, Date)`.
    fn between(later_ms: i64, earlier_ms: i64) -> Duration {
        let ms = later_ms.wrapping_sub(earlier_ms);
        let part = |unit: i64, of: i64| ((ms / unit) % of) as i32;
        Duration {
            days: (ms / 86_400_000) as i32,
            hours: part(3_600_000, 24),
            minutes: part(60_000, 60),
            seconds: part(1_000, 60),
            millis: part(1, 1_000),
            has_time: true,
            ..Duration::default()
        }
    }

    /// Milliseconds, without years and months.
    fn fixed_ms(self) -> i64 {
        let hours = i64::from(self.days) * 24 + i64::from(self.hours);
        let seconds = (hours * 60 + i64::from(self.minutes)) * 60 + i64::from(self.seconds);
        seconds * 1_000 + i64::from(self.millis)
    }

    fn to_ms(self, now_ms: i64) -> Result<i64, Fault> {
        if self.depends_on_date { Ok(self.after(now_ms)? - now_ms) } else { Ok(self.fixed_ms()) }
    }

    /// The date after `from_ms`, in milliseconds since 1970: years, months and days of the calendar in the zone of the
    /// system, then hours and less.
    fn after(self, from_ms: i64) -> Result<i64, Fault> {
        let far = |_| thrown("IllegalArgumentException", "a date too far from 1970");
        let at = Timestamp::from_millisecond(from_ms).map_err(far)?;
        let date = at
            .to_zoned(TimeZone::system())
            .checked_add(i64::from(self.years).years())
            .and_then(|date| date.checked_add(i64::from(self.months).months()))
            .and_then(|date| date.checked_add(i64::from(self.days).days()))
            .map_err(far)?;
        let time = Duration { days: 0, ..self }.fixed_ms();
        Ok(date.timestamp().as_millisecond().saturating_add(time))
    }

    fn class_name(self) -> &'static str {
        match (self.depends_on_date, self.has_time) {
            (false, false) => "Duration",
            (false, true) => "TimeDuration",
            (true, false) => "DatumDependentDuration",
            (true, true) => "TimeDatumDependentDuration",
        }
    }

    fn display(self) -> String {
        let mut parts = Vec::new();
        for (amount, unit) in [
            (self.years, "years"),
            (self.months, "months"),
            (self.days, "days"),
            (self.hours, "hours"),
            (self.minutes, "minutes"),
        ] {
            if amount != 0 {
                parts.push(format!("{amount} {unit}"));
            }
        }
        if self.seconds != 0 || self.millis != 0 {
            let (carried, millis) = (self.millis / 1_000, self.millis % 1_000);
            let seconds = self.seconds.wrapping_add(carried);
            let sign = if seconds == 0 && millis < 0 { "-" } else { "" };
            parts.push(format!("{sign}{seconds}.{:03} seconds", millis.unsigned_abs()));
        }
        if parts.is_empty() { "0".into() } else { parts.join(", ") }
    }
}

fn object(duration: Duration) -> V {
    V::object(Object::Library(Box::new(duration)))
}

fn date(ms: i64) -> V {
    V::object(Object::Date(ms.into()))
}

/// Midnight before that time, in the zone of the system.
fn midnight(ms: i64) -> Result<i64, Fault> {
    let far = |_| thrown("IllegalArgumentException", "a date too far from 1970");
    let start = Timestamp::from_millisecond(ms).and_then(|at| at.to_zoned(TimeZone::system()).start_of_day());
    Ok(start.map_err(far)?.timestamp().as_millisecond())
}

fn duration_of(value: &V) -> Option<Duration> {
    let V::Object(object) = value else { return None };
    let length = object.library()?.duration()?;
    Some(Duration {
        years: length[0],
        months: length[1],
        days: length[2],
        hours: length[3],
        minutes: length[4],
        seconds: length[5],
        millis: length[6],
        depends_on_date: length[7] != 0,
        has_time: length[8] != 0,
    })
}

fn date_of(value: &V) -> Option<i64> {
    match value {
        V::Object(object) => match &**object {
            Object::Date(ms) => Some(ms.get()),
            _ => None,
        },
        _ => None,
    }
}

fn call_static(_: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("minus", [later, earlier]) => match (date_of(later), date_of(earlier)) {
            (Some(later), Some(earlier)) => Ok(object(Duration::between(later, earlier))),
            _ => Err(unsupported("`TimeCategory.minus` with these arguments")),
        },
        (_, [V::Plain(Value::Integer(number))]) => {
            let found = method.strip_prefix("get").and_then(|unit| Duration::of(*number, unit));
            found.map(object).ok_or_else(|| unsupported(format!("`TimeCategory.{method}`")))
        }
        _ => Err(unsupported(format!("`TimeCategory.{method}` with these arguments"))),
    }
}

/// `use(TimeCategory) { … }`: calls the closure; meanwhile numbers and dates have the methods of the category.
pub(in crate::jvm) fn use_category(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let [V::Class(class), closure @ V::Closure(_)] = arguments else {
        return Err(unsupported("`use` with these arguments"));
    };
    if class.name() != NAME {
        return Err(unsupported(format!("`use` of the category {}", class.name())));
    }
    machine.time_categories += 1;
    let outcome = machine.call_value(closure, Vec::new());
    machine.time_categories -= 1;
    outcome
}

/// The getter of a number in the category: `getMinutes` of 5.
pub(in crate::jvm) fn of_number(machine: &Machine<'_>, number: &V, getter: &str) -> Option<V> {
    if machine.time_categories == 0 {
        return None;
    }
    let V::Plain(Value::Integer(number)) = number else { return None };
    Duration::of(*number, getter.strip_prefix("get")?).map(object)
}

/// `+` and `-` of dates and durations; `None` for other values.
pub(in crate::jvm) fn binary(
    machine: &mut Machine<'_>,
    operator: Binary,
    left: &V,
    right: &V,
) -> Option<Outcome> {
    let sign = |duration: Duration| match operator {
        Binary::Add => Some(duration),
        Binary::Subtract => Some(duration.negated()),
        _ => None,
    };
    let duration = right;
    if let Some(right) = duration_of(duration) {
        let right = sign(right)?;
        if let Some(left) = duration_of(left) {
            return Some(Ok(object(left.plus(right))));
        }
        let from = date_of(left)?;
        if machine.time_categories == 0 {
            let method = if operator == Binary::Add { "plus" } else { "minus" };
            return Some(Err(missing::exception(machine, left, method, std::slice::from_ref(duration))));
        }
        return Some(right.after(from).map(date));
    }
    let right = date_of(right)?;
    match (duration_of(left), operator) {
        (Some(left), Binary::Add) => Some(left.after(right).map(date)),
        (None, Binary::Subtract) if machine.time_categories > 0 => {
            Some(Ok(object(Duration::between(date_of(left)?, right))))
        }
        _ => None,
    }
}

impl Instance for Duration {
    fn class(&self) -> Class {
        Class::known(self.class_name())
    }

    fn duration(&self) -> Option<[i32; 9]> {
        Some([
            self.years,
            self.months,
            self.days,
            self.hours,
            self.minutes,
            self.seconds,
            self.millis,
            i32::from(self.depends_on_date),
            i32::from(self.has_time),
        ])
    }

    fn length_ms(&self) -> Option<i64> {
        (!self.depends_on_date).then(|| self.fixed_ms())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let now = machine.scope.wall_clock_ms();
        Ok(match (method, arguments) {
            ("toMilliseconds", []) => V::long(self.to_ms(now)?),
            ("getYears", []) => V::int(self.years.into()),
            ("getMonths", []) => V::int(self.months.into()),
            ("getDays", []) => V::int(self.days.into()),
            ("getHours", []) => V::int(self.hours.into()),
            ("getMinutes", []) => V::int(self.minutes.into()),
            ("getSeconds", []) => V::int(self.seconds.into()),
            ("getMillis", []) => V::int(self.millis.into()),
            ("getAgo", []) => {
                let ago = self.negated().after(now)?;
                date(if self.has_time { ago } else { midnight(ago)? })
            }
            ("getFrom", []) => V::object(Object::Library(Box::new(From(*self)))),
            ("plus" | "minus", [other]) => {
                let operator = if method == "plus" { Binary::Add } else { Binary::Subtract };
                return binary(machine, operator, object, other)
                    .unwrap_or_else(|| Err(unknown(object, method)));
            }
            _ => return Err(unknown(object, method)),
        })
    }

    fn is_equal(&self, other: &V) -> bool {
        duration_of(other).is_some_and(|other| {
            self.length_ms().is_some() && self.length_ms() == other.length_ms()
                || self.duration() == other.duration()
        })
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.display())
    }
}

/// `2.days.from`, of which scripts take `now` or `today`.
#[derive(Debug)]
struct From(Duration);

impl Instance for From {
    fn class(&self) -> Class {
        Class::known("From")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let end = self.0.after(machine.scope.wall_clock_ms())?;
        match (method, arguments) {
            ("getNow", []) if self.0.has_time => Ok(date(end)),
            ("getNow" | "getToday", []) => Ok(date(midnight(end)?)),
            _ => Err(unknown(object, method)),
        }
    }
}
