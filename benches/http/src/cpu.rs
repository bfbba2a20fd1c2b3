//! Server CPU of one echo: the servers take turns, so that whatever else the machine does meets all of them.
//!
//! Each line of the output has the revision, the server, its time for one, and the median of the rounds' ratios to a floor.

use std::io::{self, Error};
use std::process::{Command, Stdio};

use crate::child::{Piped, SERVERS, Server};
use crate::drive::{CONNECTIONS, Crowd, Work};
use crate::memory;
use crate::pipe;
use crate::requests::Era;
use crate::subscribers::Subscribers;

/// Calls on each connection in one round.
const CALLS: usize = 250;

pub(crate) fn compare(rounds: usize) -> io::Result<()> {
    println!(
        "server CPU of an echo, {CONNECTIONS} connections: the median of {rounds} rounds of {} calls",
        CALLS * CONNECTIONS
    );
    for era in Era::ALL {
        let servers: io::Result<Vec<_>> = SERVERS.iter().map(|name| Server::start(name)).collect();
        let servers = servers?;
        let crowds: io::Result<Vec<_>> = servers
            .iter()
            .map(|server| Crowd::open(server.port, Work::Echo(era)))
            .collect();
        let mut crowds = crowds?;
        let spent = turns(&servers, &mut crowds, rounds)?;
        for (at, name) in SERVERS.iter().enumerate() {
            // The bare server of the same runtime stands before it.
            let bare = &spent[at & !1];
            print(era.name(), name, (&spent[at], bare), CALLS * CONNECTIONS);
        }
    }
    Ok(())
}

/// The CPU times of servers that take turns with CALLS calls on each connection. The first round warms up.
fn turns(servers: &[Server], crowds: &mut [Crowd], rounds: usize) -> io::Result<Vec<Vec<u64>>> {
    let mut spent = vec![Vec::new(); servers.len()];
    for round in 0..=rounds {
        for ((server, crowd), spent) in servers.iter().zip(&mut *crowds).zip(&mut spent) {
            let before = server.cpu()?;
            crowd.work(CALLS)?;
            if round > 0 {
                spent.push(server.cpu()? - before);
            }
        }
    }
    Ok(spent)
}

/// Compares a call of a server that has little else with one beside many tools, and beside many sessions.
pub(crate) fn compare_beside(rounds: usize) -> io::Result<()> {
    println!("server CPU of an echo beside others: the median of {rounds} rounds");
    let names = ["mcp-tokio", "tools", "mcp-tokio"];
    let servers: io::Result<Vec<_>> = names.iter().map(|name| Server::start(name)).collect();
    let servers = servers?;
    let mut idle = Vec::new();
    memory::grow(servers[2].port, &mut idle, SESSIONS)?;
    let crowds = servers
        .iter()
        .map(|it| Crowd::open(it.port, Work::Echo(Era::Modern)));
    let mut crowds = crowds.collect::<io::Result<Vec<_>>>()?;
    let spent = turns(&servers, &mut crowds, rounds)?;
    for (name, ours) in ["alone", "10000 tools", "5000 sessions"]
        .into_iter()
        .zip(&spent)
    {
        print("beside", name, (ours, &spent[0]), CALLS * CONNECTIONS);
    }
    Ok(())
}

/// Idle sessions of a server.
const SESSIONS: usize = 5_000;

/// Prints the CPU time of an update for each of many subscribers, and of that for each of few: the median of rounds in turns.
pub(crate) fn compare_updates(rounds: usize) -> io::Result<()> {
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

/// The conversations on a pipe: name, era, bytes of the text, calls in flight, and how often as many are made in one round.
const TALKS: [(&str, Era, Option<usize>, usize, usize); 4] = [
    (Era::Legacy.name(), Era::Legacy, None, 64, 60),
    (Era::Modern.name(), Era::Modern, None, 64, 60),
    ("1 MB", Era::Legacy, Some(1_000_000), 1, 20),
    ("8 MB", Era::Legacy, Some(8_000_000), 1, 4),
];

/// Compares servers on a pipe; `other` is the program of one more.
pub(crate) fn compare_pipes(rounds: usize, other: Option<&str>) -> io::Result<()> {
    println!("server CPU of an echo on a pipe: the median of {rounds} rounds");
    for (name, era, bytes, depth, times) in TALKS {
        let ours = pipe::SERVERS.iter().map(|name| (*name, None));
        let others = other.map(|program| ("rmcp", Some(program)));
        // No revision of others has calls without a session.
        let others = others.filter(|_| era == Era::Legacy);
        let names: Vec<_> = ours.chain(others).collect();
        let servers = names
            .iter()
            .map(|(name, program)| Piped::start(*program, name, era, (depth, bytes)));
        let mut servers = servers.collect::<io::Result<Vec<_>>>()?;
        let mut spent = vec![Vec::new(); servers.len()];
        for round in 0..=rounds {
            for (server, spent) in servers.iter_mut().zip(&mut spent) {
                let before = server.cpu()?;
                (0..times).try_for_each(|_| server.exchange())?;
                if round > 0 {
                    spent.push(server.cpu()? - before);
                }
            }
        }
        for ((server, _), ours) in names.iter().zip(&spent) {
            print(name, server, (ours, &spent[0]), depth * times);
        }
    }
    Ok(())
}

/// Compares the runtimes where one call is made at a time, so that each wakes a thread: clients on a pipe and over HTTP, and a server.
#[cfg(feature = "client")]
pub(crate) fn compare_alone(rounds: usize) -> io::Result<()> {
    println!("CPU of one call at a time: the median of {rounds} rounds");
    let servers = [Server::start("mcp-tokio")?, Server::start("mcp-smol")?];
    for (work, port) in [("pipe", None), ("HTTP", Some(servers[0].port))] {
        let mut spent = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (spent, runtime) in spent.iter_mut().zip(["tokio", "smol"]) {
                spent.push(client_alone(runtime, port)? * CALLS as u64);
            }
        }
        print(work, "client on tokio", (&spent[0], &spent[0]), CALLS);
        print(work, "client on smol", (&spent[1], &spent[0]), CALLS);
    }
    let mut callers = Vec::new();
    for server in &servers {
        callers.push(Crowd::of_one(server.port, Work::Echo(Era::Legacy))?);
    }
    let spent = turns(&servers, &mut callers, rounds)?;
    print("HTTP", "server on tokio", (&spent[0], &spent[0]), CALLS);
    print("HTTP", "server on smol", (&spent[1], &spent[0]), CALLS);
    Ok(())
}

/// The CPU time of a call of a client in a process of its own.
#[cfg(feature = "client")]
fn client_alone(runtime: &str, port: Option<u16>) -> io::Result<u64> {
    let mut client = Command::new(std::env::current_exe()?);
    client.args(["cost", runtime, "2000"]);
    client.args(port.map(|port| port.to_string()));
    let printed = client.stderr(Stdio::inherit()).output()?.stdout;
    let printed = String::from_utf8_lossy(&printed);
    printed.trim().parse().map_err(Error::other)
}

/// Prints the time for one call, and the ratio to the floor.
fn print(work: &str, name: &str, (ours, floor): (&[u64], &[u64]), calls: usize) {
    let each = ours.iter().map(|spent| *spent as f64 / calls as f64 / 1e3);
    let ratios = ours.iter().zip(floor);
    let ratios = ratios.map(|(spent, floor)| *spent as f64 / *floor as f64);
    println!(
        "{:<12}{name:<18}{:>8.2} µs{:>8.2} of the floor",
        work,
        median(each),
        median(ratios)
    );
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
