//! Embedded resources: what a page has a browser fetch, each a sample within the page's sample.

mod addresses;
mod conditional;
mod content;
mod css;
mod html;
mod parallel;
pub(crate) mod rules;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::user::UserState;
use busyhour_record::{Nanos, SampleTimes};
pub use content::{Parser, Parsers};
pub use rules::{Embedded, EmbeddedRules, UrlMatch};

use crate::complete::complete;
use crate::cookies::Jar;
use crate::encode;
use crate::exchange::{Next, prepare, settle};
use crate::failure::Failure;
use crate::file_page;
use crate::limits::RESOURCES_MAX;
use crate::origin::Origin;
use crate::render::{locate, with_entity_of_get};
use crate::session::HttpSession;
use crate::settings::HttpSampler;
use crate::source::Source;
use crate::url_parts;
use crate::visit::Visit;
use crate::wire_request::WireRequest;

/// Concurrent downloads if the number in the plan is invalid.
const AT_ONCE: usize = 6;

/// Puts the page that is the user's last result and its resources into one result.
pub(crate) async fn of_page(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
    keep: Retention,
) {
    let Some(settings) = &sampler.embedded else { return };
    let at_once = match &settings.at_once {
        None => 1,
        Some(number) => number.text(user).trim().parse().unwrap_or(AT_ONCE).max(1),
    };
    let mut seed = request.seed();
    // Where JMeter would send a body with a GET, it does so with those for resources, too.
    let with_body = with_entity_of_get(sampler, user, &mut seed).await.is_ok();
    let page = std::mem::take(&mut user.result);
    let fetching = Fetching {
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
    let whole = fetching.page(&mut Lane::default(), page, 0).await;
    let (user, _) = fetching.parts.into_inner();
    user.result = whole;
}

/// All that is fetched for one page.
struct Fetching<'a> {
    sampler: &'a HttpSampler,
    settings: &'a Embedded,
    allow: String,
    exclude: String,
    at_once: usize,
    keep: Retention,
    clock: Clock,
    /// The sampler's name; JMeter names all that is in it so, until it is numbered.
    label: String,
    /// Headers and body of every request.
    seed: Box<WireRequest>,
    /// Resources that may still be fetched.
    resources_left: Cell<usize>,
    /// Passed to the download that is not waiting for a server.
    parts: RefCell<(&'a mut UserState, &'a mut HttpSession)>,
}

/// What one of several downloads has for itself.
#[derive(Debug, Default, Clone)]
struct Lane {
    /// A copy of the cookies, as JMeter makes for concurrent downloads; `None`: the user's cookies.
    jars: Option<Vec<Jar>>,
    /// Only the sums of bodies are kept.
    md5: bool,
}

impl Fetching<'_> {
    /// Works on the user and its session with this result and these cookies.
    fn with<R>(
        &self,
        lane: &mut Lane,
        result: &mut SampleResult,
        act: impl FnOnce(&mut UserState, &mut HttpSession) -> R,
    ) -> R {
        let mut parts = self.parts.borrow_mut();
        let (user, session) = &mut *parts;
        std::mem::swap(&mut user.result, result);
        if let Some(jars) = &mut lane.jars {
            session.swap_jars(jars);
        }
        let done = act(user, session);
        if let Some(jars) = &mut lane.jars {
            session.swap_jars(jars);
        }
        std::mem::swap(&mut user.result, result);
        done
    }

    /// A page with its resources, if it has any.
    async fn page(&self, lane: &mut Lane, mut page: SampleResult, depth: u32) -> SampleResult {
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
        let (urls, too_long) = match rules.parsers.resources(&page, &self.seed.user_agent()) {
            Ok(found) => found,
            Err(failure) => {
                let mut error = page.clone();
                error.sub_results.clear();
                failure.write_to(&mut error, self.keep.body);
                add(&mut page, error);
                self.judge(&mut page, false);
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
            // It is put in without the thread's name, which JMeter adds only near the top.
            inner.unnamed_thread = true;
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
                let (result, used) = Box::pin(self.fetch(std::mem::take(lane), url, depth + 1)).await;
                *lane = used;
                self.take(&mut whole, result);
            }
        } else {
            let own = self.separate_lane(lane);
            let fetch = async |url| self.fetch(own.clone(), url, depth + 1).await;
            let downloads = urls.into_iter().map(fetch).collect();
            for (result, used) in parallel::at_once(self.at_once, downloads).await {
                let received = used.jars.unwrap_or_default();
                self.with(lane, &mut SampleResult::default(), |_, session| session.add_cookies(received));
                self.take(&mut whole, result);
            }
        }
        if !whole.success {
            self.judge(&mut whole, false);
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

    /// A page fails because its resources exceed a limit.
    fn limit_page(&self, whole: &mut SampleResult, failure: Failure) {
        if let Some(limit) = failure.limit {
            busyhour_limits::exceeded(limit);
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
        self.judge(whole, false);
    }

    /// The lane of a concurrent download.
    fn separate_lane(&self, lane: &Lane) -> Lane {
        let jars = lane.jars.clone().unwrap_or_else(|| self.parts.borrow().1.jars().to_vec());
        Lane { jars: Some(jars), md5: lane.md5 || self.sampler.shared.embedded.md5 }
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

    /// One resource with its redirects and, if it is a page itself, its resources. `None`: the cache has it.
    async fn fetch(&self, lane: Lane, url: String, depth: u32) -> (Option<SampleResult>, Lane) {
        let mut request = self.seed.copy();
        request.url = url;
        let now = self.clock.now();
        let result = SampleResult {
            label: self.label.clone(),
            times: SampleTimes { start: now, intended: now, ..SampleTimes::default() },
            success: true,
            ..SampleResult::default()
        };
        let mut download = Download { all: self, lane, result, depth };
        match download.locate(&mut request) {
            Ok(origin) => {
                let location = download.one(&mut request, &origin, self.keep).await;
                complete(&mut download, &mut request, location, self.keep).await;
            }
            Err(failure) => {
                download.result.url.push_str(&request.url);
                download.result.times.end = self.clock.now();
                failure.write_to(&mut download.result, self.keep.body);
            }
        }
        request.give_back();
        let result = (!download.result.ignore).then_some(download.result);
        (result, download.lane)
    }

    /// Takes a resource into the result of its page.
    fn take(&self, whole: &mut SampleResult, resource: Option<SampleResult>) {
        let ok = whole.success && resource.as_ref().is_none_or(|resource| resource.success);
        if let Some(resource) = resource {
            add(whole, resource);
        }
        if !self.sampler.shared.embedded.ignores_failures {
            whole.success = ok;
        }
    }

    /// A page fails with its resources, unless the properties disable that.
    fn judge(&self, whole: &mut SampleResult, ok: bool) {
        if self.sampler.shared.embedded.ignores_failures {
            return;
        }
        whole.success = ok;
        if !ok {
            use std::fmt::Write as _;
            whole.message = "Embedded resource download error:".into();
            for failed in whole.sub_results.iter().filter(|sub| !sub.success) {
                let (url, code, message) = (&failed.url, &failed.code, &failed.message);
                let _ = write!(whole.message, "{url} code:{code} message:{message}, ");
            }
        }
    }
}

/// Numbers a result among those inside another and adds it up there.
fn add(whole: &mut SampleResult, mut part: SampleResult) {
    part.label = format!("{}-{}", whole.label, whole.sub_results.len());
    whole.times.end = whole.times.end.max(part.times.end);
    whole.header_bytes += part.header_bytes;
    whole.body_bytes += part.body_bytes;
    whole.sent_bytes += part.sent_bytes;
    part.unnamed_thread = false;
    whole.sub_results.push(part);
}

/// One download among others.
struct Download<'f, 'a> {
    all: &'f Fetching<'a>,
    lane: Lane,
    result: SampleResult,
    depth: u32,
}

impl Visit for Download<'_, '_> {
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

    async fn one(
        &mut self,
        request: &mut WireRequest,
        origin: &Arc<Origin>,
        keep: Retention,
    ) -> Option<String> {
        let Self { all, lane, result, .. } = self;
        let sampler = all.sampler;
        if origin.is_file {
            let encoding = all.with(lane, result, |user, _| sampler.encoding.name(user));
            file_page::read(sampler, (request, &encoding), result, &all.clock, keep).await;
            return None;
        }
        if let Some(source) = &sampler.source {
            let name = all.with(lane, result, |user, _| source.name(user));
            Source::look_up(name, all.clock.now()).await;
        }
        let mut step =
            all.with(lane, result, |user, session| prepare(sampler, user, session, request, origin, keep))?;
        step.line.md5 |= lane.md5;
        loop {
            let outcome = step.line.transfer(result, request, &mut step.head, &all.clock).await;
            let next =
                all.with(lane, result, |user, session| settle(user, session, request, &mut step, outcome));
            if let Next::Done(location) = next {
                return location;
            }
        }
    }

    async fn fetch_resources(&mut self, _request: &mut WireRequest, _keep: Retention) {
        let page = std::mem::take(&mut self.result);
        self.result = Box::pin(self.all.page(&mut self.lane, page, self.depth)).await;
    }
}
