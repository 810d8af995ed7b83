//! Embedded resources: the resources that a browser would download for a page, each a sub-result of the page's sample.

mod addresses;
mod conditional;
pub(crate) mod content;
mod css;
mod html;
mod parallel;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::user::UserState;
use busyhour_sample::{Nanos, SampleOutcome, SampleTimes};

use crate::complete::complete;
use crate::cookies::Jar;
pub use crate::embedded_settings::{Embedded, EmbeddedRules, Parser, Parsers, UrlMatch};
use crate::encode;
use crate::exchange::{Next, prepare, settle};
use crate::exchange_context::ExchangeContext;
use crate::failure::Failure;
use crate::file_page;
use crate::limits::RESOURCES_MAX;
use crate::origin::Origin;
use crate::render::{locate, with_entity_of_get};
use crate::session::HttpSession;
use crate::settings::HttpSampler;
use crate::source::Source;
use crate::url_parts;
use crate::wire_request::WireRequest;

/// The number of concurrent downloads if the number in the plan is invalid.
const CONCURRENT_DOWNLOADS: usize = 6;

/// Downloads the resources of the page that is the user's last result, and combines them into one result.
pub(crate) async fn fetch_for_page(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
    keep: Retention,
) {
    let Some(settings) = &sampler.embedded else { return };
    let at_once = match &settings.at_once {
        None => 1,
        Some(number) => number.text(user).trim().parse().unwrap_or(CONCURRENT_DOWNLOADS).max(1),
    };
    let mut seed = request.seed();
    // If JMeter would send a body with a GET request, it also sends it with the requests for resources.
    let with_body = with_entity_of_get(sampler, user, &mut seed).await.is_ok();
    let page = std::mem::take(&mut user.result);
    let fetching = PageFetch {
        sampler,
        settings,
        allow: settings.allow.text(user).into_owned(),
        exclude: settings.exclude.text(user).into_owned(),
        at_once,
        keep,
        clock: user.run.clock.clone(),
        label: page.label.clone(),
        seed: if with_body { seed } else { request.seed() },
        resources_left: Cell::new(RESOURCES_MAX),
        parts: RefCell::new((user, session)),
    };
    let whole = fetching.page(&mut DownloadState::default(), page, 0).await;
    let (user, _) = fetching.parts.into_inner();
    user.result = whole;
}

/// The state of all downloads for one page.
struct PageFetch<'a> {
    sampler: &'a HttpSampler,
    settings: &'a Embedded,
    allow: String,
    exclude: String,
    at_once: usize,
    keep: Retention,
    clock: Clock,
    /// The sampler's name, which JMeter uses for all results until they are numbered.
    label: String,
    /// The headers and body of every request.
    seed: Box<WireRequest>,
    /// The number of resources that may still be downloaded.
    resources_left: Cell<usize>,
    /// The user and session, which the running download borrows.
    parts: RefCell<(&'a mut UserState, &'a mut HttpSession)>,
}

/// The state that each download has separately.
#[derive(Debug, Default, Clone)]
struct DownloadState {
    /// A copy of the cookies, which JMeter makes for concurrent downloads; `None`: the user's cookies.
    jars: Option<Vec<Jar>>,
    /// Whether only the MD5 sums of bodies are retained.
    md5: bool,
}

impl PageFetch<'_> {
    /// Calls `act` with the user and its session. During the call, the user has this result, and the session has the cookies of
    /// `state`.
    fn with<R>(
        &self,
        state: &mut DownloadState,
        result: &mut SampleResult,
        act: impl FnOnce(&mut UserState, &mut HttpSession) -> R,
    ) -> R {
        let mut parts = self.parts.borrow_mut();
        let (user, session) = &mut *parts;
        std::mem::swap(&mut user.result, result);
        if let Some(jars) = &mut state.jars {
            session.swap_jars(jars);
        }
        let value = act(user, session);
        if let Some(jars) = &mut state.jars {
            session.swap_jars(jars);
        }
        std::mem::swap(&mut user.result, result);
        value
    }

    /// Downloads the resources of a page, if it has any, and combines them with it.
    async fn page(&self, state: &mut DownloadState, mut page: SampleResult, depth: u32) -> SampleResult {
        let rules = &self.sampler.shared.embedded;
        if depth > rules.depth_max {
            let mut error = page.clone();
            error.sub_results.clear();
            let why = "Maximum frame/iframe nesting depth exceeded.";
            Failure::new("java.lang.Exception", why).write_to(&mut error, self.keep.body);
            add(&mut page, error);
            return page;
        }
        if busyhour_slices::is_long(page.body.len()) {
            busyhour_slices::begin_slices().await;
        }
        let (urls, too_long) = match content::resources(&rules.parsers, &page, &self.seed.user_agent()) {
            Ok(found) => found,
            Err(failure) => {
                let mut error = page.clone();
                error.sub_results.clear();
                failure.write_to(&mut error, self.keep.body);
                add(&mut page, error);
                self.apply_failure(&mut page, false);
                return page;
            }
        };
        if urls.is_empty() && too_long.is_none() {
            return page;
        }
        let mut whole = page;
        if rules.separate_container {
            let mut inner = whole.clone();
            inner.label = format!("{}-0", whole.label);
            // The result is added without the thread's name, which JMeter adds only near the top level.
            inner.marks.unnamed_thread = true;
            whole.sub_results = vec![inner];
        }
        let wanted = urls.into_iter().map(encode::sanitized).filter(|url| self.is_wanted(url));
        let left = self.resources_left.get();
        let mut urls: Vec<String> = wanted.map(|url| url_parts::normalized(&url)).take(left + 1).collect();
        let too_many = urls.len() > left;
        urls.truncate(left);
        self.resources_left.set(left - urls.len());
        if self.at_once == 1 {
            for url in urls {
                let (result, used) = Box::pin(self.fetch(std::mem::take(state), url, depth + 1)).await;
                *state = used;
                self.add_resource(&mut whole, result);
            }
        } else {
            let separate = self.separate_state(state);
            let fetch = async |url| self.fetch(separate.clone(), url, depth + 1).await;
            let downloads = urls.into_iter().map(fetch).collect();
            for (result, used) in parallel::run_concurrently(self.at_once, downloads).await {
                let received = used.jars.unwrap_or_default();
                self.with(state, &mut SampleResult::default(), |_, session| session.add_cookies(received));
                self.add_resource(&mut whole, result);
            }
        }
        if !whole.outcome.success {
            self.apply_failure(&mut whole, false);
        }
        let too_many = too_many.then(|| {
            let what = "number of embedded resources";
            Failure::constraint(Limit::Resources, what, RESOURCES_MAX as u64)
        });
        if let Some(failure) = too_many.or(too_long) {
            self.limit_page(&mut whole, failure);
        }
        whole
    }

    /// Fails a page because its resources exceed a limit.
    fn limit_page(&self, whole: &mut SampleResult, failure: Failure) {
        if let Some(limit) = failure.limit {
            busyhour_limits::count_exceeded(limit);
        }
        let mut error = SampleResult {
            label: self.label.clone(),
            times: SampleTimes {
                start: whole.times.end,
                intended: whole.times.end,
                end: whole.times.end,
                ..SampleTimes::default()
            },
            url: whole.url.clone(),
            ..SampleResult::default()
        };
        failure.write_to(&mut error, self.keep.body);
        add(whole, error);
        self.apply_failure(whole, false);
    }

    /// The state for a concurrent download.
    fn separate_state(&self, state: &DownloadState) -> DownloadState {
        let jars = state.jars.clone().unwrap_or_else(|| self.parts.borrow().1.jars().to_vec());
        DownloadState { jars: Some(jars), md5: state.md5 || self.sampler.shared.embedded.md5 }
    }

    fn is_wanted(&self, url: &str) -> bool {
        busyhour_slices::tick(1 + url.len() / 16);
        let matches = |pattern: &str, otherwise: bool| {
            if pattern.is_empty() {
                otherwise
            } else {
                (self.settings.matches)(pattern, url).unwrap_or(otherwise)
            }
        };
        matches(&self.allow, true) && !matches(&self.exclude, false)
    }

    /// Downloads one resource with its redirects and, if it is itself a page, its resources. Returns no result if it is
    /// fresh in the cache.
    async fn fetch(
        &self,
        state: DownloadState,
        url: String,
        depth: u32,
    ) -> (Option<SampleResult>, DownloadState) {
        let mut request = self.seed.copy();
        request.url = url;
        let now = self.clock.now();
        let result = SampleResult {
            label: self.label.clone(),
            times: SampleTimes { start: now, intended: now, ..SampleTimes::default() },
            outcome: SampleOutcome { success: true, ..SampleOutcome::default() },
            ..SampleResult::default()
        };
        let mut download = Download { all: self, state, result, depth };
        match download.locate(&mut request) {
            Ok(origin) => {
                let location = download.exchange(&mut request, &origin, self.keep).await;
                complete(&mut download, &mut request, location, self.keep).await;
            }
            Err(failure) => {
                download.result.url.push_str(&request.url);
                download.result.times.end = self.clock.now();
                failure.write_to(&mut download.result, self.keep.body);
            }
        }
        request.recycle();
        let result = (!download.result.marks.ignore).then_some(download.result);
        (result, download.state)
    }

    /// Adds a resource to the result of its page.
    fn add_resource(&self, whole: &mut SampleResult, resource: Option<SampleResult>) {
        let ok = whole.outcome.success && resource.as_ref().is_none_or(|resource| resource.outcome.success);
        if let Some(resource) = resource {
            add(whole, resource);
        }
        if !self.sampler.shared.embedded.ignores_failures {
            whole.outcome.success = ok;
        }
    }

    /// Fails a page if a resource failed, unless the properties disable that.
    fn apply_failure(&self, whole: &mut SampleResult, ok: bool) {
        if self.sampler.shared.embedded.ignores_failures {
            return;
        }
        whole.outcome.success = ok;
        if !ok {
            use std::fmt::Write as _;
            whole.outcome.message = "Embedded resource download error:".into();
            for failed in whole.sub_results.iter().filter(|sub| !sub.outcome.success) {
                let (url, code, message) = (&failed.url, &failed.outcome.code, &failed.outcome.message);
                let _ = write!(whole.outcome.message, "{url} code:{code} message:{message}, ");
            }
        }
    }
}

/// Adds a numbered sub-result and its sizes to a result.
fn add(whole: &mut SampleResult, mut part: SampleResult) {
    part.label = format!("{}-{}", whole.label, whole.sub_results.len());
    whole.times.end = whole.times.end.max(part.times.end);
    whole.sizes += part.sizes;
    part.marks.unnamed_thread = false;
    whole.sub_results.push(part);
}

/// One download.
struct Download<'f, 'a> {
    all: &'f PageFetch<'a>,
    state: DownloadState,
    result: SampleResult,
    depth: u32,
}

impl ExchangeContext for Download<'_, '_> {
    fn sampler(&self) -> &HttpSampler {
        self.all.sampler
    }

    fn now(&self) -> Nanos {
        self.all.clock.now()
    }

    fn result(&mut self) -> &mut SampleResult {
        &mut self.result
    }

    fn locate(&mut self, request: &mut WireRequest) -> Result<Arc<Origin>, Failure> {
        locate(self.all.parts.borrow_mut().1, request, self.all.sampler.client)
    }

    async fn exchange(
        &mut self,
        request: &mut WireRequest,
        origin: &Arc<Origin>,
        keep: Retention,
    ) -> Option<String> {
        let Self { all, state, result, .. } = self;
        let sampler = all.sampler;
        if origin.is_file {
            let encoding = all.with(state, result, |user, _| sampler.encoding.name(user));
            file_page::read(sampler, (request, &encoding), result, &all.clock, keep).await;
            return None;
        }
        if let Some(source) = &sampler.source {
            let name = all.with(state, result, |user, _| source.name(user));
            Source::look_up(name, all.clock.now()).await;
        }
        let mut step =
            all.with(state, result, |user, session| prepare(sampler, user, session, request, origin, keep))?;
        step.transport.md5 |= state.md5;
        loop {
            let outcome = step.transport.transfer(result, request, &mut step.head, &all.clock).await;
            let next =
                all.with(state, result, |user, session| settle(user, session, request, &mut step, outcome));
            if let Next::Done(location) = next {
                return location;
            }
        }
    }

    async fn fetch_resources(&mut self, _request: &mut WireRequest, _keep: Retention) {
        let page = std::mem::take(&mut self.result);
        self.result = Box::pin(self.all.page(&mut self.state, page, self.depth)).await;
    }
}
