//! Servers over HTTP beside a bare one of hyper: what an echo costs and what an idle session keeps.
//!
//! ```text
//! cpu [ROUNDS]                 CPU time of each server for the same requests on 16 connections
//! idle [SESSIONS]              memory of sessions that only have their stream open
//! serve SERVER                 serves on a free port of 127.0.0.1, whose number it prints, while its input is open
//! drive PORT ERA REQUESTS      sends so many requests, one after the other, on 16 connections, and keeps these while its input is open
//! pipe                         serves on standard input and output
//! lines ERA CALLS              prints the messages of a client on a pipe that makes so many calls
//! call ERA CALLS [PORT]        makes so many calls with a client of this library (feature `client`)
//! ```

mod bare;
mod child;
#[cfg(feature = "client")]
mod client;
mod cpu;
mod drive;
mod idle;
mod ours;
mod requests;

use std::io::{self, Error};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["cpu"] => cpu::compare(15),
        ["cpu", rounds] => cpu::compare(number(rounds)?),
        ["idle"] => idle::compare(2_000),
        ["idle", sessions] => idle::compare(number(sessions)?),
        ["serve", server] => child::serve(server),
        ["drive", port, era, requests] => {
            drive::in_turn(number(port)?, requests::Era::named(era)?, number(requests)?)
        }
        ["pipe"] => ours::on_a_pipe(),
        ["lines", era, calls] => {
            let lines = requests::Era::named(era)?.conversation(number(calls)?);
            lines.for_each(|line| println!("{line}"));
            Ok(())
        }
        #[cfg(feature = "client")]
        ["call", era, calls] => client::call(requests::Era::named(era)?, number(calls)?, None),
        #[cfg(feature = "client")]
        ["call", era, calls, port] => client::call(
            requests::Era::named(era)?,
            number(calls)?,
            Some(number(port)?),
        ),
        _ => Err(Error::other("no such command: see the head of main.rs")),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> io::Result<T> {
    text.parse()
        .map_err(|_| Error::other(format!("{text} is no number that fits")))
}
