//! The clock of a run. Only this module reads the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use busyhour_sample::Nanos;

/// The time of day in ns since 1970; 0 if the system clock is before 1970.
#[must_use]
pub fn wall_ns() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

/// The clock of a run: nanoseconds since its start, and the wall clock at its start.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
    /// Wall clock at the run's start, milliseconds since 1970; the run starts at a whole millisecond.
    wall_start_ms: u64,
}

#[derive(Clone, Debug)]
enum Source {
    Monotonic(Instant),
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that starts now. Its start is set back to the previous whole millisecond of the wall clock, so that
    /// truncating to milliseconds has the same result for times since the start and for wall-clock times.
    pub fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let into_millisecond = Duration::from_nanos(u64::from(wall.subsec_nanos() % 1_000_000));
        let now = Instant::now();
        let origin = now.checked_sub(into_millisecond).unwrap_or(now);
        Self {
            source: Source::Monotonic(origin),
            wall_start_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// A clock whose run starts when [`monotonic_ns`] is `origin_ns`, which may be negative; the wall clock then shows
    /// `wall_start_ms`. Generators of one load use the clock of the machine that coordinates them, so that their times can be
    /// compared. `None` if the time is before the start of the machine.
    pub fn with_origin(origin_ns: i64, wall_start_ms: u64) -> Option<Self> {
        let distance = Duration::from_nanos(origin_ns.unsigned_abs());
        let first = first_instant();
        let origin = if origin_ns < 0 { first.checked_sub(distance) } else { first.checked_add(distance) };
        Some(Self { source: Source::Monotonic(origin?), wall_start_ms })
    }

    /// A clock that only moves with [`Self::advance`], for tests.
    pub fn manual(wall_start_ms: u64) -> Self {
        Self { source: Source::Manual(Arc::new(AtomicU64::new(0))), wall_start_ms }
    }

    /// Whether the clock only moves with [`Self::advance`].
    pub fn is_manual(&self) -> bool {
        matches!(self.source, Source::Manual(_))
    }

    /// Time since the run's start.
    #[inline]
    pub fn now(&self) -> Nanos {
        match &self.source {
            Source::Monotonic(origin) => {
                Nanos(u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
            }
            Source::Manual(at) => Nanos(at.load(Ordering::Relaxed)),
        }
    }

    /// Converts `at` to an `Instant`, on a running clock.
    pub fn instant(&self, at: Nanos) -> Instant {
        match &self.source {
            Source::Monotonic(origin) => *origin + Duration::from_nanos(at.0),
            Source::Manual(_) => Instant::now(),
        }
    }

    /// Moves a manual clock forward; has no effect on a running clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(at) = &self.source {
            at.fetch_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// Converts `at` to wall-clock time in milliseconds since 1970.
    pub fn wall_ms(&self, at: Nanos) -> u64 {
        self.wall_start_ms + at.0 / 1_000_000
    }

    /// Wall clock at the run's start, milliseconds since 1970.
    pub fn wall_start_ms(&self) -> u64 {
        self.wall_start_ms
    }
}

/// Nanoseconds since the first call in this process. It measures the duration of work and is not a time of a run.
pub fn monotonic_ns() -> u64 {
    u64::try_from(first_instant().elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn first_instant() -> Instant {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    *FIRST.get_or_init(Instant::now)
}

/// CPU time of the calling thread, in nanoseconds; `None` if the system does not provide it.
pub fn thread_cpu_ns() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let seconds = u64::try_from(time.tv_sec).ok()?;
        Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    None
}
