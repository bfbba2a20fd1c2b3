//! The questions that clients are asked now.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The questions of tasks that this process asks now, so that two requests for the result of one
/// task do not ask twice.
#[derive(Default)]
pub(in super::super) struct AskedQuestions(Mutex<HashSet<Question>>);

/// The id of a task, and the key of a question of it.
type Question = (String, String);

impl AskedQuestions {
    /// Begins to ask a question; `None` if it is being asked.
    pub(super) fn begin(self: &Arc<Self>, id: &str, key: &str) -> Option<AskedQuestion> {
        let question = (id.to_owned(), key.to_owned());
        let is_new = self.lock().insert(question.clone());
        is_new.then(|| AskedQuestion {
            all: Arc::clone(self),
            question,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Question>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that is being asked, until this is dropped.
pub(super) struct AskedQuestion {
    all: Arc<AskedQuestions>,
    question: Question,
}

impl Drop for AskedQuestion {
    fn drop(&mut self) {
        self.all.lock().remove(&self.question);
    }
}
