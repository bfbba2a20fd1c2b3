//! The formats of texts in forms, as far as they are worth checking before the server does.

/// Checks a text against one of the formats that forms know.
///
/// # Errors
///
/// A description of the texts that have the format.
pub(crate) fn format(format: &str, text: &str) -> Result<(), String> {
    let (good, wanted) = match format {
        "email" => (is_email(text), "an e-mail address"),
        "uri" => (is_uri(text), "a URI"),
        "date" => (is_date(text), "a date like 2026-07-28"),
        "date-time" => (is_date_time(text), "a time like 2026-07-28T12:30:00Z"),
        _ => (true, ""),
    };
    if good {
        Ok(())
    } else {
        Err(format!("{wanted}, please"))
    }
}

fn is_email(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    let blank = text.contains(|c: char| c.is_whitespace() || c.is_control());
    parts.is_some_and(|(who, host)| !who.is_empty() && !host.is_empty()) && !blank
}

fn is_uri(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let good = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    scheme.is_some_and(good) && !text.contains(char::is_whitespace)
}

fn is_date(text: &str) -> bool {
    let [year, month, day] = numbers(text, '-');
    let widths = text.split('-').map(str::len).eq([4, 2, 2]);
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    widths && (1..=days).contains(&day)
}

/// RFC 3339, section 5.6.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (clock, zone) = time.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':');
    let within = |number: Option<u32>, limit| number.is_some_and(|number| number < limit);
    let offset = match zone {
        "Z" | "z" => true,
        zone => {
            let [hours, minutes, _] = numbers(zone.get(1..).unwrap_or_default(), ':');
            within(hours, 24) && within(minutes, 60) && zone.len() == 6
        }
    };
    let fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let widths = clock.split(':').map(str::len).eq([2, 2, 2]);
    let clock = within(hour, 24) && within(minute, 60) && within(second, 61) && widths;
    is_date(date) && clock && fraction && offset
}

fn numbers(text: &str, between: char) -> [Option<u32>; 3] {
    let mut parts = text.split(between).map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits)
    });
    [(); 3].map(|()| parts.next().flatten())
}

#[cfg(test)]
mod tests {
    #[test]
    fn formats() {
        let check = |format: &str, text: &str, good: bool| {
            assert_eq!(
                super::format(format, text).is_ok(),
                good,
                "{format}: {text}"
            );
        };
        check("email", "ada@example.com", true);
        check("email", "ada", false);
        check("email", "@example.com", false);
        check("email", "a da@example.com", false);
        check("uri", "https://example.com/a?b#c", true);
        check("uri", "urn:x", true);
        check("uri", "example.com", false);
        check("uri", "1x:y", false);
        check("date", "2024-02-29", true);
        check("date", "2026-02-29", false);
        check("date", "2026-13-01", false);
        check("date", "2026-1-1", false);
        check("date", "2026-01-01-01", false);
        check("date", "+026-01-01", false);
        check("date-time", "2026-07-28T12:30:00Z", true);
        check("date-time", "2026-07-28t12:30:00.125+02:00", true);
        check("date-time", "2026-07-28T12:30:00", false);
        check("date-time", "2026-07-28T24:00:00Z", false);
        check("date-time", "2026-07-28T12:30Z", false);
        check("date-time", "2026-07-28", false);
        check("regex", "whatever", true);
    }
}
