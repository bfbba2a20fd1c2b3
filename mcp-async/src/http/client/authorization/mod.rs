//! Authorization of a client: obtains access tokens when the server asks for them.
//!
//! ```text
//!   Authorizer   the credentials of a client; one authorization runs at a time, in a task
//!   reach        what that task does: store, lock between processes, flows of the core
//!   Documents    the requests of a flow: guarded addresses, bounded time, length and redirects
//!   held  running  consents  settings  time
//!   UserAgent, CredentialStore, and what implements them
//! ```

mod authorizer;
mod blocking;
mod consents;
mod documents;
mod file_store;
mod held;
#[cfg(feature = "keyring")]
mod keyring_store;
mod lock_file;
mod memory_store;
mod pending_login;
mod reach;
mod running;
mod settings;
mod store;
mod system_browser;
mod terminal;
mod user_agent;

pub(super) use authorizer::{Authorizer, Goal, dpop_nonce};
pub(super) use consents::Reason;
pub(super) use documents::{DocumentCarrier, GuardedClient, ServiceCarrier};
pub use file_store::FileCredentialStore;
#[cfg(feature = "keyring")]
pub use keyring_store::KeyringCredentialStore;
pub use memory_store::MemoryCredentialStore;
pub(super) use running::Obtained;
pub use settings::Authorization;
pub use store::{CredentialLock, CredentialStore};
pub use system_browser::SystemBrowser;
pub use terminal::Terminal;
pub(super) use user_agent::DynUserAgent;
pub use user_agent::UserAgent;
