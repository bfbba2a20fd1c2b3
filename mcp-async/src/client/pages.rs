//! Paginated lists.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::vec;

use futures_core::Stream;
use mcp_proto::json::Raw;
use mcp_proto::rpc::{Method, code};

use super::ask::Ask;
use super::cache::Kind;
use super::inner::Inner;
use super::request::{Request, whole};
use crate::error::CallError;
use crate::model::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    Prompt, Resource, ResourceTemplate, Tool,
};

/// A list of the server, page after page: a stream of its items, or [all](Self::all) of them.
///
/// The next page is asked for when the items of the one before are used up. Cursors go back as
/// they came (PN-02), and an empty one is a cursor (PN-04). After an error the stream ends.
///
/// ```
/// use mcp_async::client::CallError;
/// use mcp_async::{Client, Runtime};
///
/// async fn names<R: Runtime>(client: &Client<R>) -> Result<(), CallError> {
///     let mut tools = client.tools();
///     while let Some(tool) = tools.next().await {
///         println!("{}", tool?.name);
///     }
///     Ok(())
/// }
/// ```
#[must_use = "a list is requested when it is polled"]
pub struct Pages<'a, T> {
    inner: &'a Inner,
    asking: Option<Request<'a, Page<T>>>,
    items: vec::IntoIter<T>,
    /// Where the page that is being asked for begins.
    cursor: Option<Cursor>,
    pages: usize,
    limit: usize,
    endless: bool,
    timeout: Option<Duration>,
}

/// An item of a list: [`Tool`], [`Prompt`], [`Resource`] and [`ResourceTemplate`], or that of a
/// list of an extension, for [`Client::pages`](super::Client::pages).
pub trait Listed: Sized {
    /// Asks for a page.
    const METHOD: Method<'static>;

    /// Reads the result.
    ///
    /// # Errors
    /// [`CallError::Decode`] for a result that is no page of this list.
    fn page(result: Raw<'_>) -> Result<Page<Self>, CallError>;
}

/// Items, and where the next page begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// What is on this page; it may be empty without being the last one.
    pub items: Vec<T>,
    /// Where the next page begins; `None` on the last one (PN-03).
    pub next: Option<Cursor>,
}

impl<'a, T: Listed> Pages<'a, T> {
    pub(super) fn new(inner: &'a Inner) -> Self {
        let mut pages = Self {
            inner,
            asking: None,
            items: Vec::new().into_iter(),
            cursor: None,
            pages: 0,
            limit: PAGES,
            endless: false,
            timeout: None,
        };
        pages.ask(None);
        pages
    }

    /// Reads so many pages at most, 1,000 otherwise: a list that is longer ends with
    /// [`CallError::PaginationLimit`] (PN-07).
    pub const fn limit(mut self, pages: usize) -> Self {
        self.limit = pages;
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

    /// All items, in the server's order.
    ///
    /// If the server does not know a cursor any more, the list changed while it was read; it is
    /// read once more from the start then (CH-11).
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
                    if again && error.code == code::INVALID_PARAMS && self.cursor.is_some() =>
                {
                    again = false;
                    all.clear();
                    self.pages = 0;
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
                    // A page that is gone takes those that were kept of the same list with it.
                    if let (CallError::Server(_), Some(_), Some(kind)) =
                        (&error, &self.cursor, kind::<T>())
                    {
                        self.inner.client_state.stale(kind, None);
                    }
                    return Poll::Ready(Some(Err(error)));
                }
            };
            self.items = page.items.into_iter();
            self.pages += 1;
            let Some(next) = page.next else { continue };
            if self.cursor.as_ref() == Some(&next) || self.pages >= self.limit {
                // What this page has is still handed out.
                self.endless = true;
            } else {
                self.ask(Some(next));
            }
        }
    }

    fn ask(&mut self, cursor: Option<Cursor>) {
        self.cursor.clone_from(&cursor);
        let mut request = list(self.inner, cursor);
        if let Some(timeout) = self.timeout {
            request = request.timeout(timeout);
        }
        self.asking = Some(request);
    }
}

/// One page of a list.
pub(super) fn list<T: Listed>(inner: &Inner, cursor: Option<Cursor>) -> Request<'_, Page<T>> {
    let ask = Ask::List {
        method: T::METHOD,
        cursor,
    };
    Request::new(inner, ask, T::page)
}

fn kind<T: Listed>() -> Option<Kind> {
    Kind::of(&Ask::List {
        method: T::METHOD,
        cursor: None,
    })
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
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

macro_rules! listed {
    ($($item:ty, $method:ident, $result:ident, $items:ident;)*) => {$(
        impl Listed for $item {
            const METHOD: Method<'static> = Method::$method;

            fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
                let result: $result = whole(result)?;
                Ok(Page {
                    items: result.$items,
                    next: result.next_cursor,
                })
            }
        }
    )*};
}

listed! {
    Tool, ToolsList, ListToolsResult, tools;
    Prompt, PromptsList, ListPromptsResult, prompts;
    Resource, ResourcesList, ListResourcesResult, resources;
    ResourceTemplate, ResourcesTemplatesList, ListResourceTemplatesResult, resource_templates;
}

/// With a hundred items on each page, far more than anyone lists on purpose.
const PAGES: usize = 1_000;
