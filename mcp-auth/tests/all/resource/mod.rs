//! The judgement of a protected resource as conversations: a request, what is asked of the caller,
//! and the outcome. Signatures and hashes are made up, so that tokens can be read here.

mod settings;
mod tool;

mod challenges;
mod discovery;
mod hostile;
mod introspection;
mod keys;
mod metadata;
mod proofs;
mod remembered;
mod scopes;
mod tokens;
