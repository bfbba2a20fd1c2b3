//! Calls that a server refuses until a person has visited some pages (EL-13).

use super::ask::ask;
use super::exit::Failure;
use super::menu::menu;
use super::page::visit;
use super::session::Session;
use mcp_tokio::ErrorReply;
use mcp_tokio::model::ElicitAction;

/// Shows the person the pages that the error names, if it is such an error and there is a
/// person; says whether the call shall be made again.
pub(crate) async fn visited(session: &Session<'_>, failure: &Failure) -> Result<bool, Failure> {
    let pages = failure
        .reply
        .as_ref()
        .map(ErrorReply::url_elicitations)
        .unwrap_or_default();
    if pages.is_empty() || !session.screen.can_ask() {
        return Ok(false);
    }
    let asked = ask(session.screen.clone(), move || {
        for page in &pages {
            if visit(page, "The server")?.action != ElicitAction::Accept {
                return Ok(false);
            }
        }
        let again = ["Call the tool again", "Give up"];
        Ok(menu("When that is done:", &again, 0)? == Some(0))
    });
    Ok(session.interrupt.or(asked).await?.unwrap_or(false))
}
