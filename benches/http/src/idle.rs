//! Memory of sessions that wait: each has its connection and its stream open, and nothing happens.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use crate::child::{SERVERS, Server};
use crate::drive::Connection;
use crate::requests;

/// Sessions that are there before anything is counted: tables and arenas have begun.
const FIRST: usize = 200;

pub(crate) fn compare(sessions: usize) -> io::Result<()> {
    println!(
        "resident memory of an idle session with its stream open, the mean of {sessions} behind the first {FIRST}"
    );
    let mut bare = 0;
    for (at, name) in SERVERS.iter().enumerate() {
        let server = Server::start(name)?;
        let mut open = Vec::new();
        let before = grow(&server, &mut open, FIRST)?;
        let after = grow(&server, &mut open, sessions)?;
        let each =
            after.saturating_sub(before) / u64::try_from(sessions.max(1)).unwrap_or(u64::MAX);
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

/// Opens more sessions, and returns what the server keeps then.
fn grow(server: &Server, open: &mut Vec<Connection>, sessions: usize) -> io::Result<u64> {
    for _ in 0..sessions {
        let mut connection = Connection::open(server.port)?;
        let session = connection.initialize()?;
        connection.open_events(&requests::open_stream(&session))?;
        open.push(connection);
    }
    // The last of them have settled by then.
    sleep(Duration::from_millis(500));
    server.resident()
}
