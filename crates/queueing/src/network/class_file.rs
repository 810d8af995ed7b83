//! The file form of a class of customers.

use super::error::NotationError;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::class::{ClassLoad, CustomerClass};
use super::law::TimeLaw;
use super::quantity::PerSecond;

/// A class of customers: closed with `users`, or open with `rate` or `interarrival`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Class")]
pub(super) struct ClassFile {
    /// Unique name.
    name: String,
    /// Closed: the number of customers.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<u64>,
    /// Closed: the think time between two passes; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<TimeLaw>,
    /// Open: arrivals per second of a Poisson process.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<PerSecond>,
    /// Open, instead of `rate`: the law of the time between two arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    interarrival: Option<TimeLaw>,
    /// Priority at stations with priorities: higher numbers first; default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    priority: i32,
}

fn is_zero(priority: &i32) -> bool {
    *priority == 0
}

impl Serialize for CustomerClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ClassFile::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CustomerClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ClassFile::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for CustomerClass {
    fn schema_name() -> Cow<'static, str> {
        ClassFile::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ClassFile::json_schema(generator)
    }
}

impl TryFrom<ClassFile> for CustomerClass {
    type Error = NotationError;

    fn try_from(file: ClassFile) -> Result<Self, NotationError> {
        let name = &file.name;
        let open = file.rate.is_some() || file.interarrival.is_some();
        let load = match (file.users, open) {
            (Some(users), false) => ClassLoad::Closed {
                users,
                think: file.think.unwrap_or(TimeLaw::Deterministic { mean_s: 0.0 }),
            },
            (None, true) if file.think.is_some() => {
                return Err(NotationError::Class(format!(
                    "the open class {name:?} has a think time; only closed classes have one"
                )));
            }
            (None, true) => match (file.rate, file.interarrival) {
                (Some(PerSecond(rate)), None) if rate > 0.0 => {
                    ClassLoad::Open { interarrival: TimeLaw::Exponential { mean_s: 1.0 / rate } }
                }
                (Some(_), None) => {
                    return Err(NotationError::Class(format!(
                        "the rate of the class {name:?} must be greater than 0"
                    )));
                }
                (None, Some(interarrival)) => ClassLoad::Open { interarrival },
                _ => {
                    return Err(NotationError::Class(format!(
                        "the class {name:?} has a rate and an interarrival law; give only one of them"
                    )));
                }
            },
            (Some(_), true) => {
                return Err(NotationError::Class(format!(
                    "the class {name:?} has users and a rate: a closed class has `users`, an open class has `rate`"
                )));
            }
            (None, false) => {
                return Err(NotationError::Class(format!(
                    "the class {name:?} has no load: it needs `users` (closed) or `rate` (open)"
                )));
            }
        };
        Ok(Self { name: file.name, load, priority: file.priority })
    }
}

impl From<CustomerClass> for ClassFile {
    fn from(class: CustomerClass) -> Self {
        let mut file = Self {
            name: class.name,
            users: None,
            think: None,
            rate: None,
            interarrival: None,
            priority: class.priority,
        };
        match class.load {
            ClassLoad::Closed { users, think } => {
                file.users = Some(users);
                file.think = Some(think).filter(|think| think.mean_s() != 0.0);
            }
            ClassLoad::Open { interarrival: TimeLaw::Exponential { mean_s } }
                if 1.0 / (1.0 / mean_s) == mean_s =>
            {
                file.rate = Some(PerSecond(1.0 / mean_s));
            }
            ClassLoad::Open { interarrival } => file.interarrival = Some(interarrival),
        }
        file
    }
}
