//! The requests after the first one of a sample.

use busyhour_program::result::Retention;

use crate::kept::Room;
use crate::redirect::auto;
use crate::redirect::follow;
use crate::settings::Redirects;
use crate::visit::Visit;
use crate::visit::has_resources;
use crate::wire_request::WireRequest;

/// What follows the first exchange of a sample: redirects and the resources of pages.
pub(crate) async fn complete(
    visit: &mut impl Visit,
    request: &mut WireRequest,
    location: Option<String>,
    keep: Retention,
) {
    if request.room.is_none() && keep.body {
        let used = visit.result().body.len();
        request.room = visit.sampler().shared.sample_body_limit().map(|most| Room::new(most, used));
    }
    match location {
        Some(location) if visit.sampler().redirects == Redirects::Follow => {
            follow(visit, request, location, keep).await;
            return;
        }
        Some(location) => auto(visit, request, location, keep).await,
        None => {}
    }
    if has_resources(visit) {
        visit.fetch_resources(request, keep).await;
    }
}
