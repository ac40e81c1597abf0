//! Capture files as a sequence of records: what is common to pcap and pcapng.

use crate::pcap::Pcap;
use crate::pcapng::PcapNg;
use crate::source::Source;
use std::io::{self, Read};

/// A packet as the file has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    pub time_ns: u64,
    /// Number of the interface in this file, counted over all its sections.
    pub interface: u32,
    /// Link type of the interface (LINKTYPE_ values).
    pub link_type: u16,
    /// Bytes that were kept.
    pub data: &'a [u8],
    /// Bytes that the packet had.
    pub original_len: u32,
}

/// Why reading stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The file ends where a record ends.
    Complete,
    /// The file ends inside a record that begins at this offset.
    Cut(u64),
    /// What begins at this offset is no record.
    Damaged(u64, String),
}

/// What comes next.
pub(crate) enum Next<'a> {
    /// A packet.
    Record(Record<'a>),
    /// Nothing more.
    End(End),
}

/// What is odd about a file without being wrong, counted.
#[derive(Clone, Default, Debug)]
pub(crate) struct Oddities {
    /// Packets of simple packet blocks, which have no time.
    pub without_time: u64,
    /// Packets of an interface that the file does not describe.
    pub without_interface: u64,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// A capture file being read.
pub(crate) struct Reader<R> {
    source: Source<R>,
    format: Format,
    ended: Option<End>,
}

/// Why a file is no capture.
#[derive(Debug)]
pub(crate) enum OpenError {
    Io(io::Error),
    /// It has no byte.
    Empty,
    /// It is something else, which this names, with what to do.
    Other(String),
}

impl<R: Read> Reader<R> {
    /// Reads the head of a file.
    pub(crate) fn open(inner: R) -> Result<Self, OpenError> {
        let mut source = Source::new(inner);
        let there = source.fill(24).map_err(OpenError::Io)?;
        if there == 0 {
            return Err(OpenError::Empty);
        }
        let head = source.bytes();
        let format = if let Some(pcap) = Pcap::begin(head) {
            let pcap = pcap.map_err(OpenError::Other)?;
            source.consume(Pcap::HEADER);
            Format::Pcap(pcap)
        } else if PcapNg::begins(head) {
            Format::PcapNg(PcapNg::default())
        } else {
            return Err(OpenError::Other(what_it_is(head)));
        };
        Ok(Self { source, format, ended: None })
    }

    /// The next packet, if all of it is in memory, as of nearly all; else [`Self::next`] reads further.
    #[inline(always)]
    pub(crate) fn ready(&mut self) -> Option<Record<'_>> {
        match &self.format {
            Format::Pcap(pcap) => pcap.ready(&mut self.source),
            Format::PcapNg(pcapng) => pcapng.ready(&mut self.source),
        }
    }

    /// The next packet, or why there is none.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Next<'_>> {
        if let Some(end) = &self.ended {
            return Ok(Next::End(end.clone()));
        }
        let next = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.source)?,
            Format::PcapNg(pcapng) => pcapng.next(&mut self.source)?,
        };
        if let Next::End(end) = &next {
            self.ended = Some(end.clone());
        }
        Ok(next)
    }

    /// Bytes of the file read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// What was odd so far.
    pub(crate) fn oddities(&self) -> Oddities {
        match &self.format {
            Format::Pcap(_) => Oddities::default(),
            Format::PcapNg(pcapng) => pcapng.oddities.clone(),
        }
    }

    /// Name of an interface, where the file has one.
    pub(crate) fn interface_name(&self, interface: u32) -> Option<&str> {
        match &self.format {
            Format::Pcap(_) => None,
            Format::PcapNg(pcapng) => pcapng.name(interface),
        }
    }
}

/// What a file is that is no capture, by its first bytes, and what to do about it.
fn what_it_is(head: &[u8]) -> String {
    let packed = |by: &str, tool: &str| format!("is compressed with {by}; unpack it first, with {tool}");
    match head {
        [0xFD, b'7', b'z', b'X', b'Z', ..] => packed("xz", "unxz --keep"),
        [b'B', b'Z', b'h', ..] => packed("bzip2", "bunzip2 --keep"),
        [b'P', b'K', 3, 4, ..] => packed("zip", "unzip"),
        [b's', b'n', b'o', b'o', b'p', 0, ..] => {
            "is a snoop capture; convert it with editcap -F pcapng".to_owned()
        }
        _ => {
            let bytes: Vec<String> = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!(
                "is neither pcap nor pcapng: it begins with the bytes {}; other capture formats can be \
                 converted with editcap -F pcapng",
                bytes.join(" ")
            )
        }
    }
}
