//! The program as its users meet it: started with words, judged by what it writes and by its exit
//! code. Its server is the example `everything`, or a few lines of shell.

mod answers;
mod endings;
mod hosts;
mod run;
mod tasks;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod watching;
mod wire;
