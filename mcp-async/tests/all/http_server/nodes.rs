//! Processes that share a store, each of which sees faults of its own in it.

use core::future::pending;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, OnceLock};

use mcp_async::http::{
    Claim, EventStore, Http, HttpService, MemoryStore, Relay, SessionStore, StoreFuture,
};
use mcp_async::model::Implementation;
use mcp_async::server::{Context, HandlerError, NoArguments, Registry};

use mcp_proto::model::LoggingLevel;

use crate::http_server::far::{Far, Fault};
use crate::http_server::legacy::{Session, server};
use crate::http_server::support::now;
use crate::sim::{Sim, settle};

/// A store that all processes share, as one of them sees it.
pub(crate) struct Node {
    pub(crate) far: Arc<Far>,
    pub(crate) name: OnceLock<String>,
    pub(crate) sent: AtomicUsize,
    /// Calls that look up the owner of a session.
    pub(crate) claims: AtomicUsize,
    /// The lease that was announced last.
    pub(crate) lease: Mutex<Duration>,
}

impl Node {
    pub(crate) fn set(&self, fault: Fault) {
        self.far.set(fault);
    }

    /// The process stops without releasing its sessions, and its lease expires.
    pub(crate) fn kill(&self) {
        self.set(Fault::Hangs);
        now(self.far.store.withdraw(self.name.get().unwrap())).unwrap();
    }
}

impl Relay for Node {
    fn announce<'a>(&'a self, process: &'a str, lease: Duration) -> StoreFuture<'a, Vec<String>> {
        let _ = self.name.set(process.to_owned());
        *self.lease.lock().unwrap() = lease;
        self.far.call(move |store| store.announce(process, lease))
    }

    fn withdraw<'a>(&'a self, process: &'a str) -> StoreFuture<'a, ()> {
        self.far.call(move |store| store.withdraw(process))
    }

    fn claim<'a>(&'a self, session: &'a str, process: &'a str) -> StoreFuture<'a, Claim> {
        self.claims.fetch_add(1, Ordering::SeqCst);
        self.far.call(move |store| store.claim(session, process))
    }

    fn send<'a>(&'a self, process: &'a str, message: &'a [u8]) -> StoreFuture<'a, bool> {
        let number = self.sent.fetch_add(1, Ordering::SeqCst);
        let fault = self.far.fault();
        self.far.call(move |store| {
            Box::pin(async move {
                match fault {
                    Fault::Loses(from) if number >= from => return Ok(true),
                    Fault::Doubles => store.send(process, message).await?,
                    _ => true,
                };
                store.send(process, message).await
            })
        })
    }

    fn broadcast<'a>(&'a self, from: &'a str, message: &'a [u8]) -> StoreFuture<'a, ()> {
        self.far.call(move |store| store.broadcast(from, message))
    }

    fn receive<'a>(&'a self, process: &'a str) -> StoreFuture<'a, Vec<Vec<u8>>> {
        self.far.call(move |store| {
            Box::pin(async move {
                let received = store.receive(process).await;
                match self.far.fault() {
                    Fault::Hangs => pending().await,
                    _ => received,
                }
            })
        })
    }
}

/// A process, its handle and its view of the store.
pub(crate) struct Process {
    pub(crate) service: HttpService<Sim>,
    pub(crate) registry: Registry,
    pub(crate) node: Arc<Node>,
}

pub(crate) fn processes<const COUNT: usize>() -> [Process; COUNT] {
    processes_with(|http| http)
}

pub(crate) fn processes_with<const COUNT: usize>(
    settings: impl Fn(Http<Sim>) -> Http<Sim>,
) -> [Process; COUNT] {
    let store = Arc::<MemoryStore>::default();
    core::array::from_fn(|_| {
        let node = Arc::new(Node {
            far: Far::of(&store),
            name: OnceLock::new(),
            sent: AtomicUsize::new(0),
            claims: AtomicUsize::new(0),
            lease: Mutex::default(),
        });
        let server = server()
            .change_notifications()
            .tool("who", "Says what it knows of the client", who)
            .tool(
                "log",
                "Writes a log message",
                |_: NoArguments, cx: Context| async move {
                    cx.log(LoggingLevel::Info, "written").await;
                    Ok("done")
                },
            )
            .tool("much", "Says much", |_: NoArguments, _: Context| async {
                Ok("x".repeat(3 << 20))
            })
            .build()
            .unwrap();
        let service = settings(server.http())
            .session_store(Arc::clone(&node.far) as Arc<dyn SessionStore>)
            .event_store(Arc::clone(&node.far) as Arc<dyn EventStore>)
            .relay(Arc::clone(&node) as Arc<dyn Relay>)
            .into_service()
            .unwrap();
        settle();
        Process {
            service,
            registry: server.registry(),
            node,
        }
    })
}

pub(crate) fn epoch(process: &Process, session: &Session) -> u32 {
    let taken = now(process.node.far.store.take_over(&session.id)).unwrap();
    taken.unwrap().epoch() - 1
}

async fn who(_: NoArguments, cx: Context) -> Result<String, HandlerError> {
    let extension = cx.client_extension("com.example/colours");
    let name = |info: Option<Implementation>| info.map(|info| info.name).unwrap_or_default();
    Ok(format!(
        "{} {} {}",
        name(cx.client_info()),
        extension.map_or(String::new(), |it| it.as_raw().as_str().replace('"', "")),
        name(cx.peer().client_info()),
    ))
}
