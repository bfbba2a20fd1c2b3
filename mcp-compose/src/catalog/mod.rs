//! The merged lists of several servers.

mod changes;
mod freshness;
mod item;
mod limits;
mod list_error;
mod lists;
mod merged;
mod read;
mod search;
mod servers;
mod view;

use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_async::client::{CallError, Client};
use mcp_async::model::{Meta, Prompt, Resource, ResourceTemplate, ServerFeatures, Tool};
use mcp_async::runtime::{RuntimeHandle, within};

pub use self::changes::CatalogChanges;
pub use self::freshness::Freshness;
pub use self::item::CatalogItem;
pub use self::limits::CatalogLimits;
pub use self::list_error::{ListError, ListErrorKind};
pub use self::lists::Lists;
pub use self::merged::MergedList;
pub use self::search::Found;
pub use self::view::CatalogView;

use self::read::{ServerList, read};
use self::servers::{Kept, Servers};
use crate::naming::Naming;
use crate::watch::Watch;

/// The tools, prompts, resources and templates of several servers as one list each; clones are the same catalog.
///
/// Servers are known by the names that the program gives them. [`refresh`](Self::refresh) reads the lists of one server
/// by its client; [`view`](Self::view) returns all items, which do not change while a program looks at them; and
/// [`changes`](Self::changes) tells when another view differs.
///
/// Tools and prompts have [exposed names](CatalogItem::exposed_name) by a [`Naming`]. Resources and templates keep their URIs: of
/// several servers that list one, the first in the order of [`declare`](Self::declare) answers for it.
///
/// ```
/// use mcp_async::client::Client;
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_compose::{Catalog, Lists, Naming};
///
/// async fn list(runtime: RuntimeHandle, notes: &Client, mail: &Client) {
///     let catalog = Catalog::new(runtime, Naming::default());
///     for (name, client) in [("notes", notes), ("mail", mail)] {
///         for error in catalog.refresh(name, client, Lists::ALL).await {
///             eprintln!("{error}");
///         }
///     }
///     for tool in catalog.view().tools().iter() {
///         println!("{}: {}", tool.exposed_name, tool.item.name);
///     }
/// }
/// # let _ = list;
/// ```
#[derive(Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: RuntimeHandle,
    naming: Naming,
    limits: CatalogLimits,
    accepts: Box<Accepts>,
    servers: Mutex<Servers>,
    view: Arc<Watch<Arc<CatalogView>>>,
}

/// Decides which items are taken: of their server, of their name or URI there, and of their `_meta`.
pub(crate) type Accepts = dyn Fn(&str, &str, &Meta) -> bool + Send + Sync;

impl Catalog {
    /// Creates an empty catalog with the default [`CatalogLimits`].
    pub fn new(runtime: impl Into<RuntimeHandle>, naming: Naming) -> Self {
        Self::with_limits(runtime, naming, CatalogLimits::default())
    }

    /// Creates an empty catalog with these limits.
    pub fn with_limits(
        runtime: impl Into<RuntimeHandle>,
        naming: Naming,
        limits: CatalogLimits,
    ) -> Self {
        Self::accepting(runtime.into(), naming, limits, Box::new(|_, _, _| true))
    }

    /// Creates an empty catalog that takes those items only which the function accepts.
    pub(crate) fn accepting(
        runtime: RuntimeHandle,
        naming: Naming,
        limits: CatalogLimits,
        accepts: Box<Accepts>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                runtime,
                naming,
                limits,
                accepts,
                servers: Mutex::default(),
                view: Arc::default(),
            }),
        }
    }

    /// Gives a server its place in the order of the lists, after those that have one.
    pub fn declare(&self, server: &str) {
        self.servers().declare(server);
    }

    /// Reads these lists of a server and replaces what it had in them. Returns the errors of the lists that could not be
    /// read: their items stay as they were.
    ///
    /// Lists of a capability that the server does not declare are empty and not requested, and one whose method it does not know is
    /// empty, too. Calls for one server must not
    /// overlap, or the older one may win.
    pub async fn refresh(&self, server: &str, client: &Client, lists: Lists) -> Vec<ListError> {
        let features = client.info().features;
        let mut errors = Vec::new();
        let asked = |wanted: bool, feature| wanted.then(|| features.contains(feature));
        let tools = asked(lists.tools, ServerFeatures::TOOLS);
        let prompts = asked(lists.prompts, ServerFeatures::PROMPTS);
        let resources = asked(lists.resources, ServerFeatures::RESOURCES);
        self.refresh_list::<Tool>(server, client, tools, &mut errors)
            .await;
        self.refresh_list::<Prompt>(server, client, prompts, &mut errors)
            .await;
        self.refresh_list::<Resource>(server, client, resources, &mut errors)
            .await;
        self.refresh_list::<ResourceTemplate>(server, client, resources, &mut errors)
            .await;
        errors
    }

    /// Reads one list if `asked` is `Some`, and sends nothing if it is `Some(false)`.
    async fn refresh_list<T: Kept>(
        &self,
        server: &str,
        client: &Client,
        asked: Option<bool>,
        errors: &mut Vec<ListError>,
    ) {
        let Some(is_declared) = asked else { return };
        let shared = &*self.shared;
        let mut listed = Ok(ServerList::default());
        if is_declared {
            let reading = read::<T>(client, &shared.limits);
            let read = within(&shared.runtime, shared.limits.time, reading).await;
            listed = match read.unwrap_or(Err(ListErrorKind::Call(CallError::Timeout))) {
                Err(kind) if kind.is_unknown_method() => Ok(ServerList::default()),
                listed => listed,
            };
        }
        if let Ok(list) = &mut listed {
            list.items
                .retain(|item| (shared.accepts)(server, item.key(), item.meta()));
        }
        let replaced = listed.and_then(|list| self.replace(server, list));
        if let Err(kind) = replaced {
            errors.push(ListError {
                server: server.to_owned(),
                method: T::METHOD,
                kind,
            });
        }
    }

    fn replace<T: Kept>(&self, server: &str, list: ServerList<T>) -> Result<(), ListErrorKind> {
        let mut servers = self.servers();
        if servers.replace(server, list, &self.shared.limits)? {
            self.show(|naming, view| T::merge(&servers, naming, view));
        }
        Ok(())
    }

    /// Removes the items of a server, which keeps its place in the order.
    pub fn clear(&self, server: &str) {
        self.take(server, true);
    }

    /// Removes the items of a server, and its place in the order.
    pub fn remove(&self, server: &str) {
        self.take(server, false);
    }

    fn take(&self, server: &str, keeps_place: bool) {
        let mut servers = self.servers();
        if servers.remove(server, keeps_place) {
            self.show(|naming, view| {
                Tool::merge(&servers, naming, view);
                Prompt::merge(&servers, naming, view);
                Resource::merge(&servers, naming, view);
                ResourceTemplate::merge(&servers, naming, view);
            });
        }
    }

    /// Shows other lists from now on.
    fn show(&self, merge: impl FnOnce(&Naming, &mut CatalogView)) {
        let mut view = CatalogView::clone(&self.view());
        merge(&self.shared.naming, &mut view);
        self.shared.view.change(|shown| *shown = Arc::new(view));
    }

    /// Returns the lists as they are now.
    pub fn view(&self) -> Arc<CatalogView> {
        self.shared.view.read(Arc::clone)
    }

    /// Returns the changes of the lists from now on.
    pub fn changes(&self) -> CatalogChanges {
        CatalogChanges::new(&self.shared.view)
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.shared
            .servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("naming", &self.shared.naming)
            .field("limits", &self.shared.limits)
            .finish_non_exhaustive()
    }
}
