//! Paginated lists.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;
use std::vec;

use futures_core::Stream;
use mcp_proto::Payload;
use mcp_proto::rpc::code;

use super::Request;
use super::page::{Listed, Page};
use super::pagination::{NextPage, Pagination};
use crate::client::state::inner::Inner;
use crate::error::CallError;
use crate::model::Cursor;

/// A list of the server, page after page: a stream of its items, [all](Self::all) of them, or [one page](Self::page).
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
    /// `None` for those of a type without a size, which has no members.
    params: Option<&'a (dyn Payload + Sync)>,
    asking: Option<Request<'a, Page<T>>>,
    items: vec::IntoIter<T>,
    pagination: Pagination,
    endless: bool,
    timeout: Option<Duration>,
}

impl<'a, T: Listed> Pages<'a, T> {
    pub(in crate::client) fn new(inner: &'a Arc<Inner>, params: &'a (dyn Payload + Sync)) -> Self {
        let mut pages = Self {
            inner,
            params: (size_of_val(params) > 0).then_some(params),
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

    /// Requests one page alone: the first, or that at a cursor.
    ///
    /// ```
    /// use mcp_async::client::{CallError, Client, Page};
    /// use mcp_async::model::{Cursor, Tool};
    ///
    /// async fn some(client: &Client, from: Option<Cursor>) -> Result<Page<Tool>, CallError> {
    ///     client.tools().page(from).await
    /// }
    /// ```
    pub fn page(self, cursor: Option<Cursor>) -> Request<'a, Page<T>> {
        self.request(cursor)
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
                        && self.pagination.has_begun() =>
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
        self.asking = Some(self.request(cursor));
    }

    fn request(&self, cursor: Option<Cursor>) -> Request<'a, Page<T>> {
        let request = Request::list(self.inner, self.params, cursor);
        match self.timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        }
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
