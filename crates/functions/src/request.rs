//! Access to the current sampler for scripts: implements [`RequestFacts`] with [`RequestAccess`].

use busyhour_program::user::{RequestAccess, UserState};
use busyhour_script::{RequestArgument, RequestCookie, RequestFacts, RequestFile, RequestFlag, RequestText};

use crate::scope::UserScope;

impl UserScope<'_> {
    /// Calls `work` with the request, which is moved out of the user during the call.
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
        self.with_request(|request, user| request.text(user, which))
    }

    fn set_text(&mut self, which: RequestText, text: &str) -> bool {
        self.with_request(|request, user| request.set_text(user, which, text))
    }

    fn flag(&mut self, which: RequestFlag) -> bool {
        self.with_request(|request, _| request.flag(which))
    }

    fn set_flag(&mut self, which: RequestFlag, on: bool) {
        self.with_request(|request, _| request.set_flag(which, on));
    }

    fn arguments(&mut self) -> Vec<RequestArgument> {
        self.with_request(|request, user| request.arguments(user))
    }

    fn set_arguments(&mut self, arguments: Vec<RequestArgument>) {
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
        self.with_request(|request, user| request.files(user))
    }

    fn set_files(&mut self, files: Vec<RequestFile>) {
        self.with_request(|request, _| request.set_files(files));
    }

    fn cookies(&mut self) -> Option<Vec<RequestCookie>> {
        self.with_request(|request, user| request.cookies(user))
    }

    fn clear_cookies(&mut self) {
        self.with_request(|request, user| request.clear_cookies(user));
    }

    fn set_cookies(&mut self, cookies: Vec<RequestCookie>) {
        self.with_request(|request, user| request.set_cookies(user, cookies));
    }
}
