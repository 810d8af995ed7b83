//! Runs several futures concurrently within one task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Runs futures, at most `most` at a time, and returns their outputs in order.
pub(super) async fn run_concurrently<F: Future>(most: usize, futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: std::collections::VecDeque<_> = futures.into_iter().enumerate().collect();
    let mut done: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    let mut active: Vec<(usize, Pin<Box<F>>)> = Vec::new();
    poll_fn(|context| {
        loop {
            while active.len() < most
                && let Some((at, future)) = waiting.pop_front()
            {
                active.push((at, Box::pin(future)));
            }
            let before = active.len();
            active.retain_mut(|(at, future)| match future.as_mut().poll(context) {
                Poll::Ready(output) => {
                    done[*at] = Some(output);
                    false
                }
                Poll::Pending => true,
            });
            if active.is_empty() && waiting.is_empty() {
                return Poll::Ready(());
            }
            if active.len() == before || waiting.is_empty() {
                return Poll::Pending;
            }
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_number_of_running_futures_is_limited_and_outputs_are_in_order() {
        let (running, most) = (Cell::new(0), Cell::new(0));
        let run = async |number: usize| {
            running.set(running.get() + 1);
            most.set(most.get().max(running.get()));
            for _ in 0..=number % 3 {
                tokio::task::yield_now().await;
            }
            running.set(running.get() - 1);
            number
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let done = runtime.block_on(run_concurrently(4, (0..20).map(run).collect()));
        assert_eq!(done, (0..20).collect::<Vec<_>>());
        assert_eq!(most.get(), 4);
    }
}
