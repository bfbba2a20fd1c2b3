//! Processes that share a store, each of which sees faults of its own in it.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use mcp_async::http::{Claim, Http, HttpService, SessionStore as _};
use mcp_async::model::Implementation;
use mcp_async::runtime::Runtime as _;
use mcp_async::server::{Context, HandlerError, Registry, Resource, ServerBuilder, StateKeys};
use mcp_proto::model::LoggingLevel;

use crate::http_server::far::{Common, Far, Fault};
use crate::http_server::legacy::server;
use crate::http_server::wire::Wire;
use crate::scripted::{HttpClient, Serve};
use crate::sim::{self, Mode, Sim, advance, done, settle, sleep};

/// A process, its handle, its view of the store and its way to the others.
pub(crate) struct Process {
    pub(crate) service: HttpService,
    pub(crate) registry: Registry,
    pub(crate) node: Far,
    pub(crate) sim: sim::Process,
    pub(crate) wire: Wire,
    pub(crate) url: String,
    pub(crate) ran: Arc<Ran>,
}

/// The calls of `run`, and of `work`, in one process.
#[derive(Default)]
pub(crate) struct Ran {
    begun: AtomicUsize,
    ended: AtomicUsize,
    /// Those that another process should have had.
    wrong: AtomicUsize,
}

impl Ran {
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    pub(crate) fn wrong(&self) -> usize {
        self.wrong.load(Ordering::SeqCst)
    }

    fn begin(&self, node: &Far, cx: &Context) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let session = cx
            .http()
            .and_then(|head| head.headers.get("mcp-session-id"));
        let session = session.and_then(|id| id.to_str().ok()).unwrap_or_default();
        if !node.has_last_taken(session) {
            self.wrong.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Process {
    /// The process ends without a word, and its lease with it, later.
    pub(crate) fn kill(&self) {
        self.node.set(Fault::Hangs);
        self.sim.set(Mode::Dead);
        self.wire.remove(&self.url);
    }

    /// Opens a session in the process.
    pub(crate) fn open(&self) -> HttpClient {
        self.sim
            .run(|| HttpClient::open(&self.service, "2025-11-25"))
    }
}

/// Lets seconds pass, in which processes renew their leases.
pub(crate) fn pass(seconds: u32) {
    (0..2 * seconds).for_each(|_| advance(Duration::from_millis(500)));
}

/// Two processes, and a client whose session the first one has, at each of them.
pub(crate) fn session_of_two() -> ([Process; 2], HttpClient, HttpClient) {
    let [first, second] = processes();
    let here = first.open();
    let there = at(&second, &here);
    ([first, second], here, there)
}

/// This client at another process.
pub(crate) fn at(process: &Process, session: &HttpClient) -> HttpClient {
    session.at(&process.service)
}

pub(crate) fn ping() -> &'static str {
    "9 ping"
}

/// `logging/setLevel`
pub(crate) fn set_level(level: &str) -> String {
    format!(r#"8 logging/setLevel {{"level":"{level}"}}"#)
}

/// The epoch of a session that this process owns.
#[track_caller]
pub(crate) fn epoch(process: &Process, session: &HttpClient) -> u32 {
    let store = process.node.common.store();
    match done(store.claim(&session.id, &process.node.owner(), false)).unwrap() {
        Claim::Own(epoch) => epoch,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn processes<const COUNT: usize>() -> [Process; COUNT] {
    processes_with(|http| http)
}

pub(crate) fn processes_with<const COUNT: usize>(
    settings: impl Fn(Http) -> Http,
) -> [Process; COUNT] {
    processes_of(|server| server, settings)
}

pub(crate) fn processes_of<const COUNT: usize>(
    more: impl Fn(ServerBuilder) -> ServerBuilder,
    settings: impl Fn(Http) -> Http,
) -> [Process; COUNT] {
    let common = Common::new();
    let wire = Wire::default();
    core::array::from_fn(|index| start(&common, &wire, index, &more, &settings))
}

/// Starts one more process.
pub(crate) fn start(
    common: &Arc<Common>,
    wire: &Wire,
    index: usize,
    more: &dyn Fn(ServerBuilder) -> ServerBuilder,
    settings: &dyn Fn(Http) -> Http,
) -> Process {
    let sim = sim::Process::default();
    let (node, ran) = (Far::of(common), Arc::<Ran>::default());
    let server = more(tools(&node, &ran)).build().unwrap();
    let url = format!("http://process-{index}/mcp");
    let http = server.http().share_with(node.clone(), wire.clone());
    let http = settings(http.reached_at(&url));
    let service = sim.run(|| http.served());
    wire.insert(&url, &service, &sim);
    settle();
    Process {
        service,
        registry: server.registry(),
        node,
        sim,
        wire: wire.clone(),
        url,
        ran,
    }
}

/// What all processes know.
pub(crate) const KEY: [u8; 32] = [7; 32];

/// Keys with the time of the test.
pub(crate) fn keys() -> StateKeys {
    StateKeys::new(KEY).clock(|| UNIX_EPOCH + Duration::from_millis(Sim.now().as_millis()))
}

fn tools(node: &Far, ran: &Arc<Ran>) -> ServerBuilder {
    let counts = || (node.clone(), Arc::clone(ran));
    let (run, work) = (counts(), counts());
    server()
        .state_keys(keys())
        .change_notifications()
        .with(Resource::new("demo://open", "open").handler(|_| async { Ok("read") }))
        .tool("who", "Says what it knows of the client", who)
        .tool(
            "log",
            "Writes a log message",
            |(): (), cx: Context| async move {
                cx.log(LoggingLevel::Info, "written").await;
                Ok("done")
            },
        )
        .tool("much", "Says much", |(): (), _: Context| async {
            Ok("x".repeat(3 << 20))
        })
        .tool("run", "Is counted", move |(): (), cx: Context| {
            let (node, ran) = &run;
            ran.begin(node, &cx);
            async { Ok("done") }
        })
        .tool(
            "work",
            "Takes two seconds, and is counted",
            move |(): (), cx: Context| {
                let (node, ran) = &work;
                ran.begin(node, &cx);
                let ran = Arc::clone(ran);
                async move {
                    sleep(Duration::from_secs(2)).await;
                    ran.ended.fetch_add(1, Ordering::SeqCst);
                    Ok("at last")
                }
            },
        )
}

async fn who((): (), cx: Context) -> Result<String, HandlerError> {
    let extension = cx.client_extension("com.example/colours");
    let name = |info: Option<Implementation>| info.map(|info| info.name).unwrap_or_default();
    Ok(format!(
        "{} {} {}",
        name(cx.client_info()),
        extension.map_or(String::new(), |it| it.as_raw().as_str().replace('"', "")),
        name(cx.peer().client_info()),
    ))
}
