//! The arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "fleet ADDRESS [--store URL] [--lease SECONDS] [--effects FILE] [--peers ADDRESS] [--peers-url URL]";

pub(crate) struct Options {
    pub(crate) address: String,
    /// The URL of a Redis.
    pub(crate) store: Option<String>,
    /// Of tasks and of sessions: a killed process is followed after that time at the latest.
    pub(crate) lease: Duration,
    /// The file that calls of `effect` write to.
    pub(crate) effects: Option<PathBuf>,
    /// The address for the other processes; a port of loopback otherwise.
    pub(crate) peers: Option<String>,
    /// The URL at which they reach it; that of the address otherwise.
    pub(crate) peers_url: Option<String>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self {
            address: arguments.next()?,
            store: None,
            lease: Duration::from_secs(6),
            effects: None,
            peers: None,
            peers_url: None,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next()?;
            match name.as_str() {
                "--store" => options.store = Some(value),
                "--lease" => options.lease = Duration::from_secs(value.parse().ok()?),
                "--effects" => options.effects = Some(value.into()),
                "--peers" => options.peers = Some(value),
                "--peers-url" => options.peers_url = Some(value),
                _ => return None,
            }
        }
        Some(options)
    }
}
