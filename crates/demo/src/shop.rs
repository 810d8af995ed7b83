//! The shop itself: what each request means, and the database it works on.

mod booking;
mod bot;
mod cache;
mod data;
mod fault;
mod forge;
mod image;
mod input;
mod metrics;
mod page;
mod query;
mod route;
mod schema;
mod seats;
mod service;

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use rusqlite::Connection;

use self::bot::Bot;
use self::cache::Cache;
use self::fault::Fault;
use self::seats::SeatMaps;
use crate::backend::Backend;
use crate::http::answer::Answer;
use crate::http::request::Request;
use crate::{DemoError, ShopOptions};

pub use self::data::DataSet;

/// One shop.
#[derive(Debug)]
pub(crate) struct Shop {
    connection: Connection,
    cache: Cache,
    seats: SeatMaps,
    bot: Bot,
    image: Bytes,
    /// What the original returns for media items that do not exist.
    placeholder: Bytes,
    strict: bool,
    /// Scheme and authority in front of what was created.
    public_url: Option<String>,
    local: SocketAddr,
}

impl Shop {
    /// Opens the database of the shop and fills it on request if it is new.
    pub(crate) fn open(options: &ShopOptions, local: SocketAddr) -> Result<Self, DemoError> {
        let connection = schema::open(options.database.as_deref())?;
        let mut seats = SeatMaps::default();
        if let Some(data_set) = options.data_set {
            data::fill(&connection, &mut seats, data_set)
                .map_err(|source| DemoError::Database { path: options.database.clone(), source })?;
        }
        Ok(Self {
            cache: Cache::watching(&connection),
            connection,
            seats,
            bot: Bot::default(),
            image: image::splash(),
            placeholder: image::placeholder(),
            strict: options.strict,
            public_url: options.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned()),
            local,
        })
    }

    /// Answers one request.
    fn answer(&mut self, request: &Request<'_>) -> Answer {
        self.route(request).unwrap_or_else(|fault| fault.answer(self.strict, request.names_utf8()))
    }

    /// Lets the bot make a booking if it is running.
    pub(crate) fn bot_step(&mut self) {
        self.bot.step(&self.connection, &mut self.seats);
    }

    /// Reloads the state from the database after a failed request.
    fn recover(&mut self) {
        // Fails when nothing was begun, which is as good.
        let _ = self.connection.execute_batch("ROLLBACK");
        self.seats.forget();
        self.cache.forget();
    }

    /// The rendered answer to `target`, from the cache when nothing it was made from has changed.
    fn cached(
        &mut self,
        target: &str,
        make: impl FnOnce(&Connection) -> Result<Bytes, Fault>,
    ) -> Result<Answer, Fault> {
        if let Some(body) = self.cache.get(target) {
            return Ok(Answer::json(body));
        }
        let body = make(&self.connection)?;
        self.cache.keep(target, &body);
        Ok(Answer::json(body))
    }
}

/// A shop that connections share.
#[derive(Debug)]
pub(crate) struct SharedShop {
    shop: Mutex<Shop>,
    backend: Option<Backend>,
    idle_timeout: Option<Duration>,
}

impl SharedShop {
    /// Shares a shop.
    pub(crate) fn new(shop: Shop, backend: Option<Backend>, idle_timeout: Option<Duration>) -> Self {
        Self { shop: Mutex::new(shop), backend, idle_timeout }
    }

    /// How long a connection may be idle before it is closed.
    pub(crate) fn idle_timeout(&self) -> Option<Duration> {
        self.idle_timeout
    }

    /// Waits for the simulated backend, if there is one.
    pub(crate) async fn pass_backend(&self) {
        if let Some(backend) = &self.backend {
            backend.pass().await;
        }
    }

    /// Answers one request. Requests are answered one after the other: this is what makes first fit well defined.
    pub(crate) fn answer(&self, request: &Request<'_>) -> Answer {
        self.with(|shop| shop.answer(request))
    }

    /// Has the shop to itself.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Shop) -> T) -> T {
        let mut shop = self.shop.lock().unwrap_or_else(|poisoned| {
            let mut shop = poisoned.into_inner();
            shop.recover();
            self.shop.clear_poison();
            shop
        });
        work(&mut shop)
    }
}
