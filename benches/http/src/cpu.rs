//! Server CPU of one echo: the servers take turns, so that whatever else the machine does meets all of them.

use std::io;

use crate::child::{SERVERS, Server};
use crate::drive::{CONNECTIONS, Crowd};
use crate::requests::Era;

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
            .map(|server| Crowd::open(server.port, era))
            .collect();
        let mut crowds = crowds?;
        let mut spent = vec![Vec::new(); servers.len()];
        // The first round warms up.
        for round in 0..=rounds {
            for ((server, crowd), spent) in servers.iter().zip(&mut crowds).zip(&mut spent) {
                let before = server.cpu()?;
                crowd.call(CALLS)?;
                if round > 0 {
                    spent.push(server.cpu()? - before);
                }
            }
        }
        for (at, (name, ours)) in SERVERS.iter().zip(&spent).enumerate() {
            // The bare server of the same runtime stands before it.
            let bare = &spent[at & !1];
            let each = ours
                .iter()
                .map(|spent| *spent as f64 / (CALLS * CONNECTIONS) as f64 / 1e3);
            let of_bare = ours
                .iter()
                .zip(bare)
                .map(|(spent, bare)| *spent as f64 / *bare as f64);
            println!(
                "{:<12}{name:<14}{:>8.2} µs{:>8.2} of hyper",
                era.name(),
                median(each),
                median(of_bare)
            );
        }
    }
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
