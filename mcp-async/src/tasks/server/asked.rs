//! The questions that clients are asked now.

use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::lock::lock;

/// The questions of tasks that this process asks now, so that two requests for the result of one
/// task do not ask twice.
#[derive(Default)]
pub(super) struct AskedQuestions(Mutex<HashMap<Question, Asker>>);

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
    is_wanted: bool,
    waker: Option<Waker>,
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
        let session = {
            let asked = &mut *self.lock();
            let Some(asker) = asked.get_mut(&question) else {
                let asker = Asker {
                    client,
                    is_session,
                    is_wanted: false,
                    waker: None,
                };
                asked.insert(question.clone(), asker);
                return Some(AskedQuestion {
                    all: Arc::clone(self),
                    question,
                });
            };
            asker.is_wanted |= asker.is_session && !is_session && asker.client != client;
            asker.waker.take_if(|_| asker.is_wanted)
        };
        session.into_iter().for_each(Waker::wake);
        None
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Question, Asker>> {
        lock(&self.0)
    }
}

/// A question that is being asked, until this is dropped.
pub(super) struct AskedQuestion {
    all: Arc<AskedQuestions>,
    question: Question,
}

impl AskedQuestion {
    /// Ready when a session is to leave the question to a request for the result.
    pub(super) fn poll_wanted(&self, cx: &Context<'_>) -> Poll<()> {
        let _replaced = {
            let asked = &mut *self.all.lock();
            let Some(asker) = asked.get_mut(&self.question) else {
                return Poll::Pending;
            };
            if asker.is_wanted {
                return Poll::Ready(());
            }
            asker.waker.replace(cx.waker().clone())
        };
        Poll::Pending
    }
}

impl Drop for AskedQuestion {
    fn drop(&mut self) {
        let _asker = self.all.lock().remove(&self.question);
    }
}
