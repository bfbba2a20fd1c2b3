//! The server as its clients see it.

mod assertions;
mod codes;
mod discovery;
mod proofs;
mod registration;
mod scripted;
mod served;
mod tokens;
mod watched;
