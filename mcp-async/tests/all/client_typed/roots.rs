//! Roots whose directories come and go, as both sides notice.
#![cfg(unix)]

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::sync::{Arc, Mutex};

use mcp_async::client::ClientBuilder;
use mcp_async::model::Root;
use mcp_async::server::{Context, NotificationContext, Roots, ServerBuilder};
use mcp_async::{Client, Server, in_memory};
use mcp_proto::{Revision, RevisionSet};

use crate::client_typed::support::{only, run};
use crate::sim::{Sim, sleep};
use crate::test_file::TestFolder;

/// Two directories of a test.
struct Temporary(TestFolder);

impl Temporary {
    fn new(name: &str) -> Self {
        let directory = TestFolder::new(&format!("roots-{name}"));
        fs::create_dir_all(directory.0.join("a")).unwrap();
        fs::create_dir_all(directory.0.join("b")).unwrap();
        Self(directory)
    }

    fn root(&self, name: &str) -> Root {
        Root::new(format!("file://{}/{name}", self.0.0.display()))
    }

    fn roots(&self) -> [Root; 2] {
        [self.root("a"), self.root("b")]
    }
}

/// The last names of the roots that a session knows, until its client says that they have changed.
#[derive(Default)]
struct Known(Mutex<Option<String>>);

/// A server that counts how often it is notified.
fn server(changes: &Arc<AtomicUsize>) -> ServerBuilder<Arc<AtomicUsize>> {
    Server::builder("demo", "1.0")
        .revisions(RevisionSet::of(&Revision::ALL))
        .with_state(Arc::clone(changes))
        .on_roots_changed(|cx: NotificationContext<_>| {
            let state: &Arc<AtomicUsize> = cx.state();
            state.fetch_add(1, Ordering::SeqCst);
            *cx.session_state::<Known>().unwrap().0.lock().unwrap() = None;
        })
        .tool("roots", "", |(): (), cx: Context<_>| async move {
            let known = cx.session_state::<Known>();
            let known = known.and_then(|known| known.0.lock().unwrap().clone());
            let names = match known {
                Some(names) => names,
                None => names(&cx.roots().await?),
            };
            if let Some(known) = cx.session_state::<Known>() {
                *known.0.lock().unwrap() = Some(names.clone());
            }
            Ok(names)
        })
}

fn names(roots: &Roots) -> String {
    let names = roots.iter().map(|(_, path)| path.file_name().unwrap());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    names.join(" ")
}

async fn connect(builder: ClientBuilder, changes: &Arc<AtomicUsize>) -> Client {
    let server = server(changes).build().unwrap();
    let client = builder.connect(in_memory(Sim.into(), &server)).await;
    client.unwrap()
}

/// RT-02, RT-05
#[test]
fn roots_that_vanish_are_not_shown_and_the_server_is_notified() {
    let directory = Temporary::new("checked");
    for revision in Revision::ALL {
        let changes = Arc::default();
        run(async {
            let builder = only(revision)
                .roots(directory.roots())
                .check_roots(Duration::from_secs(10));
            let client = connect(builder, &changes).await;
            let check = async |expected: &str, notified: usize| {
                let answer = client.call_tool("roots", &()).await.unwrap();
                let notified = if revision.is_legacy() { notified } else { 0 };
                let seen = (answer.text(), changes.load(Ordering::SeqCst));
                assert_eq!(seen, (expected.to_owned(), notified), "{revision}");
            };
            check("a b", 0).await;
            sleep(Duration::from_secs(60)).await;
            check("a b", 0).await;
            fs::remove_dir(directory.0.0.join("a")).unwrap();
            sleep(Duration::from_secs(11)).await;
            check("b", 1).await;
            fs::create_dir(directory.0.0.join("a")).unwrap();
            sleep(Duration::from_secs(11)).await;
            check("a b", 2).await;
            // A list that the program replaces is one change, whatever of it is there.
            let gone = directory.root("gone");
            client.set_roots([directory.root("b"), gone]).await.unwrap();
            check("b", 3).await;
            sleep(Duration::from_secs(60)).await;
            check("b", 3).await;
        });
    }
}

#[test]
fn without_a_check_all_roots_are_shown() {
    let directory = Temporary::new("unchecked");
    fs::remove_dir(directory.0.0.join("b")).unwrap();
    for revision in Revision::ALL {
        let changes = Arc::default();
        run(async {
            let client = connect(only(revision).roots(directory.roots()), &changes).await;
            let answer = client.call_tool("roots", &()).await.unwrap();
            assert_eq!(answer.text(), "a b");
            sleep(Duration::from_secs(60)).await;
            assert_eq!(changes.load(Ordering::SeqCst), 0);
        });
    }
}

#[test]
fn a_client_that_checks_its_roots_ends_as_any_other() {
    let directory = Temporary::new("ends");
    for revision in Revision::ALL {
        let changes = Arc::default();
        run(async {
            let roots = only(revision).roots(directory.roots());
            let client = connect(roots.check_roots(Duration::ZERO), &changes).await;
            client.close().await.unwrap();
        });
    }
}
