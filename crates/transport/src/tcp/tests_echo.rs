//! What a timestamp's echo says of a loss: never less than a connection without timestamps knows.
//! What is left to loss detection once an echo, or a DSACK, has shown a timeout to be spurious.

use super::tests::{Fate, Pair, Side, is_data};
use crate::config::TcpConfig;
use crate::{LossDetectionConfig, tcp_preset};
use anabranch_units::{Instant, Span};

/// NewReno with each registered loss detection, and with MPRC's window.
fn detections() -> Vec<(String, TcpConfig)> {
    let mut all = Vec::new();
    for &name in LossDetectionConfig::NAMES {
        let detection = LossDetectionConfig::named(name).expect("a registered name");
        for controller in ["newreno", "mprc"] {
            let congestion_control = tcp_preset(controller).expect("a preset").congestion_control;
            let config =
                TcpConfig { loss_detection: detection.clone(), congestion_control, ..TcpConfig::default() };
            all.push((format!("{name}, {controller}"), config));
        }
    }
    assert_eq!(all.len(), 2 * LossDetectionConfig::NAMES.len());
    all
}

/// When each retransmission left, of a transfer of `segments` full segments in which the first `losses[i].1`
/// transmissions of segment `losses[i].0` are lost.
fn retransmitted_at(config: &TcpConfig, segments: u64, losses: &[(u64, u32)]) -> Vec<Instant> {
    let mut left: Vec<(u64, u32)> = losses.to_vec();
    let payload = if config.timestamps { 1448 } else { 1460 };
    let mut first = None;
    let pair = Pair::transfer(config, segments * payload, |side, segment, _| {
        if side == Side::Receiver || !is_data(segment) {
            return Fate::Arrive;
        }
        let first = *first.get_or_insert(segment.seq);
        let place = u64::from(segment.seq.wrapping_sub(first)) / payload;
        match left.iter_mut().find(|(segment, times)| *segment == place && *times > 0) {
            Some((_, times)) => {
                *times -= 1;
                Fate::Lost
            }
            // One behind the other, so that ACKs, and what they let go, have stamps of their own.
            None => Fate::Late(Span::from_us(20 * place)),
        }
    });
    assert_eq!(pair.receiver.stats().delivered, segments * payload);
    let mut seen = std::collections::BTreeSet::new();
    let data = pair.log.iter().filter(|(_, side, segment)| *side == Side::Sender && is_data(segment));
    data.filter(|(_, _, segment)| !seen.insert(segment.seq)).map(|(at, ..)| *at).collect()
}

/// One loss in the middle: whatever finds it, segments behind it are SACKed, and the echo of these ACKs is the stamp of
/// the segment before the hole (RFC 7323 section 4.3, case (B)), which says nothing of them.
#[test]
fn a_hole_is_found_no_later_with_timestamps() {
    for (name, config) in detections() {
        let at = |timestamps| retransmitted_at(&TcpConfig { timestamps, ..config.clone() }, 60, &[(33, 1)]);
        assert_eq!(at(true), at(false), "{name}");
        assert!(!at(true).is_empty(), "{name}");
    }
}

/// Two holes, and the first one's retransmission is lost as well: the SACK of the second one's tells of it.
#[test]
fn a_lost_retransmission_is_found_no_later_with_timestamps() {
    for (name, config) in detections() {
        let losses = [(40, 2), (42, 1)];
        let last = |timestamps| {
            let times = retransmitted_at(&TcpConfig { timestamps, ..config.clone() }, 44, &losses);
            *times.last().expect("retransmissions")
        };
        assert!(last(true) <= last(false), "{name}: {:?}, {:?}", last(true), last(false));
    }
}

/// FastRTO finds a hole when its timer expires, and not `delayed_ack_timeout` later: a segment behind it is SACKed.
/// An ACK for each segment needs no such time at all.
#[test]
fn fastrto_adds_no_delayed_ack_to_a_hole() {
    let mprc = tcp_preset("mprc").expect("a preset");
    for delayed_ack in [40, 400] {
        let config = TcpConfig { delayed_ack_timeout: Span::from_ms(delayed_ack), ..mprc.clone() };
        let times = retransmitted_at(&config, 60, &[(33, 1)]);
        let without = TcpConfig { delayed_ack_segments: 1, ..mprc.clone() };
        assert_eq!(times.len(), 1);
        let earliest = retransmitted_at(&without, 60, &[(33, 1)]);
        assert!(times[0].saturating_since(earliest[0]) < Span::from_ms(10), "{delayed_ack} ms: {times:?}");
    }
}

/// A path dies for three seconds: of a flight 110 segments arrive, whose ACKs are lost, and then all is lost until the path is
/// back. The first answer shows that what was sent again had arrived (RFC 3522 by the echo, RFC 3708 by the DSACK), so that the
/// timeout is taken back, with its judgement of all that is outstanding. What is truly lost of it is found by the data that leave
/// from then on (RFC 6675 section 4, IsLost(); RFC 8985): in round trips of 20 ms, and not by a timeout of seconds. Left out are
/// the detections that go by time alone, to which the answer tells a round trip of three seconds.
#[test]
fn what_an_outage_lost_is_found_though_its_timeout_is_taken_back() {
    let (died, back) = (Instant::ZERO + Span::from_ms(95), Instant::ZERO + Span::from_ms(3095));
    let by_time = |name: &str| name.starts_with("fastrto") || name.starts_with("tcp-pr");
    let by_sack: Vec<_> = detections().into_iter().filter(|(name, _)| !by_time(name)).collect();
    assert_eq!(by_sack.len(), detections().len() - 4);
    for (name, config) in by_sack {
        for timestamps in [true, false] {
            let config = TcpConfig { timestamps, undo: true, ..config.clone() };
            let mut pair = Pair::new(&config, 1);
            pair.sender.open();
            pair.sender.write(10_000_000);
            pair.run(died, |_, _, _| Fate::Arrive);
            let mut arrivals = 0;
            pair.run(back, |side, segment, _| {
                arrivals += u32::from(side == Side::Sender && is_data(segment));
                if side == Side::Sender && arrivals <= 110 { Fate::Arrive } else { Fate::Lost }
            });
            let (una, outstanding) = (pair.sender.snd_una(), pair.sender.snd_nxt());
            assert!(outstanding > una + 140 * 1460, "{name}: a flight is out");
            let mut now = back;
            while pair.sender.snd_una() == una {
                now = now + Span::from_ms(1);
                pair.run(now, |_, _, _| Fate::Arrive);
            }
            pair.run(now + Span::from_ms(400), |_, _, _| Fate::Arrive);
            let missing = outstanding.saturating_sub(pair.sender.snd_una());
            assert_eq!(missing, 0, "{name}, timestamps {timestamps}: 400 ms after the first answer");
        }
    }
}
