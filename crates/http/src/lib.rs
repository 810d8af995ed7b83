//! The HTTP sampler: raw HTTP/1.1 connections owned by their virtual user.
//!
//! A request is rendered into one buffer and sent in one piece; the response is parsed in place, in one buffer per
//! thread. Unused parts of a response are counted and not retained. Errors have the names of JMeter's HttpClient 4,
//! because plans and users compare them.

pub mod access;
mod allowed_hosts;
pub mod auth;
pub mod cache;
mod charset;
mod client;
mod complete;
mod connection;
pub mod cookies;
mod dates;
mod decode;
mod der;
mod detail;
mod dial;
mod digest;
mod direct;
pub mod dns;
mod dns_query;
pub mod embedded;
mod embedded_settings;
mod encode;
mod exchange;
mod exchange_context;
mod failure;
mod file_page;
mod files;
mod form;
mod html_tokens;
mod keystore;
pub mod limits;
mod links;
mod modifier;
pub mod modify;
pub mod origin;
mod plain;
mod proxy;
mod proxy_address;
mod redirect;
mod render;
pub mod response;
mod retained_body;
mod sampler;
mod session;
mod settings;
mod sink;
pub mod source;
mod tls;
mod transport;
mod tunnel;
mod url_connection;
mod url_parts;
mod url_target;
mod whole;
mod wire_request;

pub use allowed_hosts::{allow_only, allows, are_hosts_restricted};
pub use charset::{Charset, ContentEncoding};
pub use client::Client;
pub use failure::Failure;
pub use files::FileStore;
pub use keystore::{ClientKeys, KeyChoice, KeyStoreError};
pub use plain::{connect_plainly, resolve_plainly};
pub use session::HttpSession;
pub use settings::{
    Argument, FileArgument, Header, HeaderManagers, HttpSampler, Proxy, Redirects, SharedHttp,
};
pub use tls::{TlsPolicy, tls_config};
pub use url_connection::{URL_DEADLINE, UrlConnections};
#[doc(hidden)]
pub use whole::{read_challenge, read_links, read_resources, read_whole};
