//! How a shop is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::{BackendOptions, DataSet};

/// The path below which the shop's REST interface lives.
pub const BASE_PATH: &str = "/ticket-monster/rest";

/// How a shop is set up.
#[derive(Debug, Clone)]
pub struct ShopOptions {
    /// Where to listen; port 0 takes a free one (see [`listen`](crate::listen)).
    pub address: SocketAddr,
    /// The database file; `None` keeps everything in memory. A file is locked for as long as the shop is open.
    pub database: Option<PathBuf>,
    /// What the shop holds when it opens; `None` is an empty shop. A database file that holds something keeps it.
    pub data_set: Option<DataSet>,
    /// Answer mistakes of the client as the original did, faults included:
    ///
    /// | case | default | strict |
    /// |---|---|---|
    /// | `GET` of a missing `venues`, `events`, `shows`, `bookings` or `media` entity | 404 | 500 |
    /// | invalid or unknown-reference entity on a create or update | 400 with the reasons | 500 |
    /// | duplicate entity, or one still in use | 409 with the reason | 500 |
    /// | booking of an unknown price or performance | 400 naming the id | 400 `{"errors":[null]}` |
    /// | booking at the price of another show | 400 naming the price | booked |
    /// | unreadable query parameter | 400 | 404 |
    pub strict: bool,
    /// Scheme and authority for `Location`, such as `http://shop.example:8080`; `None` takes the request's `Host`.
    pub public_url: Option<String>,
    /// What each answer waits for before it is sent; `None` answers at once.
    pub backend: Option<BackendOptions>,
}

impl Default for ShopOptions {
    /// Loopback on port 8080, in memory and empty, answering mistakes as a good interface does.
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            database: None,
            data_set: None,
            strict: false,
            public_url: None,
            backend: None,
        }
    }
}
