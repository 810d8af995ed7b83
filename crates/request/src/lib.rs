//! The interfaces between the script languages and the HTTP sampler.
//!
//! A script around a sampler reads and changes the sampler's request through [`RequestAccess`], and sends requests of its own
//! through [`UrlClient`]. The crate `http` implements both; `script` and `functions` use them. Neither side depends on the
//! other, and the program stores both without knowing their types.

mod access;
mod parts;
mod url_client;

pub use access::{RequestAccess, ScriptableSampler, access, accessed_sampler, give_script_access};
pub use parts::{RequestArgument, RequestCookie, RequestFile, RequestFlag, RequestText};
pub use url_client::{UrlClient, UrlRequest, UrlResponse, set_url_client, url_client};
