//! `anabranch-scripts FILES`: plays scripts and prints how each ended.

use anabranch_scripts::{
    Ending, Played, Script, ScriptChoices, ScriptError, ScriptFile, collect, default_transport, json,
    json_summary, read, table, table_summary,
};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: anabranch-scripts [--transport NAME] [--define NAME=VALUE] [--json] [--summary] FILE...

Plays scripts in the packetdrill language against Anabranch's TCP; of a folder every *.pkt.
  --transport NAME     for scripts that name none (linux-cubic)
  --define NAME=VALUE  what a word of the scripts stands for; -D NAME=VALUE is the same
  --json               the table as JSON
  --summary            counts by category, the folder of a script; with --json beside the list of scripts
  --help               this text
Exit status: 0 if no script fails, 1 if one does, 2 for a script that cannot be read or a mistake in the command.
";

/// What the command line asks for.
enum Command {
    Help,
    Play(Order),
}

/// Which scripts are played, and what is printed.
struct Order {
    paths: Vec<PathBuf>,
    transport: String,
    definitions: Vec<String>,
    json: bool,
    summary: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

fn complain(message: &str) {
    eprintln!("anabranch-scripts: {message}");
}

fn run() -> Result<ExitCode, String> {
    let order = match arguments()? {
        Command::Help => return print(USAGE).map(|()| ExitCode::SUCCESS),
        Command::Play(order) => order,
    };
    let mut choices = ScriptChoices::new(&order.transport)?;
    for definition in &order.definitions {
        choices.define(definition)?;
    }
    let files = collect(&order.paths).map_err(|error| error.to_string())?;
    let played: Vec<Played> = files.into_iter().map(|file| play(file, &choices)).collect();
    let text = match (order.json, order.summary) {
        (true, false) => format!("{:#}\n", json(&played)),
        (true, true) => format!("{:#}\n", json_summary(&played)),
        (false, true) => table_summary(&played),
        (false, false) => table(&played),
    };
    print(&text)?;
    let unreadable = played.iter().any(|one| matches!(one.outcome, Ending::Unreadable(_)));
    let failed = played.iter().any(|one| matches!(one.outcome, Ending::Fail { .. }));
    Ok(ExitCode::from(if unreadable { 2 } else { u8::from(failed) }))
}

/// Plays one script. What cannot be read has a row, too, and its place on the standard error stream.
fn play(file: ScriptFile, choices: &ScriptChoices) -> Played {
    let ScriptFile { path, category } = file;
    let name = path.display().to_string();
    let outcome = match read(&path) {
        Err(error) => {
            complain(&error.to_string());
            Ending::Unreadable(ScriptError { line: 1, column: 1, message: error.to_string() })
        }
        Ok(text) => match Script::parse(&text, choices) {
            Ok(script) => script.play(),
            Err(error) => {
                complain(&format!("{name}:{error}"));
                Ending::Unreadable(error)
            }
        },
    };
    Played { name, category, outcome }
}

/// A reader that has gone away, as `head` does, is no mistake.
fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}

fn arguments() -> Result<Command, String> {
    let mut order = Order {
        paths: Vec::new(),
        transport: default_transport().to_owned(),
        definitions: Vec::new(),
        json: false,
        summary: false,
    };
    let mut rest = std::env::args_os().skip(1);
    let value = |option: &str, what: &str, rest: &mut dyn Iterator<Item = std::ffi::OsString>| {
        let next = rest.next().and_then(|name| name.into_string().ok());
        next.ok_or_else(|| format!("{option} needs {what}"))
    };
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(Command::Help),
            Some("--json") => order.json = true,
            Some("--summary") => order.summary = true,
            Some("--transport") => {
                order.transport = value("--transport", "the name of a transport", &mut rest)?;
            }
            Some(option @ ("--define" | "-D")) => {
                order.definitions.push(value(option, "NAME=VALUE", &mut rest)?);
            }
            Some(text) if text.starts_with("--transport=") => {
                text["--transport=".len()..].clone_into(&mut order.transport);
            }
            Some(text) if text.starts_with("--define=") => {
                order.definitions.push(text["--define=".len()..].to_owned());
            }
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                return Err(format!("there is no option {text}; --help lists those there are"));
            }
            _ => order.paths.push(PathBuf::from(argument)),
        }
    }
    if order.paths.is_empty() {
        return Err("name a script or a folder of scripts; --help has more".into());
    }
    Ok(Command::Play(order))
}
