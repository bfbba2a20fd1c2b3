//! Servers that each caller reaches by an entry of its own.

use core::future::poll_fn;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use http::request::Parts;
use mcp_async::client::Update;
use mcp_async::http::{AccessError, HttpConnector, HttpService};
use mcp_async::model::{Completion, ElicitParams, ElicitResult, Reference};
use mcp_async::server::{CompletionRequest, Context, HandlerError, Principal, Prompt, Registry};
use mcp_async::{Revision, Server, in_memory};
use mcp_compose::{Naming, Proxy, ProxyBuilder, ProxyCaller, ProxyLimits, ServerEntry};

use super::{caller, entry, front, in_each_pair, verified};
use crate::support::{only, pause, run, runtime, said};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    whom: String,
}

/// The servers that were reached, one for each owner.
type Reached = Arc<Mutex<Vec<(String, Registry)>>>;

/// A server that knows whose credentials reached it.
fn owned(owner: &str, revision: Revision, reached: &Reached) -> ServerEntry {
    let (name, reached) = (owner.to_owned(), Arc::clone(reached));
    ServerEntry::connector("back", move || {
        let says = name.clone();
        let completes = name.clone();
        let server = Server::builder("back", "1.0")
            .revisions(mcp_async::RevisionSet::of(&[revision]))
            .tool("whoami", "Says whose server it is", move |(): (), _| {
                let says = says.clone();
                async move { Ok(says) }
            })
            .resource("desk://mail", "mail", |_| async { Ok("none") })
            .with(
                Prompt::new("greet")
                    .complete("whom", move |_: CompletionRequest, _: Context| {
                        let known = completes.clone();
                        async move { Ok(Completion::from_iter([known])) }
                    })
                    .handler(|greeting: Greeting, _: Context| async move { Ok(greeting.whom) }),
            )
            .change_notifications()
            .build()
            .expect("it is well formed");
        let mut reached = reached.lock().expect("no test panics with it");
        reached.push((name.clone(), server.registry()));
        in_memory(runtime(), &server)
    })
}

fn proxy(revision: Revision, reached: &Reached) -> ProxyBuilder {
    let of_callers = Arc::clone(reached);
    Proxy::builder()
        .entry(owned("proxy", revision, reached))
        .caller_entry("back", move |caller: ProxyCaller| {
            let entry = owned(caller.principal.name(), revision, &of_callers);
            async move { Ok(entry) }
        })
        .naming(Naming::bare())
}

async fn whoami(client: &mcp_async::Client) -> String {
    said(client, "whoami").await
}

#[test]
fn each_caller_is_itself_at_the_server() {
    in_each_pair(|upstream, revision| async move {
        let reached = Reached::default();
        let proxy = proxy(upstream, &reached).start(runtime()).await;
        let front = front(&proxy);
        let asked = || only(revision).on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
        for (name, client) in [("ada", only(revision)), ("bob", asked()), ("ada", asked())] {
            let client = verified(&front, client, name).await;
            assert_eq!(whoami(&client).await, name);
            let prompt = Reference::prompt("greet");
            let completed = client.complete(&prompt, "whom", "").await;
            assert_eq!(completed.expect("it completes").values, [name]);
        }
        let stranger = caller(&front, only(revision)).await;
        let refused = whoami(&stranger).await;
        assert!(refused.contains("whose identity is verified"), "{refused}");
        let refused = stranger.read_resource("desk://mail").await;
        assert!(refused.is_err(), "{refused:?}");
    });
}

#[test]
fn a_session_of_a_caller_ends_when_it_is_idle() {
    run(async {
        let mut limits = ProxyLimits::default();
        (limits.idle, limits.held_time) = (Duration::from_secs(60), Duration::from_secs(60));
        let reached = Reached::default();
        let proxy = proxy(Revision::V2026_07_28, &reached)
            .limits(limits)
            .start(runtime())
            .await;
        let ada = verified(&front(&proxy), only(Revision::V2026_07_28), "ada").await;
        assert_eq!([whoami(&ada).await, whoami(&ada).await], ["ada", "ada"]);
        assert_eq!(proxy.in_use().0, 2);
        pause(100).await;
        assert_eq!(proxy.in_use().0, 1);
        assert_eq!(whoami(&ada).await, "ada");
    });
}

#[test]
fn changes_are_told_to_the_caller_whose_they_are() {
    run(async {
        let reached = Reached::default();
        let proxy = proxy(Revision::V2025_11_25, &reached)
            .start(runtime())
            .await;
        let front = front(&proxy);
        let ada = verified(&front, only(Revision::V2025_11_25), "ada").await;
        let bob = verified(&front, only(Revision::V2025_11_25), "bob").await;
        let of_ada = Arc::new(AtomicUsize::new(0));
        let of_bob = Arc::new(AtomicUsize::new(0));
        for (client, count) in [(&ada, &of_ada), (&bob, &of_bob)] {
            let mut changes = client
                .subscribe("desk://mail")
                .await
                .expect("it subscribes");
            let count = Arc::clone(count);
            runtime().spawn(Box::pin(async move {
                while let Some(update) = changes.next().await {
                    if matches!(update, Update::Resource(_)) {
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                }
            }));
        }
        pause(5).await;
        let registries = reached.lock().expect("no test panics with it").clone();
        for (owner, registry) in &registries {
            if owner == "ada" {
                registry.resource_updated("desk://mail");
            }
        }
        pause(5).await;
        let told = (of_ada.load(Ordering::SeqCst), of_bob.load(Ordering::SeqCst));
        assert_eq!(told, (1, 0));
    });
}

/// A page at which callers log in, and those who have.
#[derive(Clone, Default)]
struct LoginPage(Arc<Mutex<Vec<String>>>);

impl LoginPage {
    const URL: &'static str = "https://gateway.example/login";

    fn knows(&self, name: &str) -> bool {
        let known = self.0.lock().expect("no test panics with it");
        known.iter().any(|known| known == name)
    }

    fn visit(&self, name: &str) {
        self.0
            .lock()
            .expect("no test panics with it")
            .push(name.to_owned());
    }

    /// The entry of a caller, who logs in first.
    async fn entry(
        self,
        caller: ProxyCaller,
        revision: Revision,
        reached: Reached,
    ) -> Result<ServerEntry, HandlerError> {
        let name = caller.principal.name();
        if let Some(call) = caller.call.as_ref().filter(|_| !self.knows(name)) {
            call.elicit_url("login", "Log in", Self::URL).await?;
        }
        match self.knows(name) {
            true => Ok(owned(name, revision, &reached)),
            false => Err(HandlerError::visible("log in first")),
        }
    }
}

#[test]
fn a_caller_logs_in_at_the_server_by_a_page() {
    for upstream in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            run(async {
                let (page, reached) = (LoginPage::default(), Reached::default());
                let (at, of_callers) = (page.clone(), Arc::clone(&reached));
                let rule =
                    move |caller| at.clone().entry(caller, upstream, Arc::clone(&of_callers));
                let proxy = Proxy::builder()
                    .entry(owned("proxy", upstream, &reached))
                    .caller_entry("back", rule)
                    .naming(Naming::bare())
                    .start(runtime())
                    .await;
                let front = front(&proxy);
                let visitor = page.clone();
                let asked = only(revision).on_elicitation(move |asked: ElicitParams, _| {
                    let ElicitParams::Url(asked) = asked else {
                        panic!("{asked:?}")
                    };
                    assert_eq!(asked.url, LoginPage::URL);
                    visitor.visit("ada");
                    async { Ok(ElicitResult::agree()) }
                });
                let ada = verified(&front, asked, "ada").await;
                assert_eq!(whoami(&ada).await, "ada", "{upstream} {revision}");
                // Somebody else's login is of no use, and who cannot be asked is told.
                let bob = verified(&front, only(revision), "bob").await;
                let refused = whoami(&bob).await;
                assert!(
                    refused.contains("log in first") || refused.contains("elicitation"),
                    "{refused}"
                );
                let owners = reached.lock().expect("no test panics with it").clone();
                assert!(owners.iter().all(|(owner, _)| owner != "bob"));
            });
        }
    }
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Secret {
    word: String,
}

/// The answer that a rule has asked for stays in the state that the caller carries.
#[test]
fn a_call_whose_state_has_no_room_left_is_not_held() {
    run(async {
        let revisions = mcp_async::RevisionSet::of(&[Revision::V2025_11_25]);
        let back = Server::builder("back", "1.0").revisions(revisions).tool(
            "ask",
            "Asks",
            |(): (), cx: Context| async move {
                let answer = cx.elicit::<Secret>("word", "Which word?").await?;
                Ok(answer.accepted().map_or(0, |it| it.word.len()).to_string())
            },
        );
        let entry = entry("back", &back);
        let of_callers = entry.clone();
        let rule = move |caller: ProxyCaller| {
            let entry = of_callers.clone();
            async move {
                if let Some(call) = &caller.call {
                    call.elicit::<Secret>("secret", "Which secret?").await?;
                }
                Ok(entry)
            }
        };
        let proxy = Proxy::builder().entry(entry).caller_entry("back", rule);
        let proxy = proxy.naming(Naming::bare()).start(runtime()).await;
        let asked = only(Revision::V2026_07_28).on_elicitation(|_, _| async {
            let word = "x".repeat(60_000);
            Ok(ElicitResult::accept(&Secret { word })?)
        });
        let ada = verified(&front(&proxy), asked, "ada").await;
        let error = ada.call_tool("ask", &()).await;
        let error = error.expect_err("it is too much").to_string();
        assert!(error.contains("cannot be carried"), "{error}");
        assert_eq!(proxy.in_use().1, 0);
    });
}

/// A gate that is opened once.
#[derive(Default)]
struct Gate(Mutex<(bool, Option<Waker>)>);

impl Gate {
    fn poll_open(&self, cx: &mut core::task::Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().expect("no test panics with it");
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }

    fn open(&self) {
        let mut state = self.0.lock().expect("no test panics with it");
        state.0 = true;
        state.1.take().into_iter().for_each(Waker::wake);
    }
}

/// A server over HTTP that accepts the token of the proxy, and one of callers that changes.
fn guarded(revision: Revision, token: &Arc<Mutex<String>>, gate: &Arc<Gate>) -> HttpService {
    let (token, gate) = (Arc::clone(token), Arc::clone(gate));
    let server = Server::builder("back", "1.0")
        .revisions(mcp_async::RevisionSet::of(&[revision]))
        .tool(
            "whoami",
            "Says whose token it has",
            |(): (), cx: Context| async move {
                Ok(cx
                    .principal()
                    .map(|caller| caller.name().to_owned())
                    .unwrap_or_default())
            },
        )
        .tool("slow", "Waits for the gate", move |(): (), _: Context| {
            let gate = Arc::clone(&gate);
            async move {
                poll_fn(|cx| gate.poll_open(cx)).await;
                Ok("through")
            }
        });
    let check = move |head: &Parts| {
        let sent = head
            .headers
            .get("authorization")
            .and_then(|sent| sent.to_str().ok());
        let sent = sent.unwrap_or_default().to_owned();
        let is_known =
            sent == "of-the-proxy" || sent == *token.lock().expect("no test panics with it");
        let unknown = || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
        core::future::ready(is_known.then(|| Principal::new(sent)).ok_or_else(unknown))
    };
    let service = server.http().authenticate(check).into_service(runtime());
    service.expect("it is well formed")
}

/// The entry of a server that gets this token.
fn with_token(service: &HttpService, token: String) -> ServerEntry {
    let service = service.clone();
    let entry = ServerEntry::connector("back", move || {
        HttpConnector::new(runtime(), "http://localhost/mcp").through(service.clone())
    });
    entry.client(move |client| client.header("Authorization", &token))
}

#[test]
fn credentials_that_are_refused_are_asked_for_again() {
    in_each_pair(|upstream, revision| async move {
        // It has another transport over HTTP.
        if upstream == Revision::V2024_11_05 {
            return;
        }
        let token = Arc::new(Mutex::new("first".to_owned()));
        let gate = Arc::<Gate>::default();
        let service = guarded(upstream, &token, &gate);
        let (at, valid) = (service.clone(), Arc::clone(&token));
        let proxy = Proxy::builder()
            .entry(with_token(&service, "of-the-proxy".to_owned()))
            .caller_entry("back", move |_: ProxyCaller| {
                let token = valid.lock().expect("no test panics with it").clone();
                let entry = with_token(&at, token);
                async move { Ok(entry) }
            })
            .naming(Naming::bare())
            .start(runtime())
            .await;
        let front = front(&proxy);
        let asked = only(revision).on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
        for client in [only(revision), asked] {
            "first".clone_into(&mut token.lock().expect("no test panics with it"));
            let ada = verified(&front, client, "ada").await;
            let _ = whoami(&ada).await;
            assert_eq!(whoami(&ada).await, "first", "{upstream} {revision}");
            let slow = Arc::new(Mutex::new(None));
            let (running, outcome) = (ada.clone(), Arc::clone(&slow));
            runtime().spawn(Box::pin(async move {
                let result = running.call_tool("slow", &()).await.map(|it| it.text());
                *outcome.lock().expect("no test panics with it") = Some(result);
            }));
            assert_eq!(whoami(&ada).await, "first", "{upstream} {revision}");
            "second".clone_into(&mut token.lock().expect("no test panics with it"));
            let refused = whoami(&ada).await;
            assert!(
                refused.contains("refused the request: authentication is required"),
                "{refused}"
            );
            assert_eq!(whoami(&ada).await, "second", "{upstream} {revision}");
            // A call that was let in before goes on.
            gate.open();
            let ended = loop {
                let ended = slow.lock().expect("no test panics with it").take();
                match ended {
                    Some(ended) => break ended,
                    None => drop(whoami(&ada).await),
                }
            };
            assert_eq!(ended.expect("it was let in"), "through");
        }
    });
}
