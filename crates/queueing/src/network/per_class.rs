//! Values that may differ between classes.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{
    F64Deserializer, I64Deserializer, MapAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One value for all classes, or one value per class.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PerClass<T> {
    /// The same value for all classes.
    Same(T),
    /// The value of each class by its name; classes that are not listed have none.
    ByClass(BTreeMap<String, T>),
}

impl<T> PerClass<T> {
    /// The value for a class.
    #[must_use]
    pub fn get(&self, class: &str) -> Option<&T> {
        match self {
            Self::Same(value) => Some(value),
            Self::ByClass(values) => values.get(class),
        }
    }

    /// All values, in the order of their class names.
    pub fn values(&self) -> impl Iterator<Item = (Option<&str>, &T)> {
        let (same, by) = match self {
            Self::Same(value) => (Some((None, value)), None),
            Self::ByClass(values) => {
                (None, Some(values.iter().map(|(name, value)| (Some(name.as_str()), value))))
            }
        };
        same.into_iter().chain(by.into_iter().flatten())
    }

    /// Mutable references to all values.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (same, by) = match self {
            Self::Same(value) => (Some(value), None),
            Self::ByClass(values) => (None, Some(values.values_mut())),
        };
        same.into_iter().chain(by.into_iter().flatten())
    }

    /// Applies a function to every value.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerClass<U> {
        match self {
            Self::Same(value) => PerClass::Same(change(value)),
            Self::ByClass(values) => {
                PerClass::ByClass(values.into_iter().map(|(name, value)| (name, change(value))).collect())
            }
        }
    }
}

/// A string or a number is one value for all classes; a table has one value per class. Unlike serde's untagged enums,
/// this keeps the position of errors inside the table.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerClass<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueOrTable<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ValueOrTable<T> {
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
                BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(PerClass::ByClass)
            }
        }

        deserializer.deserialize_any(ValueOrTable(PhantomData))
    }
}
