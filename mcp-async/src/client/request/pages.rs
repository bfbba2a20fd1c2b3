//! Paginated lists.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;
use std::vec;

use futures_core::Stream;
use mcp_proto::rpc::code;

use super::Request;
use super::page::{Listed, Page};
use super::pagination::{NextPage, Pagination};
use crate::client::state::inner::Inner;
use crate::error::CallError;
use crate::model::Cursor;

/// A list of the server, page after page: a stream of its items, or [all](Self::all) of them.
///
/// The next page is asked for when the items of the one before are used up. Cursors go back as
/// they came, and an empty one is a cursor. After an error the stream ends.
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::CallError;
///
/// async fn names(client: &Client) -> Result<(), CallError> {
///     let mut tools = client.tools();
///     while let Some(tool) = tools.next().await {
///         println!("{}", tool?.name);
///     }
///     Ok(())
/// }
/// ```
#[must_use = "a list is requested when it is polled"]
pub struct Pages<'a, T> {
    inner: &'a Arc<Inner>,
    asking: Option<Request<'a, Page<T>>>,
    items: vec::IntoIter<T>,
    pagination: Pagination,
    endless: bool,
    timeout: Option<Duration>,
}

impl<'a, T: Listed> Pages<'a, T> {
    pub(in crate::client) fn new(inner: &'a Arc<Inner>) -> Self {
        let mut pages = Self {
            inner,
            asking: None,
            items: Vec::new().into_iter(),
            pagination: Pagination::new(),
            endless: false,
            timeout: None,
        };
        pages.ask(None);
        pages
    }

    /// Reads so many pages at most, 1,000 otherwise: a list that is longer ends with
    /// [`CallError::PaginationLimit`].
    pub const fn limit(mut self, pages: usize) -> Self {
        self.pagination.limit = pages;
        self
    }

    /// Waits so long for each page, instead of the configured time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self.asking = self.asking.map(|asking| asking.timeout(timeout));
        self
    }

    /// The next item; `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<T, CallError>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// Returns all items, in the server's order.
    ///
    /// If the server does not know a cursor any more, the list changed while it was read; it is
    /// read once more from the start then.
    ///
    /// # Errors
    /// Of the first page that could not be had.
    pub async fn all(mut self) -> Result<Vec<T>, CallError> {
        let mut all = Vec::new();
        let mut again = true;
        while let Some(item) = self.next().await {
            match item {
                Ok(item) => all.push(item),
                Err(CallError::Server(error))
                    if again
                        && error.code == code::INVALID_PARAMS
                        && self.pagination.cursor.is_some() =>
                {
                    again = false;
                    all.clear();
                    self.pagination.restart();
                    self.ask(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    pub(super) fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, CallError>>> {
        loop {
            if let Some(item) = self.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            if core::mem::take(&mut self.endless) {
                return Poll::Ready(Some(Err(CallError::PaginationLimit)));
            }
            let Some(asking) = &mut self.asking else {
                return Poll::Ready(None);
            };
            let page = ready!(asking.poll_raw(cx));
            self.asking = None;
            let page = match page {
                Ok(page) => page,
                Err(error) => {
                    self.pagination
                        .failed::<T>(&self.inner.client_state, &error);
                    return Poll::Ready(Some(Err(error)));
                }
            };
            self.items = page.items.into_iter();
            match self.pagination.turn(page.next) {
                NextPage::At(next) => self.ask(Some(next)),
                NextPage::None => {}
                // The items of this page are still returned.
                NextPage::Endless => self.endless = true,
            }
        }
    }

    fn ask(&mut self, cursor: Option<Cursor>) {
        let mut request = Request::list(self.inner, cursor);
        if let Some(timeout) = self.timeout {
            request = request.timeout(timeout);
        }
        self.asking = Some(request);
    }
}

impl<T: Listed> Stream for Pages<'_, T> {
    type Item = Result<T, CallError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_item(cx)
    }
}

impl<T> Unpin for Pages<'_, T> {}

impl<T> fmt::Debug for Pages<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("pages", &self.pagination.pages)
            .finish_non_exhaustive()
    }
}
