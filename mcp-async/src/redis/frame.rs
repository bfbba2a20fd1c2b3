//! The ends of replies in a stream of bytes (RESP2).

use super::error::Failure;

/// Bytes that were received, cut into replies.
pub(super) struct Replies {
    buffer: Vec<u8>,
    /// Up to here the values of the first reply are whole.
    at: usize,
    /// How many values the first reply still lacks.
    open: usize,
}

impl Replies {
    pub(super) const fn new() -> Self {
        Self {
            buffer: Vec::new(),
            at: 0,
            open: 1,
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next reply that is whole.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        while self.open > 0 {
            let Some(line) = self.line()? else {
                return Ok(None);
            };
            let after = self.at + line.len() + 2;
            let (kind, number) = (line.first().copied(), number(line));
            let (end, parts) = match (kind, number) {
                (Some(b'+' | b'-' | b':'), _) => (after, 0),
                (Some(b'$'), Some(length)) => {
                    let length = usize::try_from(length).ok();
                    let end = length.map_or(after, |length| after + length + 2);
                    if self.buffer.len() < end {
                        return Ok(None);
                    }
                    (end, 0)
                }
                (Some(b'*'), Some(count)) => (after, usize::try_from(count).unwrap_or(0)),
                _ => return Err(Failure::Malformed),
            };
            self.at = end;
            self.open = self.open - 1 + parts;
        }
        let rest = self.buffer.split_off(self.at);
        let reply = core::mem::replace(&mut self.buffer, rest);
        (self.at, self.open) = (0, 1);
        Ok(Some(reply))
    }

    /// The line that the next value begins with, without its end.
    fn line(&self) -> Result<Option<&[u8]>, Failure> {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let end = rest
            .windows(2)
            .take(MAX_LINE)
            .position(|two| two == b"\r\n");
        match end {
            Some(end) => Ok(rest.get(..end)),
            None if rest.len() > MAX_LINE => Err(Failure::Malformed),
            None => Ok(None),
        }
    }
}

/// The number that a length or a count is, if it is one that a reply may have.
fn number(line: &[u8]) -> Option<i64> {
    let text = core::str::from_utf8(line.get(1..)?).ok()?;
    text.parse().ok().filter(|number| *number <= MAX_LENGTH)
}

/// Errors and statuses are lines.
const MAX_LINE: usize = 64 << 10;

/// The longest text of a store, and more values than any reply has.
const MAX_LENGTH: i64 = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_found_however_they_arrive() {
        let replies: [&[u8]; 9] = [
            b"+OK\r\n",
            b"-ERR no\r\n",
            b":-12\r\n",
            b"$-1\r\n",
            b"$0\r\n\r\n",
            b"$6\r\na\r\nb\r\n\r\n",
            b"*-1\r\n",
            b"*0\r\n",
            b"*3\r\n*2\r\n:1\r\n$1\r\nx\r\n$-1\r\n+a\r\n",
        ];
        let all = replies.concat();
        for step in 1..=all.len() {
            let mut found = Vec::new();
            let mut received = Replies::new();
            for part in all.chunks(step) {
                received.receive(part);
                while let Some(reply) = received.next().unwrap() {
                    found.push(reply);
                }
            }
            assert_eq!(found, replies, "in steps of {step}");
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [
            &b"HTTP/1.1 400\r\n"[..],
            b"$x\r\n",
            b"$99999999999\r\n",
            b"\r\n",
        ] {
            let mut received = Replies::new();
            received.receive(bytes);
            assert!(received.next().is_err(), "{bytes:?}");
        }
        let mut received = Replies::new();
        received.receive(&vec![b'+'; MAX_LINE + 1]);
        assert!(received.next().is_err());
    }
}
