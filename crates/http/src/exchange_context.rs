//! The context of exchanges: a user, or one of its concurrent downloads.

use std::sync::Arc;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_sample::{DataType, Nanos};

use crate::failure::Failure;
use crate::origin::Origin;
use crate::settings::HttpSampler;
use crate::wire_request::WireRequest;

/// Performs exchanges one after another, and provides the result of the last one.
pub(crate) trait ExchangeContext {
    /// The sampler.
    fn sampler(&self) -> &HttpSampler;
    /// The time since the start of the run.
    fn now(&self) -> Nanos;
    /// The result of the current exchange, or of the last one.
    fn result(&mut self) -> &mut SampleResult;
    /// Determines the origin of the request's URL.
    fn locate(&mut self, request: &mut WireRequest) -> Result<Arc<Origin>, Failure>;
    /// Performs one exchange; returns the `Location` if the response is a redirect to be followed.
    async fn exchange(
        &mut self,
        request: &mut WireRequest,
        origin: &Arc<Origin>,
        keep: Retention,
    ) -> Option<String>;
    /// Downloads the resources of the page that is the last result, and combines them into one result.
    async fn fetch_resources(&mut self, request: &mut WireRequest, keep: Retention);
}

/// Whether the last result is a page whose resources are downloaded.
pub(crate) fn has_resources(context: &mut impl ExchangeContext) -> bool {
    context.sampler().embedded.is_some() && {
        let result = context.result();
        result.outcome.success && !result.marks.ignore && result.content.data_type == DataType::Text
    }
}
