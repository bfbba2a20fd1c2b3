//! Conversations with a flow, written as scripts: each line is an output of the flow and its
//! answer. Random bytes, hashes and signatures are answered by the script itself.

use core::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_auth::{
    AuthConfig, AuthError, Challenge, Credentials, Document, Flow, FlowStep, HttpRequest,
    HttpResponse, Input, PreRegistered, SigningKey, SigningRequest, UnixTime,
};

/// The MCP server of most scripts.
pub(crate) const SERVER: &str = "https://mcp.example/p/mcp";
/// Where its metadata is.
pub(crate) const RESOURCE_METADATA: &str =
    "https://mcp.example/.well-known/oauth-protected-resource/p/mcp";
/// Its authorization server.
pub(crate) const ISSUER: &str = "https://as.example";
/// Where that issues tokens.
pub(crate) const TOKEN: &str = "https://as.example/token";
/// Where the metadata of that is.
pub(crate) const SERVER_METADATA: &str =
    "https://as.example/.well-known/oauth-authorization-server";
/// Where users are sent back to.
pub(crate) const CALLBACK: &str = "http://127.0.0.1:8765/callback";
/// The time at which flows begin.
pub(crate) const START: u64 = 1_750_000_000;

/// The metadata of the MCP server.
pub(crate) const PUBLISHED: &str =
    r#"{"resource":"https://mcp.example/p/mcp","authorization_servers":["https://as.example"]}"#;

/// Metadata of the authorization server, with more members before its end.
pub(crate) fn metadata(more: &str) -> String {
    format!(
        r#"{{"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize","token_endpoint":"https://as.example/token","registration_endpoint":"https://as.example/register","code_challenge_methods_supported":["S256"]{more}}}"#
    )
}

/// The configuration of most scripts.
pub(crate) fn config() -> AuthConfig {
    AuthConfig::new(SERVER, "Demo", CALLBACK)
}

/// A configuration with a client that was registered beforehand.
pub(crate) fn registered(proof: mcp_auth::ClientProof) -> AuthConfig {
    AuthConfig {
        pre_registered: Some(PreRegistered {
            issuer: Some(ISSUER.into()),
            client_id: "client-1".into(),
            proof,
        }),
        ..config()
    }
}

/// A challenge from one field.
pub(crate) fn challenge(field: &str) -> Option<Challenge> {
    Challenge::parse_all([field.as_bytes()]).into_iter().next()
}

/// A flow and what it asks for.
#[derive(Debug)]
pub(crate) struct Script {
    flow: Flow,
    output: Option<Result<FlowStep, AuthError>>,
    now: u64,
    random: u8,
    /// Where the last page sends the user back to.
    redirect_uri: String,
    /// What was signed, in its order.
    pub(crate) signed: Vec<SigningRequest>,
    /// Everything that `Debug` and `Display` have shown.
    pub(crate) shown: RefCell<String>,
    /// The secrets that the script has seen.
    pub(crate) secrets: Vec<String>,
}

impl Script {
    pub(crate) fn new(config: AuthConfig, challenge: Option<Challenge>) -> Self {
        Self::begin(Flow::authorize(config, challenge, None).unwrap())
    }

    /// A login in which the user has consented.
    pub(crate) fn consented(config: AuthConfig, challenge: Option<Challenge>) -> Self {
        let mut script = Self::new(config, challenge);
        script.discovers("");
        script.consents();
        script
    }

    pub(crate) fn with_stored(
        config: AuthConfig,
        challenge: Option<Challenge>,
        stored: &Credentials,
    ) -> Self {
        Self::begin(Flow::authorize(config, challenge, Some(stored.clone())).unwrap())
    }

    pub(crate) fn refresh(config: AuthConfig, stored: &Credentials) -> Self {
        Self::begin(Flow::refresh(config, stored.clone()).unwrap())
    }

    /// A refresh with the nonces of an earlier flow.
    pub(crate) fn refresh_after(earlier: &Self, config: AuthConfig, stored: &Credentials) -> Self {
        let mut flow = Flow::refresh(config, stored.clone()).unwrap();
        flow.set_nonces(earlier.flow.nonces().clone());
        Self::begin(flow)
    }

    fn begin(mut flow: Flow) -> Self {
        let output = flow.start(UnixTime::from_secs(START));
        let mut script = Self {
            flow,
            output: None,
            now: START,
            random: 0,
            redirect_uri: CALLBACK.into(),
            signed: Vec::new(),
            shown: RefCell::default(),
            secrets: Vec::new(),
        };
        script.settle(output);
        script
    }

    /// Answers what needs no script.
    fn settle(&mut self, mut output: Result<FlowStep, AuthError>) {
        loop {
            self.show(&output);
            let now = UnixTime::from_secs(self.now);
            output = match output {
                Ok(FlowStep::Random) => {
                    self.random += 1;
                    self.flow.advance(now, Input::Random([self.random; 32]))
                }
                Ok(FlowStep::Hash(text)) => {
                    self.secrets.push(text.expose().into());
                    self.flow.advance(now, Input::Digest(digest(text.expose())))
                }
                Ok(FlowStep::Sign(request)) => {
                    self.signed.push(request);
                    self.flow.advance(now, Input::Signature(b"signature"))
                }
                other => {
                    self.output = Some(other);
                    return;
                }
            };
        }
    }

    fn show(&self, output: &Result<FlowStep, AuthError>) {
        let mut shown = self.shown.borrow_mut();
        shown.push_str(&format!("{output:?}\n{:?}\n", self.flow));
        if let Err(error) = output {
            shown.push_str(&error.to_string());
        }
    }

    fn take(&mut self) -> FlowStep {
        self.output
            .take()
            .expect("an output")
            .unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn request(&mut self) -> HttpRequest {
        match self.take() {
            FlowStep::Send(request) => request,
            other => panic!("expected a request, found {other:?}"),
        }
    }

    /// The flow asks for a document at this URL.
    #[track_caller]
    pub(crate) fn gets(&mut self, url: &str) -> &mut Self {
        let request = self.request();
        assert_eq!((request.method, request.url.as_str()), ("GET", url));
        assert_eq!(request.body, None);
        assert_eq!(request.max_redirects, 10);
        self
    }

    /// The flow posts to this URL; the request is handed out.
    #[track_caller]
    pub(crate) fn posts(&mut self, url: &str) -> HttpRequest {
        let request = self.request();
        assert_eq!((request.method, request.url.as_str()), ("POST", url));
        // AU-31.
        assert_eq!(request.max_redirects, 0);
        request
    }

    /// The flow posts this form: names and decoded values, in their order.
    #[track_caller]
    pub(crate) fn posts_form(&mut self, url: &str, form: &str) -> &mut Self {
        let request = self.posts(url);
        assert_eq!(form_text(&request), form);
        self
    }

    /// The server answers.
    pub(crate) fn answers(&mut self, status: u16, body: &str) -> &mut Self {
        self.answers_with(status, &[], body)
    }

    /// The server answers with fields.
    pub(crate) fn answers_with(
        &mut self,
        status: u16,
        headers: &[(&str, &[u8])],
        body: &str,
    ) -> &mut Self {
        let response = HttpResponse {
            status,
            headers,
            body: body.as_bytes(),
        };
        let now = UnixTime::from_secs(self.now);
        let output = self.flow.advance(now, Input::Response(response));
        self.settle(output);
        self
    }

    /// No answer comes.
    pub(crate) fn fails(&mut self, text: &str) -> &mut Self {
        let now = UnixTime::from_secs(self.now);
        let output = self.flow.advance(now, Input::Failed(text));
        self.settle(output);
        self
    }

    /// The flow opens a page: its parameters, decoded, without `state` and `code_challenge`.
    #[track_caller]
    pub(crate) fn opens(&mut self) -> Page {
        match self.take() {
            FlowStep::Open(page) => {
                self.redirect_uri = page.redirect_uri;
                Page::new(page.url)
            }
            other => panic!("expected a page, found {other:?}"),
        }
    }

    /// The user comes back with this query.
    pub(crate) fn comes_back(&mut self, query: &str) -> &mut Self {
        let now = UnixTime::from_secs(self.now);
        let url = format!("{}?{query}", self.redirect_uri);
        let output = self.flow.advance(now, Input::Redirect(&url));
        self.settle(output);
        self
    }

    /// The user is asked for a client id, and answers.
    #[track_caller]
    pub(crate) fn asks_identity(
        &mut self,
        issuer: &str,
        answer: Option<PreRegistered>,
    ) -> &mut Self {
        match self.take() {
            FlowStep::AskIdentity {
                issuer: found,
                redirect_uri,
            } => assert_eq!((found.as_str(), redirect_uri.as_str()), (issuer, CALLBACK)),
            other => panic!("expected a question, found {other:?}"),
        }
        let now = UnixTime::from_secs(self.now);
        let output = self.flow.advance(now, Input::Identity(answer));
        self.settle(output);
        self
    }

    /// Both documents are found at their first places.
    #[track_caller]
    pub(crate) fn discovers(&mut self, more: &str) -> &mut Self {
        self.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        self.gets(SERVER_METADATA).answers(200, &metadata(more))
    }

    /// A public client registers itself.
    #[track_caller]
    pub(crate) fn registers(&mut self) -> &mut Self {
        self.posts("https://as.example/register");
        self.answers(201, r#"{"client_id":"registered-1"}"#)
    }

    /// The user consents.
    #[track_caller]
    pub(crate) fn consents(&mut self) -> Page {
        let page = self.opens();
        let state = page.get("state").unwrap();
        self.secrets.push(state.clone());
        self.secrets.push("c0de".into());
        self.comes_back(&format!(
            "code=c0de&state={state}&iss=https%3A%2F%2Fas.example"
        ));
        page
    }

    /// The user comes back with a code of this issuer.
    #[track_caller]
    pub(crate) fn returns_from(&mut self, issuer: &str) -> &mut Self {
        let page = self.opens();
        let state = page.get("state").unwrap();
        self.comes_back(&format!("code=c0de&state={state}&iss={issuer}"))
    }

    pub(crate) const fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The flow is complete.
    #[track_caller]
    pub(crate) fn done(&mut self) -> Credentials {
        match self.take() {
            FlowStep::Done(credentials) => *credentials,
            other => panic!("expected credentials, found {other:?}"),
        }
    }

    /// The flow ended with an error about this document, whose text contains all of these.
    #[track_caller]
    pub(crate) fn error(&mut self, document: Document, texts: &[&str]) -> AuthError {
        let error = self
            .output
            .take()
            .expect("an output")
            .expect_err("an error");
        assert_eq!(error.document, document, "{error}");
        let text = error.to_string();
        for part in texts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
        assert!(!error.advice().is_empty());
        error
    }
}

/// The parameters of an authorization request.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) endpoint: String,
    pub(crate) pairs: Vec<(String, String)>,
}

impl Page {
    fn new(url: String) -> Self {
        let (endpoint, query) = url.split_once('?').unwrap();
        Self {
            endpoint: endpoint.into(),
            pairs: pairs(query),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let mut found = self.pairs.iter().filter(|(other, _)| other == name);
        let value = found.next().map(|(_, value)| value.clone());
        assert!(found.next().is_none(), "{name} comes twice");
        value
    }
}

/// A body as `name=value` lines without escapes, joined by ` & `.
pub(crate) fn form_text(request: &HttpRequest) -> String {
    assert_eq!(
        request.header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    let body = request.body.as_ref().unwrap();
    let pairs = pairs(body.expose());
    let texts = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    texts.collect::<Vec<_>>().join(" & ")
}

/// The value of one parameter of a body.
pub(crate) fn form_value(request: &HttpRequest, name: &str) -> Option<String> {
    let body = request.body.as_ref().unwrap();
    let found = pairs(body.expose())
        .into_iter()
        .find(|(other, _)| other == name);
    found.map(|(_, value)| value)
}

/// Decodes a form independently of the crate.
fn pairs(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(core::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => other,
            });
        }
        String::from_utf8(bytes).unwrap()
    };
    let parts = query.split('&').map(|part| part.split_once('=').unwrap());
    parts
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// Stands for SHA-256: any function will do.
pub(crate) fn digest(text: &str) -> [u8; 32] {
    let mut out = [0_u8; 32];
    for (index, byte) in text.bytes().enumerate() {
        let slot = &mut out[index % 32];
        *slot = slot.wrapping_mul(31).wrapping_add(byte);
    }
    out
}

/// The header and the claims of what was signed.
pub(crate) fn token_parts(request: &SigningRequest) -> (serde_json::Value, serde_json::Value) {
    let (header, claims) = request.input.split_once('.').unwrap();
    let read = |part: &str| serde_json::from_slice(&base64_url(part)).unwrap();
    assert!(matches!(
        request.key,
        SigningKey::Dpop | SigningKey::ClientAssertion
    ));
    (read(header), read(claims))
}

/// Base64url of a text.
pub(crate) fn base64_url_text(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

pub(crate) fn base64_url(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}
