//! Runs the users of a core whose evaluations take longer than a time slice, in turn.
//!
//! A runtime polls up to 61 tasks before it checks sockets and timers, and a task that wakes itself is polled again
//! immediately. So a suspended user is woken only after the runtime has checked for events, and each check wakes only
//! one. Between two checks there is therefore one slice, for any number of suspended evaluations.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use busyhour_program::Program;
use busyhour_program::clock::monotonic_ns;
use busyhour_program::sampler::{Protocol, SamplerPackage};
use busyhour_slices::{Polled, SlicedPoll, need_coroutines};

use crate::core::Core;

/// Makes the core poll its users in coroutines from the start if the program has elements or functions that evaluate expressions
/// or scripts. In other programs, coroutines are used after a part of a request, such as decompressing a body, takes many steps.
pub(crate) fn prepare<P: Protocol>(program: &Program<P>) {
    let evaluates = |package: &SamplerPackage<P>| {
        !(package.before.is_empty()
            && package.after.is_empty()
            && package.assertions.is_empty()
            && package.sample_listeners.all.is_empty())
    };
    if program.evaluates || program.groups.iter().flat_map(|group| &group.samplers).any(evaluates) {
        need_coroutines();
    }
}

/// The work of a user, executed in time slices.
pub(crate) struct SlicedWork<F: Future> {
    core: Rc<Core>,
    work: Pin<Box<SlicedPoll<F>>>,
    /// The user's number among the suspended users; `None` while it is not suspended.
    number: Option<u64>,
}

/// Executes a user's work in time slices.
pub(crate) fn sliced<F: Future>(core: &Rc<Core>, work: F) -> SlicedWork<F> {
    SlicedWork { core: Rc::clone(core), work: Box::pin(SlicedPoll::new(work)), number: None }
}

/// Starts the task of a user: executes its work in time slices, and then drops `guards`, even if the work panics.
///
/// The work is boxed before the task is created. If the task did this, its memory would have space for all of the work as well.
pub(crate) fn spawn_sliced(
    core: &Rc<Core>,
    work: impl Future<Output = ()> + 'static,
    guards: impl Sized + 'static,
) {
    let work = sliced(core, work);
    tokio::task::spawn_local(async move {
        work.await;
        drop(guards);
    });
}

impl<F: Future> Future for SlicedWork<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        if let Some(number) = this.number {
            let suspended = &this.core.suspended;
            // The user may be woken before its turn, by something that its poll waits for.
            if !suspended.is_first(number) {
                return Poll::Pending;
            }
            this.number = None;
            suspended.remove(number);
        }
        match this.work.as_mut().poll(context, monotonic_ns) {
            Polled::Ready(output) => Poll::Ready(output),
            Polled::Pending => Poll::Pending,
            Polled::Suspended => {
                this.number = Some(this.core.suspended.push(context.waker()));
                Poll::Pending
            }
        }
    }
}

impl<F: Future> Drop for SlicedWork<F> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.core.suspended.remove(number);
        }
        if self.core.signs.is_dropping() {
            self.core.signs.tick(self.core.run.clock.now());
        }
    }
}

#[cfg(test)]
mod tests;
