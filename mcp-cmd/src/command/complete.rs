//! `complete`: what an argument may be.

use crate::exit::Failure;
use crate::out;
use crate::plain::line;
use crate::session::Session;
use mcp_tokio::mcp_async::model::Reference;

/// Asks for values of an argument, and writes them line by line.
pub(crate) async fn run(
    session: &Session<'_>,
    reference: &str,
    argument: &str,
    context: &[String],
) -> Result<(), Failure> {
    let (argument, prefix) = pair(argument)?;
    let context: Vec<_> = context
        .iter()
        .map(|word| pair(word))
        .collect::<Result<_, _>>()?;
    let reference = if reference.contains([':', '{']) {
        Reference::resource(reference)
    } else {
        Reference::prompt(reference)
    };
    let request = session
        .client
        .complete(&reference, argument, prefix)
        .context(&context);
    let completion = session.wait(request).await?;
    if session.common.json {
        return out::encoded(&completion);
    }
    let values: Vec<_> = completion.values.iter().map(|value| line(value)).collect();
    out::text(&values.join("\n"))?;
    if completion.has_more {
        let of = completion
            .total
            .map(|total| format!(" of {total}"))
            .unwrap_or_default();
        session
            .screen
            .say(format!("({}{of}, there are more)", values.len()));
    }
    Ok(())
}

fn pair(word: &str) -> Result<(&str, &str), Failure> {
    let pair = word.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.ok_or_else(|| Failure::usage(format!("`{word}` is not name=value")))
}
