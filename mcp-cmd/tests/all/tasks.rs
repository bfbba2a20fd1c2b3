//! Calls that become tasks.

use super::run::everything;

/// TK-31
#[test]
fn a_call_follows_its_task() {
    let words = ["call", "slow_compute", "seconds=0.3", "label=sum"];
    let ran = everything(&words);
    let states: Vec<_> = ran.err.lines().collect();
    assert_eq!(states, ["working", "completed"], "{ran:?}");
    assert_eq!(ran.good(), "computed sum in 0.3 s\n");

    let quiet = everything(&[&words[..], &["--quiet"]].concat());
    assert_eq!(quiet.err, "");
    assert_eq!(quiet.good(), "computed sum in 0.3 s\n");

    let json = everything(&[&words[..], &["--json"]].concat());
    assert_eq!(json.member("content.0.text"), "\"computed sum in 0.3 s\"");

    // Other revisions have no such tasks.
    let plain = everything(&[&words[..], &["--revisions", "2025-06-18"]].concat());
    assert_eq!(plain.err, "");
    assert_eq!(plain.good(), "computed sum in 0.3 s\n");
}

#[test]
fn a_task_ends_as_its_call_would() {
    everything(&["call", "failing_job"]).ended(1, "the tool failed: the job has failed");
    let failed = everything(&["call", "protocol_error_job"]);
    failed.ended(4, "failed the job has failed");
    failed.ended(4, "(code -32603)");
    let failed = everything(&["call", "protocol_error_job", "--json"]);
    assert_eq!(failed.code, Some(4));
    assert_eq!(failed.member("error.code"), "-32603");
}

#[test]
fn without_a_terminal_questions_of_a_task_are_declined() {
    let ran = everything(&["call", "confirm_delete", "filename=a.txt"]);
    for part in [
        "input_required",
        "everything asks: Delete a.txt? (declined: there is no terminal",
    ] {
        assert!(ran.err.contains(part), "{part} is not in: {}", ran.err);
    }
    assert_eq!(ran.good(), "a.txt is kept\n");
}
