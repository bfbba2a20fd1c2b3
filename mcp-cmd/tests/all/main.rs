//! The program as its users meet it: started with words, judged by what it writes and by its exit
//! code. Its server is the example `everything`, or a few lines of shell.

mod answers;
mod endings;
mod hosts;
mod http;
#[cfg(unix)]
mod login;
mod run;
mod serving;
mod tasks;
#[cfg(unix)]
mod terminal;
mod urls;
#[cfg(unix)]
mod watching;
mod wire;
