//! The processes of a store in memory, and messages for them.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{StoreError, StoreFuture};

/// The inboxes of the processes that live.
#[derive(Default)]
pub(super) struct Inboxes(Mutex<BTreeMap<String, Inbox>>);

#[derive(Default)]
struct Inbox {
    messages: VecDeque<Vec<u8>>,
    waker: Option<Waker>,
}

impl Inboxes {
    pub(super) fn announce(&self, process: &str) -> Vec<String> {
        let mut inboxes = self.lock();
        inboxes.entry(process.to_owned()).or_default();
        inboxes.keys().cloned().collect()
    }

    pub(super) fn withdraw(&self, process: &str) {
        let gone = self.lock().remove(process);
        gone.and_then(|inbox| inbox.waker)
            .into_iter()
            .for_each(Waker::wake);
    }

    pub(super) fn lives(&self, process: &str) -> bool {
        self.lock().contains_key(process)
    }

    pub(super) fn send(&self, process: &str, message: &[u8]) -> Result<bool, StoreError> {
        let waker = match self.lock().get_mut(process) {
            None => return Ok(false),
            Some(inbox) if inbox.messages.len() >= MAX_MESSAGES => {
                return Err(StoreError::new("the inbox of the process is full"));
            }
            Some(inbox) => {
                inbox.messages.push_back(message.to_vec());
                inbox.waker.take()
            }
        };
        waker.into_iter().for_each(Waker::wake);
        Ok(true)
    }

    pub(super) fn broadcast(&self, from: &str, message: &[u8]) {
        let others: Vec<_> = self.lock().keys().cloned().collect();
        for process in others.iter().filter(|process| *process != from) {
            // A full inbox is passed over.
            let _ = self.send(process, message);
        }
    }

    pub(super) fn receive<'a>(&'a self, process: &'a str) -> StoreFuture<'a, Vec<Vec<u8>>> {
        Box::pin(poll_fn(move |cx| match self.lock().get_mut(process) {
            Some(inbox) if inbox.messages.is_empty() => {
                inbox.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Some(inbox) => Poll::Ready(Ok(inbox.messages.drain(..).collect())),
            None => Poll::Ready(Err(StoreError::new("the process has not been announced"))),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Inbox>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Messages that may wait in an inbox.
const MAX_MESSAGES: usize = 4096;
