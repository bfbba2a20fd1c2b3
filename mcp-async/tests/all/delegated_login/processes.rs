//! Several processes that share the logins of a store.

use mcp_async::auth::DelegatedLogin;
use mcp_async::http::{HttpService, LocalForward, MemoryStore};
use mcp_async::runtime::Runtime as _;
use mcp_async::server::StateKeys;

use super::support::{
    Browser, TOKEN, USER, VERIFIER, authorize_url, login, member, parameter, post,
    provider_answers, register, server, whose,
};
use crate::http_server::far::{Common, Far, Fault};
use crate::scripted::send;
use crate::sim::{self, Sim, now};
use crate::test_file::TestFile;

/// Two processes, the second of which has a new key and accepts the one of before.
fn processes(set: impl Fn(DelegatedLogin) -> DelegatedLogin) -> [HttpService; 2] {
    let store = MemoryStore::default().clock(|| Sim.now());
    let forward = LocalForward::default();
    let keys = [
        StateKeys::new([7; 32]).previous([8; 32]),
        StateKeys::new([8; 32]).previous([7; 32]),
    ];
    let mut index = 0;
    keys.map(|keys| {
        let url = format!("http://process-{index}/mcp");
        index += 1;
        let http = server()
            .state_keys(keys)
            .http()
            .share_with(store.clone(), forward.clone());
        let http = http.reached_at(&url).delegate_login(set(login()));
        let service = http.into_service(Sim).unwrap();
        forward.insert(url, &service);
        sim::settle();
        service
    })
}

/// Each step of a login may reach another process, also while the keys are replaced.
#[test]
fn a_login_continues_at_another_process() {
    provider_answers(TOKEN, USER);
    let [first, second] = processes(|login| login);
    let client = register(&first);
    let redirect = now(Browser::new(&second).log_in(&authorize_url(&client)));
    let code = parameter(&redirect, "code").unwrap();
    let form = format!(
        "grant_type=authorization_code&client_id={client}&code={code}&code_verifier={VERIFIER}"
    );
    let reply = send(&first, post("/token", &form)).whole();
    let (access, refresh) = (
        member(&reply, "access_token"),
        member(&reply, "refresh_token"),
    );
    for service in [&first, &second] {
        assert_eq!(whose(service, &access), Ok("ada their-1".into()));
    }
    let form = format!("grant_type=refresh_token&client_id={client}&refresh_token={refresh}");
    let next = send(&second, post("/token", &form)).whole();
    let next = form.replace(&refresh, &member(&next, "refresh_token"));
    assert_eq!(send(&first, post("/token", &next)).status, 200);
    // It was replaced, wherever.
    let again = send(&second, post("/token", &form));
    assert_eq!(member(&again.whole(), "error"), "invalid_grant");
    sim::end();
}

/// A store that only the logins share.
#[test]
fn logins_can_have_a_store_of_their_own() {
    provider_answers(TOKEN, USER);
    let store = MemoryStore::default();
    let service = |keys: StateKeys| {
        let http = server().state_keys(keys).http();
        http.delegate_login(login().store(store.clone()))
            .into_service(Sim)
            .unwrap()
    };
    let (first, second) = (
        service(StateKeys::new([7; 32])),
        service(StateKeys::new([7; 32])),
    );
    let (_, access, _) = super::support::tokens(&first);
    assert_eq!(whose(&second, &access), Ok("ada their-1".into()));
    let other = service(StateKeys::new([9; 32]));
    assert_eq!(whose(&other, &access), Err(401));
}

/// A record is gone when it was emptied: a store that does not remove it then keeps no login.
#[test]
fn a_login_ends_although_the_store_does_not_remove_it() {
    provider_answers(TOKEN, USER);
    let store = Far::of(&Common::new());
    let http = server().state_keys(StateKeys::new([7; 32])).http();
    let http = http.delegate_login(login().store(store.clone()));
    let service = http.into_service(Sim).unwrap();
    let (client, access, refresh) = super::support::tokens(&service);
    let script = [Fault::None, Fault::None, Fault::Fails];
    store.script.lock().unwrap().extend(script);
    let form = format!("client_id={client}&token={refresh}");
    assert_eq!(send(&service, post("/revoke", &form)).status, 200);
    assert_eq!(whose(&service, &access), Err(401));
}

/// A file that the next process of the server opens.
#[test]
fn logins_outlive_the_process_in_a_file() {
    provider_answers(TOKEN, USER);
    let file = TestFile::new("logins");
    let start = || {
        let keys = StateKeys::new([7; 32]);
        let http = server().state_keys(keys).http();
        let login = login().settings(|settings| settings.remember_consent = Some(86_400));
        http.delegate_login(login.file(&file.0)).into_service(Sim)
    };
    let service = start().unwrap();
    let (client, access, refresh) = super::support::tokens(&service);
    let (other, ended, last) = super::support::tokens(&service);
    let form = format!("token={last}&client_id={other}");
    assert_eq!(send(&service, post("/revoke", &form)).status, 200);
    // The file belongs to one process at a time.
    let error = start().expect_err("a second process").to_string();
    assert!(error.contains("logins"), "{error}");
    drop(service);
    sim::end();
    let stored = std::fs::read(&file.0).unwrap();
    let shows = |text: &[u8]| stored.windows(text.len()).any(|part| part == text);
    assert!(!shows(b"their-1") && !shows(b"ada"), "records are sealed");

    let service = start().unwrap();
    assert_eq!(whose(&service, &access), Ok("ada their-1".into()));
    assert_eq!(whose(&service, &ended), Err(401));
    let form = format!("grant_type=refresh_token&client_id={client}&refresh_token={refresh}");
    assert_eq!(send(&service, post("/token", &form)).status, 200);
    sim::end();
}

/// Without keys of the server, no record in the file could be opened after a restart; a file that cannot be opened is a mistake.
#[test]
fn a_file_needs_keys_and_an_owner() {
    let file = TestFile::new("keys");
    let http = |http: mcp_async::http::Http, path: &std::path::Path| {
        let made = http.delegate_login(login().file(path)).into_service(Sim);
        made.expect_err("a mistake").to_string()
    };
    let error = http(server().http(), &file.0);
    assert!(error.contains("state_keys"), "{error}");
    assert!(!file.0.exists(), "a mistake leaves no file");
    let with_keys = || server().state_keys(StateKeys::new([7; 32])).http();
    let error = http(with_keys(), &file.0.join("missing"));
    assert!(error.contains("missing"), "{error}");
    let (store, forward) = (MemoryStore::default(), LocalForward::default());
    let shared = with_keys().share_with(store, forward);
    let error = http(shared.reached_at("http://process-1/mcp"), &file.0);
    assert!(error.contains("one process"), "{error}");
    // Of a store and a file the last one counts.
    let login = login().file(&file.0).store(MemoryStore::default());
    let http = with_keys().delegate_login(login);
    assert!(http.into_service(Sim).is_ok());
    assert!(!file.0.exists());
}
