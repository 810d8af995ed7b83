//! Reads the parts of a stamp from bytes.

/// A position in a line. Every `take` function advances only if it succeeds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// English names of the months, as in the default locale of Java and in syslog.
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// English names of the days of the week.
const DAYS: [&[u8; 3]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

impl<'a> Scan<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Scan<'a> {
        Scan { bytes, at: 0 }
    }

    /// Number of bytes that have been read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The number of digits that follow, at most `max`.
    pub(super) fn digits_ahead(&self, max: usize) -> usize {
        self.rest().iter().take(max).take_while(|byte| byte.is_ascii_digit()).count()
    }

    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    pub(super) fn take_any(&mut self, bytes: &[u8]) -> Option<u8> {
        let next = self.peek().filter(|next| bytes.contains(next))?;
        self.at += 1;
        Some(next)
    }

    pub(super) fn take_text(&mut self, text: &[u8]) -> Option<()> {
        self.rest().starts_with(text).then(|| self.at += text.len())
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.take(b' ').is_some() {}
    }

    pub(super) fn skip_letters(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            self.at += 1;
        }
    }

    /// Succeeds at the end of the text and before a byte that cannot continue a number or a word.
    pub(super) fn expect_delimiter(&self) -> Option<()> {
        let continues = |byte: u8| byte.is_ascii_alphanumeric() || b".+-_/".contains(&byte);
        (!self.peek().is_some_and(continues)).then_some(())
    }

    /// Exactly `digits` digits.
    pub(super) fn number(&mut self, digits: usize) -> Option<u32> {
        let text = self.bytes.get(self.at..self.at + digits)?;
        let mut value = 0;
        for byte in text {
            if !byte.is_ascii_digit() {
                return None;
            }
            value = value * 10 + u32::from(byte - b'0');
        }
        self.at += digits;
        Some(value)
    }

    /// One or two digits.
    pub(super) fn short_number(&mut self) -> Option<u32> {
        match self.digits_ahead(2) {
            0 => None,
            digits => self.number(digits),
        }
    }

    /// The number of a month, 1 to 12, by its English abbreviation.
    pub(super) fn month(&mut self) -> Option<u32> {
        let name = self.bytes.get(self.at..self.at + 3)?;
        let month = (1..).zip(MONTHS).find(|(_, month)| *month == name)?.0;
        self.at += 3;
        Some(month)
    }

    /// The English abbreviation of a day of the week.
    pub(super) fn day_of_week(&mut self) -> Option<()> {
        let name = self.bytes.get(self.at..self.at + 3)?;
        DAYS.iter().any(|day| *day == name).then(|| self.at += 3)
    }

    /// Digits of a fraction of a second, as nanoseconds. Digits after the ninth are ignored.
    pub(super) fn fraction_ns(&mut self) -> Option<u32> {
        let digits = self.digits_ahead(usize::MAX);
        if digits == 0 {
            return None;
        }
        let used = digits.min(9);
        let value = self.number(used)?;
        self.at += digits - used;
        Some(value * 10_u32.pow(9 - used as u32))
    }
}
