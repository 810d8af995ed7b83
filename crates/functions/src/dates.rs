//! The functions `__timeShift`, `__dateTimeConvert` and `__RandomDate`.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use busyhour_java::format::{DateFormat, DatePatternError, Defaults, Moment};
use busyhour_java::trim;
use busyhour_program::ElementError;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rand::Rng as _;

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};
use crate::problem::Problem;
use crate::time::{now_nanoseconds, pattern_problem};

/// Compiles a pattern for a locale in the form `en_US`. An empty locale is English.
fn compile_pattern(pattern: &str, locale: &str) -> Result<DateFormat, DatePatternError> {
    let format = DateFormat::new(pattern)?;
    let is_english = matches!(locale, "" | "en" | "en_US");
    if !is_english && format.depends_on_locale() {
        return Err(DatePatternError::Unsupported(format!(
            "names and weeks of the locale {locale} are not supported"
        )));
    }
    Ok(format)
}

/// Checks the pattern in the argument at `index` if it is constant, so that an invalid plan is rejected before the run.
/// `parses` is true if the pattern is used to parse dates.
fn check_pattern(
    arguments: &Arguments<'_, '_>,
    index: usize,
    locale: &str,
    parses: bool,
) -> Result<(), Problem> {
    let Some(pattern) = arguments.literal(index).map(trim).filter(|pattern| !pattern.is_empty()) else {
        return Ok(());
    };
    let format =
        compile_pattern(pattern, locale).map_err(|error| pattern_problem(arguments, pattern, &error))?;
    match format.unreadable().filter(|_| parses) {
        None => Ok(()),
        Some(field) => {
            let message = format!("the date pattern {pattern:?}: parsing {field} is not supported");
            Err(arguments.unsupported(message, ""))
        }
    }
}

/// A pattern that is compiled at first use, and again only if its text differs from the first one.
#[derive(Debug)]
struct Pattern {
    text: Template,
    compiled: OnceLock<(String, Result<Arc<DateFormat>, DatePatternError>)>,
}

impl Pattern {
    fn new(text: Template) -> Self {
        Self { text, compiled: OnceLock::new() }
    }

    /// The compiled pattern; `None` if the pattern is empty.
    fn get(
        &self,
        user: &mut UserState,
        locale: &str,
        trimmed: bool,
    ) -> Result<Option<Arc<DateFormat>>, (String, DatePatternError)> {
        with_text(&self.text, user, |_, text| {
            let text = if trimmed { trim(text) } else { text };
            if text.is_empty() {
                return Ok(None);
            }
            let compile = || compile_pattern(text, locale).map(Arc::new);
            let (cached, compiled) = self.compiled.get_or_init(|| (text.to_owned(), compile()));
            let compiled = if cached == text { compiled.clone() } else { compile() };
            compiled.map(Some).map_err(|error| (text.to_owned(), error))
        })
    }
}

#[derive(Debug)]
struct Shift {
    format: Pattern,
    date: Template,
    shift: Template,
    locale: Option<Template>,
    target: Target,
    zone: TimeZone,
}

/// Builds `${__timeShift(format, date, shift, locale, variable)}`; the argument for the locale may be omitted.
pub(crate) fn shift(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let (locale_index, target_index) = if arguments.count == 5 { (Some(3), 4) } else { (None, 3) };
    let locale = locale_index.and_then(|index| arguments.literal(index)).map(trim).unwrap_or_default();
    let parses = arguments.literal(1).is_none_or(|date| !trim(date).is_empty());
    check_pattern(arguments, 0, locale, parses)?;
    let target = arguments.target(target_index);
    let locale = locale_index.and_then(|index| arguments.optional(index));
    Ok(Arc::new(Shift {
        format: Pattern::new(arguments.take(0)),
        date: arguments.take(1),
        shift: arguments.take(2),
        locale,
        target,
        zone: TimeZone::system(),
    }))
}

impl Function for Shift {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let locale =
            self.locale.as_ref().map(|locale| locale.text(user).trim().to_owned()).unwrap_or_default();
        let format = match self.format.get(user, &locale, true) {
            Ok(format) => format,
            Err((pattern, error)) => {
                log_failure(
                    user,
                    "__timeShift",
                    &format!("Format date pattern '{pattern}' is invalid: {error}"),
                );
                return;
            }
        };
        let now = now_nanoseconds(user);
        // UTC offset of the parsed date; `None` means the machine's time zone.
        let mut offset = None;
        let mut instant = now;
        with_text(&self.date, user, |user, date| {
            let date = trim(date);
            if date.is_empty() {
                return;
            }
            let parsed = match &format {
                Some(format) => parse_date(format, date, now, &self.zone),
                None => date
                    .parse::<i64>()
                    .map(|ms| (i128::from(ms) * 1_000_000, None))
                    .map_err(|error| error.to_string().into()),
            };
            match parsed {
                Ok(parsed) => (instant, offset) = parsed,
                Err(message) => log_failure(
                    user,
                    "__timeShift",
                    &format!("Failed to parse the date '{date}' to shift: {message}"),
                ),
            }
        });
        with_text(&self.shift, user, |user, shift| {
            let shift = trim(shift);
            if !shift.is_empty() {
                match parse_duration(shift) {
                    Some(nanoseconds) => instant += nanoseconds,
                    None => log_failure(
                        user,
                        "__timeShift",
                        &format!("Failed to parse the amount duration '{shift}' to shift"),
                    ),
                }
            }
        });
        match &format {
            None => {
                let _ = write!(out, "{}", instant.div_euclid(1_000_000));
            }
            Some(format) => {
                let moment = match offset {
                    Some(offset) => Moment::at_offset(instant, offset),
                    None => Moment::of_instant(instant, &self.zone),
                };
                if let Err(message) = format.format(&moment, out) {
                    log_failure(user, "__timeShift", &message);
                    return;
                }
            }
        }
        self.target.store(user, &out[start..]);
    }
}

/// The year of an instant, which replaces a missing year in a text.
fn year_of(nanoseconds: i128, zone: &TimeZone) -> i16 {
    Moment::of_instant(nanoseconds, zone).date.map_or(1970, Date::year)
}

/// Parses a date for `__timeShift`. Returns the instant in nanoseconds since 1970 and the UTC offset in seconds.
fn parse_date(
    format: &DateFormat,
    text: &str,
    now: i128,
    zone: &TimeZone,
) -> Result<(i128, Option<i32>), ElementError> {
    let here = Moment::of_instant(now, zone).offset_seconds.unwrap_or_default();
    let defaults = Defaults { date_in_year: Some(year_of(now, zone)), midnight_at_offset: Some(here) };
    let moment = format.parse(text, defaults).map_err(String::from)?;
    let instant = moment.instant().ok_or("the text has no date and time")?;
    Ok((instant, moment.offset_seconds))
}

/// Implements Java's `Duration.parse`: returns the nanoseconds of a duration such as `P1DT2H3M4.5S`. The duration and each of
/// its parts may have a sign.
fn parse_duration(text: &str) -> Option<i128> {
    let upper = text.to_ascii_uppercase();
    let (sign, rest) = match upper.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, upper.strip_prefix('+').unwrap_or(&upper)),
    };
    let (date, time) = match rest.strip_prefix('P')?.split_once('T') {
        // A `T` that is not followed by a time is an error.
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (rest.strip_prefix('P')?, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let mut seconds: i128 = 0;
    if !date.is_empty() {
        seconds += i128::from(parse_signed(date.strip_suffix('D')?)?) * 86_400;
    }
    let mut time = time;
    for (letter, factor) in [('H', 3600), ('M', 60)] {
        if let Some((value, rest)) = time.split_once(letter) {
            seconds += i128::from(parse_signed(value)?) * factor;
            time = rest;
        }
    }
    let mut nanoseconds = seconds * 1_000_000_000;
    if !time.is_empty() {
        let value = time.strip_suffix('S')?;
        let (whole, fraction) = value.split_once(['.', ',']).unwrap_or((value, ""));
        if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
        nanoseconds += i128::from(parse_signed(whole)?) * 1_000_000_000;
        nanoseconds += if whole.starts_with('-') { -fraction } else { fraction };
    }
    Some(sign * nanoseconds)
}

/// Parses `[-+]?[0-9]+`.
fn parse_signed(text: &str) -> Option<i64> {
    text.parse().ok()
}

#[derive(Debug)]
struct Convert {
    date: Template,
    from: Pattern,
    to: Pattern,
    target: Target,
    zone: TimeZone,
}

/// Builds `${__dateTimeConvert(date, format, new format, variable)}`. If the format is empty, the date is a number of
/// milliseconds since 1970.
pub(crate) fn convert(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    check_pattern(arguments, 1, "", true)?;
    check_pattern(arguments, 2, "", false)?;
    let target = arguments.target(3);
    Ok(Arc::new(Convert {
        date: arguments.take(0),
        from: Pattern::new(arguments.take(1)),
        to: Pattern::new(arguments.take(2)),
        target,
        zone: TimeZone::system(),
    }))
}

impl Convert {
    fn convert(&self, user: &mut UserState, out: &mut String) -> Result<(), ElementError> {
        let message =
            |(pattern, error): (String, DatePatternError)| format!("the date pattern {pattern:?}: {error}");
        let from = self.from.get(user, "", false).map_err(message)?;
        let to = self.to.get(user, "", false).map_err(message)?;
        let moment = with_text(&self.date, user, |_, date| match &from {
            Some(from) => {
                // The machine's zone replaces the zone of the text. The offset of a text without zone remains unknown.
                let mut moment = from.parse(date, Defaults::default())?;
                moment.zone = Some(self.zone.clone());
                Ok(moment)
            }
            None => {
                let ms: i64 =
                    date.parse().map_err(|_| format!("{date:?} is not a number of milliseconds"))?;
                Ok::<_, String>(Moment::of_instant(i128::from(ms) * 1_000_000, &self.zone))
            }
        })?;
        to.map_or(Ok(()), |to| to.format(&moment, out).map_err(|error| String::from(error).into()))
    }
}

impl Function for Convert {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        match self.convert(user, out) {
            Ok(()) => self.target.store(user, &out[start..]),
            Err(message) => {
                out.truncate(start);
                user.log(LogLevel::Error, &format!("Error calling __dateTimeConvert: {message}"));
            }
        }
    }
}

#[derive(Debug)]
struct RandomDate {
    format: Pattern,
    from: Template,
    to: Template,
    locale: Option<Template>,
    target: Target,
    zone: TimeZone,
}

/// Builds `${__RandomDate(format, from, to, locale, variable)}`, which excludes the end, as in JMeter.
pub(crate) fn random_date(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let locale = arguments.literal(3).map(trim).unwrap_or_default();
    check_pattern(arguments, 0, locale, true)?;
    let target = arguments.target(4);
    let format = match arguments.literal(0).map(trim) {
        Some("") => Template::literal("yyyy-MM-dd"),
        _ => arguments.take(0),
    };
    Ok(Arc::new(RandomDate {
        format: Pattern::new(format),
        from: arguments.take(1),
        to: arguments.take(2),
        locale: arguments.optional(3),
        target,
        zone: TimeZone::system(),
    }))
}

/// Days since 1970.
fn epoch_day(date: Date) -> i64 {
    i64::from(date.duration_since(jiff::civil::date(1970, 1, 1)).as_hours() as i32 / 24)
}

impl RandomDate {
    /// Parses a date, as days since 1970. As in JMeter, a date that cannot be parsed is logged and counts as 1970-01-01.
    fn parse_day(
        &self,
        user: &mut UserState,
        text: &Template,
        format: &DateFormat,
        role: &str,
        empty_is_today: bool,
    ) -> i64 {
        let now = now_nanoseconds(user);
        with_text(text, user, |user, text| {
            let text = trim(text);
            let today = || Moment::of_instant(now, &self.zone).date;
            if text.is_empty() && empty_is_today {
                return today().map_or(0, epoch_day);
            }
            let defaults = Defaults { date_in_year: Some(year_of(now, &self.zone)), ..Defaults::default() };
            match format.parse(text, defaults).map(|moment| moment.date) {
                Ok(Some(date)) => epoch_day(date),
                _ => {
                    user.log(LogLevel::Error, &format!("Failed to parse {role} date '{text}'"));
                    0
                }
            }
        })
    }
}

impl Function for RandomDate {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let locale =
            self.locale.as_ref().map(|locale| locale.text(user).trim().to_owned()).unwrap_or_default();
        let format = match self.format.get(user, &locale, true) {
            Ok(Some(format)) => format,
            Ok(None) => match DateFormat::new("yyyy-MM-dd") {
                Ok(format) => Arc::new(format),
                Err(_) => return,
            },
            Err((pattern, error)) => {
                log_failure(
                    user,
                    "__RandomDate",
                    &format!("Format date pattern '{pattern}' is invalid: {error}"),
                );
                return;
            }
        };
        let from = self.parse_day(user, &self.from, &format, "start", true);
        let to = self.parse_day(user, &self.to, &format, "end", false);
        if to < from {
            user.log(LogLevel::Error, "__RandomDate: the end must be after the start");
            return;
        }
        if to == from {
            log_failure(
                user,
                "__RandomDate",
                "there is no day between start and end, since the end is excluded",
            );
            return;
        }
        let day = user.random.random_range(from..to);
        let date = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(day));
        let formatted = date
            .map_err(|error| error.to_string().into())
            .and_then(|date| format.format(&Moment::of_date(date), out));
        match formatted {
            Ok(()) => self.target.store(user, &out[start..]),
            Err(message) => log_failure(user, "__RandomDate", &message),
        }
    }
}
