//! A server on the standard streams of its process.

use std::io;

use mcp_proto::PreparedConfig;
use mcp_proto::server::ServerConfig;

use crate::io::stdio::{self, StdioMode};
use crate::runtime::RuntimeHandle;
use crate::server::{Service, connect};

/// Serves one client over this process's standard input and output, until either is closed or the
/// program is [interrupted](crate::runtime::Runtime::interrupted).
///
/// Both are reserved for the protocol from then on, see [`StdioMode::Exclusive`]; [`connect`] over the
/// streams of [`stdio::open`] with [`StdioMode::Shared`] leaves them as they are. At the end of input
/// everything read is answered, handlers that still run get a second, and the result is `Ok`: return
/// from `main`. An output that was closed is no error either.
///
/// # Errors
///
/// Standard streams that [`stdio::open`] refuses, and errors of the streams.
///
/// ```
/// use mcp_async::server::{serve_stdio, service_fn};
/// use mcp_async::ErrorReply;
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_proto::server::ServerConfig;
///
/// async fn serve(runtime: RuntimeHandle) -> std::io::Result<()> {
///     let service = service_fn(|call| call.refuse(ErrorReply::method_not_found()));
///     serve_stdio(runtime, ServerConfig::new("nothing", "1.0"), service).await
/// }
/// ```
pub async fn serve_stdio<S: Service>(
    runtime: impl Into<RuntimeHandle>,
    config: impl Into<PreparedConfig<ServerConfig<'static>>>,
    service: S,
) -> io::Result<()> {
    let runtime = runtime.into();
    let streams = stdio::open(&*runtime, StdioMode::Exclusive)?;
    let interrupted = runtime.interrupted();
    let (connection, _) = connect(streams, runtime, config, service);
    connection.run_until(interrupted).await
}
