//! The HTTP Request sampler.

use std::sync::atomic::Ordering;

use busyhour_program::result::Retention;
use busyhour_program::sampler::Protocol;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::access;
use crate::direct;
use crate::failure::Failure;
use crate::modify::modified;
use crate::session::HttpSession;
use crate::settings::HttpSampler;

impl Protocol for HttpSampler {
    type Session = HttpSession;

    fn session(_user: &UserState) -> HttpSession {
        HttpSession::default()
    }

    fn iteration_started(session: &mut HttpSession, user: &mut UserState, same_user: bool) {
        access::apply_cookies_of_scripts(session, user);
        session.iteration_started(user, same_user);
        if user.script_session.is_some() {
            access::show_cookies_to_scripts(session, user);
        }
    }

    fn begin_arrival(session: &mut HttpSession, keep_connections: bool) {
        session.begin_arrival(keep_connections);
    }

    async fn sample(
        &self,
        user: &mut UserState,
        session: &mut HttpSession,
        label: &Template,
        intended: Nanos,
        keep: Retention,
    ) {
        let shows_cookies = self.shared.shows_cookies_to_scripts.load(Ordering::Relaxed);
        if shows_cookies {
            access::apply_cookies_of_scripts(session, user);
            if !self.is_accessed_by_scripts {
                access::begin_sample(session);
            }
        }
        if self.is_accessed_by_scripts {
            let (own, name) = access::changed(user);
            let (own, label) = (own.as_deref().unwrap_or(self), name.as_ref().unwrap_or(label));
            let own = Box::new(modified(own, user));
            Box::pin(direct::sample(&own, user, session, label, intended, keep)).await;
        } else if let Some(headers) = access::headers_of_scripts(self, user) {
            let own = Box::new(modified(&HttpSampler { headers, ..self.clone() }, user));
            Box::pin(direct::sample(&own, user, session, label, intended, keep)).await;
        } else if self.modifiers.is_empty() {
            direct::sample(self, user, session, label, intended, keep).await;
        } else {
            let own = Box::new(modified(self, user));
            Box::pin(direct::sample(&own, user, session, label, intended, keep)).await;
        }
        if shows_cookies {
            access::show_cookies_to_scripts(session, user);
        }
    }

    fn branch(session: &HttpSession, branch: &mut HttpSession) {
        session.branch(branch);
    }

    fn rejoin(session: &mut HttpSession, branch: &mut HttpSession) {
        session.rejoin(branch);
    }

    fn interrupted(&self, user: &mut UserState, _session: &mut HttpSession, keep: Retention) {
        let result = &mut user.result;
        // As with every failure, sent bytes are recorded only if there is a response.
        result.sizes.sent_bytes = 0;
        Failure::interrupted().write_to(result, keep.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<'a, R>(
        _: impl FnOnce(
            &'a HttpSampler,
            &'a mut UserState,
            &'a mut HttpSession,
            &'a Template,
            Nanos,
            Retention,
        ) -> R,
    ) -> usize {
        size_of::<R>()
    }

    /// Every user has space for this future, also between its samples. Futures that few samples need are therefore boxed.
    #[test]
    fn the_future_of_a_sample_is_small() {
        let bytes = size_of_future(<HttpSampler as Protocol>::sample);
        assert!(bytes <= 1600, "{bytes} bytes");
    }
}
