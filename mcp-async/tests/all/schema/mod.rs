//! JSON Schema: what is made from types, and what checks values by it.

mod form;
mod hostile;
mod roles;
mod typed;
mod validator;
