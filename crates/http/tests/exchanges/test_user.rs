//! A user that makes requests.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use busyhour_http::auth::{AuthManager, Authorization};
use busyhour_http::{
    Charset, Client, ContentEncoding, HeaderManagers, HttpSampler, HttpSession, Redirects, SharedHttp,
};
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::sampler::Protocol as _;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;

/// A user with its session and runtime.
pub struct TestUser {
    /// The state of the user.
    pub state: UserState,
    session: HttpSession,
    runtime: tokio::runtime::Runtime,
    label: Template,
}

/// A literal template.
pub fn text(text: &str) -> Template {
    Template::literal(text)
}

/// A GET request to a server on this machine.
pub fn get(port: u16, path: &str) -> HttpSampler {
    HttpSampler {
        shared: Arc::new(SharedHttp::default()),
        method: text("GET"),
        protocol: Template::default(),
        domain: text("127.0.0.1"),
        port: text(&port.to_string()),
        path: text(path),
        arguments: Box::default(),
        raw_body: false,
        files: Box::default(),
        multipart: false,
        browser_compatible: false,
        encoding: ContentEncoding::Known(Charset::Utf8),
        redirects: Redirects::None,
        keep_alive: true,
        connect_timeout: Template::default(),
        response_timeout: Template::default(),
        proxy: None,
        headers: Box::default(),
        header_managers: HeaderManagers::None,
        cookies: None,
        cache: None,
        auth: None,
        modifiers: Box::default(),
        dns: None,
        source: None,
        embedded: None,
        md5: false,
        client: Client::HttpClient4,
        is_accessed_by_scripts: false,
    }
}

/// Like [`get`], over HTTPS.
pub fn get_securely(port: u16, path: &str) -> HttpSampler {
    HttpSampler { protocol: text("https"), ..get(port, path) }
}

/// An Authorization Manager with one row.
pub fn manager(port: u16, domain: &str, basic: bool) -> Option<Arc<AuthManager>> {
    let row = Authorization {
        url: text(&format!("http://127.0.0.1:{port}/")),
        user: text("bob"),
        password: text("pw"),
        domain: text(domain),
        realm: Template::default(),
        basic,
    };
    Some(Arc::new(AuthManager { entries: vec![row], waits: false }))
}

/// Everything is retained, or nothing.
pub const RETENTIONS: [Retention; 2] = [
    Retention::ALL,
    Retention { body: false, response_headers: false, request: false, protocol_detail: false },
];

impl TestUser {
    /// Creates a user with a running clock.
    pub fn new() -> Self {
        Self::with_clock(Clock::start())
    }

    /// Creates a user with this clock.
    pub fn with_clock(clock: Clock) -> Self {
        let group = GroupShared::new("group".into(), 1, Vec::new());
        let run = RunShared::new(
            1,
            clock,
            Arc::new(JmeterProperties::new(HashMap::new())),
            Arc::new(Names::default()),
            vec![group],
            0,
            Box::new(|_, _| {}),
        );
        let state = UserState::new(Arc::new(run), None, 0, 0);
        let session = HttpSampler::session(&state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { state, session, runtime, label: text("label") }
    }

    /// Makes a sample with this retention.
    pub fn sample_with(&mut self, sampler: &HttpSampler, keep: Retention) -> &SampleResult {
        let intended = self.state.now();
        let Self { state, session, runtime, label } = self;
        runtime.block_on(sampler.sample(state, session, label, intended, keep));
        &self.state.result
    }

    /// Makes a hundred samples within one call of the runtime.
    pub fn sample_a_hundred(&mut self, sampler: &HttpSampler, keep: Retention) {
        let Self { state, session, runtime, label } = self;
        runtime.block_on(async {
            for _ in 0..100 {
                let intended = state.now();
                sampler.sample(state, session, label, intended, keep).await;
            }
        });
    }

    /// Makes a sample and retains everything.
    pub fn sample(&mut self, sampler: &HttpSampler) -> &SampleResult {
        self.sample_with(sampler, Retention::ALL)
    }

    /// Makes a sample and returns its code and message.
    pub fn outcome(&mut self, sampler: &HttpSampler) -> (String, String) {
        let result = self.sample(sampler);
        (result.outcome.code.clone(), result.outcome.message.clone())
    }

    /// Begins an iteration of the thread group.
    pub fn next_iteration(&mut self, same_user: bool) {
        HttpSampler::iteration_started(&mut self.session, &mut self.state, same_user);
    }

    /// Advances a manual clock.
    pub fn advance(&self, seconds: u64) {
        self.state.run.clock.advance(Duration::from_secs(seconds));
    }

    /// Runs a future on the user's runtime.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Lets the reactor process the events of the sockets.
    pub fn process_socket_events(&self) {
        self.run(async {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
        });
    }
}
