//! What can be wrong with a request, and how it is answered.

use bytes::Bytes;

use crate::http::answer::{Answer, Body};

/// The original's answer to anything it could not read.
const MALFORMED: &str = "The submitted request is invalid. Please retry after correcting the input values.";

/// Why a request fails.
#[derive(Debug)]
pub(super) enum Fault {
    /// The body is not what the endpoint reads.
    Malformed,
    /// A query parameter is not a number.
    Parameter(&'static str),
    /// A booking that cannot be made, with the original's words.
    Booking(&'static str),
    /// A booking of something that does not exist.
    BookingReference(String),
    /// An entity that breaks a rule, or names another that does not exist.
    Invalid(Vec<String>),
    /// An entity that exists already, or one that is still needed.
    Conflict(String),
    /// No such entity, or no such path.
    Missing,
    /// No such entity in a family where the original failed over it.
    MissingService(&'static str, i64),
    /// The methods that would be allowed.
    Method(&'static str),
    /// The client takes no JSON.
    Accept,
    /// The client sends no JSON.
    ContentType,
    /// The database failed.
    Database(rusqlite::Error),
}

impl Fault {
    /// One broken rule.
    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid(vec![why.into()])
    }

    /// The answer to it. `names_utf8`: the request named the charset of its body, which the original repeats in its answer to
    /// a body that it cannot read.
    pub(super) fn answer(self, strict: bool, names_utf8: bool) -> Answer {
        let unless_strict = |status| if strict { 500 } else { status };
        match self {
            Self::Malformed if strict && names_utf8 => {
                Answer::new(400, Body::JsonUtf8(error_list(&[MALFORMED])))
            }
            Self::Malformed => errors(400, &[MALFORMED]),
            Self::Parameter(_) if strict => Answer::new(404, Body::Empty),
            Self::Parameter(name) => errors(400, &[format!("the query parameter {name} must be a number")]),
            Self::Booking(why) => errors(400, &[why]),
            Self::BookingReference(_) if strict => errors(400, &[None::<&str>]),
            Self::BookingReference(why) => errors(400, &[why]),
            Self::Invalid(why) => errors(unless_strict(400), &why),
            Self::Conflict(why) => errors(unless_strict(409), &[why]),
            Self::Missing if strict => Answer::new(404, Body::Empty),
            Self::Missing => errors(404, &["not found"]),
            Self::MissingService(what, id) => {
                errors(unless_strict(404), &[format!("there is no {what} {id}")])
            }
            Self::Method(allow) => Answer { allow: Some(allow), ..plain(405, "method not allowed", strict) },
            Self::Accept => plain(406, "only application/json is produced", strict),
            Self::ContentType => plain(415, "only application/json is read", strict),
            Self::Database(error) => errors(500, &[format!("the database failed: {error}")]),
        }
    }
}

/// An error that the original server answers without the application.
fn plain(status: u16, why: &str, strict: bool) -> Answer {
    if strict { Answer::new(status, Body::Empty) } else { errors(status, &[why]) }
}

fn errors<T: serde::Serialize>(status: u16, why: &[T]) -> Answer {
    Answer::new(status, Body::Json(error_list(why)))
}

fn error_list<T: serde::Serialize>(why: &[T]) -> Bytes {
    let mut body = b"{\"errors\":".to_vec();
    // Text always has a JSON form, and a vector takes every byte.
    let _ = serde_json::to_writer(&mut body, why);
    body.push(b'}');
    Bytes::from(body)
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match extended {
            Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE) => {
                Self::Conflict("such an entity exists already".to_owned())
            }
            Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => {
                Self::Conflict("other entities still need it".to_owned())
            }
            _ => Self::Database(error),
        }
    }
}
