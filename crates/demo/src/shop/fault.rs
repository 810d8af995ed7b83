//! Request errors and their responses.

use bytes::Bytes;

use crate::http::response::{Body, Response};

/// TicketMonster's message for any body that it cannot read.
const MALFORMED: &str = "The submitted request is invalid. Please retry after correcting the input values.";

/// The reason why a request fails.
#[derive(Debug)]
pub(super) enum Fault {
    /// The body is not valid for the endpoint.
    Malformed,
    /// A query parameter is not a number.
    Parameter(&'static str),
    /// The booking cannot be made. The text is TicketMonster's message.
    Booking(&'static str),
    /// The booking refers to something that does not exist.
    BookingReference(String),
    /// The entity violates rules, or refers to an entity that does not exist.
    Invalid(Vec<String>),
    /// The entity already exists, or is still in use.
    Conflict(String),
    /// The entity or the path does not exist.
    Missing,
    /// The entity does not exist, and for this type of entity, TicketMonster responds with an internal error.
    MissingService(&'static str, i64),
    /// The method is not allowed. The text contains the allowed methods.
    Method(&'static str),
    /// The client does not accept JSON.
    Accept,
    /// The client does not send JSON.
    ContentType,
    /// The database failed.
    Database(rusqlite::Error),
}

impl Fault {
    /// The error for a single violated rule.
    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid(vec![why.into()])
    }

    /// The response to the client. `names_utf8`: the request specified the charset of its body, which TicketMonster repeats
    /// in its response to a body that it cannot read.
    pub(super) fn answer(self, strict: bool, names_utf8: bool) -> Response {
        let unless_strict = |status| if strict { 500 } else { status };
        match self {
            Self::Malformed if strict && names_utf8 => {
                Response::new(400, Body::JsonUtf8(error_list(&[MALFORMED])))
            }
            Self::Malformed => errors(400, &[MALFORMED]),
            Self::Parameter(_) if strict => Response::new(404, Body::Empty),
            Self::Parameter(name) => errors(400, &[format!("the query parameter {name} must be a number")]),
            Self::Booking(why) => errors(400, &[why]),
            Self::BookingReference(_) if strict => errors(400, &[None::<&str>]),
            Self::BookingReference(why) => errors(400, &[why]),
            Self::Invalid(why) => errors(unless_strict(400), &why),
            Self::Conflict(why) => errors(unless_strict(409), &[why]),
            Self::Missing if strict => Response::new(404, Body::Empty),
            Self::Missing => errors(404, &["not found"]),
            Self::MissingService(what, id) => {
                errors(unless_strict(404), &[format!("there is no {what} {id}")])
            }
            Self::Method(allow) => {
                Response { allow: Some(allow), ..plain(405, "method not allowed", strict) }
            }
            Self::Accept => plain(406, "only application/json is produced", strict),
            Self::ContentType => plain(415, "only application/json is accepted", strict),
            Self::Database(error) => errors(500, &[format!("the database failed: {error}")]),
        }
    }
}

/// The response of TicketMonster's server to an error for which it does not call the application.
fn plain(status: u16, why: &str, strict: bool) -> Response {
    if strict { Response::new(status, Body::Empty) } else { errors(status, &[why]) }
}

fn errors<T: serde::Serialize>(status: u16, why: &[T]) -> Response {
    Response::new(status, Body::Json(error_list(why)))
}

fn error_list<T: serde::Serialize>(why: &[T]) -> Bytes {
    let mut body = b"{\"errors\":".to_vec();
    // Text can always be serialized, and writing to a vector does not fail.
    let _ = serde_json::to_writer(&mut body, why);
    body.push(b'}');
    Bytes::from(body)
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match extended {
            Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE) => {
                Self::Conflict("such an entity already exists".to_owned())
            }
            Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => {
                Self::Conflict("other entities still refer to it".to_owned())
            }
            _ => Self::Database(error),
        }
    }
}
