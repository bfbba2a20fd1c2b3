//! The way through the pages of a list.

use super::page::Listed;
use crate::client::state::ClientState;
use crate::client::state::ask::Ask;
use crate::client::state::cache::Kind;
use crate::error::CallError;
use crate::model::Cursor;

/// The position of a reader in a list.
pub(super) struct Pagination {
    /// The cursor of the page that is requested; `None` for the first one.
    pub(in crate::client) cursor: Option<Cursor>,
    pub(in crate::client) pages: usize,
    /// So many pages are read at most.
    pub(in crate::client) limit: usize,
}

/// The continuation of a list after a page.
pub(super) enum NextPage {
    At(Cursor),
    None,
    /// The list has too many pages, or a cursor came twice in a row (PN-07).
    Endless,
}

impl Pagination {
    pub(in crate::client) const fn new() -> Self {
        Self {
            cursor: None,
            pages: 0,
            limit: PAGES,
        }
    }

    /// Counts a page, after which the list continues at this cursor.
    pub(in crate::client) fn turn(&mut self, next: Option<Cursor>) -> NextPage {
        self.pages += 1;
        match next {
            None => NextPage::None,
            Some(next) if self.cursor.as_ref() == Some(&next) || self.pages >= self.limit => {
                NextPage::Endless
            }
            Some(next) => {
                self.cursor = Some(next.clone());
                NextPage::At(next)
            }
        }
    }

    /// Begins the list anew.
    pub(in crate::client) fn restart(&mut self) {
        self.cursor = None;
        self.pages = 0;
    }

    /// Handles the error of a page: with one that is gone, those that were kept of the same list
    /// are out of date.
    pub(in crate::client) fn failed<T: Listed>(
        &self,
        client_state: &ClientState,
        error: &CallError,
    ) {
        let kind = Kind::of(&Ask::List {
            method: T::METHOD,
            cursor: None,
        });
        if let (CallError::Server(_), Some(_), Some(kind)) = (error, &self.cursor, kind) {
            client_state.stale(kind, None);
        }
    }
}

/// With a hundred items on each page, far more than anyone lists on purpose.
const PAGES: usize = 1_000;
