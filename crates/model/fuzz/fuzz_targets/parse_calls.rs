//! The parser, the filter and their invariants on any bytes; `crates/model` runs the same entry
//! as a property test, so that every test run exercises it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tenpass_model::calls::fuzz::one(data));
