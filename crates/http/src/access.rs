//! Access of scripts to an HTTP sampler and its cookies.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use busyhour_program::element::Processor;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_request::{
    RequestAccess, RequestArgument, RequestCookie, RequestFile, RequestFlag, RequestText, ScriptableSampler,
};

use crate::charset::{Charset, ContentEncoding};
use crate::cookies::Jar;
use crate::encode;
use crate::session::HttpSession;
use crate::settings::{Argument, FileArgument, Header, HeaderManagers, HttpSampler, Redirects};

/// The first pre-processor of a sampler that is accessed by scripts. It makes the request accessible to them.
#[derive(Debug)]
pub struct ScriptAccess {
    sampler: Arc<HttpSampler>,
    name: Template,
    state: StateId,
}

/// The arguments of a sampler that remain after a script has removed some; `None` for all.
type RemainingArguments = Option<Box<[Argument]>>;

impl ScriptAccess {
    /// Creates the pre-processor for this sampler, whose label is `name`; `state` stores the remaining arguments of
    /// each user.
    #[must_use]
    pub fn new(sampler: &HttpSampler, name: Template, state: StateId) -> ScriptAccess {
        ScriptAccess { sampler: Arc::new(sampler.clone()), name, state }
    }
}

impl Processor for ScriptAccess {
    fn process(&self, user: &mut UserState) {
        let mut access = Access {
            plan: Arc::clone(&self.sampler),
            sampler: Arc::clone(&self.sampler),
            name: self.name.clone(),
            state: self.state,
            is_changed: false,
            is_renamed: false,
            has_own_headers: false,
        };
        if let Some(headers) = headers_of_scripts(&self.sampler, user) {
            access.sampler_mut().headers = headers;
        }
        if let Some(left) =
            user.existing_state::<RemainingArguments>(self.state).and_then(|left| left.clone())
        {
            access.sampler_mut().arguments = left;
        }
        busyhour_request::give_script_access(user, Box::new(access));
        if let Some(session_data) =
            user.script_session.as_mut().and_then(|session_data| session_data.downcast_mut::<ScriptData>())
        {
            for jar in session_data.jars.iter_mut().filter(|jar| jar.clears_each_sample()) {
                jar.begin_sample();
                session_data.is_changed = true;
            }
        }
    }
}

/// The sampler with the changes of the scripts so far.
#[derive(Debug)]
struct Access {
    /// The sampler of the plan.
    plan: Arc<HttpSampler>,
    sampler: Arc<HttpSampler>,
    name: Template,
    state: StateId,
    is_changed: bool,
    is_renamed: bool,
    /// Whether a script has set another header manager for the sampler.
    has_own_headers: bool,
}

/// The sampler and the label as changed by scripts; `None` for those that are unchanged.
pub(crate) fn changed(user: &UserState) -> (Option<Arc<HttpSampler>>, Option<Template>) {
    let Some(access) = busyhour_request::accessed_sampler::<Access>(user) else { return (None, None) };
    (access.is_changed.then(|| Arc::clone(&access.sampler)), access.is_renamed.then(|| access.name.clone()))
}

/// Data that scripts can access between samples: the cookies of the session, and the headers of managers.
#[derive(Debug, Default)]
struct ScriptData {
    jars: Vec<Jar>,
    is_changed: bool,
    /// Headers of managers that scripts have changed, by the manager's number.
    headers: Vec<(u32, Box<[Header]>)>,
}

/// The headers of the sampler's manager as changed by scripts; `None` if no script changed them.
pub(crate) fn headers_of_scripts(sampler: &HttpSampler, user: &UserState) -> Option<Box<[Header]>> {
    if !sampler.shared.scripts_change_headers.load(Ordering::Relaxed) {
        return None;
    }
    let HeaderManagers::One(manager) = sampler.header_managers else { return None };
    let session_data = user.script_session.as_ref()?.downcast_ref::<ScriptData>()?;
    session_data.headers.iter().find(|(known, _)| *known == manager).map(|(_, headers)| headers.clone())
}

/// Copies the cookies that scripts have changed back to the session.
pub(crate) fn apply_cookies_of_scripts(session: &mut HttpSession, user: &mut UserState) {
    let session_data =
        user.script_session.as_mut().and_then(|session_data| session_data.downcast_mut::<ScriptData>());
    if let Some(session_data) = session_data.filter(|session_data| session_data.is_changed) {
        session.swap_jars(&mut session_data.jars);
        session_data.is_changed = false;
    }
}

/// Starts a sample whose request is not accessed by scripts.
pub(crate) fn begin_sample(session: &mut HttpSession) {
    for jar in session.jars_mut() {
        jar.begin_sample();
    }
}

/// Copies the cookies of the session to the data that scripts can access.
pub(crate) fn show_cookies_to_scripts(session: &HttpSession, user: &mut UserState) {
    let headers = user
        .script_session
        .take()
        .and_then(|session_data| session_data.downcast::<ScriptData>().ok())
        .map(|session_data| session_data.headers);
    let headers = headers.unwrap_or_default();
    user.script_session =
        Some(Box::new(ScriptData { jars: session.jars().to_vec(), is_changed: false, headers }));
}

impl Access {
    fn sampler_mut(&mut self) -> &mut HttpSampler {
        self.is_changed = true;
        Arc::make_mut(&mut self.sampler)
    }

    fn template(&self, which: RequestText) -> Option<&Template> {
        let sampler = &self.sampler;
        Some(match which {
            RequestText::Name => &self.name,
            RequestText::Method => &sampler.method,
            RequestText::Protocol => &sampler.protocol,
            RequestText::Domain => &sampler.domain,
            RequestText::Port => &sampler.port,
            RequestText::Path => &sampler.path,
            RequestText::ConnectTimeout => &sampler.connect_timeout,
            RequestText::ResponseTimeout => &sampler.response_timeout,
            RequestText::ContentEncoding => return None,
        })
    }

    /// Calls `work` with the copy of the sampler's cookies that scripts can access.
    fn with_jar<T>(&self, user: &mut UserState, work: impl FnOnce(&mut Jar) -> T) -> Option<T> {
        let manager = self.sampler.cookies.as_ref()?;
        let mut session_data =
            match user.script_session.take().map(|session_data| session_data.downcast::<ScriptData>()) {
                Some(Ok(session_data)) => session_data,
                _ => Box::default(),
            };
        let at = match session_data.jars.iter().position(|jar| Arc::ptr_eq(&jar.manager, manager)) {
            Some(at) => at,
            None => {
                session_data.jars.push(Jar::new(manager, user));
                session_data.jars.len() - 1
            }
        };
        let value = work(&mut session_data.jars[at]);
        session_data.is_changed = true;
        user.script_session = Some(session_data);
        Some(value)
    }

    /// Converts texts to headers; unchanged headers keep their templates.
    fn headers_of(&mut self, user: &mut UserState, given: Vec<(String, String)>) -> Box<[Header]> {
        let mut known: Vec<Option<Header>> = self.sampler.headers.iter().cloned().map(Some).collect();
        let mut take = |name: &str, value: &str| {
            let is_same = |header: &Header, user: &mut UserState| {
                header.name.text(user) == name && header.value.text(user) == value
            };
            let at = (0..known.len())
                .find(|at| known[*at].as_ref().is_some_and(|header| is_same(header, user)))?;
            known[at].take()
        };
        let new_header = |name: &str, value: &str| Header {
            name: Template::literal(name),
            value: Template::literal(value),
        };
        given
            .iter()
            .map(|(name, value)| take(name, value).unwrap_or_else(|| new_header(name, value)))
            .collect()
    }

    /// Sets the path. As in JMeter, the query in the path of a GET becomes arguments.
    fn set_path(&mut self, user: &mut UserState, path: &str) {
        let method = self.sampler.method.text(user).into_owned();
        let is_url = path.starts_with("http://") || path.starts_with("https://");
        let query =
            if is_url || !matches!(method.as_str(), "GET" | "DELETE") { None } else { path.split_once('?') };
        let Some((path, query)) = query else {
            self.sampler_mut().path = Template::literal(path);
            return;
        };
        let decoded = |text: &str| encode::form_decode(text).unwrap_or_else(|| text.to_owned());
        let mut arguments = self.sampler.arguments.to_vec();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if name.is_empty() {
                continue;
            }
            arguments.push(Argument {
                name: Template::literal(&decoded(name)),
                value: Template::literal(&decoded(value)),
                encode: true,
                use_equals: pair.contains('='),
                content_type: Template::default(),
            });
        }
        let own = self.sampler_mut();
        own.path = Template::literal(path);
        own.arguments = arguments.into();
    }
}

impl ScriptableSampler for Access {
    fn request<'a>(&'a mut self, user: &'a mut UserState) -> Box<dyn RequestAccess + 'a> {
        Box::new(ScriptedRequest { access: self, user })
    }
}

/// The request of the sampler for this user.
struct ScriptedRequest<'a> {
    access: &'a mut Access,
    user: &'a mut UserState,
}

impl RequestAccess for ScriptedRequest<'_> {
    fn text(&mut self, which: RequestText) -> String {
        match self.access.template(which) {
            Some(template) => {
                let text = template.text(self.user).into_owned();
                if which == RequestText::Protocol && text.is_empty() { "http".to_owned() } else { text }
            }
            None => self.access.sampler.encoding.name(self.user),
        }
    }

    fn set_text(&mut self, which: RequestText, text: &str) -> bool {
        let literal = Template::literal(text);
        match which {
            RequestText::Name => {
                self.access.name = literal;
                self.access.is_renamed = true;
            }
            RequestText::Path => self.access.set_path(self.user, text),
            RequestText::ContentEncoding => match Charset::named(text) {
                Some(charset) => self.access.sampler_mut().encoding = ContentEncoding::Known(charset),
                None => return false,
            },
            RequestText::Method => self.access.sampler_mut().method = literal,
            RequestText::Protocol => self.access.sampler_mut().protocol = literal,
            RequestText::Domain => self.access.sampler_mut().domain = literal,
            RequestText::Port => self.access.sampler_mut().port = literal,
            RequestText::ConnectTimeout => self.access.sampler_mut().connect_timeout = literal,
            RequestText::ResponseTimeout => self.access.sampler_mut().response_timeout = literal,
        }
        true
    }

    fn flag(&mut self, which: RequestFlag) -> bool {
        let sampler = &self.access.sampler;
        match which {
            RequestFlag::RawBody => sampler.raw_body,
            RequestFlag::KeepAlive => sampler.keep_alive,
            RequestFlag::FollowRedirects => sampler.redirects == Redirects::Follow,
            RequestFlag::AutoRedirects => sampler.redirects == Redirects::Auto,
            RequestFlag::Multipart => sampler.multipart,
        }
    }

    fn set_flag(&mut self, which: RequestFlag, on: bool) {
        let redirects = self.access.sampler.redirects;
        let own = self.access.sampler_mut();
        match which {
            RequestFlag::RawBody => own.raw_body = on,
            RequestFlag::KeepAlive => own.keep_alive = on,
            RequestFlag::Multipart => own.multipart = on,
            RequestFlag::FollowRedirects if on && redirects != Redirects::Auto => {
                own.redirects = Redirects::Follow
            }
            RequestFlag::FollowRedirects if redirects == Redirects::Follow => own.redirects = Redirects::None,
            RequestFlag::AutoRedirects if on => own.redirects = Redirects::Auto,
            RequestFlag::AutoRedirects if redirects == Redirects::Auto => own.redirects = Redirects::None,
            RequestFlag::FollowRedirects | RequestFlag::AutoRedirects => {}
        }
    }

    fn arguments(&mut self) -> Vec<RequestArgument> {
        let of = |argument: &Argument| RequestArgument {
            name: argument.name.text(self.user).into_owned(),
            value: argument.value.text(self.user).into_owned(),
            encode: argument.encode,
            use_equals: argument.use_equals,
            content_type: argument.content_type.text(self.user).into_owned(),
        };
        self.access.sampler.arguments.iter().map(of).collect()
    }

    fn set_arguments(&mut self, arguments: Vec<RequestArgument>) {
        let of = |argument: RequestArgument| Argument {
            name: Template::literal(&argument.name),
            value: Template::literal(&argument.value),
            encode: argument.encode,
            use_equals: argument.use_equals,
            content_type: Template::literal(&argument.content_type),
        };
        self.access.sampler_mut().arguments = arguments.into_iter().map(of).collect();
    }

    fn remove_arguments(&mut self, places: &[usize]) {
        let without = |arguments: &[Argument]| -> Box<[Argument]> {
            let remaining = arguments.iter().enumerate().filter(|(at, _)| !places.contains(at));
            remaining.map(|(_, argument)| argument.clone()).collect()
        };
        let left = self.user.state::<RemainingArguments>(self.access.state, || None);
        let before = left.take().unwrap_or_else(|| self.access.plan.arguments.clone());
        *left = Some(without(&before));
        let now = without(&self.access.sampler.arguments);
        self.access.sampler_mut().arguments = now;
    }

    fn headers(&mut self) -> Option<Vec<(String, String)>> {
        if self.access.sampler.header_managers == HeaderManagers::None && !self.access.has_own_headers {
            return None;
        }
        let headers = self.access.sampler.headers.iter();
        let text = |header: &Header| {
            (header.name.text(self.user).into_owned(), header.value.text(self.user).into_owned())
        };
        Some(headers.map(text).collect())
    }

    fn set_headers(&mut self, headers: Vec<(String, String)>) {
        let headers = self.access.headers_of(self.user, headers);
        if let (HeaderManagers::One(manager), false) =
            (self.access.sampler.header_managers, self.access.has_own_headers)
        {
            self.access.sampler.shared.scripts_change_headers.store(true, Ordering::Relaxed);
            let session_data = self
                .user
                .script_session
                .take()
                .and_then(|session_data| session_data.downcast::<ScriptData>().ok());
            let mut session_data = session_data.unwrap_or_default();
            session_data.headers.retain(|(known, _)| *known != manager);
            session_data.headers.push((manager, headers.clone()));
            self.user.script_session = Some(session_data);
        }
        self.access.sampler_mut().headers = headers;
    }

    fn merge_headers(&mut self, headers: Vec<(String, String)>) {
        let mut all = self.headers().unwrap_or_default();
        let merges = !all.is_empty();
        for (name, value) in headers {
            if !merges || !all.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                all.push((name, value));
            }
        }
        self.access.has_own_headers = true;
        let all = self.access.headers_of(self.user, all);
        self.access.sampler_mut().headers = all;
    }

    fn files(&mut self) -> Vec<RequestFile> {
        let of = |file: &FileArgument| RequestFile {
            path: file.path.text(self.user).into_owned(),
            parameter: file.parameter.text(self.user).into_owned(),
            mime: file.mime.text(self.user).into_owned(),
        };
        self.access.sampler.files.iter().map(of).collect()
    }

    fn set_files(&mut self, files: Vec<RequestFile>) {
        let of = |file: RequestFile| FileArgument {
            path: Template::literal(&file.path),
            parameter: Template::literal(&file.parameter),
            mime: Template::literal(&file.mime),
        };
        self.access.sampler_mut().files = files.into_iter().map(of).collect();
    }

    fn cookies(&mut self) -> Option<Vec<RequestCookie>> {
        self.access.with_jar(self.user, |jar| jar.cookies())
    }

    fn clear_cookies(&mut self) {
        self.access.with_jar(self.user, Jar::clear);
    }

    fn set_cookies(&mut self, cookies: Vec<RequestCookie>) {
        self.access.with_jar(self.user, |jar| jar.set_cookies(cookies));
    }
}
