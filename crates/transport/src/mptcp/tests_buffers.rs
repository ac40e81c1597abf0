//! Windows and buffers of whole connections.

use super::testing::{Network, Side, Wire, mptcp, secs};
use super::{Dss, MptcpOption};
use crate::config::MptcpConfig;
use crate::log::Decision;
use crate::segment::{Flags, Segment};
use crate::{PathManagerConfig, SchedulerConfig};
use anabranch_units::{Bytes, Instant};

/// The first data segment has 4 bytes less than the others (RFC 8684 section 3.1), and slow start is no segment short
/// for it: windows of 10 and 20 segments carry 30 segments in two round trips of 20 ms behind a handshake of 20 ms. Where
/// data sequence numbers have 8 octets, all segments are as long as the first.
#[test]
fn the_shorter_first_segment_costs_no_round_trip() {
    for (preset, first, others) in [("mptcp-cubic", 1424, 1428), ("linux-mptcp", 1424, 1424)] {
        let config = mptcp(preset, 1);
        let bytes = first + 29 * others;
        let mut network = Network::new(&config, vec![Wire::new(10, 10_000)], 1);
        network.sender.open();
        network.sender.write(bytes);
        network.run(secs(0.0605));
        assert_eq!(network.receiver.stats().delivered, bytes, "{preset}");
    }
}

/// The window is whole segments in half of 128 KiB at first; it follows what is taken, and its right edge in the data never moves back, whichever
/// subflow tells it.
#[test]
fn the_window_of_the_connection_grows_and_never_moves_back() {
    let mut network = Network::new(&mptcp("linux-mptcp", 2), vec![Wire::new(10, 20), Wire::new(40, 20)], 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(10.0));
    let log = network.log.take().unwrap();
    let acks = log.iter().filter(|(_, side, s)| *side == Side::Receiver && !s.flags.has(Flags::SYN));
    let mut edges = Vec::new();
    let mut windows = Vec::new();
    for (.., segment) in acks {
        if let Some(super::MptcpOption::Dss(super::Dss { data_ack: Some(ack), .. })) = segment.mptcp() {
            windows.push(u64::from(segment.window) << 7);
            edges.push(ack.low().wrapping_add((segment.window as u32) << 7));
        }
    }
    // 65,160 and twice the first segment.
    assert_eq!(windows[0], 67_968);
    // The window field counts 128 bytes.
    assert!(edges.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]).wrapping_add(128) < 1 << 30));
    assert!(windows.iter().max().unwrap() > &200_000, "{:?}", windows.iter().max());
    assert!(network.receiver.stats().delivered > 30_000_000);
}

/// Data lie in the send buffer until they are acknowledged at the data level: at first twice ten segments of 1460 bytes, each
/// of which counts for 2304 bytes. One block does not fill these 46,080 bytes and two do; of their 65,456 bytes the first
/// window of the receiver has room for 65,160, as in a trace of the kernel (checks/validation/linux/README.md).
#[test]
fn the_send_buffer_bounds_what_is_not_acknowledged() {
    let mut network = Network::new(&mptcp("linux-mptcp", 1), vec![Wire::new(100, 1000)], 1);
    network.sender.open();
    network.sender.write_without_end();
    // The first window is on its way, and nothing is acknowledged.
    network.run(secs(0.25));
    assert_eq!(network.sender.acknowledged(), 0);
    let view = network.sender.assigned();
    assert_eq!(view, 65_160);
}

/// What a dead path has in its queue is sent on the other, and what the receive window holds lies in the buffer.
#[test]
fn queues_of_a_dead_path_go_to_the_other() {
    let scheduler = SchedulerConfig::Linux(Default::default());
    let config = MptcpConfig { scheduler, ..mptcp("linux-mptcp", 2) };
    let wires = vec![Wire::new(10, 10), Wire::new(12, 10).dead(2.0, 1e6)];
    let mut network = Network::transfer(&config, wires, 5_000_000, 3);
    assert!(network.run(secs(1000.0)));
    network.check_complete(5_000_000);
}

/// A small buffer bounds the window at its start, too.
#[test]
fn the_receive_buffer_bounds_what_waits() {
    let mut config = mptcp("linux-mptcp", 2);
    config.tcp.receive_buffer = Bytes(50_000);
    let network = Network::transfer(&config, vec![Wire::new(5, 20), Wire::new(100, 20)], 2_000_000, 1);
    assert!(network.receiver.multipath_stats().most_waiting_bytes <= 50_000);
}

/// At most so many pairs of interfaces: the nine of Linux.
#[test]
fn a_full_mesh_has_its_limit() {
    let Some(crate::TransportConfig::Mptcp(config)) = crate::preset("linux-mptcp") else {
        panic!("a preset")
    };
    assert!(matches!(&config.path_manager, PathManagerConfig::Fullmesh(mesh) if mesh.limit == 9));
    let network = Network::transfer(&config, (0..12).map(|_| Wire::new(10, 100)).collect(), 3_000_000, 9);
    assert_eq!(network.sender.subflow_count(), 9);
}

/// RFC 6298 section 3 (Karn): a SYN that was sent twice gives no RTT sample, so that no pacing rate is known. The
/// scheduler of Linux sends all the same.
#[test]
fn a_lost_syn_leaves_the_scheduler_of_linux_something_to_do() {
    let wires = vec![Wire::new(10, 10).dead(0.0, 0.5)];
    Network::transfer(&mptcp("linux-mptcp", 1), wires, 100_000, 1);
}

/// What waits for data of the slower subflow does not widen the window beyond what is taken in a round trip: with it the
/// window would end at 3,864,704 bytes here, and without it at 3,720,832.
#[test]
fn what_waits_behind_a_hole_widens_no_window() {
    let mut config = mptcp("linux-mptcp", 2);
    config.tcp.acks_end_of_write = false;
    // The numbers above are those of ACKs that leave one by one.
    config.tcp.held_sacks = 0;
    let mut network = Network::new(&config, vec![Wire::new(10, 10), Wire::new(60, 40)], 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(5.0));
    let log = network.log.take().unwrap();
    let acks = log.iter().filter(|(_, side, s)| *side == Side::Receiver && !s.flags.has(Flags::SYN));
    let windows = acks.map(|(.., s)| s.window);
    let largest = u64::from(windows.max().unwrap()) << 7;
    let waiting = network.receiver.multipath_stats().most_waiting_bytes;
    assert!(waiting > 900_000, "{waiting}");
    assert!(largest < 3_800_000, "{largest}");
}

/// A fast subflow that repairs losses hears duplicate ACKs, which make its window no smaller, while data ACKs go on by the
/// other one: data leave beyond the window that was told. The receiver drops them, though their subflow acknowledges them, and
/// the timer of the connection has them sent again. Where the window is that of the segment, nothing lies beyond it.
#[test]
fn data_beyond_the_window_are_dropped_and_sent_again() {
    for subflow_windows in [true, false] {
        let mut config = MptcpConfig { subflow_windows, ..mptcp("linux-mptcp", 2) };
        // As in the recorded runs: with the smaller window of 856 this transfer does not meet its end while it repairs.
        config.tcp.segment_overhead = Bytes(728);
        let wires = vec![Wire { queue_bytes: 75_000, ..Wire::new(25, 10) }, Wire::new(1, 3)];
        let mut network = Network::new(&config, wires, 1);
        network.log = Some(Vec::new());
        network.sender.keep_log(1_000_000);
        network.sender.open();
        network.sender.write(4 << 20);
        network.sender.close();
        assert!(network.run(secs(60.0)));
        network.check_complete(4 << 20);
        let beyond = beyond_the_window(&network.log.take().unwrap(), &network);
        let log = network.sender.take_log();
        let repeated = log.iter().filter_map(|entry| match entry.decision {
            Decision::RetransmittedData { bytes } => Some(bytes),
            _ => None,
        });
        let repeated: u64 = repeated.sum();
        assert_eq!(network.sender.multipath_stats().reinjected_bytes, repeated);
        assert_eq!((beyond > 0, repeated > 0), (subflow_windows, subflow_windows), "{beyond} {repeated}");
    }
}

/// Bytes that left beyond every window that the receiver had told.
fn beyond_the_window(log: &[(Instant, Side, Segment)], network: &Network) -> u64 {
    let (mut first, mut edge, mut beyond) = (None, 0, 0);
    for (_, side, segment) in log.iter().filter(|(.., segment)| !segment.flags.has(Flags::SYN)) {
        let Some(MptcpOption::Dss(Dss { data_ack, mapping, .. })) = segment.mptcp() else { continue };
        match (side, network.sender.stream_range(segment), mapping, data_ack) {
            (Side::Sender, Some((begin, end)), Some(mapping), _) => {
                // The stream is shorter than what 4 octets count.
                first.get_or_insert(mapping.data_seq.low().wrapping_sub(begin as u32));
                let over = if edge == 0 { 0 } else { end.saturating_sub(edge) };
                beyond += over.min(u64::from(segment.payload));
            }
            (Side::Receiver, _, _, Some(ack)) => {
                let Some(first) = first else { continue };
                let acknowledged = u64::from(ack.low().wrapping_sub(first));
                edge = edge.max(acknowledged + (u64::from(segment.window) << 7));
            }
            _ => {}
        }
    }
    beyond
}
