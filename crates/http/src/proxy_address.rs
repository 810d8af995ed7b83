//! Proxies and what is known of their authentication.

/// A proxy as it is used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProxyAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Value of `Proxy-Authorization`.
    pub(crate) authorization: Option<String>,
}

/// The state of the authentication of a user at a proxy, per server, because JMeter has a client for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ProxyAuth {
    /// The proxy has not requested authentication; credentials are not sent preemptively.
    #[default]
    Unasked,
    /// They are good, and are sent with every request.
    Accepted,
    /// They are not, and are not sent again.
    Refused,
}

impl ProxyAuth {
    /// The state after a response, and whether the request must be repeated with credentials; `credentials_sent`: credentials
    /// were sent already. This is `HttpAuthenticator.handleAuthChallenge` of HttpClient 4.5 for one scheme.
    pub(crate) fn after(self, status: u16, asks: bool, credentials_sent: bool) -> (Self, bool) {
        match (self, status) {
            (_, 407) if credentials_sent => (Self::Refused, false),
            (Self::Refused, 407) => (Self::Refused, false),
            (before, 407) => (before, asks),
            (Self::Accepted, _) => (Self::Accepted, false),
            (_, _) if credentials_sent => (Self::Accepted, false),
            _ => (Self::Unasked, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProxyAuth::{Accepted, Refused, Unasked};

    #[test]
    fn credentials_are_sent_on_request_and_not_after_refusal() {
        // First request, challenge, accepted.
        assert_eq!(Unasked.after(407, true, false), (Unasked, true));
        assert_eq!(Unasked.after(200, false, true), (Accepted, false));
        assert_eq!(Accepted.after(404, false, false), (Accepted, false));
        // The proxy requests them again: repeat once, then stop.
        assert_eq!(Accepted.after(407, true, false), (Accepted, true));
        assert_eq!(Accepted.after(407, true, true), (Refused, false));
        assert_eq!(Refused.after(407, true, false), (Refused, false));
        // A proxy that lets it pass after all is a new one.
        assert_eq!(Refused.after(200, false, false), (Unasked, false));
        // A question that cannot be answered.
        assert_eq!(Unasked.after(407, false, false), (Unasked, false));
    }
}
