//! Fast recovery of connections without SACK (RFC 6582).

use super::tests::{Fate, Pair, Side, is_data};
use crate::config::TcpConfig;
use crate::tcp_preset;

/// Section 3.2: "recover" is what was sent when the recovery began, and partial ACKs do not move it. Two segments of a
/// window are lost, and new data leave during the repair: the ACK of all that "recover" covers ends it.
#[test]
fn partial_acks_do_not_move_recover() {
    for name in ["newreno", "ns2-newreno"] {
        let config = TcpConfig { sack: false, ..tcp_preset(name).unwrap() };
        let mut number = 0;
        let pair = Pair::transfer(&config, 400_000, |side, segment, _| {
            let data = side == Side::Sender && is_data(segment);
            number += u64::from(data);
            if data && [131, 140].contains(&number) { Fate::Lost } else { Fate::Arrive }
        });
        let stats = pair.sender.stats();
        let counts = (stats.retransmissions, stats.fast_recoveries, stats.timeouts);
        assert_eq!(counts, (2, 1, 0), "{name}");
    }
}
