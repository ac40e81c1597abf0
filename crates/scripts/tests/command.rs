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
    let binary = file(&folder, "binary.pkt", b"0 > \xff\xfe");
    let missing = folder.join("missing.pkt").display().to_string();
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let empty = empty.display().to_string();
    let cases: [(&[&str], String); 8] = [
        (&[&broken], format!("{broken}:2:6: 'Q' is no flag")),
        (&[&binary], format!("{binary}: is not UTF-8 text (byte 4)")),
        (&[&missing], format!("{missing}: ")),
        (&[&empty], format!("{empty}: the folder has no file *.pkt")),
        (&["--jason", &broken], "there is no option --jason; --help lists those there are".into()),
        (&[], "name a script or a folder of scripts".into()),
        (
            &["--transport=cubik", &broken],
            "there is no TCP transport \"cubik\"; there are newreno, cubic".into(),
        ),
        (&["--transport"], "--transport needs the name of a transport".into()),
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
