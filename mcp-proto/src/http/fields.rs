//! The fields that an endpoint reads, found in one pass over a head.

use super::head::{Field, Head};

/// The fields of a request that an endpoint reads.
#[derive(Clone, Copy)]
pub(super) struct RequestFields<'h> {
    pub(super) transfer_encoding: Field<'h>,
    pub(super) content_length: Field<'h>,
    pub(super) host: Field<'h>,
    pub(super) origin: Field<'h>,
    pub(super) content_type: Field<'h>,
    pub(super) accept: Field<'h>,
    pub(super) version: Field<'h>,
    pub(super) session: Field<'h>,
    pub(super) method: Field<'h>,
    pub(super) name: Field<'h>,
    pub(super) last_event_id: Field<'h>,
}

impl<'h> RequestFields<'h> {
    pub(super) fn read(head: &'h (impl Head + ?Sized)) -> Self {
        let mut found = Self {
            transfer_encoding: Field::None,
            content_length: Field::None,
            host: Field::None,
            origin: Field::None,
            content_type: Field::None,
            accept: Field::None,
            version: Field::None,
            session: Field::None,
            method: Field::None,
            name: Field::None,
            last_event_id: Field::None,
        };
        head.fields(&mut |name, value| {
            if let Some(field) = found.named(name) {
                field.add(value);
            }
        });
        found
    }

    /// Returns the field of this name. Few names have the length of a known one.
    fn named(&mut self, name: &str) -> Option<&mut Field<'h>> {
        let is = |known| is(name, known);
        Some(match name.len() {
            4 if is("host") => &mut self.host,
            6 if is("accept") => &mut self.accept,
            6 if is("origin") => &mut self.origin,
            8 if is("mcp-name") => &mut self.name,
            10 if is("mcp-method") => &mut self.method,
            12 if is("content-type") => &mut self.content_type,
            13 if is("last-event-id") => &mut self.last_event_id,
            14 if is("mcp-session-id") => &mut self.session,
            14 if is("content-length") => &mut self.content_length,
            17 if is("transfer-encoding") => &mut self.transfer_encoding,
            20 if is("mcp-protocol-version") => &mut self.version,
            _ => return None,
        })
    }
}

/// Returns true if this is the name of a known field. Most are spelled in lower case.
fn is(name: &str, known: &str) -> bool {
    name == known || name.eq_ignore_ascii_case(known)
}
