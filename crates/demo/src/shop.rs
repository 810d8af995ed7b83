//! The shop: handles requests and contains the database.

mod booking;
mod bot;
mod cache;
mod crud;
mod data;
mod entity_json;
mod fault;
mod image;
mod input;
mod metrics;
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
use crate::http::request::Request;
use crate::http::response::Response;
use crate::{DemoError, ShopOptions};

/// One shop.
#[derive(Debug)]
pub(crate) struct Shop {
    connection: Connection,
    cache: Cache,
    seats: SeatMaps,
    bot: Bot,
    image: Bytes,
    /// The image that TicketMonster returns for media items that do not exist.
    placeholder: Bytes,
    strict: bool,
    /// Scheme and authority of the URLs of created entities.
    public_url: Option<String>,
    local: SocketAddr,
}

impl Shop {
    /// Opens the database of the shop. If it is new, fills it with the initial data of the options.
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
    fn answer(&mut self, request: &Request<'_>) -> Response {
        self.route(request).unwrap_or_else(|fault| fault.answer(self.strict, request.names_utf8()))
    }

    /// Makes a booking of the bot if the bot is running.
    pub(crate) fn bot_step(&mut self) {
        self.bot.step(&self.connection, &mut self.seats);
    }

    /// Reloads the state from the database after a failed request.
    fn recover(&mut self) {
        // If no transaction was started, this fails, which has no effect.
        let _ = self.connection.execute_batch("ROLLBACK");
        self.seats.clear();
        self.cache.clear();
    }

    /// The rendered response to `target`, from the cache if none of its data has changed.
    fn cached(
        &mut self,
        target: &str,
        render: impl FnOnce(&Connection) -> Result<Bytes, Fault>,
    ) -> Result<Response, Fault> {
        if let Some(body) = self.cache.get(target) {
            return Ok(Response::json(body));
        }
        let body = render(&self.connection)?;
        self.cache.insert(target, &body);
        Ok(Response::json(body))
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
    /// Makes a shop available to all connections.
    pub(crate) fn new(shop: Shop, backend: Option<Backend>, idle_timeout: Option<Duration>) -> Self {
        Self { shop: Mutex::new(shop), backend, idle_timeout }
    }

    /// The time after which an idle connection is closed.
    pub(crate) fn idle_timeout(&self) -> Option<Duration> {
        self.idle_timeout
    }

    /// Waits for the simulated backend, if there is one.
    pub(crate) async fn wait_for_backend(&self) {
        if let Some(backend) = &self.backend {
            backend.process().await;
        }
    }

    /// Answers one request. Requests are answered sequentially, so that the search for the first free seats is well defined.
    pub(crate) fn answer(&self, request: &Request<'_>) -> Response {
        self.with(|shop| shop.answer(request))
    }

    /// Calls `work` with exclusive access to the shop.
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
