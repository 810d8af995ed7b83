//! Stack traces of Java, Python, Go, Node.js and .NET.
//!
//! A [`TraceReader`] receives the lines of an entry one by one and computes a [`TraceKey`] in bounded memory. The key
//! has the chain of exceptions and the top frames of the application. It excludes line numbers and the numbers of
//! generated classes, so that the same fault has the same key in every run.

mod frames;
mod lines;

use serde::{Deserialize, Serialize};

use frames::Language;
use lines::Line;
pub(crate) use lines::{continues_trace, exception_name, is_crash_start};

/// Maximum number of exceptions in a key. Of longer chains, the first seven and the last are kept.
const EXCEPTIONS_MAX: usize = 8;
/// Maximum number of frames in a key.
const FRAMES_MAX: usize = 3;

/// The exceptions and frames that identify a stack trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TraceKey {
    /// Classes of the exceptions, from the one that was logged to the root cause.
    pub exceptions: Vec<String>,
    /// The application's top frames in the root cause, or in the exception nearest to it that has such frames. If the application
    /// has none, other top frames. Empty if the trace has no frames: the JVM omits them for exceptions that are thrown often.
    pub frames: Vec<String>,
}

impl std::fmt::Display for TraceKey {
    /// `shop.SeatException <- java.sql.SQLException at shop.Seats.load < shop.Shop.book`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.exceptions.join(" <- "))?;
        match self.frames.as_slice() {
            [] => f.write_str(" (no frames)"),
            frames => write!(f, " at {}", frames.join(" < ")),
        }
    }
}

/// An exception of a chain with its frames.
#[derive(Debug, Clone, Default)]
struct Section {
    exception: Option<String>,
    /// Top frames of the application.
    own: Vec<String>,
    /// Top frames, also of libraries.
    any: Vec<String>,
}

impl Section {
    fn of(exception: Option<&str>) -> Section {
        Section { exception: exception.map(str::to_owned), ..Section::default() }
    }

    /// Adds a frame. At most [`FRAMES_MAX`] frames are kept, those at the top of the stack, which Python writes last.
    fn add(&mut self, name: &str, place: &str, language: Language) {
        let is_own = language.is_own(name, place);
        let lists = [Some(&mut self.any), is_own.then_some(&mut self.own)];
        for list in lists.into_iter().flatten() {
            if list.len() == FRAMES_MAX {
                if language != Language::Python {
                    continue;
                }
                list.remove(0);
            }
            list.push(language.normalized(name, place));
        }
    }
}

/// Computes the key of the trace in the lines of an entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceReader {
    /// The exceptions in the order in which the text names them.
    sections: Vec<Section>,
    /// The section to which frames belong.
    current: usize,
    /// The exception in the last line that begins with one, before the first frame.
    candidate: Option<String>,
    language: Option<Language>,
    is_in_python: bool,
    is_in_suppressed: bool,
    goroutines: usize,
}

impl TraceReader {
    /// Adds a line. `message` is the message of the entry. It may name the exception to which the first frames belong.
    pub(crate) fn add(&mut self, line: &str, message: &str) {
        match lines::classify(line, self.is_in_python, self.language) {
            Line::Frame { name, place, language } if self.accepts_frame(language) => {
                self.begin_frames(language, message);
                if let Some(section) = self.sections.get_mut(self.current) {
                    section.add(name, place, language);
                }
            }
            Line::Exception(exception) if self.sections.is_empty() => {
                self.candidate = Some(exception.to_owned());
            }
            Line::Cause(exception) => {
                if self.is_in_suppressed && line.starts_with([' ', '\t']) {
                    return;
                }
                self.is_in_suppressed = false;
                self.push_candidate();
                self.push(Some(exception));
            }
            Line::EndOfInner => self.current = self.current.saturating_sub(1),
            Line::Suppressed => self.is_in_suppressed = true,
            Line::PythonStart => {
                self.is_in_python = true;
                self.language = Some(Language::Python);
                self.push(None);
            }
            Line::PythonEnd(exception) => {
                self.is_in_python = false;
                if let Some(section) = self.sections.last_mut() {
                    section.exception = Some(exception.to_owned());
                }
            }
            Line::GoCrash(kind) => {
                self.language = Some(Language::Go);
                self.push(Some(kind));
            }
            Line::Goroutine => {
                self.language = Some(Language::Go);
                self.goroutines += 1;
            }
            Line::Frame { .. } | Line::Exception(_) | Line::Other => {}
        }
    }

    /// Whether frames belong to the chain of exceptions. Frames of suppressed exceptions do not. In Go, only those of the first
    /// goroutine do, which is the one that crashed.
    fn accepts_frame(&self, language: Language) -> bool {
        !self.is_in_suppressed && (language != Language::Go || self.goroutines <= 1)
    }

    /// Prepares for a frame: begins the chain of exceptions if there is none.
    fn begin_frames(&mut self, language: Language, message: &str) {
        if self.sections.is_empty() {
            if self.candidate.is_none() {
                self.candidate = lines::exception_inside(message).map(str::to_owned);
            }
            self.push_candidate();
            if self.sections.is_empty() {
                self.push(None);
            }
        }
        self.language = Some(language);
    }

    /// Begins the chain with the exception that was found before the first frame.
    fn push_candidate(&mut self) {
        if let Some(exception) = self.candidate.take()
            && self.sections.is_empty()
        {
            self.push(Some(&exception));
        }
    }

    fn push(&mut self, exception: Option<&str>) {
        if self.sections.len() >= EXCEPTIONS_MAX {
            self.sections.pop();
        }
        self.sections.push(Section::of(exception));
        self.current = self.sections.len() - 1;
    }

    /// The key of the trace; `None` if there are neither frames nor a line with an exception. The reader is empty afterwards.
    pub(crate) fn take_key(&mut self) -> Option<TraceKey> {
        if self.sections.is_empty() && self.candidate.is_none() && self.language.is_none() {
            self.is_in_suppressed = false;
            return None;
        }
        let mut reader = std::mem::take(self);
        reader.push_candidate();
        let is_python = reader.language == Some(Language::Python);
        let mut sections = reader.sections;
        if is_python {
            // Python writes the cause first.
            sections.reverse();
        }
        let root = |has: fn(&Section) -> bool| sections.iter().rev().find(|section| has(section));
        let own = root(|section| !section.own.is_empty()).map(|section| &section.own);
        let frames = own.or_else(|| root(|section| !section.any.is_empty()).map(|section| &section.any));
        let mut frames = frames.cloned().unwrap_or_default();
        if is_python {
            frames.reverse();
        }
        let exceptions: Vec<String> = sections.into_iter().filter_map(|section| section.exception).collect();
        (!exceptions.is_empty() || !frames.is_empty()).then_some(TraceKey { exceptions, frames })
    }
}

#[cfg(test)]
mod tests;
