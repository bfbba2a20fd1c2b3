//! The values that a person gave for the inputs of one file.

use std::collections::HashMap;

use super::hooks::Decision;
use crate::config::{Input, Variables};
use crate::watch::Watch;

/// The inputs of one file that a person was asked for. Another file asks anew, whatever the ids are: its author must not
/// receive what the person gave to this one.
#[derive(Default)]
pub(super) struct Answers(Watch<HashMap<String, Answer>>);

enum Answer {
    Asking,
    Given(Option<String>),
}

impl Answers {
    /// Adds the value of an input to the variables, if a person gives one. Each input is asked for once.
    pub(super) async fn add(
        &self,
        variables: Variables,
        input: &Input,
        hook: &Decision<Input, Option<String>>,
    ) -> Variables {
        let known = self.0.take(|answers| match answers.get(&input.id) {
            None => {
                answers.insert(input.id.clone(), Answer::Asking);
                Some(None)
            }
            // Another server needs it, too.
            Some(Answer::Asking) => None,
            Some(Answer::Given(value)) => Some(Some(value.clone())),
        });
        let value = match known.await {
            Some(value) => value,
            None => {
                let mut asking = Asking {
                    answers: self,
                    id: &input.id,
                    value: None,
                };
                asking.value.insert(hook(input.clone()).await).clone()
            }
        };
        match value {
            Some(value) => variables.input(&input.id, value),
            None => variables,
        }
    }

    /// Returns a text without the values that a person gave.
    pub(super) fn masked(&self, text: String) -> String {
        self.0.read(|answers| {
            answers.values().fold(text, |text, answer| match answer {
                Answer::Given(Some(value)) if !value.is_empty() => text.replace(value, "***"),
                _ => text,
            })
        })
    }
}

/// A person who is asked, until the value is known or the server that waits for it is stopped.
struct Asking<'a> {
    answers: &'a Answers,
    id: &'a str,
    value: Option<Option<String>>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.answers.0.change(|answers| match self.value.take() {
            Some(value) => answers.insert(self.id.to_owned(), Answer::Given(value)),
            None => answers.remove(self.id),
        });
    }
}
