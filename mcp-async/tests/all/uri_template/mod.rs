//! URI templates: the examples of RFC 6570, malformed templates, matching, hostile URIs, and that
//! matching undoes expansion.

mod examples;
mod malformed;
mod matching;
mod properties;
