//! Tests of the three roles.

mod flow;
mod login;
mod resource;
