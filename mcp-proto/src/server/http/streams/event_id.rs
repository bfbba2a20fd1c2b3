//! Event ids: they name their stream (SH-25).

use crate::action::Channel;
use crate::json::{self, Writer};

/// `{stream}-{sequence}`, in decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) channel: Channel,
    pub(super) sequence: u64,
}

impl EventId {
    /// Reads what a client sent back; only what [`write`](Self::write) can have written.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let dash = text.iter().position(|byte| *byte == b'-')?;
        let (stream, sequence) = text.split_at_checked(dash)?;
        Some(Self {
            channel: Channel::new(u32::try_from(number(stream)?).ok()?),
            sequence: number(sequence.get(1..)?)?,
        })
    }

    /// The id as text, in a buffer that is always long enough.
    pub(super) fn write(self, out: &mut [u8; Self::LONGEST]) -> &str {
        let mut w = Writer::new(out);
        w.unsigned(u64::from(self.channel.number()));
        w.literal("-");
        w.unsigned(self.sequence);
        let len = w.finish().unwrap_or_default();
        let text = out.get(..len).unwrap_or_default();
        core::str::from_utf8(text).unwrap_or_default()
    }

    /// Ten digits, a dash and twenty digits.
    pub(super) const LONGEST: usize = 31;
}

fn number(digits: &[u8]) -> Option<u64> {
    match digits {
        [b'0', _, ..] => None,
        _ => json::digits(digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn only_our_own_ids_are_read() {
        let check = |text: &str, expected: Option<(u32, u64)>| {
            let parsed = EventId::parse(text.as_bytes());
            let seen = parsed.map(|id| (id.channel.number(), id.sequence));
            assert_eq!(seen, expected, "{text}");
            if let Some(id) = parsed {
                assert_eq!(id.write(&mut [0; EventId::LONGEST]), text);
            }
        };
        check("0-0", Some((0, 0)));
        check("3-17", Some((3, 17)));
        let longest = format!("{}-{}", u32::MAX, u64::MAX);
        assert_eq!(longest.len(), EventId::LONGEST);
        check(&longest, Some((u32::MAX, u64::MAX)));
        check("4294967296-0", None);
        check("1-18446744073709551616", None);
        for wrong in [
            "", "-", "1-", "-1", "1", "1-2-3", "01-2", "1-02", "+1-2", "1-+2", " 1-2", "1-2 ",
            "a-1", "1-a", "1--2", "1/2", "00-0", "1-:",
        ] {
            check(wrong, None);
        }
    }
}
