//! Bytes of a file through one large buffer.

use std::io::{self, Read};

/// Bytes of the buffer at first; it grows where a block is longer, up to [`LONGEST_BLOCK`].
const BUFFER_BYTES: usize = 1 << 20;
/// The longest record or block that is taken for one: 64 times what tcpdump writes by default. A length
/// above it is damage, and memory stays bounded.
pub(crate) const LONGEST_BLOCK: usize = 1 << 24;

/// A file being read from its start to its end.
pub(crate) struct Source<R> {
    inner: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// Bytes consumed so far.
    offset: u64,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, buffer: vec![0; BUFFER_BYTES], begin: 0, end: 0, offset: 0 }
    }

    /// Bytes consumed so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Brings `count` bytes into the buffer, or as many as are left of the file.
    #[inline]
    pub(crate) fn fill(&mut self, count: usize) -> io::Result<usize> {
        if self.end - self.begin < count {
            self.read_more(count)?;
        }
        Ok(self.end - self.begin)
    }

    #[cold]
    fn read_more(&mut self, count: usize) -> io::Result<()> {
        debug_assert!(count <= LONGEST_BLOCK);
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if count > self.buffer.len() {
            self.buffer.resize(count, 0);
        }
        while self.end < count {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What is in the buffer.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Passes over `count` bytes of the buffer.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.begin);
        self.begin += count;
        self.offset += count as u64;
    }

    /// Passes over `count` bytes of the buffer and gives them.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        let begin = self.begin;
        self.consume(count);
        &self.buffer[begin..begin + count]
    }

    /// Passes over `count` bytes, in the buffer or not; gives how many there were.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let there = self.fill(1)?;
            if there == 0 {
                break;
            }
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(there);
            self.consume(step);
            left -= step as u64;
        }
        Ok(count - left)
    }
}

/// Reads numbers of a file in its own byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    /// The two bytes at `at`, which must be there.
    #[inline]
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let raw = [bytes[at], bytes[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(raw),
            Self::Big => u16::from_be_bytes(raw),
        }
    }

    /// The four bytes at `at`, which must be there.
    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Self::Little => u32::from_le_bytes(raw),
            Self::Big => u32::from_be_bytes(raw),
        }
    }
}
