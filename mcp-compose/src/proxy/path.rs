//! The proxies that an item has passed.

use mcp_async::model::Meta;

/// Returns the path of an item of a server that passes this proxy too; `None` if it was here before, or has passed too many: proxies that
/// list each other in a circle would add to their lists for ever.
pub(super) fn onward(process: &str, meta: &Meta) -> Option<Vec<String>> {
    let path = meta.get(MARK).map(|path| path.decode(&mut []));
    let mut path: Vec<String> = path.and_then(Result::ok).unwrap_or_default();
    if path.len() >= HOPS || path.iter().any(|passed| passed == process) {
        return None;
    }
    path.push(process.to_owned());
    Some(path)
}

/// The member of `_meta` with the proxies that an item of a list has passed.
pub(super) const MARK: &str = "mcp-compose/path";
/// The proxies that it may pass.
const HOPS: usize = 8;
