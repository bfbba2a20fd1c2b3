//! The list of tools, read before a call.

use core::task::{Context, Poll, ready};
use std::sync::Arc;

use super::Request;
use super::page::Page;
use super::pagination::{NextPage, Pagination};
use crate::client::state::inner::Inner;
use crate::model::Tool;

/// The list of tools, which is read for what the client learns from it.
pub(super) struct Listing<'a> {
    request: Request<'a, Page<Tool>>,
    pagination: Pagination,
}

impl<'a> Listing<'a> {
    pub(super) fn new(inner: &'a Arc<Inner>) -> Self {
        Self {
            request: Request::list(inner, None, None),
            pagination: Pagination::new(),
        }
    }

    /// Ready after the last page, or after one that could not be read.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let inner = self.request.inner;
            let next = match ready!(self.request.poll_raw(cx)) {
                Ok(page) => self.pagination.turn(page.next),
                Err(error) => {
                    self.pagination.failed::<Tool>(&inner.client_state, &error);
                    NextPage::None
                }
            };
            match next {
                NextPage::At(cursor) => self.request = Request::list(inner, None, Some(cursor)),
                NextPage::None | NextPage::Endless => return Poll::Ready(()),
            }
        }
    }
}
