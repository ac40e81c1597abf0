//! Every script of this repository against the transport, and the known deviations.

use anabranch_scripts::{Ending, Script, ScriptChoices, collect, default_transport, read};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LEAST_SCRIPTS: usize = 100;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Every script, by its name below the folder of scripts.
fn scripts() -> Vec<(String, String)> {
    let folder = root().join("scripts");
    let name =
        |path: &PathBuf| path.strip_prefix(&folder).expect("below").display().to_string().replace('\\', "/");
    let paths = collect(std::slice::from_ref(&folder)).expect("the folder has scripts");
    paths.iter().map(|file| (name(&file.path), read(&file.path).expect("a text"))).collect()
}

fn play(name: &str, text: &str) -> Ending {
    let choices = ScriptChoices::new(default_transport()).expect("a transport");
    Script::parse(text, &choices).unwrap_or_else(|error| panic!("{name}:{error}")).play()
}

/// Script, and its first deviation with the reason why it stays.
fn known_deviations() -> BTreeMap<String, (String, String)> {
    let text = read(&root().join("known_deviations.json")).expect("a text");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let entry = |entry: &serde_json::Value| {
        let field =
            |name: &str| entry[name].as_str().unwrap_or_else(|| panic!("{name} in {entry}")).to_owned();
        (field("script"), (field("deviation"), field("reason")))
    };
    document.as_array().expect("a list").iter().map(entry).collect()
}

/// Every script passes, but for the known deviations, which fail as they are known to.
#[test]
fn every_script_ends_as_it_should() {
    let mut deviations = known_deviations();
    let mut wrong = Vec::new();
    let scripts = scripts();
    assert!(scripts.len() >= LEAST_SCRIPTS, "{}", scripts.len());
    for (name, text) in &scripts {
        let outcome = play(name, text);
        let expected = deviations.remove(name);
        let as_it_should = match (&outcome, &expected) {
            (Ending::Pass, None) => true,
            (Ending::Fail { .. }, Some((deviation, reason))) => {
                !reason.is_empty() && outcome.to_string() == *deviation
            }
            _ => false,
        };
        if !as_it_should {
            let should = expected.map_or("PASS".into(), |(deviation, _)| format!("FAIL {deviation}"));
            wrong.push(format!("{name}: {} {outcome}\n    should be {should}", outcome.name()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), scripts.len(), wrong.join("\n"));
    assert!(deviations.is_empty(), "known deviations without a script: {deviations:?}");
}

/// A script says whose rule it holds: its folder, which is an RFC that the transport's code cites, or Linux.
#[test]
fn every_script_names_a_rule_that_the_code_cites() {
    let mut sources = String::new();
    let mut folders = vec![root().join("../transport/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                sources += &std::fs::read_to_string(&path).expect("a source");
            }
        }
    }
    for (name, text) in scripts() {
        let (folder, _) = name.split_once('/').unwrap_or_else(|| panic!("{name} lies in no folder"));
        let (before, number) =
            folder.split_at(folder.find(|c: char| c.is_ascii_digit()).unwrap_or(folder.len()));
        let rule = if number.is_empty() { before.to_owned() } else { format!("{before} {number}") };
        assert!(sources.contains(&rule), "{name}: the transport does not cite {rule}");
        let first = text.lines().next().expect("a line");
        assert!(
            first.starts_with(&format!("// {rule}")),
            "{name} begins with {first:?} and not with its rule"
        );
        let options: Vec<&str> = text.lines().filter(|line| line.starts_with("--")).collect();
        assert!(
            options.contains(&"--all_packets --tolerance_percent=0"),
            "{name} does not expect all segments at their times"
        );
        assert!(options.iter().any(|option| option.starts_with("--transport=")), "{name} names no transport");
    }
}

/// The example of the manual does what it says.
#[test]
fn the_script_of_the_manual_passes() {
    let manual = read(&root().join("../../docs/scripts.md")).expect("the manual");
    let blocks: Vec<&str> =
        manual.split("```").skip(1).step_by(2).filter(|block| block.contains("socket(")).collect();
    assert_eq!(blocks.len(), 1);
    assert_eq!(play("docs/scripts.md", blocks[0]), Ending::Pass);
}
