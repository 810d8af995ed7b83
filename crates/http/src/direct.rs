//! The requests that a user performs itself, in contrast to concurrent downloads.

use std::sync::Arc;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::{HttpDetail, Nanos};

use crate::complete::complete;
use crate::detail;
use crate::embedded;
use crate::exchange;
use crate::exchange_context::ExchangeContext;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::render::locate;
use crate::render::render;
use crate::session::HttpSession;
use crate::settings::HttpSampler;
use crate::wire_request::WireRequest;

/// The exchanges of a user, in contrast to those of a concurrent download.
pub(crate) struct Direct<'a> {
    pub(crate) sampler: &'a HttpSampler,
    pub(crate) user: &'a mut UserState,
    pub(crate) session: &'a mut HttpSession,
}

impl ExchangeContext for Direct<'_> {
    fn sampler(&self) -> &HttpSampler {
        self.sampler
    }

    fn now(&self) -> Nanos {
        self.user.now()
    }

    fn result(&mut self) -> &mut SampleResult {
        &mut self.user.result
    }

    fn locate(&mut self, request: &mut WireRequest) -> Result<Arc<Origin>, Failure> {
        locate(self.session, request, self.sampler.client)
    }

    async fn exchange(
        &mut self,
        request: &mut WireRequest,
        origin: &Arc<Origin>,
        keep: Retention,
    ) -> Option<String> {
        exchange::perform(self.sampler, self.user, self.session, request, origin, keep).await
    }

    async fn fetch_resources(&mut self, request: &mut WireRequest, keep: Retention) {
        embedded::fetch_for_page(self.sampler, self.user, self.session, request, keep).await;
    }
}

/// Performs one sample; the result is in `user.result` afterwards.
pub(crate) async fn sample(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    label: &Template,
    intended: Nanos,
    keep: Retention,
) {
    session.start_session(sampler.shared.reset_on_iteration);
    let mut request = WireRequest::from_pool();
    let rendered = render(sampler, user, session, &mut request).await;
    user.begin_result(label, intended);
    let mut redirect = None;
    let is_file = rendered.as_ref().is_ok_and(|origin| origin.is_file);
    match rendered {
        Ok(origin) => redirect = exchange::perform(sampler, user, session, &mut request, &origin, keep).await,
        Err(failure) => {
            user.result.url.push_str(&request.url);
            user.result.times.end = user.now();
            if keep.protocol_detail {
                let method = (!request.url.is_empty()).then(|| request.method.clone());
                detail::set(&mut user.result, HttpDetail { method, ..HttpDetail::default() });
            }
            failure.write_to(&mut user.result, keep.body);
            if request.url.is_empty() {
                // Without a URL, the result in JMeter has no label either.
                user.result.label.clear();
            }
        }
    }
    if redirect.is_some() || (sampler.embedded.is_some() && user.result.outcome.success) {
        let mut context = Direct { sampler, user, session };
        Box::pin(complete(&mut context, &mut request, redirect, keep)).await;
    }
    if is_file {
        user.result.label.clear();
        let mut name = std::mem::take(&mut user.result.label);
        label.render(user, &mut name);
        user.result.label = name;
    }
    request.recycle();
}
