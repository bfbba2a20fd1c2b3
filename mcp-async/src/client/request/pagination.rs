//! The way through the pages of a list.

use super::page::Listed;
use crate::client::state::ClientState;
use crate::client::state::ask::Ask;
use crate::client::state::cache::Kind;
use crate::error::CallError;
use crate::model::Cursor;

/// The position of a reader in a list.
pub(super) struct Pagination {
    /// The cursors of the pages that were requested; the first page has none.
    cursors: Vec<Cursor>,
    pub(super) pages: usize,
    /// So many pages are read at most.
    pub(super) limit: usize,
}

/// The continuation of a list after a page.
pub(super) enum NextPage {
    At(Cursor),
    None,
    /// The list has too many pages, or a cursor came twice.
    Endless,
}

impl Pagination {
    pub(super) const fn new() -> Self {
        Self {
            cursors: Vec::new(),
            pages: 0,
            limit: PAGES,
        }
    }

    /// Counts a page, after which the list continues at this cursor.
    pub(super) fn turn(&mut self, next: Option<Cursor>) -> NextPage {
        self.pages += 1;
        match next {
            None => NextPage::None,
            Some(next) if self.cursors.contains(&next) || self.pages >= self.limit => {
                NextPage::Endless
            }
            Some(next) => {
                self.cursors.push(next.clone());
                NextPage::At(next)
            }
        }
    }

    /// Returns true if a page after the first one is requested.
    pub(super) const fn has_begun(&self) -> bool {
        !self.cursors.is_empty()
    }

    /// Begins the list anew.
    pub(super) fn restart(&mut self) {
        self.cursors.clear();
        self.pages = 0;
    }

    /// Handles the error of a page: with one that is gone, those that were kept of the same list
    /// are out of date.
    pub(super) fn failed<T: Listed>(&self, client_state: &ClientState, error: &CallError) {
        let kind = Kind::of(&Ask::List {
            method: T::METHOD,
            params: None,
            cursor: None,
        });
        if let (CallError::Server(_), true, Some(kind)) = (error, self.has_begun(), kind) {
            client_state.stale(kind, None);
        }
    }
}

/// With a hundred items on each page, far more than anyone lists on purpose.
const PAGES: usize = 1_000;
