//! The command: exit statuses and messages.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PASSING: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n\
                       +0 > S 0:0(0) <...>\n";

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_anabranch-scripts")).args(arguments).output().expect("it runs")
}

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn file(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a file");
    path.display().to_string()
}

#[test]
fn the_exit_status_tells_failures_from_mistakes() {
    let folder = folder("statuses");
    let passing = file(&folder, "pass.pkt", PASSING.as_bytes());
    let failing = file(&folder, "fail.pkt", PASSING.replace("> S ", "> F ").as_bytes());
    let beyond = file(&folder, "beyond.pkt", format!("{PASSING}+0 < icmp x\n").as_bytes());
    for (files, status) in [(vec![&passing], 0), (vec![&passing, &failing], 1), (vec![&beyond], 0)] {
        let files: Vec<&str> = files.into_iter().map(String::as_str).collect();
        let output = run(&files);
        assert_eq!(output.status.code(), Some(status), "{files:?} {output:?}");
        assert!(output.stderr.is_empty());
    }
    let whole = run(&[&folder.display().to_string()]);
    let text = String::from_utf8(whole.stdout).expect("text");
    assert!(text.ends_with("3 scripts: 1 PASS, 1 FAIL, 1 NOT APPLICABLE\n"), "{text}");
    let document = run(&["--json", &failing]);
    let document: serde_json::Value = serde_json::from_slice(&document.stdout).expect("JSON");
    assert_eq!((&document[0]["outcome"], &document[0]["line"]), (&"FAIL".into(), &3.into()));
}

#[test]
fn mistakes_are_one_line_and_status_two() {
    let folder = folder("mistakes");
    let broken = file(&folder, "broken.pkt", b"0 > S 0:0(0)\n+0 < Q\n");
    let missing = folder.join("missing.pkt").display().to_string();
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let empty = empty.display().to_string();
    let cases: [(&[&str], String); 7] = [
        (&[&missing], format!("{missing}: ")),
        (&[&empty], format!("{empty}: the folder has no file *.pkt")),
        (&["--jason", &broken], "there is no option --jason; --help lists those there are".into()),
        (&[], "name a script or a folder of scripts".into()),
        (&["--transport=cubik", &broken], "there is no TCP transport \"cubik\"; there are ".into()),
        (&["--transport"], "--transport needs the name of a transport".into()),
        (&["-D", "A", &broken], "A defines nothing; it is written NAME=VALUE".into()),
    ];
    for (arguments, message) in cases {
        let output = run(arguments);
        let text = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {text}");
        assert!(text.starts_with(&format!("anabranch-scripts: {message}")), "{arguments:?} {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(output.stdout.is_empty());
    }
}

/// A script that cannot be read has its row, its place and status 2; the others are played.
#[test]
fn a_mistake_in_a_script_stops_no_other() {
    let folder = folder("unreadable");
    for category in ["one", "two"] {
        std::fs::create_dir(folder.join(category)).expect("a folder");
    }
    let broken = file(&folder, "one/broken.pkt", b"0 > S 0:0(0)\n+0 < Q\n");
    let binary = file(&folder, "one/image.pkt", b"0 > \xff\xfe");
    let _ = file(&folder, "one/pass.pkt", PASSING.as_bytes());
    let _ = file(&folder, "two/beyond.pkt", format!("{PASSING}+0 < icmp x\n").as_bytes());
    let _ = file(&folder, "two/fail.pkt", PASSING.replace("> S ", "> F ").as_bytes());
    let name = folder.display().to_string();

    let output = run(&["--json", "--summary", &name]);
    assert_eq!(output.status.code(), Some(2));
    let messages = String::from_utf8(output.stderr).expect("text");
    let lines: Vec<&str> = messages.lines().collect();
    assert!(lines[0].starts_with(&format!("anabranch-scripts: {broken}:2:6: 'Q' is no flag")), "{messages}");
    assert!(lines[1].starts_with(&format!("anabranch-scripts: {binary}: is not UTF-8")), "{messages}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let counts = |scripts, pass, fail, rest, unreadable| serde_json::json!({"scripts": scripts, "pass": pass, "fail": fail, "not_applicable": rest, "unreadable": unreadable});
    let named = |name: &str, mut counts: serde_json::Value| {
        counts["category"] = name.into();
        counts
    };
    let expected =
        serde_json::json!([named("one", counts(3, 1, 0, 2, 2)), named("two", counts(2, 0, 1, 1, 0))]);
    assert_eq!(document["categories"], expected);
    assert_eq!(document["total"], counts(5, 1, 1, 3, 2));
    let row = &document["scripts"][0];
    assert_eq!(
        (&row["outcome"], &row["readable"], &row["line"]),
        (&"NOT APPLICABLE".into(), &false.into(), &2.into())
    );
    assert!(row["text"].as_str().expect("a text").starts_with("cannot be read at column 6: 'Q' is no flag"));

    let text = String::from_utf8(run(&["--summary", &name]).stdout).expect("text");
    let expected = "category  scripts  PASS  FAIL  NOT APPLICABLE  unreadable\n\
                    one             3     1     0               2           2\n\
                    two             2     0     1               1           0\n\
                    5 scripts: 1 PASS, 1 FAIL, 3 NOT APPLICABLE (2 of these cannot be read)\n";
    assert_eq!(text, expected);
}

#[test]
fn help_is_no_mistake() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).expect("text").starts_with("Usage: anabranch-scripts"));
}

/// A file without an end is no script.
#[cfg(unix)]
#[test]
fn a_device_does_not_fill_the_memory() {
    let output = run(&["/dev/zero"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).expect("text").contains("is no script"));
}
