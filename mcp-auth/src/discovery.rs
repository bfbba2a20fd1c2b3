//! Finds the metadata of the MCP server and of its authorization server.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;

use super::config::server_uri;
use super::error::{AuthError, Document, Problem, printable};
use super::resource_metadata::WELL_KNOWN;
use super::step::{FlowStep, Input, Progress};
use super::{
    AuthConfig, Challenge, HttpRequest, HttpResponse, IssuerSpelling, ResourceMetadata,
    ServerMetadata, Uri,
};

/// The most issuers that are tried.
const MOST_ISSUERS: usize = 8;

/// A discovery in progress.
///
/// ```text
/// ResourceMetadata: challenge, path, root --found--> ServerMetadata: each issuer, each candidate
///        | nowhere
///        v
/// Legacy: root of the MCP server --nowhere--> default endpoints
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    phase: Phase,
    /// The URL that was asked for.
    asked: String,
    candidates: VecDeque<String>,
    issuer: String,
    issuers: VecDeque<String>,
    resource: Option<ResourceMetadata>,
    first_error: Option<AuthError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Resource,
    Server,
    Legacy,
}

/// The result of a discovery.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    /// `None` for servers of 2025-03-26.
    pub(crate) resource: Option<ResourceMetadata>,
    pub(crate) metadata: ServerMetadata,
    pub(crate) spelling: Option<IssuerSpelling>,
}

impl Discovered {
    /// Checks that both servers accept the key, and that there is one if the MCP server demands it.
    pub(crate) fn check_key(&self, config: &AuthConfig) -> Result<(), AuthError> {
        let resource = self.resource.as_ref();
        let of_resource =
            |problem| AuthError::new(Document::ResourceMetadata, &config.server, problem);
        let Some(key) = &config.dpop else {
            return match resource.is_some_and(|document| document.dpop_required) {
                true => Err(of_resource(Problem::KeyRequired)),
                false => Ok(()),
            };
        };
        let listed = resource.and_then(|document| document.dpop_algorithms.as_ref());
        key.check(listed).map_err(of_resource)?;
        let listed = self.metadata.dpop_algorithms.as_ref();
        key.check(listed)
            .map_err(|problem| self.metadata.fail(problem))
    }
}

impl Discovery {
    pub(crate) fn new(
        config: &AuthConfig,
        challenge: Option<&Challenge>,
    ) -> Result<Self, AuthError> {
        let server = server_uri(config)?;
        let mut candidates = VecDeque::new();
        let named = challenge.and_then(|challenge| challenge.parameter("resource_metadata"));
        if let Some(url) = named
            && let Ok(uri) = Uri::parse(url)
            && (server.may_name(&uri) || uri.is_same_origin(&server))
            && !uri.has_fragment()
        {
            candidates.push_back(url.into());
        }
        let root = format!("{}/.well-known/{WELL_KNOWN}", server.origin());
        for place in [server.well_known(WELL_KNOWN), root] {
            if !candidates.contains(&place) {
                candidates.push_back(place);
            }
        }
        Ok(Self {
            phase: Phase::Resource,
            asked: String::new(),
            candidates,
            issuer: String::new(),
            issuers: VecDeque::new(),
            resource: None,
            first_error: None,
        })
    }

    /// Returns the first output.
    pub(crate) fn start(&mut self, config: &AuthConfig) -> Result<Progress<Discovered>, AuthError> {
        self.next(config)
    }

    /// Takes the response to the last request.
    pub(crate) fn advance(
        &mut self,
        config: &AuthConfig,
        input: Input<'_>,
    ) -> Result<Progress<Discovered>, AuthError> {
        let response = match input {
            Input::Response(response) => response,
            Input::Failed(text) => {
                return self.failed(config, Problem::Unreachable(printable(text, 200)));
            }
            _ => return Err(self.fail(Problem::UnexpectedInput)),
        };
        match response.status {
            200..=299 => {}
            // AU-38: the document may exist, but is not to be had now.
            500..=599 => return self.failed(config, Problem::Status(response.status)),
            _ => return self.next(config),
        }
        match self.phase {
            Phase::Resource => self.read_resource(config, &response),
            Phase::Server | Phase::Legacy => self.read_server(config, &response),
        }
    }

    fn read_resource(
        &mut self,
        config: &AuthConfig,
        response: &HttpResponse<'_>,
    ) -> Result<Progress<Discovered>, AuthError> {
        let Some(found) = ResourceMetadata::read(&self.asked, response.body)? else {
            return self.next(config);
        };
        let server = server_uri(config)?;
        found.check_resource(&self.asked, &server, config.accept_parent_resource)?;
        self.issuers = issuers(config, &found, &self.asked)?;
        self.resource = Some(found);
        self.phase = Phase::Server;
        self.candidates.clear();
        self.next(config)
    }

    fn read_server(
        &mut self,
        config: &AuthConfig,
        response: &HttpResponse<'_>,
    ) -> Result<Progress<Discovered>, AuthError> {
        let read = ServerMetadata::read(&self.asked, response.body);
        let checked = read.and_then(|found| match found {
            Some(found) if config.is_same_issuer(&found.issuer, &self.issuer) => Ok(Some(found)),
            Some(found) => found.check_issuer(&self.issuer).map(|()| Some(found)),
            None => Ok(None),
        });
        match checked {
            Ok(Some(metadata)) => Ok(Progress::Done(Discovered {
                spelling: self.spelling(config, &metadata),
                resource: self.resource.take(),
                metadata,
            })),
            Ok(None) => self.next(config),
            Err(error) => self.unusable(config, error),
        }
    }

    /// A difference between the issuer that the MCP server names and its metadata, if the application has
    /// not chosen to ignore it.
    fn spelling(&self, config: &AuthConfig, metadata: &ServerMetadata) -> Option<IssuerSpelling> {
        let is_named = self.phase == Phase::Server && !config.ignore_issuer_slash;
        (is_named && metadata.issuer != self.issuer).then(|| IssuerSpelling {
            named: printable(&self.issuer, 300),
            published: printable(&metadata.issuer, 300),
        })
    }

    /// A place without an answer ends the search for this document.
    fn failed(
        &mut self,
        config: &AuthConfig,
        problem: Problem,
    ) -> Result<Progress<Discovered>, AuthError> {
        let error = self.fail(problem);
        self.unusable(config, error)
    }

    /// An unusable authorization server costs only itself (AU-35).
    fn unusable(
        &mut self,
        config: &AuthConfig,
        error: AuthError,
    ) -> Result<Progress<Discovered>, AuthError> {
        if self.phase != Phase::Server {
            return Err(error);
        }
        self.first_error.get_or_insert(error);
        self.candidates.clear();
        self.next(config)
    }

    /// Asks for the next candidate.
    fn next(&mut self, config: &AuthConfig) -> Result<Progress<Discovered>, AuthError> {
        loop {
            if let Some(url) = self.candidates.pop_front() {
                self.asked = url;
                return Ok(Progress::Step(FlowStep::Send(self.request(config)?)));
            }
            match self.phase {
                Phase::Resource => {
                    self.phase = Phase::Legacy;
                    let origin = server_uri(config)?.origin();
                    let root = format!("{origin}/.well-known/oauth-authorization-server");
                    self.issuer = origin;
                    self.candidates.push_back(root);
                }
                Phase::Legacy => {
                    return Ok(Progress::Done(Discovered {
                        resource: None,
                        spelling: None,
                        metadata: ServerMetadata::default_endpoints(&server_uri(config)?),
                    }));
                }
                Phase::Server => self.next_issuer(config)?,
            }
        }
    }

    fn next_issuer(&mut self, config: &AuthConfig) -> Result<(), AuthError> {
        if !self.issuer.is_empty() {
            let nowhere = AuthError::new(Document::ServerMetadata, &self.issuer, Problem::NotFound);
            self.first_error.get_or_insert(nowhere);
        }
        let Some(issuer) = self.issuers.pop_front() else {
            let nowhere = self.fail(Problem::NotFound);
            return Err(self.first_error.take().unwrap_or(nowhere));
        };
        let member = "authorization_servers";
        let server = server_uri(config)?;
        let is_given = config.names_issuer(&issuer);
        let is_safe = |uri: &Uri<'_>| match is_given {
            true => uri.is_confidential(),
            false => server.may_name(uri),
        };
        let checked = match Uri::parse(&issuer) {
            Ok(uri) if !is_safe(&uri) || uri.has_fragment() || uri.query().is_some() => {
                Err(Problem::UnsafeUrl(member))
            }
            Ok(uri) => Ok(ServerMetadata::candidates(&uri)),
            Err(reason) => Err(Problem::UnusableUrl { member, reason }),
        };
        match checked {
            Ok(candidates) => {
                self.candidates = candidates.into();
                self.issuer = issuer;
            }
            Err(problem) => {
                let error = AuthError::new(Document::ResourceMetadata, &issuer, problem);
                self.first_error.get_or_insert(error);
                self.issuer.clear();
            }
        }
        Ok(())
    }

    fn request(&self, config: &AuthConfig) -> Result<HttpRequest, AuthError> {
        let mut request = HttpRequest::get(self.document(), self.asked.clone());
        let server = server_uri(config)?;
        if let Some(version) = &config.protocol_version
            && Uri::parse(&self.asked).is_ok_and(|uri| uri.is_same_origin(&server))
        {
            let value = version.as_str().into();
            request.headers.push(("mcp-protocol-version", value));
        }
        Ok(request)
    }

    const fn document(&self) -> Document {
        match self.phase {
            Phase::Resource => Document::ResourceMetadata,
            Phase::Server | Phase::Legacy => Document::ServerMetadata,
        }
    }

    fn fail(&self, problem: Problem) -> AuthError {
        AuthError::new(self.document(), &self.asked, problem)
    }
}

/// The issuers to try, in their order: secrets have only their own (AU-36, AU-45).
fn issuers(
    config: &AuthConfig,
    found: &ResourceMetadata,
    url: &str,
) -> Result<VecDeque<String>, AuthError> {
    let listed = &found.authorization_servers;
    if let Some(own) = config.own_issuer() {
        let same = |issuer: &&String| config.is_same_issuer(issuer, own);
        let Some(issuer) = listed.iter().find(same) else {
            let found = listed.first().map(String::as_str).unwrap_or_default();
            let problem = Problem::OtherIssuer {
                expected: printable(own, 300),
                found: printable(found, 300),
            };
            return Err(AuthError::new(Document::ResourceMetadata, url, problem));
        };
        return Ok(VecDeque::from([issuer.clone()]));
    }
    let mut issuers: VecDeque<String> = listed.iter().take(MOST_ISSUERS).cloned().collect();
    if let Some(preferred) = &config.preferred_issuer
        && let Some(listed) = listed
            .iter()
            .find(|issuer| config.is_same_issuer(issuer, preferred))
    {
        issuers.retain(|issuer| issuer != listed);
        issuers.push_front(listed.clone());
    }
    Ok(issuers)
}
