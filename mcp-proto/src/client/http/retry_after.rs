//! The header `Retry-After` (RFC 9110, sections 5.6.7 and 10.2.3).

use core::time::Duration;

use super::reply::ReplyHead;
use super::retry::LONGEST;
use super::retry::is_transient;
use crate::json;

/// The delay that a refusal asks for, an hour at most. A moment is compared with the server's own
/// `Date`, so it needs no clock of this side; without one it says nothing.
pub(super) fn delay(head: &ReplyHead<'_>) -> Option<Duration> {
    let value = head.retry_after.filter(|_| is_transient(head.status))?;
    let value = value.trim_ascii();
    let seconds = match number(value) {
        Some(seconds) => seconds,
        None => moment(value)?.checked_sub(moment(head.date?.trim_ascii())?)?,
    };
    Some(Duration::from_secs(seconds).min(LONGEST))
}

/// Decimal digits; what is too large for an integer is as long as the longest.
fn number(digits: &[u8]) -> Option<u64> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    all.then(|| json::digits(digits).unwrap_or(u64::MAX))
}

/// The seconds from 1970 to a date in one of the three forms of HTTP.
fn moment(text: &[u8]) -> Option<u64> {
    let separator = |byte: &u8| matches!(byte, b' ' | b',' | b'-' | b':');
    let mut parts = text.split(separator).filter(|part| !part.is_empty());
    let mut next = || parts.next();
    let (_weekday, second, third) = (next()?, next()?, next()?);
    // `Sun Nov  6 08:49:37 1994` names the month first and the year last.
    let (day, month, year, time);
    if second.first()?.is_ascii_digit() {
        (day, month, year) = (number(second)?, third, Some(next()?));
        time = [number(next()?)?, number(next()?)?, number(next()?)?];
    } else {
        (day, month) = (number(third)?, second);
        time = [number(next()?)?, number(next()?)?, number(next()?)?];
        year = next();
    }
    let year = match year? {
        // `Sunday, 06-Nov-94 08:49:37 GMT`; what is compared lies close together.
        short if short.len() == 2 => 2000 + number(short)?,
        long => number(long)?,
    };
    let month = MONTHS.iter().position(|name| name.as_bytes() == month)? as u64;
    let [hour, minute, second] = time;
    let valid = (1970..10_000).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    valid.then(|| {
        let days = days_before(year, month) + day - 1;
        ((days * 24 + hour) * 60 + minute) * 60 + second
    })
}

/// Days from 1970 to the first of a month, which counts from 0. The year begins in March here, so
/// that a leap day is its last.
fn days_before(year: u64, month: u64) -> u64 {
    let (year, month) = match month {
        0 | 1 => (year.saturating_sub(1), month + 10),
        _ => (year, month - 2),
    };
    let leap = year / 4 - year / 100 + year / 400;
    (year * 365 + leap + (month * 153 + 2) / 5).saturating_sub(EPOCH)
}

/// The days from the year 0 to 1970, as `days_before` counts them.
const EPOCH: u64 = 719_468;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_of_a_date() {
        for date in [
            "Sun, 06 Nov 2094 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 2094",
        ] {
            assert_eq!(moment(date.as_bytes()), Some(3_939_871_777), "{date}");
        }
        for (date, expected) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Wed, 01 Jan 2025 00:00:00 GMT", 1_735_689_600),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] {
            assert_eq!(moment(date.as_bytes()), Some(expected), "{date}");
        }
        for wrong in [
            "",
            "Sun",
            "Sun, 06 Nov",
            "Sun, 06 Foo 2094 08:49:37 GMT",
            "Sun, 06 Nov 2094 24:49:37 GMT",
            "Sun, 32 Nov 2094 08:49:37 GMT",
            "Sun, 06 Nov 1894 08:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
            "Sun, 06 Nov 2094 08:49:xx GMT",
        ] {
            assert_eq!(moment(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn seconds_and_moments_are_bounded() {
        let check = |status, retry_after: &str, date: Option<&str>, expected: Option<u64>| {
            let head = ReplyHead {
                retry_after: Some(retry_after.as_bytes()),
                date: date.map(str::as_bytes),
                ..ReplyHead::new(status)
            };
            assert_eq!(
                delay(&head),
                expected.map(Duration::from_secs),
                "{retry_after}"
            );
        };
        let date = Some("Sun, 06 Nov 2094 08:49:37 GMT");
        check(503, "120", None, Some(120));
        check(429, " 0 ", None, Some(0));
        check(503, "99999999999999999999999", None, Some(3_600));
        check(503, "Sun, 06 Nov 2094 08:50:07 GMT", date, Some(30));
        check(503, "Mon, 07 Nov 2094 08:50:07 GMT", date, Some(3_600));
        check(503, "Sun, 06 Nov 2094 08:49:07 GMT", date, None);
        check(503, "Sun, 06 Nov 2094 08:50:07 GMT", None, None);
        check(503, "Sun, 06 Nov 2094 08:50:07 GMT", Some("x"), None);
        check(503, "-1", date, None);
        check(503, "soon", date, None);
        check(503, "", date, None);
        check(400, "120", None, None);
        check(200, "120", None, None);
    }
}
