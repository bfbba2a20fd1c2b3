//! Credentials in a keyring.

use std::io;

use keyring_core::api::CredentialStoreApi as _;
use keyring_core::{Error, mock};
use mcp_async::auth::{CredentialStore as _, Credentials, KeyringCredentialStore};

use super::party::{ISSUER, SERVER};
use super::stores::{record, take_turns};
use crate::block_on::block_on;
use crate::test_file::TestFolder;
use crate::texts::has;

const OTHER_ISSUER: &str = "https://other.example";
const TOKEN: &str = "opaque-token";

fn token(record: Option<Credentials>) -> Option<String> {
    record.map(|record| record.access_token.expose().to_owned())
}

/// AU-65. The keyring is one of the process, so this is one test.
#[test]
fn a_keyring_keeps_one_record_for_each_server() {
    let locks = TestFolder::new("keyring-records");
    let store = KeyringCredentialStore::new("desk", locks.0.join("below"));

    // The program has chosen none.
    let saved = block_on(store.save(&record(SERVER, TOKEN)));
    for error in [
        block_on(store.load(SERVER)).unwrap_err(),
        saved.unwrap_err(),
    ] {
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("set_default_store"), "{error}");
        check_error(&error);
    }

    let keyring = mock::Store::new().unwrap();
    keyring_core::set_default_store(keyring.clone());
    block_on(records(
        &store,
        &KeyringCredentialStore::new("notes", &locks.0),
    ));
    block_on(failures(&store, &keyring));
    keyring_core::unset_default_store();
}

async fn records(store: &KeyringCredentialStore, other_service: &KeyringCredentialStore) {
    let (a, b) = ("https://a.example", "https://b.example");
    assert!(store.load(a).await.unwrap().is_none());
    store.remove(a, ISSUER).await.unwrap();
    for (server, text) in [(a, "1"), (b, "2"), (a, "3")] {
        store.save(&record(server, text)).await.unwrap();
    }
    assert_eq!(token(store.load(a).await.unwrap()).unwrap(), "3");
    assert_eq!(token(store.load(b).await.unwrap()).unwrap(), "2");
    assert!(other_service.load(a).await.unwrap().is_none());

    // The newest record counts, whatever its issuer.
    let mut moved = record(a, "4");
    moved.issuer = OTHER_ISSUER.into();
    store.save(&moved).await.unwrap();
    store.remove(a, ISSUER).await.unwrap();
    let found = store.load(a).await.unwrap().unwrap();
    assert_eq!(found.issuer, OTHER_ISSUER);
    assert_eq!(found.access_token.expose(), "4");
    store.remove(a, OTHER_ISSUER).await.unwrap();
    assert!(store.load(a).await.unwrap().is_none());
    assert!(store.load(b).await.unwrap().is_some());
}

async fn failures(store: &KeyringCredentialStore, keyring: &mock::Store) {
    let saved = record(SERVER, TOKEN);
    store.save(&saved).await.unwrap();
    let shown = format!("{store:?}");
    assert!(shown.contains("desk") && !shown.contains(TOKEN), "{shown}");

    let entry = || keyring.build("desk", SERVER, None).unwrap();
    let fail = |error| {
        let entry = entry();
        let entry: &mock::Cred = entry.as_any().downcast_ref().unwrap();
        entry.set_error(error);
    };
    let cause = || Box::new(io::Error::other("locked"));
    let secret = || entry().get_secret().unwrap();

    // The limit of Windows.
    fail(Error::TooLong("secret".into(), 2560));
    let error = store.save(&saved).await.unwrap_err();
    let text = error.to_string();
    let length = saved.to_json().expose().len().to_string();
    has(&text, ["2560", &length]);
    check_error(&error);

    // Each of them can hold what was saved, or its text.
    let bad_format = Error::BadDataFormat(secret(), Box::new(io::Error::other(TOKEN)));
    let invalid = Error::Invalid("secret".into(), TOKEN.into());
    for (error, expected) in [
        (Error::NoStorageAccess(cause()), "accessed: locked"),
        (Error::PlatformFailure(cause()), "failed: locked"),
        (Error::BadEncoding(secret()), "damaged"),
        (bad_format, "damaged"),
        (Error::BadStoreFormat(TOKEN.into()), "damaged"),
        (Error::TooLong("user".into(), 513), "513"),
        (invalid, "`secret`"),
        (Error::Ambiguous(vec![entry(), entry()]), "2 such entries"),
        (Error::NotSupportedByStore(TOKEN.into()), "support"),
        (Error::NoDefaultStore, "set_default_store"),
    ] {
        fail(error);
        let error = store.load(SERVER).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        check_error(&error);
    }

    // An entry that cannot be decoded is reported, and not removed.
    let json = saved.to_json();
    entry().set_secret(&json.expose().as_bytes()[1..]).unwrap();
    for error in [
        store.load(SERVER).await.unwrap_err(),
        store.remove(SERVER, ISSUER).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        check_error(&error);
    }
    // It is replaced.
    store.save(&saved).await.unwrap();
    assert_eq!(token(store.load(SERVER).await.unwrap()).unwrap(), TOKEN);

    // A record that could not be read again is not written.
    let mut long = saved.clone();
    long.access_token = "x".repeat(2 << 20).into();
    let error = store.save(&long).await.unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
    assert_eq!(token(store.load(SERVER).await.unwrap()).unwrap(), TOKEN);

    // The record of another server, in a keyring that ignores the case of names.
    let other = record("https://mcp.example/MCP", TOKEN);
    entry()
        .set_secret(other.to_json().expose().as_bytes())
        .unwrap();
    assert!(store.load(SERVER).await.unwrap().is_none());
    store.remove(SERVER, ISSUER).await.unwrap();
    assert!(entry().get_secret().is_ok());
}

/// Checks that an error names the service and shows no token, neither as text nor as bytes.
fn check_error(error: &io::Error) {
    let text = format!("{error} {error:?}");
    assert!(text.contains("desk"), "{text}");
    assert!(!text.contains(TOKEN), "{text}");
    let bytes = format!("{:?}", TOKEN.as_bytes());
    assert!(!text.contains(bytes.trim_matches(['[', ']'])), "{text}");
}

/// AU-116
#[test]
fn clients_that_share_a_keyring_take_turns() {
    let locks = TestFolder::new("keyring-turns");
    take_turns(|| KeyringCredentialStore::new("desk", &locks.0));
}
