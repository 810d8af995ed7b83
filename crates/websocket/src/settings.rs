//! Settings of a WebSocket sampler.

use std::sync::Arc;

use busyhour_http::cookies::CookieManager;
use busyhour_http::{Header, SharedHttp};
use busyhour_program::template::Template;

use crate::filter::FrameFilter;

/// Where a sampler connects to.
#[derive(Debug)]
pub struct Target {
    /// `TLS`
    pub secure: Template,
    /// `server`
    pub server: Template,
    /// `port`; not there: 80.
    pub port: Template,
    /// `path`
    pub path: Template,
}

/// What a sampler sends.
#[derive(Debug)]
pub struct Data {
    /// `payloadType`: `Text`, `TextStomp` or `Binary`; empty: `binary` decides.
    pub kind: Template,
    /// `binaryPayload`, of old plans.
    pub binary: Template,
    /// `requestData`
    pub text: Template,
    /// `loadDataFromFile`
    pub from_file: Template,
    /// `dataFile`
    pub file: Template,
}

/// Which of the samplers it is.
#[derive(Debug)]
pub enum Action {
    /// WebSocket Open Connection.
    Open,
    /// WebSocket request-response Sampler.
    RequestResponse(Data),
    /// WebSocket Single Read Sampler.
    Read {
        /// `dataType`: `Text`, `Binary` or `Any`; empty: `binary` decides.
        data_type: Template,
        /// `binaryPayload`, of old plans.
        binary: Template,
        /// `optional`: nothing may come.
        optional: Template,
    },
    /// WebSocket Single Write Sampler.
    Write(Data),
    /// WebSocket Ping/Pong: `type` is `PingPong` or `Pong`.
    PingPong(Template),
    /// WebSocket Close, with a `statusCode`.
    Close(Template),
}

/// A WebSocket sampler with what is in its scope.
#[derive(Debug)]
pub struct WebSocketSampler {
    /// Which.
    pub action: Action,
    /// Where to; samplers that never connect ignore it.
    pub target: Target,
    /// `createNewConnection`
    pub fresh: Template,
    /// `connectTimeout`, milliseconds; not there: 20000.
    pub connect_timeout: Template,
    /// `readTimeout`, milliseconds, 0: none; not there: 6000.
    pub read_timeout: Template,
    /// Headers of the header manager.
    pub headers: Box<[Header]>,
    /// The cookie manager.
    pub cookies: Option<Arc<CookieManager>>,
    /// Filters from the outermost to the innermost: the last receives a frame first.
    pub filters: Box<[FrameFilter]>,
    /// `websocket.result.size_includes_filtered_frames`
    pub size_of_filtered: bool,
    /// TLS, as for HTTP.
    pub shared: Arc<SharedHttp>,
}
