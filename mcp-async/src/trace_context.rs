//! The trace context of the W3C, which links the spans of a client and a server.

use core::fmt;
use core::str::FromStr;

/// The trace that a request belongs to: the W3C's `traceparent`, `tracestate` and `baggage`, as a
/// request's `_meta` carries them.
///
/// A server finds it in [`CallContext::trace_context`](crate::server::CallContext::trace_context), a
/// client sends it by [`Call::trace`](crate::client::Call::trace). An invalid `traceparent` is
/// ignored: the receiver begins a new trace.
///
/// ```
/// use mcp_async::TraceContext;
///
/// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace = TraceContext::parse(parent, Some("vendor=value")).ok_or("no trace")?;
/// assert!(trace.is_sampled());
///
/// // A span of our own comes between, and its requests name it as their parent.
/// let own = trace.child(0x1234_u64.to_be_bytes()).ok_or("a span needs an id")?;
/// assert_eq!(
///     own.to_string(),
///     "00-0af7651916cd43dd8448eb211c80319c-0000000000001234-01"
/// );
/// assert_eq!(own.state(), Some("vendor=value"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    parent_id: [u8; 8],
    flags: u8,
    state: Option<Box<str>>,
    baggage: Option<Box<str>>,
}

impl TraceContext {
    /// The trace of this id, within the span of that id; neither may be zero.
    pub fn new(trace_id: [u8; 16], parent_id: [u8; 8], sampled: bool) -> Option<Self> {
        (trace_id != [0; 16] && parent_id != [0; 8]).then_some(Self {
            trace_id,
            parent_id,
            flags: u8::from(sampled),
            state: None,
            baggage: None,
        })
    }

    /// Reads `traceparent`, and `tracestate` if there is one. A state that is longer than 512
    /// bytes or no printable ASCII is left out.
    pub fn parse(parent: &str, state: Option<&str>) -> Option<Self> {
        let mut trace: Self = parent.parse().ok()?;
        trace.state = state.filter(|state| is_state(state)).map(Box::from);
        Some(trace)
    }

    /// Returns a context of the same trace within another span: the caller's own. The id may not be
    /// zero.
    pub fn child(&self, span_id: [u8; 8]) -> Option<Self> {
        (span_id != [0; 8]).then(|| Self {
            parent_id: span_id,
            ..self.clone()
        })
    }

    /// Sets the `tracestate`, or removes it if this one is invalid.
    pub fn with_state(mut self, state: &str) -> Self {
        self.state = is_state(state).then(|| Box::from(state));
        self
    }

    /// Sets the `baggage`, or removes it if this one is longer than 8,192 bytes or no printable
    /// ASCII.
    pub fn with_baggage(mut self, baggage: &str) -> Self {
        self.baggage = is_baggage(baggage).then(|| Box::from(baggage));
        self
    }

    /// The trace.
    pub const fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// The span that the request was made in.
    pub const fn parent_id(&self) -> [u8; 8] {
        self.parent_id
    }

    /// Returns whether the caller may have recorded the trace.
    pub const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// `traceparent`, without an allocation.
    pub(crate) fn parent(&self) -> Parent {
        let mut text = [b'-'; LEN];
        let bytes = [0]
            .into_iter()
            .chain(self.trace_id)
            .chain(self.parent_id)
            .chain([self.flags]);
        let digits = bytes
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|digit| match digit {
                0..=9 => b'0' + digit,
                _ => b'a' + (digit - 10),
            });
        let places = text.iter_mut().enumerate();
        let places = places.filter(|(at, _)| !matches!(at, 2 | 35 | 52));
        for ((_, place), digit) in places.zip(digits) {
            *place = digit;
        }
        Parent(text)
    }

    /// `tracestate`: what vendors add, as it came.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// `baggage`: what applications pass on with a trace, as it came. It is no secret, and other
    /// parties may have written it.
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }
}

/// Reads a `traceparent`: of version 00 exactly, of a later one as much as that has of it.
impl FromStr for TraceContext {
    type Err = NoTrace;

    fn from_str(text: &str) -> Result<Self, NoTrace> {
        let (head, tail) = text.as_bytes().split_at_checked(LEN).ok_or(NoTrace)?;
        let mut parts = head.split(|byte| *byte == b'-');
        let mut part = || parts.next().ok_or(NoTrace);
        let [version] = hex(part()?)?;
        let (trace_id, parent_id) = (hex(part()?)?, hex(part()?)?);
        let [flags] = hex(part()?)?;
        let ends = match version {
            0 => tail.is_empty(),
            0xff => false,
            _ => matches!(tail, [] | [b'-', ..]),
        };
        let trace = Self::new(trace_id, parent_id, false).filter(|_| ends);
        Ok(Self {
            flags: flags & (SAMPLED | RANDOM),
            ..trace.ok_or(NoTrace)?
        })
    }
}

/// Writes the `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.parent().as_str())
    }
}

/// The text of a `traceparent`.
pub(crate) struct Parent([u8; LEN]);

impl Parent {
    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The text is no `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTrace;

impl fmt::Display for NoTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no valid traceparent")
    }
}

impl core::error::Error for NoTrace {}

/// Lowercase hexadecimal digits, exactly so many.
fn hex<const N: usize>(text: &[u8]) -> Result<[u8; N], NoTrace> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(NoTrace),
    };
    let (pairs, rest) = text.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return Err(NoTrace);
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Ok(bytes)
}

fn is_state(state: &str) -> bool {
    is_printable(state, STATE)
}

fn is_baggage(baggage: &str) -> bool {
    is_printable(baggage, BAGGAGE)
}

fn is_printable(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The length of a `traceparent` of version 00.
const LEN: usize = 55;
const SAMPLED: u8 = 1;
/// Level 2: the id of the trace is random enough to sample by.
const RANDOM: u8 = 2;
/// The length that every hop must pass on; more may be cut (Trace Context, 3.3.1.5).
const STATE: usize = 512;
/// The length of a baggage that every hop must pass on (Baggage, 3.3.2).
const BAGGAGE: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let parsed: Result<TraceContext, _> = text.parse();
        let written = parsed.ok().map(|trace| trace.to_string());
        assert_eq!(written.as_deref(), expected, "{text}");
    }

    #[test]
    fn what_is_a_parent() {
        let parent = format!("00-{TRACE}-{SPAN}-01");
        check(&parent, Some(&parent));
        check(
            &format!("00-{TRACE}-{SPAN}-00"),
            Some(&format!("00-{TRACE}-{SPAN}-00")),
        );
        // Unknown flags are not passed on.
        check(
            &format!("00-{TRACE}-{SPAN}-ff"),
            Some(&format!("00-{TRACE}-{SPAN}-03")),
        );
        // A later version is read as far as this one goes, and passed on as this one.
        check(&format!("01-{TRACE}-{SPAN}-01"), Some(&parent));
        check(&format!("fe-{TRACE}-{SPAN}-01-more"), Some(&parent));
        check(&format!("cc-{TRACE}-{SPAN}-01-"), Some(&parent));
    }

    #[test]
    fn what_is_none() {
        let zeros = "0".repeat(32);
        for text in [
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{TRACE}-{SPAN}-01 "),
            format!("01-{TRACE}-{SPAN}-01x"),
            format!("00-{zeros}-{SPAN}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{}-01", SPAN.to_uppercase()),
            format!("0X-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-0g"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00_{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}a-{}-01", &SPAN[1..]),
            format!("00-{TRACE}-{SPAN}-\u{e9}"),
            format!("0-{TRACE}-{SPAN}-001"),
            String::new(),
            "-".repeat(55),
        ] {
            check(&text, None);
        }
        let parent = format!("00-{TRACE}-{SPAN}-01");
        for cut in 0..parent.len() {
            check(&parent[..cut], None);
        }
    }

    #[test]
    fn what_is_a_state() {
        let parent = format!("00-{TRACE}-{SPAN}-01");
        let long = "a".repeat(512);
        for (state, kept) in [
            ("a=b,c=d", true),
            (long.as_str(), true),
            ("", false),
            ("a=\u{e9}", false),
            ("a=\n", false),
        ] {
            let trace = TraceContext::parse(&parent, Some(state)).unwrap();
            assert_eq!(trace.state(), kept.then_some(state));
        }
        let trace = TraceContext::parse(&parent, Some(&(long + "a"))).unwrap();
        assert_eq!(trace.state(), None);
        assert_eq!(trace.with_state("x=y").state(), Some("x=y"));
        assert_eq!(TraceContext::parse("", Some("a=b")), None);
    }

    #[test]
    fn what_is_a_baggage() {
        let trace: TraceContext = format!("00-{TRACE}-{SPAN}-01").parse().unwrap();
        let long = "a".repeat(8192);
        for (baggage, kept) in [
            ("user=alice, session=a%20b;ttl=3", true),
            (long.as_str(), true),
            ("", false),
            ("a=\u{e9}", false),
            ("a=\n", false),
        ] {
            let trace = trace.clone().with_baggage(baggage);
            assert_eq!(trace.baggage(), kept.then_some(baggage));
            let child = trace.child([1; 8]).unwrap();
            assert_eq!(child.baggage(), trace.baggage());
        }
        assert_eq!(trace.with_baggage(&(long + "a")).baggage(), None);
    }

    #[test]
    fn ids_are_not_zero() {
        assert!(TraceContext::new([0; 16], [1; 8], true).is_none());
        assert!(TraceContext::new([1; 16], [0; 8], true).is_none());
        let trace = TraceContext::new([1; 16], [2; 8], true).unwrap();
        assert_eq!(trace.child([0; 8]), None);
        assert_eq!(trace.to_string().parse(), Ok(trace));
    }
}
