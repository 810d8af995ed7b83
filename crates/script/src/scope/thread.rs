//! The thread of a script: its user, its group, and requests to stop.

/// Numbers of virtual users, JMeter's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadNumbers {
    /// Active users of all thread groups.
    pub active: u32,
    /// Active users of this thread group.
    pub active_of_group: u32,
    /// Users that this thread group starts (`getNumThreads`).
    pub of_group: u32,
    /// Users that all thread groups start.
    pub planned: u32,
}

/// A stop that a script requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRequest {
    /// Stops nothing; withdraws an earlier request to stop the iteration or the loop.
    Nothing,
    /// Stops the iteration of the nearest loop.
    LoopIteration,
    /// Stops the nearest loop.
    Loop,
    /// Stops the virtual user's iteration of its thread group.
    Iteration,
    /// Stops the virtual user.
    User,
    /// Stops the test; samples in flight finish.
    Test,
    /// Stops the test immediately; samples in flight are abandoned.
    TestNow,
}

/// JMeter's `ctx`: the user as a thread of its group, and requests to stop.
///
/// Names and numbers do not change while a script runs, except [`users`](Self::users), which other cores change.
/// [`Scope`](crate::Scope) has an example.
pub trait ScriptThread {
    /// The result of `ctx.getThreadNum()`, which counts from 0 within the thread group, unlike `${__threadNum}`, which counts
    /// from 1.
    fn thread_number(&self) -> u32;
    /// The name of the thread (`threadName`), such as `Thread Group 1-1`.
    fn thread_name(&self) -> String;
    /// The result of `vars.getIteration()`: the number of started iterations of the thread group.
    fn iteration(&self) -> u32 {
        0
    }
    /// Name of the thread group.
    fn group_name(&self) -> String {
        String::new()
    }
    /// Name of the current sampler.
    fn sampler_name(&self) -> String {
        String::new()
    }
    /// Numbers of virtual users.
    fn users(&self) -> ThreadNumbers {
        ThreadNumbers::default()
    }
    /// Requests a stop after the current sample. The script continues. The last request for the user takes effect; a stop of
    /// the test cannot be withdrawn.
    fn stop(&mut self, _what: StopRequest) {}
}
