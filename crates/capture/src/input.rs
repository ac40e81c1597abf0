//! Where packets come from: files, compressed or not, and standard input. All can be read twice.

use crate::error::{CaptureError, FileProblem};
use crate::format::{OpenError, Reader};
use crate::system::{self, read_at};
use crate::zstd::Frames;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";
/// First bytes of a file compressed with gzip (RFC 1952 section 2.3.1) or zstd (RFC 8878 sections 3.1.1 and 3.1.2, frames
/// with data and those to be skipped).
const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const ZSTD_SKIPPED: [u8; 3] = [0x2A, 0x4D, 0x18];
/// Bytes of a compressed file that are read at once.
const BUFFER_BYTES: usize = 1 << 18;
/// Such pieces of standard input that are read ahead.
const READ_AHEAD: usize = 4;
/// Between two questions whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// How long after the end of standard input it is asked whether a Ctrl-C has ended it, which both ends of the pipe hear: whoever
/// is asked looks for signals each 20 ms, and would take one that is found later for the end of all work.
const HEARD_AFTER: Duration = Duration::from_millis(30);
/// How long to wait, once asked to stop, for what the other end of the pipe still has: tcpdump, which hears the same
/// Ctrl-C, writes the packets of its buffer and ends.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// A capture that can be opened again and again.
pub(crate) enum Input {
    /// A file of the user's.
    File(PathBuf),
    /// What came through standard input.
    Kept(Arc<File>),
}

/// How a reading goes, for those who hold the reader.
#[derive(Clone, Default)]
pub(crate) struct Reading(Arc<State>);

#[derive(Default)]
struct State {
    bytes: AtomicU64,
    trouble: OnceLock<String>,
}

impl Reading {
    /// Bytes of the file that were read so far, compressed ones if it is compressed.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Why unpacking ended before the end of the file.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.0.trouble.get().map(String::as_str)
    }
}

/// All inputs, and whether reading was interrupted; what comes through standard input is kept in a temporary file
/// without a name, since the window is known only at its end. `go_on` is asked now and then: where it breaks, what has
/// come until then is the input.
///
/// # Errors
/// If standard input cannot be kept, is a terminal or was asked for twice; if `go_on` breaks before anything has come.
pub(crate) fn inputs(
    paths: &[PathBuf],
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(Vec<Input>, bool), CaptureError> {
    let is_standard = |path: &&PathBuf| path.as_os_str() == STANDARD_INPUT;
    let problem = |problem: &str| {
        let files = vec![FileProblem::new(Path::new(STANDARD_INPUT), problem)];
        CaptureError::Files { files }
    };
    if paths.iter().filter(is_standard).count() > 1 {
        return Err(problem("standard input is given twice"));
    }
    let mut inputs = Vec::with_capacity(paths.len());
    let mut interrupted = false;
    for path in paths {
        if !is_standard(&path) {
            inputs.push(Input::File(path.clone()));
            continue;
        }
        if io::stdin().is_terminal() {
            return Err(problem(
                "standard input is a terminal; send a capture through it, as tcpdump -w - does",
            ));
        }
        let (kept, ended) = keep(go_on).map_err(|error| {
            let folder = std::env::temp_dir();
            problem(&format!(
                "cannot be kept in {}: {error}; TMPDIR chooses another folder",
                folder.display()
            ))
        })?;
        let kept = Input::Kept(Arc::new(kept));
        interrupted = !ended;
        if interrupted && kept.bytes() == 0 {
            return Err(CaptureError::Interrupted);
        }
        inputs.push(kept);
    }
    Ok((inputs, interrupted))
}

/// A temporary file with all that comes through standard input, and whether that ended by itself. A signal may leave a
/// read waiting, hence the thread, which then ends with the process.
fn keep(go_on: &mut dyn FnMut() -> ControlFlow<()>) -> io::Result<(File, bool)> {
    let mut file = without_name()?;
    let (sender, receiver) = sync_channel(READ_AHEAD);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            // As much as there is: whoever interrupts wants the packets that have come.
            let mut bytes = vec![0; BUFFER_BYTES];
            let read = input.read(&mut bytes);
            if matches!(&read, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                continue;
            }
            let ended = matches!(read, Ok(0) | Err(_));
            let read = read.map(|count| {
                bytes.truncate(count);
                bytes
            });
            // Nobody listens any more if the work has been stopped.
            if sender.send(read).is_err() || ended {
                break;
            }
        }
    });
    let mut stop_at = None;
    loop {
        match receiver.recv_timeout(ASK_EVERY) {
            Ok(bytes) => file.write_all(&bytes?)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                if stop_at.is_none() {
                    thread::sleep(HEARD_AFTER);
                }
                return Ok((file, stop_at.is_none() && go_on().is_continue()));
            }
        }
        match stop_at {
            Some(stop_at) if Instant::now() >= stop_at => return Ok((file, false)),
            None if go_on().is_break() => stop_at = Some(Instant::now() + LAST_WAIT),
            _ => {}
        }
    }
}

/// A file for temporary use that is gone with the process, however that ends.
fn without_name() -> io::Result<File> {
    let mut number = 0u32;
    loop {
        let path = std::env::temp_dir().join(format!("anabranch-input-{}-{number}", std::process::id()));
        match system::without_name(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made,
        }
    }
}

impl Input {
    /// For messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Kept(_) => Path::new("standard input"),
        }
    }

    /// Bytes there are to read. Files that cannot be looked at are found when they are read, with the reason.
    pub(crate) fn bytes(&self) -> u64 {
        let metadata = match self {
            Self::File(path) => path.metadata(),
            Self::Kept(file) => file.metadata(),
        };
        metadata.map_or(0, |metadata| metadata.len())
    }

    /// Begins to read from the start.
    pub(crate) fn open(&self) -> Result<(Reader<Stream>, Reading), FileProblem> {
        let io_problem = |error: &io::Error| FileProblem::io(self.name(), error);
        let file = match self {
            Self::Kept(file) => Arc::clone(file),
            Self::File(path) => Arc::new(regular(path)?),
        };
        let reading = Reading::default();
        let stream = Stream::begin(file, reading.clone()).map_err(|error| io_problem(&error))?;
        let reader = Reader::open(stream).map_err(|error| match (error, reading.trouble()) {
            (OpenError::Io(error), _) => io_problem(&error),
            (_, Some(trouble)) => {
                FileProblem::of_contents(self.name(), format!("{trouble}, before the first packet"))
            }
            (OpenError::Empty, _) => {
                FileProblem::of_contents(self.name(), "is empty; was the capture written to another file?")
            }
            (OpenError::Other(problem), _) => FileProblem::of_contents(self.name(), problem),
        })?;
        Ok((reader, reading))
    }
}

/// Opens a file that can be read twice.
fn regular(path: &Path) -> Result<File, FileProblem> {
    // Before it is opened: that of a pipe waits until someone writes to it.
    let metadata = path.metadata().map_err(|error| FileProblem::io(path, &error))?;
    if metadata.is_dir() {
        return Err(FileProblem::new(path, "is a folder; give the capture files in it"));
    }
    if !metadata.is_file() {
        let problem =
            "is not a regular file, and captures are read twice; send it through standard input, as -";
        return Err(FileProblem::new(path, problem));
    }
    File::open(path).map_err(|error| FileProblem::io(path, &error))
}

/// Bytes of a capture, unpacked.
pub(crate) struct Stream {
    form: Form,
    reading: Reading,
}

enum Form {
    Plain(Raw),
    Gzip(Box<MultiGzDecoder<BufReader<Raw>>>),
    Zstd(Box<Frames<BufReader<Raw>>>),
}

/// Bytes of a file as they are, which others may read at the same time.
struct Raw {
    file: Arc<File>,
    offset: u64,
    reading: Reading,
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, buffer, self.offset)?;
        self.offset += count as u64;
        self.reading.0.bytes.store(self.offset, Ordering::Relaxed);
        Ok(count)
    }
}

impl Stream {
    fn begin(file: Arc<File>, reading: Reading) -> io::Result<Self> {
        let mut head = [0; 4];
        // What is not there is 0, and begins nothing.
        read_at(&file, &mut head, 0)?;
        let raw = Raw { file, offset: 0, reading: reading.clone() };
        let buffered = |raw| BufReader::with_capacity(BUFFER_BYTES, raw);
        let form = if head.starts_with(&GZIP) {
            Form::Gzip(Box::new(MultiGzDecoder::new(buffered(raw))))
        } else if head == ZSTD || (head[0] & 0xF0 == 0x50 && head[1..] == ZSTD_SKIPPED) {
            Form::Zstd(Box::new(Frames::new(buffered(raw))))
        } else {
            Form::Plain(raw)
        };
        Ok(Self { form, reading })
    }
}

impl Read for Stream {
    /// What cannot be unpacked is the end, and [`Reading::trouble`] says so.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reading.trouble().is_some() {
            return Ok(0);
        }
        let (read, name) = match &mut self.form {
            Form::Plain(raw) => return raw.read(buffer),
            Form::Gzip(decoder) => (decoder.read(buffer), "gzip"),
            Form::Zstd(frames) => (frames.read(buffer), "zstd"),
        };
        let error = match read {
            Ok(count) => return Ok(count),
            Err(error) => error,
        };
        let bytes = self.reading.bytes();
        let trouble = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {name} file is cut after {bytes} bytes"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                format!("the {name} file is damaged ({error}) within its first {bytes} bytes")
            }
            _ => return Err(error),
        };
        // Set once, since nothing is read after it.
        self.reading.0.trouble.get_or_init(|| trouble);
        Ok(0)
    }
}
