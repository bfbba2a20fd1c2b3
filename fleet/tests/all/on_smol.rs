//! Stores in a Redis that the test starts.

use mcp_smol::RedisStore;
use mcp_smol::http::check_session_store;

use crate::redis_server::RedisServer;

#[test]
fn it_is_as_every_store_must_be() {
    let server = RedisServer::start("smol", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    smol::block_on(async {
        check_session_store(&store, "sessions").await.unwrap();
        mcp_smol::mcp_async::tasks::store::check(&store)
            .await
            .unwrap();
    });
}
