//! Prints moments with a date format.

use super::error::FormatError;
use std::fmt::Write as _;

use super::date_pattern::{DateFormat, Field, Item, OffsetShape, Sign, Style};
use super::moment::Moment;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const QUARTERS: [&str; 4] = ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"];

/// The first value of a field, the English names of its values, and the number of bytes to which names are truncated.
pub(super) fn names(field: Field, style: Style) -> (i64, &'static [&'static str], usize) {
    let cut = match style {
        Style::Full => usize::MAX,
        Style::Short => 3,
        Style::Narrow => 1,
    };
    match (field, style) {
        (Field::Month, _) => (1, &MONTHS, cut),
        (Field::DayOfWeek, _) => (1, &DAYS, cut),
        (Field::Quarter, Style::Full) => (1, &QUARTERS, usize::MAX),
        (Field::Quarter, Style::Short) => (1, &["Q1", "Q2", "Q3", "Q4"], usize::MAX),
        (Field::Quarter, Style::Narrow) => (1, &["1", "2", "3", "4"], usize::MAX),
        (Field::AmPm, _) => (0, &["AM", "PM"], usize::MAX),
        (Field::Era, Style::Full) => (0, &["Before Christ", "Anno Domini"], usize::MAX),
        (Field::Era, Style::Short) => (0, &["BC", "AD"], usize::MAX),
        (Field::Era, Style::Narrow) => (0, &["B", "A"], usize::MAX),
        _ => (0, &[], 0),
    }
}

impl DateFormat {
    /// Appends the formatted moment to `out`.
    ///
    /// # Errors
    /// The pattern requires, outside of an optional section, a field that the moment does not have.
    pub fn format(&self, moment: &Moment, out: &mut String) -> Result<(), FormatError> {
        let start = out.len();
        let mut sections: Vec<usize> = Vec::new();
        let mut index = 0;
        while let Some(item) = self.items.get(index) {
            index += 1;
            let printed = match item {
                Item::OptionalStart => {
                    sections.push(out.len());
                    Ok(())
                }
                Item::OptionalEnd => {
                    sections.pop();
                    Ok(())
                }
                item => print(item, moment, out),
            };
            if let Err(message) = printed {
                let Some(section) = sections.pop() else {
                    out.truncate(start);
                    return Err(message);
                };
                // Removes the output of the innermost optional section.
                out.truncate(section);
                index = self.end_of_section(index);
            }
        }
        Ok(())
    }

    /// The index after the end of the section that contains the item before `index`.
    pub(super) fn end_of_section(&self, mut index: usize) -> usize {
        let mut depth = 1;
        while depth > 0 && index < self.items.len() {
            match self.items[index] {
                Item::OptionalStart => depth += 1,
                Item::OptionalEnd => depth -= 1,
                _ => {}
            }
            index += 1;
        }
        index
    }
}

fn known(moment: &Moment, field: Field) -> Result<i64, FormatError> {
    moment.field(field).ok_or_else(|| format!("Unsupported field: {field:?}").into())
}

fn print(item: &Item, moment: &Moment, out: &mut String) -> Result<(), FormatError> {
    match item {
        Item::Text(text) => out.push_str(text),
        Item::Number { field, min, max, sign, .. } => {
            let value = known(moment, *field)?;
            let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
            if digits > u32::from(*max) || (value < 0 && *sign == Sign::Never) {
                return Err(format!("{field:?} cannot be printed as the value {value} does not fit").into());
            }
            if value < 0 {
                out.push('-');
            } else if *sign == Sign::ExceedsPad && digits > u32::from(*min) {
                out.push('+');
            }
            let _ = write!(out, "{:0width$}", value.unsigned_abs(), width = usize::from(*min));
        }
        Item::TwoDigitYear { field, .. } => {
            let _ = write!(out, "{:02}", known(moment, *field)?.abs() % 100);
        }
        Item::Fraction { digits } => {
            let nanoseconds = known(moment, Field::Nano)?;
            let _ = write!(
                out,
                "{:0width$}",
                nanoseconds / 10_i64.pow(9 - u32::from(*digits)),
                width = usize::from(*digits)
            );
        }
        Item::Name { field, style } => {
            let value = known(moment, *field)?;
            let (first, names, cut) = names(*field, *style);
            let name = usize::try_from(value - first)
                .ok()
                .and_then(|index| names.get(index))
                .copied()
                .unwrap_or_default();
            out.push_str(name.get(..cut).unwrap_or(name));
        }
        Item::Offset { shape, zero } => offset(known(moment, Field::Offset)?, *shape, zero, out),
        Item::LocalizedOffset { full } => {
            let seconds = known(moment, Field::Offset)?;
            out.push_str("GMT");
            if seconds != 0 {
                let magnitude = seconds.unsigned_abs();
                let (hours, minutes, rest) = (magnitude / 3600, magnitude / 60 % 60, magnitude % 60);
                out.push(if seconds < 0 { '-' } else { '+' });
                let _ = if *full { write!(out, "{hours:02}:{minutes:02}") } else { write!(out, "{hours}") };
                if !full && (minutes != 0 || rest != 0) {
                    let _ = write!(out, ":{minutes:02}");
                }
                if rest != 0 {
                    let _ = write!(out, ":{rest:02}");
                }
            }
        }
        Item::ZoneId => out.push_str(&moment.zone_id().ok_or("Unable to extract ZoneId")?),
        Item::ZoneName => out.push_str(&moment.zone_short().ok_or("Unable to extract ZoneId")?),
        Item::OptionalStart | Item::OptionalEnd => {}
    }
    Ok(())
}

fn offset(seconds: i64, shape: OffsetShape, zero: &str, out: &mut String) {
    let magnitude = seconds.unsigned_abs();
    let (hours, minutes, rest) = (magnitude / 3600, magnitude / 60 % 60, magnitude % 60);
    if hours == 0 && minutes == 0 && (rest == 0 || !shape.seconds) {
        out.push_str(zero);
        return;
    }
    let colon = if shape.colon { ":" } else { "" };
    let _ = write!(out, "{}{hours:02}", if seconds < 0 { '-' } else { '+' });
    if shape.minutes || minutes != 0 {
        let _ = write!(out, "{colon}{minutes:02}");
    }
    if shape.seconds && rest != 0 {
        let _ = write!(out, "{colon}{rest:02}");
    }
}
