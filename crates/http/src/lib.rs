//! The HTTP sampler: raw HTTP/1.1 connections owned by their virtual user.
//!
//! A request is rendered into one buffer and written at once; the response is parsed where it was read, in one
//! buffer per thread. What nobody needs of a response is counted, not kept. Names of failures are those that
//! JMeter's HttpClient 4 gives, since plans and people match on them.

pub mod access;
pub mod auth;
pub mod cache;
mod charset;
mod connection;
pub mod cookies;
mod dates;
mod decode;
mod dial;
mod digest;
pub mod dns;
mod dns_query;
pub mod embedded;
mod encode;
mod exchange;
mod failure;
mod file_page;
mod files;
mod form;
mod head;
mod kept;
mod keystore;
pub mod limits;
mod line;
mod links;
pub mod modify;
pub mod origin;
mod plain;
mod proxy;
mod redirect;
mod render;
pub mod response;
mod sampler;
mod session;
mod sink;
pub mod source;
mod tls;
mod tunnel;
mod url_parts;
mod visit;
mod whole;

pub use charset::Charset;
pub use failure::Failure;
pub use files::FileStore;
pub use keystore::{ClientKeys, KeyChoice, KeyStoreError};
pub use plain::{connect_plainly, resolve_plainly};
pub use sampler::{
    Argument, Client, FileArgument, Header, HeaderManagers, HttpSampler, Proxy, Redirects, SharedHttp,
};
pub use session::HttpSession;
pub use tls::{TlsPolicy, tls_config};
#[doc(hidden)]
pub use whole::read_whole;
