//! Processes the items of a list on several threads. These threads mostly wait for the programs that they start.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

/// Number of items that are processed at the same time. It is the number of cores of a small machine: with more items, the
/// started programs would only slow each other down.
const WORKERS: usize = 2;

/// Calls `work` with each item; returns the results in the order of the items.
///
/// # Errors
/// `work` returns an error; items that were not started yet are then skipped.
pub fn for_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(item) = items.get(at) else { return Ok(()) };
                        match work(item) {
                            Ok(result) => done.lock().expect("no panic while locked").push((at, result)),
                            Err(error) => {
                                next.store(items.len(), Ordering::Relaxed);
                                return Err(error);
                            }
                        }
                    }
                })
            })
            .collect();
        // Waits for all threads, even if one has failed.
        let ended: Vec<_> =
            workers.into_iter().map(|worker| worker.join().expect("no panic in a worker")).collect();
        ended.into_iter().collect::<Result<()>>()
    })?;
    let mut done = done.into_inner().expect("no panic while locked");
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..50).collect();
        assert_eq!(
            for_each(&items, |item| Ok(item * 2)).unwrap(),
            (0..50).map(|n| n * 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_first_error_stops_the_work() {
        let error = for_each(&[1, 2, 3], |item| if *item == 2 { bail!("no {item}") } else { Ok(()) });
        assert_eq!(error.unwrap_err().to_string(), "no 2");
    }
}
