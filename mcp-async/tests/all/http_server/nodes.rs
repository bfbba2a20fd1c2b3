//! Processes that share a store, each of which sees faults of its own in it.

use core::future::pending;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, OnceLock};

use mcp_async::http::{
    Claim, EventStore, Http, HttpService, MemoryStore, Relay, Replay, SessionStore, StoreError,
    StoreFuture, StoredEvent, TakenSession,
};
use mcp_async::model::Implementation;
use mcp_async::server::{Context, HandlerError, NoArguments, Registry};

use mcp_proto::model::LoggingLevel;

use crate::http_server::legacy::{Session, server};
use crate::http_server::support::{now, sleep};
use crate::sim::{Sim, settle};

/// What is wrong with the store, as one process sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Every call fails.
    Fails,
    /// No call has an end.
    Hangs,
    /// Messages are sent twice.
    Doubles,
    /// Messages are lost from this one on.
    Loses(usize),
    /// Every call takes so many milliseconds.
    Late(u64),
}

/// A store that all processes share, as one of them sees it.
pub(crate) struct Node {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) name: OnceLock<String>,
    fault: Mutex<Fault>,
    pub(crate) sent: AtomicUsize,
    /// Calls that look up the owner of a session.
    pub(crate) claims: AtomicUsize,
    /// The lease that was announced last.
    pub(crate) lease: Mutex<Duration>,
}

impl Node {
    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// The process stops without releasing its sessions, and its lease expires.
    pub(crate) fn kill(&self) {
        self.set(Fault::Hangs);
        now(self.store.withdraw(self.name.get().unwrap())).unwrap();
    }

    fn call<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&'a MemoryStore) -> StoreFuture<'a, T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        let fault = *self.fault.lock().unwrap();
        Box::pin(async move {
            match fault {
                Fault::Fails => return Err(StoreError::new("out of order")),
                Fault::Hangs => pending().await,
                Fault::Late(time) => sleep(Duration::from_millis(time)).await,
                _ => {}
            }
            work(&self.store).await
        })
    }
}

impl SessionStore for Node {
    fn create<'a>(&'a self, id: &'a str, record: &'a [u8], keep: Duration) -> StoreFuture<'a, ()> {
        self.call(move |store| store.create(id, record, keep))
    }

    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()> {
        self.call(move |store| store.save(id, epoch, record, keep))
    }

    fn check<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()> {
        self.call(move |store| store.check(id, epoch))
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.call(move |store| store.load(id))
    }

    fn take_over<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TakenSession>> {
        self.call(move |store| store.take_over(id))
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.call(move |store| SessionStore::remove(store, id))
    }
}

impl EventStore for Node {
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()> {
        self.call(move |store| store.append(event))
    }

    fn replay<'a>(
        &'a self,
        session: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>> {
        self.call(move |store| store.replay(session, stream, after))
    }

    fn begin_epoch<'a>(&'a self, session: &'a str, epoch: u32) -> StoreFuture<'a, u64> {
        self.call(move |store| store.begin_epoch(session, epoch))
    }

    fn remove<'a>(&'a self, session: &'a str) -> StoreFuture<'a, ()> {
        self.call(move |store| EventStore::remove(store, session))
    }
}

impl Relay for Node {
    fn announce<'a>(&'a self, process: &'a str, lease: Duration) -> StoreFuture<'a, Vec<String>> {
        let _ = self.name.set(process.to_owned());
        *self.lease.lock().unwrap() = lease;
        self.call(move |store| store.announce(process, lease))
    }

    fn withdraw<'a>(&'a self, process: &'a str) -> StoreFuture<'a, ()> {
        self.call(move |store| store.withdraw(process))
    }

    fn claim<'a>(&'a self, session: &'a str, process: &'a str) -> StoreFuture<'a, Claim> {
        self.claims.fetch_add(1, Ordering::SeqCst);
        self.call(move |store| store.claim(session, process))
    }

    fn send<'a>(&'a self, process: &'a str, message: &'a [u8]) -> StoreFuture<'a, bool> {
        let number = self.sent.fetch_add(1, Ordering::SeqCst);
        let fault = *self.fault.lock().unwrap();
        self.call(move |store| {
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
        self.call(move |store| store.broadcast(from, message))
    }

    fn receive<'a>(&'a self, process: &'a str) -> StoreFuture<'a, Vec<Vec<u8>>> {
        self.call(move |store| {
            Box::pin(async move {
                let received = store.receive(process).await;
                let fault = *self.fault.lock().unwrap();
                match fault {
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
            store: Arc::clone(&store),
            name: OnceLock::new(),
            fault: Mutex::default(),
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
                    cx.log(LoggingLevel::Info, &"written").await;
                    Ok("done")
                },
            )
            .tool("much", "Says much", |_: NoArguments, _: Context| async {
                Ok("x".repeat(3 << 20))
            })
            .build()
            .unwrap();
        let service = settings(server.http())
            .session_store(Arc::clone(&node) as Arc<dyn SessionStore>)
            .event_store(Arc::clone(&node) as Arc<dyn EventStore>)
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
    let taken = now(process.node.store.take_over(&session.id)).unwrap();
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
