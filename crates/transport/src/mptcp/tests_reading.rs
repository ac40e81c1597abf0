//! Whole connections whose application reads slowly: one window holds for all subflows.

use super::testing::{Network, Wire, mptcp, secs};
use crate::config::MptcpConfig;
use anabranch_units::Bytes;

const BUFFER: u64 = 100_000;

fn holding(preset: &str, autotuning: bool) -> (MptcpConfig, Network) {
    let mut config = mptcp(preset, 2);
    config.tcp.receive_buffer = Bytes(BUFFER);
    config.tcp.autotuning = autotuning;
    let mut network = Network::new(&config, vec![Wire::new(10, 20), Wire::new(30, 20)], 1);
    network.receiver.hold();
    network.sender.open();
    network.sender.write(1_000_000);
    network.sender.close();
    (config, network)
}

/// RFC 8684 section 3.3.4: what both subflows bring together fits the buffer, with less than a unit of the window for each
/// ACK; whoever reads, reads each byte once.
#[test]
fn what_is_held_is_held_for_all_subflows() {
    for (preset, autotuning) in [("mptcp-cubic", false), ("linux-mptcp", false), ("linux-mptcp", true)] {
        let (_, mut network) = holding(preset, autotuning);
        network.run(secs(3.0));
        let (unread, delivered) = (network.receiver.unread(), network.receiver.stats().delivered);
        assert_eq!(delivered, 0, "{preset}");
        let least = if autotuning { 60_000 } else { BUFFER - 2 * 1460 };
        assert!((least..BUFFER + 200).contains(&unread), "{preset}: {unread}");
        let mut at = 3.0;
        while !network.receiver.is_finished() || network.receiver.unread() > 0 {
            network.receiver.read(secs(at), 10_000);
            network.flush();
            at += 0.02;
            network.run(secs(at));
            network.now = secs(at);
            assert!(network.receiver.unread() < BUFFER + 200, "{preset}");
            assert!(at < 30.0, "{preset}: {} read", network.receiver.stats().delivered);
        }
        assert_eq!(network.receiver.stats().delivered, 1_000_000, "{preset}");
        // 10,000 bytes each 20 ms, from 3 s on: 2 s.
        assert!(at < 5.6, "{preset}: {at} s");
    }
}

/// RFC 9293 section 3.8.6.1: a window update that is lost is asked for, by a segment without data, each time after twice as
/// long; the first path is dead, so that the second one asks.
#[test]
fn a_lost_window_update_is_asked_for() {
    let (_, mut network) = holding("mptcp-cubic", false);
    network.run(secs(3.0));
    network.now = secs(3.0);
    network.wires.iter_mut().for_each(|wire| wire.lost = 1000);
    network.receiver.read(secs(3.0), BUFFER);
    network.flush();
    network.wires[1].lost = 0;
    network.run(secs(20.0));
    assert!(network.receiver.unread() > BUFFER / 2, "{} came after the update", network.receiver.unread());
}
