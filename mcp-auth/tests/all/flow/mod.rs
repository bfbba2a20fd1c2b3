//! The client's side: scripts of whole flows, each with the rules that it is about.

mod challenges;
mod consent;
mod discovery;
mod grants;
mod hostile;
mod identity;
mod operation;
mod refusals;
mod reported;
mod script;
mod secrets;
mod tokens;
