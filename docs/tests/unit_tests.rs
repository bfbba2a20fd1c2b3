//! Targets that are compiled without unit tests have none.

use std::fs;
use std::path::Path;

#[test]
fn no_unit_test_is_left_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut checked = 0;
    for package in [
        "docs",
        "examples/authorization-server",
        "examples/everything",
        "examples/tour",
        "interop/drive",
        "mcp-redis-store",
        "mcp-smol",
        "mcp-tokio",
    ] {
        let folder = root.join(package);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("test = false"), "{package}");
        checked += check(&folder.join("src"));
    }
    assert!(checked > 20, "only {checked} files were found");
}

/// Returns how many files were looked at.
fn check(folder: &Path) -> usize {
    let mut checked = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            checked += check(&path);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let has_tests = text.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with("#[test]") || line.starts_with("#[cfg(test)]")
        });
        assert!(
            !has_tests,
            "{} has unit tests that never run",
            path.display()
        );
        checked += 1;
    }
    checked
}
