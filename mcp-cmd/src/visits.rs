//! Calls that a server refuses until a person has visited some pages (EL-13).

use serde::Deserialize;

use super::ask::ask;
use super::exit::Failure;
use super::menu::menu;
use super::page::visit;
use super::session::Session;
use mcp_tokio::code;
use mcp_tokio::mcp_async::model::{ElicitAction, ElicitUrlParams};

/// Shows the person the pages that the error names, if it is such an error and there is a
/// person; says whether the call shall be made again.
pub(crate) async fn visited(session: &Session<'_>, failure: &Failure) -> Result<bool, Failure> {
    let pages = pages(failure);
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

fn pages(failure: &Failure) -> Vec<ElicitUrlParams> {
    let reply = failure.reply.as_ref();
    let reply = reply.filter(|reply| reply.code == code::URL_ELICITATION_REQUIRED);
    let data = reply.and_then(|reply| reply.data.as_ref());
    let wanted: Option<Wanted> = data.and_then(|data| data.decode().ok());
    wanted.map(|wanted| wanted.elicitations).unwrap_or_default()
}

#[derive(Deserialize)]
struct Wanted {
    elicitations: Vec<ElicitUrlParams>,
}

#[cfg(test)]
mod tests {
    use super::super::exit::Exit;
    use super::*;
    use mcp_tokio::ErrorReply;
    use mcp_tokio::json::RawBuf;

    /// EL-13.
    #[test]
    fn pages_of_an_error() {
        let check = |code: i64, data: &str, expected: usize| {
            let failure = Failure {
                reply: Some(ErrorReply {
                    data: RawBuf::parse(data).ok(),
                    ..ErrorReply::new(code, "first visit a page")
                }),
                ..Failure::new(Exit::Server, "")
            };
            assert_eq!(pages(&failure).len(), expected, "{data}");
        };
        let page = r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"1"}"#;
        check(-32042, &format!("{{\"elicitations\":[{page}]}}"), 1);
        check(-32042, "{\"elicitations\":[{}]}", 0);
        check(-32042, "[]", 0);
        check(-32602, &format!("{{\"elicitations\":[{page}]}}"), 0);
    }
}
