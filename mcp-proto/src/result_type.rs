//! Types of results beyond the protocol.

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
