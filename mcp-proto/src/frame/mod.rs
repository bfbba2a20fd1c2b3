//! Where one message ends and the next begins. Nothing here has heard of JSON.

pub mod line;
pub mod sse;
