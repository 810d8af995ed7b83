//! From path and method to what is done.

use super::fault::Fault;
use super::forge::{self, Entity};
use super::page;
use super::query::number;
use super::service::{self, Family};
use super::{Shop, booking, bot, metrics};
use crate::BASE_PATH;
use crate::http::answer::{Answer, Body};
use crate::http::request::{Method, Request};

/// The picture the media items of the data sets name.
const IMAGE_PATH: &str = "/ticket-monster/resources/img/splash-ticketmonster.png";

/// The application's root: a client without the slash at the end is sent to the one with it.
const CONTEXT_PATH: &str = "/ticket-monster";

const LIST: &str = "GET, POST, OPTIONS, HEAD";
const ITEM: &str = "GET, PUT, DELETE, OPTIONS, HEAD";
const READ: &str = "GET, OPTIONS, HEAD";
const BOOKINGS: &str = "GET, POST, DELETE, OPTIONS, HEAD";
const BOOKING: &str = "GET, DELETE, OPTIONS, HEAD";
const STATUS: &str = "GET, PUT, OPTIONS, HEAD";

impl Shop {
    /// Routes and handles a request.
    pub(super) fn route(&mut self, request: &Request<'_>) -> Result<Answer, Fault> {
        let path = request.path();
        if path == IMAGE_PATH {
            return read_only(request, || Ok(Answer::new(200, Body::Sized("image/png", self.image.clone()))));
        }
        if path == CONTEXT_PATH {
            return read_only(request, || Ok(Answer::moved(self.address_of(request, "/ticket-monster/"))));
        }
        let rest =
            path.strip_prefix(BASE_PATH).and_then(|rest| rest.strip_prefix('/')).ok_or(Fault::Missing)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (is_forge, rest) = rest.strip_prefix("forge/").map_or((false, rest), |rest| (true, rest));
        let (head, tail) = rest.split_once('/').map_or((rest, None), |(head, tail)| (head, Some(tail)));
        if let Some(entity) = Entity::at(is_forge, head) {
            return match tail {
                None => self.forge_list(request, entity),
                Some(tail) => self.forge_item(request, entity, id(tail)?),
            };
        }
        if is_forge {
            return Err(Fault::Missing);
        }
        if let Some(family) = Family::at(head) {
            return self.service(request, family, tail);
        }
        match (head, tail) {
            ("media", Some(tail)) => {
                let id = id(tail)?;
                read_only(request, || {
                    if forge::exists(&self.connection, Entity::MediaItem, id)? {
                        Ok(Answer::new(200, Body::Sized("*/*", self.image.clone())))
                    } else if self.strict {
                        Ok(Answer::new(200, Body::Sized("*/*", self.placeholder.clone())))
                    } else {
                        Err(Fault::MissingService("media item", id))
                    }
                })
            }
            ("metrics", None) => {
                read_only_json(request, || Ok(Answer::json(metrics::render(&self.connection)?)))
            }
            ("bot", Some("messages")) => read_only_json(request, || Ok(Answer::json(self.bot.messages()))),
            ("bot", Some("status")) => self.bot_status(request),
            _ => Err(Fault::Missing),
        }
    }

    /// The absolute address of a path, as the client of `request` can reach it.
    fn address_of(&self, request: &Request<'_>, path: &str) -> String {
        match (&self.public_url, request.host) {
            (Some(url), _) => format!("{url}{path}"),
            (None, Some(host)) => format!("http://{host}{path}"),
            (None, None) => format!("http://{}{path}", self.local),
        }
    }

    fn forge_list(&mut self, request: &Request<'_>, entity: Entity) -> Result<Answer, Fault> {
        match request.method {
            Method::Get => {
                takes_json(request)?;
                let start = number(request, "start")?.unwrap_or(0).max(0);
                let most = number(request, "max")?.unwrap_or(-1);
                let render = |connection: &rusqlite::Connection| {
                    let sql = format!("SELECT id FROM {} ORDER BY id LIMIT ?1 OFFSET ?2", entity.table());
                    Ok(page::list(connection, entity.view(), &page::ids(connection, &sql, [most, start])?)?)
                };
                if entity.is_sale() {
                    Ok(Answer::json(render(&self.connection)?))
                } else {
                    self.cached(request.target, render)
                }
            }
            Method::Post => {
                sends_json(request)?;
                let id = forge::save(&self.connection, entity, request.body, None)?;
                if entity.is_sale() {
                    self.seats.forget();
                }
                let path = request.path().trim_end_matches('/');
                Ok(Answer::created(self.address_of(request, &format!("{path}/{id}"))))
            }
            method => other(method, LIST),
        }
    }

    fn forge_item(&mut self, request: &Request<'_>, entity: Entity, id: i64) -> Result<Answer, Fault> {
        match request.method {
            Method::Get => {
                takes_json(request)?;
                let render = |connection: &rusqlite::Connection| {
                    page::entity(connection, entity.view(), id)?.ok_or(Fault::Missing)
                };
                if entity.is_sale() {
                    Ok(Answer::json(render(&self.connection)?))
                } else {
                    self.cached(request.target, render)
                }
            }
            Method::Put => {
                sends_json(request)?;
                // Sections may have got more seats, tickets other ones.
                self.seats.forget();
                forge::save(&self.connection, entity, request.body, Some(id))?;
                Ok(Answer::no_content())
            }
            Method::Delete => {
                if entity == Entity::Booking {
                    if !booking::cancel(&self.connection, &mut self.seats, id)? {
                        return Err(Fault::Missing);
                    }
                } else {
                    self.seats.forget();
                    forge::delete(&self.connection, entity, id)?;
                }
                Ok(Answer::no_content())
            }
            method => other(method, ITEM),
        }
    }

    fn service(
        &mut self,
        request: &Request<'_>,
        family: Family,
        tail: Option<&str>,
    ) -> Result<Answer, Fault> {
        let is_booking = family == Family::Bookings;
        match (tail, request.method) {
            (None, Method::Get) => {
                takes_json(request)?;
                let selection = service::Selection::of(request, family)?;
                let render = |connection: &rusqlite::Connection| selection.render(connection);
                if is_booking {
                    Ok(Answer::json(render(&self.connection)?))
                } else {
                    self.cached(request.target, render)
                }
            }
            (None, Method::Post) if is_booking => {
                sends_json(request)?;
                takes_json(request)?;
                let wish = super::input::read(request.body)?;
                let id = booking::book(&self.connection, &mut self.seats, wish, self.strict)?;
                let body = page::entity(&self.connection, family.view(), id)?.ok_or(Fault::Missing)?;
                Ok(Answer::json(body))
            }
            (None, Method::Delete) if is_booking => {
                booking::cancel_all(&self.connection, &mut self.seats)?;
                Ok(Answer::no_content())
            }
            (None, method) => other(method, if is_booking { BOOKINGS } else { READ }),
            (Some("count"), Method::Get) => {
                takes_json(request)?;
                let count = service::Selection::of(request, family)?.count(&self.connection)?;
                Ok(Answer::json(format!("{{\"count\":{count}}}")))
            }
            (Some("count"), method) => other(method, READ),
            (Some(tail), method) => {
                let (id, by_performance) = match tail.strip_prefix("performance/") {
                    Some(performance) if family == Family::Shows => (id(performance)?, true),
                    _ => (id(tail)?, false),
                };
                match method {
                    Method::Get => {
                        takes_json(request)?;
                        let render = |connection: &rusqlite::Connection| {
                            let found = if by_performance {
                                service::show_of_performance(connection, id)?
                            } else {
                                page::entity(connection, family.view(), id)?
                            };
                            let what = if by_performance { "performance" } else { family.name() };
                            found.ok_or(Fault::MissingService(what, id))
                        };
                        if is_booking {
                            Ok(Answer::json(render(&self.connection)?))
                        } else {
                            self.cached(request.target, render)
                        }
                    }
                    Method::Delete if is_booking => {
                        if booking::cancel(&self.connection, &mut self.seats, id)? {
                            Ok(Answer::no_content())
                        } else {
                            Err(Fault::Missing)
                        }
                    }
                    method => other(method, if is_booking { BOOKING } else { READ }),
                }
            }
        }
    }

    fn bot_status(&mut self, request: &Request<'_>) -> Result<Answer, Fault> {
        match request.method {
            Method::Get => {
                takes_json(request)?;
                Ok(Answer::json(self.bot.status_json()))
            }
            Method::Put => {
                sends_json(request)?;
                let command: bot::Command = super::input::read(request.body)?;
                self.bot.obey(command, &self.connection, &mut self.seats)?;
                Ok(Answer::no_content())
            }
            method => other(method, STATUS),
        }
    }
}

/// What is answered to a method an address has nothing for.
fn other(method: Method, allow: &'static str) -> Result<Answer, Fault> {
    match method {
        Method::Options => Ok(Answer { allow: Some(allow), ..Answer::new(200, Body::Empty) }),
        _ => Err(Fault::Method(allow)),
    }
}

fn read_only(request: &Request<'_>, answer: impl FnOnce() -> Result<Answer, Fault>) -> Result<Answer, Fault> {
    match request.method {
        Method::Get => answer(),
        method => other(method, READ),
    }
}

fn read_only_json(
    request: &Request<'_>,
    answer: impl FnOnce() -> Result<Answer, Fault>,
) -> Result<Answer, Fault> {
    read_only(request, || {
        takes_json(request)?;
        answer()
    })
}

fn takes_json(request: &Request<'_>) -> Result<(), Fault> {
    if request.accepts_json() { Ok(()) } else { Err(Fault::Accept) }
}

fn sends_json(request: &Request<'_>) -> Result<(), Fault> {
    if request.sends_json() { Ok(()) } else { Err(Fault::ContentType) }
}

/// An id in a path. What is no number names nothing.
fn id(text: &str) -> Result<i64, Fault> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().map_err(|_| Fault::Missing)
    } else {
        Err(Fault::Missing)
    }
}
