//! Pages that the server asked the user to visit, until their completion is notified.

use std::collections::VecDeque;

use mcp_proto::json::{Object, Raw};
use mcp_proto::rpc::{ErrorObject, Method, code};

/// The ids of elicitations whose end the server may still report, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Awaited(VecDeque<Box<str>>);

impl Awaited {
    /// Notes the id of a question, if it has one.
    pub(super) fn asked(&mut self, method: Method<'_>, params: Object<'_>) {
        if method == Method::ElicitationCreate {
            self.note(params);
        }
    }

    /// Notes the ids of the elicitations that an error demands (EL-13).
    pub(super) fn refused(&mut self, error: &ErrorObject<'_>) {
        if error.code != code::URL_ELICITATION_REQUIRED {
            return;
        }
        let data = error.data.and_then(Raw::object);
        let demanded = data.and_then(|data| data.get("elicitations")?.array());
        let demanded = demanded.into_iter().flat_map(|all| all.elements());
        demanded
            .filter_map(Raw::object)
            .for_each(|it| self.note(it));
    }

    /// Returns true unless the notification is `notifications/elicitation/complete` for an
    /// elicitation that is not awaited. Each elicitation ends once.
    pub(super) fn passes(&mut self, method: Method<'_>, params: Option<Object<'_>>) -> bool {
        if method != Method::ElicitationComplete {
            return true;
        }
        let Some(id) = params.and_then(id) else {
            return false;
        };
        let known = self.0.iter().position(|known| **known == *id);
        known.and_then(|at| self.0.remove(at)).is_some()
    }

    fn note(&mut self, params: Object<'_>) {
        let Some(id) = id(params).filter(|id| id.len() <= LONGEST) else {
            return;
        };
        if self.0.iter().any(|known| **known == *id) {
            return;
        }
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(id.into());
    }
}

fn id(params: Object<'_>) -> Option<String> {
    let [id] = params.find(["elicitationId"]).ok()?;
    Some(id?.string()?.to_cow().into_owned())
}

/// A server that asks for more pages than that loses the oldest.
const MOST: usize = 256;
const LONGEST: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// EL-12, EL-13
    #[test]
    fn what_was_asked_for_ends_once() {
        let mut awaited = Awaited::default();
        let object = |text: &'static str| Raw::parse(text.as_bytes(), 8).unwrap().object().unwrap();
        let ends = |awaited: &mut Awaited, text| {
            awaited.passes(Method::ElicitationComplete, Some(object(text)))
        };
        awaited.asked(
            Method::ElicitationCreate,
            object(r#"{"mode":"url","elicitationId":"a"}"#),
        );
        let data = r#"{"elicitations":[{"elicitationId":"b"},{"elicitationId":7},1]}"#;
        let mut error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "sign in");
        error.data = Some(object(data).as_raw());
        awaited.refused(&error);
        assert!(!ends(&mut awaited, r#"{"elicitationId":"c"}"#));
        assert!(!ends(&mut awaited, "{}"));
        assert!(ends(&mut awaited, r#"{"elicitationId":"\u0061"}"#));
        assert!(!ends(&mut awaited, r#"{"elicitationId":"a"}"#));
        assert!(ends(&mut awaited, r#"{"elicitationId":"b"}"#));
        assert!(awaited.passes(Method::Message, None));
        for n in 0..=MOST {
            let params = format!(r#"{{"elicitationId":"{n}"}}"#);
            let params = Raw::parse(params.as_bytes(), 8).unwrap().object().unwrap();
            awaited.asked(Method::ElicitationCreate, params);
        }
        assert!(!ends(&mut awaited, r#"{"elicitationId":"0"}"#));
        assert!(ends(&mut awaited, r#"{"elicitationId":"1"}"#));
    }
}
