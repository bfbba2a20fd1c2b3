//! Compares numbers without converting them.

use super::float::{LIMIT, Parts};

/// A number in an order that integer instructions can tell: which of two is the greater is
/// decided by the first 18 significant digits.
///
/// The default is below every number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Decimal {
    sign: Sign,
    /// The power of ten of the first digit; of a negative number its complement, so that the
    /// greater one is the smaller number.
    magnitude: i32,
    /// The highest bits of 38 digits, the first of them not zero; likewise.
    digits: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    #[default]
    None,
    Negative,
    Zero,
    Positive,
}

impl Decimal {
    pub(super) fn new(parts: Parts) -> Self {
        if parts.digits == 0 {
            return Self {
                sign: Sign::Zero,
                ..Self::default()
            };
        }
        let mut digits = parts.digits;
        let mut magnitude = parts.exponent;
        while let Some(more) = digits.checked_mul(10).filter(|more| *more < LIMIT) {
            digits = more;
            magnitude = magnitude.saturating_sub(1);
        }
        let digits = (digits >> 63) as u64;
        if parts.negative {
            Self {
                sign: Sign::Negative,
                magnitude: !magnitude,
                digits: !digits,
            }
        } else {
            Self {
                sign: Sign::Positive,
                magnitude,
                digits,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order() {
        let ascending = [
            "-1e400",
            "-2e10",
            "-10000000000",
            "-1.5",
            "-1",
            "-0.5",
            "-1e-300",
            "0",
            "1e-400",
            "0.09",
            "0.1",
            "0.11",
            "1",
            "1.5",
            "9.99",
            "10",
            "99",
            "1e2",
            "100.5",
            "1E3",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "1e99999999999",
        ];
        let decimals = ascending.map(|text| Decimal::new(Parts::of(text.as_bytes())));
        assert!(decimals.is_sorted_by(|a, b| a < b));
        assert!(decimals.iter().all(|decimal| *decimal > Decimal::default()));
        let same = |a: &str, b: &str| {
            let (a, b) = (Parts::of(a.as_bytes()), Parts::of(b.as_bytes()));
            assert_eq!(Decimal::new(a), Decimal::new(b));
        };
        same("1", "1.000");
        same("100", "1e2");
        same("0", "-0.0e7");
        same("0.5", "50e-2");
    }
}
