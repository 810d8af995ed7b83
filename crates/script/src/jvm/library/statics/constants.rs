//! Constants of classes, in one table for both checking and running a script.

use jiff::tz::TimeZone;

use super::super::super::classes::Class;
use super::super::super::objects::Object;
use super::super::super::value::{Host, V};
use super::super::{comparators, java_duration, temporal, threads, time};
use crate::Value;
use crate::decimal::Decimal;

/// A class, names of its constants, and the function that returns the value of a name.
type Row = (&'static str, &'static str, fn(&'static str) -> V);

const TABLE: &[Row] = &[
    ("Integer", "MAX_VALUE", |_| V::int(i64::from(i32::MAX))),
    ("Integer", "MIN_VALUE", |_| V::int(i64::from(i32::MIN))),
    ("Integer", "SIZE", |_| V::int(32)),
    ("Integer", "BYTES", |_| V::int(4)),
    ("Long", "MAX_VALUE", |_| V::long(i64::MAX)),
    ("Long", "MIN_VALUE", |_| V::long(i64::MIN)),
    ("Long", "SIZE", |_| V::int(64)),
    ("Long", "BYTES", |_| V::int(8)),
    ("Double", "MAX_VALUE", |_| V::double(f64::MAX)),
    ("Double", "NaN", |_| V::double(f64::NAN)),
    ("Double", "POSITIVE_INFINITY", |_| V::double(f64::INFINITY)),
    ("Double", "NEGATIVE_INFINITY", |_| V::double(f64::NEG_INFINITY)),
    ("Boolean", "TRUE", |_| V::truth(true)),
    ("Boolean", "FALSE", |_| V::truth(false)),
    ("Math", "PI", |_| V::double(std::f64::consts::PI)),
    ("Math", "E", |_| V::double(std::f64::consts::E)),
    ("BigDecimal", "ZERO", |_| V::Plain(Value::Decimal(Decimal::whole(0)))),
    ("BigDecimal", "ONE", |_| V::Plain(Value::Decimal(Decimal::whole(1)))),
    ("BigDecimal", "TEN", |_| V::Plain(Value::Decimal(Decimal::whole(10)))),
    ("BigDecimal", "ROUND_HALF_UP", |_| V::int(4)),
    ("BigInteger", "ZERO", |_| V::Plain(Value::BigInteger(0))),
    ("BigInteger", "ONE", |_| V::Plain(Value::BigInteger(1))),
    ("BigInteger", "TEN", |_| V::Plain(Value::BigInteger(10))),
    ("RoundingMode", "HALF_UP HALF_EVEN HALF_DOWN UP DOWN FLOOR CEILING", V::text),
    ("File", "separator", |_| V::text("/")),
    ("File", "pathSeparator", |_| V::text(":")),
    ("System", "out", |_| V::Host(Host::Out)),
    ("System", "err", |_| V::Host(Host::Err)),
    // The charsets that `encode` supports.
    ("StandardCharsets", "UTF_16BE UTF_16LE", |name| V::object(Object::Charset(name.replacen('_', "-", 1)))),
    ("StandardCharsets", "UTF_8 ISO_8859_1 US_ASCII", |name| {
        V::object(Object::Charset(name.replace('_', "-")))
    }),
    (
        "Calendar",
        "ERA YEAR MONTH WEEK_OF_YEAR DATE DAY_OF_MONTH DAY_OF_YEAR DAY_OF_WEEK AM_PM HOUR HOUR_OF_DAY MINUTE \
         SECOND MILLISECOND JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER \
         DECEMBER SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY AM PM",
        |name| time::calendar_constant(name).map_or(V::NULL, V::int),
    ),
    (
        "Locale",
        "ENGLISH FRENCH GERMAN ITALIAN JAPANESE KOREAN CHINESE SIMPLIFIED_CHINESE TRADITIONAL_CHINESE FRANCE \
         GERMANY ITALY JAPAN KOREA UK US CANADA CANADA_FRENCH CHINA PRC TAIWAN ROOT",
        |_| V::object(Object::Locale),
    ),
    ("DayOfWeek", "MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY", |name| {
        java_duration::constant_named("DayOfWeek", name).unwrap_or(V::NULL)
    }),
    (
        "Month",
        "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER",
        |name| java_duration::constant_named("Month", name).unwrap_or(V::NULL),
    ),
    ("TextStyle", "FULL SHORT", V::text),
    ("StandardOpenOption", "APPEND CREATE CREATE_NEW TRUNCATE_EXISTING WRITE", V::text),
    ("Duration", "ZERO", |_| java_duration::duration(0)),
    ("String", "CASE_INSENSITIVE_ORDER", |_| comparators::ignoring_case()),
    ("Cipher", "ENCRYPT_MODE", |_| V::int(1)),
    ("Cipher", "DECRYPT_MODE", |_| V::int(2)),
    ("Byte", "MAX_VALUE", |_| V::int(127)),
    ("Byte", "MIN_VALUE", |_| V::int(-128)),
    ("Short", "MAX_VALUE", |_| V::int(32_767)),
    ("Short", "MIN_VALUE", |_| V::int(-32_768)),
    ("Double", "MIN_VALUE", |_| V::double(5e-324)),
    ("Float", "MAX_VALUE", |_| V::Plain(Value::Float(f32::MAX))),
    ("BigInteger", "TWO", |_| V::Plain(Value::BigInteger(2))),
    ("StringUtils", "EMPTY", |_| V::text("")),
    ("StringUtils", "SPACE", |_| V::text(" ")),
    ("Collections", "EMPTY_LIST", |_| V::list(Vec::new())),
    ("Collections", "EMPTY_MAP", |_| V::map(Vec::new())),
    ("LocalTime", "MIDNIGHT MIN", |_| temporal::time_of_day(0, 0, 0, 0)),
    ("LocalTime", "NOON", |_| temporal::time_of_day(12, 0, 0, 0)),
    ("LocalTime", "MAX", |_| temporal::time_of_day(23, 59, 59, 999_999_999)),
    ("Instant", "EPOCH", |_| time::of_instant(0)),
    ("TestElement", "NAME", |_| V::text("TestElement.name")),
    ("HTTPSamplerBase", "PATH", |_| V::text("HTTPSampler.path")),
    ("HTTPSamplerBase", "DOMAIN", |_| V::text("HTTPSampler.domain")),
    ("HTTPSamplerBase", "METHOD", |_| V::text("HTTPSampler.method")),
    ("JsonParserType", "LAX CHAR_BUFFER INDEX_OVERLAY CHARACTER_SOURCE", V::text),
    (
        "DateTimeFormatter",
        "ISO_LOCAL_TIME ISO_LOCAL_DATE_TIME ISO_OFFSET_DATE_TIME ISO_ZONED_DATE_TIME ISO_DATE_TIME ISO_INSTANT",
        |name| V::object(Object::Formatter(name.into())),
    ),
    ("DateTimeFormatter", "BASIC_ISO_DATE", |_| V::object(Object::Formatter("yyyyMMdd".into()))),
    ("ZoneOffset", "UTC", |_| V::object(Object::Zone(TimeZone::UTC, "Z".into()))),
    ("DateTimeFormatter", "ISO_LOCAL_DATE ISO_DATE", |_| V::object(Object::Formatter("yyyy-MM-dd".into()))),
    ("ChronoUnit", "NANOS MICROS MILLIS SECONDS MINUTES HOURS DAYS WEEKS MONTHS YEARS", |name| {
        V::object(Object::Unit(name))
    }),
    ("TimeUnit", "NANOSECONDS MICROSECONDS", |name| V::object(Object::Unit(name))),
    ("TimeUnit", "MILLISECONDS SECONDS MINUTES HOURS DAYS", |name| V::object(Object::Unit(name))),
    ("JMeterContext", "TestLogicalAction", |name| V::Class(Class::known(name))),
    (
        "TestLogicalAction",
        "CONTINUE START_NEXT_ITERATION_OF_THREAD START_NEXT_ITERATION_OF_CURRENT_LOOP BREAK_CURRENT_LOOP",
        |name| threads::action(name).unwrap_or(V::NULL),
    ),
    ("SampleResult", "TEXT", |_| V::text("text")),
    ("SampleResult", "BINARY", |_| V::text("bin")),
    ("SystemUtils", "IS_OS_WINDOWS", |_| V::truth(cfg!(windows))),
    ("SystemUtils", "IS_OS_MAC IS_OS_MAC_OSX", |_| V::truth(cfg!(target_os = "macos"))),
    ("SystemUtils", "IS_OS_LINUX", |_| V::truth(cfg!(target_os = "linux"))),
    ("SystemUtils", "IS_OS_UNIX", |_| V::truth(cfg!(unix))),
    ("Pattern", "CASE_INSENSITIVE", |_| V::int(2)),
    ("Pattern", "MULTILINE", |_| V::int(8)),
    ("Pattern", "DOTALL", |_| V::int(32)),
];

/// All constants: class, name, and the function that returns the value.
fn rows() -> impl Iterator<Item = Row> {
    TABLE.iter().flat_map(|(class, names, value)| {
        names.split_ascii_whitespace().map(move |name| (*class, name, *value))
    })
}

/// The value of a constant; `None` if the library has no such constant.
pub fn find(class: &str, name: &str) -> Option<V> {
    rows().find(|(owner, known, _)| *owner == class && *known == name).map(|(_, known, value)| value(known))
}

/// The classes and names of all constants.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    rows().map(|(class, name, _)| (class, name))
}
