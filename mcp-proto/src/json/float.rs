//! Between decimal text and `f64`, in a few hundred bytes.
//!
//! The standard library does the same faster, with tables of ten kilobytes and with panics that
//! a linker cannot remove; firmware has no room for either. Here a number is scaled by ten, step
//! by step, with 128 bits of which 53 are wanted.

/// A decimal number: `digits` times ten to the power of `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) negative: bool,
    /// Up to 38 significant digits.
    pub(super) digits: u128,
    pub(super) exponent: i32,
    /// True if the number has more digits than `digits` holds.
    pub(super) truncated: bool,
}

impl Parts {
    /// Takes the text of a number apart.
    pub(super) fn of(number: &[u8]) -> Self {
        let mut parts = Self {
            negative: false,
            digits: 0,
            exponent: 0,
            truncated: false,
        };
        let mut fraction = 0;
        let mut bytes = number.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'-' => parts.negative = true,
                b'.' => fraction = 1,
                b'0'..=b'9' => {
                    let digit = u128::from(byte.wrapping_sub(b'0'));
                    if parts.digits < LIMIT / 10 {
                        parts.digits = parts.digits * 10 + digit;
                        parts.exponent = parts.exponent.saturating_sub(fraction);
                    } else {
                        parts.truncated |= digit != 0;
                        parts.exponent = parts.exponent.saturating_add(1 - fraction);
                    }
                }
                _ => {
                    parts.scale(bytes.as_slice());
                    break;
                }
            }
        }
        parts
    }

    /// Applies the text behind the `e`.
    fn scale(&mut self, exponent: &[u8]) {
        let negative = exponent.first() == Some(&b'-');
        let digits = exponent.iter().filter(|byte| byte.is_ascii_digit());
        let value = digits.fold(0i32, |value, digit| {
            value
                .saturating_mul(10)
                .saturating_add(i32::from(digit - b'0'))
        });
        let signed = if negative { -value } else { value };
        self.exponent = self.exponent.saturating_add(signed);
    }

    /// The nearest `f64`.
    pub(super) fn to_f64(self) -> f64 {
        let magnitude = self.magnitude();
        if self.negative { -magnitude } else { magnitude }
    }

    fn magnitude(self) -> f64 {
        // Both factors are exact here, so the hardware rounds once, and right.
        let power = POWERS.get(self.exponent.unsigned_abs() as usize);
        if let (Some(power), ..=0x20_0000_0000_0000, false) = (power, self.digits, self.truncated) {
            let digits = self.digits as u64 as f64;
            return if self.exponent < 0 {
                digits / power
            } else {
                digits * power
            };
        }
        if self.digits == 0 || self.exponent < -400 {
            return 0.0;
        }
        if self.exponent > 400 {
            return f64::INFINITY;
        }
        let mut scaled = Scaled::new(self.digits, 0);
        scaled.inexact = self.truncated;
        scaled.scale(self.exponent);
        scaled.round()
    }
}

/// One more than 38 digits; what is less times ten fits 128 bits.
pub(super) const LIMIT: u128 = 10u128.pow(38);

/// A short decimal that reads back as `value`, which is positive and finite. `same` tells
/// whether a candidate does. It is the shortest, except that a power of two may get a digit
/// more: numbers below it lie closer than those above, and only the nearest decimal is tried.
pub(super) fn shortest(value: f64, same: impl Fn(f64) -> bool) -> Parts {
    let bits = value.to_bits();
    let fraction = bits & 0xF_FFFF_FFFF_FFFF;
    let scaled = match (bits >> 52) as i32 {
        0 => Scaled::new(fraction.into(), -1074),
        exponent => Scaled::new((fraction | 0x10_0000_0000_0000).into(), exponent - 1075),
    };
    let (digits, exponent) = scaled.decimal();
    let mut parts = Parts {
        negative: false,
        digits: digits.into(),
        exponent,
        truncated: false,
    };
    // From one digit to seventeen, which always do.
    let mut unit = 1u64;
    let mut dropped = 0;
    while digits / 10 >= unit {
        unit *= 10;
        dropped += 1;
    }
    while unit > 1 {
        let rounded = digits.saturating_add(unit / 2).checked_div(unit);
        parts.digits = rounded.unwrap_or(digits).into();
        parts.exponent = exponent + dropped;
        if same(parts.magnitude()) {
            return parts;
        }
        unit /= 10;
        dropped -= 1;
    }
    Parts {
        digits: digits.into(),
        exponent,
        ..parts
    }
}

/// Exact powers of ten.
static POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// `mantissa` times two to the power of `exponent`; the mantissa's highest bit is set.
#[derive(Clone, Copy)]
struct Scaled {
    mantissa: u128,
    exponent: i32,
    /// True if bits below the mantissa were lost.
    inexact: bool,
}

impl Scaled {
    /// A value that is not zero.
    fn new(digits: u128, exponent: i32) -> Self {
        let mut scaled = Self {
            mantissa: digits,
            exponent,
            inexact: false,
        };
        scaled.normalize();
        scaled
    }

    fn normalize(&mut self) {
        let zeros = self.mantissa.leading_zeros();
        self.mantissa = self.mantissa.checked_shl(zeros).unwrap_or(0);
        self.exponent -= zeros as i32;
    }

    /// Multiplies by a power of ten.
    fn scale(&mut self, power: i32) {
        for _ in 0..power {
            self.times_ten();
        }
        for _ in power..0 {
            self.tenth();
        }
    }

    fn times_ten(&mut self) {
        // Four bits make room for the carry.
        self.inexact |= self.mantissa & 0xF != 0;
        self.mantissa = (self.mantissa >> 4).wrapping_mul(10);
        self.exponent += 4;
        self.normalize();
    }

    fn tenth(&mut self) {
        // Digit by digit in base 2^32: a division of 128 bits is a function of its own.
        let mut quotient = 0u128;
        let mut rest = 0u64;
        for shift in [96, 64, 32, 0] {
            let digit = rest << 32 | (self.mantissa >> shift) as u64 & 0xFFFF_FFFF;
            quotient = quotient << 32 | u128::from(digit / 10);
            rest = digit % 10;
        }
        self.inexact |= rest != 0;
        self.mantissa = quotient;
        self.normalize();
    }

    /// The power of two of the highest bit.
    const fn magnitude(&self) -> i32 {
        self.exponent + 127
    }

    /// The nearest `f64`, of two equally near the even one.
    fn round(self) -> f64 {
        let magnitude = self.magnitude();
        if magnitude > 1023 {
            return f64::INFINITY;
        }
        // Below 2^-1022 the places are fixed, so the fewer of them are left.
        let denormal = (-1022 - magnitude).max(0);
        let dropped = 75u32.saturating_add(denormal.unsigned_abs());
        let Some(half) = 1u128.checked_shl(dropped - 1) else {
            return 0.0;
        };
        let kept = self.mantissa.checked_shr(dropped).unwrap_or(0) as u64;
        let below = self.mantissa & (half - 1) != 0 || self.inexact;
        let up = self.mantissa & half != 0 && (below || kept & 1 == 1);
        // The highest bit of what is kept counts one in the exponent's place, and so does a
        // carry out of it.
        let field = if denormal > 0 {
            0
        } else {
            (magnitude + 1022) as u64
        };
        f64::from_bits((field << 52).wrapping_add(kept).wrapping_add(up.into()))
    }

    /// The value as 17 to 19 digits and a power of ten.
    fn decimal(mut self) -> (u64, i32) {
        let mut power = 0;
        // A step is a factor between 2^3 and 2^4, so it cannot miss four magnitudes.
        while self.magnitude() > 59 {
            self.tenth();
            power += 1;
        }
        while self.magnitude() < 56 {
            self.times_ten();
            power -= 1;
        }
        let below = 127 - self.magnitude();
        let digits = self.mantissa.checked_shr(below.unsigned_abs()).unwrap_or(0);
        (digits as u64, power)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    extern crate alloc;
    use alloc::format;

    #[track_caller]
    fn reads(text: &str) {
        let expected: f64 = text.parse().unwrap();
        let value = Parts::of(text.as_bytes()).to_f64();
        assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
    }

    fn survives(value: f64) {
        let parts = shortest(value.abs(), |other| other == value.abs());
        let text = format!("{}e{}", parts.digits, parts.exponent);
        assert_eq!(text.parse(), Ok(value.abs()), "{value:e} {text}");
        // Rust's own writes the shortest.
        let digits = format!("{:e}", value.abs());
        let digits = digits.split('e').next().unwrap().replace('.', "").len();
        let ours = format!("{}", parts.digits).trim_end_matches('0').len();
        let spare = usize::from(value.to_bits().trailing_zeros() >= 52);
        assert!(ours <= digits + spare, "{text}");
        reads(&format!("{value:e}"));
    }

    #[test]
    fn hard_cases() {
        for text in [
            "0",
            "-0",
            "0.0",
            "1",
            "-1.5",
            "0.1",
            "123456789",
            "9007199254740992",
            "9007199254740993",
            "9007199254740994",
            "9007199254740993.00000000000000000001",
            "9007199254740995",
            "18446744073709551615",
            "18446744073709551616",
            "1e22",
            "1e23",
            "8.5e22",
            "1e308",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "1e400",
            "-1e999999999999",
            "5e-324",
            "2.5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1e-400",
            "1e-99999999999",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "4.4501477170144023e-308",
            "0.000000000000000000000000000000000000000000000000000000000000001",
            "123456789012345678901234567890",
            "100000000000000000000000000000000e-30",
            "6.02214076e23",
            "3.14159265358979323846264338327950288",
            "0e999",
            "7.0e-10",
            "2.2250738585072012e-308",
            "1448997445238699",
            "0.500000000000000166533453693773481063",
        ] {
            reads(text);
        }
        for power in -1074..1024 {
            let value = 2f64.powi(power);
            [value, value.next_up(), value.next_down()]
                .into_iter()
                .filter(|v| *v > 0.0)
                .for_each(survives);
        }
        for power in -323..309 {
            survives(format!("1e{power}").parse().unwrap());
        }
        survives(f64::MAX);
    }

    proptest! {
        #[test]
        fn floats(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            if value.is_finite() && value != 0.0 {
                survives(value);
            }
        }

        #[test]
        fn decimals(digits in any::<u64>(), places in 0u32..19, exponent in -340i32..330) {
            let divisor = 10u64.pow(places);
            reads(&format!("{}.{:0width$}e{exponent}", digits / divisor, digits % divisor, width = places.max(1) as usize));
            reads(&format!("{}e-{places}", digits >> 20));
        }
    }
}
