//! What each system has of its own: files that several read at once, and files without a name.

use std::fs::{File, OpenOptions};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{FileExt, OpenOptionsExt};
#[cfg(windows)]
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// `FILE_ATTRIBUTE_TEMPORARY` and `FILE_FLAG_DELETE_ON_CLOSE` of `CreateFile`.
#[cfg(windows)]
const GONE_WHEN_CLOSED: u32 = 0x100 | 0x0400_0000;

/// Reads at a place of a file, whatever others read of it meanwhile.
///
/// # Errors
/// As the system tells them.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Reads at a place of a file, whatever others read of it meanwhile; the place that this moves is nobody's.
///
/// # Errors
/// As the system tells them.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// A new file that nobody else reads and that is gone with the process, however that ends.
///
/// # Errors
/// As the system tells them, [`io::ErrorKind::AlreadyExists`] among them.
pub(crate) fn without_name(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    #[cfg(windows)]
    options.share_mode(0).custom_flags(GONE_WHEN_CLOSED);
    let file = options.open(path)?;
    #[cfg(unix)]
    std::fs::remove_file(path)?;
    Ok(file)
}
