//! Both ends together, over a line without queues on which every packet may be trimmed or lost.

use super::paths::PathSelectorConfig;
use super::*;
use crate::segment::{Flags, Segment};
use anabranch_units::{Bytes, Instant, Rate, Span};
use proptest::prelude::*;
use std::collections::VecDeque;

/// 100 Gbps and a base RTT of 12 us: a bandwidth-delay product of 150,000 B, the reference of table 3-82.
fn facts() -> PathFacts {
    PathFacts { rate: Rate::from_bps(100_000_000_000), base_rtt: Span::from_us(12), planes: 1 }
}

fn at_us(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

/// What becomes of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Arrives,
    Marked,
    Trimmed,
    Lost,
}

struct Line {
    sender: SpraySender,
    receiver: SprayReceiver,
    now: Instant,
    nacks: u64,
}

impl Line {
    fn new(config: &SprayConfig, bytes: u64) -> Self {
        let mut sender = SpraySender::on_path(config, 1, facts());
        sender.open();
        sender.write(bytes);
        sender.close();
        Self { sender, receiver: SprayReceiver::new(config.ack_after.0), now: Instant::ZERO, nacks: 0 }
    }

    /// One round trip: all that may leave leaves, and is answered 12 us later. Gives the packets.
    fn round(&mut self, fate: &mut impl FnMut(&Segment) -> Fate) -> Vec<Segment> {
        let mut sent = Vec::new();
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            sent.push(segment);
        }
        self.now = self.now + Span::from_us(12);
        let mut answers = VecDeque::new();
        for segment in &sent {
            let mut arriving = *segment;
            match fate(segment) {
                Fate::Arrives => {}
                Fate::Marked => arriving.flags = arriving.flags.with(Flags::CE),
                Fate::Trimmed => arriving.trim(false),
                Fate::Lost => continue,
            }
            self.receiver.on_segment(&arriving);
            answers.extend(std::iter::from_fn(|| self.receiver.poll_transmit()));
        }
        for answer in answers {
            self.nacks += u64::from(answer.flags.has(Flags::TRIMMED));
            self.sender.on_segment(self.now, &answer);
            assert!(self.sender.cwnd() >= 4160 && self.sender.cwnd() <= 225_000, "{}", self.sender.cwnd());
        }
        if sent.is_empty() {
            self.now = self.sender.next_timeout().map_or(self.now, |timeout| timeout.max(self.now));
            self.sender.on_timeout(self.now);
        }
        sent
    }

    fn is_done(&self) -> bool {
        self.sender.spray_stats().acknowledged_at.is_some()
    }
}

/// A packet has its payload and 64 bytes, an answer 64.
#[test]
fn a_packet_has_64_bytes_of_headers() {
    let mut line = Line::new(&SprayConfig::default(), 10_000);
    let sent = line.round(&mut |_| Fate::Arrives);
    let lengths: Vec<u32> = sent.iter().map(Segment::packet_len).collect();
    assert_eq!(lengths, [4160, 4160, 10_000 - 8192 + 64]);
    assert!(line.is_done());
    assert_eq!((line.receiver.stats().delivered, line.sender.in_flight()), (10_000, 0));
}

/// MaxWnd is 1.5 bandwidth-delay products (table 3-82): 225,000 B, of which 54 packets of 4160 B are at once on their way. The
/// last of them asks for an answer, since the window is full.
#[test]
fn the_first_window_is_one_and_a_half_products() {
    let mut line = Line::new(&SprayConfig::default(), 10_000_000);
    let sent = line.round(&mut |_| Fate::Lost);
    assert_eq!(sent.len(), 54);
    let requests: Vec<bool> = sent.iter().map(|segment| segment.flags.has(Flags::ACK_REQUEST)).collect();
    assert_eq!(requests.iter().position(|&asks| asks), Some(53));
}

/// An ACK for the first packet, and then one for each 16,384 B: four packets of 4160 B.
#[test]
fn answers_are_due_after_16_384_bytes() {
    let mut line = Line::new(&SprayConfig::default(), 10_000_000);
    line.round(&mut |_| Fate::Arrives);
    // 1, 5, 9, ... 53 and the request of the 54th.
    assert_eq!(line.receiver.stats().acks, 15);
}

proptest! {
    /// Whatever is trimmed, lost or marked: every byte arrives once, there is a NACK for each trim, the window stays between a
    /// packet and MaxWnd, and nothing is in flight at the end.
    #[test]
    fn everything_arrives_whatever_happens(
        fates in prop::collection::vec(0_u8..20, 1..300),
        selector in prop::sample::select(PathSelectorConfig::NAMES),
        trimming in any::<bool>(),
        acks in prop::sample::select(vec![0_u64, 16_384]),
    ) {
        let path_selector = PathSelectorConfig::named(selector).expect("registered");
        let config = SprayConfig { path_selector, trimming, ack_after: Bytes(acks), ..SprayConfig::default() };
        let mut line = Line::new(&config, 1_000_003);
        let mut fates = fates.into_iter().chain(std::iter::repeat(19));
        let mut trims = 0;
        let mut fate = |segment: &Segment| match fates.next() {
            _ if segment.payload == 0 => Fate::Arrives,
            Some(0 | 1) if trimming => { trims += 1; Fate::Trimmed }
            Some(2 | 3) => Fate::Lost,
            Some(4 | 5) => Fate::Marked,
            _ => Fate::Arrives,
        };
        let mut rounds = 0;
        while !line.is_done() && rounds < 5_000 {
            line.round(&mut fate);
            rounds += 1;
        }
        prop_assert!(line.is_done());
        prop_assert_eq!(line.receiver.stats().delivered, 1_000_003);
        prop_assert_eq!(line.nacks, trims);
        prop_assert_eq!(line.sender.in_flight(), 0);
        prop_assert_eq!(line.sender.next_timeout(), None);
    }
}

/// A trimmed packet goes again at once, before new data, and its answer says so.
#[test]
fn a_trimmed_packet_goes_again_first() {
    let mut line = Line::new(&SprayConfig::default(), 10_000_000);
    line.round(&mut |segment| if segment.seq == 3 { Fate::Trimmed } else { Fate::Arrives });
    let sent = line.round(&mut |_| Fate::Arrives);
    assert_eq!((sent[0].seq, sent[0].flags.has(Flags::RETRANSMISSION)), (3, true));
    assert!(sent[1].seq >= 54 && !sent[1].flags.has(Flags::RETRANSMISSION));
    assert_eq!((line.sender.stats().retransmissions, line.sender.stats().timeouts), (1, 0));
}

/// Arrivals are what acknowledgments tell, and the window counts them there: a NACK takes its packet out of flight and nothing
/// else, and acknowledgments are as due behind it as before.
#[test]
fn a_nack_tells_of_its_packet_alone() {
    let config = SprayConfig::default();
    let mut sender = SpraySender::on_path(&config, 1, facts());
    let mut receiver = SprayReceiver::new(config.ack_after.0);
    sender.open();
    sender.write(10_000_000);
    let mut sent: Vec<Segment> = std::iter::from_fn(|| sender.poll_transmit(Instant::ZERO)).take(7).collect();
    sent[3].trim(false);
    // The first packet is answered at once, the fourth was trimmed, and the next ACK is due with four more full packets.
    let flights = [Some(6), None, None, Some(5), None, Some(1), None];
    for (segment, packets) in sent.iter().zip(flights) {
        receiver.on_segment(segment);
        let answers: Vec<Segment> = std::iter::from_fn(|| receiver.poll_transmit()).collect();
        answers.iter().for_each(|answer| sender.on_segment(at_us(12), answer));
        let flight = (!answers.is_empty()).then(|| sender.in_flight() / 4160);
        assert_eq!(flight, packets, "{}", segment.seq);
    }
}

/// Whatever order requests come in, what closes the last gap in front of one is answered, or the sender would wait for its
/// timeout; the answer is of the packet that has come, and not of the request.
#[test]
fn the_last_gap_behind_requests_is_answered() {
    let mut receiver = SprayReceiver::new(16_384);
    let data = |psn: u64, requests: bool| {
        let entropy = 10 + psn as u16;
        header::Data { psn, payload: 1000, entropy, requests, is_retransmission: false }.segment()
    };
    let mut answers = 0;
    for (psn, requests) in [(0, false), (6, true), (3, true), (1, false), (2, false), (4, false), (5, false)]
    {
        receiver.on_segment(&data(psn, requests));
        while let Some(answer) = receiver.poll_transmit() {
            // Otherwise the request's round-trip time would have the wait for the gap in it, and its value would be heard of twice.
            assert_eq!((u64::from(answer.seq), u64::from(answer.entropy())), (psn, 10 + psn));
            answers = answer.ack;
        }
    }
    assert_eq!(answers, 7);
}

/// The timeout is 15 us and six base RTTs, and twice as long for a packet that was sent again more often than three times.
#[test]
fn a_lost_packet_goes_again_after_its_timeout() {
    let mut line = Line::new(&SprayConfig::default(), 4096);
    line.round(&mut |_| Fate::Lost);
    assert_eq!(line.sender.next_timeout(), Some(at_us(15 + 72)));
    line.sender.on_timeout(at_us(86));
    assert!(!line.sender.wants_to_send());
    line.sender.on_timeout(at_us(87));
    assert!(line.sender.wants_to_send());
    line.sender.poll_transmit(at_us(87)).expect("a retransmission");
    assert_eq!(line.sender.next_timeout(), Some(at_us(2 * 87)));
    for (retransmission, timeout) in [(2, 3), (3, 4), (4, 6), (5, 10)] {
        let now = line.sender.next_timeout().expect("a timer");
        line.sender.on_timeout(now);
        line.sender.poll_transmit(now).expect("a retransmission");
        assert_eq!(line.sender.next_timeout(), Some(at_us(timeout * 87)), "{retransmission}");
    }
}

/// Without trimming a packet is lost when one has arrived that was sent two base RTTs later, and not before.
#[test]
fn without_trimming_later_arrivals_tell_a_loss() {
    let config = SprayConfig { trimming: false, ack_after: Bytes(0), ..SprayConfig::default() };
    let mut sender = SpraySender::on_path(&config, 1, facts());
    let mut receiver = SprayReceiver::new(0);
    sender.open();
    sender.write(10_000_000);
    for us in [0, 10, 24, 25] {
        let segment = sender.poll_transmit(at_us(us)).expect("there is room");
        if us == 0 {
            continue;
        }
        receiver.on_segment(&segment);
        let answer = receiver.poll_transmit().expect("an answer");
        sender.on_segment(at_us(us + 12), &answer);
        assert_eq!(sender.spray_stats().losses, u64::from(us == 25), "{us}");
    }
}

/// No packet takes a value of a plane that is off.
#[test]
fn no_value_of_a_plane_that_is_off_is_used() {
    for &name in PathSelectorConfig::NAMES {
        let path_selector = PathSelectorConfig::named(name).expect("registered");
        let config = SprayConfig { path_selector, ..SprayConfig::default() };
        let mut sender = SpraySender::on_path(&config, 1, PathFacts { planes: 4, ..facts() });
        sender.open();
        sender.write(10_000_000);
        sender.on_plane(2, false);
        let mut planes = [0; 4];
        while let Some(segment) = sender.poll_transmit(Instant::ZERO) {
            planes[usize::from(segment.entropy() % 4)] += 1;
        }
        assert_eq!((planes[2], planes.iter().sum::<i32>()), (0, 54), "{name}");
        sender.on_plane(2, true);
    }
}
