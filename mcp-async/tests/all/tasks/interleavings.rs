//! Tasks of two processes, in many orders of events.

use core::time::Duration;
use std::collections::HashMap;

use mcp_async::tasks::server::Tasks;

use super::stores::{Fault, Hostile};
use super::support::{about, accept, client, pass, server, status};
use crate::scripted::{LineClient, member, text};
use crate::sim::Dice;

/// TK-08, TK-42, TK-61: whatever happens in which order, and whenever the store fails: an end of a
/// task stays, and only tasks that have not ended have a handler.
#[test]
fn a_task_ends_once() {
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let store = Hostile::new(Fault::Lies, usize::MAX / 2);
        let tasks = || {
            Tasks::new()
                .store(store.clone())
                .ttl(Some(Duration::from_secs(3)))
                .store_timeout(Duration::from_millis(50))
        };
        let (first, running) = server(tasks());
        let (second, _) = server(tasks());
        let mut wires = [client(&first), client(&second)];
        let mut ids: Vec<String> = Vec::new();
        let mut ends: HashMap<String, String> = HashMap::new();
        for _ in 0..40 {
            let wire = &mut wires[usize::try_from(dice.below(2)).unwrap()];
            let known = ids.len() as u64;
            let any = usize::try_from(dice.below(known.max(1))).unwrap();
            match (dice.below(7), ids.get(any).cloned()) {
                (0, _) | (_, None) => {
                    let steps = dice.below(4);
                    let ask = dice.below(3);
                    let params =
                        format!(r#"{{"name":"job","arguments":{{"steps":{steps},"ask":{ask}}}}}"#);
                    // The first process runs the handlers, so that they can be counted.
                    let created = wires[0].ask("tools/call", &params);
                    if !member(&created, &["result"]).is_empty() {
                        ids.push(text(&created, &["result", "taskId"]));
                    }
                }
                (1, Some(id)) => drop(about(wire, "tasks/cancel", &id)),
                (2 | 3, Some(id)) => {
                    let key = format!("q{}", dice.below(3));
                    let answers = accept(&key, "yes");
                    let params = format!(r#"{{"taskId":"{id}","inputResponses":{{{answers}}}}}"#);
                    wire.ask("tasks/update", &params);
                }
                (4, _) => store.fail_after(usize::try_from(dice.below(5)).unwrap()),
                (5, _) => store.heal(),
                _ => pass(dice.below(300)),
            }
            look(&mut wires[0], &ids, &mut ends);
        }
        store.heal();
        for _ in 0..6 {
            pass(500);
            look(&mut wires[0], &ids, &mut ends);
        }
        pass(500);
        assert_eq!(running.get(), 0, "seed {seed}");
        crate::sim::end();
    }
}

fn look(wire: &mut LineClient, ids: &[String], ends: &mut HashMap<String, String>) {
    for id in ids {
        let status = status(wire, id);
        if matches!(&*status, "completed" | "failed" | "cancelled") {
            let end = ends.entry(id.clone()).or_insert_with(|| status.clone());
            assert_eq!(*end, status);
        }
    }
}
