#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| mcp_fuzz_targets::fixed_storage(input));
