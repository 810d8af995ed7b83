//! Continues a user inside of a coroutine before long work starts.

use std::future::poll_fn;
use std::task::Poll;

use crate::slice::{is_inside, need_coroutines};

/// Ensures that the following code runs inside of a coroutine. Outside of coroutines, the future returns `Pending` once, so that
/// the engine polls it again inside of a coroutine. Call this before work that may take long: users are polled without
/// coroutines until an evaluation needs one.
///
/// # Examples
/// ```
/// # async fn parse(page: &str) {
/// if busyhour_slices::is_long(page.len()) {
///     busyhour_slices::begin_slices().await;
/// }
/// for byte in page.bytes() {
///     busyhour_slices::tick(1); // suspends the user after a millisecond
/// }
/// # }
/// ```
pub async fn begin_slices() {
    let mut has_returned = false;
    poll_fn(|context| {
        if has_returned || is_inside() {
            return Poll::Ready(());
        }
        has_returned = true;
        need_coroutines();
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
