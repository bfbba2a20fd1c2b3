//! Where a store is, and how a connection to it begins.

use std::io;

use redis::{ConnectionAddr, IntoConnectionInfo, cmd};

use super::error::RedisUrlError;
use crate::net::Network;

/// A store, as its URL names it.
pub(super) struct Target {
    host: String,
    port: u16,
    /// The commands that a connection begins with.
    pub(super) login: Vec<u8>,
    /// How many there are.
    pub(super) logins: usize,
}

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, RedisUrlError> {
        let info = url
            .into_connection_info()
            .map_err(|_| RedisUrlError("the URL of a store is like `redis://127.0.0.1:6379`"))?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(RedisUrlError(
                "only TCP without TLS is supported: `redis://`",
            ));
        };
        let settings = info.redis_settings();
        let mut commands = Vec::new();
        if let Some(password) = settings.password() {
            let mut auth = cmd("AUTH");
            if let Some(name) = settings.username() {
                auth.arg(name);
            }
            auth.arg(password);
            commands.push(auth);
        }
        if settings.db() != 0 {
            let mut select = cmd("SELECT");
            select.arg(settings.db());
            commands.push(select);
        }
        Ok(Self {
            host: host.clone(),
            port: *port,
            logins: commands.len(),
            login: commands
                .iter()
                .flat_map(redis::Cmd::get_packed_command)
                .collect(),
        })
    }

    /// A connection to the first of its addresses that accepts one.
    pub(super) async fn dial<R: Network>(&self) -> io::Result<R::Stream> {
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for address in R::resolve(&self.host, self.port).await? {
            match R::dial(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }
}
