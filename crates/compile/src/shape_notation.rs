//! The property `load_profile`, which replaces the Throughput Shaping Timer's table from the command line:
//! `const(10,60s) line(10,100,1m) step(5,25,5,1h)`.

use crate::setting_error::SettingError;

/// The maximum number of rows, far above any real table.
const ROWS_MAX: usize = 100_000;

/// A row: start rate and end rate in samples per second, and whole seconds.
pub(crate) type Row = (f64, f64, i64);

/// Parses a load profile.
///
/// # Errors
/// A part of the text is invalid. (The plugin logs and ignores such a part, so that the load differs.)
pub(crate) fn parse(text: &str) -> Result<Vec<Row>, SettingError> {
    let mut rows = Vec::new();
    for part in text.split(')').map(str::trim).filter(|part| !part.is_empty()) {
        let unreadable = || SettingError::new(format!("{part:?}) is not a part of a load profile"));
        let (name, arguments) = part.split_once('(').ok_or_else(unreadable)?;
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let rate = |text: &str| {
            let error = |_| SettingError::new(format!("{text:?} is not an integer rate per second"));
            text.parse::<u32>().map_err(error)
        };
        match (name.trim().to_ascii_lowercase().as_str(), arguments.as_slice()) {
            ("const", [at, time]) => {
                rows.push((f64::from(rate(at)?), f64::from(rate(at)?), seconds(time)?));
            }
            ("line", [from, to, time]) => {
                rows.push((f64::from(rate(from)?), f64::from(rate(to)?), seconds(time)?));
            }
            ("step", [from, to, by, time]) => {
                let (from, to, by, time) = (rate(from)?, rate(to)?, rate(by)?, seconds(time)?);
                if by == 0 {
                    return Err(SettingError::new(format!("the step size of {part:?}) is 0")));
                }
                let step = usize::try_from(by).unwrap_or(usize::MAX);
                // Ascending steps include the last rate; descending steps do not.
                let rates: Box<dyn Iterator<Item = u32>> = if from > to {
                    Box::new((to + 1..=from).rev().step_by(step))
                } else {
                    Box::new((from..=to).step_by(step))
                };
                rows.extend(rates.take(ROWS_MAX).map(|rate| (f64::from(rate), f64::from(rate), time)));
            }
            _ => return Err(unreadable()),
        }
        if rows.len() >= ROWS_MAX {
            return Err(SettingError::new(format!("the load profile has more than {ROWS_MAX} rows")));
        }
    }
    Ok(rows)
}

/// Parses a time such as `90`, `90s`, `1m30s`, `2h` or `1d`.
pub(crate) fn seconds(text: &str) -> Result<i64, SettingError> {
    let unreadable = || SettingError::new(format!("{text:?} is not a time such as 90, 1m30s or 2h"));
    let mut sum = 0_i64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().map_err(|_| unreadable())?;
        let mut tail = rest[digits..].chars();
        let unit = match tail.next().map(|unit| unit.to_ascii_lowercase()) {
            None | Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3_600,
            Some('d') => 86_400,
            Some(_) => return Err(unreadable()),
        };
        sum = number.checked_mul(unit).and_then(|time| sum.checked_add(time)).ok_or_else(unreadable)?;
        rest = tail.as_str();
    }
    if text.is_empty() { Err(unreadable()) } else { Ok(sum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first text and its rows are those of a test of the plugin.
    #[test]
    fn all_forms_are_parsed() {
        let expected = [
            (10.0, 10.0, 10),
            (10.0, 100.0, 60),
            (5.0, 5.0, 3_600),
            (10.0, 10.0, 3_600),
            (15.0, 15.0, 3_600),
            (20.0, 20.0, 3_600),
            (25.0, 25.0, 3_600),
        ];
        assert_eq!(parse("const(10,10s) line(10,100,1m) step(5,25,5,1h)").unwrap(), expected);
        assert_eq!(parse(" CONST( 20 , 1m30s ) ").unwrap(), [(20.0, 20.0, 90)]);
        assert_eq!(parse("step(9,1,4,5)").unwrap(), [(9.0, 9.0, 5), (5.0, 5.0, 5)]);
        assert_eq!(parse("step(3,3,4,2d)").unwrap(), [(3.0, 3.0, 172_800)]);
        assert_eq!(parse(" ").unwrap(), []);
    }

    #[test]
    fn invalid_profiles_are_rejected() {
        for text in [
            "const",
            "const(",
            "const(1)",
            "const(1.5,1s)",
            "const(-1,1s)",
            "const(1,)",
            "const(1,s)",
            "const(1,1x)",
            "line(1,2)",
            "step(1,2,0,1s)",
            "step(0,4000000000,1,1s)",
            "ramp(1,2,3)",
            "const(1,99999999999999999999)",
            "const(1,999999999999999d)",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
