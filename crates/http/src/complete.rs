//! The requests after the first one of a sample.

use busyhour_program::result::Retention;

use crate::exchange_context::ExchangeContext;
use crate::exchange_context::has_resources;
use crate::redirect::auto;
use crate::redirect::follow;
use crate::retained_body::BodyBudget;
use crate::settings::Redirects;
use crate::wire_request::WireRequest;

/// Performs the exchanges after the first one of a sample: redirects and the resources of pages.
pub(crate) async fn complete(
    context: &mut impl ExchangeContext,
    request: &mut WireRequest,
    location: Option<String>,
    keep: Retention,
) {
    if request.body_budget.is_none() && keep.body {
        let used = context.result().body.len();
        request.body_budget =
            context.sampler().shared.sample_body_limit().map(|most| BodyBudget::new(most, used));
    }
    match location {
        Some(location) if context.sampler().redirects == Redirects::Follow => {
            follow(context, request, location, keep).await;
            return;
        }
        Some(location) => auto(context, request, location, keep).await,
        None => {}
    }
    if has_resources(context) {
        context.fetch_resources(request, keep).await;
    }
}
