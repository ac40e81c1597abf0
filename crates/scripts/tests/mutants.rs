//! Scripts with mistakes of every kind: each ends with a table or a message, never with a panic.

use anabranch_scripts::{Script, ScriptChoices, collect, default_transport, read};
use std::panic::catch_unwind;
use std::path::Path;

/// Mutants of each script.
const MUTANTS: u64 = 60;

/// A step of a linear congruential generator (Knuth's MMIX); the upper bits are the random ones.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below.max(1)
}

/// A word or a line is cut out, doubled, exchanged with another one, or made extreme.
fn mutant(text: &str, state: &mut u64) -> String {
    const EXTREMES: [&str; 16] = [
        "0",
        "1",
        "4294967295",
        "65535",
        "99999999999999999999",
        "-1",
        "...",
        "*",
        "+864000",
        "(",
        "]",
        "}%",
        "<",
        "sack",
        "ack",
        "\u{1F980}",
    ];
    let by_line = draw(state, 2) == 0;
    let mut parts: Vec<&str> = if by_line {
        text.split_inclusive('\n').collect()
    } else {
        text.split_inclusive([' ', ',', ':', '(']).collect()
    };
    let (one, other) = (draw(state, parts.len()), draw(state, parts.len()));
    match draw(state, 4) {
        0 => drop(parts.remove(one)),
        1 => parts.insert(one, parts[other]),
        2 => parts.swap(one, other),
        _ => parts[one] = EXTREMES[draw(state, EXTREMES.len())],
    }
    parts.concat()
}

#[test]
fn mutated_scripts_end_without_a_panic() {
    let choices = ScriptChoices::new(default_transport()).expect("a transport");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let (mut state, mut refused, mut played) = (1, 0, 0);
    for path in collect(&[folder]).expect("scripts").into_iter().map(|file| file.path) {
        let original = read(&path).expect("a text");
        for _ in 0..MUTANTS {
            let mut text = mutant(&original, &mut state);
            for _ in 0..draw(&mut state, 3) {
                text = mutant(&text, &mut state);
            }
            let ended = catch_unwind(|| Script::parse(&text, &choices).map(|script| script.play()));
            match ended {
                Ok(Ok(_)) => played += 1,
                Ok(Err(_)) => refused += 1,
                Err(_) => panic!("a mutant of {}:\n{text}", path.display()),
            }
        }
    }
    assert!(played > 1000 && refused > 1000, "{played} played, {refused} refused");
}
