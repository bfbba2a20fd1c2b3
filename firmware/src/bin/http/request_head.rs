//! A head of `httparse` as the core reads it.

use httparse::Request;
use mcp_proto::http::Head;

pub(crate) struct RequestHead<'r, 'f, 'b>(pub(crate) &'r Request<'f, 'b>);

impl RequestHead<'_, '_, '_> {
    /// Returns true if no other request follows (RFC 9112, section 9.3).
    pub(crate) fn is_last(&self) -> bool {
        let mut found = self.0.version == Some(0);
        self.values("connection", &mut |value| {
            let mut options = value.split(|byte| *byte == b',');
            found |= options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"));
        });
        found
    }
}

impl Head for RequestHead<'_, '_, '_> {
    fn method(&self) -> &str {
        self.0.method.unwrap_or_default()
    }

    fn path(&self) -> &str {
        let target = self.0.path.unwrap_or_default();
        target.split('?').next().unwrap_or_default()
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        for field in self.0.headers.iter() {
            each(field.name, field.value);
        }
    }

    fn requires_host(&self) -> bool {
        self.0.version == Some(1)
    }
}
