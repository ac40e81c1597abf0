//! A sender against single segments of its peer: what the two ends here would never send each other.

use super::Sender;
use crate::agent::Failure;
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment};
use crate::tcp::pacing::{PacingConfig, WindowPacing};
use crate::tcp_preset;
use anabranch_units::{Instant, Span};

const MSS: u64 = 1460;

fn newreno() -> TcpConfig {
    TcpConfig { sack: false, timestamps: false, ..tcp_preset("newreno").unwrap() }
}

fn ms(at: u64) -> Instant {
    Instant::ZERO + Span::from_ms(at)
}

fn ack(ack: u32, window: u16) -> Segment {
    Segment { seq: 501, ack, window, flags: Flags::ACK, ..Segment::default() }
}

/// Everything that leaves now.
fn departures(sender: &mut Sender, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// A sender with initial sequence number 0 that is open after `timeouts` lost SYNs, and when it opened.
fn opened(timeouts: u32, answer: Segment) -> (Sender, Instant) {
    opened_with(&newreno(), timeouts, answer)
}

fn opened_with(config: &TcpConfig, timeouts: u32, answer: Segment) -> (Sender, Instant) {
    let mut sender = Sender::new(config, 0, 1);
    sender.open();
    let mut now = Instant::ZERO;
    assert_eq!(departures(&mut sender, now).len(), 1);
    for _ in 0..timeouts {
        now = sender.next_timeout().expect("a timer for the SYN");
        sender.on_timeout(now);
        assert_eq!(departures(&mut sender, now).len(), 1);
    }
    now = now + Span::from_ms(100);
    let flags = Flags::SYN.with(Flags::ACK);
    sender.on_segment(now, &Segment { seq: 500, ack: 1, flags, mss: 1460, ..answer });
    assert_eq!(departures(&mut sender, now).len(), 1, "the ACK of the handshake");
    (sender, now)
}

fn plain() -> Segment {
    Segment { window: u16::MAX, window_scale_plus_one: 8, ..Segment::default() }
}

/// RFC 9293 section 3.10.7.4: an ACK of what was not sent is answered by an ACK and changes nothing.
#[test]
fn an_ack_of_what_was_not_sent_is_answered() {
    let (mut sender, now) = opened(0, plain());
    sender.write(MSS);
    assert_eq!(departures(&mut sender, now).len(), 1);
    sender.on_segment(now, &ack(5000, 100));
    let answers = departures(&mut sender, now);
    assert_eq!(answers.len(), 1);
    assert_eq!((answers[0].seq, answers[0].ack, answers[0].payload), (1 + 1460, 501, 0));
    assert_eq!(sender.acknowledged(), 0);
}

/// RFC 5681 section 2, duplicate acknowledgment, (e).
#[test]
fn acks_that_change_the_window_are_no_duplicates() {
    for (windows, retransmits) in [([7, 8, 9, 10], false), ([7, 7, 7, 7], true), ([7, 7, 8, 8], false)] {
        let (mut sender, now) = opened(0, plain());
        sender.write(8 * MSS);
        assert_eq!(departures(&mut sender, now).len(), 8);
        for window in windows {
            sender.on_segment(now + Span::from_ms(50), &ack(1, 1000 + window));
        }
        let sent = departures(&mut sender, now + Span::from_ms(50));
        assert_eq!(sent.iter().any(|segment| segment.seq == 1), retransmits, "{windows:?}");
    }
}

/// RFC 6298 (5.7): three seconds for the first data, where no timestamp tells more. RFC 6928 section 2: one segment only
/// after two lost SYNs.
#[test]
fn a_lost_syn_leaves_three_seconds_and_two_one_segment() {
    for (timeouts, segments, timeout) in
        [(0, 10, Span::from_ms(300)), (1, 10, Span::from_secs(3)), (2, 1, Span::from_secs(3))]
    {
        let (mut sender, now) = opened(timeouts, plain());
        sender.write(20 * MSS);
        assert_eq!(departures(&mut sender, now).len(), segments, "{timeouts}");
        assert_eq!(sender.next_timeout(), Some(now + timeout), "{timeouts}");
    }
}

/// RFC 5681 section 3.1: a second timeout of the same data leaves ssthresh, whatever ACK came in between; one behind an ACK
/// of new data takes half of what is in flight again, but not less than two segments (Linux's tcp_enter_loss() likewise).
#[test]
fn a_timeout_behind_an_ack_of_new_data_reduces_again() {
    for (acknowledged, ssthresh) in [(1, 5 * MSS), (1461, 2 * MSS)] {
        let (mut sender, now) = opened(0, plain());
        sender.write(10 * MSS);
        assert_eq!(departures(&mut sender, now).len(), 10);
        let expire = |sender: &mut Sender| {
            let at = sender.next_timeout().expect("a timer");
            sender.on_timeout(at);
            let _ = departures(sender, at);
            (at, sender.ssthresh())
        };
        let (at, first) = expire(&mut sender);
        assert_eq!(first, 5 * MSS);
        sender.on_segment(at + Span::from_ms(10), &ack(acknowledged, 1000));
        let _ = departures(&mut sender, at + Span::from_ms(10));
        assert_eq!(expire(&mut sender).1, ssthresh, "behind an ACK of {acknowledged}");
    }
}

/// Linux paces at twice cwnd / srtt while cwnd is below half of ssthresh: ten segments and 100 ms leave 5 ms between two.
#[test]
fn a_paced_window_leaves_in_half_a_round_trip_in_slow_start() {
    let pacing = PacingConfig::Window(WindowPacing { slow_start_gain: 2.0, avoidance_gain: 1.2 });
    let (mut sender, now) = opened_with(&TcpConfig { pacing, ..newreno() }, 0, plain());
    sender.write(10 * MSS);
    for place in 0..10 {
        let at = now + Span::from_ms(5 * place);
        sender.on_timeout(at);
        assert_eq!(departures(&mut sender, at).len(), 1, "{place}");
        assert_eq!(sender.next_timeout(), Some(at + Span::from_ms(5)), "{place}");
    }
}

/// At half of ssthresh it is 1.2 times (net.ipv4.tcp_pacing_ca_ratio): behind a timeout with eight segments in flight, ssthresh
/// is four, and the first ACK makes a window of two.
#[test]
fn from_half_of_ssthresh_on_the_rate_is_that_of_avoidance() {
    let (mut sender, now) = opened(0, plain());
    sender.write(8 * MSS);
    assert_eq!(departures(&mut sender, now).len(), 8);
    let expiry = now + Span::from_ms(300);
    sender.on_timeout(expiry);
    assert_eq!(departures(&mut sender, expiry).len(), 1);
    assert!((sender.nominal_rate() - 2.0 * 14_600.0).abs() < 1.0, "{}", sender.nominal_rate());
    sender.on_segment(expiry + Span::from_ms(50), &ack(1461, 1000));
    assert!((sender.nominal_rate() - 1.2 * 29_200.0).abs() < 1.0, "{}", sender.nominal_rate());
}

/// RFC 7323 section 3.2: timestamps are in use if both SYNs had them. An echo that nobody agreed on times nothing, so that
/// the ACK of a segment sent twice gives no sample, and the timeout stays doubled (RFC 6298 section 5.7).
#[test]
fn an_echo_without_an_agreement_times_nothing() {
    let (mut sender, now) = opened(0, plain());
    sender.write(MSS);
    assert_eq!(departures(&mut sender, now).len(), 1);
    let expiry = now + Span::from_ms(300);
    assert_eq!(sender.next_timeout(), Some(expiry));
    sender.on_timeout(expiry);
    assert_eq!(departures(&mut sender, expiry).len(), 1);
    let later = expiry + Span::from_ms(50);
    let flags = Flags::ACK.with(Flags::TIMESTAMPS);
    sender.on_segment(later, &Segment { flags, timestamp: 1, timestamp_echo: 400, ..ack(1461, 1000) });
    sender.write(MSS);
    assert_eq!(departures(&mut sender, later).len(), 1);
    assert_eq!(sender.next_timeout(), Some(later + Span::from_ms(600)));
}

/// RFC 7323 section 2.2: window fields are scaled only if the SYN-ACK has the option, too.
#[test]
fn windows_are_scaled_only_if_the_peer_scales() {
    let buffer = newreno().receive_buffer.0;
    for (answered, expected) in [(8, (buffer >> 7) as u16), (0, u16::MAX)] {
        let (mut sender, _) = opened(0, Segment { window_scale_plus_one: answered, ..plain() });
        sender.write(MSS);
        let sent = departures(&mut sender, ms(200));
        assert_eq!(sent.iter().map(|segment| segment.window).collect::<Vec<_>>(), [expected]);
    }
}

/// What those who look from outside see after a loss.
#[test]
fn the_state_tells_what_is_lost() {
    let config = TcpConfig { sack: true, ..newreno() };
    let mut sender = Sender::new(&config, 0, 1);
    sender.open();
    let _ = departures(&mut sender, ms(0));
    let flags = Flags::SYN.with(Flags::ACK).with(Flags::SACK_PERMITTED);
    sender.on_segment(ms(100), &Segment { seq: 500, ack: 1, flags, mss: 1460, ..plain() });
    let _ = departures(&mut sender, ms(100));
    sender.write(10 * MSS);
    assert_eq!(departures(&mut sender, ms(100)).len(), 10);
    let mut sacks = ack(1, 1000);
    sacks.sack.push(1 + 1460, 1 + 4 * 1460, 4);
    sender.on_segment(ms(200), &sacks);
    assert_eq!(departures(&mut sender, ms(200)).len(), 1);
    let info = sender.info();
    let counts =
        (info.outstanding_segments, info.sacked_segments, info.lost_segments, info.retransmitted_segments);
    assert_eq!(counts, (10, 3, 1, 1));
    assert_eq!((info.full_payload, info.next_sequence, info.backoff), (MSS, 1 + 10 * 1460, 0));
    assert!(info.sack && !info.timestamps && !info.ecn);
}

/// RFC 7323 section 5.3, R1 and RFC 5961 section 7: an overtaken ACK is refused and answered, but not each one; what
/// carries data always is.
#[test]
fn what_is_refused_is_answered_now_and_then() {
    let mut sender = Sender::new(&tcp_preset("linux-reno").unwrap(), 0, 1);
    sender.open();
    assert_eq!(departures(&mut sender, ms(0)).len(), 1);
    let stamped = |segment: Segment, timestamp: u32, echo: u32| Segment {
        timestamp,
        timestamp_echo: echo,
        flags: segment.flags.with(Flags::TIMESTAMPS),
        ..segment
    };
    let flags = Flags::SYN.with(Flags::ACK).with(Flags::SACK_PERMITTED);
    sender.on_segment(ms(100), &stamped(Segment { seq: 500, ack: 1, flags, mss: 1460, ..plain() }, 1000, 0));
    assert_eq!(departures(&mut sender, ms(100)).len(), 1);
    sender.write(4 * 1448);
    assert_eq!(departures(&mut sender, ms(100)).len(), 4);
    sender.on_segment(ms(200), &stamped(ack(1 + 2 * 1448, 200), 1200, 100));
    let old = stamped(ack(1, 200), 1100, 100);
    let mut answers = |at_ms: u64, segment: &Segment| {
        sender.on_segment(ms(at_ms), segment);
        departures(&mut sender, ms(at_ms)).len()
    };
    let pure = [(210, 1), (220, 0), (709, 0), (710, 1), (1200, 0)];
    for (at_ms, answered) in pure {
        assert_eq!(answers(at_ms, &old), answered, "at {at_ms} ms");
    }
    assert_eq!(answers(1201, &Segment { payload: 100, ..old }), 1);
    assert_eq!(sender.acknowledged(), 2 * 1448);
}

fn reset(seq: u32, flags: Flags) -> Segment {
    Segment { seq, ack: 1, flags: Flags::RST.with(flags), ..Segment::default() }
}

/// RFC 9293 section 3.10.7.3: an RST counts in the handshake if it acknowledges the SYN. What comes later for the
/// connection, which there is none of, is answered by an RST (section 3.10.7.1).
#[test]
fn a_reset_that_acknowledges_the_syn_refuses_it() {
    for (flags, ack, refused) in [(Flags::ACK, 1, true), (Flags::ACK, 2, false), (Flags::NONE, 1, false)] {
        let mut sender = Sender::new(&newreno(), 0, 1);
        sender.open();
        assert_eq!(departures(&mut sender, Instant::ZERO).len(), 1);
        sender.on_segment(ms(50), &Segment { ack, ..reset(0, flags) });
        assert_eq!(sender.failure(), refused.then_some(Failure::Refused));
        assert_eq!(sender.next_timeout().is_none(), refused);
        if refused {
            let flags = Flags::SYN.with(Flags::ACK);
            sender.on_segment(ms(60), &Segment { seq: 500, ack: 1, flags, ..plain() });
            let expected = Segment { seq: 1, flags: Flags::RST, ..Segment::default() };
            assert_eq!(departures(&mut sender, ms(60)), [expected]);
            sender.on_segment(ms(70), &reset(0, Flags::ACK));
            assert!(departures(&mut sender, ms(70)).is_empty(), "no RST answers an RST");
        }
    }
}

/// RFC 9293 section 3.10.7.4: the next number ends the connection, another one inside the window is answered by an ACK,
/// which is not repeated at once, and one outside is dropped.
#[test]
fn a_reset_at_the_next_number_ends_it() {
    for (seq, ends, answered) in [(501, true, false), (502, false, true), (500, false, false)] {
        let (mut sender, now) = opened(0, plain());
        sender.write(MSS);
        assert_eq!(departures(&mut sender, now).len(), 1);
        for answers in [usize::from(answered), 0] {
            sender.on_segment(now, &reset(seq, Flags::NONE));
            assert_eq!(departures(&mut sender, now).len(), answers, "{seq}");
        }
        assert_eq!(sender.failure(), ends.then_some(Failure::Reset));
        assert_eq!(sender.next_timeout().is_none(), ends, "no timer runs on");
    }
}

/// RFC 1122 section 4.2.2.17: the window is asked for after a timeout, here of 100 ms and four times 37.5 ms (RFC 6298
/// section 2), then after twice that, and so on up to a minute; what shuts it is no loss. It opens, and data leave at once.
#[test]
fn a_shut_window_is_probed() {
    let window = 4 * MSS as u16;
    let (mut sender, now) = opened(0, Segment { window, window_scale_plus_one: 1, ..Segment::default() });
    sender.write(4 * MSS);
    assert_eq!(departures(&mut sender, now).len(), 4);
    sender.write(2 * MSS);
    let shut = now + Span::from_ms(100);
    sender.on_segment(shut, &ack(1 + 4 * 1460, 0));
    sender.write(MSS);
    let cwnd = sender.cwnd();
    let mut last = shut;
    for expected_ms in [250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
        assert!(departures(&mut sender, last).is_empty());
        let at = sender.next_timeout().expect("the persist timer");
        assert_eq!(at.since(last), Span::from_ms(expected_ms));
        sender.on_timeout(at);
        let probes = departures(&mut sender, at);
        assert_eq!(
            probes.iter().map(|probe| (probe.seq, probe.payload)).collect::<Vec<_>>(),
            [(4 * 1460, 0)]
        );
        sender.on_segment(at, &ack(1 + 4 * 1460, 0));
        last = at;
    }
    assert_eq!((sender.cwnd(), sender.stats().timeouts, sender.stats().retransmissions), (cwnd, 0, 0));
    sender.on_segment(last, &ack(1 + 4 * 1460, window));
    assert_eq!(departures(&mut sender, last).len(), 3);
    assert!(sender.next_timeout().is_some_and(|at| at < last + Span::from_ms(500)), "of the data that left");
}

/// RFC 9293 section 3.8.6.2.1: a window that has opened by less than a segment and less than half of the largest one is not
/// filled before the persist timer expires.
#[test]
fn a_window_that_opens_by_little_waits() {
    let (mut sender, now) =
        opened(0, Segment { window: 2920, window_scale_plus_one: 1, ..Segment::default() });
    sender.write(2 * MSS);
    assert_eq!(departures(&mut sender, now).len(), 2);
    sender.write(MSS);
    let shut = now + Span::from_ms(100);
    sender.on_segment(shut, &ack(1 + 2 * 1460, 100));
    assert!(departures(&mut sender, shut).is_empty());
    let at = sender.next_timeout().expect("the persist timer");
    sender.on_timeout(at);
    let sent = departures(&mut sender, at);
    assert_eq!(sent.iter().map(|segment| segment.payload).collect::<Vec<_>>(), [100]);
}

/// A SYN that nobody answers is given up after `handshake_timeout`, though the next expiry would be later: 1 + 2 + 4 + 8 s.
#[test]
fn a_handshake_is_given_up_in_time() {
    let config = TcpConfig { handshake_timeout: Span::from_secs(10), ..newreno() };
    let mut sender = Sender::new(&config, 0, 1);
    sender.open();
    let mut now = Instant::ZERO;
    while sender.failure().is_none() {
        assert!(departures(&mut sender, now).len() <= 1);
        now = sender.next_timeout().expect("a timer for the SYN");
        sender.on_timeout(now);
    }
    assert_eq!(now, Instant::ZERO + Span::from_secs(10));
}

/// A sender with SACK that has sent ten of twelve segments to a peer with this window.
fn with_ten_segments_out_of_twelve(window: u16) -> Sender {
    let mut sender = Sender::new(&TcpConfig { sack: true, ..newreno() }, 0, 1);
    sender.open();
    let _ = departures(&mut sender, ms(0));
    let flags = Flags::SYN.with(Flags::ACK).with(Flags::SACK_PERMITTED);
    let answer = Segment { seq: 500, ack: 1, flags, mss: 1460, window, window_scale_plus_one: 1, ..plain() };
    sender.on_segment(ms(100), &answer);
    let _ = departures(&mut sender, ms(100));
    sender.write(12 * MSS);
    assert_eq!(departures(&mut sender, ms(100)).len(), 10);
    sender
}

/// A duplicate ACK of nothing with these blocks, counted in segments.
fn sacked(window: u16, blocks: &[(u32, u32)]) -> Segment {
    let mut sacks = ack(1, window);
    for (left, right) in blocks {
        sacks.sack.push(1 + left * 1460, 1 + right * 1460, 4);
    }
    sacks
}

/// RFC 6675 section 4, NextSeg rule (3): where the peer's window has no room for new data, a hole below SACKed data goes
/// again, though it is not lost yet.
#[test]
fn a_hole_goes_again_where_the_window_has_no_room() {
    let window = 10 * MSS as u16;
    let mut sender = with_ten_segments_out_of_twelve(window);
    // The first is lost; the eighth has one SACKed above it.
    for (blocks, sent) in [(vec![(1, 4)], 0), (vec![(8, 9), (1, 7)], 7)] {
        sender.on_segment(ms(200), &sacked(window, &blocks));
        let places: Vec<u32> = departures(&mut sender, ms(200)).iter().map(|s| (s.seq - 1) / 1460).collect();
        assert_eq!(places.first(), Some(&sent), "{places:?}");
    }
}

/// RFC 6675 section 4, NextSeg: a hole does not go again while new data wait for no more than a whole segment's room.
#[test]
fn a_hole_waits_where_the_window_has_room_for_new_data() {
    let window = 10 * MSS as u16 + 100;
    let mut sender = with_ten_segments_out_of_twelve(window);
    for (blocks, count) in [(vec![(1, 4)], 1), (vec![(8, 9), (1, 7)], 0)] {
        sender.on_segment(ms(200), &sacked(window, &blocks));
        assert_eq!(departures(&mut sender, ms(200)).len(), count);
    }
}

/// RFC 9293 section 3.10.7.4: the peer's FIN ends what it sends, and not what it is sent, be that under way or to come.
#[test]
fn a_fin_of_the_peer_leaves_the_other_direction() {
    for early in [0, 2] {
        let (mut sender, now) = opened(0, plain());
        sender.write(early * MSS);
        assert_eq!(departures(&mut sender, now).len() as u64, early);
        let later = now + Span::from_ms(100);
        sender.on_segment(later, &Segment { flags: Flags::ACK.with(Flags::FIN), ..ack(1, 1000) });
        let answer = departures(&mut sender, later);
        assert_eq!(
            answer.iter().map(|segment| (segment.ack, segment.payload)).collect::<Vec<_>>(),
            [(502, 0)]
        );
        sender.write(MSS);
        let sent = departures(&mut sender, later);
        assert_eq!(sent.iter().map(|segment| u64::from(segment.payload)).collect::<Vec<_>>(), [MSS]);
    }
}
