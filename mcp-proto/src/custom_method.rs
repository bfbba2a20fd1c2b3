//! Methods, and types of results, beyond the protocol.

/// A request or a notification that no revision of MCP defines, and that the application handles:
/// a method of an extension, say.
///
/// ```
/// use mcp_proto::CustomMethod;
/// use mcp_proto::server::ServerConfig;
///
/// let methods = [
///     CustomMethod {
///         subject: Some("noteId"),
///         requires: Some("com.example/notes"),
///         ..CustomMethod::new("com.example/notes/get")
///     },
///     CustomMethod::new("notifications/com.example/notes"),
/// ];
/// let config = ServerConfig { methods: &methods, ..ServerConfig::new("demo", "1.0") };
/// # let _ = config;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomMethod<'c> {
    /// The name on the wire: printable ASCII characters, as the header `Mcp-Method` repeats it in 2026-07-28.
    pub name: &'c str,
    /// The member of the parameters that the header `Mcp-Name` repeats in 2026-07-28: a client
    /// sends it, a server compares it (EX-15). `None`: the method has no such header.
    pub subject: Option<&'c str>,
    /// The extension that a client must have declared on a request of 2026-07-28 itself. A server
    /// refuses the request otherwise, with -32021 and over HTTP with status 400 (EX-06).
    pub requires: Option<&'c str>,
}

impl<'c> CustomMethod<'c> {
    /// A method of this name, without a header and without requirements.
    pub const fn new(name: &'c str) -> Self {
        Self {
            name,
            subject: None,
            requires: None,
        }
    }
}

/// A client has a bit for each type.
pub(crate) const MAX_RESULT_TYPES: usize = u32::BITS as usize;

/// A value of `resultType` that an extension defines: results of this type may answer requests that
/// declare the extension (EX-09).
///
/// ```
/// use mcp_proto::ResultType;
/// use mcp_proto::client::ClientConfig;
///
/// let types = [ResultType {
///     name: "task",
///     extension: "io.modelcontextprotocol/tasks",
///     methods: &["tools/call"],
/// }];
/// let config = ClientConfig { result_types: &types, ..ClientConfig::new("demo", "1.0") };
/// # let _ = config;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultType<'c> {
    /// The value on the wire.
    pub name: &'c str,
    /// The name of the extension.
    pub extension: &'c str,
    /// The methods that may return it.
    pub methods: &'c [&'c str],
}
