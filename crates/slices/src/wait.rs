//! Waits for a future in the middle of an evaluation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::slice;

/// Waits for a future while the thread continues with other users.
///
/// # Errors
/// Returns the future, not yet polled, if the evaluation cannot be suspended: outside of coroutines, inside of
/// [`without_suspension`](crate::whole), or if [`WAITING_MAX`](crate::WAITING_MAX) evaluations of the thread are already waiting.
pub fn wait_for<F: Future + Unpin>(mut future: F) -> Result<F::Output, F> {
    let Some((handle, mut waker)) = slice::leave_to_wait() else { return Err(future) };
    loop {
        let polled = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
        match polled {
            Poll::Ready(output) => return Ok(output),
            Poll::Pending => waker = slice::suspend_until_woken(handle),
        }
    }
}
