//! The id of a session.

/// A session id of the characters that it may have, 0x21 to 0x7E (SH-28). `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionId<'h>(&'h str);

impl<'h> SessionId<'h> {
    /// The id that these bytes are; `None` if they are empty or have other characters.
    pub fn new(bytes: &'h [u8]) -> Option<Self> {
        let sound = !bytes.is_empty() && bytes.iter().all(|byte| (0x21..=0x7E).contains(byte));
        core::str::from_utf8(bytes).ok().filter(|_| sound).map(Self)
    }

    /// The id.
    pub const fn as_str(&self) -> &'h str {
        self.0
    }
}

impl core::fmt::Debug for SessionId<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SessionId")
    }
}
