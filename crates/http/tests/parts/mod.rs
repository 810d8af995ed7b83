//! Cookies of a user that has no connection.

use std::collections::HashMap;
use std::sync::Arc;

use busyhour_http::cookies::{CookieManager, CookiePolicy, Jar};
use busyhour_http::origin::Origin;
use busyhour_program::clock::Clock;
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;

const NOW_MS: i64 = 1_700_000_000_000;

/// The cookies of one policy.
pub struct TestJar {
    jar: Jar,
    origin: Arc<Origin>,
}

/// The jars of a user, one for each policy.
pub struct Jars {
    pub standard: TestJar,
    pub rfc2109: TestJar,
}

impl Default for Jars {
    fn default() -> Self {
        let (properties, names) =
            (Arc::new(JmeterProperties::new(HashMap::new())), Arc::new(Names::default()));
        let group = GroupShared::new("Thread Group".into(), 1, Vec::new());
        let run = RunShared::new(
            1,
            Clock::manual(NOW_MS as u64),
            properties,
            names,
            vec![group],
            0,
            Box::new(|_, _| {}),
        );
        let mut user = UserState::new(Arc::new(run), None, 0, 0);
        let mut jar = |policy| {
            let manager = Arc::new(CookieManager { policy, check: true, ..CookieManager::default() });
            TestJar { jar: Jar::new(&manager, &mut user), origin: Origin::new(false, "h", None) }
        };
        Self { standard: jar(CookiePolicy::Standard), rfc2109: jar(CookiePolicy::Rfc2109) }
    }
}

impl TestJar {
    /// Receives a `Set-Cookie` header; returns whether it is valid.
    pub fn receive(&mut self, header: &str) -> bool {
        self.jar.receive(header, &self.origin, "/", NOW_MS).is_ok()
    }

    /// The number of cookies in a request.
    pub fn count(&self) -> usize {
        let mut header = Vec::new();
        self.jar.write(&self.origin, "/", NOW_MS, &mut header);
        let text = String::from_utf8_lossy(&header);
        text.split("; ").filter(|cookie| !cookie.is_empty() && !cookie.starts_with('$')).count()
    }
}
