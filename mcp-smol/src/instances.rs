//! Instances of what is generic over the runtime, see [`mcp_async::instances`].

use mcp_async::instances::{self, Instance};

#[cfg(feature = "server")]
pub fn server(server: crate::Server) -> Instance {
    instances::server(server)
}

#[cfg(feature = "http-server")]
pub fn http_server(server: &crate::Server) -> Instance {
    instances::http_server(server)
}

#[cfg(feature = "client")]
pub fn client(name: &'static str, command: crate::Command) -> Instance {
    instances::client::<crate::Runtime>(name, command)
}

#[cfg(feature = "http-client")]
pub fn http_client(name: &'static str) -> Instance {
    instances::http_client::<crate::Runtime>(name)
}

#[cfg(all(feature = "server", feature = "client"))]
pub fn joined(name: &'static str) -> Instance {
    instances::joined::<crate::Runtime>(name)
}
