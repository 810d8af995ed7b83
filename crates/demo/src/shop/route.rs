//! Routes requests by path and method.

use super::crud::{self, Entity};
use super::entity_json;
use super::fault::Fault;
use super::query::number;
use super::service::{self, Family};
use super::{Shop, booking, bot, metrics};
use crate::BASE_PATH;
use crate::http::request::{Method, Request};
use crate::http::response::{Body, Response};

/// The path of the image that the media items of the data sets refer to.
const IMAGE_PATH: &str = "/ticket-monster/resources/img/splash-ticketmonster.png";

/// The application's root without the final slash; a request for it is redirected to the path with the slash.
const CONTEXT_PATH: &str = "/ticket-monster";

const LIST: &str = "GET, POST, OPTIONS, HEAD";
const ITEM: &str = "GET, PUT, DELETE, OPTIONS, HEAD";
const READ: &str = "GET, OPTIONS, HEAD";
const BOOKINGS: &str = "GET, POST, DELETE, OPTIONS, HEAD";
const BOOKING: &str = "GET, DELETE, OPTIONS, HEAD";
const STATUS: &str = "GET, PUT, OPTIONS, HEAD";

impl Shop {
    /// Routes and handles a request.
    pub(super) fn route(&mut self, request: &Request<'_>) -> Result<Response, Fault> {
        let path = request.path();
        if path == IMAGE_PATH {
            return read_only(request, || {
                Ok(Response::new(200, Body::Sized("image/png", self.image.clone())))
            });
        }
        if path == CONTEXT_PATH {
            return read_only(request, || Ok(Response::moved(self.address_of(request, "/ticket-monster/"))));
        }
        let rest =
            path.strip_prefix(BASE_PATH).and_then(|rest| rest.strip_prefix('/')).ok_or(Fault::Missing)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (is_forge, rest) = rest.strip_prefix("forge/").map_or((false, rest), |rest| (true, rest));
        let (head, tail) = rest.split_once('/').map_or((rest, None), |(head, tail)| (head, Some(tail)));
        if let Some(entity) = Entity::from_segment(is_forge, head) {
            return match tail {
                None => self.forge_list(request, entity),
                Some(tail) => self.forge_item(request, entity, id(tail)?),
            };
        }
        if is_forge {
            return Err(Fault::Missing);
        }
        if let Some(family) = Family::from_segment(head) {
            return self.service(request, family, tail);
        }
        match (head, tail) {
            ("media", Some(tail)) => {
                let id = id(tail)?;
                read_only(request, || {
                    if crud::exists(&self.connection, Entity::MediaItem, id)? {
                        Ok(Response::new(200, Body::Sized("*/*", self.image.clone())))
                    } else if self.strict {
                        Ok(Response::new(200, Body::Sized("*/*", self.placeholder.clone())))
                    } else {
                        Err(Fault::MissingService("media item", id))
                    }
                })
            }
            ("metrics", None) => {
                read_only_json(request, || Ok(Response::json(metrics::render(&self.connection)?)))
            }
            ("bot", Some("messages")) => read_only_json(request, || Ok(Response::json(self.bot.messages()))),
            ("bot", Some("status")) => self.bot_status(request),
            _ => Err(Fault::Missing),
        }
    }

    /// The absolute URL of a path, as the client sees it.
    fn address_of(&self, request: &Request<'_>, path: &str) -> String {
        match (&self.public_url, request.host) {
            (Some(url), _) => format!("{url}{path}"),
            (None, Some(host)) => format!("http://{host}{path}"),
            (None, None) => format!("http://{}{path}", self.local),
        }
    }

    fn forge_list(&mut self, request: &Request<'_>, entity: Entity) -> Result<Response, Fault> {
        match request.method {
            Method::Get => {
                check_accept(request)?;
                let start = number(request, "start")?.unwrap_or(0).max(0);
                let most = number(request, "max")?.unwrap_or(-1);
                let render = |connection: &rusqlite::Connection| {
                    let sql = format!("SELECT id FROM {} ORDER BY id LIMIT ?1 OFFSET ?2", entity.table());
                    Ok(entity_json::list(
                        connection,
                        entity.view(),
                        &entity_json::ids(connection, &sql, [most, start])?,
                    )?)
                };
                if entity.is_sale() {
                    Ok(Response::json(render(&self.connection)?))
                } else {
                    self.cached(request.target, render)
                }
            }
            Method::Post => {
                check_content_type(request)?;
                let id = crud::save(&self.connection, entity, request.body, None)?;
                if entity.is_sale() {
                    self.seats.clear();
                }
                let path = request.path().trim_end_matches('/');
                Ok(Response::created(self.address_of(request, &format!("{path}/{id}"))))
            }
            method => reject_method(method, LIST),
        }
    }

    fn forge_item(&mut self, request: &Request<'_>, entity: Entity, id: i64) -> Result<Response, Fault> {
        match request.method {
            Method::Get => {
                check_accept(request)?;
                let render = |connection: &rusqlite::Connection| {
                    entity_json::entity(connection, entity.view(), id)?.ok_or(Fault::Missing)
                };
                if entity.is_sale() {
                    Ok(Response::json(render(&self.connection)?))
                } else {
                    self.cached(request.target, render)
                }
            }
            Method::Put => {
                check_content_type(request)?;
                // The change may affect the seats of sections or tickets.
                self.seats.clear();
                crud::save(&self.connection, entity, request.body, Some(id))?;
                Ok(Response::no_content())
            }
            Method::Delete => {
                if entity == Entity::Booking {
                    if !booking::cancel(&self.connection, &mut self.seats, id)? {
                        return Err(Fault::Missing);
                    }
                } else {
                    self.seats.clear();
                    crud::delete(&self.connection, entity, id)?;
                }
                Ok(Response::no_content())
            }
            method => reject_method(method, ITEM),
        }
    }

    fn service(
        &mut self,
        request: &Request<'_>,
        family: Family,
        tail: Option<&str>,
    ) -> Result<Response, Fault> {
        let is_booking = family == Family::Bookings;
        match (tail, request.method) {
            (None, Method::Get) => {
                check_accept(request)?;
                let selection = service::Selection::from_request(request, family)?;
                let render = |connection: &rusqlite::Connection| selection.render(connection);
                if is_booking {
                    Ok(Response::json(render(&self.connection)?))
                } else {
                    self.cached(request.target, render)
                }
            }
            (None, Method::Post) if is_booking => {
                check_content_type(request)?;
                check_accept(request)?;
                let order = super::input::read(request.body)?;
                let id = booking::book(&self.connection, &mut self.seats, order, self.strict)?;
                let body = entity_json::entity(&self.connection, family.view(), id)?.ok_or(Fault::Missing)?;
                Ok(Response::json(body))
            }
            (None, Method::Delete) if is_booking => {
                booking::cancel_all(&self.connection, &mut self.seats)?;
                Ok(Response::no_content())
            }
            (None, method) => reject_method(method, if is_booking { BOOKINGS } else { READ }),
            (Some("count"), Method::Get) => {
                check_accept(request)?;
                let count = service::Selection::from_request(request, family)?.count(&self.connection)?;
                Ok(Response::json(format!("{{\"count\":{count}}}")))
            }
            (Some("count"), method) => reject_method(method, READ),
            (Some(tail), method) => {
                let (id, by_performance) = match tail.strip_prefix("performance/") {
                    Some(performance) if family == Family::Shows => (id(performance)?, true),
                    _ => (id(tail)?, false),
                };
                match method {
                    Method::Get => {
                        check_accept(request)?;
                        let render = |connection: &rusqlite::Connection| {
                            let found = if by_performance {
                                service::show_of_performance(connection, id)?
                            } else {
                                entity_json::entity(connection, family.view(), id)?
                            };
                            let what = if by_performance { "performance" } else { family.name() };
                            found.ok_or(Fault::MissingService(what, id))
                        };
                        if is_booking {
                            Ok(Response::json(render(&self.connection)?))
                        } else {
                            self.cached(request.target, render)
                        }
                    }
                    Method::Delete if is_booking => {
                        if booking::cancel(&self.connection, &mut self.seats, id)? {
                            Ok(Response::no_content())
                        } else {
                            Err(Fault::Missing)
                        }
                    }
                    method => reject_method(method, if is_booking { BOOKING } else { READ }),
                }
            }
        }
    }

    fn bot_status(&mut self, request: &Request<'_>) -> Result<Response, Fault> {
        match request.method {
            Method::Get => {
                check_accept(request)?;
                Ok(Response::json(self.bot.status_json()))
            }
            Method::Put => {
                check_content_type(request)?;
                let command: bot::Command = super::input::read(request.body)?;
                self.bot.execute(command, &self.connection, &mut self.seats)?;
                Ok(Response::no_content())
            }
            method => reject_method(method, STATUS),
        }
    }
}

/// Responds to a method that the path does not support.
fn reject_method(method: Method, allow: &'static str) -> Result<Response, Fault> {
    match method {
        Method::Options => Ok(Response { allow: Some(allow), ..Response::new(200, Body::Empty) }),
        _ => Err(Fault::Method(allow)),
    }
}

fn read_only(
    request: &Request<'_>,
    answer: impl FnOnce() -> Result<Response, Fault>,
) -> Result<Response, Fault> {
    match request.method {
        Method::Get => answer(),
        method => reject_method(method, READ),
    }
}

fn read_only_json(
    request: &Request<'_>,
    answer: impl FnOnce() -> Result<Response, Fault>,
) -> Result<Response, Fault> {
    read_only(request, || {
        check_accept(request)?;
        answer()
    })
}

fn check_accept(request: &Request<'_>) -> Result<(), Fault> {
    if request.accepts_json() { Ok(()) } else { Err(Fault::Accept) }
}

fn check_content_type(request: &Request<'_>) -> Result<(), Fault> {
    if request.sends_json() { Ok(()) } else { Err(Fault::ContentType) }
}

/// Parses an id in a path. A text that is not a number results in the error for a missing entity.
fn id(text: &str) -> Result<i64, Fault> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().map_err(|_| Fault::Missing)
    } else {
        Err(Fault::Missing)
    }
}
