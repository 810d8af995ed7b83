//! Dates in headers, parsed as leniently as HttpClient parses them in cookies.

/// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, also in the older formats (RFC 6265, section 5.1.1). Returns
/// milliseconds since 1970; `None` if it is not a date.
pub(crate) fn parse_ms(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |c: char| !(c.is_ascii_alphanumeric() || c == ':');
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none() && token.contains(':') {
            time = Some(time_of_day(token)?);
        } else if day.is_none() && token.len() <= 2 && token.bytes().all(|b| b.is_ascii_digit()) {
            day = token.parse::<i64>().ok();
        } else if month.is_none() && token.len() >= 3 && month_number(token).is_some() {
            month = month_number(token);
        } else if year.is_none()
            && (2..=4).contains(&token.len())
            && token.bytes().all(|b| b.is_ascii_digit())
        {
            year = token.parse::<i64>().ok();
        }
    }
    let (time, day, month, mut year) = (time?, day?, month?, year?);
    if (70..=99).contains(&year) {
        year += 1900;
    } else if (0..=69).contains(&year) {
        year += 2000;
    }
    if !(1..=31).contains(&day) || year < 1601 {
        return None;
    }
    Some((days_from_civil(year, month, day) * 86_400 + time) * 1000)
}

fn time_of_day(token: &str) -> Option<i64> {
    let mut parts = token.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    (hours < 24 && minutes < 60 && seconds < 62).then_some(hours * 3600 + minutes * 60 + seconds)
}

fn month_number(token: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let head = token.get(..3)?;
    MONTHS.iter().position(|month| month.eq_ignore_ascii_case(head)).map(|at| at as i64 + 1)
}

/// Days since 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms").
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_date_formats_of_http_are_parsed() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse_ms(text), Some(784_111_777_000), "{text}");
        }
        assert_eq!(parse_ms("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse_ms("0"), None);
        assert_eq!(parse_ms("tomorrow"), None);
    }
}
