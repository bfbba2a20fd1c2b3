//! Every target over its committed corpus.

use std::path::Path;

#[test]
fn corpus() {
    for (name, target) in mcp_fuzz_targets::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../corpus")
            .join(name);
        let mut inputs = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            target(&std::fs::read(&path).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has no corpus");
    }
}

/// Each input again with one byte changed, dropped or doubled, at every second place; the place chooses what it is changed to.
#[test]
fn neighbours_of_the_corpus() {
    std::thread::scope(|scope| {
        for (name, target) in mcp_fuzz_targets::TARGETS {
            scope.spawn(move || neighbours(name, target));
        }
    });
}

fn neighbours(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../corpus")
        .join(name);
    for (number, entry) in std::fs::read_dir(&folder).unwrap().enumerate() {
        let input = std::fs::read(entry.unwrap().path()).unwrap();
        for at in (number % 2..input.len().min(400)).step_by(2) {
            for byte in BYTES.iter().skip(at / 2 % STEP).step_by(STEP) {
                let mut changed = input.clone();
                changed[at] = *byte;
                target(&changed);
            }
            let mut dropped = input.clone();
            dropped.remove(at);
            target(&dropped);
            let mut doubled = input.clone();
            doubled.insert(at, input[at]);
            target(&doubled);
            target(&input[..at]);
        }
    }
}

/// Bytes with a meaning in one of the formats that the targets read.
const BYTES: &[u8] = b"\"\\{}[]:,\n\r 0-.e\x00\x80\xff\xd8";

/// Each place gets one in so many of them.
const STEP: usize = 5;

/// Random inputs, alike in every run.
#[test]
fn random_inputs() {
    std::thread::scope(|scope| {
        for (name, target) in mcp_fuzz_targets::TARGETS {
            scope.spawn(move || {
                let mut state = name.len() as u64;
                let mut next = move || {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 33) as usize
                };
                for _ in 0..200 {
                    let length = next() % 400;
                    let input: Vec<u8> = (0..length).map(|_| next() as u8).collect();
                    target(&input);
                }
            });
        }
    });
}
