//! The program that shows a login.

use std::process::Command;

/// What it prints, without ports.
fn watch(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_login"))
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that requests with these paths are printed in this order.
fn check_order(printed: &str, paths: &[&str]) {
    let mut rest = printed;
    for path in paths {
        let found = rest.split_once(&format!("{path}\n"));
        (_, rest) = found.unwrap_or_else(|| panic!("no {path} in {rest}"));
    }
}

#[test]
fn since_2025_06_18() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let printed = watch(&["--revision", revision]);
        let paths = [
            "/mcp",
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/register",
            "/authorize",
            "/token",
            "/mcp",
        ];
        check_order(&printed, &paths);
        assert!(printed.contains("alice"), "{printed}");
        assert!(printed.contains("    iss = http://127.0.0.1:"), "{printed}");
    }
}

/// The sequence of 2025-03-26, with metadata of the authorization server and without.
#[test]
fn in_2025_03_26() {
    let metadata = "/.well-known/oauth-authorization-server";
    let all = [
        "/mcp",
        metadata,
        "/register",
        "/authorize",
        "/token",
        "/mcp",
    ];
    let printed = watch(&["--revision", "2025-03-26"]);
    check_order(&printed, &all);
    let printed = watch(&["--revision", "2025-03-26", "--no-metadata"]);
    check_order(&printed, &all);
    let (_, answer) = printed.split_once(&format!("{metadata}\n")).unwrap();
    let (answer, _) = answer.split_once("\n\n").unwrap();
    assert!(answer.ends_with("-> 404 Not Found"), "{answer}");
}

/// The server is the authorization server, and its users log in at a provider without registration.
#[test]
fn delegated_in_every_revision() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let printed = watch(&["--delegate", "--revision", revision]);
        let paths = [
            "/mcp",
            "/.well-known/oauth-authorization-server",
            "/register",
            "/authorize",
            "/.well-known/openid-configuration",
            "/consent",
            "/authorize",
            "/token",
            "/callback",
            "/token",
            "/mcp",
        ];
        check_order(&printed, &paths);
        assert!(printed.contains("alice"), "{printed}");
    }
}

#[test]
fn with_proofs() {
    let printed = watch(&["--dpop"]);
    assert!(printed.contains("  authorization: DPoP "), "{printed}");
}

/// Secrets are shortened: no word is as long as one.
#[test]
fn without_whole_secrets() {
    let printed = [watch(&["--dpop"]), watch(&["--delegate"])].concat();
    for line in printed.lines() {
        for name in [
            "code",
            "state",
            "code_verifier",
            "authorization:",
            "dpop:",
            "request",
        ] {
            let mut words = line.split_whitespace();
            if words.next() == Some(name) {
                assert!(words.all(|word| word.len() <= 10), "{line}");
            }
        }
    }
}
