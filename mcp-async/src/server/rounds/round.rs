//! The state of one call: answers, computed values and open questions.

use core::task::{Context, Waker};
use std::collections::BTreeMap;

use hmac_sha256::Hash as Sha256;
use mcp_proto::json::{MAX_DEPTH, Object, Raw, RawBuf};
use mcp_proto::rpc::Method;
use serde::{Deserialize, Serialize};

use crate::error::ErrorReply;

/// One call, over all of its rounds.
#[derive(Debug, Default)]
pub(in crate::server) struct Round {
    /// The part that travels in the request state.
    pub(in crate::server) carried: Carried,
    /// The questions that are being asked.
    pub(in crate::server) open: Vec<Open>,
    /// The values that are being computed.
    pub(in crate::server) computing: Vec<Computing>,
    /// Answers that the client gave without a state, so to no question in particular.
    offered: Option<RawBuf>,
    /// The keys of those that were taken for answers.
    accepted: Vec<String>,
    /// The errors with which the client has answered questions of a live call.
    refused: BTreeMap<String, (Fingerprint, ErrorReply)>,
    /// The last number of a future that waits.
    numbers: u64,
}

/// The memory of a call between its rounds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::server) struct Carried {
    /// The application's own values.
    #[serde(rename = "v", default)]
    pub(in crate::server) values: BTreeMap<String, RawBuf>,
    /// The values that were computed once.
    #[serde(rename = "c", default)]
    pub(in crate::server) computed: BTreeMap<String, RawBuf>,
    /// The answers that there are.
    #[serde(rename = "a", default)]
    pub(in crate::server) answers: BTreeMap<String, Answer>,
    /// The questions of the last round, by their fingerprints.
    #[serde(rename = "q", default)]
    pub(in crate::server) asked: BTreeMap<String, Fingerprint>,
}

/// An answer, and which question it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::server) struct Answer {
    #[serde(rename = "q")]
    pub(in crate::server) question: Fingerprint,
    #[serde(rename = "r")]
    pub(in crate::server) result: RawBuf,
    /// True if this is the answer of a question of this very round.
    #[serde(skip)]
    pub(in crate::server) used: bool,
}

/// Tells questions apart without keeping them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::server) struct Fingerprint(u64, u64);

/// A question without an answer.
#[derive(Debug)]
pub(in crate::server) struct Open {
    pub(in crate::server) key: String,
    pub(in crate::server) asked: Asked,
    /// A future that does not wait here has made a request of it.
    nested: bool,
    pub(in crate::server) waiting: Waiting,
}

/// A value that is being computed.
#[derive(Debug)]
pub(in crate::server) struct Computing {
    pub(in crate::server) key: String,
    pub(in crate::server) waiting: Waiting,
}

/// The wakers of futures that wait, by their numbers.
#[derive(Debug, Default)]
pub(in crate::server) struct Waiting(Vec<(u64, Waker)>);

/// A question as it is sent.
#[derive(Clone, Debug)]
pub(in crate::server) struct Asked {
    pub(in crate::server) method: Method<'static>,
    pub(in crate::server) params: RawBuf,
    pub(in crate::server) fingerprint: Fingerprint,
}

impl Round {
    /// Continues with the state that the client sent back. Answers to what was not asked are
    /// ignored, and those that are missing are asked for again (MR-14).
    ///
    /// # Errors
    /// An answer stands there twice, or is no object.
    pub(in crate::server) fn resume(
        mut carried: Carried,
        responses: Object<'_>,
    ) -> Result<Self, Malformed> {
        for (key, question) in core::mem::take(&mut carried.asked) {
            let [response] = responses.find([&key]).map_err(|_| Malformed)?;
            let Some(response) = response else { continue };
            response.object().ok_or(Malformed)?;
            let answer = Answer {
                question,
                result: RawBuf::from(response),
                used: false,
            };
            carried.answers.insert(key, answer);
        }
        Ok(Self {
            carried,
            ..Self::default()
        })
    }

    /// Begins with answers to questions that the client knows will come. It would give the same
    /// ones if it were asked first; those to anything else are ignored (MR-14).
    pub(in crate::server) fn offered(responses: Object<'_>) -> Self {
        Self {
            offered: Some(RawBuf::from(responses.as_raw())),
            ..Self::default()
        }
    }

    /// Takes what was offered under this key for the answer to this question, once.
    pub(in crate::server) fn accept(&mut self, key: &str, question: Fingerprint) {
        let Some(responses) = self.offered.as_ref().and_then(|all| all.as_raw().object()) else {
            return;
        };
        let Ok([Some(response)]) = responses.find([key]) else {
            return;
        };
        if response.object().is_none() || self.accepted.iter().any(|accepted| accepted == key) {
            return;
        }
        self.accepted.push(key.to_owned());
        let answer = Answer {
            question,
            result: RawBuf::from(response),
            used: false,
        };
        self.carried.answers.insert(key.to_owned(), answer);
    }

    /// A number for a waiting task.
    pub(in crate::server) const fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(in crate::server) fn find_open(&mut self, key: &str) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.key == key)
    }

    /// Remembers that this question has the key, for as long as the call runs. Returns whether
    /// another question has had it.
    pub(in crate::server) fn is_key_of_another(
        &mut self,
        key: &str,
        question: Fingerprint,
    ) -> bool {
        let asked = &mut self.carried.asked;
        *asked.entry(key.to_owned()).or_insert(question) != question
    }

    /// Takes this for the answer to the question of this key, which is open, or was withdrawn and may
    /// be asked again (TK-39). Returns the tasks that wait for it; `None` if there is no such
    /// question, or it has an answer.
    pub(in crate::server) fn answer(&mut self, key: &str, result: RawBuf) -> Option<Waiting> {
        let open = self.find_open(key).map(|open| open.asked.fingerprint);
        let question = match open {
            Some(question) => question,
            None if self.carried.answers.contains_key(key) => return None,
            None => *self.carried.asked.get(key)?,
        };
        let answer = Answer {
            question,
            result,
            used: false,
        };
        self.carried.answers.insert(key.to_owned(), answer);
        Some(self.close(key))
    }

    /// Takes this for the answer to the open question of this key. Returns the tasks that wait for
    /// it; `None` if there is no such question.
    pub(in crate::server) fn refuse(&mut self, key: &str, error: ErrorReply) -> Option<Waiting> {
        let question = self.find_open(key)?.asked.fingerprint;
        self.refused.insert(key.to_owned(), (question, error));
        Some(self.close(key))
    }

    /// The error with which the client has answered this question.
    pub(in crate::server) fn refusal(
        &self,
        key: &str,
        question: Fingerprint,
    ) -> Option<&ErrorReply> {
        let (refused, error) = self.refused.get(key)?;
        (*refused == question).then_some(error)
    }

    /// Asks this question.
    pub(in crate::server) fn ask(&mut self, key: &str, asked: Asked, nested: bool) {
        self.refused.remove(key);
        self.open.push(Open::new(key, asked, nested));
    }

    pub(in crate::server) fn find_computing(&mut self, key: &str) -> Option<&mut Computing> {
        self.computing.iter_mut().find(|value| value.key == key)
    }

    /// A future that asks was dropped; without the last one the question is withdrawn.
    pub(in crate::server) fn leave(&mut self, key: &str, number: u64) -> Option<Waker> {
        let open = self.find_open(key)?;
        let waker = open.waiting.leave(number);
        if open.waiting.is_empty() && !open.nested {
            self.open.retain(|open| open.key != key);
        }
        waker
    }

    /// This is no longer asked; returns the tasks that wait for the answer.
    pub(in crate::server) fn close(&mut self, key: &str) -> Waiting {
        let found = self.open.iter().position(|open| open.key == key);
        found.map_or_else(Waiting::default, |at| self.open.swap_remove(at).waiting)
    }

    /// This is no longer computed; returns the tasks that wait for the value.
    pub(in crate::server) fn computed(&mut self, key: &str) -> Waiting {
        let found = self.computing.iter().position(|value| value.key == key);
        found.map_or_else(Waiting::default, |at| {
            self.computing.swap_remove(at).waiting
        })
    }

    /// All waiting tasks.
    pub(in crate::server) fn wakers(&mut self) -> impl Iterator<Item = Waker> + '_ {
        let questions = self.open.iter_mut().map(|open| &mut open.waiting);
        let values = self.computing.iter_mut().map(|value| &mut value.waiting);
        questions
            .chain(values)
            .flat_map(|waiting| core::mem::take(&mut waiting.0))
            .map(|(_, waker)| waker)
    }
}

impl Open {
    fn new(key: &str, asked: Asked, nested: bool) -> Self {
        Self {
            key: key.to_owned(),
            asked,
            nested,
            waiting: Waiting::default(),
        }
    }
}

impl Waiting {
    /// Wakes the task in time. The returned waker has to be dropped outside of the lock.
    pub(in crate::server) fn join(&mut self, number: u64, cx: &Context<'_>) -> Option<Waker> {
        match self.0.iter_mut().find(|(other, _)| *other == number) {
            Some((_, waker)) if waker.will_wake(cx.waker()) => None,
            Some((_, waker)) => Some(core::mem::replace(waker, cx.waker().clone())),
            None => {
                self.0.push((number, cx.waker().clone()));
                None
            }
        }
    }

    fn leave(&mut self, number: u64) -> Option<Waker> {
        let at = self.0.iter().position(|(other, _)| *other == number)?;
        Some(self.0.swap_remove(at).1)
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Call it outside of the lock.
    pub(in crate::server) fn wake(self) {
        self.0.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

impl Carried {
    /// Decodes the body of a state; `None` if the bytes are not one.
    pub(in crate::server) fn decode(body: &[u8]) -> Option<Self> {
        Raw::parse(body, MAX_DEPTH).ok()?.decode(&mut []).ok()
    }

    /// Roughly the bytes that it takes.
    pub(in crate::server) fn len(&self) -> usize {
        let values = self.values.iter().chain(&self.computed);
        let answers = self
            .answers
            .iter()
            .map(|(key, answer)| (key, &answer.result));
        values
            .chain(answers)
            .map(|(key, value)| key.len() + value.as_raw().as_bytes().len() + ENTRY)
            .sum()
    }
}

impl Asked {
    pub(in crate::server) fn new(method: Method<'static>, params: RawBuf) -> Self {
        let mut hash = Sha256::new();
        hash.update(method.name().to_cow().as_bytes());
        hash.update([0]);
        hash.update(params.as_raw().as_bytes());
        let hash = hash.finalize();
        let word = |at: usize| {
            let bytes = hash.iter().skip(at).take(8);
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        Self {
            method,
            params,
            fingerprint: Fingerprint(word(0), word(8)),
        }
    }
}

/// The client's answers are invalid.
#[derive(Debug)]
pub(in crate::server) struct Malformed;

/// A key and a value take some bytes more than their own.
const ENTRY: usize = 8;
