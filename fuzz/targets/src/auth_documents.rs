//! Documents of authorization, and the record that is kept.

use mcp_auth::{AuthError, Credentials, ResourceMetadata, ServerMetadata};
use serde_json::Value;

const URL: &str = "https://as.example/document";

/// Whatever a document says, its texts are those that another reader finds, an error names its URL,
/// and a record that can be read is the same after it was written.
pub fn auth_documents(input: &[u8]) {
    // Half a surrogate pair is no text for the other reader.
    let second = serde_json::from_slice::<Value>(input).ok();
    let text = |name: &str| second.as_ref().and_then(|value| value[name].as_str());
    match ResourceMetadata::read(URL, input) {
        Ok(Some(read)) => {
            assert!(!read.authorization_servers.is_empty());
            assert!(second.is_none() || text("resource") == Some(&read.resource));
        }
        Ok(None) => {}
        Err(error) => is_readable(&error),
    }
    match ServerMetadata::read(URL, input) {
        Ok(Some(read)) => {
            assert!(second.is_none() || text("issuer") == Some(&read.issuer));
            assert!(second.is_none() || text("token_endpoint") == read.token_endpoint.as_deref());
        }
        Ok(None) => {}
        Err(error) => is_readable(&error),
    }
    if let Ok(read) = Credentials::from_json(input) {
        let json = read.to_json();
        assert_eq!(Credentials::from_json(json.expose().as_bytes()), Ok(read));
    }
}

fn is_readable(error: &AuthError) {
    let text = error.to_string();
    assert!(text.contains(URL) && text.len() < 2000, "{text}");
    assert!(!text.contains(char::is_control), "{text:?}");
}
