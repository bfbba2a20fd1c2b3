//! Memory that a server keeps: of sessions that wait, after sessions that came and went, and of tasks that run.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use crate::child::{SERVERS, Server};
use crate::drive::Connection;
use crate::requests;

/// Sessions or tasks that are there before anything is counted: tables and arenas have begun.
const FIRST: usize = 200;

/// Prints the memory of a session that has its connection and its stream open, and nothing happens, on each server.
pub(crate) fn of_idle_sessions(sessions: usize) -> io::Result<()> {
    println!(
        "resident memory of an idle session with its stream open, the mean of {sessions} behind the first {FIRST}"
    );
    let mut bare = 0;
    for (at, name) in SERVERS.iter().enumerate() {
        let each = of_idle_session(name, sessions)?;
        if at % 2 == 0 {
            bare = each;
        }
        println!(
            "{name:<14}{each:>8} B{:>8} B more than hyper",
            each.saturating_sub(bare)
        );
    }
    Ok(())
}

/// Prints three figures of the server on tokio: of an idle session, of one that came and went, and of a task that runs.
pub(crate) fn of_everything(count: usize) -> io::Result<()> {
    let idle = of_idle_session("mcp-tokio", count)?;
    println!("an idle session         {idle:>8} B");
    let gone = after_sessions(count)?;
    println!("a session that has gone {gone:>8} B");
    let task = of_task(count)?;
    println!("a task that runs        {task:>8} B");
    Ok(())
}

fn of_idle_session(server: &str, sessions: usize) -> io::Result<u64> {
    let server = Server::start(server)?;
    let mut open = Vec::new();
    grow(server.port, &mut open, FIRST)?;
    let before = settled(&server)?;
    grow(server.port, &mut open, sessions)?;
    Ok(each(before, settled(&server)?, sessions))
}

/// The resident bytes that are left of each of so many sessions at a time, after they came and went five times.
fn after_sessions(sessions: usize) -> io::Result<u64> {
    let server = Server::start("mcp-tokio")?;
    let mut admin = Connection::open(server.port)?;
    let before = settled(&server)?;
    for _ in 0..ROUNDS {
        let mut open = Vec::new();
        for session in grow(server.port, &mut open, sessions)? {
            admin.send(&requests::end_session(&session))?;
        }
        drop(open);
        settled(&server)?;
    }
    Ok(each(before, settled(&server)?, sessions))
}

fn of_task(tasks: usize) -> io::Result<u64> {
    let server = Server::start("tasks")?;
    let mut connection = Connection::open(server.port)?;
    let mut begin = |tasks| {
        (0..tasks).try_for_each(|_| {
            connection
                .exchange(&requests::create_task("wait"))
                .map(drop)
        })
    };
    begin(FIRST)?;
    let before = settled(&server)?;
    begin(tasks)?;
    Ok(each(before, settled(&server)?, tasks))
}

/// Opens more sessions, and returns their ids.
pub(crate) fn grow(
    port: u16,
    open: &mut Vec<Connection>,
    sessions: usize,
) -> io::Result<Vec<String>> {
    let mut opened = Vec::with_capacity(sessions);
    for _ in 0..sessions {
        let mut connection = Connection::open(port)?;
        let session = connection.initialize()?;
        connection.open_events(&requests::open_stream(&session))?;
        open.push(connection);
        opened.push(session);
    }
    Ok(opened)
}

/// The resident bytes when the last connections have settled.
fn settled(server: &Server) -> io::Result<u64> {
    sleep(Duration::from_millis(500));
    server.resident()
}

fn each(before: u64, after: u64, count: usize) -> u64 {
    after.saturating_sub(before) / u64::try_from(count.max(1)).unwrap_or(u64::MAX)
}

/// The number of times that sessions come and go.
const ROUNDS: usize = 5;
