//! Scripts on disk.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What scripts are called.
const SUFFIX: &str = "pkt";
/// A script is a page of text; whatever is longer is none.
const LARGEST_BYTES: u64 = 4 << 20;

/// A file that cannot be read.
#[derive(Debug, Error)]
pub enum FileError {
    /// The operating system says no.
    #[error("{}: {error}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is no text.
    #[error("{}: is not UTF-8 text (byte {at})", .path.display())]
    NotText {
        /// Which.
        path: PathBuf,
        /// The first byte that is none of a text, from 0 on.
        at: usize,
    },
    /// It is no script.
    #[error("{}: is no script: it has more than {LARGEST_BYTES} bytes", .path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
    },
    /// A folder without scripts.
    #[error("{}: the folder has no file *.{SUFFIX}", .path.display())]
    Empty {
        /// Which.
        path: PathBuf,
    },
}

/// A script on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its folder below the one that was named; `.` if it lies in that one. Of several paths that were named, with the
    /// path before it.
    pub category: String,
}

/// The scripts that are named: files as they are, and every `*.pkt` below a folder, in order of their names.
///
/// # Errors
/// A path that does not exist, or a folder without scripts.
pub fn collect(paths: &[PathBuf]) -> Result<Vec<ScriptFile>, FileError> {
    let mut files = Vec::new();
    for named in paths {
        let metadata =
            fs::metadata(named).map_err(|error| FileError::Unreadable { path: named.clone(), error })?;
        let mut script_paths = Vec::new();
        if metadata.is_dir() {
            below(named, &mut script_paths)?;
            if script_paths.is_empty() {
                return Err(FileError::Empty { path: named.clone() });
            }
        } else {
            script_paths.push(named.clone());
        }
        let base = if metadata.is_dir() && paths.len() == 1 { named.as_path() } else { Path::new("") };
        files.extend(
            script_paths.into_iter().map(|path| ScriptFile { category: category(&path, base), path }),
        );
    }
    Ok(files)
}

/// The folder of a script below another one.
fn category(path: &Path, base: &Path) -> String {
    let folder = path.strip_prefix(base).unwrap_or(path).parent().unwrap_or(Path::new(""));
    let name = folder.display().to_string().replace('\\', "/");
    if name.is_empty() { ".".into() } else { name }
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let unreadable = |error| FileError::Unreadable { path: folder.to_owned(), error };
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(unreadable)?.collect();
    let mut entries = entries.map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links are not followed: a folder may contain itself.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            below(&path, files)?;
        } else if path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            files.push(path);
        }
    }
    Ok(())
}

/// The text of a script.
///
/// # Errors
/// A file that cannot be read, is too large or no UTF-8.
pub fn read(path: &Path) -> Result<String, FileError> {
    let unreadable = |error| FileError::Unreadable { path: path.to_owned(), error };
    let file = fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // A device has no length beforehand, and may have no end.
    file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(bytes)
        .map_err(|error| FileError::NotText { path: path.to_owned(), at: error.utf8_error().valid_up_to() })
}
