//! Text and lists of text in JSON documents.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use mcp_proto::json::Raw;

use crate::UnixTime;

/// The text of a string that is Unicode; `None` for every other value.
pub(super) fn of(value: Raw<'_>) -> Option<Cow<'_, str>> {
    let text = value.string()?;
    text.is_exact().then(|| text.to_cow())
}

/// The texts of a string or of an array of strings; `None` for every other value.
pub(super) fn one_or_many(value: Raw<'_>) -> Option<Vec<String>> {
    match value.array() {
        Some(array) => array
            .elements()
            .map(|element| Some(of(element)?.into_owned()))
            .collect(),
        None => Some(alloc::vec![of(value)?.into_owned()]),
    }
}

/// A `NumericDate` (RFC 7519, section 2) without its fraction; `None` for every other value, and for a number
/// that is too large to be exact.
pub(super) fn time(value: Raw<'_>) -> Option<UnixTime> {
    let number = value.number()?;
    let seconds = match number.to_u64() {
        Some(seconds) => seconds,
        // The conversion saturates: what is negative becomes 0.
        None => {
            let seconds = number.to_f64();
            (seconds < EXACT).then_some(seconds as u64)?
        }
    };
    Some(UnixTime::from_secs(seconds))
}

/// From here on not every whole number is one of floating point.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns true if `seconds` have passed since a moment. A clock that was set back counts as
/// passed, so that nothing waits until it has caught up.
pub(super) const fn has_passed(since: UnixTime, seconds: u64, now: UnixTime) -> bool {
    match now.as_secs().checked_sub(since.as_secs()) {
        Some(passed) => passed >= seconds,
        None => true,
    }
}
