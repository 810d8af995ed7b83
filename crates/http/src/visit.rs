//! Whoever makes exchanges: a user for itself, or one of the downloads a user makes at the same time.

use std::sync::Arc;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::user::UserState;
use busyhour_record::{DataType, Nanos};

use crate::embedded;
use crate::exchange;
use crate::failure::Failure;
use crate::head::Rendered;
use crate::kept::Room;
use crate::origin::Origin;
use crate::redirect::{auto, follow};
use crate::render::locate;
use crate::sampler::{HttpSampler, Redirects};
use crate::session::HttpSession;

/// Makes exchanges one after another; the last one's result is at hand.
pub(crate) trait Visit {
    /// What is to be done.
    fn sampler(&self) -> &HttpSampler;
    /// Time since the run's start.
    fn now(&self) -> Nanos;
    /// The result of the exchange under way, or of the last one.
    fn result(&mut self) -> &mut SampleResult;
    /// Where the URL of the request leads.
    fn locate(&mut self, request: &mut Rendered) -> Result<Arc<Origin>, Failure>;
    /// One exchange; gives the `Location` when the response is a redirect that is to be followed.
    async fn one(&mut self, request: &mut Rendered, origin: &Arc<Origin>, keep: Retention) -> Option<String>;
    /// Puts the page that is the last result and its resources into one result.
    async fn fetch_resources(&mut self, request: &mut Rendered, keep: Retention);
}

/// A user for itself.
pub(crate) struct Direct<'a> {
    pub(crate) sampler: &'a HttpSampler,
    pub(crate) user: &'a mut UserState,
    pub(crate) session: &'a mut HttpSession,
}

impl Visit for Direct<'_> {
    fn sampler(&self) -> &HttpSampler {
        self.sampler
    }

    fn now(&self) -> Nanos {
        self.user.now()
    }

    fn result(&mut self) -> &mut SampleResult {
        &mut self.user.result
    }

    fn locate(&mut self, request: &mut Rendered) -> Result<Arc<Origin>, Failure> {
        locate(self.session, request, self.sampler.client)
    }

    async fn one(&mut self, request: &mut Rendered, origin: &Arc<Origin>, keep: Retention) -> Option<String> {
        exchange::one(self.sampler, self.user, self.session, request, origin, keep).await
    }

    async fn fetch_resources(&mut self, request: &mut Rendered, keep: Retention) {
        embedded::of_page(self.sampler, self.user, self.session, request, keep).await;
    }
}

/// What follows the first exchange of a sample: redirects and the resources of pages.
pub(crate) async fn complete(
    visit: &mut impl Visit,
    request: &mut Rendered,
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

/// Whether the last result is a page whose resources are wanted.
pub(crate) fn has_resources(visit: &mut impl Visit) -> bool {
    visit.sampler().embedded.is_some() && {
        let result = visit.result();
        result.success && !result.ignore && result.data_type == DataType::Text
    }
}
