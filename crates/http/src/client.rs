//! JMeter's HTTP clients.

/// `HTTPSampler.implementation`: JMeter's client. Each has its own headers, in its own order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Client {
    /// Apache HttpClient 4.
    #[default]
    HttpClient4,
    /// `java.net.HttpURLConnection`: sends URLs as they are, knows seven methods, and sends bodies only with POST and,
    /// where the plan has a body or a file to send as one, PUT.
    Java,
}
