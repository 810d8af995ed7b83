//! Access logs of web servers, and how their lines match the requests of a run.
//!
//! 1. [`LogFormat`] describes the lines of a log: a pattern of nginx, Apache, Tomcat or Envoy, JSON, or what is detected from the lines.
//!    [`LineReader`] reads each line as a [`LoggedRequest`].
//! 2. [`match_requests`] compares them with the [`SentRequest`]s of a run: it estimates the offset between the clocks ([`ServerClock`]),
//!    counts requests that were lost, answered elsewhere or repeated, and pairs the others.
//!
//! The error rates are measured in `tests/study`; `docs/server-log.md` lists them.

mod entry;
mod field;
mod format;
mod format_error;
mod json_line;
mod line_reader;
mod matches;
mod matching;
mod offset;
mod pattern;
mod rough_offset;
mod sent;
mod window_match;

pub use busyhour_logs::Zone;
pub use entry::{LoggedRequest, StampKind};
pub use format::LogFormat;
pub use format_error::LogFormatError;
pub use line_reader::{LINE_BYTES_MAX, LineReader, UnreadableLine};
pub use matches::{ClockDrift, LostRequest, MatchCounts, MatchedRequest, Matches, ServerClock, StatusChange};
pub use matching::{MatchSettings, match_requests};
pub use sent::{SentRequest, target_key, text_key};
