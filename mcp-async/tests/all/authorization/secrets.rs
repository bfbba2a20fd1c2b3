//! Secrets appear in no span, no event, no `Debug` and no error.

use mcp_async::ErrorChain;
use mcp_async::auth::{CredentialStore as _, MemoryCredentialStore, SigningKey};
use mcp_async::http::HttpConnector;
use mcp_proto::Revision;

use super::party::{Parties, SERVER};
use crate::connection::spans::Notes;
use crate::sim::{Sim, play};

/// AU-90
#[test]
fn a_whole_flow_shows_no_secret() {
    let notes = Notes::everything();
    let parties = Parties::new(Revision::V2026_07_28).with(|state| {
        state.binds = true;
        state.needs.insert("tools/call".into(), "mcp:write".into());
    });
    let mut shown = Vec::new();
    let output = &mut shown;
    notes.watch(|| {
        play(async {
            let key = SigningKey::generate().unwrap();
            output.push(format!("{key:?}"));
            parties.state().secrets.insert(key.to_pem());
            let store = MemoryCredentialStore::new();
            let authorization = parties.authorization().dpop(key).store(store.clone());
            output.push(format!("{authorization:?} {store:?}"));
            let builder = parties.builder(authorization);
            output.push(format!("{builder:?}"));
            let client = builder
                .connect(HttpConnector::new(Sim, SERVER).through(parties.clone()))
                .await;
            let client = client.unwrap();
            client.tools().page(None).await.unwrap();
            client.call_tool("echo", &()).await.unwrap();
            parties.revoke();
            client.tools().page(None).await.unwrap();
            output.push(format!(
                "{client:?} {:?}",
                store.load(SERVER).await.unwrap()
            ));
            // A server that repeats what it was sent.
            for member in ["error", "error_description"] {
                parties.revoke();
                parties.state().echoes = Some(member);
                let error = client.tools().page(None).await.unwrap_err();
                output.push(format!("{error:?} {}", ErrorChain(&error)));
                parties.state().echoes = None;
                client.tools().page(None).await.unwrap();
            }
        });
    });
    let lines = notes.take();
    assert!(!lines.is_empty());
    shown.extend(lines);
    let state = parties.state();
    assert!(state.secrets.len() > 10, "{:?}", state.secrets);
    for line in &shown {
        for secret in &state.secrets {
            assert!(!line.contains(secret.as_str()), "{secret} in {line}");
        }
    }
}
