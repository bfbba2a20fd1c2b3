//! Cursors of pages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The list that a cursor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    Tools = b't' as isize,
    Resources = b'r' as isize,
    Templates = b'u' as isize,
    Prompts = b'p' as isize,
}

/// The cursor behind this item: its key, so that it means the same after items came and went,
/// in another connection and in another process (PN-05, JR-46).
pub(super) fn after(list: Listing, key: &str) -> String {
    let mut bytes = vec![list as u8];
    bytes.extend(check_of(list, key).to_le_bytes());
    bytes.extend_from_slice(key.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The key that a cursor stands for, `None` for what is no cursor of this list (PN-05).
pub(super) fn read(list: Listing, cursor: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (head, key) = bytes.split_first_chunk::<5>()?;
    let key = String::from_utf8(key.to_vec()).ok()?;
    let [kind, check @ ..] = head;
    let good = *kind == list as u8 && check_of(list, &key).to_le_bytes() == *check;
    good.then_some(key)
}

/// FNV-1a: not a secret, only what a typing error or another server's cursor does not have.
fn check_of(list: Listing, key: &str) -> u32 {
    key.bytes()
        .chain([list as u8])
        .fold(0x811c_9dc5, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_its_key() {
        for key in ["", "a", "test://x/é", &"x".repeat(1000)] {
            let cursor = after(Listing::Resources, key);
            assert_eq!(read(Listing::Resources, &cursor).as_deref(), Some(key));
            assert_eq!(read(Listing::Templates, &cursor), None, "of another list");
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let cursor = after(Listing::Tools, "echo");
        for bad in [
            "",
            "!",
            "echo",
            "10",
            "dGFsa2luZw",
            &cursor[1..],
            &cursor[..9],
        ] {
            assert_eq!(read(Listing::Tools, bad), None, "{bad}");
        }
        let one_off: String = cursor
            .char_indices()
            .map(|(at, c)| if at == 8 { 'x' } else { c })
            .collect();
        assert_ne!(one_off, cursor);
        assert_eq!(read(Listing::Tools, &one_off), None);
    }
}
