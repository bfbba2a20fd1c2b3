//! Reads messages: collects the members of an envelope in one pass, and then validates them.

use super::{
    ErrorObject, Id, Invalid, Member, Message, Method, Notification, Reason, Request, Response,
    Salvage, Shape,
};
use crate::json::{Fault, Kind, MemberPlaces, NotePlaces, Raw, Scanner, offset};
#[cfg(feature = "alloc")]
use crate::json::{FaultKind, KnownMeta, MAX_DEPTH, Object, Span};

/// The members at the top level of a message.
#[derive(Default)]
pub(super) struct Members<'b> {
    /// True if `jsonrpc` is `"2.0"`; `None` if it is absent.
    version: Option<bool>,
    id: Option<Raw<'b>>,
    method: Option<Raw<'b>>,
    params: Option<Raw<'b>>,
    result: Option<Raw<'b>>,
    error: Option<Raw<'b>>,
    duplicate: Option<Member>,
}

/// The members of the top level by their places in the text.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy)]
pub(super) struct MemberSpans {
    version: Option<bool>,
    values: [Option<Span>; 5],
    duplicate: Option<Member>,
    places: MemberPlaces,
}

#[cfg(feature = "alloc")]
impl<'b> Members<'b> {
    /// Reads an object that [`envelope`](super::envelope) wrote. Its last member reaches to the end of
    /// the object and is not read; `None` for a text of another form.
    pub(super) fn written(text: &'b [u8]) -> Option<Self> {
        let mut members = Self {
            version: Some(true),
            ..Self::default()
        };
        let mut at = Scanner::new(text, MAX_DEPTH);
        if !at.open_object_with(b"{\"jsonrpc\":\"2.0\"") {
            return None;
        }
        if at.take_member(false, b"\"id\":") {
            members.id = Some(at.value().ok()?);
        }
        if at.take_member(false, b"\"method\":") {
            members.method = Some(at.value().ok()?);
        }
        let last = if at.take_member(false, b"\"params\":") {
            &mut members.params
        } else if at.take_member(false, b"\"result\":") {
            &mut members.result
        } else if at.take_member(false, b"\"error\":") {
            &mut members.error
        } else {
            return (at.take(b"}") && at.end().is_ok()).then_some(members);
        };
        let value = text.get(at.position()..)?.strip_suffix(b"}")?;
        debug_assert!(
            !Raw::parse(value, MAX_DEPTH).is_err_and(|fault| fault.kind != FaultKind::Depth),
            "the last member is no value"
        );
        *last = Some(Raw::received(value));
        Some(members)
    }

    /// The places of the members in their text; `None` if they are of another text.
    pub(super) fn spans(&self, places: &MemberPlaces, text: &[u8]) -> Option<MemberSpans> {
        let mut values = [None; 5];
        let found = [self.id, self.method, self.params, self.result, self.error];
        for (value, raw) in values.iter_mut().zip(found) {
            if let Some(raw) = raw {
                *value = Some(Span::of(raw, text)?);
            }
        }
        Some(MemberSpans {
            version: self.version,
            values,
            duplicate: self.duplicate,
            places: *places,
        })
    }
}

#[cfg(feature = "alloc")]
impl MemberSpans {
    /// Returns the message whose members are at these places.
    pub(super) fn message<'b>(&self, text: &'b [u8]) -> Message<'b> {
        let [id, method, params, result, error] =
            self.values.map(|span| span.map(|span| span.raw(text)));
        let members = Members {
            version: self.version,
            id,
            method,
            params,
            result,
            error,
            duplicate: self.duplicate,
        };
        members.judge(&self.places)
    }
}

impl<'b> Members<'b> {
    /// Reads the object that begins at the scanner's position.
    // In place, like everything here: a message is a hundred bytes, and a move of it costs as
    // much as one of its members.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        scanner: &mut Scanner<'b>,
        notes: &mut impl NotePlaces,
    ) -> Result<(), Fault> {
        let mut at = scanner.clone();
        let mut first = true;
        // Most writers put the same bytes before a value, so these are compared as a whole.
        // Spaces and escapes are handled below.
        let mut id_next = at.open_object_with(b"{\"jsonrpc\":\"2.0\",\"id\":");
        if id_next {
            self.version = Some(true);
        } else {
            at.open_object()?;
        }
        loop {
            let (place, member) = if id_next || at.take_member(first, b"\"id\":") {
                id_next = false;
                (&mut self.id, Member::Id)
            } else if at.take_member(first, b"\"method\":") {
                (&mut self.method, Member::Method)
            } else if at.take_member(first, b"\"params\":") {
                (&mut self.params, Member::Params)
            } else if at.take_member(first, b"\"result\":") {
                (&mut self.result, Member::Result)
            } else if at.take_member(first, b"\"jsonrpc\":\"2.0\"") {
                self.note_version(true);
                first = false;
                continue;
            } else {
                break;
            };
            first = false;
            let value = at.value_in_place(member.is_noted().then_some(&mut *notes))?;
            if place.replace(value).is_some() {
                self.double(member);
            }
        }
        // The text that follows is no part of this object, so the depth inside of it does not
        // matter.
        *scanner = if !first && at.take(b"}") {
            at
        } else {
            self.read_any(at, first, notes.places())?
        };
        Ok(())
    }

    /// Reads an element of a batch: as `read`, in less code and more time.
    pub(super) fn read_element(
        &mut self,
        scanner: &mut Scanner<'b>,
        places: &mut MemberPlaces,
    ) -> Result<(), Fault> {
        scanner.open_object()?;
        *scanner = self.read_any(scanner.clone(), true, places)?;
        Ok(())
    }

    /// Reads on, whatever the names look like.
    #[inline(never)]
    fn read_any(
        &mut self,
        scanner: Scanner<'b>,
        first: bool,
        places: &mut MemberPlaces,
    ) -> Result<Scanner<'b>, Fault> {
        let mut scanner = scanner;
        let mut first = first;
        while let Some(name) = scanner.next_key(first)? {
            first = false;
            let member = Member::of(name);
            let is_noted = member.is_some_and(Member::is_noted);
            let value = scanner.noted_value(is_noted.then_some(&mut *places))?;
            if let Some(member) = member {
                self.note(member, value);
            }
        }
        Ok(scanner)
    }

    fn note(&mut self, member: Member, value: Raw<'b>) {
        let place = match member {
            Member::Id => &mut self.id,
            Member::Method => &mut self.method,
            Member::Params => &mut self.params,
            Member::Result => &mut self.result,
            Member::Error => &mut self.error,
            // Exactly `"2.0"` (JR-01), however it is escaped.
            Member::Version => {
                return self.note_version(value.string().is_some_and(|text| text == "2.0"));
            }
            Member::Code | Member::Message | Member::Data => return,
        };
        if place.replace(value).is_some() {
            self.double(member);
        }
    }

    #[inline(always)]
    fn note_version(&mut self, right: bool) {
        if self.version.replace(right).is_some() {
            self.double(Member::Version);
        }
    }

    /// A duplicate id counts as no id.
    #[cold]
    fn double(&mut self, member: Member) {
        if self.duplicate != Some(Member::Id) {
            self.duplicate = Some(member);
        }
    }

    /// The message that these members make.
    #[cfg_attr(feature = "alloc", inline(always))]
    #[cfg_attr(not(feature = "alloc"), inline(never))]
    pub(super) fn judge(&self, places: &MemberPlaces) -> Message<'b> {
        if let Some(member) = self.duplicate {
            return self.invalid(Reason::Doubled(member));
        }
        if self.version != Some(true) {
            return self.invalid(Reason::Version);
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => self.call(method, places),
            (None, Some(result), None) => match self.id.and_then(Id::from_raw) {
                Some(id) => Message::Response(Response {
                    id: Some(id),
                    outcome: Ok(result),
                    // Parameters in a response mean nothing, but they may be what was noted last.
                    places: match self.params {
                        None => *places,
                        Some(_) => MemberPlaces::UNKNOWN,
                    },
                }),
                None => self.invalid(Reason::Id),
            },
            (None, None, Some(error)) => self.failure(error),
            _ => self.invalid(Reason::Members),
        }
    }

    #[inline(always)]
    fn call(&self, method: Raw<'b>, places: &MemberPlaces) -> Message<'b> {
        let Some(method) = method.string().map(Method::from) else {
            return self.invalid(Reason::Method);
        };
        let params = self.params.and_then(Raw::object);
        if params.is_none() && self.params.is_some() {
            return self.invalid(Reason::Params);
        }
        match self.id {
            None => Message::Notification(Notification { method, params }),
            Some(id) => match Id::from_raw(id) {
                Some(id) => Message::Request(Request {
                    id,
                    method,
                    params,
                    places: *places,
                }),
                None => self.invalid(Reason::Id),
            },
        }
    }

    #[inline(never)]
    fn failure(&self, error: Raw<'b>) -> Message<'b> {
        // Some peers write null, some nothing, where they could not read our id (JR-51).
        let named = self.id.filter(|id| id.kind() != Kind::Null);
        let id = named.and_then(Id::from_raw);
        if id.is_none() && named.is_some() {
            return self.invalid(Reason::Id);
        }
        match ErrorObject::from_raw(error) {
            Ok(error) => Message::Response(Response::new(id, Err(error))),
            Err(reason) => self.invalid(reason),
        }
    }

    /// Returns the search for more members of an object that has a fault after these.
    fn salvage(&self, text: &[u8]) -> Salvage {
        if !Salvage::IS_FAST || self.duplicate.is_some() {
            return Salvage::new();
        }
        let place = |value: Raw<'_>| {
            let start = offset(value.as_bytes(), text)?;
            Some(start..start.saturating_add(value.as_bytes().len()))
        };
        let id = self.id.and_then(place);
        let mut end = id.as_ref().map_or(0, |id| id.end);
        for value in [self.method, self.params, self.result, self.error] {
            end = end.max(value.and_then(place).map_or(0, |place| place.end));
        }
        if end == 0 {
            return Salvage::new();
        }
        let has_outcome = self.result.or(self.error).is_some();
        Salvage::after(end, id, self.is_named(), has_outcome)
    }

    /// Returns true if the method is a string; `None` if there is no method.
    fn is_named(&self) -> Option<bool> {
        self.method.map(|method| method.kind() == Kind::String)
    }

    #[cold]
    fn invalid(&self, reason: Reason) -> Message<'b> {
        let named = self.is_named() == Some(true);
        Message::Invalid(Invalid {
            reason,
            id: match self.duplicate {
                Some(Member::Id) => None,
                _ => self.id.and_then(Id::from_raw),
            },
            shape: Shape::of(
                self.id.is_some(),
                self.method.is_some(),
                named,
                self.result.is_some() || self.error.is_some(),
            ),
        })
    }
}

impl<'b> Message<'b> {
    /// Reads one message from a whole text, which may have white space around it.
    ///
    /// `depth` is how deep arrays and objects may nest, the message's own object included, at
    /// most [`MAX_DEPTH`](crate::json::MAX_DEPTH). The text is validated to its end. An array is
    /// no message: batches are taken apart by the [`Inbox`](crate::Inbox).
    pub fn parse(text: &'b [u8], depth: u8) -> Self {
        let mut places = MemberPlaces::UNKNOWN;
        Self::parse_noting(text, depth, &mut places)
    }

    /// Reads one message, as [`parse`](Self::parse) does, of a connection whose requests repeat a `_meta`.
    #[cfg(feature = "alloc")]
    pub(crate) fn parse_with_known_meta(text: &'b [u8], depth: u8, known: &mut KnownMeta) -> Self {
        let mut notes = known.notes(depth);
        let message = Self::parse_noting(text, depth, &mut notes);
        if notes.has_other {
            message.teach(depth, known);
        }
        message
    }

    /// Copies the `_meta` of a request or of a result into `known`.
    #[cfg(feature = "alloc")]
    pub(super) fn teach(&self, depth: u8, known: &mut KnownMeta) {
        let (object, places) = match self {
            Self::Request(request) => (request.params.map(Object::as_raw), &request.places),
            Self::Response(response) => (response.outcome.ok(), &response.places),
            Self::Notification(_) | Self::Invalid(_) => return,
        };
        if let Some(object) = object {
            known.learn(object, depth, places);
        }
    }

    #[inline(always)]
    fn parse_noting(text: &'b [u8], depth: u8, notes: &mut impl NotePlaces) -> Self {
        let mut scanner = Scanner::new(text, depth);
        let mut members = Members::default();
        let read = members.read(&mut scanner, notes);
        match read.and_then(|()| scanner.end()) {
            Ok(()) => members.judge(notes.places()),
            Err(fault) => Self::no_object(text, depth, fault, &members),
        }
    }

    /// Reads one message from a value that is JSON already: an element of a batch, say.
    pub fn from_raw(raw: Raw<'b>) -> Self {
        Self::parse(raw.as_bytes(), crate::json::MAX_DEPTH)
    }

    /// Reads one element of a batch, at the scanner's position.
    pub(crate) fn element(scanner: &mut Scanner<'b>) -> Result<Self, Fault> {
        scanner.skip_whitespace();
        if scanner.peek() == Some(b'{') {
            let mut members = Members::default();
            let mut places = MemberPlaces::UNKNOWN;
            members.read_element(scanner, &mut places)?;
            return Ok(members.judge(&places));
        }
        scanner.value()?;
        Ok(Self::NOT_OBJECT)
    }

    /// The invalid message for a text in which reading an object met this fault after these members.
    #[cold]
    fn no_object(text: &'b [u8], depth: u8, fault: Fault, members: &Members<'b>) -> Self {
        let mut scanner = Scanner::new(text, depth);
        scanner.skip_whitespace();
        let fault = match scanner.peek() {
            Some(b'{') => Err(fault),
            _ => scanner.value().and_then(|_| scanner.end()),
        };
        match fault {
            Ok(()) => Self::NOT_OBJECT,
            Err(fault) => {
                let (id, shape) = members.salvage(text).rest(text);
                let reason = Reason::Json(fault);
                Self::Invalid(Invalid { reason, id, shape })
            }
        }
    }

    pub(super) const NOT_OBJECT: Self = Self::Invalid(Invalid::nameless(Reason::NotObject));
}

impl<'b> Invalid<'b> {
    /// Creates an invalid message of an unknown kind without an id.
    pub(super) const fn nameless(reason: Reason) -> Self {
        Self {
            reason,
            id: None,
            shape: Shape::Unknown,
        }
    }

    /// Reads what is readable of an invalid message.
    #[cold]
    pub(crate) fn broken(text: &'b [u8], reason: Reason) -> Self {
        let (id, shape) = Salvage::whole(text);
        Self { reason, id, shape }
    }
}

impl<'b> ErrorObject<'b> {
    fn from_raw(raw: Raw<'b>) -> Result<Self, Reason> {
        let members = raw.object().ok_or(Reason::Error)?;
        let [code, message, data] =
            members
                .find(["code", "message", "data"])
                .map_err(|double| {
                    Reason::Doubled(match double.key {
                        0 => Member::Code,
                        1 => Member::Message,
                        _ => Member::Data,
                    })
                })?;
        Ok(Self {
            code: code
                .and_then(Raw::number)
                .and_then(|code| code.to_i64())
                .ok_or(Reason::Error)?,
            message: message.and_then(Raw::string).ok_or(Reason::Error)?,
            data,
        })
    }
}
