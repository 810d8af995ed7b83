//! The interface between the engine and samplers other than HTTP.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_program::result::Retention;
use busyhour_program::template::Template;
use busyhour_program::user::{CoreAccess, UserState};
use busyhour_sample::Nanos;

use crate::session::AnySession;

/// The arguments of one sample.
pub struct SampleRequest<'a> {
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

/// A sampler other than the HTTP Request. Its samples may allocate.
///
/// # Order of calls
/// For each sample, [`sample`](Self::sample) is called and its future is polled to its end; then [`ends_at`](Self::ends_at) is
/// called. If a Sample Timeout expires first and [`is_interruptible`](Self::is_interruptible), the future is dropped and
/// [`interrupted`](Self::interrupted) is called before [`ends_at`](Self::ends_at). Starts of iterations and changes of the user
/// reach the sampler only through its state in the session ([`SamplerSession`](crate::SamplerSession)).
///
/// # Threads
/// The users of all cores share the sampler. The future stays on the thread of its user's core and must not block it. Blocking
/// work, such as reading a file, must run on another thread, and the future awaits its end.
///
/// # What may be kept
/// Between the samples of a user, one value of each type may be kept in [`AnySession::others`]. It is dropped or reset when a
/// new user replaces the previous one.
///
/// # Errors
/// A request that fails is a failed sample with the code and message of JMeter's sampler. Even if the sampler fails before it
/// sends anything, it must call [`UserState::begin_result`], so that the sample has a label and times.
///
/// # Example
/// A sampler that returns its text:
///
/// ```
/// use busyhour_program::template::Template;
/// use busyhour_samplers::{OtherSampler, SampleRequest, Sampling};
///
/// #[derive(Debug)]
/// struct Echo {
///     text: Template,
/// }
///
/// impl OtherSampler for Echo {
///     fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
///         Box::pin(async move {
///             let SampleRequest { user, label, intended, keep, .. } = request;
///             let text = self.text.text(user).into_owned();
///             user.begin_result(label, intended);
///             // Here a sampler sends the request and waits for the response.
///             user.result.outcome.code.push_str("200");
///             user.result.sizes.body_bytes = text.len() as u64;
///             if keep.body {
///                 user.result.body.extend_from_slice(text.as_bytes());
///             }
///             user.result.times.end = user.now();
///         })
///     }
/// }
/// ```
pub trait OtherSampler: Send + Sync + fmt::Debug {
    /// Performs one request. An implementation first renders everything that depends on variables, then calls
    /// [`UserState::begin_result`], then sends the request.
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a>;

    /// Whether a Sample Timeout may drop the future of a sample; see [`UserState::interrupt_at`] for the alternative.
    fn is_interruptible(&self) -> bool {
        false
    }

    /// Fills in the result of an interrupted sample like JMeter's sampler.
    fn interrupted(&self, user: &mut UserState) {
        user.result.outcome.success = false;
    }

    /// The time at which the user may continue after its sample.
    fn ends_at(&self, user: &UserState) -> Nanos {
        user.result.times.end
    }
}

/// The deadline at which a Sample Timeout interrupts a sample.
pub(crate) struct Interrupt {
    at: Option<Nanos>,
    clock: Clock,
    core: Option<Rc<dyn CoreAccess>>,
}

impl Interrupt {
    /// The Sample Timeout of the user. If the deadline has already passed, the work is interrupted immediately, because the
    /// sample could otherwise wait forever for a server that does not respond.
    pub(crate) fn for_user(user: &UserState) -> Self {
        Self { at: user.interrupt_at, clock: user.run.clock.clone(), core: user.core.clone() }
    }

    /// Waits for the work to end; returns `None` if it is interrupted.
    pub(crate) async fn wait_for<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Some(at) = self.at else { return Some(work.await) };
        let deadline = async {
            // A stop of the run wakes sleeping users early; samples in progress continue.
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
            () = deadline => None,
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
