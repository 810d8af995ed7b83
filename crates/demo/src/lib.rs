//! Systems under test to try things on: the ticket shop, and a probe that notes when requests come ([`Probe`]).
//!
//! The shop is a complete small web application after TicketMonster 2.7.0 as it ran on JBoss AS 7.1.1: events are
//! shown at venues, every performance of a show sells numbered seats, and no seat is ever sold twice. It answers the
//! same REST interface byte for byte where the original's bytes are known (property order, header order, chunk sizes),
//! so that a load test of the original and one of this shop are comparable in everything but speed.
//!
//! Everything lives in one SQLite database, in memory or in a file. One shop is one lock around one connection: the
//! shop is made to be fast on a *single* core, so there is nothing to win from more than one thread and a proof to lose.
//! Measured with the ticket workload's mix of requests, images included, over 64 loopback connections and 10,000 shows:
//! 22,000 requests per second of processor time in a release build, 13,000 in a development build.
//!
//! The HTTP layer is an own, thin one on `tokio` and `httparse` and not axum: hyper, below axum, places
//! `Transfer-Encoding`, `Connection` and `Date` where it wants and frames bodies as they happen to be handed over, while
//! the original's 143-byte head and 8192-byte chunks are part of what the shop promises.
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
mod error;
mod http;
mod options;
mod probe;
mod server;
mod shop;

pub use backend::{BackendOptions, BackendTime};
pub use error::DemoError;
pub use options::{BASE_PATH, ORIGINAL_IDLE_TIMEOUT, ShopOptions};
pub use probe::{Probe, ProbeOptions, ProbeRecord, ProbeStopper, STAMPS_MAX, STAMPS_VERSION, Stall};
pub use server::{listen, run_blocking, serve};
pub use shop::DataSet;
