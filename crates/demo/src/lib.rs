//! Systems under test: the ticket shop, a probe that records the times of requests ([`ProbeServer`]), the cells emulator, a
//! Java server with known faults ([`CellsServer`]), and a broker over a fixed number of agents ([`BrokerServer`]).
//!
//! The shop is a complete small web application that reproduces TicketMonster 2.7.0 on JBoss AS 7.1.1. Events are shown
//! at venues, every performance of a show sells numbered seats, and no seat is sold twice. Its REST interface has the
//! same bytes as TicketMonster where they are known (property order, header order, chunk sizes), so that load tests of
//! both are comparable in everything except speed.
//!
//! All data is in one SQLite database, in memory or in a file, behind one lock and one connection. The shop is
//! therefore limited to the speed of a *single* core, and more threads would not make it faster. Per second of
//! processor time, it handles 22,000 requests in a release build and 13,000 in a development build. This was measured
//! with the requests of the ticket workload, including images, over 64 loopback connections and 10,000 shows.
//!
//! The HTTP layer uses `tokio` and `httparse` rather than axum: in axum, hyper determines the position of
//! `Transfer-Encoding`, `Connection` and `Date` and the framing of bodies, but the shop reproduces TicketMonster's 143-byte
//! head and 8192-byte chunks.
//!
//! ```no_run
//! use busyhour_demo::{ShopOptions, listen, run_blocking};
//!
//! let options = ShopOptions { address: "127.0.0.1:0".parse().unwrap(), ..ShopOptions::default() };
//! let listener = listen(options.address).unwrap();
//! let port = listener.local_addr().unwrap().port();
//! run_blocking(listener, options, std::future::pending()).unwrap();
//! # let _ = port;
//! ```

mod backend;
mod broker;
mod cells;
mod connection;
mod data_set;
mod error;
mod http;
mod options;
mod probe;
mod server;
mod shop;

pub use backend::{BackendOptions, BackendTime};
pub use broker::{
    BROKER_AGENTS_MAX, BROKER_QUEUE_MAX, BrokerFront, BrokerOptions, BrokerProgram, BrokerServer, CgiRequest,
    answer_cgi_request,
};
pub use cells::{
    ACCESS_LOG, CONSOLE_LOG, CellConfiguration, CellConfigurations, CellName, CellsError, CellsLogLevel,
    CellsOptions, CellsServer, ConfigurationsError, GC_LOG, GarbageCollector, SERVER_LOG,
};
pub use data_set::DataSet;
pub use error::DemoError;
pub use options::{BASE_PATH, ORIGINAL_IDLE_TIMEOUT, ShopOptions};
pub use probe::{
    ProbeOptions, ProbeRecord, ProbeServer, ProbeStopper, STAMPS_MAX, STAMPS_VERSION, ServerStall,
};
pub use server::{listen, run_blocking, serve};
