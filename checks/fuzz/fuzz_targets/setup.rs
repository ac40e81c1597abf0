//! Bytes as the JSON document `{"setup": ..., "plan": ...}`: refused with a message, or run.
#![no_main]

#[path = "../../../crates/engine/tests/document/mod.rs"]
mod document;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = serde_json::from_slice(data) {
        document::try_to_run(text);
    }
});
