//! Logins: requests to the endpoints of the authorization server, and the logins of principals.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use http_body::Body;
use mcp_auth::authorization_server::{LOGIN_CLAIM, LoginEndpoint, LoginExchange};
use mcp_auth::resource::TokenClaims;
use mcp_proto::http::{Field, Head as _, Refusal};

use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::login::{LoginServer, ProviderLogin};
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::body::HttpBody;
use crate::http::server::messages::head::RequestHead;
use crate::server::Principal;
use crate::shares::CallerId;

impl HttpEndpoint {
    /// Adds the login at the provider to the claims of a principal with a token of the authorization server, and of no
    /// other that the endpoint trusts.
    pub(in crate::http::server) fn with_login(
        &self,
        principal: Principal,
        claims: &TokenClaims,
    ) -> Principal {
        let server = self.options.login.as_ref();
        let Some(server) = server.filter(|login| claims.issuer() == Some(login.server.issuer()))
        else {
            return principal;
        };
        match claims.get(LOGIN_CLAIM) {
            Ok(Some(login)) => principal.with_claims(ProviderLogin::new(Arc::clone(server), login)),
            _ => principal,
        }
    }

    /// Returns the endpoint of the authorization server that a request goes to, if there is one.
    pub(in crate::http::server) fn login_at(
        &self,
        parts: &Parts,
    ) -> Option<(Arc<LoginServer>, LoginEndpoint)> {
        let login = self.options.login.as_ref()?;
        let endpoint = login.server.endpoint(&RequestHead(parts))?;
        Some((Arc::clone(login), endpoint))
    }

    /// Answers a request to an endpoint of the authorization server. The metadata is for pages of every origin and
    /// under every host, like that of the resource (AU-16).
    pub(in crate::http::server) async fn answer_login<B: Body + Send>(
        &self,
        (login, endpoint): (Arc<LoginServer>, LoginEndpoint),
        parts: &Parts,
        body: B,
    ) -> Answer {
        let head = RequestHead(parts);
        let is_allowed = match head.field("host") {
            Field::One(host) => self.endpoint().access.allows_host(host),
            Field::None | Field::Many => false,
        };
        if endpoint != LoginEndpoint::Metadata && !is_allowed {
            return answer::refusal(Refusal::Host, "");
        }
        if let Some(refused) = self.count_messages(parts, self.caller(parts).as_ref(), 1) {
            return refused;
        }
        let body = match self.collect(parts, self.caller(parts), body).await {
            Ok(body) => body,
            Err(broken) => return self.unread(broken),
        };
        let caller = CallerId::address(parts, &self.options.trusted_proxies);
        let query = parts.uri.query().unwrap_or_default();
        let exchange = LoginExchange::new(&login.context(None), endpoint, &head, query, &body);
        let provider = match exchange.needs_provider() {
            true => login.provider(caller.clone()).await,
            false => None,
        };
        let Some(response) = login.run(exchange, provider, caller).await else {
            return answer::closing();
        };
        if let Some(cause) = &response.cause {
            login.note(cause);
        }
        let mut answer = Response::new(match response.body.is_empty() {
            true => HttpBody::empty(),
            false => HttpBody::full(Bytes::from(response.body)),
        });
        let status = StatusCode::from_u16(response.status);
        *answer.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in response.headers {
            // The core writes ASCII only.
            if let Ok(value) = HeaderValue::try_from(value) {
                answer
                    .headers_mut()
                    .append(HeaderName::from_static(name), value);
            }
        }
        answer
    }
}
