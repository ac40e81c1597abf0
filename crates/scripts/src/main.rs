//! `anabranch-scripts FILES`: plays scripts and prints how each ended.

use anabranch_scripts::{Played, Script, ScriptChoices, collect, default_transport, json, read, table};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: anabranch-scripts [--transport NAME] [--json] FILE...

Plays scripts in the packetdrill language against Anabranch's TCP; of a folder every *.pkt.
  --transport NAME  for scripts that name none (linux-cubic)
  --json            the table as JSON
  --help            this text
Exit status: 0 if no script fails, 1 if one does, 2 for a mistake in a script or in the command.
";

/// What the command line asks for.
enum Command {
    Help,
    Play { paths: Vec<PathBuf>, transport: String, json: bool },
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("anabranch-scripts: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let (paths, transport, as_json) = match arguments()? {
        Command::Help => return print(USAGE).map(|()| ExitCode::SUCCESS),
        Command::Play { paths, transport, json } => (paths, transport, json),
    };
    let choices = ScriptChoices::new(&transport)?;
    let mut played = Vec::new();
    for path in collect(&paths).map_err(|error| error.to_string())? {
        let text = read(&path).map_err(|error| error.to_string())?;
        let name = path.display().to_string();
        let script = Script::parse(&text, &choices).map_err(|error| format!("{name}:{error}"))?;
        played.push(Played { name, outcome: script.play() });
    }
    let failed = played.iter().any(|one| one.outcome.name() == "FAIL");
    let text = if as_json { format!("{:#}\n", json(&played)) } else { table(&played) };
    print(&text)?;
    Ok(ExitCode::from(u8::from(failed)))
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
    let mut paths = Vec::new();
    let mut transport = default_transport().to_owned();
    let mut json = false;
    let mut rest = std::env::args_os().skip(1);
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(Command::Help),
            Some("--json") => json = true,
            Some("--transport") => {
                let name = rest.next().and_then(|name| name.into_string().ok());
                transport = name.ok_or("--transport needs the name of a transport")?;
            }
            Some(text) if text.starts_with("--transport=") => {
                text["--transport=".len()..].clone_into(&mut transport);
            }
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                return Err(format!("there is no option {text}; --help lists those there are"));
            }
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    if paths.is_empty() {
        return Err("name a script or a folder of scripts; --help has more".into());
    }
    Ok(Command::Play { paths, transport, json })
}
