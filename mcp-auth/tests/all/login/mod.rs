//! An authorization server whose users log in at a provider: clients, browsers and providers as scripts, a store in
//! memory, and arithmetic in place of cryptography.

mod attacks;
mod clients;
mod ends;
mod logins;
mod providers;
mod races;
mod remembered;
mod world;
