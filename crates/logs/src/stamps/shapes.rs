//! The notations of stamps.

use super::scan::Scan;

/// The offset of a stamp from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offset {
    /// The stamp has none.
    Missing,
    /// Seconds east of UTC.
    Seconds(i32),
}

/// The date of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// Year, month and day.
    Full(u32, u32, u32),
    /// Month and day, as in syslog.
    WithoutYear(u32, u32),
    /// The stamp has only a time of day.
    Missing,
}

/// The time of day of a stamp, with its offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) nanosecond: u32,
    pub(super) offset: Offset,
}

/// The parts of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// A date and a time of day.
    Civil(Day, Clock),
    /// Nanoseconds since 1970.
    UnixNs(i64),
}

/// The notations that the reader of headers has to know; all others are [`Notation::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `10/Oct/2000:13:55:36 -0700`, in access logs.
    AccessLog,
    /// `Jun 14 15:16:01`, followed by the host in syslog.
    Syslog,
    /// `Mar 18, 2024 10:11:12 AM`, of `java.util.logging`, which writes the level on the next line.
    JavaUtilLogging,
    /// `18-Mar-2024 10:11:12.123`, of Tomcat.
    Tomcat,
    /// `03-17 16:13:38.811`, of Android's logcat.
    Logcat,
    /// `E0102 15:04:05.000000`, of Kubernetes' klog, which begins with the level.
    Klog,
    /// Any other notation.
    Other,
}

/// A stamp at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) notation: Notation,
    pub(super) parts: Parts,
    /// Length in bytes.
    pub(super) length: usize,
}

impl Stamp {
    pub(super) fn has_date(&self) -> bool {
        !matches!(self.parts, Parts::Civil(Day::Missing, _))
    }

    fn civil(scan: &Scan<'_>, notation: Notation, day: Day, clock: Clock) -> Stamp {
        Stamp { notation, parts: Parts::Civil(day, clock), length: scan.position() }
    }
}

/// Reads the stamp at the beginning of a text.
pub(super) fn read(text: &[u8]) -> Option<Stamp> {
    let scan = Scan::new(text);
    let first = scan.peek()?;
    if first.is_ascii_digit() {
        return match scan.digits_ahead(14) {
            1 => day_month_year(scan),
            2 => two_digits(scan),
            4 => iso(scan),
            6 => six_digits(scan),
            8 => compact(scan),
            10 | 13 => unix(scan),
            _ => None,
        };
    }
    if !first.is_ascii_uppercase() {
        return None;
    }
    month_first(scan).or_else(|| week_day_first(scan)).or_else(|| klog(scan))
}

/// `2024-03-18 10:11:12,123`, with `-`, `/` or `.` in the date and any of the usual separators after it.
fn iso(mut scan: Scan<'_>) -> Option<Stamp> {
    let year = scan.number(4)?;
    let separator = scan.take_any(b"-/.")?;
    let month = scan.number(2)?;
    scan.take(separator)?;
    let day = scan.number(2)?;
    scan.take_any(b" Tt-_:")?;
    scan.skip_spaces();
    let clock = clock(&mut scan)?;
    Some(Stamp::civil(&scan, Notation::Other, Day::Full(year, month, day), clock))
}

/// Stamps that begin with two digits.
fn two_digits(mut scan: Scan<'_>) -> Option<Stamp> {
    let first = scan.number(2)?;
    let separator = scan.take_any(b"/-. :")?;
    let has_name = scan.digits_ahead(1) == 0;
    let (notation, day) = match separator {
        b'/' if has_name => {
            let month = scan.month()?;
            scan.take(b'/')?;
            let year = scan.number(4)?;
            scan.take(b':')?;
            (Notation::AccessLog, Day::Full(year, month, first))
        }
        b'/' => {
            let month = scan.number(2)?;
            scan.take(b'/')?;
            let day = scan.number(2)?;
            scan.take(b' ')?;
            (Notation::Other, Day::Full(2_000 + first, month, day))
        }
        b'-' if has_name => {
            let month = scan.month()?;
            scan.take(b'-')?;
            let year = scan.number(4)?;
            scan.take_any(b" T")?;
            (Notation::Tomcat, Day::Full(year, month, first))
        }
        b'-' => {
            let day = scan.number(2)?;
            scan.take(b' ')?;
            (Notation::Logcat, Day::WithoutYear(first, day))
        }
        b'.' => {
            let month = scan.number(2)?;
            scan.take(b'.')?;
            let year = scan.number(4)?;
            scan.take(b' ')?;
            (Notation::Other, Day::Full(year, month, first))
        }
        b' ' => return named_month(scan, first),
        _ => return time_only(scan, first),
    };
    scan.skip_spaces();
    let clock = clock(&mut scan)?;
    Some(Stamp::civil(&scan, notation, day, clock))
}

/// `10:11:12.123` without a date, up to a delimiter.
fn time_only(mut scan: Scan<'_>, hour: u32) -> Option<Stamp> {
    let minute = scan.number(2)?;
    scan.take(b':')?;
    let second = scan.number(2)?;
    let nanosecond = fraction_ns(&mut scan);
    scan.expect_delimiter()?;
    let clock = Clock { hour, minute, second, nanosecond, offset: Offset::Missing };
    Some(Stamp::civil(&scan, Notation::Other, Day::Missing, clock))
}

/// `4 Dec 2005 04:47:44`.
fn day_month_year(mut scan: Scan<'_>) -> Option<Stamp> {
    let day = scan.number(1)?;
    scan.take(b' ')?;
    named_month(scan, day)
}

/// `Dec 2005 04:47:44`, after the day.
fn named_month(mut scan: Scan<'_>, day: u32) -> Option<Stamp> {
    let month = scan.month()?;
    scan.take(b' ')?;
    let year = scan.number(4)?;
    scan.take(b' ')?;
    let clock = clock(&mut scan)?;
    Some(Stamp::civil(&scan, Notation::Other, Day::Full(year, month, day), clock))
}

/// `081109 203615`.
fn six_digits(mut scan: Scan<'_>) -> Option<Stamp> {
    let (year, month, day) = (scan.number(2)?, scan.number(2)?, scan.number(2)?);
    scan.take(b' ')?;
    scan.skip_spaces();
    let clock = if scan.digits_ahead(3) < 3 { clock(&mut scan)? } else { digits_clock(&mut scan)? };
    scan.expect_delimiter()?;
    Some(Stamp::civil(&scan, Notation::Other, Day::Full(2_000 + year, month, day), clock))
}

/// `20171223-22:15:29:606` and `20171223T221529Z`.
fn compact(mut scan: Scan<'_>) -> Option<Stamp> {
    let day = Day::Full(scan.number(4)?, scan.number(2)?, scan.number(2)?);
    scan.take_any(b"-T ")?;
    let clock = if scan.digits_ahead(3) < 3 { clock(&mut scan)? } else { digits_clock(&mut scan)? };
    Some(Stamp::civil(&scan, Notation::Other, day, clock))
}

/// `1066036250.603` and `1066036250603`: seconds and milliseconds since 1970, for the years 2001 to 2099.
fn unix(mut scan: Scan<'_>) -> Option<Stamp> {
    let is_millis = scan.digits_ahead(14) == 13;
    let seconds = i64::from(scan.number(9)?) * 10 + i64::from(scan.number(1)?);
    if !(1_000_000_000..4_102_444_800).contains(&seconds) {
        return None;
    }
    let nanosecond = if is_millis {
        scan.number(3)? * 1_000_000
    } else {
        scan.take(b'.')?;
        scan.fraction_ns()?
    };
    scan.expect_delimiter()?;
    let parts = Parts::UnixNs(seconds * 1_000_000_000 + i64::from(nanosecond));
    Some(Stamp { notation: Notation::Other, parts, length: scan.position() })
}

/// `Jun 14 15:16:01`, `Jun 14 2024 15:16:01` and `Mar 18, 2024 10:11:12 AM`.
fn month_first(mut scan: Scan<'_>) -> Option<Stamp> {
    let month = scan.month()?;
    scan.take(b' ')?;
    scan.skip_spaces();
    let day = scan.short_number()?;
    let (notation, day) = if scan.take(b',').is_some() {
        scan.take(b' ')?;
        let year = scan.number(4)?;
        scan.take_any(b", ")?;
        scan.skip_spaces();
        (Notation::JavaUtilLogging, Day::Full(year, month, day))
    } else {
        scan.take(b' ')?;
        let day = if scan.digits_ahead(4) == 4 {
            let year = scan.number(4)?;
            scan.take(b' ')?;
            Day::Full(year, month, day)
        } else {
            Day::WithoutYear(month, day)
        };
        (Notation::Syslog, day)
    };
    let clock = clock(&mut scan)?;
    Some(Stamp::civil(&scan, notation, day, clock))
}

/// `Sun Dec 04 04:47:44.123 UTC 2005` and `Sun, 04 Dec 2005 04:47:44 GMT`.
fn week_day_first(mut scan: Scan<'_>) -> Option<Stamp> {
    scan.day_of_week()?;
    if scan.take(b',').is_some() {
        scan.take(b' ')?;
        let day = scan.short_number()?;
        scan.take(b' ')?;
        return named_month(scan, day);
    }
    scan.take(b' ')?;
    let month = scan.month()?;
    scan.take(b' ')?;
    scan.skip_spaces();
    let day = scan.short_number()?;
    scan.take(b' ')?;
    let clock = clock(&mut scan)?;
    scan.take(b' ')?;
    // Java's `Date.toString` writes an abbreviation of the zone. `clock` has read UTC and GMT; others do not determine the
    // offset.
    if scan.digits_ahead(1) == 0 {
        scan.skip_letters();
        scan.take(b' ')?;
    }
    let year = scan.number(4)?;
    Some(Stamp::civil(&scan, Notation::Other, Day::Full(year, month, day), clock))
}

/// `E0102 15:04:05.000000`.
fn klog(mut scan: Scan<'_>) -> Option<Stamp> {
    scan.take_any(b"IWEF")?;
    let (month, day) = (scan.number(2)?, scan.number(2)?);
    scan.take(b' ')?;
    let clock = clock(&mut scan)?;
    (clock.nanosecond > 0 || scan.rest().starts_with(b" ")).then_some(())?;
    Some(Stamp::civil(&scan, Notation::Klog, Day::WithoutYear(month, day), clock))
}

/// `10:11:12,123 +0200`; the separators may be dots, and `AM` or `PM` may follow.
fn clock(scan: &mut Scan<'_>) -> Option<Clock> {
    let mut hour = scan.short_number()?;
    let separator = scan.take_any(b":.")?;
    let minute = scan.number(2)?;
    scan.take(separator)?;
    let second = scan.number(2)?;
    let nanosecond = fraction_ns(scan);
    if let Some(is_afternoon) = half_of_day(scan) {
        (1..=12).contains(&hour).then_some(())?;
        hour = hour % 12 + if is_afternoon { 12 } else { 0 };
    }
    Some(Clock { hour, minute, second, nanosecond, offset: offset(scan) })
}

/// `203615`.
fn digits_clock(scan: &mut Scan<'_>) -> Option<Clock> {
    let (hour, minute, second) = (scan.number(2)?, scan.number(2)?, scan.number(2)?);
    let nanosecond = fraction_ns(scan);
    Some(Clock { hour, minute, second, nanosecond, offset: offset(scan) })
}

/// A fraction of a second after `.`, `,` or `:`; 0 if there is none.
fn fraction_ns(scan: &mut Scan<'_>) -> u32 {
    let mut ahead = *scan;
    let separator = ahead.take_any(b".,:");
    match separator.and_then(|separator| ahead.fraction_ns().map(|fraction| (separator, fraction))) {
        // After `:`, only three digits are a fraction: it may also separate a port or a line number.
        Some((b':', _)) if ahead.position() - scan.position() != 4 => 0,
        Some((_, fraction)) => {
            *scan = ahead;
            fraction
        }
        None => 0,
    }
}

/// Whether `PM` (true) or `AM` (false) follows. Since version 20, Java writes a narrow no-break space before it.
fn half_of_day(scan: &mut Scan<'_>) -> Option<bool> {
    let mut ahead = *scan;
    ahead.take(b' ').or_else(|| ahead.take_text("\u{202f}".as_bytes()))?;
    let letter = ahead.take_any(b"AaPp")?;
    ahead.take_any(b"Mm")?;
    ahead.expect_delimiter()?;
    *scan = ahead;
    Some(letter.eq_ignore_ascii_case(&b'P'))
}

/// The offset after a time: `Z`, `+02:00`, `+0200` or `+02`; or a space and `+02:00`, `+0200`, `UTC` or `GMT`.
fn offset(scan: &mut Scan<'_>) -> Offset {
    let mut ahead = *scan;
    let is_apart = ahead.take(b' ').is_some();
    let seconds = if is_apart { offset_apart(&mut ahead) } else { offset_attached(&mut ahead) };
    match seconds {
        Some(seconds) => {
            *scan = ahead;
            Offset::Seconds(seconds)
        }
        None => Offset::Missing,
    }
}

fn offset_attached(scan: &mut Scan<'_>) -> Option<i32> {
    if scan.take_any(b"Zz").is_some() {
        scan.expect_delimiter()?;
        return Some(0);
    }
    numeric_offset(scan)
}

fn offset_apart(scan: &mut Scan<'_>) -> Option<i32> {
    if scan.take_text(b"UTC").or_else(|| scan.take_text(b"GMT")).is_some() {
        scan.expect_delimiter()?;
        return Some(0);
    }
    let before = scan.position();
    // `-12` after a space is a number, not an offset.
    numeric_offset(scan).filter(|_| scan.position() - before >= 5)
}

fn numeric_offset(scan: &mut Scan<'_>) -> Option<i32> {
    let sign = if scan.take_any(b"+-")? == b'-' { -1 } else { 1 };
    let hours = scan.number(2)?;
    let minutes = if scan.take(b':').is_some() || scan.digits_ahead(2) == 2 { scan.number(2)? } else { 0 };
    scan.expect_delimiter()?;
    (hours <= 14 && minutes < 60).then(|| sign * (hours * 3_600 + minutes * 60).cast_signed())
}

/// The seconds of an offset, if the text consists of one.
pub(super) fn whole_offset(text: &str) -> Option<i32> {
    let mut scan = Scan::new(text.as_bytes());
    let seconds = numeric_offset(&mut scan)?;
    scan.rest().is_empty().then_some(seconds)
}
