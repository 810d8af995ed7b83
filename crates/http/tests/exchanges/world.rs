//! One user that makes requests.

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
use busyhour_program::run::{GroupShared, Properties, RunShared};
use busyhour_program::sampler::Protocol as _;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;

/// One user, its session and its runtime.
pub struct World {
    /// The user.
    pub user: UserState,
    session: HttpSession,
    runtime: tokio::runtime::Runtime,
    label: Template,
}

/// A template of fixed text.
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
        is_open: false,
    }
}

/// The same over HTTPS.
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

/// The body is kept, or it is not.
pub const KEEP: [Retention; 2] =
    [Retention::ALL, Retention { body: false, response_headers: false, request: false, http: false }];

impl World {
    /// A user on a clock that runs.
    pub fn new() -> Self {
        Self::on(Clock::start())
    }

    /// A user on this clock.
    pub fn on(clock: Clock) -> Self {
        let group = GroupShared::new("group".into(), 1, Vec::new());
        let run = RunShared::new(
            1,
            clock,
            Arc::new(Properties::new(HashMap::new())),
            Arc::new(Names::default()),
            vec![group],
            0,
            Box::new(|_, _| {}),
        );
        let user = UserState::new(Arc::new(run), None, 0, 0);
        let session = HttpSampler::session(&user);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { user, session, runtime, label: text("label") }
    }

    /// Makes a sample.
    pub fn sample(&mut self, sampler: &HttpSampler, keep: Retention) -> &SampleResult {
        let intended = self.user.now();
        let Self { user, session, runtime, label } = self;
        runtime.block_on(sampler.sample(user, session, label, intended, keep));
        &self.user.result
    }

    /// Makes a hundred samples without leaving the runtime.
    pub fn hundred(&mut self, sampler: &HttpSampler, keep: Retention) {
        let Self { user, session, runtime, label } = self;
        runtime.block_on(async {
            for _ in 0..100 {
                let intended = user.now();
                sampler.sample(user, session, label, intended, keep).await;
            }
        });
    }

    /// Makes a sample of which everything is kept.
    pub fn visit(&mut self, sampler: &HttpSampler) -> &SampleResult {
        self.sample(sampler, Retention::ALL)
    }

    /// Makes a sample and gives code and message.
    pub fn outcome(&mut self, sampler: &HttpSampler) -> (String, String) {
        let result = self.visit(sampler);
        (result.code.clone(), result.message.clone())
    }

    /// Begins an iteration of the thread group.
    pub fn next_iteration(&mut self, same_user: bool) {
        HttpSampler::iteration_started(&mut self.session, &mut self.user, same_user);
    }

    /// Advances a stopped clock.
    pub fn later(&self, seconds: u64) {
        self.user.run.clock.advance(Duration::from_secs(seconds));
    }

    /// Runs something on the user's runtime.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Lets the reactor see what has happened to the sockets.
    pub fn look_around(&self) {
        self.wait(async {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
        });
    }
}
