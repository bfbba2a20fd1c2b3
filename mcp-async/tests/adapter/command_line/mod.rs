//! The example `client` as its users meet it: started with words, judged by what it writes and
//! by its exit code. Its server is the example `everything`, or a few lines of shell.
//!
//! Cargo builds the examples before it runs all tests of a package; after `--test client` alone
//! they are as old as they are.

mod answers;
mod endings;
mod hosts;
mod run;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod watching;
mod wire;
