//! Warns before the disk with the results is full.

use std::path::Path;
use std::time::Duration;

/// Interval at which the free space is checked.
const INTERVAL: Duration = Duration::from_secs(10);

/// Free space below this number of bytes is scarce.
const SCARCE_BYTES: u64 = 500_000_000;

/// Minimum time over which the decline of the free space is measured.
const TREND_MIN: Duration = Duration::from_secs(20);

/// If the end of the run is not known, a warning is issued when the disk will be full within this time.
const NEAR: Duration = Duration::from_secs(600);

/// Watches the free space and warns once.
#[derive(Debug, Default)]
pub(crate) struct DiskWatch {
    first: Option<(Duration, u64)>,
    last: Option<Duration>,
    has_warned: bool,
}

impl DiskWatch {
    /// Checks the free space of the disk that contains `path` every few seconds; returns a warning if it will be full soon.
    pub(crate) fn step(
        &mut self,
        path: &Path,
        elapsed: Duration,
        remaining: Option<Duration>,
    ) -> Option<String> {
        if self.has_warned || self.last.is_some_and(|last| elapsed < last + INTERVAL) {
            return None;
        }
        self.last = Some(elapsed);
        let free = free_bytes(path)?;
        let warning = self.observe(elapsed, free, remaining)?;
        self.has_warned = true;
        Some(format!(
            "{warning} on the disk of {}\n  hint: stop the run (Ctrl-C keeps its results), or free space",
            path.display()
        ))
    }

    fn observe(&mut self, elapsed: Duration, free: u64, remaining: Option<Duration>) -> Option<String> {
        let (since, at_first) = *self.first.get_or_insert((elapsed, free));
        let (passed, used) = (elapsed.saturating_sub(since), at_first.saturating_sub(free));
        let left = (passed >= TREND_MIN && used > 0)
            .then(|| Duration::from_secs_f64((free as f64 / used as f64 * passed.as_secs_f64()).min(1e9)));
        let is_near = left.is_some_and(|left| left < remaining.unwrap_or(NEAR));
        if !is_near && free >= SCARCE_BYTES {
            return None;
        }
        let megabytes = free / 1_000_000;
        Some(match left.filter(|_| is_near) {
            Some(left) => format!(
                "only {megabytes} MB are free, which suffice for about {} min at the present rate,",
                left.as_secs().div_ceil(60)
            ),
            None => format!("only {megabytes} MB are free"),
        })
    }
}

/// Number of bytes that this user may still write to the disk of `path`; `None` if unknown.
fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(path).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_disk_that_fills_before_the_end_is_reported() {
        let mut watch = DiskWatch::default();
        assert_eq!(watch.observe(seconds(0), 40 * GB, Some(seconds(3_600))), None);
        assert_eq!(watch.observe(seconds(10), 39 * GB, Some(seconds(3_590))), None, "too early for a trend");
        let warning = watch.observe(seconds(30), 37 * GB, Some(seconds(3_570))).unwrap_or_default();
        assert!(warning.contains("37000 MB") && warning.contains("about 7 min"), "{warning}");
        // The space is sufficient for a run that ends earlier.
        assert_eq!(watch.observe(seconds(30), 37 * GB, Some(seconds(300))), None);
        assert!(watch.observe(seconds(30), 37 * GB, None).is_some());
    }

    #[test]
    fn little_space_is_reported_at_once() {
        let mut watch = DiskWatch::default();
        assert_eq!(watch.observe(seconds(0), GB, None), None);
        assert_eq!(watch.observe(seconds(10), 400_000_000, None).as_deref(), Some("only 400 MB are free"));
    }
}
