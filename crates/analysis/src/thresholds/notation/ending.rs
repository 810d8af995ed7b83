//! Parses the windows and actions after the limit.

use super::super::criterion::Window;
use super::scanner::{ParseError, Reader};

/// The part of a criterion after its limit: windows and actions.
#[derive(Default)]
pub(super) struct Rest {
    pub(super) window: Option<(Window, usize)>,
    pub(super) after_s: u64,
    pub(super) until_s: Option<u64>,
    pub(super) stop: Option<bool>,
    /// Position of `or stop`.
    pub(super) or_stop: Option<usize>,
    /// Whether the criterion has one of Taurus's actions, `stop` or `continue`.
    pub(super) has_action: bool,
    pub(super) fails: bool,
    pub(super) passes_without_data: bool,
}

impl Reader<'_> {
    /// Parses windows and actions up to the end of the text.
    pub(super) fn rest(&mut self) -> Result<Rest, ParseError> {
        let mut rest = Rest { fails: true, ..Rest::default() };
        loop {
            let from = self.place();
            let window = if self.word("for") {
                Some(Window::For(self.seconds("`for`", 1)? as u32))
            } else if self.word("over") || self.word("within") {
                Some(Window::Over(self.seconds("a window", 1)? as u32))
            } else if self.word("after") {
                rest.after_s = self.seconds("`after`", 0)?;
                continue;
            } else if self.word("until") {
                rest.until_s = Some(self.seconds("`until`", 1)?);
                continue;
            } else {
                None
            };
            let Some(window) = window else { break };
            if rest.window.replace((window, from)).is_some() {
                return Err(self.wrong_from(from, "a criterion can have only one window"));
            }
        }
        while self.sign(",") {
            self.action(&mut rest)?;
        }
        self.skip_spaces();
        if self.left().is_empty() {
            return Ok(rest);
        }
        Err(self.wrong(self.at, self.text.trim_end().len(), "unexpected text after the limit".to_owned()).hint(
                    "the limit can be followed by `over 30s` or `for 30s`, `after 10s`, `until 5m`, then `, stop as failed`, \
                     `, continue as failed`, `, or stop`, `, if any`",
        ))
    }

    fn action(&mut self, rest: &mut Rest) -> Result<(), ParseError> {
        let from = self.place();
        if self.word("if") && self.word("any") {
            rest.passes_without_data = true;
            return Ok(());
        }
        self.at = from;
        if self.word("or") && self.word("stop") {
            rest.stop = Some(true);
            rest.or_stop = Some(from);
            return Ok(());
        }
        self.at = from;
        let stop = self.word("stop");
        if !stop && !self.word("continue") {
            let message = "expected `stop`, `continue`, `or stop` or `if any`";
            return Err(self
                .wrong_here(message)
                .hint("if a label contains a comma, write the label in quotes"));
        }
        rest.stop = Some(stop);
        rest.has_action = true;
        if self.word("as") {
            if self.word("non-failed") {
                rest.fails = false;
            } else if !self.word("failed") {
                return Err(self.wrong_here("expected `failed` or `non-failed`"));
            }
        }
        Ok(())
    }
}
