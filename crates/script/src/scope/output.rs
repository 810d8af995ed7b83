//! The log and the standard streams of a script.

/// Severity of a line that a script writes to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineSeverity {
    /// Written by `log.trace`.
    Trace,
    /// Written by `log.debug`.
    Debug,
    /// Written by `log.info`.
    Info,
    /// Written by `log.warn`.
    Warn,
    /// Written by `log.error`.
    Error,
}

/// The log and the standard streams.
///
/// Texts arrive in the order in which the script writes them; texts of users on other cores may arrive between them. A text
/// that cannot be written is lost; the script continues. [`Scope`](crate::Scope) has an example.
pub trait ScriptOutput {
    /// Implements `log.info` and the methods of the other levels. Each call writes one entry of the log.
    fn log(&mut self, level: LineSeverity, message: &str);
    /// Writes exactly this text to standard output.
    fn print(&mut self, text: &str) {
        self.log(LineSeverity::Info, text.trim_end_matches('\n'));
    }
    /// Writes to standard error.
    fn print_error(&mut self, text: &str) {
        self.log(LineSeverity::Info, text.trim_end_matches('\n'));
    }
    /// Records that the script used an unsupported operation at run time. The script fails afterwards or continues with a
    /// substitute; the run reports the operation at its end.
    fn note_unsupported(&mut self, _what: &str) {}
}
