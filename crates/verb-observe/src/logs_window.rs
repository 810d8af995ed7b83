//! The part of a log that is counted: `--from`, `--to` and `--window`.

use busyhour_analysis::comparison::RunWindow;
use busyhour_logs::{EntryTime, StampReader, StampSettings, Zone};
use busyhour_terminal::exit::hinted;
use busyhour_terminal::quantities::span;

const NS_PER_DAY: i64 = 86_400_000_000_000;

/// The time in which entries are counted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CountedTime {
    /// Between two times in ns since 1970; from the first entry or to the last one without them.
    Between(Option<i64>, Option<i64>),
    /// Between two times since the first entry.
    SinceFirst(RunWindow),
    /// From the first to the second time of day. Each is its first occurrence after the first entry of the log. Without them: from the
    /// first entry, or to the last one.
    OfDay(Option<String>, Option<String>),
}

impl CountedTime {
    pub(super) const WHOLE: CountedTime = CountedTime::Between(None, None);

    /// Reads the values of `--from` and `--to`.
    pub(super) fn between(
        from: Option<&String>,
        to: Option<&String>,
        zone: &Zone,
    ) -> Result<CountedTime, String> {
        let texts = || [from, to].into_iter().flatten();
        if texts().next().is_some() && texts().all(|text| is_of_day(text)) {
            return if from == to {
                Err("--from is the same time as --to".to_owned())
            } else {
                Ok(CountedTime::OfDay(from.cloned(), to.cloned()))
            };
        }
        if texts().any(|text| is_of_day(text)) {
            return Err("--from and --to need a date both, or neither of them".to_owned());
        }
        let (from, to) = (option("--from", from, zone)?, option("--to", to, zone)?);
        match (from, to) {
            (Some(from), Some(to)) if from >= to => Err("--from is not before --to".to_owned()),
            (from, to) => Ok(CountedTime::Between(from, to)),
        }
    }

    /// Reads the value of `--window`: `2min,22min`, `10:00,10:15` or `2026-03-18T10:00,2026-03-18T10:15`.
    pub(super) fn window(text: &str, zone: &Zone) -> Result<CountedTime, String> {
        let wrong = |why: &str| {
            hinted(
                format!("--window {text}: {why}"),
                "write 2min,22min (since the first entry), 10:00,10:15 or 2026-03-18T10:00,2026-03-18T10:15",
            )
        };
        // Stamps may have a comma before the fraction of a second.
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let parts = match parts.len() {
            even if even % 2 == 0 => Some((parts[..even / 2].join(","), parts[even / 2..].join(","))),
            _ => None,
        };
        let (from, to) = parts.ok_or_else(|| wrong("expected two times"))?;
        if is_of_day(&from) && is_of_day(&to) {
            return if from == to {
                Err(wrong("it is empty"))
            } else {
                Ok(CountedTime::OfDay(Some(from), Some(to)))
            };
        }
        match (time(&from, zone), time(&to, zone)) {
            (Some(from), Some(to)) if from < to => Ok(CountedTime::Between(Some(from), Some(to))),
            (Some(_), Some(_)) => Err(wrong("the end must be later than the beginning")),
            _ => span(text).map(CountedTime::SinceFirst).map_err(|error| wrong(&error.to_string())),
        }
    }

    /// Whether a part of the log is selected.
    pub(super) fn is_limited(&self) -> bool {
        *self != CountedTime::WHOLE
    }

    /// Start and end in ns since 1970 in a log whose first entry is at `first`. `None` if the entries have no times, but the
    /// selected time depends on the first one.
    pub(super) fn resolve(&self, first: Option<i64>, zone: &Zone) -> Option<(Option<i64>, Option<i64>)> {
        match self {
            CountedTime::Between(from, to) => Some((*from, *to)),
            CountedTime::SinceFirst(window) => {
                let after = |seconds: f64| first.map(|first| first.saturating_add((seconds * 1e9) as i64));
                Some((Some(after(window.from_s)?), Some(after(window.to_s)?)))
            }
            CountedTime::OfDay(from, to) => {
                let first = first?;
                let on_day_of = |unix_ns: i64, of_day: &str| {
                    let shown = zone.show(unix_ns);
                    let (date, _) = shown.split_once(' ')?;
                    time(&format!("{date} {of_day}"), zone)
                };
                let after_first = |of_day: &str| {
                    [first, first.saturating_add(NS_PER_DAY)]
                        .into_iter()
                        .find_map(|day| on_day_of(day, of_day).filter(|time| *time > first))
                };
                let (Some(from), Some(to)) = (from, to) else {
                    let one = |of_day: &Option<String>| match of_day {
                        Some(of_day) => after_first(of_day).map(Some),
                        None => Some(None),
                    };
                    return Some((one(from)?, one(to)?));
                };
                let end = after_first(to)?;
                let start = [end, end.saturating_sub(NS_PER_DAY)]
                    .into_iter()
                    .find_map(|day| on_day_of(day, from).filter(|start| *start < end))?;
                Some((Some(start), Some(end)))
            }
        }
    }
}

fn option(name: &str, text: Option<&String>, zone: &Zone) -> Result<Option<i64>, String> {
    let Some(text) = text else { return Ok(None) };
    time(text, zone).map(Some).ok_or_else(|| {
        hinted(
            format!("{name} {text}: not a time"),
            "write 10:00, 2026-03-18T10:00:00 or 2026-03-18T10:00:00+01:00",
        )
    })
}

/// Whether a text is a time of day: `10:15`, `9:05`, `10:15:30`.
fn is_of_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let is_part =
        |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts.iter().all(is_part)
}

/// A time in one of the notations of logs, also without seconds.
fn time(text: &str, zone: &Zone) -> Option<i64> {
    let stamps = StampSettings { zone: Some(zone.clone()), near_unix_ns: 0 };
    let mut reader = StampReader::new(stamps);
    [text.to_owned(), format!("{text}:00"), format!("{text}T00:00:00")].iter().find_map(|text| {
        match reader.find(text) {
            Some(found) if found.range == (0..text.len()) => match found.time {
                EntryTime::UnixNs(unix_ns) => Some(unix_ns),
                EntryTime::Unavailable(_) => None,
            },
            Some(_) | None => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window in a log with this first entry, in UTC.
    fn resolved(window: &str, first: &str) -> (String, String) {
        let zone = Zone::utc();
        let window = CountedTime::window(window, &zone).unwrap();
        let (from, to) = window.resolve(time(first, &zone), &zone).unwrap();
        (zone.show(from.unwrap()), zone.show(to.unwrap()))
    }

    #[test]
    fn windows_are_relative_absolute_or_of_a_day() {
        for (window, first, from, to) in [
            ("2min,22min", "2026-03-18T10:00:05", "2026-03-18 10:02:05", "2026-03-18 10:22:05"),
            ("0,90s", "2026-03-18T10:00:05", "2026-03-18 10:00:05", "2026-03-18 10:01:35"),
            ("10:00,10:15", "2026-03-18T10:00:05", "2026-03-18 10:00:00", "2026-03-18 10:15:00"),
            ("10:00:30, 10:15", "2026-03-18T09:00", "2026-03-18 10:00:30", "2026-03-18 10:15:00"),
            ("00:10,00:20", "2026-03-18T23:50", "2026-03-19 00:10:00", "2026-03-19 00:20:00"),
            ("23:55,00:05", "2026-03-18T23:50", "2026-03-18 23:55:00", "2026-03-19 00:05:00"),
            (
                "2026-03-18T10:00,2026-03-18 10:15:30",
                "2026-03-18T09:00",
                "2026-03-18 10:00:00",
                "2026-03-18 10:15:30",
            ),
        ] {
            assert_eq!(resolved(window, first), (from.to_owned(), to.to_owned()), "{window} {first}");
        }
    }

    #[test]
    fn both_ends_may_be_times_of_day() {
        let zone = Zone::utc();
        let between = |from: Option<&str>, to: Option<&str>| {
            let (from, to) = (from.map(str::to_owned), to.map(str::to_owned));
            CountedTime::between(from.as_ref(), to.as_ref(), &zone)
        };
        let resolved = |from, to| {
            let first = time("2026-03-18T09:30", &zone);
            let (from, to) = between(from, to).unwrap().resolve(first, &zone).unwrap();
            (from.map(|from| zone.show(from)), to.map(|to| zone.show(to)))
        };
        let day = |of_day: &str| Some(format!("2026-03-18 {of_day}"));
        assert_eq!(resolved(Some("10:00"), Some("10:15")), (day("10:00:00"), day("10:15:00")));
        assert_eq!(resolved(Some("10:00:30"), None), (day("10:00:30"), None));
        assert_eq!(resolved(None, Some("10:15")), (None, day("10:15:00")));
        assert_eq!(resolved(Some("08:00"), None).0.as_deref(), Some("2026-03-19 08:00:00"));
        assert!(between(Some("10:00"), Some("10:00")).is_err());
        let error = between(Some("10:00"), Some("2026-03-18T10:15")).unwrap_err();
        assert_eq!(error, "--from and --to need a date both, or neither of them");
        assert_eq!(between(None, None), Ok(CountedTime::WHOLE));
    }

    #[test]
    fn wrong_windows_are_refused_and_logs_without_times_have_none() {
        let zone = Zone::utc();
        for window in ["2min", "10:00,10:00", "22min,2min", "2,22", "2026-03-19,2026-03-18", "10:00,noon", ""]
        {
            let error = CountedTime::window(window, &zone).unwrap_err();
            assert!(error.starts_with(&format!("--window {window}: ")), "{error}");
        }
        let relative = CountedTime::window("0s,1min", &zone).unwrap();
        assert_eq!(relative.resolve(None, &zone), None);
        assert_eq!(CountedTime::WHOLE.resolve(None, &zone), Some((None, None)));
    }
}
