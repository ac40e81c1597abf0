//! The send buffer, the window and the timer of the connection, by hand.

use super::{BLOCK, MptcpSender};
use crate::mptcp::Interfaces;
use crate::mptcp::data_sequence::DATA_START;
use crate::mptcp::paths::Path;
use crate::mptcp::testing::{Network, Side, Wire, mptcp, secs};
use anabranch_units::{Instant, Span};

fn sender(subflows: u16) -> MptcpSender {
    let mut sender = MptcpSender::new(&mptcp("linux-mptcp", subflows), 1, 1, Interfaces::all_joined(1, 1));
    sender.write_without_end();
    sender
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// A buffer of 90,000 bytes is full with three blocks, 98,184 bytes; 60,001 that are kept leave 29,999, and 60,000 leave
/// 30,000, half of them, for one more.
#[test]
fn the_application_writes_again_when_a_third_of_the_buffer_is_free() {
    let mut sender = sender(1);
    sender.paths.set(0, Path { usable: true, send_buffer: 90_000, ..Path::default() }, 0);
    for (acknowledged, filled) in [(0, 98_184), (38_183, 98_184), (38_184, 130_912), (70_911, 130_912)] {
        sender.data.una = DATA_START + acknowledged;
        sender.fill_buffer();
        assert_eq!(sender.buffered() - DATA_START, filled, "{acknowledged}");
    }
    // A buffer that grows lets it write, too.
    sender.paths.set(0, Path { usable: true, send_buffer: 90_002, ..Path::default() }, 0);
    sender.fill_buffer();
    assert_eq!(sender.buffered() - DATA_START, 163_640);
}

/// RFC 9293 section 3.10.7.4 would take the smaller window of a duplicate ACK; Linux does not, unless it is shut.
#[test]
fn a_duplicate_ack_makes_no_window_smaller() {
    let mut sender = sender(1);
    let subflow = &mut sender.subflows[0];
    let acks = [(100, 5000, 5000), (100, 4000, 5000), (100, 6000, 6000), (90, 9000, 6000), (100, 0, 0)];
    let mut una = 50;
    for (ack, window, taken) in acks {
        subflow.take_window(window, ack, una);
        una = una.max(ack);
        assert_eq!(subflow.window(), taken, "{ack} {window}");
    }
    subflow.take_window(3000, 101, una);
    assert_eq!(subflow.window(), 3000, "an ACK that moves on makes it what it says");
}

/// 50,000 bytes were given and 20,000 are acknowledged. The rest of their block, up to 32,728, goes to the first subflow
/// that has nothing outstanding; the timer starts anew and waits 200 ms, for no timer of a subflow runs.
#[test]
fn the_timer_of_the_connection_repeats_the_oldest_block() {
    let mut network = Network::new(&mptcp("linux-mptcp", 3), vec![Wire::new(10, 10)], 1);
    network.sender.open();
    // Further subflows join once data are acknowledged.
    network.sender.write(1);
    assert!(network.run(secs(1.0)));
    let mut sender = network.sender;
    assert_eq!((sender.paths.usable().count(), sender.data_timer.at), (3, Instant::MAX));
    sender.write(99_999);
    for subflow in [0, 1] {
        sender.subflows[subflow].enqueue(DATA_START + 40_000, 10_000);
    }
    sender.data.nxt = DATA_START + 50_000;
    sender.fill_buffer();
    sender.tune_data_timer(ms(1000));
    sender.on_data_ack(ms(1001), DATA_START + 20_000);
    // 200 ms are 50 ticks of 4 ms, counted from the tick that has begun, and one more.
    assert_eq!(sender.data_timer.at, ms(1204));
    sender.on_data_timeout(ms(1203));
    assert_eq!(sender.stats.reinjected_bytes, 0);
    sender.on_data_timeout(ms(1204));
    assert_eq!(sender.subflows[2].dequeue(u64::MAX), Some((DATA_START + 20_000, 12_728)));
    assert_eq!((sender.stats.reinjected_bytes, sender.data_timer.at), (12_728, ms(1408)));
    // All have data of their own: nothing is repeated, and the timer goes on.
    sender.subflows[2].enqueue(DATA_START + 50_000, 1);
    sender.on_data_timeout(ms(1408));
    assert_eq!((sender.stats.reinjected_bytes, sender.data_timer.at), (12_728, ms(1612)));
}

/// A burst is two blocks, 65,456 bytes or 46 segments of 1424 bytes at most, and leaves before the next one is given: a
/// subflow whose window has room for two sends the second behind the first of the other subflow. Captures of Linux show 46
/// segments of one subflow after the other, and hardly more (checks/validation/linux/README.md).
#[test]
fn a_burst_leaves_before_the_next_one_is_given() {
    let wire = Wire { queue_bytes: 10_000_000, ..Wire::new(10, 1000) };
    let mut network = Network::new(&mptcp("linux-mptcp", 2), vec![wire], 1);
    network.sender.open();
    // Both windows grow beyond two bursts; the next block begins where the first bytes below do.
    network.sender.write(200 * BLOCK);
    assert!(network.run(secs(10.0)));
    let windows = [0, 1].map(|index| network.sender.subflows[index].sender.cwnd());
    assert!(windows.iter().all(|&window| window > 4 * BLOCK), "{windows:?}");
    network.log = Some(Vec::new());
    network.sender.write(8 * BLOCK);
    network.flush();
    let log = network.log.take().unwrap();
    let order: Vec<u8> = log
        .iter()
        .filter(|(_, side, _)| *side == Side::Sender)
        .map(|(.., segment)| segment.subflow)
        .collect();
    let runs: Vec<(u8, usize)> = order.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    assert_eq!(runs[0], (0, 46), "{runs:?}");
    assert_eq!(order.iter().filter(|&&subflow| subflow == 0).count(), 92, "{runs:?}");
}
