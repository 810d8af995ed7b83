//! Settings of a WebSocket sampler.

use std::sync::Arc;

use busyhour_http::cookies::CookieManager;
use busyhour_http::{Header, SharedHttp};
use busyhour_program::template::Template;

use crate::filter::FrameFilter;

/// The address to which a sampler connects.
#[derive(Debug)]
pub struct Target {
    /// `TLS`
    pub secure: Template,
    /// `server`
    pub server: Template,
    /// `port`; missing: 80.
    pub port: Template,
    /// `path`
    pub path: Template,
}

/// The data that a sampler sends.
#[derive(Debug)]
pub struct Data {
    /// `payloadType`: `Text`, `TextStomp` or `Binary`; if it is empty, `binary` determines the type.
    pub kind: Template,
    /// `binaryPayload`, a setting of old plans.
    pub binary: Template,
    /// `requestData`
    pub text: Template,
    /// `loadDataFromFile`
    pub from_file: Template,
    /// `dataFile`
    pub file: Template,
}

/// The type of the sampler.
#[derive(Debug)]
pub enum Action {
    /// WebSocket Open Connection.
    Open,
    /// WebSocket request-response Sampler.
    RequestResponse(Data),
    /// WebSocket Single Read Sampler.
    Read {
        /// `dataType`: `Text`, `Binary` or `Any`; if it is empty, `binary` determines the type.
        data_type: Template,
        /// `binaryPayload`, a setting of old plans.
        binary: Template,
        /// `optional`: whether a timeout without a frame is accepted.
        optional: Template,
    },
    /// WebSocket Single Write Sampler.
    Write(Data),
    /// WebSocket Ping/Pong: `type` is `PingPong` or `Pong`.
    PingPong(Template),
    /// WebSocket Close, with a `statusCode`.
    Close(Template),
}

/// A WebSocket sampler with the settings of the elements in its scope.
#[derive(Debug)]
pub struct WebSocketSampler {
    /// The type of the sampler.
    pub action: Action,
    /// The target; ignored by samplers that never connect.
    pub target: Target,
    /// `createNewConnection`
    pub fresh: Template,
    /// `connectTimeout` in milliseconds; missing: 20000.
    pub connect_timeout: Template,
    /// `readTimeout` in milliseconds, 0: none; missing: 6000.
    pub read_timeout: Template,
    /// The headers of the header manager.
    pub headers: Box<[Header]>,
    /// The cookie manager.
    pub cookies: Option<Arc<CookieManager>>,
    /// The filters from the outermost to the innermost: the last one receives a frame first.
    pub filters: Box<[FrameFilter]>,
    /// `websocket.result.size_includes_filtered_frames`
    pub size_of_filtered: bool,
    /// The TLS settings, shared with HTTP.
    pub shared: Arc<SharedHttp>,
}
