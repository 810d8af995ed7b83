//! The request and the cookies of the current sampler, as scripts access them.

use busyhour_program::request::{RequestArgument, RequestCookie, RequestFile, RequestFlag, RequestText};

/// The request of the current sampler. Changes apply to this sample; changes of cookies are permanent.
pub trait RequestFacts {
    /// A text of the request.
    fn text(&mut self, which: RequestText) -> String;
    /// Changes a text; returns whether that is possible.
    fn set_text(&mut self, which: RequestText, text: &str) -> bool;
    /// A flag of the request.
    fn flag(&mut self, which: RequestFlag) -> bool;
    /// Changes a flag.
    fn set_flag(&mut self, which: RequestFlag, on: bool);
    /// The arguments in their order.
    fn arguments(&mut self) -> Vec<RequestArgument>;
    /// Replaces the arguments.
    fn set_arguments(&mut self, arguments: Vec<RequestArgument>);
    /// Removes the arguments at these indices. Arguments of the plan stay removed in the user's later samples, as in JMeter.
    fn remove_arguments(&mut self, places: &[usize]);
    /// The headers of the sampler's header manager, names and values; `None` without one.
    fn headers(&mut self) -> Option<Vec<(String, String)>>;
    /// Replaces the headers of the sampler's header manager. If it is the only header manager in scope, the change also
    /// applies to the user's later samples, as in JMeter.
    fn set_headers(&mut self, headers: Vec<(String, String)>);
    /// Merges another header manager into the sampler's header manager, for this sample.
    fn set_header_manager(&mut self, headers: Vec<(String, String)>);
    /// The files in their order.
    fn files(&mut self) -> Vec<RequestFile>;
    /// Replaces the files.
    fn set_files(&mut self, files: Vec<RequestFile>);
    /// The cookies of the user in the order of arrival; `None` without a cookie manager.
    fn cookies(&mut self) -> Option<Vec<RequestCookie>>;
    /// Replaces the cookies.
    fn set_cookies(&mut self, cookies: Vec<RequestCookie>);
    /// Removes all cookies. From then on, the manager retains cookies for a single sample only, as in JMeter.
    fn clear_cookies(&mut self);
}
