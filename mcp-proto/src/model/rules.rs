//! Rules by which the members of declared payloads are read and written.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use serde::de::{Deserializer, Error};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize};

use super::ElicitationSchema;
#[cfg(feature = "alloc")]
use crate::json::RawBuf;
use crate::json::{Exact, Kind, List, Object, Raw, Str};

/// A rule by which members of a kind are read from JSON and written.
pub trait Rule<'de, T: Serialize> {
    /// Reads the value of a member.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;

    /// Returns the value of a member that is not there; `None` if it has to be.
    fn missing() -> Option<T> {
        None
    }

    /// Returns whether the value is that of a member that is not there.
    fn is_absent(_: &T) -> bool {
        false
    }

    /// Returns whether the value needs a revision in which the content of a result may be any
    /// value.
    fn is_any(_: &T) -> bool {
        false
    }

    /// Writes the member.
    fn write<S: SerializeStruct>(
        value: &T,
        name: &'static str,
        members: &mut S,
    ) -> Result<(), S::Error> {
        if Self::is_absent(value) {
            members.skip_field(name)
        } else {
            members.serialize_field(name, value)
        }
    }
}

/// A rule for members that may be absent.
macro_rules! may_be_absent {
    ($type:ty) => {
        fn missing() -> Option<$type> {
            Some(<$type>::default())
        }

        fn is_absent(value: &$type) -> bool {
            Absent::is_absent(value)
        }
    };
}

macro_rules! rules {
    ($($(#[$outer:meta])* $name:ident)*) => {$(
        $(#[$outer])*
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

rules! {
    /// The member has to be there.
    Required
    /// The member may be absent or `null`.
    Optional
    /// The member may be absent or `null`, and is always written.
    Written
    /// A value that does not fit counts as absent, because the object that it describes is valid
    /// without it.
    Hint
    /// Items that do not fit are left out.
    Hints
    /// The member has to be an object.
    AnObject
    /// The member is an object, absent or `null`.
    OptionalObject
    /// A value that is there even if it is `null` (JR-57).
    Structured
    /// The schema of such a value.
    Schema
    /// A text that is written as it was read (PN-02).
    Echoed
    /// The schema of a form.
    Form
    /// A time to live, with `null` for none (TK-65).
    Lifetime
    /// A time between two requests (TK-65).
    Interval
}

impl<'de, T: Deserialize<'de> + Serialize> Rule<'de, T> for Required {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

impl<'de, T: Deserialize<'de> + Serialize + Absent> Rule<'de, T> for Optional {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        or_default(deserializer)
    }

    may_be_absent!(T);
}

impl<'de, T: Deserialize<'de> + Serialize + Default> Rule<'de, T> for Written {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        or_default(deserializer)
    }

    fn missing() -> Option<T> {
        Some(T::default())
    }
}

impl<'de, T: Deserialize<'de> + Serialize> Rule<'de, Option<T>> for Hint {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Ok(Raw::deserialize(deserializer)?.decode(&mut []).ok())
    }

    may_be_absent!(Option<T>);
}

impl<'de, T: Deserialize<'de> + Serialize> Rule<'de, Option<List<'de, T>>> for Hints {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<List<'de, T>>, D::Error> {
        Ok(Raw::deserialize(deserializer)?.array().map(List::from))
    }

    may_be_absent!(Option<List<'de, T>>);
}

#[cfg(feature = "alloc")]
impl<'de, T: Deserialize<'de> + Serialize> Rule<'de, Vec<T>> for Hints {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        let items = Raw::deserialize(deserializer)?.array().unwrap_or_default();
        Ok(items
            .elements()
            .filter_map(|item| item.decode(&mut []).ok())
            .collect())
    }

    may_be_absent!(Vec<T>);
}

impl<'de, T: From<Object<'de>> + Serialize> Rule<'de, T> for AnObject {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        Object::deserialize(deserializer).map(T::from)
    }
}

impl<'de, T: From<Object<'de>> + Serialize> Rule<'de, Option<T>> for OptionalObject {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let object = Option::<Object<'de>>::deserialize(deserializer)?;
        Ok(object.map(T::from))
    }

    may_be_absent!(Option<T>);
}

impl<'de, T: Deserialize<'de> + Serialize + Json> Rule<'de, Option<T>> for Structured {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        T::deserialize(deserializer).map(Some)
    }

    may_be_absent!(Option<T>);

    /// The kind of the value decides which revisions can carry it (TL-17).
    fn is_any(value: &Option<T>) -> bool {
        let raw = value.as_ref().map(Json::json);
        raw.is_some_and(|raw| raw.kind() != Kind::Object)
    }
}

impl<'de, T: From<Object<'de>> + Serialize + Json> Rule<'de, Option<T>> for Schema {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        OptionalObject::read(deserializer)
    }

    may_be_absent!(Option<T>);

    /// The root of the schema decides which revisions can carry it (TL-17).
    fn is_any(value: &Option<T>) -> bool {
        let describes_object = |schema: Raw<'_>| {
            let kind = schema.object()?.get("type")?.string()?;
            (kind == "object").then_some(())
        };
        let schema = value.as_ref().map(Json::json);
        schema.is_some_and(|schema| describes_object(schema).is_none())
    }
}

impl<'de, T: Deserialize<'de> + Serialize + Echo> Rule<'de, Option<T>> for Echoed {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Option::deserialize(deserializer)
    }

    fn missing() -> Option<Option<T>> {
        Some(None)
    }

    fn write<S: SerializeStruct>(
        value: &Option<T>,
        name: &'static str,
        members: &mut S,
    ) -> Result<(), S::Error> {
        match value {
            Some(text) => members.serialize_field(name, &text.echo()),
            None => members.skip_field(name),
        }
    }
}

impl<'de> Rule<'de, ElicitationSchema<'de>> for Form {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<ElicitationSchema<'de>, D::Error> {
        ElicitationSchema::deserialize(deserializer)
    }
}

/// A schema is written as the revision defines it; other values are passed on.
#[cfg(feature = "alloc")]
impl<'de> Rule<'de, RawBuf> for Form {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<RawBuf, D::Error> {
        AnObject::read(deserializer)
    }

    fn write<S: SerializeStruct>(
        value: &RawBuf,
        name: &'static str,
        members: &mut S,
    ) -> Result<(), S::Error> {
        match value.decode::<ElicitationSchema<'_>>() {
            Ok(schema) => members.serialize_field(name, &schema),
            Err(_) => members.serialize_field(name, value),
        }
    }
}

impl<'de> Rule<'de, Option<i64>> for Lifetime {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
        let value = Option::<i64>::deserialize(deserializer)?;
        in_range(
            value,
            value.is_none_or(|value| value.unsigned_abs() <= MAX_SAFE),
        )
    }

    fn missing() -> Option<Option<i64>> {
        Some(None)
    }
}

impl<'de> Rule<'de, Option<u64>> for Interval {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let value = Option::<u64>::deserialize(deserializer)?;
        in_range(value, value.is_none_or(|value| value <= MAX_SAFE))
    }

    may_be_absent!(Option<u64>);
}

/// The largest integer that every implementation of JSON reads exactly.
const MAX_SAFE: u64 = (1 << 53) - 1;

fn in_range<T, E: Error>(value: T, fits: bool) -> Result<T, E> {
    if fits {
        Ok(value)
    } else {
        Err(E::custom("the number is larger than 2^53 - 1"))
    }
}

/// A value whose `null` counts as absent.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A value that may stand for a member that is not there.
pub trait Absent: Default {
    /// Returns whether it does.
    fn is_absent(&self) -> bool;
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl Absent for bool {
    fn is_absent(&self) -> bool {
        !*self
    }
}

#[cfg(feature = "alloc")]
impl<T> Absent for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// A value that is JSON.
pub trait Json {
    /// The value.
    fn json(&self) -> Raw<'_>;
}

impl Json for Raw<'_> {
    fn json(&self) -> Raw<'_> {
        *self
    }
}

impl Json for Object<'_> {
    fn json(&self) -> Raw<'_> {
        self.as_raw()
    }
}

#[cfg(feature = "alloc")]
impl Json for RawBuf {
    fn json(&self) -> Raw<'_> {
        self.as_raw()
    }
}

/// A text that goes back byte for byte as it came.
pub trait Echo {
    /// Returns what writes it so.
    fn echo(&self) -> impl Serialize;
}

impl Echo for Str<'_> {
    fn echo(&self) -> impl Serialize {
        Exact(*self)
    }
}
