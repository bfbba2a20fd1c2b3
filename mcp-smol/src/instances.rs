//! Instances of what is generic over the runtime.
//!
//! A program links the instances that its libraries contain and compiles the ones that they lack. With these, the
//! connection, the HTTP server and the HTTP client are compiled once for all programs, examples and tests.

use core::future::Future;
use core::pin::Pin;

type Instance = Pin<Box<dyn Future<Output = ()>>>;

fn instance(future: impl Future + 'static) -> Instance {
    Box::pin(async move { drop(future.await) })
}

/// What a server runs.
#[cfg(feature = "server")]
#[doc(hidden)]
pub fn server(server: crate::Server) -> Vec<Instance> {
    vec![
        #[cfg(feature = "http")]
        instance({
            let http = server.http();
            async move {
                http.serve_on(crate::net::Listen::bind("127.0.0.1:0")?)
                    .await
            }
        }),
        instance(server.serve_stdio()),
    ]
}

/// What a client runs.
#[cfg(feature = "client")]
#[doc(hidden)]
pub fn client(name: &'static str, command: crate::Command) -> Vec<Instance> {
    let builder = || crate::Client::builder(name, name);
    vec![
        #[cfg(feature = "http")]
        instance(builder().connect(name)),
        #[cfg(feature = "server")]
        instance(async move {
            let server = crate::Server::builder(name, name).build()?;
            builder().in_memory(&server).await?;
            Ok::<_, Box<dyn core::error::Error + Send + Sync>>(())
        }),
        instance(async move {
            let client = builder().spawn(&command).await?;
            client.close().await?;
            Ok::<_, Box<dyn core::error::Error + Send + Sync>>(())
        }),
    ]
}
