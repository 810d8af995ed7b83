//! Access to the request of the current sampler.

use std::any::Any;
use std::fmt;

use busyhour_program::user::UserState;

use crate::parts::{RequestArgument, RequestCookie, RequestFile, RequestFlag, RequestText};

/// The request and the cookies of the current sampler, as scripts read and change them.
///
/// # Order of calls
/// If scripts can access a sampler, its protocol calls [`give_script_access`] before the first pre-processor of the sample. Each
/// script that runs until the end of the sample can call [`access`](fn@access) any number of times. Scripts before the
/// request change the request; changes by scripts after it have no effect on the sample, except those of cookies.
///
/// All calls are made on the thread of the user's core, during the evaluation of a script.
///
/// # Lifetime of changes
/// An access borrows the user and is dropped before the script continues. The changes that a script has made are stored in the
/// [`ScriptableSampler`] and apply to the current sample. The following changes also apply to the user's later samples, as in JMeter:
///
/// * changes of cookies,
/// * [`remove_arguments`](Self::remove_arguments) of arguments of the plan,
/// * [`set_headers`](Self::set_headers), if only one header manager is in scope.
///
/// # Errors
/// No method fails. A value that the sampler does not support is refused by [`set_text`](Self::set_text). A part that
/// the sampler does not have is `None` or empty, and a change of it is ignored.
///
/// # Example
/// A sampler with a path and headers:
///
/// ```
/// use busyhour_program::user::UserState;
/// use busyhour_request::{ScriptableSampler, RequestAccess, RequestText, access, accessed_sampler, give_script_access};
/// # use busyhour_request::{RequestArgument, RequestCookie, RequestFile, RequestFlag};
///
/// #[derive(Debug)]
/// struct Sampler {
///     path: String,
///     headers: Vec<(String, String)>,
/// }
///
/// impl ScriptableSampler for Sampler {
///     fn request<'a>(&'a mut self, _user: &'a mut UserState) -> Box<dyn RequestAccess + 'a> {
///         Box::new(Request { sampler: self })
///     }
/// }
///
/// struct Request<'a> {
///     sampler: &'a mut Sampler,
/// }
///
/// impl RequestAccess for Request<'_> {
///     fn text(&mut self, which: RequestText) -> String {
///         if which == RequestText::Path { self.sampler.path.clone() } else { String::new() }
///     }
///
///     fn set_text(&mut self, which: RequestText, text: &str) -> bool {
///         let is_path = which == RequestText::Path;
///         if is_path {
///             self.sampler.path = text.to_owned();
///         }
///         is_path
///     }
///
///     fn headers(&mut self) -> Option<Vec<(String, String)>> {
///         Some(self.sampler.headers.clone())
///     }
///
///     fn set_headers(&mut self, headers: Vec<(String, String)>) {
///         self.sampler.headers = headers;
///     }
///
///     // The other methods.
/// #   fn flag(&mut self, _: RequestFlag) -> bool { false }
/// #   fn set_flag(&mut self, _: RequestFlag, _: bool) {}
/// #   fn arguments(&mut self) -> Vec<RequestArgument> { Vec::new() }
/// #   fn set_arguments(&mut self, _: Vec<RequestArgument>) {}
/// #   fn remove_arguments(&mut self, _: &[usize]) {}
/// #   fn merge_headers(&mut self, _: Vec<(String, String)>) {}
/// #   fn files(&mut self) -> Vec<RequestFile> { Vec::new() }
/// #   fn set_files(&mut self, _: Vec<RequestFile>) {}
/// #   fn cookies(&mut self) -> Option<Vec<RequestCookie>> { None }
/// #   fn set_cookies(&mut self, _: Vec<RequestCookie>) {}
/// #   fn clear_cookies(&mut self) {}
/// }
///
/// # let clock = busyhour_program::clock::Clock::manual(0);
/// # let mut user = busyhour_program::testing::lone_user(&busyhour_program::testing::run_with_stopped_clock(&clock), 0);
/// // The protocol, before the first pre-processor.
/// give_script_access(&mut user, Box::new(Sampler { path: "/cart".to_owned(), headers: Vec::new() }));
///
/// // A script.
/// let mut stored = user.request.take();
/// let mut request = access(stored.as_deref_mut().unwrap(), &mut user).unwrap();
/// assert_eq!(request.text(RequestText::Path), "/cart");
/// assert!(request.set_text(RequestText::Path, "/checkout"));
/// drop(request);
/// user.request = stored;
///
/// // The protocol, when it sends the request.
/// assert_eq!(accessed_sampler::<Sampler>(&user).unwrap().path, "/checkout");
/// ```
pub trait RequestAccess {
    /// A text of the request, evaluated for the user.
    fn text(&mut self, which: RequestText) -> String;
    /// Changes a text. Returns whether the sampler supports the new value.
    fn set_text(&mut self, which: RequestText, text: &str) -> bool;
    /// A flag of the request.
    fn flag(&mut self, which: RequestFlag) -> bool;
    /// Changes a flag.
    fn set_flag(&mut self, which: RequestFlag, on: bool);
    /// The arguments in their order.
    fn arguments(&mut self) -> Vec<RequestArgument>;
    /// Replaces the arguments.
    fn set_arguments(&mut self, arguments: Vec<RequestArgument>);
    /// Removes the arguments at these indices. Arguments of the plan are also removed for the user's later samples, as in JMeter.
    fn remove_arguments(&mut self, places: &[usize]);
    /// The names and values of the headers in the sampler's header manager; `None` if there is no header manager.
    fn headers(&mut self) -> Option<Vec<(String, String)>>;
    /// Replaces the headers of the sampler's header manager. If it is the only header manager in scope, the change also
    /// applies to the user's later samples, as in JMeter.
    fn set_headers(&mut self, headers: Vec<(String, String)>);
    /// Merges another header manager into the sampler's header manager, for this sample.
    fn merge_headers(&mut self, headers: Vec<(String, String)>);
    /// The files in their order.
    fn files(&mut self) -> Vec<RequestFile>;
    /// Replaces the files.
    fn set_files(&mut self, files: Vec<RequestFile>);
    /// The cookies of the user in the order in which they were received; `None` without a cookie manager.
    fn cookies(&mut self) -> Option<Vec<RequestCookie>>;
    /// Replaces the cookies.
    fn set_cookies(&mut self, cookies: Vec<RequestCookie>);
    /// Removes all cookies. From then on, the manager retains cookies for a single sample only, as in JMeter.
    fn clear_cookies(&mut self);
}

/// A sampler that scripts can access. Its protocol stores it in the user for the duration of one sample, with [`give_script_access`], and
/// reads the changes when it sends the request, with [`accessed_sampler`].
pub trait ScriptableSampler: Any + fmt::Debug {
    /// The request with all changes so far. Texts are evaluated for `user`.
    fn request<'a>(&'a mut self, user: &'a mut UserState) -> Box<dyn RequestAccess + 'a>;
}

/// The value in [`UserState::request`].
struct Opened(Box<dyn ScriptableSampler>);

/// Gives scripts access to the current sampler until the end of its sample.
pub fn give_script_access(user: &mut UserState, sampler: Box<dyn ScriptableSampler>) {
    user.request = Some(Box::new(Opened(sampler)));
}

/// The sampler that was stored with [`give_script_access`], if it has the type `T`.
pub fn accessed_sampler<T: ScriptableSampler>(user: &UserState) -> Option<&T> {
    let sampler: &dyn Any = &*user.request.as_ref()?.downcast_ref::<Opened>()?.0;
    sampler.downcast_ref()
}

/// The request of the current sampler. `stored` is the value of [`UserState::request`], which the caller takes out of the user
/// first, because the access also borrows the user. Returns `None` if `stored` was not created by [`give_script_access`].
pub fn access<'a>(stored: &'a mut dyn Any, user: &'a mut UserState) -> Option<Box<dyn RequestAccess + 'a>> {
    Some(stored.downcast_mut::<Opened>()?.0.request(user))
}
