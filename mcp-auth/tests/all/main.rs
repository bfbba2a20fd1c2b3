//! Tests of both roles.

mod flow;
mod resource;
