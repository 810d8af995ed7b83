//! What may differ between classes.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{
    F64Deserializer, I64Deserializer, MapAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One value for all classes, or one for each class by its name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PerClass<T> {
    /// The same for all.
    Same(T),
    /// By the name of the class; those that are not named have none.
    By(BTreeMap<String, T>),
}

impl<T> PerClass<T> {
    /// The value for a class.
    #[must_use]
    pub fn of(&self, class: &str) -> Option<&T> {
        match self {
            Self::Same(value) => Some(value),
            Self::By(values) => values.get(class),
        }
    }

    /// All values, in the order of the names of their classes.
    pub fn values(&self) -> impl Iterator<Item = (Option<&str>, &T)> {
        let (same, by) = match self {
            Self::Same(value) => (Some((None, value)), None),
            Self::By(values) => (None, Some(values.iter().map(|(name, value)| (Some(name.as_str()), value)))),
        };
        same.into_iter().chain(by.into_iter().flatten())
    }

    /// All values, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (same, by) = match self {
            Self::Same(value) => (Some(value), None),
            Self::By(values) => (None, Some(values.values_mut())),
        };
        same.into_iter().chain(by.into_iter().flatten())
    }

    /// The same shape with other values.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerClass<U> {
        match self {
            Self::Same(value) => PerClass::Same(change(value)),
            Self::By(values) => {
                PerClass::By(values.into_iter().map(|(name, value)| (name, change(value))).collect())
            }
        }
    }
}

/// Values are texts or numbers; a table is one value per class. So it is clear what a table means, and errors inside
/// keep their place, which they would lose in serde's untagged enums.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerClass<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = PerClass<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value for all classes, or a table with one per class")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(StrDeserializer::new(text)).map(PerClass::Same)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                T::deserialize(I64Deserializer::new(number)).map(PerClass::Same)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                T::deserialize(U64Deserializer::new(number)).map(PerClass::Same)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                T::deserialize(F64Deserializer::new(number)).map(PerClass::Same)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(PerClass::By)
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}
