//! The names of methods that tokens may need scopes for.

use mcp_proto::rpc::Method;

use super::guard::TokenGuard;
use crate::Server;
use crate::server::RegisterError;

impl TokenGuard {
    /// The methods with scopes that are no requests to this server.
    pub(in crate::http::server) fn unknown_methods(&self, server: &Server) -> Vec<RegisterError> {
        let requests = Method::all().filter(|method| method.is_client_request());
        let mut known: Vec<&str> = requests.filter_map(Method::known_name).collect();
        known.extend(server.method_names());
        let methods = self.methods.keys();
        let unknown = methods.filter(|method| !known.contains(&method.as_str()));
        unknown
            .map(|method| {
                let nearest = known.iter().min_by_key(|name| distance(name, method));
                let nearest = nearest.copied().unwrap_or_default();
                let reason = format_args!(
                    "method_scopes of {method}: no request has this method; the nearest is {nearest}"
                );
                RegisterError::setting("protect", &reason)
            })
            .collect()
    }
}

/// Returns the number of characters that have to be added, removed or replaced.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, char) in from.chars().enumerate() {
        let mut left = index + 1;
        let mut next = vec![left];
        for (other, (diagonal, above)) in to.iter().zip(row.iter().zip(row.iter().skip(1))) {
            let replaced = diagonal + usize::from(char != *other);
            left = replaced.min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("tool/call", "tools/call", 1),
            ("tools/call", "tools/list", 4),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }
}
