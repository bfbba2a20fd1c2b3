//! Deserializes types from validated JSON.

mod key;
mod union;

use serde::Deserialize;
use serde::de::{
    self, DeserializeSeed, Deserializer as _, EnumAccess, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use self::key::Key;
use self::union::Union;
use super::error::{DecodeError, DecodeErrorKind, Step};
use super::serde_impls::{RAW_TOKEN, STR_TOKEN, UNION_TOKEN};
use super::walk::Walk;
use super::{Kind, Number, Raw, Str};

/// Fills types from a [`Raw`], which was checked before: nothing is checked twice, and nothing
/// but the type can be wrong.
///
/// It walks the text once, borrows what it can and needs no heap. Text with escapes goes through
/// the scratch, so a type that takes it must not borrow it; half a surrogate pair becomes
/// U+FFFD. Numbers that are written as integers arrive as integers, all others as `f64`.
///
/// [`Raw::decode`] is the short way to it.
#[derive(Debug)]
pub struct Deserializer<'b, 's> {
    walk: Walk<'b>,
    scratch: &'s mut [u8],
}

impl<'b> Raw<'b> {
    /// Decodes into a type through [`Deserializer`], without a heap.
    ///
    /// `scratch` is needed only for escaped text that `T` takes as `str`, as much as its longest
    /// such string: an empty one does for types that hold [`Str`] and [`Raw`], and with feature
    /// `alloc` for all others too. Half a surrogate pair decodes to U+FFFD.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] tells what does not fit and where: `days: expected u8, found string`.
    ///
    /// ```
    /// use mcp_proto::json::Raw;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Forecast<'b> {
    ///     city: &'b str,
    ///     days: Option<u8>,
    /// }
    ///
    /// let arguments = Raw::parse(br#"{"city": "Kyoto", "days": 3}"#, 8)?;
    /// let forecast: Forecast = arguments.decode(&mut [])?;
    /// assert_eq!((forecast.city, forecast.days), ("Kyoto", Some(3)));
    ///
    /// let arguments = Raw::parse(br#"{"city": "Kyoto", "days": "3"}"#, 8)?;
    /// let error = arguments.decode::<Forecast>(&mut []).err().unwrap();
    /// assert!(error.to_string().contains("days"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode<T: Deserialize<'b>>(self, scratch: &mut [u8]) -> Result<T, DecodeError> {
        T::deserialize(&mut Deserializer::new(self, scratch))
    }
}

impl<'b, 's> Deserializer<'b, 's> {
    /// Begins before `raw`. See [`Raw::decode`] for how long `scratch` has to be.
    pub fn new(raw: Raw<'b>, scratch: &'s mut [u8]) -> Self {
        Self {
            walk: Walk::before(raw),
            scratch,
        }
    }

    /// The kind of the value that comes next.
    #[inline]
    fn peek(&mut self) -> Kind {
        match self.walk.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// The value that comes next.
    #[inline]
    fn take(&mut self) -> Raw<'b> {
        self.walk.next().unwrap_or_default()
    }

    fn take_number(&mut self) -> Number<'b> {
        Number::received(self.take().as_bytes())
    }

    fn take_string(&mut self) -> Result<Str<'b>, DecodeError> {
        match self.walk.string() {
            Some(text) => Ok(text),
            None => Err(DecodeError::new(DecodeErrorKind::Type(self.peek()))),
        }
    }

    /// Checks that a value of this kind comes next. A type that asks for one kind links no code for the others, of which that for
    /// numbers is large where the processor has no floating point.
    fn expect<V: Visitor<'b>>(&mut self, kind: Kind, visitor: &V) -> Result<(), DecodeError> {
        match self.peek() {
            found if found == kind => Ok(()),
            found => Err(DecodeError::mismatch(found, visitor)),
        }
    }

    fn visit_unit<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        self.take();
        visitor.visit_unit()
    }

    fn visit_bool<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_bool(self.take().boolean().unwrap_or_default())
    }

    fn visit_number<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        visit_number(self.take_number(), visitor)
    }

    fn visit_string<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        visit_text(self.take_string()?, self.scratch, visitor)
    }

    fn visit_array<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        self.walk.pass();
        let value = visitor.visit_seq(Entries::new(self, &[]))?;
        self.close(b']')?;
        Ok(value)
    }

    fn visit_object<V: Visitor<'b>>(
        &mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.walk.pass();
        let value = visitor.visit_map(Entries::new(self, fields))?;
        self.close(b'}')?;
        Ok(value)
    }

    fn visit_map<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        self.visit_object(&[], visitor)
    }

    /// Passes the end of a container, of which the visitor must have taken everything.
    fn close(&mut self, end: u8) -> Result<(), DecodeError> {
        if self.walk.peek() != Some(end) {
            return Err(DecodeError::new(DecodeErrorKind::Length));
        }
        self.walk.pass();
        Ok(())
    }
}

/// Makes the methods for types that ask for one kind of value.
macro_rules! of_one_kind {
    ($($kind:ident $visit:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            self.expect(Kind::$kind, &visitor)?;
            self.$visit(visitor)
        }
    )*)*};
}

impl<'b> de::Deserializer<'b> for &mut Deserializer<'b, '_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Null => self.visit_unit(visitor),
            Kind::Bool => self.visit_bool(visitor),
            Kind::Number => self.visit_number(visitor),
            Kind::String => self.visit_string(visitor),
            Kind::Array => self.visit_array(visitor),
            Kind::Object => self.visit_map(visitor),
        }
    }

    of_one_kind! {
        Null visit_unit: deserialize_unit;
        Bool visit_bool: deserialize_bool;
        Number visit_number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
            deserialize_f32 deserialize_f64;
        String visit_string: deserialize_str deserialize_string deserialize_identifier;
        Array visit_array: deserialize_seq;
        Object visit_map: deserialize_map;
    }

    fn deserialize_i128<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.expect(Kind::Number, &visitor)?;
        match self.take_number().to_i128() {
            Some(value) => visitor.visit_i128(value),
            None => Err(DecodeError::new(DecodeErrorKind::Range)),
        }
    }

    fn deserialize_u128<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.expect(Kind::Number, &visitor)?;
        match self.take_number().to_u128() {
            Some(value) => visitor.visit_u128(value),
            None => Err(DecodeError::new(DecodeErrorKind::Range)),
        }
    }

    fn deserialize_char<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.expect(Kind::String, &visitor)?;
        let text = self.take_string()?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => visitor.visit_char(char),
            _ => visit_text(text, self.scratch, visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.peek() != Kind::String {
            return self.deserialize_seq(visitor);
        }
        let text = self.take_string()?;
        match text.as_plain() {
            Some(plain) => visitor.visit_borrowed_bytes(plain.as_bytes()),
            None => visitor.visit_bytes(text.decode(self.scratch)?.as_bytes()),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple<V: Visitor<'b>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_option<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Null => {
                self.take();
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'b>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            RAW_TOKEN => visitor.visit_borrowed_bytes(self.take().as_bytes()),
            STR_TOKEN => visitor.visit_borrowed_bytes(self.take_string()?.content()),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Object => self.visit_object(fields, visitor),
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'b>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == UNION_TOKEN {
            return match Union::open(self, variants) {
                Some(union) => visitor.visit_enum(union),
                None => visitor.visit_borrowed_bytes(self.take().as_bytes()),
            };
        }
        match self.peek() {
            Kind::String => visitor.visit_enum(Variant::named(self, variants)),
            Kind::Object => {
                self.walk.pass();
                let value = visitor.visit_enum(Variant::with_content(self, variants))?;
                self.close(b'}')?;
                Ok(value)
            }
            other => Err(DecodeError::new(DecodeErrorKind::Type(other))),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.take();
        visitor.visit_unit()
    }
}

/// The entries of a container whose opening bracket was passed.
struct Entries<'d, 'b, 's> {
    deserializer: &'d mut Deserializer<'b, 's>,
    /// The members that the type knows.
    fields: &'static [&'static str],
    /// The current member, to tell where an error happens.
    key: Str<'b>,
    /// The current element, likewise.
    next: u32,
}

impl<'d, 'b, 's> Entries<'d, 'b, 's> {
    fn new(deserializer: &'d mut Deserializer<'b, 's>, fields: &'static [&'static str]) -> Self {
        Self {
            deserializer,
            fields,
            key: Str::default(),
            next: 0,
        }
    }
}

impl<'b> SeqAccess<'b> for Entries<'_, 'b, '_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'b>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        if let None | Some(b']') = self.deserializer.walk.peek() {
            return Ok(None);
        }
        let index = self.next;
        self.next = index.saturating_add(1);
        match seed.deserialize(&mut *self.deserializer) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.within(Step::Index(index))),
        }
    }
}

impl<'b> MapAccess<'b> for Entries<'_, 'b, '_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'b>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some(text) = self.deserializer.walk.string() else {
            return Ok(None);
        };
        self.key = text;
        let key = Key::new(text, self.fields, &mut *self.deserializer.scratch);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        match seed.deserialize(&mut *self.deserializer) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.within(step(self.key, self.fields))),
        }
    }
}

/// An enum's value: a name, or an object whose only member has that name.
struct Variant<'d, 'b, 's> {
    deserializer: &'d mut Deserializer<'b, 's>,
    variants: &'static [&'static str],
    has_content: bool,
    name: Str<'b>,
}

impl<'d, 'b, 's> Variant<'d, 'b, 's> {
    fn named(
        deserializer: &'d mut Deserializer<'b, 's>,
        variants: &'static [&'static str],
    ) -> Self {
        Self {
            deserializer,
            variants,
            has_content: false,
            name: Str::default(),
        }
    }

    fn with_content(
        deserializer: &'d mut Deserializer<'b, 's>,
        variants: &'static [&'static str],
    ) -> Self {
        Self {
            deserializer,
            variants,
            has_content: true,
            name: Str::default(),
        }
    }
}

impl<'b> EnumAccess<'b> for Variant<'_, 'b, '_> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'b>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        let Some(name) = self.deserializer.walk.string() else {
            return Err(DecodeError::new(DecodeErrorKind::Length));
        };
        self.name = name;
        let key = Key::new(name, self.variants, &mut *self.deserializer.scratch);
        Ok((seed.deserialize(key)?, self))
    }
}

impl<'b> VariantAccess<'b> for Variant<'_, 'b, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        if self.has_content {
            self.content(<()>::deserialize)
        } else {
            Ok(())
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'b>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        self.content(|deserializer| seed.deserialize(deserializer))
    }

    fn tuple_variant<V: Visitor<'b>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.content(|deserializer| deserializer.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'b>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.content(|deserializer| deserializer.deserialize_struct("", fields, visitor))
    }
}

impl<'d, 'b, 's> Variant<'d, 'b, 's> {
    fn content<T>(
        self,
        read: impl FnOnce(&'d mut Deserializer<'b, 's>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if !self.has_content {
            return Err(DecodeError::new(DecodeErrorKind::Type(Kind::String)));
        }
        read(self.deserializer).map_err(|error| error.within(step(self.name, self.variants)))
    }
}

fn step(name: Str<'_>, known: &'static [&'static str]) -> Step {
    let known = known.iter().find(|known| name == **known);
    known.map_or(Step::ENTRY, |known| Step::Field(known))
}

fn visit_number<'b, V: Visitor<'b>>(
    number: Number<'b>,
    visitor: V,
) -> Result<V::Value, DecodeError> {
    if let Some(value) = number.to_u64() {
        visitor.visit_u64(value)
    } else if let Some(value) = number.to_i64() {
        visitor.visit_i64(value)
    } else {
        let value = number.to_f64();
        if value.is_finite() {
            visitor.visit_f64(value)
        } else {
            Err(DecodeError::new(DecodeErrorKind::Range))
        }
    }
}

fn visit_text<'b, V: Visitor<'b>>(
    text: Str<'b>,
    scratch: &mut [u8],
    visitor: V,
) -> Result<V::Value, DecodeError> {
    if let Some(plain) = text.as_plain() {
        return visitor.visit_borrowed_str(plain);
    }
    match text.decode(scratch) {
        Ok(decoded) => visitor.visit_str(decoded),
        #[cfg(feature = "alloc")]
        Err(_) => visitor.visit_string(text.to_cow().into_owned()),
        #[cfg(not(feature = "alloc"))]
        Err(error) => Err(error),
    }
}

/// A name that is looked for among known ones: those need no scratch, however they are escaped.
fn visit_name<'b, V: Visitor<'b>>(
    text: Str<'b>,
    known: &'static [&'static str],
    scratch: &mut [u8],
    visitor: V,
) -> Result<V::Value, DecodeError> {
    // The name of the type needs no check for UTF-8.
    if let Some(name) = known.iter().find(|name| text.is(name.as_bytes())) {
        return visitor.visit_borrowed_str(name);
    }
    // An unknown member is mostly ignored, and must not fail for want of a scratch. As it
    // stands, with its backslash, it is still unknown.
    if cfg!(not(feature = "alloc"))
        && !known.is_empty()
        && text.plain_bytes().is_none()
        && text.decoded_len() > scratch.len()
    {
        return visitor.visit_bytes(text.content());
    }
    visit_text(text, scratch, visitor)
}
