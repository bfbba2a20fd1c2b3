//! Cursors of the lists of skills and of folders.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// The cursor after an item: its key, so that it means the same in another connection and in another
/// process. `list` tells lists apart.
pub(super) fn after(list: &str, key: &str) -> String {
    let mut bytes = check_of(list, key).to_vec();
    bytes.extend_from_slice(key.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The key in a cursor, `None` for what is no cursor of this list (PN-05).
pub(super) fn read(list: &str, cursor: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (check, key) = bytes.split_first_chunk::<CHECK>()?;
    let key = String::from_utf8(key.to_vec()).ok()?;
    (check_of(list, &key) == *check).then_some(key)
}

/// Not a secret: what a typing error or the cursor of another list does not have.
fn check_of(list: &str, key: &str) -> [u8; CHECK] {
    let hash = Sha256::new()
        .chain_update(list)
        .chain_update([0])
        .chain_update(key)
        .finalize();
    let mut check = [0; CHECK];
    check.copy_from_slice(&hash[..CHECK]);
    check
}

const CHECK: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_of_one_list() {
        for key in ["", "a", "skill://a/é/SKILL.md"] {
            let cursor = after("one", key);
            assert_eq!(read("one", &cursor).as_deref(), Some(key));
            assert_eq!(read("two", &cursor), None);
            assert_eq!(read("one", &cursor[1..]), None);
        }
        for bad in ["", "!", "abc", "AAAAAAAAAAAA"] {
            assert_eq!(read("one", bad), None, "{bad}");
        }
    }
}
