//! Proxies and the state of their authentication.

/// A proxy with rendered settings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProxyAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Value of `Proxy-Authorization`.
    pub(crate) authorization: Option<String>,
}

/// The state of a user's authentication at a proxy. Each server has its own state, because JMeter has a client for each server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ProxyAuth {
    /// The proxy has not requested authentication; credentials are not sent preemptively.
    #[default]
    Unasked,
    /// The credentials were accepted, and are sent with every request.
    Accepted,
    /// The credentials were rejected, and are not sent again.
    Rejected,
}

impl ProxyAuth {
    /// The state after a response, and whether the request must be repeated with credentials. `credentials_sent`: whether
    /// credentials were already sent. The rules are those of `HttpAuthenticator.handleAuthChallenge` in HttpClient 4.5 for one
    /// scheme.
    pub(crate) fn after(self, status: u16, asks: bool, credentials_sent: bool) -> (Self, bool) {
        match (self, status) {
            (_, 407) if credentials_sent => (Self::Rejected, false),
            (Self::Rejected, 407) => (Self::Rejected, false),
            (before, 407) => (before, asks),
            (Self::Accepted, _) => (Self::Accepted, false),
            (_, _) if credentials_sent => (Self::Accepted, false),
            _ => (Self::Unasked, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProxyAuth::{Accepted, Rejected, Unasked};

    #[test]
    fn credentials_are_sent_on_request_and_not_after_refusal() {
        // The first request is challenged, and then accepted.
        assert_eq!(Unasked.after(407, true, false), (Unasked, true));
        assert_eq!(Unasked.after(200, false, true), (Accepted, false));
        assert_eq!(Accepted.after(404, false, false), (Accepted, false));
        // If the proxy requests the credentials again, repeat the request once, then stop.
        assert_eq!(Accepted.after(407, true, false), (Accepted, true));
        assert_eq!(Accepted.after(407, true, true), (Rejected, false));
        assert_eq!(Rejected.after(407, true, false), (Rejected, false));
        // If the proxy accepts a request without credentials, the state is reset.
        assert_eq!(Rejected.after(200, false, false), (Unasked, false));
        // A challenge without a supported scheme.
        assert_eq!(Unasked.after(407, false, false), (Unasked, false));
    }
}
