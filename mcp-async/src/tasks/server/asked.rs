//! The questions that clients are asked now.

use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::Signal;
use crate::sync::Lock;

/// The questions of tasks that this process asks now, so that two requests for the result of one
/// task do not ask twice.
#[derive(Default)]
pub(super) struct AskedQuestions(Lock<HashMap<Question, Asker>>);

/// The id of a task, and the key of a question of it.
type Question = (String, String);

/// The address of a connection, which tells it from others.
pub(super) type Connection = usize;

/// The request or the session that asks a question.
struct Asker {
    client: Connection,
    /// Not on behalf of a request for the result.
    is_session: bool,
    /// A request for the result wants to ask it.
    wanted: Arc<Signal>,
}

impl AskedQuestions {
    /// Begins to ask a question; `None` if it is being asked. A session leaves it then to a request
    /// for the result of another connection, whose user may be there.
    pub(super) fn begin(
        self: &Arc<Self>,
        (id, key): (&str, &str),
        client: Connection,
        is_session: bool,
    ) -> Option<AskedQuestion> {
        let question = (id.to_owned(), key.to_owned());
        let left = {
            let asked = &mut *self.0.lock();
            let Some(asker) = asked.get(&question) else {
                let wanted = Arc::new(Signal::default());
                let asker = Asker {
                    client,
                    is_session,
                    wanted: Arc::clone(&wanted),
                };
                asked.insert(question.clone(), asker);
                return Some(AskedQuestion {
                    all: Arc::clone(self),
                    question,
                    wanted,
                });
            };
            let leaves = asker.is_session && !is_session && asker.client != client;
            leaves.then(|| Arc::clone(&asker.wanted))
        };
        if let Some(wanted) = left {
            wanted.set();
        }
        None
    }
}

/// A question that is being asked, until this is dropped.
pub(super) struct AskedQuestion {
    all: Arc<AskedQuestions>,
    question: Question,
    wanted: Arc<Signal>,
}

impl AskedQuestion {
    /// Waits until a session is to leave the question to a request for the result.
    pub(super) async fn wanted(&self) {
        self.wanted.wait().await;
    }
}

impl Drop for AskedQuestion {
    fn drop(&mut self) {
        let _asker = self.all.0.lock().remove(&self.question);
    }
}
