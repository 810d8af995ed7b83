//! JMeter's HTTP clients.

/// `HTTPSampler.implementation`: the client of JMeter. Each client sends its own headers, in its own order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Client {
    /// Apache HttpClient 4.
    #[default]
    HttpClient4,
    /// `java.net.HttpURLConnection`: sends URLs unchanged, supports seven methods, and sends bodies only with POST
    /// and, if the plan has a raw body or a single file, with PUT.
    Java,
}
