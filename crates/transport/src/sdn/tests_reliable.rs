//! Reliable mode: every byte arrives, and no segment leaves outside its slots.

use super::testing::*;
use crate::agent::{CycleParameters, Failure, ReceiverAgent, SenderAgent};
use crate::segment::{Flags, Segment};
use anabranch_units::{Instant, Span};
use proptest::prelude::*;

/// Which data segments are lost, by their place among all data segments, the first being 1.
fn losing(lost: &'static [u64]) -> impl FnMut(&InTransit, u64) -> Fate {
    let mut number = 0;
    move |packet, _| {
        let data = matches!(packet, InTransit::Forward(segment) if segment.payload > 0);
        number += u64::from(data);
        if data && lost.contains(&number) { Fate::Lost } else { Fate::Arrive }
    }
}

/// The place of a segment in the stream, the first being 0.
fn place(segment: &Segment) -> u32 {
    segment.seq.wrapping_sub(0xFFFF_F001) / 960
}

fn confirmations(network: &Network) -> Vec<u32> {
    let log = network.log.iter();
    log.filter_map(
        |(_, packet)| if let InTransit::Confirmation(epoch) = packet { Some(*epoch) } else { None },
    )
    .collect()
}

/// Without loss it sends what published mode sends, when published mode sends it; only the CTRL is
/// confirmed and the FIN acknowledged.
#[test]
fn without_loss_it_is_the_published_sender() {
    let published = thesis(false).transfer(50 * 960, |_, _| Fate::Arrive);
    let reliable = thesis(true).transfer(50 * 960, |_, _| Fate::Arrive);
    assert_eq!(published.forward(|_| true), reliable.forward(|_| true));
    assert_eq!((confirmations(&published), confirmations(&reliable)), (vec![], vec![1]));
    let answers = reliable.backward();
    assert_eq!(answers[..51], published.backward()[..]);
    assert_eq!(answers.len(), 52);
    let fin = reliable.forward(|segment| segment.flags.has(Flags::FIN))[0].1;
    assert_eq!(answers[51].1.ack, fin.seq.wrapping_add(1));
    assert!(answers.iter().all(|(_, segment)| segment.packet_len() == 40));
    assert!(is_finished(&reliable.sender) && reliable.receiver.is_finished());
    assert_eq!(reliable.sender.stats().timeouts, 0);
}

/// The fifth segment, of 22.88 us, is lost. The eighth, of 25.88 us, is the third sent after it; its ACK comes
/// at 38.04 us, and the slot of 38.12 us takes the retransmission, new data the one after.
#[test]
fn a_loss_is_repaired_in_the_next_slot() {
    let network = thesis(true).transfer(50 * 960, losing(&[5]));
    let data = network.data();
    assert_eq!(times(&data)[18], 3812);
    let places: Vec<u32> = data[16..21].iter().map(|(_, segment)| place(segment)).collect();
    assert_eq!(places, [16, 17, 4, 18, 19]);
    assert_eq!(network.assert_in_slots(true), 51);
    let stats = network.sender.stats();
    assert_eq!((stats.segments, stats.retransmissions, stats.timeouts), (51, 1, 0));
    // Karn's rule: the retransmission gives no sample.
    assert_eq!(network.sender.rtt().max, us(1216));
    // Above the hole an ACK has one SACK block: 40 bytes and 12.
    let long: Vec<u32> =
        network.backward().iter().map(|(_, s)| s.packet_len()).filter(|&len| len > 40).collect();
    assert!(!long.is_empty() && long.iter().all(|&len| len == 52));
    assert_eq!(network.receiver.stats().duplicate_segments, 0);
}

/// The retransmission of 38.12 us is lost as well: the third segment after it left at 41.12 us, its ACK comes
/// at 53.28 us, after the last slot of the interval; the next interval begins at 55.36 us.
#[test]
fn a_lost_retransmission_is_found_without_the_timer() {
    let network = thesis(true).transfer(50 * 960, losing(&[5, 19]));
    let sent: Vec<u64> =
        times(&network.data().into_iter().filter(|(_, s)| place(s) == 4).collect::<Vec<_>>());
    assert_eq!(sent, [2288, 3812, 5536]);
    assert_eq!((network.sender.stats().retransmissions, network.sender.stats().timeouts), (2, 0));
    assert_eq!(network.receiver.stats().delivered, 48_000);
    network.assert_in_slots(true);
}

/// Of three segments the last is lost, twice. The ACK of the second comes at 32.04 us; two intervals
/// later, at 68.52 us, the timer expires, and the slot of 69.36 us repeats the segment. Twice that time later,
/// at 142.32 us, there is a slot at the same instant.
#[test]
fn a_lost_tail_waits_two_intervals_then_four() {
    let network = thesis(true).transfer(3 * 960, losing(&[3, 4]));
    assert_eq!(times(&network.data()), [1888, 1988, 2088, 6936, 14232]);
    assert_eq!((network.sender.stats().retransmissions, network.sender.stats().timeouts), (2, 2));
    assert!(is_finished(&network.sender) && network.receiver.is_finished());
}

/// Everything from the sender is lost for a while, and goes on after the timer in the order of the stream.
#[test]
fn a_lost_window_is_sent_again_in_order() {
    let lost: Vec<u64> = (1..=17).collect();
    let network = thesis(true).transfer(17 * 960, losing(lost.leak()));
    let places: Vec<u32> = network.data().iter().map(|(_, segment)| place(segment)).collect();
    assert_eq!(places, (0..17).chain(0..17).collect::<Vec<u32>>());
    assert_eq!(network.sender.stats().timeouts, 1);
    network.assert_in_slots(true);
}

/// Two of three ACKs lost: the third says what they said, and nothing is sent again.
#[test]
fn lost_acknowledgments_cost_nothing() {
    let mut number = 0;
    let network = thesis(true).transfer(60 * 960, |packet, _| {
        let ack = matches!(packet, InTransit::Backward(segment) if segment.flags == Flags::ACK);
        number += u64::from(ack);
        if ack && number % 3 != 0 { Fate::Lost } else { Fate::Arrive }
    });
    let stats = network.sender.stats();
    assert_eq!((stats.segments, stats.retransmissions), (60, 0));
    assert!(is_finished(&network.sender));
}

/// Two segments that are overtaken by two others are not lost; overtaken by three they are taken for it,
/// and arrive once all the same.
#[test]
fn slight_reordering_is_no_loss() {
    for (late, retransmissions) in [(us(250), 0), (us(350), 1)] {
        let network = thesis(true).transfer(50 * 960, |packet, _| match packet {
            InTransit::Forward(segment) if segment.payload > 0 && place(segment) == 20 => Fate::Late(late),
            _ => Fate::Arrive,
        });
        assert_eq!(network.sender.stats().retransmissions, retransmissions);
        assert_eq!(network.receiver.stats().duplicate_segments, retransmissions);
        assert_eq!(network.receiver.stats().delivered, 48_000);
    }
}

/// RFC 6298 (5.5) from 1 s on, to at most 60 s (2.5); after 127 s it is given up.
#[test]
fn the_syn_is_repeated_until_the_handshake_is_given_up() {
    let network = thesis(true).transfer(960, |packet, _| match packet {
        InTransit::Forward(_) => Fate::Lost,
        _ => Fate::Arrive,
    });
    let seconds: Vec<u64> = times(&network.forward(|_| true)).iter().map(|at| at / 100_000_000).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63, 123]);
    assert_eq!(network.sender.failure(), Some(Failure::NoAnswer));
    assert_eq!(network.now, Instant::ZERO + Span::from_secs(127));
}

/// The CTRL is lost, the SYN-ACK comes at 10.48 us: three times that (RFC 6298 section 2.2) later the sender
/// asks again with its SYN, and the controller answers. The handshake's time stays the first answer's.
#[test]
fn a_sender_without_control_asks_again() {
    let mut controls = 0;
    let network = thesis(true).transfer(20 * 960, |packet, _| {
        controls += u64::from(matches!(packet, InTransit::Control(_)));
        if matches!(packet, InTransit::Control(_)) && controls == 1 { Fate::Lost } else { Fate::Arrive }
    });
    assert_eq!(times(&network.forward(|segment| segment.flags.has(Flags::SYN))), [0, 1048 + 3144]);
    assert_eq!(network.cycles.len(), 1);
    assert_eq!(times(&network.data())[0], 1048 + 3144 + 420 + 1468);
    assert_eq!(network.sender.established_at(), Some(at_us(1048)));
    let syn_acks = network.backward().iter().filter(|(_, s)| s.flags.has(Flags::SYN)).count();
    assert_eq!(syn_acks, 2);
    assert!(is_finished(&network.sender));
    let silent = thesis(true).transfer(960, |packet, _| match packet {
        InTransit::Control(_) => Fate::Lost,
        _ => Fate::Arrive,
    });
    assert_eq!(silent.sender.failure(), Some(Failure::NoAnswer));
    assert!(silent.data().is_empty());
    assert!(silent.now <= Instant::ZERO + Span::from_secs(127));
}

/// The FIN is lost, then its acknowledgment: the timer repeats it at two intervals, then after four.
#[test]
fn a_fin_is_repeated_until_it_is_acknowledged() {
    let (mut fins, mut answers) = (0, 0);
    let network = thesis(true).transfer(17 * 960, |packet, _| {
        match packet {
            InTransit::Forward(segment) if segment.flags.has(Flags::FIN) => {
                fins += 1;
                return if fins == 1 { Fate::Lost } else { Fate::Arrive };
            }
            InTransit::Backward(_) => answers += 1,
            _ => {}
        }
        // SYN-ACK, 17 ACKs, then the FIN's.
        if matches!(packet, InTransit::Backward(_)) && answers == 19 { Fate::Lost } else { Fate::Arrive }
    });
    let first = 1888 + 1600 + 1216;
    let fin = network.forward(|segment| segment.flags.has(Flags::FIN));
    assert_eq!(times(&fin), [first, first + 3648, first + 3 * 3648]);
    assert!(is_finished(&network.sender) && network.receiver.is_finished());
    assert_eq!(network.sender.stats().retransmissions, 0, "of data");
}

/// A sender that is established and has its first cycle.
fn established() -> SenderAgent {
    let mut sender = SenderAgent::new(&paced(true), 7, 1);
    sender.open();
    assert!(sender.poll_transmit(Instant::ZERO).is_some());
    let flags = Flags::SYN.with(Flags::ACK);
    sender.on_segment(at_us(1048), &Segment { ack: 8, flags, ..Segment::default() });
    sender.on_control(at_us(1100), &CycleParameters { delay_to_next_cycle: us(788), ..single_flow(4) });
    sender
}

/// Each CTRL is confirmed once; one that is not newer than the last changes nothing.
#[test]
fn old_and_repeated_controls_are_confirmed_and_ignored() {
    let mut sender = established();
    sender.on_control(at_us(1200), &CycleParameters { delay_to_next_cycle: us(5000), ..single_flow(4) });
    sender.on_control(at_us(1300), &CycleParameters { window_segments: 3, ..single_flow(2) });
    let confirmed: Vec<u32> = std::iter::from_fn(|| sender.poll_confirmation()).collect();
    assert_eq!(confirmed, [4, 4, 2]);
    assert_eq!(sender.next_timeout(), Some(at_us(1888)));
    sender.on_timeout(at_us(1888));
    assert_eq!(sender.cwnd(), 17 * 960);
}

/// Messages take the slots after they are written, a short one a short segment; between them no timer
/// runs. FIN waits for the close and for the last ACK.
#[test]
fn an_application_that_writes_over_time_uses_its_slots() {
    let mut sender = established();
    sender.on_timeout(at_us(1888));
    assert_eq!((sender.poll_transmit(at_us(1888)), sender.next_timeout()), (None, None));
    let mut sent = Vec::new();
    for (written, bytes) in [(2000, 100), (3050, 2_000)] {
        sender.write(bytes);
        assert_eq!(sender.poll_transmit(at_us(written)), None, "between slots");
        sent.extend(run(&mut sender, written + 400));
    }
    let slots: Vec<(u64, u16)> = sent.iter().map(|(at, s)| (at.as_ps() / 10_000, s.payload)).collect();
    assert_eq!(slots, [(2088, 100), (3088, 960), (3188, 960), (3288, 80)]);
    sender.close();
    assert_eq!((sender.stream_length(), sender.poll_transmit(at_us(3450))), (Some(2_100), None));
    sender.on_segment(at_us(3500), &Segment { ack: 8 + 2_100, flags: Flags::ACK, ..Segment::default() });
    let fin = sender.poll_transmit(at_us(3500)).expect("the FIN, at once");
    assert!(fin.flags.has(Flags::FIN) && fin.packet_len() == 40);
}

/// Bytes in flight are those sent and neither acknowledged, SACKed nor lost; what is sent again is in
/// flight again.
#[test]
fn bytes_in_flight_are_counted_once() {
    let mut sender = established();
    sender.write(5 * 960);
    assert_eq!(run(&mut sender, 2500).len(), 5);
    assert_eq!(sender.in_flight(), 5 * 960);
    let ack = |segments: u32| Segment { ack: 8 + segments * 960, flags: Flags::ACK, ..Segment::default() };
    sender.on_segment(at_us(3104), &ack(1));
    assert_eq!(sender.in_flight(), 4 * 960);
    let mut sacked = ack(1);
    sacked.sack.push(8 + 2 * 960, 8 + 4 * 960, 4);
    sender.on_segment(at_us(3404), &sacked);
    // The second is lost only when one sent three later has arrived: that is the fifth.
    assert_eq!(sender.in_flight(), 2 * 960);
    sacked.sack.push(8 + 4 * 960, 8 + 5 * 960, 4);
    sender.on_segment(at_us(3504), &sacked);
    assert_eq!((sender.in_flight(), sender.stats().timeouts), (0, 0));
    assert_eq!(sender.poll_transmit(at_us(3504)), None, "the last slot of the interval was at 34.88 us");
    assert_eq!(sender.next_timeout(), Some(at_us(3712)), "the next slot, and no retransmission timer");
    assert_eq!(run(&mut sender, 4000).len(), 1);
    assert_eq!(sender.in_flight(), 960);
}

fn changes() -> impl Strategy<Value = Vec<(Instant, CycleParameters)>> {
    let one = (1u64..400, 0u64..40, 0u64..20, 20u64..60, 1u64..4, 1u64..20);
    prop::collection::vec(one, 1..6).prop_map(|all| {
        let mut at = 0;
        let changes = all.into_iter().enumerate();
        changes
            .map(|(index, (pause, delay, initial, interval, spacing, window))| {
                at += pause;
                let parameters = CycleParameters {
                    epoch: index as u32 + 1,
                    delay_to_next_cycle: Span::from_us(delay),
                    initial_delay: Span::from_us(initial),
                    interval: Span::from_us(interval),
                    window_segments: window.min(interval / spacing) as u32,
                    inter_segment_delay: Span::from_us(spacing),
                };
                (Instant::ZERO + Span::from_us(at), parameters)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever the wire does to segments, CTRLs and confirmations, every byte arrives once and in order,
    /// both ends finish, and each segment leaves in a slot of the cycle that the CTRLs heard so far set.
    #[test]
    fn every_byte_arrives_in_slots(
        fates in prop::collection::vec(any_fate(), 1..400),
        changes in changes(),
        bytes in 1u64..200_000,
        sequence in prop_oneof![Just(0xFFFF_F000u32), any::<u32>()],
    ) {
        let newest = changes.last().unwrap().1.epoch;
        let controller = Controller::new(changes, Some(us(20_000)));
        let network = Network::new(&patient(paced(true)), sequence, thesis_delays(), controller);
        let network = network.transfer(bytes, |_, number| {
            fates.get(number as usize).copied().unwrap_or(Fate::Arrive)
        });
        prop_assert_eq!(network.receiver.stats().delivered, bytes);
        prop_assert!(is_finished(&network.sender) && network.receiver.is_finished());
        prop_assert_eq!(network.sender.in_flight(), 0);
        prop_assert_eq!(network.assert_in_slots(true) as u64, network.sender.stats().segments);
        prop_assert_eq!(confirmations(&network).len(), network.cycles.len());
        prop_assert!(network.cycles.iter().any(|(.., parameters)| parameters.epoch == newest));
    }

    /// In published mode the slots hold as well, and nothing is ever sent twice.
    #[test]
    fn published_mode_keeps_its_slots_too(
        fates in prop::collection::vec(any_fate(), 1..200),
        changes in changes(),
        bytes in 1u64..100_000,
    ) {
        let network = Network::new(&paced(false), 9, thesis_delays(), Controller::new(changes, None));
        let network = network.transfer(bytes, |packet, number| match packet {
            InTransit::Forward(segment) if segment.flags.has(Flags::SYN) => Fate::Arrive,
            InTransit::Backward(segment) if segment.flags.has(Flags::SYN) => Fate::Arrive,
            InTransit::Control(_) => Fate::Arrive,
            _ => fates.get(number as usize).copied().unwrap_or(Fate::Arrive),
        });
        prop_assert_eq!(network.assert_in_slots(false) as u64, bytes.div_ceil(960));
        prop_assert_eq!(network.sender.stats().retransmissions, 0);
    }

    /// No segment from outside makes an end panic or delivers more than was written.
    #[test]
    fn garbage_does_no_harm(
        garbage in prop::collection::vec(
            (any::<u32>(), any::<u32>(), any::<u16>(), any::<u8>(), any::<[(u32, u32); 3]>()),
            1..80,
        ),
        reliable in any::<bool>(),
    ) {
        let mut sender = SenderAgent::new(&paced(reliable), 5, 1);
        let mut receiver = ReceiverAgent::new(&paced(reliable), 9);
        let mut now = Instant::ZERO;
        sender.open();
        sender.write(50_000);
        sender.close();
        for (index, (seq, ack, payload, bits, blocks)) in garbage.into_iter().enumerate() {
            let near = |wire: u32| if wire.is_multiple_of(2) { wire % 60_000 } else { wire };
            let mut segment = Segment {
                seq: near(seq),
                ack: if index == 3 { 6 } else { near(ack) },
                payload: payload % 3000,
                flags: if index == 3 { Flags::SYN.with(Flags::ACK) } else { Flags::from_header_bits(bits) },
                ..Segment::default()
            };
            for (left, right) in blocks {
                segment.sack.push(near(left), near(right), 3);
            }
            sender.on_segment(now, &segment);
            receiver.on_segment(now, &segment);
            sender.on_control(now, &CycleParameters { epoch: seq % 9, ..single_flow(1) });
            for _ in 0..20 {
                while let Some(segment) = sender.poll_transmit(now) {
                    prop_assert!(segment.seq <= 50_006);
                    receiver.on_segment(now, &segment);
                }
                while let Some(answer) = receiver.poll_transmit(now) {
                    sender.on_segment(now, &answer);
                }
                check(&sender);
                now = sender.next_timeout().unwrap_or(now + us(300)).max(now);
                sender.on_timeout(now);
            }
        }
    }
}
