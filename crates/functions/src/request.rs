//! The current sampler for scripts: converts the engine's types to those of the script crate, which does not depend on
//! the engine.

use busyhour_program::request as engine;
use busyhour_program::user::RequestAccess;
use busyhour_program::user::UserState;
use busyhour_script::{RequestArgument, RequestCookie, RequestFacts, RequestFile, RequestFlag, RequestText};

use crate::scope::UserScope;

fn text_of(which: RequestText) -> engine::RequestText {
    match which {
        RequestText::Name => engine::RequestText::Name,
        RequestText::Method => engine::RequestText::Method,
        RequestText::Protocol => engine::RequestText::Protocol,
        RequestText::Domain => engine::RequestText::Domain,
        RequestText::Port => engine::RequestText::Port,
        RequestText::Path => engine::RequestText::Path,
        RequestText::ContentEncoding => engine::RequestText::ContentEncoding,
        RequestText::ConnectTimeout => engine::RequestText::ConnectTimeout,
        RequestText::ResponseTimeout => engine::RequestText::ResponseTimeout,
    }
}

fn flag_of(which: RequestFlag) -> engine::RequestFlag {
    match which {
        RequestFlag::RawBody => engine::RequestFlag::RawBody,
        RequestFlag::KeepAlive => engine::RequestFlag::KeepAlive,
        RequestFlag::FollowRedirects => engine::RequestFlag::FollowRedirects,
        RequestFlag::AutoRedirects => engine::RequestFlag::AutoRedirects,
        RequestFlag::Multipart => engine::RequestFlag::Multipart,
    }
}

impl UserScope<'_> {
    /// Calls a function with the request, which is moved out of the user meanwhile.
    fn with_request<T: Default>(
        &mut self,
        work: impl FnOnce(&mut dyn RequestAccess, &mut UserState) -> T,
    ) -> T {
        let Some(mut request) = self.user.request.take() else { return T::default() };
        let value = work(&mut *request, self.user);
        self.user.request = Some(request);
        value
    }
}

impl RequestFacts for UserScope<'_> {
    fn text(&mut self, which: RequestText) -> String {
        self.with_request(|request, user| request.text(user, text_of(which)))
    }

    fn set_text(&mut self, which: RequestText, text: &str) -> bool {
        self.with_request(|request, user| request.set_text(user, text_of(which), text))
    }

    fn flag(&mut self, which: RequestFlag) -> bool {
        self.with_request(|request, _| request.flag(flag_of(which)))
    }

    fn set_flag(&mut self, which: RequestFlag, on: bool) {
        self.with_request(|request, _| request.set_flag(flag_of(which), on));
    }

    fn arguments(&mut self) -> Vec<RequestArgument> {
        let of = |argument: engine::RequestArgument| RequestArgument {
            name: argument.name,
            value: argument.value,
            encode: argument.encode,
            use_equals: argument.use_equals,
            content_type: argument.content_type,
        };
        self.with_request(|request, user| request.arguments(user).into_iter().map(of).collect())
    }

    fn set_arguments(&mut self, arguments: Vec<RequestArgument>) {
        let of = |argument: RequestArgument| engine::RequestArgument {
            name: argument.name,
            value: argument.value,
            encode: argument.encode,
            use_equals: argument.use_equals,
            content_type: argument.content_type,
        };
        let arguments = arguments.into_iter().map(of).collect();
        self.with_request(|request, _| request.set_arguments(arguments));
    }

    fn remove_arguments(&mut self, places: &[usize]) {
        self.with_request(|request, user| request.remove_arguments(user, places));
    }

    fn headers(&mut self) -> Option<Vec<(String, String)>> {
        self.with_request(|request, user| request.headers(user))
    }

    fn set_headers(&mut self, headers: Vec<(String, String)>) {
        self.with_request(|request, user| request.set_headers(user, headers));
    }

    fn set_header_manager(&mut self, headers: Vec<(String, String)>) {
        self.with_request(|request, user| request.set_header_manager(user, headers));
    }

    fn files(&mut self) -> Vec<RequestFile> {
        let of = |file: engine::RequestFile| RequestFile {
            path: file.path,
            parameter: file.parameter,
            mime: file.mime,
        };
        self.with_request(|request, user| request.files(user).into_iter().map(of).collect())
    }

    fn set_files(&mut self, files: Vec<RequestFile>) {
        let of = |file: RequestFile| engine::RequestFile {
            path: file.path,
            parameter: file.parameter,
            mime: file.mime,
        };
        let files = files.into_iter().map(of).collect();
        self.with_request(|request, _| request.set_files(files));
    }

    fn cookies(&mut self) -> Option<Vec<RequestCookie>> {
        let of = |cookie: engine::RequestCookie| RequestCookie {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            secure: cookie.secure,
            expires_ms: cookie.expires_ms,
            domain_specified: cookie.domain_specified,
            path_specified: cookie.path_specified,
            version: cookie.version,
        };
        let cookies = self.with_request(|request, user| request.cookies(user));
        cookies.map(|cookies| cookies.into_iter().map(of).collect())
    }

    fn clear_cookies(&mut self) {
        self.with_request(|request, user| request.clear_cookies(user));
    }

    fn set_cookies(&mut self, cookies: Vec<RequestCookie>) {
        let of = |cookie: RequestCookie| engine::RequestCookie {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            secure: cookie.secure,
            expires_ms: cookie.expires_ms,
            domain_specified: cookie.domain_specified,
            path_specified: cookie.path_specified,
            version: cookie.version,
        };
        let cookies = cookies.into_iter().map(of).collect();
        self.with_request(|request, user| request.set_cookies(user, cookies));
    }
}
