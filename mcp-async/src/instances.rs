//! Futures of what is generic over the runtime, for adapters to compile.
//!
//! A program links the instances that its libraries contain and compiles the ones that they lack.
//! An adapter that calls these with its runtime compiles the connection, the HTTP server and the
//! HTTP client once for all programs, examples and tests.

use core::future::Future;
use core::pin::Pin;

#[cfg(feature = "client")]
use crate::Client;
#[cfg(feature = "server")]
use crate::Server;
use crate::runtime::Runtime;

/// A future that is compiled and never run.
pub type Instance = Pin<Box<dyn Future<Output = ()>>>;

fn instance(future: impl Future + 'static) -> Instance {
    Box::pin(async move { drop(future.await) })
}

/// Returns what a server runs on its standard streams.
#[cfg(feature = "server")]
pub fn server<R: Runtime>(server: Server<R>) -> Instance {
    instance(server.serve_stdio())
}

/// Returns what a server runs over HTTP.
#[cfg(feature = "http-server")]
pub fn http_server<R: crate::net::Network>(server: &Server<R>) -> Instance {
    let http = server.http();
    instance(async move {
        let listen = crate::net::Listen::bind("127.0.0.1:0")?;
        http.serve_on(listen).await
    })
}

/// Returns what a client of a child process runs.
#[cfg(feature = "client")]
pub fn client<R: Runtime>(name: &'static str, command: crate::process::Command) -> Instance {
    instance(async move {
        let client = Client::<R>::builder(name, name).spawn(&command).await?;
        client.close().await?;
        Ok::<_, Box<dyn core::error::Error + Send + Sync>>(())
    })
}

/// Returns what a client over HTTP runs.
#[cfg(feature = "http-client")]
pub fn http_client<R: crate::net::Network>(name: &'static str) -> Instance {
    instance(Client::<R>::builder(name, name).connect(name))
}

/// Returns what a client runs that is joined with a server in memory.
#[cfg(all(feature = "server", feature = "client"))]
pub fn joined<R: Runtime>(name: &'static str) -> Instance {
    instance(async move {
        let server = Server::<R>::builder(name, name).build()?;
        Client::<R>::builder(name, name).in_memory(&server).await?;
        Ok::<_, Box<dyn core::error::Error + Send + Sync>>(())
    })
}
