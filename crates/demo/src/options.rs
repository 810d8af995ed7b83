//! The configuration of a shop.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::{BackendOptions, DataSet};

/// The base path of the REST interface.
pub const BASE_PATH: &str = "/ticket-monster/rest";

/// The time after which TicketMonster's server closes an idle connection.
pub const ORIGINAL_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The configuration of a shop.
#[derive(Debug, Clone)]
pub struct ShopOptions {
    /// The address to listen on; port 0 selects a free port (see [`listen`](crate::listen)).
    pub address: SocketAddr,
    /// The database file; with `None`, all data is in memory. The file is locked while the shop is open.
    pub database: Option<PathBuf>,
    /// The initial data of the shop; with `None`, the shop is empty. A database file that already contains data is not
    /// changed.
    pub data_set: Option<DataSet>,
    /// Whether the shop responds to mistakes of the client like TicketMonster, including TicketMonster's faults:
    ///
    /// | case | default | strict |
    /// |---|---|---|
    /// | `GET` of a missing `venues`, `events`, `shows`, or `bookings` entity | 404 | 500 |
    /// | entity created or changed with an invalid property or an unknown reference | 400 with the reasons | 500 |
    /// | entity that already exists, or deletion of one in use | 409 with the reason | 500 |
    /// | booking of an unknown price or performance | 400 naming the id | 400 `{"errors":[null]}` |
    /// | booking at the price of another show | 400 naming the price | booked |
    /// | `GET media/{id}` of an unknown media item | 404 | 200 with a placeholder of 180,634 bytes |
    /// | booking with quantities 1 and 0 | 400 | the price with quantity 0 is ignored |
    /// | unreadable JSON sent as `application/json;charset=utf-8` | `application/json` | the charset is repeated |
    /// | unreadable query parameter | 400 | 404 |
    pub strict: bool,
    /// Scheme and authority for `Location` headers, such as `http://shop.example:8080`; with `None`, the `Host` header of
    /// the request is used.
    pub public_url: Option<String>,
    /// The simulated backend that delays each response; with `None`, the shop responds immediately.
    pub backend: Option<BackendOptions>,
    /// The time after which an idle connection is closed; with `None`, it stays open. TicketMonster's server closes it after
    /// [`ORIGINAL_IDLE_TIMEOUT`].
    pub idle_timeout: Option<Duration>,
}

impl Default for ShopOptions {
    /// Options for a shop on loopback port 8080, in memory and empty, with correct error responses.
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            database: None,
            data_set: None,
            strict: false,
            public_url: None,
            backend: None,
            idle_timeout: None,
        }
    }
}
