//! What a user does after a sample.

/// The next step of the user, set by flow control, scripts and on-error actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogicalAction {
    /// Continue.
    #[default]
    Continue,
    /// Start the next iteration of the thread group.
    NextIterationOfThread,
    /// Start the next iteration of the nearest loop.
    NextIterationOfLoop,
    /// Leave the nearest loop.
    BreakLoop,
}
