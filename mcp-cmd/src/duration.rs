//! Durations on the command line.

use core::time::Duration;

/// Reads `30`, `1.5` (seconds), `500ms`, `2s`, `5m`, `1h`.
///
/// # Errors
///
/// A message with examples of durations, if `text` is not a duration.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration: 30, 1.5, 500ms, 2m and 1h are");
    let end = text
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end).ok_or_else(wrong)?;
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let duration = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
    // A year is longer than any wait, and short enough to be added to any moment.
    if duration.is_zero() || duration > Duration::from_secs(365 * 24 * 3600) {
        return Err(wrong());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |text: &str, milliseconds: Option<u64>| {
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(parse(text).ok(), expected, "{text}");
        };
        check("30", Some(30_000));
        check("1.5", Some(1_500));
        check("500ms", Some(500));
        check("2s", Some(2_000));
        check("5m", Some(300_000));
        check("1h", Some(3_600_000));
        check("", None);
        check("0", None);
        check("s", None);
        check("-1", None);
        check("1.2.3", None);
        check("1e9", None);
        check("99999999h", None);
        check("soon", None);
    }
}
