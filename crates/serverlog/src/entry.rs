//! A request in an access log.

/// The instant that the stamp of a line marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StampKind {
    /// The server received the request.
    Start,
    /// The server sent the response.
    End,
    /// Unknown: some instant between the two.
    #[default]
    Between,
}

/// A request as the log of a server describes it. Texts are reduced to keys, so that millions of requests fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The stamp in ns since 1970, rounded down to a tick.
    pub stamp_ns: i64,
    /// The resolution of the stamp in ns.
    pub tick_ns: u64,
    /// The instant that the stamp marks.
    pub kind: StampKind,
    /// How long the server worked on the request, in ns; `None` if the log does not contain it.
    pub duration_ns: Option<u64>,
    /// The resolution of the duration in ns; 0 without a duration.
    pub duration_tick_ns: u64,
    /// Key of the path and the query; see [`crate::target_key`].
    pub target: u64,
    /// Key of the path without the query.
    pub path: u64,
    /// Status of the response; 0 if the log does not contain it.
    pub status: u16,
    /// Key of the client's address; 0 if the log does not contain it.
    pub client: u64,
    /// Key of the request's identifier; 0 if the log does not contain it.
    pub id: u64,
}

impl LoggedRequest {
    /// When the server sent the response, in ns since 1970, rounded down; the stamp if it cannot be known.
    #[must_use]
    pub fn end_ns(&self) -> i64 {
        match (self.kind, self.duration_ns) {
            (StampKind::Start, Some(duration_ns)) => self.stamp_ns.saturating_add_unsigned(duration_ns),
            _ => self.stamp_ns,
        }
    }

    /// When the server received the request, in ns since 1970, rounded down; `None` if the log does not contain it.
    #[must_use]
    pub fn start_ns(&self) -> Option<i64> {
        match (self.kind, self.duration_ns) {
            (StampKind::Start, _) => Some(self.stamp_ns),
            (StampKind::End, Some(duration_ns)) => {
                let duration_ns = duration_ns.saturating_add(self.duration_tick_ns);
                Some(self.stamp_ns.saturating_sub_unsigned(duration_ns))
            }
            (StampKind::End | StampKind::Between, _) => None,
        }
    }

    /// The resolution of [`Self::start_ns`] in ns.
    #[must_use]
    pub fn start_tick_ns(&self) -> u64 {
        match self.kind {
            StampKind::Start => self.tick_ns,
            StampKind::End | StampKind::Between => self.tick_ns.saturating_add(self.duration_tick_ns),
        }
    }

    /// The resolution of [`Self::end_ns`] in ns.
    #[must_use]
    pub fn end_tick_ns(&self) -> u64 {
        match (self.kind, self.duration_ns) {
            (StampKind::Start, Some(_)) => self.tick_ns.saturating_add(self.duration_tick_ns),
            _ => self.tick_ns,
        }
    }
}
