//! The memory of tasks that run.

use allocation_counter::measure;
use mcp_async::tasks::server::Tasks;

use super::support::{BOTH, client, create, pass, server};
use crate::http_server::support::{modern, request, send};

const TASKS: u64 = 100;

/// The bytes of one task, of many that are created in this way and wait for time.
fn bytes(mut create: impl FnMut()) -> u64 {
    // What all tasks share.
    create();
    pass(0);
    let info = measure(|| {
        (0..TASKS).for_each(|_| create());
        pass(0);
        pass(1000);
    });
    u64::try_from(info.bytes_current).unwrap() / TASKS
}

/// TK-60: it is bounded, and most of it is the handler's and the record's.
#[test]
fn a_task_that_runs_takes_little_memory() {
    let (builder, _) = server(Tasks::new());
    let mut wire = client(&builder);
    let pipe = bytes(|| drop(create(&mut wire, "job", r#"{"steps":1000000}"#)));
    let service = builder.http().into_service().unwrap();
    let params = r#""name":"job","arguments":{"steps":1000000}"#;
    let call = request(1, "tools/call", params);
    let call = call.replace(r#"Capabilities":{}"#, &format!(r#"Capabilities":{BOTH}"#));
    let http = bytes(|| {
        let created = send(&service, modern(&call)).text();
        assert!(created.contains("taskId"), "{created}");
    });
    assert!(pipe < 6 << 10 && http < 12 << 10, "{pipe} {http}");
    crate::sim::end();
}
