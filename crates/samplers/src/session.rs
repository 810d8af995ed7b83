//! The state of a user between requests.

use std::any::Any;
use std::fmt;

use busyhour_http::HttpSession;

/// The state of a user between requests.
#[derive(Debug, Default)]
pub struct AnySession {
    /// The state for HTTP. WebSockets use its cookies.
    pub http: HttpSession,
    /// The state for the other samplers.
    pub others: OtherSessions,
}

/// The state of a user for one kind of sampler, such as its connections.
pub trait SamplerSession: Any {
    /// Called when a new user replaces the previous one, whose state must be dropped. Connections may be reused if
    /// `keep_connections`.
    fn begin_arrival(&mut self, keep_connections: bool);

    /// The value as `Any`, for downcasting.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// The state of a user for samplers other than HTTP: one value of each requested type.
#[derive(Default)]
pub struct OtherSessions(Option<Box<SessionValues>>);

/// One value of each type.
#[derive(Default)]
struct SessionValues(Vec<Box<dyn SamplerSession>>);

impl fmt::Debug for OtherSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OtherSessions").field(&self.0.as_ref().map_or(0, |kept| kept.0.len())).finish()
    }
}

impl OtherSessions {
    /// The user's value of this type, created at first use.
    ///
    /// # Panics
    /// Never, because a value is looked up by its type.
    pub fn session_of<T: SamplerSession + Default>(&mut self) -> &mut T {
        let all = &mut self.0.get_or_insert_default().0;
        let at = match all.iter_mut().position(|kept| kept.as_any().is::<T>()) {
            Some(at) => at,
            None => {
                all.push(Box::new(T::default()));
                all.len() - 1
            }
        };
        all[at].as_any().downcast_mut().expect("the value was found by its type")
    }

    pub(crate) fn begin_arrival(&mut self, keep_connections: bool) {
        for kept in self.0.iter_mut().flat_map(|all| all.0.iter_mut()) {
            kept.begin_arrival(keep_connections);
        }
    }
}
