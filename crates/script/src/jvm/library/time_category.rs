//! The class `groovy.time.TimeCategory`, as in `use(TimeCategory) { new Date() + 5.minutes }`, and the durations that it
//! creates.

use jiff::{Timestamp, tz::TimeZone};

use super::super::classes::Class;
use super::super::durations::{Duration, binary, date, date_of, duration_of, object};
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{java_duration, unknown};
use crate::Value;
use crate::plain::Binary;

const NAME: &str = "TimeCategory";

/// Implements `new TimeDuration(days, hours, minutes, seconds, millis)`. Constructors of date-dependent durations take years
/// and months before these arguments.
fn new_duration(class: &'static str, arguments: &[V]) -> Outcome {
    let depends_on_date = matches!(class, "DatumDependentDuration" | "TimeDatumDependentDuration");
    let has_time = matches!(class, "TimeDuration" | "TimeDatumDependentDuration");
    let wrong = || unsupported(format!("`new {class}` with these arguments"));
    let mut parts = [0_i32; 7];
    let full = if depends_on_date { 7 } else { 5 };
    // `TimeDuration` also has a constructor without days.
    let is_short = class == "TimeDuration" && arguments.len() == 4;
    if arguments.len() != full && !is_short {
        return Err(wrong());
    }
    let from = 7 - arguments.len();
    for (part, argument) in parts[from..].iter_mut().zip(arguments) {
        *part = argument.as_long().and_then(|part| i32::try_from(part).ok()).ok_or_else(wrong)?;
    }
    let [years, months, days, hours, minutes, seconds, millis] = parts;
    Ok(object(Duration { years, months, days, hours, minutes, seconds, millis, depends_on_date, has_time }))
}

const fn duration_class(
    class: &'static str,
    construct: fn(&mut Machine<'_>, &[V]) -> Outcome,
) -> LibraryClass {
    LibraryClass {
        class,
        statics: "",
        constructor_arguments: Some((4, 7)),
        methods: "toMilliseconds getYears getMonths getDays getHours getMinutes getSeconds getMillis getAgo getFrom plus \
                  minus",
        call_static: no_static_method,
        construct,
    }
}

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: NAME,
        statics: "minus getYear getYears getMonth getMonths getWeek getWeeks getDay getDays getHour getHours getMinute \
                  getMinutes getSecond getSeconds getMillisecond getMilliseconds",
        constructor_arguments: None,
        methods: "",
        call_static,
        construct: no_constructor,
    },
    LibraryClass {
        class: "Duration",
        statics: java_duration::DURATION_STATICS,
        constructor_arguments: Some((5, 5)),
        methods: java_duration::DURATION_METHODS,
        call_static: java_duration::call_static,
        construct: |_, arguments| new_duration("Duration", arguments),
    },
    duration_class("TimeDuration", |_, arguments| new_duration("TimeDuration", arguments)),
    duration_class("DatumDependentDuration", |_, arguments| {
        new_duration("DatumDependentDuration", arguments)
    }),
    duration_class("TimeDatumDependentDuration", |_, arguments| {
        new_duration("TimeDatumDependentDuration", arguments)
    }),
    LibraryClass {
        class: "From",
        statics: "",
        constructor_arguments: None,
        methods: "getNow getToday",
        call_static: no_static_method,
        construct: no_constructor,
    },
];

/// The last midnight before a time, in the system's time zone.
fn midnight(ms: i64) -> Result<i64, Fault> {
    let far = |_| thrown("IllegalArgumentException", "a date too far from 1970");
    let start = Timestamp::from_millisecond(ms).and_then(|at| at.to_zoned(TimeZone::system()).start_of_day());
    Ok(start.map_err(far)?.timestamp().as_millisecond())
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

/// Implements `use(TimeCategory) { … }`: calls the closure. While it runs, numbers and dates have the methods of the category.
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

/// The object that `2.days.from` returns, with the properties `now` and `today`.
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
