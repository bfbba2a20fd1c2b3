//! Authorization with OAuth 2.1 over HTTP: a client logs in, a server is protected.
//!
//! The rules are those of [`mcp_proto::auth`], which decides everything and performs no I/O. This
//! module adds HTTP, keys, storage and the user's browser.
