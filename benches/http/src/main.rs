//! Servers and clients in processes of their own, beside servers that are written by hand: what an echo costs and what sessions and
//! tasks keep. A SERVER is one of `child.rs` or `pipe.rs`, WORK an era or another case of `drive.rs`.
//!
//! ```text
//! cpu [ROUNDS [PROGRAM]]       CPU time of each server for the same requests on 16 connections, and on a pipe, where PROGRAM is another
//! idle [SESSIONS]              memory of sessions that only have their stream open
//! memory [COUNT]               memory of sessions that wait or have gone, and of tasks, with the allocator of this program
//! large [ROUNDS]               CPU time of a call beside many tools or sessions, and of an update for each of few subscribers and of many
//! alone [ROUNDS]               CPU time of one call at a time on smol, of that on tokio (feature `client`)
//! serve SERVER                 serves on a free port of 127.0.0.1, whose number it prints, while its input is open
//! drive PORT WORK TIMES        works so many times, one after the other, on 16 connections, and keeps these while its input is open
//! pipe SERVER                  serves on standard input and output
//! lines ERA CALLS [BYTES]      prints the messages of a client on a pipe that makes so many calls, with a text of so many bytes
//! call ERA CALLS DEPTH [PORT]  makes so many calls with a client of this library, so many at once (feature `client`)
//! cost RUNTIME CALLS [PORT]    makes so many calls one after the other, and prints the CPU time of one (feature `client`)
//! ```

mod bare;
mod child;
#[cfg(feature = "client")]
mod client;
mod cpu;
mod drive;
mod memory;
mod ours;
mod pipe;
mod requests;
mod subscribers;
#[cfg(feature = "auth")]
mod tokens;

use std::io::{self, Error};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["cpu"] => cpu(15, None),
        ["cpu", rounds] => cpu(number(rounds)?, None),
        ["cpu", rounds, program] => cpu(number(rounds)?, Some(program)),
        ["idle"] => memory::of_idle_sessions(2_000),
        ["idle", sessions] => memory::of_idle_sessions(number(sessions)?),
        ["memory"] => memory::of_everything(1_000),
        ["memory", count] => memory::of_everything(number(count)?),
        ["large"] => large(15),
        ["large", rounds] => large(number(rounds)?),
        #[cfg(feature = "client")]
        ["alone"] => cpu::compare_alone(15),
        #[cfg(feature = "client")]
        ["alone", rounds] => cpu::compare_alone(number(rounds)?),
        ["serve", server] => child::serve(server),
        ["drive", port, work, times] => drive::drive(number(port)?, work, number(times)?),
        ["pipe", server] => pipe::serve(server),
        ["lines", era, calls] => lines(era, calls, None),
        ["lines", era, calls, bytes] => lines(era, calls, Some(number(bytes)?)),
        #[cfg(feature = "client")]
        ["call", era, calls, depth] => call(era, calls, depth, None),
        #[cfg(feature = "client")]
        ["call", era, calls, depth, port] => call(era, calls, depth, Some(number(port)?)),
        #[cfg(feature = "client")]
        ["cost", runtime, calls] => client::call_alone(runtime, number(calls)?, None),
        #[cfg(feature = "client")]
        ["cost", runtime, calls, port] => {
            client::call_alone(runtime, number(calls)?, Some(number(port)?))
        }
        _ => Err(Error::other("no such command: see the head of main.rs")),
    }
}

fn cpu(rounds: usize, program: Option<&str>) -> io::Result<()> {
    cpu::compare(rounds)?;
    cpu::compare_pipes(rounds, program)
}

fn large(rounds: usize) -> io::Result<()> {
    cpu::compare_beside(rounds)?;
    cpu::compare_updates(rounds)
}

fn lines(era: &str, calls: &str, bytes: Option<usize>) -> io::Result<()> {
    let lines = requests::Era::named(era)?.conversation(number(calls)?, bytes);
    lines.for_each(|line| println!("{line}"));
    Ok(())
}

#[cfg(feature = "client")]
fn call(era: &str, calls: &str, depth: &str, port: Option<u16>) -> io::Result<()> {
    client::call(
        requests::Era::named(era)?,
        number(calls)?,
        number(depth)?,
        port,
    )
}

fn number<T: std::str::FromStr>(text: &str) -> io::Result<T> {
    text.parse()
        .map_err(|_| Error::other(format!("{text} is no number that fits")))
}
