//! Text as a quantity with a unit, of every kind: a value or a message, never a panic. A value that is
//! accepted is accepted again with space around it, and is the same.
#![no_main]

use anabranch_units::{parse_bytes, parse_count, parse_rate, parse_span, parse_speed};
use libfuzzer_sys::fuzz_target;
use std::fmt::{Debug, Display};

fn check<T: PartialEq + Debug, E: Display>(text: &str, parse: impl Fn(&str) -> Result<T, E>) {
    match parse(text) {
        Ok(value) => {
            let spaced = parse(&format!(" {text} "));
            assert!(spaced.is_ok_and(|again| again == value), "{text:?} with space around it");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check(text, parse_span);
    check(text, parse_rate);
    check(text, parse_bytes);
    check(text, parse_count);
    check(text, parse_speed);
});
