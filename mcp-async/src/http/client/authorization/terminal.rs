//! Logging in without a browser on this machine.

use std::io::{self, BufRead, Write};

use mcp_auth::{AuthorizationPage, ClientProof, PreRegistered, Secret};

use super::blocking::blocking;
use super::user_agent::UserAgent;

/// Prints the URL of the page to standard error, and reads the URL of the redirect from standard
/// input.
///
/// The user opens the page in a browser on any machine. After the consent the browser shows an
/// error, because nothing listens at the redirect URI; the user copies the URL from its address
/// bar. If the client is closed meanwhile, the next line of standard input is still read.
///
/// If the authorization server does not let clients register themselves, the user is asked for a
/// client id first, and for its secret if it has one. The terminal shows both as they are entered.
#[derive(Clone, Debug)]
pub struct Terminal {
    redirect_uri: String,
}

impl Terminal {
    /// Creates one with the redirect URI `http://127.0.0.1:33418/callback`, where nothing listens.
    pub fn new() -> Self {
        Self {
            redirect_uri: NOWHERE.into(),
        }
    }

    /// Sets the redirect URI, for clients that were registered with another one.
    #[must_use]
    pub fn redirect_uri(mut self, uri: &str) -> Self {
        self.redirect_uri = uri.to_owned();
        self
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl UserAgent for Terminal {
    async fn redirect_uri(&self, _: Option<&str>) -> io::Result<String> {
        Ok(self.redirect_uri.clone())
    }

    /// A page of the application that shows the address may be at one path only.
    fn receives_subpaths(&self) -> bool {
        self.redirect_uri == NOWHERE
    }

    async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
        let (url, redirect_uri) = (page.url.clone(), page.redirect_uri.clone());
        blocking(move || {
            let mut out = io::stderr().lock();
            writeln!(out, "Open this page in a browser:\n\n  {url}\n")?;
            writeln!(
                out,
                "Then paste the address that begins with {redirect_uri} here:"
            )?;
            drop(out);
            match read_line(&mut io::stdin().lock())? {
                line if line.is_empty() => Err(io::Error::other("no address was entered")),
                redirect => Ok(redirect),
            }
        })
        .await
    }

    async fn registered_client(
        &self,
        issuer: &str,
        redirect_uri: &str,
    ) -> io::Result<Option<PreRegistered>> {
        let (issuer, redirect_uri) = (issuer.to_owned(), redirect_uri.to_owned());
        blocking(move || {
            let (mut input, mut out) = (io::stdin().lock(), io::stderr());
            ask_client(&mut input, &mut out, &issuer, &redirect_uri)
        })
        .await
    }
}

/// Nothing listens there.
const NOWHERE: &str = "http://127.0.0.1:33418/callback";

/// Asks for a client id and a secret. No client id means that there is no client.
fn ask_client(
    input: &mut impl BufRead,
    out: &mut impl Write,
    issuer: &str,
    redirect_uri: &str,
) -> io::Result<Option<PreRegistered>> {
    writeln!(
        out,
        "The authorization server {issuer} does not let clients register themselves.\n\
         Register a client there with the redirect URI\n\n  {redirect_uri}\n\n\
         Then enter its client id here, or an empty line to cancel:"
    )?;
    let client_id = read_line(input)?;
    if client_id.is_empty() {
        return Ok(None);
    }
    writeln!(
        out,
        "Enter its client secret for {issuer}, or an empty line if it has none:"
    )?;
    let secret = read_line(input)?;
    Ok(Some(PreRegistered {
        issuer: None,
        client_id,
        proof: match secret.is_empty() {
            true => ClientProof::Public,
            false => ClientProof::Secret(Secret::from(secret)),
        },
    }))
}

/// The next line without spaces around it; empty at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://login.example";
    const REDIRECT: &str = "http://127.0.0.1:33418/callback";

    fn ask(input: &str) -> (Option<PreRegistered>, String) {
        let mut out = Vec::new();
        let asked = ask_client(&mut input.as_bytes(), &mut out, ISSUER, REDIRECT);
        (asked.unwrap(), String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_client_is_entered_with_or_without_a_secret() {
        let client = |proof| PreRegistered {
            issuer: None,
            client_id: "client-1".into(),
            proof,
        };
        let secret = ClientProof::Secret("s 1".into());
        assert_eq!(ask(" client-1 \r\ns 1\n").0, Some(client(secret)));
        assert_eq!(ask("client-1\n\n").0, Some(client(ClientProof::Public)));
        assert_eq!(ask("client-1").0, Some(client(ClientProof::Public)));
    }

    #[test]
    fn the_question_names_the_issuer_and_the_redirect_uri() {
        for input in ["", "\n", " \nsecret\n"] {
            let (client, shown) = ask(input);
            assert_eq!(client, None);
            assert!(
                shown.contains(ISSUER) && shown.contains(REDIRECT),
                "{shown}"
            );
            assert!(!shown.contains("secret"), "{shown}");
        }
    }
}
