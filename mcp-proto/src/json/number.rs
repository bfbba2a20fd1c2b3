//! JSON numbers.

use core::fmt;

use super::decimal::Decimal;
use super::float::Parts;
use super::string::Form;
use super::{Kind, Raw, utf8};

/// A number as it was written: `9007199254740993` and `1e400` lose nothing here.
#[derive(Clone, Copy)]
pub struct Number<'b> {
    bytes: &'b [u8],
}

impl<'b> Number<'b> {
    /// The text of a number that a scanner has accepted.
    pub(crate) const fn received(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    /// Reads a text that is one number and nothing else.
    ///
    /// ```
    /// use mcp_proto::json::Number;
    ///
    /// let half = Number::parse("0.5").ok_or("no number")?;
    /// assert_eq!(half.to_f64(), 0.5);
    /// assert_eq!(Number::parse(".5"), None);
    /// assert_eq!(Number::parse(" 5"), None);
    /// assert_eq!(Number::parse("true"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &'b str) -> Option<Self> {
        let number = Raw::parse(text.as_bytes(), 1).ok()?.number()?;
        (number.bytes.len() == text.len()).then_some(number)
    }

    /// The text.
    pub const fn as_bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// The text.
    pub fn as_str(self) -> &'b str {
        utf8::text(self.bytes)
    }

    /// Returns true if the number is written without fraction and exponent.
    pub fn is_integer(self) -> bool {
        !self
            .bytes
            .iter()
            .any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// The number as something to compare others with.
    pub(crate) fn decimal(self) -> Decimal {
        Decimal::new(Parts::of(self.bytes))
    }

    /// The value, if it is written as an integer that fits.
    pub fn to_u64(self) -> Option<u64> {
        match self.bytes {
            b"-0" => Some(0),
            text => digits(text),
        }
    }

    /// The value, if it is written as an integer that fits.
    pub fn to_i64(self) -> Option<i64> {
        match self.bytes.split_first()? {
            (b'-', digits) => digits.iter().try_fold(0i64, |value, digit| {
                value
                    .checked_mul(10)?
                    .checked_sub(i64::from(decimal(*digit)?))
            }),
            _ => i64::try_from(self.to_u64()?).ok(),
        }
    }

    /// The value, if it is written as an integer that fits.
    pub fn to_u128(self) -> Option<u128> {
        match self.bytes {
            b"-0" => Some(0),
            digits => digits.iter().try_fold(0u128, |value, digit| {
                value
                    .checked_mul(10)?
                    .checked_add(u128::from(decimal(*digit)?))
            }),
        }
    }

    /// The value, if it is written as an integer that fits.
    pub fn to_i128(self) -> Option<i128> {
        match self.bytes.split_first()? {
            (b'-', digits) => digits.iter().try_fold(0i128, |value, digit| {
                value
                    .checked_mul(10)?
                    .checked_sub(i128::from(decimal(*digit)?))
            }),
            _ => i128::try_from(self.to_u128()?).ok(),
        }
    }

    /// Returns the nearest value; infinite if it is out of range, as for `1e400`.
    pub fn to_f64(self) -> f64 {
        Parts::of(self.bytes).to_f64()
    }
}

impl<'b> Raw<'b> {
    /// The value, if it is a number.
    #[inline]
    pub fn number(self) -> Option<Number<'b>> {
        (self.kind() == Kind::Number).then(|| Number::received(self.as_bytes()))
    }
}

impl<'b> From<Number<'b>> for Raw<'b> {
    fn from(number: Number<'b>) -> Self {
        Self::scanned(number.bytes, Form::Plain)
    }
}

/// Numbers are compared as they are written: `1` is not `1.0`.
impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Number<'_> {}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The value of decimal digits, of which there is at least one; `None` if it does not fit.
pub(crate) fn digits(text: &[u8]) -> Option<u64> {
    let value = text.iter().try_fold(0u64, |value, digit| {
        value
            .checked_mul(10)?
            .checked_add(u64::from(decimal(*digit)?))
    });
    value.filter(|_| !text.is_empty())
}

fn decimal(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

#[cfg(test)]
mod tests {
    use crate::json::Raw;

    #[test]
    fn values() {
        let check = |text: &str, u64: Option<u64>, i64: Option<i64>, f64: f64| {
            let number = Raw::parse(text.as_bytes(), 0).unwrap().number().unwrap();
            assert_eq!(number.as_str(), text);
            assert_eq!((number.to_u64(), number.to_i64()), (u64, i64), "{text}");
            assert_eq!(number.to_f64(), f64, "{text}");
            assert_eq!(
                number.is_integer(),
                !text.contains(['.', 'e', 'E']),
                "{text}"
            );
        };
        check("0", Some(0), Some(0), 0.0);
        check("-0", Some(0), Some(0), 0.0);
        check("-1", None, Some(-1), -1.0);
        check(
            "18446744073709551615",
            Some(u64::MAX),
            None,
            18446744073709551615.0,
        );
        check("18446744073709551616", None, None, 18446744073709551616.0);
        check(
            "9223372036854775807",
            Some(i64::MAX as u64),
            Some(i64::MAX),
            9.223372036854776e18,
        );
        check(
            "-9223372036854775808",
            None,
            Some(i64::MIN),
            -9.223372036854776e18,
        );
        check("-9223372036854775809", None, None, -9.223372036854776e18);
        check(
            "1000000000000000000000000000000000000000000",
            None,
            None,
            1e42,
        );
        check("1.0", None, None, 1.0);
        check("1e2", None, None, 100.0);
        check("1E400", None, None, f64::INFINITY);
        check("-1e-400", None, None, 0.0);
        check("0.1", None, None, 0.1);
    }
}
