//! A server over HTTP/1.1 on plain sockets of `std` in one loop, without an async runtime: `httparse`
//! parses heads, and the core does what the protocol requires.
//!
//! `cargo run -p mcp-proto --features alloc --example http_server` listens on
//! `http://127.0.0.1:8000/mcp`. Where `poll(2)` is available, the loop would use it to wait for the
//! sockets or the deadline.

mod app;
mod connection;
#[cfg(test)]
mod tests;

use core::net::Ipv4Addr;
use core::time::Duration;
use std::io;
use std::net::TcpListener;

use mcp_proto::http::Endpoint;
use mcp_proto::server::http::{HttpOptions, HttpServer, HttpStep};
use mcp_proto::{Action, Instant};

use crate::app::App;
use crate::connection::Connection;

fn main() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 8000))?;
    let mut server = Server::new(listener, HttpOptions::default())?;
    println!("http://127.0.0.1:8000/mcp");
    loop {
        server.turn()?;
    }
}

/// The machines, their application, and the connections of clients.
struct Server {
    http: HttpServer<'static>,
    app: App,
    listener: TcpListener,
    head_timeout: Duration,
    connections: Vec<Connection>,
    started: std::time::Instant,
}

impl Server {
    fn new(listener: TcpListener, options: HttpOptions) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self {
            http: HttpServer::new(Endpoint::default(), app::config(), options)
                .map_err(io::Error::other)?,
            app: App::default(),
            listener,
            head_timeout: options.limits.head,
            connections: Vec::new(),
            started: std::time::Instant::now(),
        })
    }

    /// Reads what has come, lets the machines and the application work, writes what there is to
    /// say, and rests a moment if nothing moved.
    fn turn(&mut self) -> io::Result<()> {
        let millis = u64::try_from(self.started.elapsed().as_millis());
        let now = Instant::from_millis(millis.unwrap_or(u64::MAX));
        let mut moved = false;
        while self.connections.len() < MAX_CONNECTIONS
            && let Ok((socket, _)) = self.listener.accept()
        {
            socket.set_nonblocking(true)?;
            let connection = Connection::new(socket, now, self.head_timeout);
            self.connections.push(connection);
        }
        for connection in &mut self.connections {
            let (read, body) = connection.read(now, &mut self.http);
            moved |= read;
            if let Some(body) = body {
                for message in body.messages() {
                    if let Action::Event(event) = self.http.receive(now, &body, message) {
                        self.app.on(now, &event, body.machine(), &mut self.http);
                    }
                }
                self.http.finish(now, body);
            }
        }
        self.app.handle_timeout(now, &mut self.http);
        loop {
            match self.http.step(now) {
                HttpStep::Event { machine, event } => {
                    self.app.on(now, &event, machine, &mut self.http);
                }
                HttpStep::Ready(exchange) => {
                    let mut connections = self.connections.iter_mut();
                    if let Some(connection) = connections.find(|it| it.waits_for(exchange)) {
                        connection.set_ready();
                    }
                }
                HttpStep::Idle => break,
            }
        }
        for connection in &mut self.connections {
            moved |= connection.write(now, &mut self.http);
        }
        self.connections.retain(|connection| !connection.is_over());
        if !moved {
            let due = [self.http.poll_timeout(), self.app.next_timeout()];
            let next = due.into_iter().flatten().min();
            let rest = next.map_or(TICK, |due| due.saturating_since(now).min(TICK));
            std::thread::sleep(rest);
        }
        Ok(())
    }
}

/// The bounds of `HttpServer` hold for all clients together, but it does not know connections.
const MAX_CONNECTIONS: usize = 1024;

const TICK: Duration = Duration::from_millis(1);
