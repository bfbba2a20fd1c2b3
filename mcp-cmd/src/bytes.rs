//! Sizes for people.

/// So many bytes: `17 B`, `4.2 kB`, `12 MB`.
pub(crate) fn bytes(len: u64) -> String {
    let mut unit = "B";
    let mut amount = len as f64;
    for larger in ["kB", "MB", "GB", "TB"] {
        if amount < 999.5 {
            break;
        }
        (unit, amount) = (larger, amount / 1000.0);
    }
    if unit == "B" || amount >= 9.95 {
        format!("{amount:.0} {unit}")
    } else {
        format!("{amount:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check = |len, expected: &str| assert_eq!(bytes(len), expected, "{len}");
        check(0, "0 B");
        check(999, "999 B");
        check(1_000, "1.0 kB");
        check(4_249, "4.2 kB");
        check(12_345_678, "12 MB");
        check(999_600, "1.0 MB");
    }
}
