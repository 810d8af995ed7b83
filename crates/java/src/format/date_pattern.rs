//! Patterns of `java.time.format.DateTimeFormatter`, as in `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`.

use std::fmt;

/// A field of a date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Era,
    Year,
    YearOfEra,
    Month,
    Quarter,
    Day,
    DayOfYear,
    DayOfWeek,
    LocalDayOfWeek,
    WeekOfMonth,
    WeekOfYear,
    WeekBasedYear,
    AmPm,
    HourOfDay,
    ClockHourOfDay,
    HourOfAmPm,
    ClockHourOfAmPm,
    Minute,
    Second,
    MilliOfSecond,
    Nano,
    MilliOfDay,
    NanoOfDay,
    Offset,
}

/// The rule for printing and parsing the sign of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Only negative numbers have a sign.
    Normal,
    /// Numbers with more digits than the pattern also have a sign.
    ExceedsPad,
    /// Numbers have no sign and must not be negative.
    Never,
}

/// Length of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Full,
    Short,
    Narrow,
}

/// An item of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Literal text.
    Text(String),
    /// A number. `after` is the number of digits of the adjacent fields that follow; parsing leaves these digits for them.
    Number { field: Field, min: u8, max: u8, sign: Sign, after: u8 },
    /// The last two digits of a year from 2000 to 2099.
    TwoDigitYear { field: Field, after: u8 },
    /// The fraction of a second with this number of digits.
    Fraction { digits: u8 },
    /// A name in English.
    Name { field: Field, style: Style },
    /// An offset with the given shape; `zero` is the text of the offset zero.
    Offset { shape: OffsetShape, zero: &'static str },
    /// An offset as `GMT+8`, or as `GMT+08:00` if `full`.
    LocalizedOffset { full: bool },
    /// The identifier of a zone, such as `Europe/Berlin`.
    ZoneId,
    /// The short name of a zone, such as `CET`.
    ZoneName,
    /// Start of an optional section.
    OptionalStart,
    /// End of an optional section.
    OptionalEnd,
}

/// The parts of an offset that are printed, and their separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetShape {
    pub(super) colon: bool,
    /// Whether minutes are printed even if they are zero.
    pub(super) minutes: bool,
    /// Whether seconds are printed if they are not zero.
    pub(super) seconds: bool,
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    pub(super) items: Vec<Item>,
}

/// The reason why a pattern was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatePatternError {
    /// Java rejects the pattern, too.
    Invalid(String),
    /// Java supports the pattern, but this program does not.
    Unsupported(String),
}

impl fmt::Display for DatePatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (DatePatternError::Invalid(message) | DatePatternError::Unsupported(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for DatePatternError {}

impl DateFormat {
    /// Compiles a pattern, with English names.
    ///
    /// # Errors
    /// Java or this program does not support the pattern.
    pub fn new(pattern: &str) -> Result<Self, DatePatternError> {
        let mut builder = Builder { items: Vec::new(), base: None, open: 0 };
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                'A'..='Z' | 'a'..='z' => {
                    let mut count = 1;
                    while rest.next_if_eq(&c).is_some() {
                        count += 1;
                    }
                    builder.letters(c, count)?;
                }
                '\'' => {
                    let mut text = String::new();
                    loop {
                        match rest.next() {
                            Some('\'') if rest.next_if_eq(&'\'').is_some() => text.push('\''),
                            Some('\'') => break,
                            Some(c) => text.push(c),
                            None => {
                                let message =
                                    format!("Pattern ends with an incomplete string literal: {pattern}");
                                return Err(DatePatternError::Invalid(message));
                            }
                        }
                    }
                    builder.text(if text.is_empty() { "'" } else { &text });
                }
                '[' => {
                    builder.push(Item::OptionalStart);
                    builder.open += 1;
                }
                ']' => {
                    if builder.open == 0 {
                        return Err(DatePatternError::Invalid(
                            "Pattern invalid as it contains ] without previous [".into(),
                        ));
                    }
                    builder.push(Item::OptionalEnd);
                    builder.open -= 1;
                }
                '{' | '}' | '#' => {
                    return Err(DatePatternError::Invalid(format!(
                        "Pattern includes reserved character: '{c}'"
                    )));
                }
                _ => builder.text(c.encode_utf8(&mut [0; 4])),
            }
        }
        for _ in 0..builder.open {
            builder.items.push(Item::OptionalEnd);
        }
        Ok(Self { items: builder.items })
    }

    /// Whether the formatted text depends on the locale, because of names or of the first day of the week.
    pub fn depends_on_locale(&self) -> bool {
        self.items.iter().any(|item| match item {
            Item::Name { .. } | Item::ZoneName => true,
            Item::Number { field, .. } | Item::TwoDigitYear { field, .. } => matches!(
                field,
                Field::LocalDayOfWeek | Field::WeekOfMonth | Field::WeekOfYear | Field::WeekBasedYear
            ),
            _ => false,
        })
    }

    /// Describes the first item of the pattern that this crate can print but not parse; `None` if it can parse all items.
    pub fn unreadable(&self) -> Option<&'static str> {
        self.items.iter().find_map(|item| match item {
            Item::ZoneId | Item::ZoneName => Some("names of zones"),
            Item::LocalizedOffset { .. } => Some("localized offsets"),
            Item::Number { field, .. } | Item::TwoDigitYear { field, .. } => match field {
                Field::LocalDayOfWeek | Field::WeekOfMonth | Field::WeekOfYear | Field::WeekBasedYear => {
                    Some("weeks")
                }
                Field::MilliOfDay | Field::NanoOfDay => Some("fractions of a day"),
                _ => None,
            },
            _ => None,
        })
    }
}

struct Builder {
    items: Vec<Item>,
    /// Index of the first of the adjacent numbers at the end of `items`. It leaves digits for the numbers that follow it.
    base: Option<usize>,
    open: u32,
}

impl Builder {
    fn push(&mut self, item: Item) {
        self.items.push(item);
        self.base = None;
    }

    fn text(&mut self, text: &str) {
        self.push(Item::Text(text.to_owned()));
    }

    /// Appends an item that consists of digits. If the item has a fixed width and directly follows other numbers, the first of
    /// these numbers leaves that many digits for it.
    fn digits(&mut self, item: Item, fixed: Option<u8>) {
        match (self.base, fixed) {
            (Some(base), Some(width)) => {
                if let Item::Number { after, .. } | Item::TwoDigitYear { after, .. } = &mut self.items[base] {
                    *after += width;
                }
                self.items.push(item);
            }
            _ => {
                self.items.push(item);
                self.base = Some(self.items.len() - 1);
            }
        }
    }

    fn number(&mut self, field: Field, min: u8, max: u8, sign: Sign) {
        let fixed = (min == max && sign == Sign::Never).then_some(max);
        self.digits(Item::Number { field, min, max, sign, after: 0 }, fixed);
    }

    /// Appends a number of any width, or of two digits, depending on the number of letters.
    fn one_or_two(&mut self, field: Field, letter: char, count: u8) -> Result<(), DatePatternError> {
        match count {
            1 => self.number(field, 1, 19, Sign::Normal),
            2 => self.number(field, 2, 2, Sign::Never),
            _ => return Err(too_many(letter)),
        }
        Ok(())
    }

    fn year(&mut self, field: Field, count: u8) {
        match count {
            2 => self.digits(Item::TwoDigitYear { field, after: 0 }, Some(2)),
            1 | 3 => self.number(field, count, 19, Sign::Normal),
            _ => self.number(field, count, 19, Sign::ExceedsPad),
        }
    }

    fn name(&mut self, field: Field, letter: char, count: u8) -> Result<(), DatePatternError> {
        let style = match count {
            1..=3 => Style::Short,
            4 => Style::Full,
            5 => Style::Narrow,
            _ => return Err(too_many(letter)),
        };
        self.push(Item::Name { field, style });
        Ok(())
    }

    fn offset(&mut self, count: u8, zero: &'static str) {
        let shape =
            OffsetShape { colon: count % 2 == 1 && count > 1, minutes: count > 1, seconds: count > 3 };
        self.push(Item::Offset { shape, zero });
    }

    fn letters(&mut self, letter: char, count: usize) -> Result<(), DatePatternError> {
        let count = u8::try_from(count).ok().filter(|&count| count <= 19).ok_or_else(|| too_many(letter))?;
        match letter {
            'G' => self.name(Field::Era, letter, count)?,
            'u' => self.year(Field::Year, count),
            'y' => self.year(Field::YearOfEra, count),
            'Y' => self.year(Field::WeekBasedYear, count),
            'M' | 'L' if count > 2 => self.name(Field::Month, letter, count)?,
            'M' | 'L' => self.one_or_two(Field::Month, letter, count)?,
            'Q' | 'q' if count > 2 => self.name(Field::Quarter, letter, count)?,
            'Q' | 'q' => self.one_or_two(Field::Quarter, letter, count)?,
            'E' => self.name(Field::DayOfWeek, letter, count)?,
            'e' | 'c' if count > 2 => self.name(Field::DayOfWeek, letter, count)?,
            'c' if count == 2 => return Err(DatePatternError::Invalid("Invalid pattern \"cc\"".into())),
            'e' | 'c' => self.number(Field::LocalDayOfWeek, count, 2, Sign::Never),
            'w' if count <= 2 => self.number(Field::WeekOfYear, count, 2, Sign::Never),
            'W' if count == 1 => self.number(Field::WeekOfMonth, 1, 2, Sign::Never),
            'a' if count == 1 => self.push(Item::Name { field: Field::AmPm, style: Style::Short }),
            'd' => self.one_or_two(Field::Day, letter, count)?,
            'h' => self.one_or_two(Field::ClockHourOfAmPm, letter, count)?,
            'H' => self.one_or_two(Field::HourOfDay, letter, count)?,
            'k' => self.one_or_two(Field::ClockHourOfDay, letter, count)?,
            'K' => self.one_or_two(Field::HourOfAmPm, letter, count)?,
            'm' => self.one_or_two(Field::Minute, letter, count)?,
            's' => self.one_or_two(Field::Second, letter, count)?,
            'D' if count == 1 => self.number(Field::DayOfYear, 1, 19, Sign::Normal),
            'D' if count <= 3 => self.number(Field::DayOfYear, count, 3, Sign::Never),
            'S' if count <= 9 => self.digits(Item::Fraction { digits: count }, Some(count)),
            'S' => {
                return Err(DatePatternError::Invalid(format!(
                    "the second has at most 9 decimals, not {count}"
                )));
            }
            'n' => self.number(Field::Nano, count, 19, Sign::Never),
            'N' => self.number(Field::NanoOfDay, count, 19, Sign::Never),
            'A' => self.number(Field::MilliOfDay, count, 19, Sign::Never),
            'X' if count <= 5 => self.offset(count, "Z"),
            'x' if count <= 5 => {
                let zero = match count {
                    1 => "+00",
                    2 | 4 => "+0000",
                    _ => "+00:00",
                };
                self.offset(count, zero);
            }
            'Z' if count <= 3 => self.offset(2, "+0000"),
            'Z' if count == 4 => self.push(Item::LocalizedOffset { full: true }),
            'Z' if count == 5 => self.offset(5, "Z"),
            'O' if count == 1 => self.push(Item::LocalizedOffset { full: false }),
            'O' if count == 4 => self.push(Item::LocalizedOffset { full: true }),
            'O' => {
                return Err(DatePatternError::Invalid(format!(
                    "Pattern letter count must be 1 or 4: {letter}"
                )));
            }
            'V' if count == 2 => self.push(Item::ZoneId),
            'V' => {
                return Err(DatePatternError::Invalid(format!("Pattern letter count must be 2: {letter}")));
            }
            'z' if count <= 3 => self.push(Item::ZoneName),
            'z' | 'v' if count == 4 => {
                return Err(DatePatternError::Unsupported("full names of zones are not supported".into()));
            }
            'B' | 'F' | 'g' | 'p' | 'v' => {
                return Err(DatePatternError::Unsupported(format!(
                    "the letter {letter} of a date pattern is not supported"
                )));
            }
            'w' | 'W' | 'a' | 'D' | 'X' | 'x' | 'Z' | 'z' => return Err(too_many(letter)),
            _ => return Err(DatePatternError::Invalid(format!("Unknown pattern letter: {letter}"))),
        }
        Ok(())
    }
}

fn too_many(letter: char) -> DatePatternError {
    DatePatternError::Invalid(format!("Too many pattern letters: {letter}"))
}
