//! Cursors of pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The cursor behind an item: its key, so that it means the same after items came and went, in another
/// connection and in another process (PN-05, JR-46). `list` tells lists apart.
pub(crate) fn after(list: &str, key: &str) -> String {
    let mut bytes = check_of(list, key).to_vec();
    bytes.extend_from_slice(key.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The key that a cursor stands for, `None` for what is no cursor of this list (PN-05).
pub(crate) fn read(list: &str, cursor: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (check, key) = bytes.split_first_chunk::<CHECK>()?;
    let key = String::from_utf8(key.to_vec()).ok()?;
    (check_of(list, &key) == *check).then_some(key)
}

/// FNV-1a: not a secret, only what a typing error, the cursor of another list or of another server does not have.
fn check_of(list: &str, key: &str) -> [u8; CHECK] {
    let bytes = list.bytes().chain([0]).chain(key.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let [check @ .., _, _] = hash.to_le_bytes();
    check
}

const CHECK: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_its_key() {
        for key in ["", "a", "test://x/é", &"x".repeat(1000)] {
            let cursor = after("resources", key);
            assert_eq!(read("resources", &cursor).as_deref(), Some(key));
            assert_eq!(read("prompts", &cursor), None, "of another list");
            assert_eq!(read("resources", &cursor[1..]), None);
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let cursor = after("tools", "echo");
        for bad in [
            "",
            "!",
            "echo",
            "10",
            "dGFsa2luZw",
            "AAAAAAAAAAAA",
            &cursor[..9],
        ] {
            assert_eq!(read("tools", bad), None, "{bad}");
        }
        let one_off: String = cursor
            .char_indices()
            .map(|(at, c)| if at == 9 { 'x' } else { c })
            .collect();
        assert_ne!(one_off, cursor);
        assert_eq!(read("tools", &one_off), None);
    }
}
