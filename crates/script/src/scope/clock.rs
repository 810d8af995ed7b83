//! Time and random numbers of a script.

use busyhour_program::ElementError;
use jiff::tz::TimeZone;

/// The clock, the formats of dates, and the random numbers of the user.
///
/// The interpreter has no other source of time or random numbers. Times do not decrease during a script and include its pauses.
/// The random numbers are those of the user's stream: the same seed and the same order of calls give the same numbers.
/// [`Scope`](crate::Scope) has an example.
pub trait ScriptClock {
    /// Milliseconds since 1970 (`System.currentTimeMillis()`).
    fn wall_clock_ms(&self) -> i64;
    /// The next 64 random bits of the virtual user's stream.
    fn random_bits(&mut self) -> u64;
    /// The start of the test, in milliseconds since 1970.
    fn test_start_ms(&self) -> i64 {
        0
    }
    /// Implements `Thread.sleep`. The script's clock advances immediately; the virtual user waits for the same time
    /// after the script.
    fn pause_ms(&mut self, _ms: u64) {}
    /// Formats a time in milliseconds since 1970 with a pattern of Java's `SimpleDateFormat`.
    ///
    /// # Errors
    /// If the pattern is not supported.
    fn format_date(&self, pattern: &str, _ms: i64, _zone: &TimeZone) -> Result<String, ElementError> {
        Err(format!("the date format `{pattern}`").into())
    }
    /// Parses a text with a pattern of Java's `SimpleDateFormat`. Returns milliseconds since 1970, or `None` if the text does
    /// not match.
    ///
    /// # Errors
    /// If the pattern is not supported.
    fn parse_date(&self, pattern: &str, _text: &str, _zone: &TimeZone) -> Result<Option<i64>, ElementError> {
        Err(format!("the date format `{pattern}`").into())
    }
}
