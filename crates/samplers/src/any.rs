//! The protocol of compiled plans: HTTP or any other sampler.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use busyhour_http::HttpSampler;
use busyhour_program::result::Retention;
use busyhour_program::sampler::Protocol;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;
use pin_project_lite::pin_project;

use crate::other::{OtherSampler, SampleRequest};
use crate::session::AnySession;

/// A sampler that sends requests.
#[derive(Debug)]
pub enum AnySampler {
    /// The HTTP Request sampler.
    Http(HttpSampler),
    /// Any other sampler.
    Other(Box<dyn OtherSampler>),
}

pin_project! {
    /// The future of a sample: stored inline for HTTP, on the heap for other samplers.
    #[project = SampleFutureProjected]
    enum SampleFuture<H, O> {
        Http { #[pin] sample: H },
        Other { #[pin] sample: O },
    }
}

impl<H: Future<Output = ()>, O: Future<Output = ()>> Future for SampleFuture<H, O> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project() {
            SampleFutureProjected::Http { sample } => sample.poll(cx),
            SampleFutureProjected::Other { sample } => sample.poll(cx),
        }
    }
}

impl Protocol for AnySampler {
    type Session = AnySession;

    fn session(_user: &UserState) -> AnySession {
        AnySession::default()
    }

    fn iteration_started(session: &mut AnySession, user: &mut UserState, same_user: bool) {
        HttpSampler::iteration_started(&mut session.http, user, same_user);
    }

    fn begin_arrival(session: &mut AnySession, keep_connections: bool) {
        HttpSampler::begin_arrival(&mut session.http, keep_connections);
        session.others.begin_arrival(keep_connections);
    }

    fn sample(
        &self,
        user: &mut UserState,
        session: &mut AnySession,
        label: &Template,
        intended: Nanos,
        keep: Retention,
    ) -> impl Future<Output = ()> {
        match self {
            Self::Http(http) => {
                SampleFuture::Http { sample: http.sample(user, &mut session.http, label, intended, keep) }
            }
            Self::Other(other) => SampleFuture::Other {
                sample: async move {
                    other.sample(SampleRequest { user, session, label, intended, keep }).await;
                },
            },
        }
    }

    fn branch(session: &AnySession, branch: &mut AnySession) {
        HttpSampler::branch(&session.http, &mut branch.http);
    }

    fn rejoin(session: &mut AnySession, branch: &mut AnySession) {
        HttpSampler::rejoin(&mut session.http, &mut branch.http);
    }

    fn is_interruptible(&self) -> bool {
        match self {
            Self::Http(http) => http.is_interruptible(),
            Self::Other(other) => other.is_interruptible(),
        }
    }

    fn interrupted(&self, user: &mut UserState, session: &mut AnySession, keep: Retention) {
        match self {
            Self::Http(http) => http.interrupted(user, &mut session.http, keep),
            Self::Other(other) => other.interrupted(user),
        }
    }

    fn ended(&self, user: &UserState) -> Nanos {
        match self {
            Self::Http(_) => user.result.times.end,
            Self::Other(other) => other.ends_at(user),
        }
    }
}

#[cfg(test)]
mod tests {
    use busyhour_http::HttpSession;

    use super::*;

    #[test]
    fn a_session_with_only_http_is_at_most_a_pointer_larger() {
        assert!(size_of::<AnySession>() <= size_of::<HttpSession>() + size_of::<usize>());
        assert!(size_of::<AnySampler>() <= size_of::<HttpSampler>() + size_of::<usize>());
    }
}
