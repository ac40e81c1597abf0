//! Packets written to a pcapng file (draft-ietf-opsawg-pcapng), for Wireshark and its like.
//!
//! Times are simulated: zero is the start of the run, which readers show as 1970-01-01 00:00 UTC.

use anabranch_transport::Segment;
use anabranch_transport::wire::{
    Datagram, EncodeError, Endpoint, encode_datagram_headers, encode_headers, mark,
};
use anabranch_units::{Instant, NodeId};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// `if_tsresol` for nanoseconds: times are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1000;
/// Bytes gathered before the file is written to.
const BUFFER_BYTES: usize = 1 << 18;

/// A capture that could not be written.
#[derive(Debug, Error)]
pub enum CaptureWriteError {
    /// The file cannot be created or written, for example because the disk is full.
    #[error("cannot write the capture {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A segment has no byte form.
    #[error("cannot write a packet to the capture {}: {source}", path.display())]
    Packet {
        /// The file.
        path: PathBuf,
        /// What is wrong with the segment.
        source: EncodeError,
    },
    /// pcapng has 16 bits for the length of a name.
    #[error("cannot write the capture {}: the name of a capture point has {length} bytes, above 65535", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// Bytes of the name.
        length: usize,
    },
}

/// What an IP packet holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content<'a> {
    /// A TCP segment.
    Segment(&'a Segment),
    /// An echo or UDP.
    Datagram(Datagram),
    /// Anything, as a host that is not simulated has sent it.
    Bytes {
        /// The IP packet.
        bytes: &'a [u8],
        /// Whether it has been marked with congestion experienced since.
        marked: bool,
    },
}

/// A packet as it is seen at a capture point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedPacket<'a> {
    /// What the IP packet holds.
    pub content: Content<'a>,
    /// Who sent it.
    pub source: Endpoint,
    /// Whom it is for.
    pub destination: Endpoint,
    /// Identification field of the IP header.
    pub identification: u16,
    /// Time to live.
    pub ttl: u8,
}

/// A pcapng file that is being written. Needs [`CaptureFile::finish`]: dropping it instead loses the
/// error if the last packets do not fit the disk.
pub struct CaptureFile {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    snap_length: u32,
    packet: Vec<u8>,
}

impl CaptureFile {
    /// Creates `path`, or empties it, with one interface for each of the capture points named in
    /// `points`. Of each packet, `snap_length` bytes are kept; 0 keeps all.
    ///
    /// # Errors
    /// If the file cannot be created or written, or a name is above 65535 bytes.
    pub fn create(path: &Path, points: &[String], snap_length: u32) -> Result<Self, CaptureWriteError> {
        if let Some(name) = points.iter().find(|name| name.len() > usize::from(u16::MAX)) {
            return Err(CaptureWriteError::Name { path: path.to_path_buf(), length: name.len() });
        }
        let section = SectionHeaderBlock {
            // Not the machine's own order: the same run gives the same bytes everywhere.
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(concat!(
                "anabranch ",
                env!("CARGO_PKG_VERSION")
            )))],
            ..SectionHeaderBlock::default()
        };
        let file = File::create(path).map_err(|error| io_error(path, PcapError::IoError(error)))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        let mut writer =
            PcapNgWriter::with_section_header(writer, section).map_err(|error| io_error(path, error))?;
        for name in points {
            let interface = InterfaceDescriptionBlock {
                // Link type 101: a packet begins with its IP header.
                linktype: DataLink::RAW,
                snaplen: snap_length,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            writer.write_pcapng_block(interface).map_err(|error| io_error(path, error))?;
        }
        Ok(Self { path: path.to_path_buf(), writer, snap_length, packet: Vec::new() })
    }

    /// Writes a packet seen at `at` on the capture point at index `interface`; its time is rounded down
    /// to nanoseconds.
    ///
    /// # Errors
    /// If the file cannot be written, the segment has no byte form, or there is no such capture point.
    pub fn record(
        &mut self,
        interface: u32,
        at: Instant,
        packet: &CapturedPacket<'_>,
    ) -> Result<(), CaptureWriteError> {
        let CapturedPacket { content, source, destination, identification, ttl } = *packet;
        self.packet.clear();
        let buffer = &mut self.packet;
        let (encoded, original_len) = match content {
            Content::Segment(segment) => (
                encode_headers(segment, source, destination, identification, ttl, buffer),
                segment.packet_len(),
            ),
            Content::Datagram(datagram) => (
                encode_datagram_headers(&datagram, source, destination, identification, ttl, buffer),
                datagram.bytes,
            ),
            Content::Bytes { bytes, marked } => {
                buffer.extend_from_slice(bytes);
                if marked {
                    mark(buffer);
                }
                (Ok(()), bytes.len() as u32)
            }
        };
        encoded.map_err(|source| CaptureWriteError::Packet { path: self.path.clone(), source })?;
        let kept = if self.snap_length == 0 { original_len } else { original_len.min(self.snap_length) };
        // Cuts the headers short, or adds as much of the payload, all zeros, as is kept.
        self.packet.resize(kept as usize, 0);
        let block = EnhancedPacketBlock {
            interface_id: interface,
            // The crate writes nanoseconds, whatever if_tsresol says.
            timestamp: Duration::from_nanos(at.as_ps() / PS_PER_NS),
            original_len,
            data: Cow::Borrowed(&self.packet),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(block).map_err(|error| io_error(&self.path, error))?;
        Ok(())
    }

    /// Writes out what is still buffered.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&mut self) -> Result<(), CaptureWriteError> {
        let flushed = self.writer.get_mut().flush();
        flushed.map_err(|error| io_error(&self.path, PcapError::IoError(error)))
    }
}

fn io_error(path: &Path, error: PcapError) -> CaptureWriteError {
    let source = match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    };
    CaptureWriteError::Io { path: path.to_path_buf(), source }
}

/// The IPv4 address of a node in captures and 5-tuples: 10.x.y.z, where x.y.z is the node's id in base
/// 256. Unique for 2^24 nodes; after that they repeat.
#[must_use]
pub const fn host_address(node: NodeId) -> [u8; 4] {
    let [_, x, y, z] = node.0.to_be_bytes();
    [10, x, y, z]
}

/// Most interfaces of a host that have an address: as many first octets as lie below 127, which is loopback.
pub const MOST_INTERFACES: u8 = 116;

/// The IPv4 address of an interface of a node: that of the node for the first one, and (10 + n).x.y.z for the
/// n-th after it.
///
/// # Panics
/// From [`MOST_INTERFACES`] on.
#[must_use]
pub const fn interface_address(node: NodeId, interface: u8) -> [u8; 4] {
    assert!(interface < MOST_INTERFACES, "an interface that has an address");
    let [first, x, y, z] = host_address(node);
    [first + interface, x, y, z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_transport::Flags;
    use anabranch_transport::wire::decode;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use std::process::Command;

    /// A file in the system's folder for them, removed at the end of the test.
    struct TemporaryFile(PathBuf);

    impl TemporaryFile {
        fn new(test: &str) -> Self {
            Self(std::env::temp_dir().join(format!("anabranch-{}-{test}.pcapng", std::process::id())))
        }
    }

    impl Drop for TemporaryFile {
        fn drop(&mut self) {
            if let Err(error) = std::fs::remove_file(&self.0) {
                eprintln!("{}: {error}", self.0.display());
            }
        }
    }

    fn client() -> Endpoint {
        Endpoint { addr: host_address(NodeId(0)), port: 49152 }
    }

    fn server() -> Endpoint {
        Endpoint { addr: host_address(NodeId(258)), port: 5001 }
    }

    /// A connection with ECN: handshake, three data segments of which the first is lost, a duplicate
    /// ACK with a SACK block, the retransmission, FIN both ways. Times in picoseconds; `true`: from the
    /// client.
    fn connection() -> Vec<(u64, bool, Segment)> {
        let timestamps = Flags::TIMESTAMPS;
        let ack = Flags::ACK.with(timestamps);
        let data = ack.with(Flags::ECT);
        let syn = Segment {
            seq: 0xFFFF_FFF0,
            window: 65535,
            flags: Flags::SYN.with(timestamps).with(Flags::SACK_PERMITTED),
            mss: 1460,
            window_scale_plus_one: 8,
            timestamp: 1,
            ..Segment::default()
        };
        let syn_ack = Segment {
            seq: 1000,
            ack: syn.seq.wrapping_add(1),
            flags: syn.flags.with(Flags::ACK).with(Flags::ECE),
            timestamp: 5,
            timestamp_echo: 1,
            ..syn
        };
        let from_client = |sent: u32, flags, payload, at| Segment {
            seq: syn.seq.wrapping_add(1 + sent),
            ack: 1001,
            window: 512,
            flags,
            payload,
            timestamp: at,
            timestamp_echo: 5,
            ..Segment::default()
        };
        let from_server = |acked: u32, flags, at, echo| Segment {
            seq: 1001,
            ack: syn.seq.wrapping_add(1 + acked),
            window: 512,
            flags,
            timestamp: at,
            timestamp_echo: echo,
            ..Segment::default()
        };
        let first = from_client(0, data, 1448, 12);
        let second = from_client(1448, data.with(Flags::CE), 1448, 13);
        let mut duplicate_ack = from_server(0, ack.with(Flags::ECE), 18, 5);
        duplicate_ack.sack.push(second.seq, second.seq.wrapping_add(1448), 3);
        let client_fin = ack.with(Flags::FIN);
        vec![
            (0, true, Segment { flags: syn.flags.with(Flags::ECE).with(Flags::CWR), ..syn }),
            (5_000_000_000, false, syn_ack),
            (10_000_000_999, true, from_client(0, ack, 0, 10)),
            (12_000_000_000, true, first),
            (13_000_000_000, true, second),
            (18_000_000_000, false, duplicate_ack),
            (23_000_000_000, true, Segment { timestamp: 23, flags: data.with(Flags::CWR), ..first }),
            (28_000_000_000, false, from_server(2896, ack, 28, 23)),
            (30_000_000_000, true, from_client(2896, data.with(Flags::PSH), 1, 30)),
            (31_000_000_000, true, from_client(2897, client_fin, 0, 31)),
            (36_000_000_000, false, from_server(2898, client_fin, 36, 31)),
            (41_000_000_000, true, Segment { ack: 1002, ..from_client(2898, ack, 0, 41) }),
        ]
    }

    fn write(path: &Path, snap_length: u32) -> Result<(), CaptureWriteError> {
        let mut file =
            CaptureFile::create(path, &["Denver->Kansas City".to_owned(), "b->a".to_owned()], snap_length)?;
        for (index, (ps, from_client, segment)) in connection().iter().enumerate() {
            let (source, destination) =
                if *from_client { (client(), server()) } else { (server(), client()) };
            let packet = CapturedPacket {
                content: Content::Segment(segment),
                source,
                destination,
                identification: index as u16,
                ttl: 64,
            };
            file.record(u32::from(!from_client), Instant::from_ps(*ps), &packet)?;
        }
        file.finish()
    }

    #[test]
    fn a_capture_reads_back_as_written() {
        let file = TemporaryFile::new("reads-back");
        write(&file.0, 0).expect("a writable folder for temporary files");
        let bytes = std::fs::read(&file.0).expect("written");
        let mut reader = PcapNgReader::new(&bytes[..]).expect("a section header");
        assert_eq!(
            reader.section().options,
            [SectionHeaderOption::UserApplication(concat!("anabranch ", env!("CARGO_PKG_VERSION")).into())]
        );
        let mut names = Vec::new();
        let mut packets = connection().into_iter();
        while let Some(block) = reader.next_block() {
            match block.expect("a well-formed block") {
                Block::InterfaceDescription(interface) => {
                    assert_eq!(interface.linktype, DataLink::RAW);
                    assert!(interface.options.contains(&InterfaceDescriptionOption::IfTsResol(9)));
                    names.push(interface.options[0].clone().into_owned());
                }
                Block::EnhancedPacket(packet) => {
                    let (ps, from_client, segment) = packets.next().expect("no more than were written");
                    assert_eq!(packet.interface_id, u32::from(!from_client));
                    assert_eq!(packet.timestamp, Duration::from_nanos(ps / 1000));
                    assert_eq!(packet.original_len, segment.packet_len());
                    let decoded = decode(&packet.data).expect("a right packet");
                    assert_eq!(decoded.segment, segment);
                    assert_eq!(decoded.source, if from_client { client() } else { server() });
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(packets.count(), 0, "packets that are not in the file");
        let name = |name: &'static str| InterfaceDescriptionOption::IfName(Cow::Borrowed(name));
        assert_eq!(names, [name("Denver->Kansas City"), name("b->a")]);
    }

    #[test]
    fn packets_are_cut_to_the_snap_length() {
        let file = TemporaryFile::new("snap-length");
        for snap_length in [30, 96] {
            write(&file.0, snap_length).expect("a writable folder for temporary files");
            let bytes = std::fs::read(&file.0).expect("written");
            let mut reader = PcapNgReader::new(&bytes[..]).expect("a section header");
            let mut lengths = Vec::new();
            while let Some(block) = reader.next_block() {
                if let Block::EnhancedPacket(packet) = block.expect("a well-formed block") {
                    lengths.push((packet.data.len() as u32, packet.original_len));
                }
            }
            let expected: Vec<_> = connection()
                .iter()
                .map(|(.., segment)| (segment.packet_len().min(snap_length), segment.packet_len()))
                .collect();
            assert_eq!(lengths, expected);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_with_its_path() {
        let error = write(Path::new("/no/such/folder/run.pcapng"), 0).expect_err("no folder");
        assert!(
            error.to_string().starts_with("cannot write the capture /no/such/folder/run.pcapng: "),
            "{error}"
        );
        let name = "x".repeat(70_000);
        let error = CaptureFile::create(Path::new("/no/such/folder"), &[name], 0).err().expect("refused");
        assert!(matches!(error, CaptureWriteError::Name { length: 70_000, .. }), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        // The file fits the buffer, so it is `finish` that finds out.
        let error = write(Path::new("/dev/full"), 0).expect_err("always full");
        let CaptureWriteError::Io { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_segment_without_byte_form_and_an_unknown_point_are_errors() {
        let file = TemporaryFile::new("refused");
        let mut capture = CaptureFile::create(&file.0, &["a".to_owned()], 0).expect("writable");
        let too_long = Segment { payload: u16::MAX, ..Segment::default() };
        let packet = |segment| CapturedPacket {
            content: Content::Segment(segment),
            source: client(),
            destination: server(),
            identification: 0,
            ttl: 64,
        };
        let error = capture.record(0, Instant::ZERO, &packet(&too_long)).expect_err("too long");
        assert!(matches!(error, CaptureWriteError::Packet { .. }), "{error}");
        let error = capture.record(1, Instant::ZERO, &packet(&Segment::default())).expect_err("one point");
        assert!(error.to_string().contains("interface id: 1"), "{error}");
    }

    #[test]
    fn addresses_spell_the_node_id() {
        assert_eq!(host_address(NodeId(0)), [10, 0, 0, 0]);
        assert_eq!(host_address(NodeId(0x01_02_03)), [10, 1, 2, 3]);
        assert_eq!(host_address(NodeId(0xFF_FFFF)), [10, 255, 255, 255]);
    }

    /// Wireshark's own dissector checks every length, option and checksum, and reads our times, names
    /// and relative sequence numbers.
    #[test]
    fn tshark_has_no_complaint() {
        if Command::new("tshark").arg("--version").output().is_err() {
            println!("skipped: no tshark");
            return;
        }
        let file = TemporaryFile::new("tshark");
        write(&file.0, 0).expect("a writable folder for temporary files");
        let tshark = |arguments: &[&str]| {
            let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
            let output = Command::new("tshark").arg("-r").arg(&file.0).args(checks).args(arguments).output();
            let output = output.expect("tshark runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text")
        };
        let complaints = "_ws.malformed || tcp.checksum.status==0 || ip.checksum.status==0 \
                          || _ws.expert.severity==error";
        assert_eq!(tshark(&["-Y", complaints]), "");
        // The same filter turned around finds every packet: the checks were made and passed.
        let checked = tshark(&["-Y", "tcp.checksum.status==1 && ip.checksum.status==1"]);
        assert_eq!(checked.lines().count(), connection().len(), "{checked}");

        let fields = ["frame.time_epoch", "frame.interface_name", "tcp.seq", "tcp.ack", "tcp.len"];
        let mut arguments = vec!["-T", "fields"];
        fields.iter().for_each(|field| arguments.extend(["-e", field]));
        let table = tshark(&arguments);
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines[0], ["0.000000000", "Denver->Kansas City", "0", "0", "0"]);
        assert_eq!(lines[1], ["0.005000000", "b->a", "0", "1", "0"]);
        assert_eq!(lines[2], ["0.010000000", "Denver->Kansas City", "1", "1", "0"]);
        assert_eq!(lines[4], ["0.013000000", "Denver->Kansas City", "1449", "1", "1448"]);
        assert_eq!(lines[11], ["0.041000000", "Denver->Kansas City", "2899", "2", "0"]);

        let options = ["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.timestamp.tsval"];
        let mut arguments = vec!["-T", "fields", "-e", "ip.dsfield.ecn"];
        options.iter().for_each(|field| arguments.extend(["-e", field]));
        let table = tshark(&arguments);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!((lines[0], lines[4]), ("0\t1460\t7\t1", "3\t\t\t13"));
        let edges = ["-Y", "frame.number==6", "-T", "fields", "-e", "tcp.options.sack_le"];
        assert_eq!(tshark(&edges).trim(), "1449");
    }
}
