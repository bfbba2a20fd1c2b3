use crate::error::OAuthError;

/// The parameters of a query or a form body.
#[derive(Debug)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Parses `application/x-www-form-urlencoded`.
    ///
    /// # Errors
    ///
    /// A parameter occurs twice.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, OAuthError> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(text) {
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(OAuthError::invalid_request(format!("{name} occurs twice")));
            }
            pairs.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(pairs))
    }

    pub(crate) const fn empty() -> Self {
        Self(Vec::new())
    }

    /// The value of a parameter. An empty value counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// # Errors
    ///
    /// The parameter is missing.
    pub(crate) fn require(&self, name: &str) -> Result<&str, OAuthError> {
        self.get(name)
            .ok_or_else(|| OAuthError::invalid_request(format!("{name} is missing")))
    }
}
