//! Challenges of servers that need a token.

use mcp_auth::Challenge;

/// Whatever fields a response has, few challenges are read from them, their names are tokens, and
/// written with quotes they are read as the same.
///
/// The input is fields with an LF between them.
pub fn auth_challenges(input: &[u8]) {
    let challenges = Challenge::parse_all(input.split(|byte| *byte == b'\n'));
    assert!(challenges.len() <= 32);
    let mut written = String::new();
    for challenge in &challenges {
        assert!(is_token(challenge.scheme()), "{challenge:?}");
        written.push_str(challenge.scheme());
        let mut separator = " ";
        for (name, value) in challenge.parameters() {
            assert!(is_token(name), "{challenge:?}");
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            written.push_str(&format!("{separator}{name}=\"{value}\""));
            separator = ", ";
        }
        written.push_str(", ");
        if let Some(scopes) = challenge.scopes() {
            assert!(!scopes.is_empty());
        }
    }
    assert_eq!(
        Challenge::parse_all([written.as_bytes()]),
        challenges,
        "{written}"
    );
}

fn is_token(name: &str) -> bool {
    let is_separator =
        |byte: u8| !byte.is_ascii_graphic() || b"\"(),/:;<=>?@[\\]{}".contains(&byte);
    !name.is_empty() && !name.bytes().any(is_separator)
}
