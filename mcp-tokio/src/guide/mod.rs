#![doc = include_str!("links.txt")]
#![doc = include_str!("README.md")]
// The pages tell of features themselves.
#![cfg_attr(docsrs, doc(auto_cfg = false))]

/// A module without items for each page, after the definitions of its links.
macro_rules! pages {
    ($($name:ident)*) => {
        $(
            #[doc = include_str!("links.txt")]
            #[doc = include_str!(concat!(stringify!($name), ".md"))]
            pub mod $name {}
        )*
    };
}

pages! {
    caching
    callbacks
    calls
    choosing
    completion
    composition
    delegated_login
    deploy
    extensions
    files
    first_client
    first_server
    from_rmcp
    gateway
    host
    http
    limits
    logging
    login
    middleware
    processes
    prompts
    protection
    questions
    registration
    remote
    resources
    schemas
    state
    stores
    subscriptions
    tasks
    testing
    tools
    tracing
    transports
    users
}
