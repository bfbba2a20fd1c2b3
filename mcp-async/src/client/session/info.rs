//! The description of the server.

use mcp_proto::Revision;
use mcp_proto::client::Connected;
use mcp_proto::json::{Object, Raw, RawBuf};
use mcp_proto::model::ServerFeatures;

/// The description of the server, and the revision of the connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The revision that rules.
    pub revision: Revision,
    /// An `Implementation`; it names the server and decides nothing.
    pub server: Option<RawBuf>,
    /// `ServerCapabilities` as they came, experimental ones and extensions included; `None` if
    /// the server told only its era.
    pub capabilities: Option<RawBuf>,
    /// The capabilities that the revision defines.
    pub features: ServerFeatures,
    /// Instructions for the use of the server, for a model to read.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// Name, version, title and icons of the server, if it told them in a form that can be read.
    pub fn implementation(&self) -> Option<crate::model::Implementation> {
        self.server.as_ref()?.decode().ok()
    }

    /// Returns the settings of an extension that the server declares. A value that is no
    /// object is no declaration.
    pub fn extension(&self, name: &str) -> Option<Raw<'_>> {
        let capabilities = self.capabilities.as_ref()?.as_raw().object()?;
        let extensions = capabilities.get("extensions")?.object()?;
        let settings = extensions.get(name)?;
        settings.object().map(Object::as_raw)
    }

    pub(in crate::client) fn received(connected: &Connected<'_>) -> Self {
        let owned = |object: Object<'_>| RawBuf::from(object.as_raw());
        Self {
            revision: connected.revision,
            server: connected.server.map(owned),
            capabilities: connected.capabilities.map(owned),
            features: ServerFeatures::read(connected.capabilities).known_in(connected.revision),
            instructions: connected
                .instructions
                .map(|text| text.to_cow().into_owned()),
        }
    }
}
