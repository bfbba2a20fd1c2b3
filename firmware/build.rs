//! Tells the linker where flash and RAM of the board are.

use std::env;

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    for board in ["stm32vldiscovery", "microbit", "netduinoplus2", "sifive_e"] {
        let feature = format!("CARGO_FEATURE_{}", board.to_uppercase());
        if env::var_os(feature).is_some() {
            println!("cargo::rustc-link-search={root}/boards/{board}");
            println!("cargo::rerun-if-changed=boards/{board}");
        }
    }
}
