//! The interface of samplers other than HTTP's to the engine.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_program::result::Retention;
use busyhour_program::template::Template;
use busyhour_program::user::{CoreAccess, UserState};
use busyhour_record::Nanos;

use crate::session::AnySession;

/// One call of a sampler.
pub struct Visit<'a> {
    /// The user, whose result is filled in.
    pub user: &'a mut UserState,
    /// The user's state between requests.
    pub session: &'a mut AnySession,
    /// The sample's label.
    pub label: &'a Template,
    /// The intended start of the sample.
    pub intended: Nanos,
    /// The parts of the result that must be retained.
    pub keep: Retention,
}

/// A sample in flight.
pub type Sampling<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A sampler other than HTTP's. Its samples may allocate.
pub trait OtherSampler: Send + Sync + fmt::Debug {
    /// Performs one request. Everything that is rendered from variables is rendered first, then
    /// [`UserState::begin_result`] is called, then the request is made.
    fn sample<'a>(&'a self, visit: Visit<'a>) -> Sampling<'a>;

    /// Whether a Sample Timeout may drop the future of a sample; see [`UserState::interrupt_at`] for the alternative.
    fn is_interruptible(&self) -> bool {
        false
    }

    /// Fills in the result of an interrupted sample as JMeter's sampler does.
    fn interrupted(&self, user: &mut UserState) {
        user.result.success = false;
    }

    /// The time at which the user may continue after its sample.
    fn ends_at(&self, user: &UserState) -> Nanos {
        user.result.times.end
    }
}

/// When a sample is interrupted.
pub(crate) struct Interrupt {
    at: Option<Nanos>,
    clock: Clock,
    core: Option<Rc<dyn CoreAccess>>,
}

impl Interrupt {
    /// The user's Sample Timeout. If its time has passed, what is awaited is interrupted at once: the sample would wait for
    /// a silent server for ever.
    pub(crate) fn of(user: &UserState) -> Self {
        Self { at: user.interrupt_at, clock: user.run.clock.clone(), core: user.core.clone() }
    }

    /// The result of the work, or `None` if it is interrupted.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Some(at) = self.at else { return Some(work.await) };
        let over = async {
            // Sleeping users are woken early when the run is stopped; samples in progress continue then.
            while self.clock.now() < at {
                match &self.core {
                    Some(core) => core.sleep_until(at).await,
                    None => tokio::time::sleep(Duration::from_nanos(at.since(self.clock.now()))).await,
                }
            }
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = over => None,
        }
    }
}

/// Waits for this number of milliseconds on the core's timers.
pub(crate) async fn sleep(user: &UserState, ms: i64) {
    let Some(ms) = u64::try_from(ms).ok().filter(|ms| *ms > 0) else { return };
    let until = user.now() + ms.saturating_mul(1_000_000);
    match &user.core {
        Some(core) => core.sleep_until(until).await,
        None => tokio::time::sleep(Duration::from_millis(ms)).await,
    }
}
