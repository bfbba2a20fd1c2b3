//! Drives the program with the notes server, which is there when the whole workspace is tested.

use std::path::Path;
use std::process::Command;

#[test]
fn it_ends_by_itself() {
    let program = env!("CARGO_BIN_EXE_host-smol");
    let notes = format!("notes{}", std::env::consts::EXE_SUFFIX);
    let notes = Path::new(program).with_file_name(notes);
    let output = Command::new(program).arg(notes).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for line in [
        "tool add",
        r#"added {"body":"buy","id":1,"#,
        "changed note:///index",
        "progress 1",
        "gave up",
        r#"{"deleted":true}"#,
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}
