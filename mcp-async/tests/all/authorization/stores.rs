//! Stores of credentials: restarts, sharing, failures.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use mcp_async::auth::{
    Authorization, AuthorizationError, CredentialLock, CredentialStore, Credentials,
    FileCredentialStore, MemoryCredentialStore,
};
use mcp_async::client::CallError;
use mcp_proto::Revision;

use super::party::{ISSUER, Parties, SERVER};
use crate::block_on::block_on;
use crate::sim::{play, sleep};
use crate::test_file::TestFolder;

const MODERN: Revision = Revision::V2026_07_28;

/// AU-118: a token of an earlier run is used, one that has expired is refreshed first.
#[test]
fn a_restart_needs_no_user() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let authorization = parties.authorization().store(store.clone());
        for expires_in in [3600, 20, 3600] {
            parties.state().expires_in = expires_in;
            let client = parties.connect(authorization.clone()).await;
            drop(client.unwrap());
            if expires_in == 3600 {
                parties.revoke();
            }
        }
    });
    assert_eq!(parties.pages(), 1);
    // The second run meets 401; the third one knows that the token has expired.
    assert_eq!(parties.count("server/discover"), 2 + 2 + 1);
    assert_eq!(parties.count("/token"), 3);
}

/// AU-65: the query may say whose server it is. It may be a key as well, and is not stored.
#[test]
fn servers_that_differ_in_the_query_have_records_of_their_own() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let authorization = parties.authorization().store(store.clone());
        // The metadata is about the URL without a query.
        let authorization = authorization.configure(|config| config.accept_parent_resource = true);
        for (query, pages) in [("?key=a", 1), ("?key=b", 2), ("?key=a", 2), ("", 3)] {
            let url = format!("{SERVER}{query}");
            let client = parties.connect_to(&url, authorization.clone()).await;
            drop(client.unwrap());
            assert_eq!(parties.pages(), pages, "{query}");
        }
        assert!(
            store
                .load(&format!("{SERVER}?key=a"))
                .await
                .unwrap()
                .is_none()
        );
        assert!(store.load(SERVER).await.unwrap().is_some());
    });
}

/// AU-116: a refresh token that is replaced at each use is used once.
#[test]
fn clients_that_share_a_store_refresh_once() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let connect = || parties.connect(parties.authorization().store(store.clone()));
        let (one, two) = (connect().await.unwrap(), connect().await.unwrap());
        parties.revoke();
        one.tools().page(None).await.unwrap();
        two.tools().page(None).await.unwrap();
    });
    assert_eq!((parties.pages(), parties.count("/token")), (1, 2));
}

/// Saves nothing while it is full, and not at once while it is slow.
#[derive(Clone, Default)]
struct Full {
    inner: MemoryCredentialStore,
    is_full: Arc<AtomicBool>,
    /// Saving takes some seconds.
    is_slow: Arc<AtomicBool>,
}

impl CredentialStore for Full {
    async fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        self.inner.load(server).await
    }

    async fn save(&self, credentials: &Credentials) -> io::Result<()> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is full"));
        }
        if self.is_slow.load(Ordering::SeqCst) {
            sleep(Duration::from_secs(5)).await;
        }
        self.inner.save(credentials).await
    }

    async fn remove(&self, server: &str, issuer: &str) -> io::Result<()> {
        self.inner.remove(server, issuer).await
    }

    async fn lock(&self, server: &str) -> io::Result<CredentialLock> {
        self.inner.lock(server).await
    }
}

/// AU-116
#[test]
fn a_failure_to_save_surfaces_and_loses_nothing() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = Full::default();
        let client = parties.connect(parties.authorization().store(store.clone()));
        let client = client.await.unwrap();
        parties.revoke();
        store.is_full.store(true, Ordering::SeqCst);
        for _ in 0..2 {
            let error = client.tools().page(None).await.unwrap_err();
            let CallError::Authorization(error) = error else {
                panic!("{error:?}");
            };
            let AuthorizationError::Store(error) = &*error else {
                panic!("{error:?}");
            };
            assert_eq!(error.to_string(), "the disk is full");
        }
        store.is_full.store(false, Ordering::SeqCst);
        client.tools().page(None).await.unwrap();
        assert!(store.load(SERVER).await.unwrap().is_some());
    });
    // The new refresh token was not lost, and was not used before it was saved.
    assert_eq!((parties.pages(), parties.count("/token")), (1, 2));
}

/// AU-116: what could not be saved takes the place of nothing that another process has written or removed since.
#[test]
fn tokens_that_are_saved_late_leave_those_of_others() {
    for logs_in in [true, false] {
        let parties = Parties::new(MODERN);
        play(async {
            let store = Full::default();
            let connect = || parties.connect(parties.authorization().store(store.clone()));
            let client = connect().await.unwrap();
            parties.revoke();
            store.is_full.store(true, Ordering::SeqCst);
            client.tools().page(None).await.unwrap_err();
            store.is_full.store(false, Ordering::SeqCst);
            let record = store.load(SERVER).await.unwrap().unwrap();
            store.remove(SERVER, &record.issuer).await.unwrap();
            let other = match logs_in {
                true => Some(connect().await.unwrap()),
                false => None,
            };
            let written = store.load(SERVER).await.unwrap();
            parties.state().declines = true;
            let called = client.tools().page(None).await;
            assert_eq!(called.is_ok(), logs_in);
            let found = store.load(SERVER).await.unwrap();
            let token = |it: Option<Credentials>| it.map(|it| it.access_token);
            assert_eq!(token(found), token(written), "{logs_in}");
            drop(other);
        });
        assert_eq!(parties.pages(), 2);
    }
}

/// AU-116: tokens that replace others are saved, also if the client is dropped meanwhile.
#[test]
fn tokens_are_saved_when_the_client_is_gone() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = Full::default();
        let authorization = parties.authorization().store(store.clone());
        let client = parties.connect(authorization).await.unwrap();
        parties.revoke();
        store.is_slow.store(true, Ordering::SeqCst);
        let limit = Duration::from_secs(1);
        let call = client.tools().page(None).max_duration(limit).await;
        assert!(matches!(call.unwrap_err(), CallError::Timeout));
        drop(client);
        sleep(Duration::from_secs(10)).await;
        let record = store.load(SERVER).await.unwrap().unwrap();
        assert_eq!(record.access_token.expose(), "access-secret-3");
        assert_eq!(crate::sim::settle(), 0);
    });
    assert_eq!((parties.pages(), parties.count("/token")), (1, 2));
}

/// AU-118: the registration outlives its tokens.
#[test]
fn tokens_that_are_refused_for_good_are_removed() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let connect = || parties.connect(parties.authorization().store(store.clone()));
        let client = connect().await.unwrap();
        let before = store.load(SERVER).await.unwrap().unwrap();
        parties.revoke();
        parties.state().forget_refresh();
        parties.state().declines = true;
        client.tools().page(None).await.unwrap_err();
        drop(client);
        let record = store.load(SERVER).await.unwrap().unwrap();
        assert!(record.refresh_token.is_none());
        assert_ne!(record.access_token, before.access_token);
        assert_eq!(record.identity, before.identity);
        parties.state().declines = false;
        drop(connect().await.unwrap());
    });
    assert_eq!((parties.pages(), parties.count("/register")), (3, 1));
    // The second client has no token to send.
    assert_eq!(parties.count("server/discover"), 2 + 2);
    assert_eq!(parties.count("server/discover with token"), 2);
}

/// A logout of another process is not undone by a refresh.
#[test]
fn tokens_that_another_process_removed_are_not_refreshed() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let authorization = parties.authorization().store(store.clone());
        let client = parties.connect(authorization).await.unwrap();
        store.remove(SERVER, ISSUER).await.unwrap();
        parties.revoke();
        client.tools().page(None).await.unwrap();
    });
    assert_eq!(parties.pages(), 2);
}

/// AU-36: tokens and secrets of one issuer are not used where another one is configured.
#[test]
fn records_of_another_issuer_are_not_used() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let mut stored = record(SERVER, "foreign");
        stored.issuer = "https://other.example".into();
        stored.token_endpoint = "https://other.example/token".into();
        stored.identity.client_id = "machine".into();
        stored.refresh_token = Some("foreign-refresh".into());
        store.save(&stored).await.unwrap();
        let authorization = Authorization::client_secret("machine", "machine-secret");
        let authorization = authorization.issuer(ISSUER).store(store);
        let client = parties.connect(authorization).await.unwrap();
        client.tools().page(None).await.unwrap();
    });
    assert_eq!(parties.count("other.example"), 0);
    assert_eq!(parties.count("server/discover with token"), 1);
}

/// AU-45, AU-46, AU-64: the record is that of the issuer.
#[test]
fn records_belong_to_server_and_issuer() {
    let parties = Parties::new(MODERN);
    play(async {
        let store = MemoryCredentialStore::new();
        let client = parties.connect(parties.authorization().store(store.clone()));
        drop(client.await.unwrap());
        let record = store.load(SERVER).await.unwrap().unwrap();
        assert_eq!(
            (record.server.as_str(), record.issuer.as_str()),
            (SERVER, ISSUER)
        );
        assert!(
            store
                .load("https://mcp.example/other")
                .await
                .unwrap()
                .is_none()
        );
        store.remove(SERVER, "https://other.example").await.unwrap();
        assert!(store.load(SERVER).await.unwrap().is_some());
        store.remove(SERVER, ISSUER).await.unwrap();
        assert!(store.load(SERVER).await.unwrap().is_none());
    });
}

pub(super) fn record(server: &str, token: &str) -> Credentials {
    let json = format!(
        r#"{{"version":1,"server":"{server}","issuer":"{ISSUER}","token_endpoint":"{ISSUER}/token","identity":"dynamic","client_id":"c","endpoint_auth_method":"none","access_token":"{token}","token_type":"Bearer"}}"#
    );
    Credentials::from_json(json.as_bytes()).unwrap()
}

/// AU-65
#[test]
fn a_file_keeps_records_for_its_owner_alone() {
    let folder = TestFolder::new("store");
    let path = folder.0.join("below").join("tokens");
    let store = FileCredentialStore::new(&path);
    block_on(async {
        assert!(store.load(SERVER).await.unwrap().is_none());
        store.save(&record("https://a.example", "1")).await.unwrap();
        store.save(&record("https://b.example", "2")).await.unwrap();
        store.save(&record("https://a.example", "3")).await.unwrap();
        // Another process.
        let store = FileCredentialStore::new(&path);
        let token = store.load("https://a.example").await.unwrap().unwrap();
        assert_eq!(token.access_token.expose(), "3");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &std::path::Path| {
                let metadata = std::fs::metadata(path).unwrap();
                metadata.permissions().mode() & 0o777
            };
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(&folder.0), 0o700);
        }
        store.remove("https://a.example", ISSUER).await.unwrap();
        assert!(store.load("https://a.example").await.unwrap().is_none());
        assert!(store.load("https://b.example").await.unwrap().is_some());
    });
}

/// One line that cannot be decoded does not affect the records of other servers.
#[test]
fn a_file_keeps_lines_that_cannot_be_decoded() {
    let folder = TestFolder::new("lines");
    let path = folder.0.join("tokens");
    let store = FileCredentialStore::new(&path);
    block_on(async {
        store.save(&record("https://a.example", "1")).await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let unknown = "{\"version\":2,\"server\":\"https://b.example\"}\n{\"version\":1,\"ser";
        std::fs::write(&path, format!("{text}{unknown}\n")).unwrap();
        let found = store.load("https://a.example").await.unwrap().unwrap();
        assert_eq!(found.access_token.expose(), "1");
        assert!(store.load("https://b.example").await.unwrap().is_none());
        store.save(&record("https://a.example", "2")).await.unwrap();
        store.remove("https://c.example", ISSUER).await.unwrap();
        let found = store.load("https://a.example").await.unwrap().unwrap();
        assert_eq!(found.access_token.expose(), "2");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(unknown), "{text}");
        // A record that could not be read again is not written.
        let mut long = record("https://d.example", "1");
        long.access_token = "x".repeat(2 << 20).into();
        let error = store.save(&long).await.unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    });
}

/// A process that was killed while it wrote leaves a file with secrets.
#[test]
fn a_file_that_was_not_completed_is_removed() {
    let folder = TestFolder::new("left");
    let path = folder.0.join("tokens");
    let store = FileCredentialStore::new(&path);
    block_on(async {
        store.save(&record(SERVER, "1")).await.unwrap();
        std::fs::write(folder.0.join("tokens.new"), "half of a record").unwrap();
        store.save(&record(SERVER, "2")).await.unwrap();
        let found = store.load(SERVER).await.unwrap().unwrap();
        assert_eq!(found.access_token.expose(), "2");
    });
    let names = std::fs::read_dir(&folder.0).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["tokens", "tokens.write.lock"]);
}

/// AU-65: what another user may have written or can read is not used.
#[cfg(unix)]
#[test]
fn a_file_of_other_users_is_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let set_mode = |path: &std::path::Path, mode| {
        let mut permissions = std::fs::metadata(path).unwrap().permissions();
        permissions.set_mode(mode);
        std::fs::set_permissions(path, permissions).unwrap();
    };

    let folder = TestFolder::new("owner");
    let path = folder.0.join("tokens");
    let store = FileCredentialStore::new(&path);
    block_on(async {
        let saved = record(SERVER, "1");
        store.save(&saved).await.unwrap();
        for mode in [0o644, 0o620, 0o602] {
            set_mode(&path, mode);
            let error = store.load(SERVER).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("600"), "{error}");
            store.save(&saved).await.unwrap_err();
        }
        set_mode(&path, 0o600);
        assert!(store.load(SERVER).await.unwrap().is_some());
        let link = folder.0.join("link");
        symlink(&path, &link).unwrap();
        FileCredentialStore::new(&link)
            .load(SERVER)
            .await
            .unwrap_err();
        let long = std::fs::File::options().write(true).open(&path).unwrap();
        long.set_len(1 << 40).unwrap();
        let error = store.load(SERVER).await.unwrap_err();
        assert!(error.to_string().contains("16777216"), "{error}");
        FileCredentialStore::new(&folder.0)
            .load(SERVER)
            .await
            .unwrap_err();
    });
}

/// AU-116
#[test]
fn clients_that_share_a_file_take_turns() {
    let folder = TestFolder::new("turns");
    let path = folder.0.join("tokens");
    take_turns(|| FileCredentialStore::new(&path));
}

/// Checks the lock of a store that processes share.
pub(super) fn take_turns<S: CredentialStore>(open: impl Fn() -> S) {
    let lock = block_on(open().lock(SERVER)).unwrap();
    let other = open();
    // One server does not wait for another.
    drop(block_on(other.lock("https://a.example")).unwrap());
    let done = Arc::new(AtomicBool::new(false));
    let second = std::thread::spawn({
        let done = Arc::clone(&done);
        move || {
            drop(block_on(other.lock(SERVER)).unwrap());
            done.store(true, Ordering::SeqCst);
        }
    });
    std::thread::sleep(core::time::Duration::from_millis(50));
    assert!(!done.load(Ordering::SeqCst));
    drop(lock);
    second.join().unwrap();
}
