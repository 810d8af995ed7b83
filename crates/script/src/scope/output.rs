//! What a script writes.

/// Severity of a line that a script writes to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineSeverity {
    /// `log.trace`
    Trace,
    /// `log.debug`
    Debug,
    /// `log.info`
    Info,
    /// `log.warn`
    Warn,
    /// `log.error`
    Error,
}

/// The log and the standard streams.
///
/// Texts arrive in the order in which the script writes them. Texts of users on other cores may come in between. A text that cannot be
/// written is lost; the script continues. [`Scope`](crate::Scope) has an example.
pub trait ScriptOutput {
    /// `log.info` and the methods of the other levels. One call is one entry of the log.
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
