//! Files compressed with zstd (RFC 8878): their frames one behind the other.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// The last block of a frame, without data (section 3.1.1.2), and four bytes where its checksum may be.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// The data of all frames.
pub(crate) struct Frames<R> {
    source: R,
    frame: FrameDecoder,
    is_open: bool,
    /// Why there is no more, when what was unpacked has been read.
    failed: Option<io::Error>,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, frame: FrameDecoder::new(), is_open: false, failed: None }
    }

    /// Begins the next frame, past those without data; false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.frame.reset(&mut self.source) {
                Ok(()) => {
                    self.is_open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.told(&error)),
            }
        }
        Ok(false)
    }

    /// Unpacks a block. It must be there as a whole: a decoder that has failed within one gives nothing of those before.
    fn unpack(&mut self) -> io::Result<()> {
        let mut block = vec![0; 3];
        self.source.read_exact(&mut block)?;
        let header = u32::from_le_bytes([block[0], block[1], block[2], 0]);
        // Of kind 1 is one byte, repeated (section 3.1.1.2.2).
        let length = if header >> 1 & 3 == 1 { 1 } else { header >> 3 };
        block.resize(3 + length as usize, 0);
        self.source.read_exact(&mut block[3..])?;
        let with_checksum = block.as_slice().chain(&mut self.source);
        let unpacked = self.frame.decode_blocks(with_checksum, BlockDecodingStrategy::UptoBlocks(1));
        unpacked.map(|_| ()).map_err(|error| self.told(&error))
    }

    /// An error of the decoder: whether the file has ended is for the source to say.
    fn told(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
            Err(error) => error,
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = if self.is_open { self.frame.read(buffer)? } else { 0 };
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.is_open && self.frame.is_finished() {
                self.is_open = false;
                // Of what has been read, which is all now.
                let stated = self.frame.get_checksum_from_data();
                if stated.is_some() && stated != self.frame.get_calculated_checksum() {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is another"));
                }
            } else if !self.is_open {
                if !self.begin()? {
                    return Ok(0);
                }
            } else if let Err(error) = self.unpack() {
                // What is kept for later blocks to refer to comes out at the end of the frame.
                let ended = self.frame.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::UptoBlocks(1));
                if ended.is_err() {
                    return Err(error);
                }
                self.failed = Some(error);
            }
        }
    }
}
