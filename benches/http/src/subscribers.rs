//! Sessions that are subscribed to one resource, and a call that changes it.

use std::io;

use crate::child::Server;
use crate::cpu::print;
use crate::drive::Connection;
use crate::requests;

/// Sessions of which each has subscribed to the resource and reads its stream, and the connection of the one that changes it.
pub(crate) struct Subscribers {
    caller: Connection,
    streams: Vec<Connection>,
}

impl Subscribers {
    pub(crate) fn open(port: u16, count: usize) -> io::Result<Self> {
        let mut streams = Vec::with_capacity(count);
        for _ in 0..count {
            let mut connection = Connection::open(port)?;
            let session = connection.initialize()?;
            connection.exchange(&requests::subscribe(&session))?;
            connection.open_events(&requests::open_stream(&session))?;
            streams.push(connection);
        }
        // Last, because a connection without a request does not last.
        let caller = Connection::open(port)?;
        let mut subscribers = Self { caller, streams };
        subscribers.update()?;
        Ok(subscribers)
    }

    /// Changes the resource, and waits until each of them was notified.
    pub(crate) fn update(&mut self) -> io::Result<()> {
        self.caller.exchange(&requests::touch())?;
        let notified = |stream: &mut Connection| stream.read_past(requests::UPDATED);
        self.streams.iter_mut().try_for_each(notified)
    }
}

/// Prints the CPU time of an update for each of many subscribers, and of that for each of few: the median of rounds in turns.
pub(crate) fn compare(rounds: usize) -> io::Result<()> {
    println!("server CPU of an update, for each subscriber: the median of {rounds} rounds");
    let server = || Server::start("updates");
    let servers = [server()?, server()?];
    let [few, many] = COUNTS;
    let mut audiences = [
        Subscribers::open(servers[0].port, few)?,
        Subscribers::open(servers[1].port, many)?,
    ];
    let mut spent = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        for at in 0..COUNTS.len() {
            let before = servers[at].cpu()?;
            (0..UPDATES / COUNTS[at]).try_for_each(|_| audiences[at].update())?;
            if round > 0 {
                spent[at].push(servers[at].cpu()? - before);
            }
        }
    }
    for (count, ours) in COUNTS.into_iter().zip(&spent) {
        let name = format!("{count} subscribers");
        print("update", &name, (ours, &spent[0]), UPDATES);
    }
    Ok(())
}

/// Few and many subscribers.
const COUNTS: [usize; 2] = [100, 1_000];
/// Notifications in one round: of many subscribers so many that what the other server has used does not count.
const UPDATES: usize = 30_000;
