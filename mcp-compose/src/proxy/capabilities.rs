//! The capabilities of callers that pass the proxy.

use mcp_async::model::ClientFeatures;

/// Returns those capabilities of a caller whose questions the proxy passes on.
pub(super) fn relayed(declared: ClientFeatures) -> ClientFeatures {
    let relayed = RELAYED.iter().filter(|one| declared.contains(**one));
    relayed.fold(ClientFeatures::NONE, |all, one| all.with(*one))
}

/// The capabilities whose questions the proxy passes on.
pub(super) const RELAYED: [ClientFeatures; 6] = [
    ClientFeatures::ROOTS,
    ClientFeatures::SAMPLING,
    ClientFeatures::SAMPLING_CONTEXT,
    ClientFeatures::SAMPLING_TOOLS,
    ClientFeatures::ELICITATION_FORM,
    ClientFeatures::ELICITATION_URL,
];
