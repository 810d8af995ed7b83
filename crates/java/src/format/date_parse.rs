//! Parses texts with a date format. As in Java, the text is matched strictly and the fields are resolved in "smart" mode.

use super::error::FormatError;
use jiff::civil::{Date, Time};

use super::date_pattern::{DateFormat, Field, Item, OffsetShape, Sign};
use super::date_print::names;
use super::moment::Moment;

/// Values for fields that the text does not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defaults {
    /// The year of a text without a year. If it is set, a missing month or day is 1.
    pub date_in_year: Option<i16>,
    /// The offset in seconds of a text without an offset. If it is set, missing fields of the time of day are 0.
    pub midnight_at_offset: Option<i32>,
}

impl DateFormat {
    /// Parses a whole text.
    ///
    /// # Errors
    /// The text does not match, or its fields contradict each other or `defaults`.
    pub fn parse(&self, text: &str, defaults: Defaults) -> Result<Moment, FormatError> {
        let mut fields = Fields::default();
        let (end, _) = self.parse_items(text, 0, 0, &mut fields)?;
        if end < text.len() {
            return Err(
                format!("Text '{text}' could not be parsed, unparsed text found at index {end}").into()
            );
        }
        if let Some(offset) = defaults.midnight_at_offset {
            let midnight =
                [Field::Nano, Field::MilliOfSecond, Field::Second, Field::Minute, Field::HourOfDay];
            for field in midnight {
                fields.fill(field, 0);
            }
            fields.fill(Field::Offset, i64::from(offset));
        }
        if let Some(year) = defaults.date_in_year {
            fields.fill(Field::Day, 1);
            fields.fill(Field::Month, 1);
            fields.fill(Field::YearOfEra, i64::from(year));
        }
        fields.resolve().map_err(|reason| format!("Text '{text}' could not be parsed: {reason}").into())
    }

    /// Parses items from `index` to the end of the section. Returns the position in the text and the index of the next item.
    fn parse_items(
        &self,
        text: &str,
        mut at: usize,
        mut index: usize,
        fields: &mut Fields,
    ) -> Result<(usize, usize), FormatError> {
        while let Some(item) = self.items.get(index) {
            index += 1;
            match item {
                Item::OptionalEnd => return Ok((at, index)),
                Item::OptionalStart => {
                    let before = fields.clone();
                    match self.parse_items(text, at, index, fields) {
                        Ok(after) => (at, index) = after,
                        Err(_) => {
                            *fields = before;
                            index = self.end_of_section(index);
                        }
                    }
                }
                item => {
                    at = parse_item(item, text, at, fields)
                        .ok_or_else(|| format!("Text '{text}' could not be parsed at index {at}"))?;
                }
            }
        }
        Ok((at, index))
    }
}

/// Parses an item at the position `at`. Returns the position after it.
fn parse_item(item: &Item, text: &str, at: usize, fields: &mut Fields) -> Option<usize> {
    let rest = text.get(at..)?;
    match item {
        Item::Text(literal) => rest.starts_with(literal.as_str()).then_some(at + literal.len()),
        Item::Number { field, min, max, sign, after } => {
            let positive = rest.starts_with('+');
            let negative = rest.starts_with('-');
            let signed = usize::from(positive || negative);
            if (positive && *sign != Sign::ExceedsPad) || (negative && *sign == Sign::Never) {
                return None;
            }
            let (min, after) = (usize::from(*min), usize::from(*after));
            let found = digits(&rest[signed..], usize::from(*max) + after);
            let length = if after > 0 { found.saturating_sub(after).max(min) } else { found };
            if length < min || length > found {
                return None;
            }
            if *sign == Sign::ExceedsPad && !negative && (positive != (length > min)) {
                return None;
            }
            let value: i64 = rest[signed..signed + length].parse().ok()?;
            if negative && value == 0 {
                return None;
            }
            fields.insert(*field, if negative { -value } else { value })?;
            Some(at + signed + length)
        }
        Item::TwoDigitYear { field, after } => {
            let found = digits(rest, 2 + usize::from(*after));
            if found.saturating_sub(usize::from(*after)).max(2) != 2 || found < 2 {
                return None;
            }
            fields.insert(*field, 2000 + rest[..2].parse::<i64>().ok()?)?;
            Some(at + 2)
        }
        Item::Fraction { digits: width } => {
            let width = usize::from(*width);
            if digits(rest, width) < width {
                return None;
            }
            let value: i64 = rest[..width].parse().ok()?;
            fields.insert(Field::Nano, value * 10_i64.pow(9 - u32::try_from(width).ok()?))?;
            Some(at + width)
        }
        Item::Name { field, style } => {
            let (first, names, cut) = names(*field, *style);
            let names = names.iter().map(|name| name.get(..cut).unwrap_or(name)).enumerate();
            let (index, name) =
                names.filter(|(_, name)| rest.starts_with(name)).max_by_key(|(_, name)| name.len())?;
            fields.insert(*field, first + i64::try_from(index).ok()?)?;
            Some(at + name.len())
        }
        Item::Offset { shape, zero } => {
            let (seconds, length) = offset(rest, *shape, zero)?;
            fields.insert(Field::Offset, seconds)?;
            Some(at + length)
        }
        // Such patterns are rejected earlier, see `DateFormat::unreadable`.
        Item::LocalizedOffset { .. } | Item::ZoneId | Item::ZoneName => None,
        Item::OptionalStart | Item::OptionalEnd => Some(at),
    }
}

fn digits(text: &str, max: usize) -> usize {
    text.bytes().take(max).take_while(u8::is_ascii_digit).count()
}

/// Parses an offset such as `+02:00`, or `zero`, the text of the offset zero. Returns the offset in seconds and its length in
/// the text.
fn offset(text: &str, shape: OffsetShape, zero: &str) -> Option<(i64, usize)> {
    // Java tries the text of the offset zero first, so that the pattern `x` parses only the hours of `+0000`.
    if text.starts_with(zero) {
        return Some((0, zero.len()));
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |at: usize| -> Option<i64> {
        let pair = text.get(at..at + 2)?;
        (digits(pair, 2) == 2).then(|| pair.parse().ok()).flatten()
    };
    let gap = usize::from(shape.colon);
    let next = |at: usize| -> Option<i64> {
        if shape.colon && text.get(at..=at)? != ":" {
            None
        } else {
            two(at + gap).filter(|&value| value < 60)
        }
    };
    let hours = two(1)?;
    let (mut seconds, mut length) = (hours * 3600, 3);
    match next(length) {
        Some(minutes) => {
            seconds += minutes * 60;
            length += 2 + gap;
            if let Some(rest) = shape.seconds.then(|| next(length)).flatten() {
                seconds += rest;
                length += 2 + gap;
            }
        }
        None if shape.minutes => return None,
        None => {}
    }
    (seconds <= 18 * 3600).then_some((sign * seconds, length))
}

/// The parsed fields.
#[derive(Clone, Debug, Default)]
struct Fields {
    values: Vec<(Field, i64)>,
}

impl Fields {
    fn get(&self, field: Field) -> Option<i64> {
        self.values.iter().find(|(known, _)| *known == field).map(|(_, value)| *value)
    }

    fn take(&mut self, field: Field) -> Option<i64> {
        let index = self.values.iter().position(|(known, _)| *known == field)?;
        Some(self.values.swap_remove(index).1)
    }

    fn fill(&mut self, field: Field, value: i64) {
        if self.get(field).is_none() {
            self.values.push((field, value));
        }
    }

    /// Adds a field; `None` if the field already has a different value.
    fn insert(&mut self, field: Field, value: i64) -> Option<()> {
        match self.get(field) {
            Some(before) => (before == value).then_some(()),
            None => {
                self.values.push((field, value));
                Some(())
            }
        }
    }

    fn derive(&mut self, field: Field, value: i64) -> Result<(), FormatError> {
        self.insert(field, value)
            .ok_or_else(|| format!("Conflict found: {field:?} differs from {value}").into())
    }

    fn resolve(mut self) -> Result<Moment, FormatError> {
        let date = self.date()?;
        let (time, excess) = self.time()?;
        let date = match (date, excess) {
            (Some(date), true) => Some(date.tomorrow().map_err(|error| error.to_string())?),
            (date, _) => date,
        };
        let offset = self.get(Field::Offset).and_then(|seconds| i32::try_from(seconds).ok());
        let moment = Moment { date, time, offset_seconds: offset, ..Moment::default() };
        // All other fields must be consistent with date and time.
        for (field, value) in &self.values {
            if let Some(known) = moment.field(*field).filter(|known| known != value) {
                return Err(format!("Conflict found: {field:?} {known} differs from {value}").into());
            }
        }
        Ok(moment)
    }

    fn date(&mut self) -> Result<Option<Date>, FormatError> {
        if let Some(of_era) = self.take(Field::YearOfEra) {
            in_range::<i64>(Field::YearOfEra, of_era, 1, 999_999_999)?;
            let year = match (self.take(Field::Era), self.get(Field::Year)) {
                (Some(0), _) => 1 - of_era,
                (None, Some(year)) if year <= 0 => 1 - of_era,
                _ => of_era,
            };
            self.derive(Field::Year, year)?;
        }
        let Some(year) = self.get(Field::Year) else { return Ok(None) };
        let year = i16::try_from(year).map_err(|_| format!("the year {year} is out of range"))?;
        if let (Some(month), Some(day)) = (self.get(Field::Month), self.get(Field::Day)) {
            let month: i8 = in_range(Field::Month, month, 1, 12)?;
            let day: i8 = in_range(Field::Day, day, 1, 31)?;
            let first = Date::new(year, month, 1).map_err(|error| error.to_string())?;
            let date =
                Date::new(year, month, day.min(first.days_in_month())).map_err(|error| error.to_string())?;
            for field in [Field::Year, Field::Month, Field::Day] {
                self.take(field);
            }
            return Ok(Some(date));
        }
        if let Some(day) = self.get(Field::DayOfYear) {
            let first = Date::new(year, 1, 1).map_err(|error| error.to_string())?;
            if day < 1 || day > i64::from(first.days_in_year()) {
                return Err(format!("Invalid date: the year {year} has no day {day}").into());
            }
            let date =
                first.checked_add(jiff::Span::new().days(day - 1)).map_err(|error| error.to_string())?;
            return Ok(Some(date));
        }
        Ok(None)
    }

    /// The time of day, and whether it is midnight at the end of the day (24:00).
    fn time(&mut self) -> Result<(Option<Time>, bool), FormatError> {
        if let Some(hour) = self.take(Field::ClockHourOfDay) {
            if hour != 0 {
                in_range::<i64>(Field::ClockHourOfDay, hour, 1, 24)?;
            }
            self.derive(Field::HourOfDay, if hour == 24 { 0 } else { hour })?;
        }
        if let Some(hour) = self.take(Field::ClockHourOfAmPm) {
            if hour != 0 {
                in_range::<i64>(Field::ClockHourOfAmPm, hour, 1, 12)?;
            }
            self.derive(Field::HourOfAmPm, if hour == 12 { 0 } else { hour })?;
        }
        if let (Some(half), Some(hour)) = (self.get(Field::AmPm), self.get(Field::HourOfAmPm)) {
            self.take(Field::AmPm);
            self.take(Field::HourOfAmPm);
            in_range::<i64>(Field::HourOfAmPm, hour, 0, 11)?;
            self.derive(Field::HourOfDay, half * 12 + hour)?;
        }
        if let (Some(nano), Some(milli)) = (self.get(Field::Nano), self.get(Field::MilliOfSecond)) {
            self.take(Field::MilliOfSecond);
            self.derive(Field::Nano, milli * 1_000_000 + nano % 1_000_000)?;
        }
        let Some(hour) = self.get(Field::HourOfDay) else { return Ok((None, false)) };
        let (minute, second, nano) =
            (self.get(Field::Minute), self.get(Field::Second), self.get(Field::Nano));
        let gap = (minute.is_none() && (second.is_some() || nano.is_some()))
            || (second.is_none() && nano.is_some());
        if gap {
            return Ok((None, false));
        }
        let (minute, second, nano) = (minute.unwrap_or(0), second.unwrap_or(0), nano.unwrap_or(0));
        for field in [Field::HourOfDay, Field::Minute, Field::Second, Field::Nano] {
            self.take(field);
        }
        if (hour, minute, second, nano) == (24, 0, 0, 0) {
            return Ok((Some(Time::midnight()), true));
        }
        let hour = in_range(Field::HourOfDay, hour, 0, 23)?;
        let minute = in_range(Field::Minute, minute, 0, 59)?;
        let second = in_range(Field::Second, second, 0, 59)?;
        let nano = i32::try_from(nano).unwrap_or(-1);
        Time::new(hour, minute, second, nano)
            .map(|time| (Some(time), false))
            .map_err(|error| error.to_string().into())
    }
}

fn in_range<T: TryFrom<i64> + Default>(
    field: Field,
    value: i64,
    min: i64,
    max: i64,
) -> Result<T, FormatError> {
    if value < min || value > max {
        return Err(format!("Invalid value for {field:?} (valid values {min} - {max}): {value}").into());
    }
    Ok(T::try_from(value).unwrap_or_default())
}
