//! Serves skills.

use core::future::ready;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::Revision;
use mcp_proto::json::RawBuf;
use mcp_proto::model::{CacheScope, ServerFeatures};
use mcp_proto::rpc::Method;
use serde::{Deserialize, Serialize};

use crate::EXTENSION;
use crate::catalog::{Catalog, SkillMd, page};
use crate::offer::Skills;
use mcp_async::model::{self, Cursor};
use mcp_async::server::{
    Call, Context, Extension, HandlerError, ListKind, Principal, Resource, Service, layers,
};
use mcp_async::{ErrorChain, Job};

impl<S: Send + Sync + 'static> From<Skills> for Extension<S> {
    /// Mistakes in the skills are reported when the server is built.
    fn from(skills: Skills) -> Self {
        let Skills {
            skills,
            mistakes,
            directory_read,
            page_size,
            hint,
            revisions,
        } = skills;
        let mut extension = Self::new(EXTENSION).revisions(revisions);
        for mistake in mistakes {
            extension = extension.mistake("skills", ErrorChain(&*mistake));
        }
        if page_size == 0 {
            extension = extension.mistake("page_size", "it is zero");
        }
        let catalog = match Catalog::new(&skills) {
            Ok(catalog) => catalog,
            Err(error) => return extension.mistake("skills", error),
        };
        if catalog.entries.is_empty() {
            // The capability is declared although nothing is listed.
            extension = extension.list_changed(ListKind::Resources);
        }
        for skill in &catalog.skill_mds {
            extension = extension.with(skill_md(skill, hint));
        }
        let served = Arc::new(Served {
            is_restricted: catalog.is_restricted(),
            catalog,
            page_size,
            hint,
        });
        serve(extension, &served, directory_read)
    }
}

/// Adds the settings and the methods.
fn serve<S: Send + Sync + 'static>(
    extension: Extension<S>,
    served: &Arc<Served>,
    directory_read: bool,
) -> Extension<S> {
    let (listing, getting, reading) = (Arc::clone(served), Arc::clone(served), Arc::clone(served));
    let extension = extension
        .settings(Settings { directory_read })
        .needs(ServerFeatures::RESOURCES)
        .method("skills/list", move |params: ListParams, cx: Context<S>| {
            ready(listing.list(&params, cx.principal(), cx.revision()))
        })
        .method("skills/get", move |params: GetParams, cx: Context<S>| {
            ready(getting.get(&params.uri, cx.principal(), cx.revision()))
        })
        .layer(layers::around(move |call, service| {
            reading.read(call, service)
        }));
    if !directory_read {
        return extension;
    }
    let folders = Arc::clone(served);
    extension.method(
        "resources/directory/read",
        move |params: FolderParams, cx: Context<S>| ready(folders.folder(&params, cx.principal())),
    )
}

/// A `SKILL.md`, which is listed (SK-07).
fn skill_md<S: Send + Sync + 'static>(
    skill: &SkillMd,
    hint: Option<(Duration, CacheScope)>,
) -> Resource<S> {
    let listed = &skill.listed;
    let mut resource = Resource::new(&listed.uri, &listed.name);
    if skill.visibility.is_restricted() {
        let visibility = skill.visibility.clone();
        resource = resource.visible_to(move |caller| visibility.shows(caller));
    }
    if let Some(description) = &listed.description {
        resource = resource.description(description);
    }
    if let Some(mime_type) = &listed.mime_type {
        resource = resource.mime_type(mime_type);
    }
    if let Some(size) = listed.size {
        resource = resource.size(size);
    }
    if let Some((ttl, scope)) = hint {
        resource = resource.cache(ttl, scope);
    }
    let contents = skill.contents.clone();
    resource.handler(move |_| ready(Ok(contents.clone())))
}

/// The state that the handlers share.
struct Served {
    catalog: Catalog,
    /// True if callers see different skills.
    is_restricted: bool,
    page_size: usize,
    hint: Option<(Duration, CacheScope)>,
}

impl Served {
    /// Answers `skills/list` (SK-20).
    fn list(
        &self,
        params: &ListParams,
        caller: Option<&Principal>,
        revision: Revision,
    ) -> Result<ListResult, HandlerError> {
        let entries = self.catalog.entries_of(caller);
        let page = page(
            &entries,
            "skills",
            params.cursor.as_ref(),
            self.page_size,
            |entry| &entry.uri,
            |entry| entry.json.as_raw().as_bytes().len(),
        );
        let page = page.ok_or_else(invalid_cursor)?;
        Ok(ListResult {
            skills: page.items.iter().map(|entry| entry.json.clone()).collect(),
            next_cursor: page.next,
            hint: Hint::new(self.hint, self.is_restricted, revision),
        })
    }

    /// Answers `skills/get` (SK-22).
    fn get(
        &self,
        uri: &str,
        caller: Option<&Principal>,
        revision: Revision,
    ) -> Result<GetResult, HandlerError> {
        let entry = self.catalog.entry(uri, caller);
        let entry = entry.ok_or_else(|| HandlerError::invalid_params("Unknown skill"))?;
        Ok(GetResult {
            skill: entry.json.clone(),
            hint: Hint::new(self.hint, entry.visibility.is_restricted(), revision),
        })
    }

    /// Answers `resources/directory/read` (SK-25, SK-26).
    fn folder(
        &self,
        params: &FolderParams,
        caller: Option<&Principal>,
    ) -> Result<FolderResult, HandlerError> {
        let children = self.catalog.folder(&params.uri, caller);
        let children = children.ok_or_else(|| HandlerError::invalid_params("Unknown directory"))?;
        let page = page(
            children,
            &params.uri,
            params.cursor.as_ref(),
            self.page_size,
            |child| &child.uri,
            |child| child.uri.len(),
        );
        let page = page.ok_or_else(invalid_cursor)?;
        Ok(FolderResult {
            resources: page.items.to_vec(),
            next_cursor: page.next,
        })
    }

    /// Answers `resources/read` of a file that is not listed; the service answers everything else.
    fn read(&self, call: Call<'_>, service: &dyn Service) -> Job {
        if call.method != Method::ResourcesRead {
            return service.call(call);
        }
        let uri = call.request.subject.unwrap_or_default().to_cow();
        let Some(file) = self.catalog.file(&uri, call.context().principal()) else {
            return service.call(call);
        };
        let is_restricted = file.visibility.is_restricted();
        let hint = Hint::new(self.hint, is_restricted, call.request.revision);
        call.ready(Ok(ReadResult {
            contents: [file.part.clone()],
            hint,
        }))
    }
}

fn invalid_cursor() -> HandlerError {
    HandlerError::invalid_params("Invalid cursor")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    directory_read: bool,
}

#[derive(Deserialize)]
struct ListParams {
    #[serde(default)]
    cursor: Option<Cursor>,
}

#[derive(Deserialize)]
struct GetParams {
    uri: String,
}

#[derive(Deserialize)]
struct FolderParams {
    uri: String,
    #[serde(default)]
    cursor: Option<Cursor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult {
    skills: Vec<RawBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
    #[serde(flatten)]
    hint: Option<Hint>,
}

#[derive(Serialize)]
struct GetResult {
    skill: RawBuf,
    #[serde(flatten)]
    hint: Option<Hint>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FolderResult {
    resources: Vec<model::Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

#[derive(Serialize)]
struct ReadResult {
    contents: [RawBuf; 1],
    #[serde(flatten)]
    hint: Option<Hint>,
}

/// The time for which a result stays fresh, and the caches that may share it (SK-24).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hint {
    ttl_ms: u64,
    cache_scope: CacheScope,
}

impl Hint {
    /// Returns `None` in revisions without cache hints. A result that only some callers see is
    /// private (CH-05).
    fn new(
        hint: Option<(Duration, CacheScope)>,
        is_restricted: bool,
        revision: Revision,
    ) -> Option<Self> {
        let (ttl, scope) = hint.unwrap_or((Duration::ZERO, CacheScope::Private));
        let cache_scope = match is_restricted {
            true => CacheScope::Private,
            false => scope,
        };
        revision.requires_cache_hints().then(|| Self {
            ttl_ms: u64::try_from(ttl.as_millis()).map_or(MAX_TTL, |ttl| ttl.min(MAX_TTL)),
            cache_scope,
        })
    }
}

/// The greatest integer that every reader of JSON keeps.
const MAX_TTL: u64 = (1 << 53) - 1;
