//! What the server declares of tasks of 2025-11-25.

use mcp_async::tasks::server::Tasks;
use mcp_proto::Revision;

use super::support::{call, client, server};
use crate::scripted::{LineClient, member};
use crate::server_typed::support::revisions;
use crate::tasks::support::{self, about};
use crate::texts::has;

/// TK-01, TK-19
#[test]
fn tasks_are_declared_in_their_revision() {
    let (server, _) = server(Tasks::new());
    for revision in revisions() {
        let declared = LineClient::capabilities(&server, revision);
        let tasks = match revision {
            Revision::V2025_11_25 => r#"{"cancel":{},"requests":{"tools":{"call":{}}}}"#,
            _ => "",
        };
        assert_eq!(member(&declared, &["tasks"]), tasks, "{revision}");
        let mut wire = LineClient::new(&server, revision);
        let tools = wire.ask("tools/list", "{}");
        for (tool, support) in [
            ("0", ""),
            ("1", r#""optional""#),
            ("2", r#""required""#),
            ("3", ""),
        ] {
            let path = ["result", "tools", tool, "execution", "taskSupport"];
            let support = match revision {
                Revision::V2025_11_25 if tool == "0" => r#""optional""#,
                Revision::V2025_11_25 => support,
                _ => "",
            };
            assert_eq!(member(&tools, &path), support, "{tools}");
        }
    }
}

/// TK-03
#[test]
fn without_the_setting_there_are_none() {
    let (server, _) = support::server(Tasks::new());
    let declared = LineClient::capabilities(&server, Revision::V2025_11_25);
    assert_eq!(member(&declared, &["tasks"]), "");
    let mut wire = client(&server);
    let tools = wire.ask("tools/list", "{}");
    assert!(!tools.contains("taskSupport"), "{tools}");
    for tool in ["job", "deferred", "plain"] {
        has(
            &call(&mut wire, tool, "{}", r#"{"ttl":1000}"#),
            [r#""content":[{"#],
        );
    }
    for method in ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"] {
        let refused = about(&mut wire, method, "0");
        assert_eq!(member(&refused, &["error", "code"]), "-32601", "{refused}");
    }
}

/// TK-48
#[test]
fn a_task_of_one_kind_is_unknown_to_the_other() {
    let (server, _) = server(Tasks::new());
    let (mut core, mut extension) = (client(&server), support::client(&server));
    let of_core = super::support::create(&mut core, "job", r#"{"steps":5}"#);
    let of_extension = support::create(&mut extension, "job", r#"{"steps":5}"#);
    for method in ["tasks/get", "tasks/cancel"] {
        for (wire, id) in [(&mut core, &of_extension), (&mut extension, &of_core)] {
            let refused = about(wire, method, id);
            assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
        }
    }
}
