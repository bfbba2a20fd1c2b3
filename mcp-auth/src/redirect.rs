//! The redirect after the user's consent: `code`, `state`, `iss` and errors.

use alloc::string::{String, ToString};

use super::error::{AuthError, Document, Problem, printable};
use super::{Secret, Uri, form};

/// The values that an authorization response must match. They are kept from the moment the user is
/// sent away (AU-55).
#[derive(Clone, Debug)]
pub struct ExpectedRedirect {
    /// The redirect URI of the request.
    pub redirect_uri: String,
    /// The `state` of the request.
    pub state: Secret,
    /// The issuer, as validated with its metadata.
    pub issuer: String,
    /// `iss` must be there: the metadata promises it, or the application demands it.
    pub requires_iss: bool,
}

impl ExpectedRedirect {
    /// Reads the URL to which the user was sent back, whole or from its `?` on, and returns the
    /// code. `state` is checked first, then `iss`, before anything else is looked at (AU-54, AU-56).
    ///
    /// # Errors
    ///
    /// [`AuthError`]: for another party's response nothing of it is shown (AU-57).
    pub fn read(&self, redirect: &str) -> Result<Secret, AuthError> {
        let fail =
            |problem| AuthError::new(Document::AuthorizationResponse, &self.redirect_uri, problem);
        let query = self.query(redirect).map_err(fail)?;
        let [code, state, iss, error, description] = parameters(
            query,
            ["code", "state", "iss", "error", "error_description"],
        )
        .map_err(fail)?;
        let state = state.ok_or_else(|| fail(Problem::Missing("state")))?;
        if !self.state.matches(&state) {
            return Err(fail(Problem::WrongState));
        }
        match iss {
            Some(iss) if iss != self.issuer => {
                return Err(fail(Problem::Mismatch {
                    member: "iss",
                    expected: printable(&self.issuer, 300),
                    found: printable(&iss, 300),
                }));
            }
            None if self.requires_iss => return Err(fail(Problem::Missing("iss"))),
            _ => {}
        }
        if let Some(error) = error {
            return Err(fail(Problem::Refused {
                status: None,
                error: printable(&error, 60),
                description: description.map(|text| printable(&text, 200)),
            }));
        }
        let code = code.filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| fail(Problem::Missing("code")))?;
        Ok(Secret::from(code))
    }

    /// The query of a redirect that is at the redirect URI.
    fn query<'r>(&self, redirect: &'r str) -> Result<&'r str, Problem> {
        if let Some(query) = redirect.strip_prefix('?') {
            return Ok(query.split('#').next().unwrap_or(query));
        }
        let member = "redirect_uri";
        let unusable = |reason| Problem::UnusableUrl { member, reason };
        let found = Uri::parse(redirect).map_err(unusable)?;
        let registered = Uri::parse(&self.redirect_uri).map_err(unusable)?;
        let is_there =
            found.is_same_origin(&registered) && found.path_or_root() == registered.path_or_root();
        if !is_there {
            return Err(Problem::Mismatch {
                member,
                expected: printable(registered.without_query(), 300),
                found: printable(found.without_query(), 300),
            });
        }
        found.query().ok_or(Problem::Missing("state"))
    }
}

/// The values of parameters, each at most once.
fn parameters<const N: usize>(
    query: &str,
    names: [&'static str; N],
) -> Result<[Option<String>; N], Problem> {
    let mut values = [const { None }; N];
    for pair in form::pairs(query) {
        let (found, value) = pair.ok_or(Problem::Malformed("query"))?;
        for (name, slot) in names.iter().zip(&mut values) {
            if found == *name && slot.replace(value.to_string()).is_some() {
                return Err(Problem::Duplicate(name));
            }
        }
    }
    Ok(values)
}
