//! A source of requests: a user, or one of the concurrent downloads of a user.

use std::sync::Arc;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_record::{DataType, Nanos};

use crate::failure::Failure;
use crate::origin::Origin;
use crate::settings::HttpSampler;
use crate::wire_request::WireRequest;

/// Makes exchanges one after another; the last one's result is at hand.
pub(crate) trait Visit {
    /// What is to be done.
    fn sampler(&self) -> &HttpSampler;
    /// Time since the run's start.
    fn now(&self) -> Nanos;
    /// The result of the exchange under way, or of the last one.
    fn result(&mut self) -> &mut SampleResult;
    /// Where the URL of the request leads.
    fn locate(&mut self, request: &mut WireRequest) -> Result<Arc<Origin>, Failure>;
    /// One exchange; gives the `Location` when the response is a redirect that is to be followed.
    async fn one(
        &mut self,
        request: &mut WireRequest,
        origin: &Arc<Origin>,
        keep: Retention,
    ) -> Option<String>;
    /// Puts the page that is the last result and its resources into one result.
    async fn fetch_resources(&mut self, request: &mut WireRequest, keep: Retention);
}

/// Whether the last result is a page whose resources are wanted.
pub(crate) fn has_resources(visit: &mut impl Visit) -> bool {
    visit.sampler().embedded.is_some() && {
        let result = visit.result();
        result.success && !result.ignore && result.data_type == DataType::Text
    }
}
