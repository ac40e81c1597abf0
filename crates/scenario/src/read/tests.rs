//! What is read, and what is said of what is not; the words are those of earlier versions.

use crate::network::Network;
use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Quantity, Read};
use crate::toml_text::parse;
use crate::traffic::Traffic;
use anabranch_units::{Bytes, Rate, Span};

fn document(text: &str) -> Node {
    parse(text).expect("TOML")
}

/// What is wrong with the network of a text.
fn told(text: &str) -> Vec<String> {
    let mut problems = Problems::default();
    let _ = Network::read(&document(text), &Place::Top.key("network"), &mut problems);
    problems.into_told().iter().map(ToString::to_string).collect()
}

#[test]
fn quantities_are_written_as_people_write_them() {
    assert_eq!(Span::from_ps(1_125_000_000).text(), "1.125 ms");
    assert_eq!(Span::from_ps(1_125_000_001).text(), "1125000.001 ns");
    assert_eq!(Rate::from_bps(2_500_000_000).text(), "2.5 Gbps");
    assert_eq!(Bytes(1460).text(), "1460 B");
    assert_eq!(Bytes(65_536).text(), "64 KiB");
}

#[test]
fn every_mistake_of_a_table_is_told_in_the_order_of_its_fields() {
    let lines = told("[links]\ndelay = 5\ncapacity = \"10\"\ncapcity = 1\nweight = -3\n");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("network.links.capacity: \"10\" has no unit"));
    assert!(lines[1].starts_with("network.links.delay: \"5\" has no unit"));
    assert_eq!(lines[2], "network.links.weight: -3 must be at least 1");
    assert_eq!(lines[3], "network.links.capcity: no such key; nearest: \"capacity\"");
}

#[test]
fn numbers_beyond_their_type_are_told_with_the_bounds_of_the_field() {
    let most = u32::MAX;
    let huge = "9".repeat(60);
    for weight in ["4294967296", huge.as_str()] {
        let lines = told(&format!("links = {{ weight = {weight} }}"));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].ends_with(&format!("must be at most {most}")), "{lines:?}");
    }
    assert_eq!(told("links = { weight = 1.0 }"), ["network.links.weight: 1.0 is not a whole number"]);
}

#[test]
fn what_does_not_go_together_is_told_where_all_fields_are_right() {
    assert_eq!(
        told("[[link]]\nbetween = [\"a\", \"a\"]\n"),
        ["network.link[0].between: names \"a\" twice; a link joins two nodes"]
    );
    assert_eq!(told("[[link]]\nbetween = [\"a\", \"a\"]\nindex = 0\n").len(), 1);
}

#[test]
fn a_missing_field_says_what_it_is_for() {
    assert_eq!(
        told("[[link]]\nindex = 1\n"),
        ["network.link[0].between: is missing (the two nodes at its ends)"]
    );
}

#[test]
fn keys_are_words_of_the_language_and_attributes_are_not() {
    let mut problems = Problems::default();
    let text = "from = \"a\"\nto = [\"b\", \"c\"]\nsize = \"1 MB\"\n";
    let entry = Traffic::read(&document(text), &Place::Top.key("traffic"), &mut problems);
    assert!(problems.is_empty());
    assert_eq!(entry.and_then(|entry| entry.sizes()?.fixed()), Some(Bytes(1_000_000)));
    let keys: Vec<_> = <Traffic as crate::read::Table>::FORM.fields().iter().map(|field| field.key).collect();
    assert_eq!(keys[..3], ["name", "from", "to"]);
}
