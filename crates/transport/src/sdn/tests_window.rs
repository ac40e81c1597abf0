//! The sliding window, against section 3.3 of the thesis.

use super::testing::*;
use crate::agent::SenderAgent;
use crate::config::{SlidingWindowConfig, TransportConfig};
use crate::preset::preset;
use crate::segment::{Flags, Segment};
use anabranch_units::{Instant, Span};
use proptest::prelude::*;

fn config(window_segments: u32, segment: u16) -> TransportConfig {
    let Some(TransportConfig::SlidingWindow(config)) = preset("sliding-window") else { panic!("a preset") };
    TransportConfig::SlidingWindow(SlidingWindowConfig { window_segments, segment, ..config })
}

fn network(config: &TransportConfig) -> Network {
    // On the control link only the set-up message stands before the SYN.
    let delays = Delays { syn: us(628), ..thesis_delays() };
    Network::new(config, 0xFFFF_F000, delays, Controller::default())
}

/// Section 3.3, figure 3.10: window 5, 10 segments, the flow is set up at 10.44 us, the round trip takes
/// 12.16 us. The link lets one segment through each microsecond; each ACK lets one more go.
#[test]
fn the_window_of_the_thesis_slides() {
    let network = network(&config(5, 1000)).transfer(9_600, |_, _| Fate::Arrive);
    assert_eq!(network.sender.established_at(), Some(at_us(1044)));
    assert_eq!(times(&network.data())[..5], [1044; 5]);
    assert_eq!(times(&network.data())[5..], [2260, 2360, 2460, 2560, 2660]);
    assert_eq!(network.sender.rtt().min, us(1216));
    let fin = network.forward(|segment| segment.flags.has(Flags::FIN));
    assert_eq!(times(&fin), [2660 + 1216]);
    assert!(is_finished(&network.sender) && network.receiver.is_finished());
    let stats = network.sender.stats();
    assert_eq!((stats.segments, stats.retransmissions, stats.timeouts), (10, 0, 0));
    assert_eq!((network.sender.cwnd(), network.sender.ssthresh()), (4_800, u64::MAX));
}

/// The first of five is lost: the ACK of the fourth says so, one retransmission repairs it. The window
/// stands still meanwhile.
#[test]
fn a_hole_is_filled_without_a_timeout() {
    let mut lost = false;
    let network = network(&config(5, 1000)).transfer(9_600, |packet, _| match packet {
        InTransit::Forward(segment) if segment.payload > 0 && !lost => {
            lost = true;
            Fate::Lost
        }
        _ => Fate::Arrive,
    });
    // The second segment leaves the link at 11.44 us; the fourth's ACK is the third that is later.
    assert_eq!(times(&network.data())[5], 1344 + 1216);
    let stats = network.sender.stats();
    assert_eq!((stats.segments, stats.retransmissions, stats.timeouts), (11, 1, 0));
    assert_eq!(network.receiver.stats().delivered, 9_600);
}

/// A lost tail waits for max(srtt + 4 rttvar, 2 srtt) from the last ACK, and twice that if the
/// retransmission is lost too. By hand: samples of 12.16 to 16.16 us.
#[test]
fn a_lost_tail_waits_for_the_timer() {
    let mut number = 0;
    let network = network(&config(5, 1000)).transfer(4_800, |packet, _| {
        let data = matches!(packet, InTransit::Forward(segment) if segment.payload > 0);
        number += u64::from(data);
        if data && (number == 5 || number == 6) { Fate::Lost } else { Fate::Arrive }
    });
    // RFC 6298 (2.2), (2.3) over 12.16, 13.16, 14.16, 15.16 us.
    let (mut srtt, mut rttvar) = (12.16, 6.08);
    for sample in [13.16, 14.16, 15.16_f64] {
        rttvar = 0.75 * rttvar + 0.25 * f64::abs(srtt - sample);
        srtt = 0.875 * srtt + 0.125 * sample;
    }
    let timeout = f64::max(srtt + 4.0 * rttvar, 2.0 * srtt);
    let last_ack = 10.44 + 15.16;
    let sent: Vec<f64> = network.data().iter().map(|(at, _)| at.as_secs_f64() * 1e6).collect();
    assert!((sent[5] - (last_ack + timeout)).abs() < 0.001, "{} {}", sent[5], last_ack + timeout);
    assert!((sent[6] - (last_ack + 3.0 * timeout)).abs() < 0.001, "{}", sent[6]);
    assert_eq!(network.sender.stats().timeouts, 2);
    assert!(is_finished(&network.sender));
}

/// Where the round trip never varies, the timeout stays twice that above it.
#[test]
fn a_steady_round_trip_never_times_out() {
    let network = network(&config(1, 1000)).transfer(2_000 * 960, |_, _| Fate::Arrive);
    assert_eq!(network.sender.rtt().smoothed, us(1216));
    assert_eq!(network.sender.stats().timeouts, 0);
}

/// A SYN is quick where a data segment is slow: 40 to 1000 bytes on a link without propagation delay. The
/// bound on the first round trip keeps the timer quiet.
#[test]
fn a_slow_link_is_not_taken_for_a_loss() {
    let tick = Span::from_us(40);
    let slow = Delays { data: tick * 25, syn: tick, answer: tick, control: tick, transmission: tick * 25 };
    let network = Network::new(&config(5, 1000), 3, slow, Controller::default());
    let network = network.transfer(96_000, |_, _| Fate::Arrive);
    assert_eq!((network.sender.stats().timeouts, network.sender.stats().retransmissions), (0, 0));
}

/// Sequence numbers go round more than once in a stream of 5 GiB.
#[test]
fn a_stream_longer_than_the_sequence_space() {
    let bytes = 5 << 30;
    let mut delivered = 0;
    let mut sender = SenderAgent::new(&config(8, 65_000), 0x8000_0000, 1);
    let mut receiver = crate::agent::ReceiverAgent::new(&config(8, 65_000), 5);
    sender.open();
    sender.write(bytes);
    sender.close();
    let mut now = Instant::ZERO;
    while !receiver.is_finished() {
        while let Some(segment) = sender.poll_transmit(now) {
            receiver.on_segment(now, &segment);
            now = now + us(100);
            while let Some(answer) = receiver.poll_transmit(now) {
                sender.on_segment(now, &answer);
            }
        }
        assert!(receiver.stats().delivered > delivered, "it goes on");
        delivered = receiver.stats().delivered;
    }
    assert!(is_finished(&sender));
    assert_eq!((receiver.stats().delivered, sender.stream_length()), (bytes, Some(bytes)));
    assert_eq!(sender.stats().segments, bytes.div_ceil(64_960));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the wire does, every byte arrives once, both ends close and the window is never overrun.
    #[test]
    fn every_byte_arrives(
        fates in prop::collection::vec(any_fate(), 1..300),
        segments in 1u64..150,
        window_segments in 1u32..12,
        sequence in prop_oneof![Just(0xFFFF_F000u32), any::<u32>()],
    ) {
        let config = patient(config(window_segments, 1000));
        let network = Network::new(&config, sequence, thesis_delays(), Controller::default());
        let bytes = segments * 960 - 7;
        let network = network.transfer(bytes, |_, number| {
            fates.get(number as usize).copied().unwrap_or(Fate::Arrive)
        });
        prop_assert_eq!(network.receiver.stats().delivered, bytes);
        prop_assert!(is_finished(&network.sender) && network.receiver.is_finished());
        prop_assert_eq!(network.sender.in_flight(), 0);
        // Replayed: no data beyond the window behind what had been acknowledged when it left.
        let mut edge = 0u64;
        for (at, segment) in network.data() {
            let mut una = sequence.wrapping_add(1);
            for (sent_at, answer) in network.backward() {
                if sent_at <= at && (answer.ack.wrapping_sub(una) as i32) > 0 {
                    una = answer.ack;
                }
            }
            let beyond = segment.seq.wrapping_add(u32::from(segment.payload)).wrapping_sub(una) as i32;
            prop_assert!(beyond <= window_segments as i32 * 960);
            edge = edge.max(beyond.max(0) as u64);
        }
        prop_assert!(edge > 0, "something was looked at");
    }
}

/// Data alone heeds a window: a CTRL says nothing to this sender.
#[test]
fn a_control_is_not_heeded() {
    let mut sender = SenderAgent::new(&config(5, 1000), 7, 1);
    sender.open();
    sender.write(960);
    sender.on_control(Instant::ZERO, &single_flow(1));
    assert_eq!(sender.poll_confirmation(), None);
    assert!(sender.poll_transmit(Instant::ZERO).is_some());
    let flags = Flags::SYN.with(Flags::ACK);
    sender.on_segment(at_us(1044), &Segment { ack: 8, flags, ..Segment::default() });
    assert!(sender.poll_transmit(at_us(1044)).is_some_and(|data| data.payload == 960));
}
