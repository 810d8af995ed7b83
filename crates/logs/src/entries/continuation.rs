//! Determines which lines without a stamp belong to the entry before them.

use crate::severity::EntrySeverity;
use crate::traces::{continues_trace, exception_name, is_crash_start};

/// Maximum number of lines without a stamp, apart from those of a trace, that are added to an entry with a stamp. It limits the
/// damage if a program writes lines with and without stamps to the same file.
const PLAIN_LINES_MAX: u32 = 500;

const TRACEBACK: &str = "Traceback (most recent call last)";

/// The part of the entry that has been reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Block {
    #[default]
    Text,
    /// Between `Traceback` and the exception.
    Python,
    /// After the exception at the end of a traceback; another traceback may follow.
    PythonEnded,
    /// After `panic: …`, whose text may have several lines.
    GoCrash,
    /// Among the frames of a goroutine.
    Goroutine,
    /// After an empty line in a Go crash report; another goroutine may follow.
    GoBetween,
}

/// The state of an open entry.
#[derive(Debug, Clone, Default)]
pub(super) struct Continuation {
    block: Block,
    has_stamp: bool,
    plain_lines: u32,
    lines: u32,
    expects_traceback: bool,
}

impl Continuation {
    /// Begins an entry.
    pub(super) fn begin(first_line: &str, has_stamp: bool) -> Continuation {
        let mut state = Continuation { has_stamp, ..Continuation::default() };
        state.enter(first_line);
        state
    }

    /// Adds an empty line.
    pub(super) fn add_empty_line(&mut self) {
        if matches!(self.block, Block::GoCrash | Block::Goroutine) {
            self.block = Block::GoBetween;
        }
    }

    /// Adds a line without a stamp that is not empty, if it belongs to the entry; returns whether it does.
    pub(super) fn accepts(&mut self, line: &str, severity: Option<EntrySeverity>) -> bool {
        if is_crash_start(line) {
            return false;
        }
        let is_of_trace = self.is_of_trace(line, severity);
        if !is_of_trace {
            self.plain_lines += 1;
            if !self.has_stamp || self.plain_lines > PLAIN_LINES_MAX {
                return false;
            }
        }
        self.enter(line);
        true
    }

    fn is_of_trace(&self, line: &str, severity: Option<EntrySeverity>) -> bool {
        if line.starts_with([' ', '\t']) || continues_trace(line) {
            return true;
        }
        let is_problem = severity.is_some_and(|severity| severity >= EntrySeverity::Warn);
        match self.block {
            Block::Python | Block::GoCrash => return true,
            Block::Goroutine if line.ends_with(')') => return true,
            Block::GoBetween if line.starts_with("goroutine ") => return true,
            Block::PythonEnded if self.expects_traceback && line.starts_with(TRACEBACK) => return true,
            Block::Goroutine | Block::GoBetween | Block::PythonEnded | Block::Text => {}
        }
        if line.starts_with(TRACEBACK) {
            return is_problem && self.block == Block::Text;
        }
        // The end of an object that Node.js prints below an error, or the exception below a message.
        matches!(line, "}" | "]" | ")" | "})")
            || is_problem && self.lines == 1 && exception_name(line).is_some()
    }

    fn enter(&mut self, line: &str) {
        self.lines = self.lines.saturating_add(1);
        let is_indented = line.starts_with([' ', '\t']);
        self.block = match self.block {
            _ if line.starts_with(TRACEBACK) => Block::Python,
            Block::Python if !is_indented => Block::PythonEnded,
            Block::GoBetween | Block::GoCrash if line.starts_with("goroutine ") => Block::Goroutine,
            _ if line.starts_with("panic: ") || line.starts_with("fatal error: ") => Block::GoCrash,
            block => block,
        };
        self.expects_traceback = self.block == Block::PythonEnded && continues_trace(line);
    }
}
