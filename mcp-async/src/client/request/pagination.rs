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
    pub(super) cursor: Option<Cursor>,
    pub(super) pages: usize,
    /// So many pages are read at most.
    pub(super) limit: usize,
}

/// The continuation of a list after a page.
pub(super) enum NextPage {
    At(Cursor),
    None,
    /// The list has too many pages, or a cursor came twice in a row.
    Endless,
}

impl Pagination {
    pub(super) const fn new() -> Self {
        Self {
            cursor: None,
            pages: 0,
            limit: PAGES,
        }
    }

    /// Counts a page, after which the list continues at this cursor.
    pub(super) fn turn(&mut self, next: Option<Cursor>) -> NextPage {
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
    pub(super) fn restart(&mut self) {
        self.cursor = None;
        self.pages = 0;
    }

    /// Handles the error of a page: with one that is gone, those that were kept of the same list
    /// are out of date.
    pub(super) fn failed<T: Listed>(&self, client_state: &ClientState, error: &CallError) {
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
