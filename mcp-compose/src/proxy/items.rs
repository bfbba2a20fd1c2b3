//! The items of servers, as items of the server in front of them.

use core::sync::atomic::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mcp_async::json::{EncodeError, RawBuf};
use mcp_async::model::{
    self, CacheScope, ClientFeatures, Completion, GetPromptResult, Meta, ReadResourceResult,
    Reference, TaskSupport,
};
use mcp_async::server::{
    CallContext, CompletionRequest, Context, Forwarded, HandlerError, Item, ListKind, MatchedUri,
    Principal, Prompt, RegisterError, Registry, Resource, Template, Tool, ToolCall,
};
use mcp_async::tasks::EXTENSION;
use mcp_async::tasks::server::TaskPolicy;
use mcp_async::uri_template::UriTemplate;

use mcp_proto::model::keys;

use super::asker::Asker;
use super::forward::Ask;
use super::links::offered;
use super::path::{MARK, onward};
use super::replies::not_opened;
use super::running::Running;
use crate::alias::{alias, original, prefix};
use crate::catalog::{CatalogItem, Freshness, MergedList};

/// The items that were registered, by their keys, with the items that they were made of.
#[derive(Default)]
pub(super) struct Registered {
    tools: HashMap<String, Known<model::Tool>>,
    prompts: HashMap<String, Known<model::Prompt>>,
    resources: HashMap<String, Known<model::Resource>>,
    templates: HashMap<String, Known<model::ResourceTemplate>>,
    /// The time for which each list may be cached.
    fresh: HashMap<ListKind, Freshness>,
}

/// An item, and its server: of two servers with equal resources, one may follow the other.
type Known<T> = (Arc<str>, Arc<T>);

impl Registered {
    /// Registers the items that there are now, and takes those away that are gone. Returns the errors of items that cannot be
    /// served.
    pub(super) fn update<S: Send + Sync + 'static>(
        &mut self,
        registry: &Registry<S>,
        running: &Arc<Running>,
    ) -> Vec<RegisterError> {
        let view = running.catalog.view();
        let mut errors = Vec::new();
        let mut change = Changes {
            registry,
            running,
            errors: &mut errors,
        };
        change.list(&mut self.tools, view.tools(), tool, |name| {
            registry.remove_tool(name)
        });
        change.list(&mut self.prompts, view.prompts(), prompt, |name| {
            registry.remove_prompt(name)
        });
        change.list(&mut self.resources, view.resources(), resource, |uri| {
            registry.remove_resource(uri)
        });
        change.list(
            &mut self.templates,
            view.resource_templates(),
            template,
            |uri| registry.remove_template(uri),
        );
        let (resources, templates) = (view.resources(), view.resource_templates());
        let of_resources = match resources.freshness() {
            Some(fresh) => fresh.merged(templates.freshness()),
            None => templates.freshness(),
        };
        for (list, fresh) in [
            (ListKind::Tools, view.tools().freshness()),
            (ListKind::Prompts, view.prompts().freshness()),
            (ListKind::Resources, of_resources),
        ] {
            if let Some(fresh) = fresh
                && self.fresh.insert(list, fresh) != Some(fresh)
            {
                registry.cache_list(list, fresh.ttl, fresh.scope);
            }
        }
        let has_aliases = resources.iter().any(|it| it.item.uri != it.exposed_name);
        running.has_aliases.store(has_aliases, Ordering::Release);
        errors
    }
}

impl Running {
    /// Returns the result of a server with the URIs under which its resources are offered.
    fn linked(&self, server: &str, result: RawBuf) -> Result<RawBuf, EncodeError> {
        if !self.has_aliases.load(Ordering::Acquire) {
            return Ok(result);
        }
        let view = self.catalog.view();
        let name = |uri: &str| {
            let alias = alias(server, uri)?;
            let known = view.resources().get(&alias);
            known.is_some().then_some(alias)
        };
        offered(result.as_raw(), &name)
    }
}

struct Changes<'a, S> {
    registry: &'a Registry<S>,
    running: &'a Arc<Running>,
    errors: &'a mut Vec<RegisterError>,
}

impl<S: Send + Sync + 'static> Changes<'_, S> {
    fn list<T: PartialEq + ItemName>(
        &mut self,
        known: &mut HashMap<String, Known<T>>,
        listed: &MergedList<T>,
        make: fn(&Arc<Running>, &CatalogItem<T>) -> Item<S>,
        remove: impl Fn(&str) -> bool,
    ) {
        // Of several resources of one URI, the first counts.
        let mut offered: HashMap<&str, &CatalogItem<T>> = listed
            .iter()
            .rev()
            .map(|it| (&*it.exposed_name, it))
            .collect();
        known.retain(|key, _| {
            let stays = offered.contains_key(&**key);
            if !stays {
                remove(key);
            }
            stays
        });
        // In their order, because the first of the templates that match a URI answers for it.
        for it in listed {
            let key = &*it.exposed_name;
            if offered.remove(key).is_none() {
                continue;
            }
            let before = known.get(key);
            if before.is_some_and(|(server, item)| *server == it.server && *item == it.item) {
                continue;
            }
            let item = make(self.running, it);
            let added = match before {
                Some(_) => self.registry.add(item),
                // The server in front may have an item of its own.
                None => self.registry.add_new(item),
            };
            match added {
                Ok(()) => {
                    let now = (Arc::clone(&it.server), Arc::clone(&it.item));
                    known.insert(key.to_owned(), now);
                }
                Err(error) => {
                    if known.remove(key).is_some() {
                        remove(key);
                    }
                    self.errors.push(error);
                }
            }
        }
    }
}

/// An item with a name or a URI.
trait ItemName {
    /// True if it has a name.
    const IS_NAMED: bool = false;

    /// Returns the name or the URI that the server gave the item.
    fn name_there(&self) -> &str;
}

impl ItemName for model::Tool {
    const IS_NAMED: bool = true;

    fn name_there(&self) -> &str {
        &self.name
    }
}

impl ItemName for model::Prompt {
    const IS_NAMED: bool = true;

    fn name_there(&self) -> &str {
        &self.name
    }
}

impl ItemName for model::Resource {
    fn name_there(&self) -> &str {
        &self.uri
    }
}

impl ItemName for model::ResourceTemplate {
    fn name_there(&self) -> &str {
        &self.uri_template
    }
}

/// The server and the name of an item there.
#[derive(Clone)]
struct Origin {
    running: Arc<Running>,
    server: Arc<str>,
    name: Arc<str>,
    /// True if another server has the same URI, so that a prefix stands before it here.
    is_alias: bool,
}

impl Origin {
    fn new<T: ItemName>(running: &Arc<Running>, it: &CatalogItem<T>) -> Self {
        let name = it.item.name_there();
        Self {
            running: Arc::clone(running),
            server: Arc::clone(&it.server),
            name: name.into(),
            is_alias: !T::IS_NAMED && name != it.exposed_name,
        }
    }

    /// Notes in the item that it passed this proxy.
    fn mark(&self, meta: &mut Meta) {
        if let Some(path) = onward(&self.running.process, meta) {
            // Texts are always JSON.
            let _ = meta.insert(MARK, &path);
        }
    }

    /// Returns the rule that states which callers see the item.
    fn rule(&self) -> impl Fn(Option<&Principal>) -> bool + Send + Sync + 'static {
        let (shows, server, name) = (
            self.running.shows.clone(),
            Arc::clone(&self.server),
            Arc::clone(&self.name),
        );
        move |caller| {
            shows
                .as_ref()
                .is_none_or(|shows| shows(&server, &name, caller))
        }
    }

    fn is_restricted(&self) -> bool {
        self.running.shows.is_some()
    }

    async fn read(self, cx: CallContext, uri: String) -> Result<ReadResourceResult, HandlerError> {
        let (result, _) = self
            .running
            .forward(&self.server, &cx, Ask::Resource { uri })
            .await?;
        let result = match self.is_alias {
            true => {
                let prefix = prefix(&self.server);
                offered(result.as_raw(), &|uri| Some(format!("{prefix}{uri}")))?
            }
            false => result,
        };
        let mut result: ReadResourceResult = result.decode()?;
        result.meta.remove(keys::SERVER_INFO);
        if result.ttl_ms.is_none() && result.cache_scope.is_none() {
            // A legacy server says nothing of caching, and the server in front knows nothing of it.
            result.ttl_ms = Some(0);
            result.cache_scope = Some(CacheScope::Private);
        }
        if self.is_restricted() {
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }

    async fn complete(
        self,
        cx: CallContext,
        reference: Reference,
        argument: String,
        typed: CompletionRequest,
    ) -> Result<Completion, HandlerError> {
        let opened = self
            .running
            .quiet_session(&self.server, ClientFeatures::NONE, Asker::of(&cx))
            .await;
        let session = opened.map_err(|error| not_opened(&self.server, error))?;
        let others: Vec<(&str, &str)> = typed
            .arguments
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        let completed = session
            .client
            .complete(&reference, &argument, &typed.value)
            .context(&others)
            .await;
        completed.map_err(|error| {
            HandlerError::reply(self.running.failed(&self.server, &session, error))
        })
    }

    fn completes(&self) -> bool {
        let upstream = self.running.upstream(&self.server);
        upstream.is_some_and(|upstream| upstream.completes())
    }
}

fn tool<S: Send + Sync + 'static>(
    running: &Arc<Running>,
    it: &CatalogItem<model::Tool>,
) -> Item<S> {
    let origin = Origin::new(running, it);
    let mut listed = model::Tool::clone(&it.item);
    listed.name.clone_from(&it.exposed_name);
    origin.mark(&mut listed.meta);
    // A legacy server makes tasks of its own: for callers the task is one of the server in front.
    let execution = listed.execution.take();
    let support = execution.and_then(|execution| execution.task_support);
    let mut tool = Tool::of(listed);
    match support {
        Some(TaskSupport::Optional) => tool = tool.task(TaskPolicy::Optional),
        Some(TaskSupport::Required) => tool = tool.task(TaskPolicy::Required),
        _ => {}
    }
    if origin.is_restricted() {
        tool = tool.visible_to(origin.rule());
    }
    let tool = tool.raw(move |call: ToolCall, cx: Context<S>| {
        let Origin {
            running,
            server,
            name,
            ..
        } = origin.clone();
        async move {
            let ask = Ask::Tool {
                name: name.to_string(),
                arguments: call.arguments,
            };
            let (mut result, revision) = running.forward(&server, &cx, ask).await?;
            result = running.linked(&server, result)?;
            if revision.is_modern() && cx.has_client_extension(EXTENSION) {
                result = running.created(&server, result, &cx)?;
            }
            Ok(Forwarded::new(result, revision))
        }
    });
    tool.into()
}

fn prompt<S: Send + Sync + 'static>(
    running: &Arc<Running>,
    it: &CatalogItem<model::Prompt>,
) -> Item<S> {
    let origin = Origin::new(running, it);
    let mut listed = model::Prompt::clone(&it.item);
    listed.name.clone_from(&it.exposed_name);
    origin.mark(&mut listed.meta);
    let arguments: Vec<String> = listed
        .arguments
        .iter()
        .map(|argument| argument.name.clone())
        .collect();
    let mut prompt = Prompt::of(listed);
    if origin.is_restricted() {
        prompt = prompt.visible_to(origin.rule());
    }
    for argument in arguments.into_iter().filter(|_| origin.completes()) {
        let (origin, name) = (origin.clone(), argument.clone());
        prompt = prompt.complete(argument, move |typed, cx: Context<S>| {
            let reference = Reference::prompt(&*origin.name);
            let cx = CallContext::clone(&cx);
            origin.clone().complete(cx, reference, name.clone(), typed)
        });
    }
    let prompt = prompt.handler(move |arguments: BTreeMap<String, String>, cx: Context<S>| {
        let Origin {
            running,
            server,
            name,
            ..
        } = origin.clone();
        async move {
            let ask = Ask::Prompt {
                name: name.to_string(),
                arguments,
            };
            let (result, _) = running.forward(&server, &cx, ask).await?;
            let result = running.linked(&server, result)?;
            let mut result: GetPromptResult = result.decode()?;
            result.meta.remove(keys::SERVER_INFO);
            Ok(result)
        }
    });
    prompt.into()
}

fn resource<S: Send + Sync + 'static>(
    running: &Arc<Running>,
    it: &CatalogItem<model::Resource>,
) -> Item<S> {
    let origin = Origin::new(running, it);
    let mut listed = model::Resource::clone(&it.item);
    listed.uri.clone_from(&it.exposed_name);
    origin.mark(&mut listed.meta);
    let mut resource = Resource::of(listed);
    if origin.is_restricted() {
        resource = resource.visible_to(origin.rule());
    }
    let resource = resource.handler(move |cx: Context<S>| {
        let (origin, cx) = (origin.clone(), CallContext::clone(&cx));
        let uri = origin.name.to_string();
        origin.read(cx, uri)
    });
    resource.into()
}

fn template<S: Send + Sync + 'static>(
    running: &Arc<Running>,
    it: &CatalogItem<model::ResourceTemplate>,
) -> Item<S> {
    let origin = Origin::new(running, it);
    let mut listed = model::ResourceTemplate::clone(&it.item);
    listed.uri_template.clone_from(&it.exposed_name);
    origin.mark(&mut listed.meta);
    let mut template = Template::of(listed);
    if origin.is_restricted() {
        template = template.visible_to(origin.rule());
    }
    let parsed = UriTemplate::parse(&origin.name);
    let variables: Vec<String> = parsed
        .iter()
        .flat_map(UriTemplate::variables)
        .map(str::to_owned)
        .collect();
    for variable in variables.into_iter().filter(|_| origin.completes()) {
        let (origin, name) = (origin.clone(), variable.clone());
        template = template.complete(variable, move |typed, cx: Context<S>| {
            let reference = Reference::resource(&*origin.name);
            let cx = CallContext::clone(&cx);
            origin.clone().complete(cx, reference, name.clone(), typed)
        });
    }
    let template = template.raw(move |found: MatchedUri, cx: Context<S>| {
        let cx = CallContext::clone(&cx);
        let uri = original(&origin.server, &found.uri).to_owned();
        origin.clone().read(cx, uri)
    });
    template.into()
}
