//! Sessions that are subscribed to one resource, and a call that changes it.

use std::io;

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
