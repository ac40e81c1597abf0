//! The estimator against numbers by hand, and the judgement against a scoreboard.

use super::*;
use crate::tcp::scoreboard::Delivery;

fn ms(value: u64) -> Span {
    Span::from_ms(value)
}

fn at(value: u64) -> Instant {
    Instant::ZERO + ms(value)
}

/// Gains and factors whose products are exact.
fn parameters() -> FastRtoParameters {
    FastRtoParameters {
        gamma: 1.5,
        k: 4.0,
        k_diversity: 0.0,
        srtt_gain: 0.25,
        rttvar_gain: 0.25,
        fastrto_max: ms(500),
        tail_loss_probe: false,
    }
}

fn handshake(rtt: Option<Span>, sack: bool) -> Handshake {
    Handshake {
        rtt,
        sack,
        ack_delay: ms(40),
        initial_rto: Span::from_secs(1),
        min_rto: ms(200),
        max_rto: Span::from_secs(60),
        timer_tick: Span::ZERO,
    }
}

fn detector(sack: bool, rtt: Option<Span>) -> FastRto {
    let mut detector = FastRto::new(parameters());
    detector.on_established(&handshake(rtt, sack));
    detector
}

const SEGMENT: u64 = 1000;

/// A board with segments that left at these times in ms.
fn board(sent_ms: &[u64]) -> Scoreboard {
    let delivery = Delivery {
        delivered: 0,
        delivered_at: Instant::ZERO,
        first_sent_at: Instant::ZERO,
        app_limited: false,
    };
    let mut board = Scoreboard::new(SEGMENT);
    for (number, &sent) in sent_ms.iter().enumerate() {
        let start = number as u64 * SEGMENT;
        board.push(start, start + SEGMENT, false, at(sent), delivery);
    }
    board
}

fn facts(now: Instant, snd_una: u64, snd_nxt: u64) -> AckFacts {
    AckFacts {
        now,
        snd_una,
        snd_nxt,
        dsack: false,
        late_original: false,
        newest_delivered_before: None,
        delivered: 0,
        in_recovery: false,
        srtt: Span::ZERO,
        min_rtt: Span::MAX,
        echo_rtt: None,
        expected_samples: 1,
    }
}

/// An ACK that SACKs segment `number` of the board.
fn sack(detector: &mut FastRto, board: &mut Scoreboard, now: Instant, number: u64) {
    let mut delivered = Vec::new();
    board.selectively_acknowledge(number * SEGMENT, (number + 1) * SEGMENT, |sent| {
        delivered.push(segment(sent, true));
    });
    delivered.iter().for_each(|segment| detector.on_delivered(now, segment, ms(100)));
    detector.on_ack(board, &facts(now, 0, 100 * SEGMENT));
}

fn segment(sent: &Sent, by_sack: bool) -> DeliveredSegment {
    DeliveredSegment {
        start: sent.start,
        end: sent.end,
        sent_at: sent.sent_at,
        order: sent.order,
        retransmitted: sent.transmissions > 1,
        echoes_earlier: false,
        by_sack,
    }
}

/// Equations (4.1) to (4.3) by hand, one sample a round: 100 ms, 60 ms, then 200 ms four times.
/// One packet of 32 takes a path of 100 ms, the others one of 20 ms, so that RTTVAR is some 5 ms and K = 4 falls
/// short of the slow one; with a K that follows RTT diversity the timer outlasts it.
#[test]
fn k_follows_the_slowest_path_of_the_last_rounds() {
    let fast_rto = |k_diversity| {
        let mut estimator = Estimator::new(FastRtoParameters { k_diversity, ..parameters() });
        for number in 0..640_u64 {
            estimator.on_sample(if number % 32 == 31 { ms(100) } else { ms(20) }, 32);
            if number % 32 == 31 {
                estimator.on_ack(number, number);
            }
        }
        estimator.fast_rto().unwrap()
    };
    assert!(fast_rto(0.0) < ms(60), "{:?}", fast_rto(0.0));
    let following = fast_rto(1.25);
    // SRTT is near 22.5 ms: 22.5 + 1.25 x 77.5 = 119 ms.
    assert!(following > ms(115) && following < ms(125), "{following:?}");
}

/// Without the slow path RTTmax comes down by gamma a round: 100, 66.7, 44.4, 29.6, 20 ms.
#[test]
fn a_slow_path_that_is_gone_is_forgotten() {
    let mut estimator = Estimator::new(FastRtoParameters { k_diversity: 1.0, ..parameters() });
    estimator.on_sample(ms(20), 1);
    estimator.on_sample(ms(100), 1);
    estimator.on_ack(1, 1);
    for round in 2..40_u64 {
        estimator.on_sample(ms(20), 1);
        estimator.on_ack(round, round);
    }
    assert_eq!(estimator.rtt_max, ms(20));
}

#[test]
fn the_estimator_follows_the_equations() {
    let mut estimator = Estimator::new(parameters());
    assert_eq!(estimator.fast_rto(), None);
    // Per round: RTTmin, SRTT, RTTVAR and FastRTO after it, in ms.
    // 100: RTTmin = min(1.5 x 100, 100), SRTT 100, RTTVAR 50, 100 + 4 x 50.
    // 60: RTTmin = min(150, 60); RTTVAR = 37.5 + 10, SRTT = 75 + 15; 90 + 190.
    // 200: RTTmin = min(90, 200); RTTVAR = 35.625 + 27.5, SRTT = 67.5 + 50; 117.5 + 252.5.
    // 200: RTTmin = min(135, 200); RTTVAR = 47.34375 + 20.625, SRTT = 138.125; 138.125 + 271.875.
    let rounds =
        [(100, 100.0, 100.0, 50.0, 300.0), (60, 60.0, 90.0, 47.5, 280.0), (200, 90.0, 117.5, 63.125, 370.0)];
    let last = (200, 135.0, 138.125, 67.96875, 410.0);
    for (round, (rtt, min, srtt, rttvar, fast_rto)) in rounds.into_iter().chain([last]).enumerate() {
        estimator.on_sample(ms(rtt), 1);
        estimator.on_ack(round as u64, round as u64 + 1);
        let span = |value: f64| Span::from_secs_f64(value / 1e3);
        assert_eq!(estimator.rtt_min, Some(span(min)), "round {round}");
        assert_eq!((estimator.srtt, estimator.rttvar), (span(srtt), span(rttvar)), "round {round}");
        assert_eq!(estimator.fast_rto(), Some(span(fast_rto)), "round {round}");
    }
    // 300 ms: RTTVAR = 50.9765625 + 40.46875, SRTT = 103.59375 + 75, and 178.59375 + 365.78125 is beyond RTOmax.
    estimator.on_sample(ms(300), 1);
    assert_eq!(estimator.fast_rto(), Some(ms(500)));
}

/// RTOmax below the round trip: gamma x RTTmax takes its place, so that the timer outlasts a path of 480 ms behind a
/// queue that adds as much.
#[test]
fn rtomax_makes_room_for_the_round_trip() {
    let mut estimator = Estimator::new(parameters());
    for (round, rtt) in [480, 960, 960, 960].into_iter().enumerate() {
        estimator.on_sample(ms(rtt), 1);
        estimator.on_ack(round as u64, round as u64 + 1);
    }
    // SRTT: 480, 600, 690, 757.5 ms; RTTVAR: 240, 300, 315, 303.75 ms; SRTT + 4 RTTVAR = 1972.5 ms.
    assert_eq!((estimator.srtt, estimator.rttvar), (Span::from_us(757_500), Span::from_us(303_750)));
    assert_eq!(estimator.fast_rto(), Some(ms(1440)));
}

/// RFC 7323 appendix G: a sample of ten in a round weighs a tenth.
#[test]
fn the_gains_are_those_of_a_round() {
    let mut estimator = Estimator::new(parameters());
    estimator.on_sample(ms(100), 1);
    estimator.on_sample(ms(140), 10);
    // Gains of 0.025: 0.975 x 100 + 0.025 x 140, 0.975 x 50 + 0.025 x 40.
    let (srtt, rttvar) = (Span::from_ms(101), Span::from_us(49_750));
    assert_eq!((estimator.srtt, estimator.rttvar), (srtt, rttvar));
}

/// RTTVAR dies out on a constant path; gamma x RTTmin is what is left.
#[test]
fn a_constant_round_trip_leaves_gamma_times_it() {
    let mut estimator = Estimator::new(parameters());
    for round in 0..200 {
        estimator.on_sample(ms(80), 1);
        estimator.on_ack(round, round + 1);
    }
    assert_eq!(estimator.fast_rto(), Some(ms(120)));
}

/// (4.1): within a round only the smallest sample counts, and only at its end.
#[test]
fn the_smallest_round_trip_is_updated_once_a_round() {
    let mut estimator = Estimator::new(parameters());
    estimator.on_sample(ms(100), 1);
    estimator.on_ack(0, 10);
    for rtt in [90, 40, 70] {
        estimator.on_sample(ms(rtt), 1);
        estimator.on_ack(9, 20);
        assert_eq!(estimator.rtt_min, Some(ms(100)));
    }
    estimator.on_ack(10, 20);
    assert_eq!(estimator.rtt_min, Some(ms(40)));
    // A round without a sample says nothing.
    estimator.on_ack(20, 30);
    assert_eq!(estimator.rtt_min, Some(ms(40)));
}

/// Three, ten, any number of segments SACKed above a hole are no sign; time is.
#[test]
fn only_time_makes_a_segment_lost() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0; 20]);
    for number in 1..20 {
        sack(&mut detector, &mut board, at(100), number);
    }
    // Nineteen samples of 100 ms: RTTVAR = 50 x 0.75^19 = 0.2 ms, so that gamma x RTTmin = 150 ms holds.
    assert_eq!((board.lost(), detector.next_timeout()), (0, Some(at(150))));
    detector.on_timeout(&mut board, at(149));
    assert_eq!(board.lost(), 0);
    detector.on_timeout(&mut board, at(150));
    assert_eq!((board.lost(), board.next_lost()), (SEGMENT, board.number_at(0)));
}

/// Each segment has its own timer, from its last transmission.
#[test]
fn a_retransmission_has_a_time_of_its_own() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0, 10, 20]);
    // 100 + 4 x 50 of the handshake's sample, and what the peer may hold an ACK back: nothing is known to
    // have arrived.
    detector.on_timeout(&mut board, at(339));
    assert_eq!((board.lost(), detector.next_timeout()), (0, Some(at(340))));
    detector.on_timeout(&mut board, at(350));
    assert_eq!(board.lost(), 2 * SEGMENT);
    let delivery = Delivery::default();
    board.retransmit(0, at(350), delivery);
    board.retransmit(1, at(350), delivery);
    detector.on_timeout(&mut board, at(360));
    assert_eq!((board.lost(), board.retransmitted()), (3 * SEGMENT, 2 * SEGMENT));
    assert_eq!(detector.next_timeout(), Some(at(690)));
}

/// RFC 6298 (5.5): an expiry one FastRTO after the last, without a sample between, doubles it; the many
/// expiries of one flight do not.
#[test]
fn silence_backs_the_timer_off_and_a_sample_ends_that() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0, 1, 2, 3]);
    for now in 340..=343 {
        detector.on_timeout(&mut board, at(now));
    }
    assert_eq!((board.lost(), detector.patience()), (4 * SEGMENT, Some(ms(300))));
    let delivery = Delivery::default();
    board.retransmit(0, at(343), delivery);
    detector.on_timeout(&mut board, at(683));
    assert_eq!(detector.patience(), Some(ms(600)));
    board.retransmit(0, at(683), delivery);
    detector.on_timeout(&mut board, at(1323));
    assert_eq!(detector.patience(), Some(ms(1200)));
    // Segment 3 arrives, but it was sent again, and long enough ago: no sample (Karn). The echo then tells.
    board.retransmit(3, at(1330), delivery);
    sack(&mut detector, &mut board, at(1430), 3);
    assert_eq!(detector.patience(), Some(ms(1200)));
    let echo = AckFacts { echo_rtt: Some(ms(100)), ..facts(at(1440), 0, 0) };
    detector.on_ack(&mut board, &echo);
    // Second sample of 100 ms: 100 + 4 x 37.5.
    assert_eq!(detector.patience(), Some(ms(250)));
}

/// What waited behind a retransmission is no measure of a path.
#[test]
fn a_cumulative_ack_over_a_retransmission_gives_no_sample() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0, 0, 0]);
    board.mark_lost(0, LossCause::FastRto);
    let delivery = Delivery::default();
    board.retransmit(0, at(350), delivery);
    let mut delivered = Vec::new();
    board.acknowledge(3 * SEGMENT, |sent| delivered.push(segment(sent, false)));
    assert_eq!(delivered.len(), 3);
    delivered.iter().for_each(|segment| detector.on_delivered(at(450), segment, ms(100)));
    detector.on_ack(&mut board, &facts(at(450), 3 * SEGMENT, 3 * SEGMENT));
    assert_eq!((detector.estimator.srtt, detector.estimator.rttvar), (ms(100), ms(50)));
}

/// An ACK sooner than any round trip answers the first transmission, which FastRTO should have waited for.
#[test]
fn an_answer_too_soon_shows_how_long_to_wait() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0]);
    detector.on_timeout(&mut board, at(340));
    let delivery = Delivery::default();
    board.retransmit(0, at(340), delivery);
    sack(&mut detector, &mut board, at(360), 0);
    // FastRTO of 300 ms and 20 ms more: SRTT = 75 + 80, RTTVAR = 37.5 + 55.
    assert_eq!(detector.estimator.srtt, ms(155));
    assert_eq!(detector.estimator.rttvar, Span::from_us(92_500));
}

/// One ACK is one sample: of the segment that waited longest, on whatever path.
#[test]
fn an_ack_of_several_segments_measures_the_slowest() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0, 40, 80]);
    let mut delivered = Vec::new();
    board.acknowledge(3 * SEGMENT, |sent| delivered.push(segment(sent, false)));
    delivered.iter().for_each(|segment| detector.on_delivered(at(180), segment, ms(100)));
    detector.on_ack(&mut board, &facts(at(180), 3 * SEGMENT, 3 * SEGMENT));
    // 180 ms: SRTT = 75 + 45, RTTVAR = 37.5 + 20.
    assert_eq!(detector.estimator.srtt, ms(120));
    assert_eq!(detector.estimator.rttvar, Span::from_us(57_500));
}

/// Cumulative ACKs alone: every segment has its timer, those behind a hole too, and goes again where it runs out
/// ("transmission is resumed from the packet that last received an ACK").
#[test]
fn without_sack_what_is_behind_a_hole_expires_too() {
    let mut detector = detector(false, Some(ms(100)));
    let mut board = board(&[0, 0, 50]);
    // Two duplicates: the second and the third have arrived, which nobody can know.
    for _ in 0..2 {
        board.presume_delivered(SEGMENT);
        detector.on_duplicate_without_sack(&mut board);
    }
    detector.on_timeout(&mut board, at(340));
    assert_eq!((board.lost(), board.next_lost()), (2 * SEGMENT, Some(0)));
    // What the duplicates told of is lost now, and says nothing of the third.
    assert_eq!((board.presumed(), board.pipe()), (0, SEGMENT));
    detector.on_timeout(&mut board, at(390));
    assert_eq!(board.lost(), 3 * SEGMENT);
}

/// Before a sample there is no timer, and RFC 6298's stays in charge.
#[test]
fn without_a_sample_there_is_no_timer() {
    let mut detector = detector(true, None);
    let mut board = board(&[0]);
    detector.on_sent(&TransmissionFacts { now: at(0), order: 1, new_bytes: 1, cwnd: 1, full_payload: 1 });
    detector.on_timeout(&mut board, at(10_000));
    assert!(!detector.times_segments());
    assert_eq!((board.lost(), detector.next_timeout()), (0, None));
}

/// Only an expiry backs the timer off: ACKs that give no sample and find no loss leave FastRTO as it was.
#[test]
fn acks_without_a_sample_do_not_back_off() {
    let (mut detector, mut board) = (detector(true, Some(ms(100))), board(&[]));
    let before = detector.patience();
    [0, 1_000, 2_000].into_iter().for_each(|now| detector.on_ack(&mut board, &facts(at(now), 0, 0)));
    assert!(before.is_some());
    assert_eq!((detector.patience(), detector.expired_at), (before, None));
}

/// What was taken back is watched as before, and may expire again.
#[test]
fn a_loss_taken_back_may_expire_again() {
    let (mut detector, mut board) = (detector(true, Some(ms(100))), board(&[0]));
    detector.on_timeout(&mut board, at(1_000));
    assert_eq!(board.lost(), SEGMENT);
    board.unmark_lost(detector.judges_again());
    assert_eq!(board.lost(), 0);
    detector.on_timeout(&mut board, at(10_000));
    assert_eq!(board.lost(), SEGMENT);
}

/// A detector that probes for tails, with a round trip of `rtt`: FastRTO is three times as much.
fn probing(rtt: Span, sack: bool) -> FastRto {
    let mut detector = FastRto::new(FastRtoParameters { tail_loss_probe: true, ..parameters() });
    detector.on_established(&handshake(Some(rtt), sack));
    detector
}

/// RFC 8985 section 7.2: a single segment's ACK may be a delayed one. At short round trips the probe does not wait for
/// all of the peer's timer; the end of the stream is answered at once (RFC 9293 section 3.10.7.4).
#[test]
fn a_probe_waits_for_fastrto_and_for_a_delayed_ack_as_long_at_most() {
    for (rtt_ms, single, ends_stream, expected_ms) in [
        (4, false, false, 12),
        (4, true, false, 24),
        (4, true, true, 12),
        (100, false, false, 300),
        (100, true, false, 340),
    ] {
        let tail = Tail { srtt: ms(rtt_ms), single, ends_stream };
        assert_eq!(probing(ms(rtt_ms), true).probe_timeout(&tail), ms(expected_ms), "{rtt_ms} {single}");
    }
    assert!(probing(ms(4), true).probes_tail());
    assert!(!probing(ms(4), false).probes_tail(), "RFC 8985 section 7 wants SACK");
    assert!(!detector(true, Some(ms(4))).probes_tail(), "the thesis has no probes");
}

/// What was sent once waits for the peer's timer, as the probe goes before; what was sent again does not.
#[test]
fn a_probe_that_is_lost_does_not_wait_for_the_peers_timer() {
    for (mut detector, expected) in
        [(probing(ms(4), true), 24 + 12 + 12), (detector(true, Some(ms(4))), 24 + 12 + 40)]
    {
        let mut board = board(&[0]);
        detector.on_timeout(&mut board, at(12));
        assert_eq!((board.lost(), detector.next_timeout()), (0, Some(at(12 + 40))));
        board.retransmit(0, at(24), Delivery::default());
        detector.on_sent(&TransmissionFacts {
            now: at(24),
            order: board.get(0).order,
            new_bytes: 0,
            cwnd: SEGMENT,
            full_payload: SEGMENT,
        });
        detector.on_timeout(&mut board, at(24));
        assert_eq!(detector.next_timeout(), Some(at(expected)));
    }
}

/// RFC 6298 (5.5): what left before an expiry belongs to it, however long the flight took to leave.
#[test]
fn a_flight_backs_off_once() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0, 310, 339]);
    for now in [340, 650, 679] {
        detector.on_timeout(&mut board, at(now));
    }
    assert_eq!((board.lost(), detector.backoff), (3 * SEGMENT, 0));
    board.retransmit(0, at(340), Delivery::default());
    detector.on_timeout(&mut board, at(680));
    assert_eq!(detector.backoff, 1);
}

/// RFC 5681 section 3.1: a window grows by what is acknowledged cumulatively. Segments that overtook a late one count once
/// it has come, each once; during a repair all that arrives counts.
#[test]
fn what_overtook_counts_when_the_hole_is_filled() {
    let mut detector = detector(true, Some(ms(100)));
    let overtaking = |detector: &mut FastRto| detector.growth(0, SEGMENT, false);
    assert_eq!((0..5).map(|_| overtaking(&mut detector)).sum::<u64>(), 0, "behind a hole");
    assert_eq!(detector.growth(6 * SEGMENT, SEGMENT, false), 6 * SEGMENT);
    // Behind two holes, of which one is filled.
    assert_eq!(overtaking(&mut detector) + overtaking(&mut detector), 0);
    assert_eq!(detector.growth(2 * SEGMENT, SEGMENT, false), 2 * SEGMENT);
    assert_eq!(detector.growth(0, 3 * SEGMENT, true), 3 * SEGMENT, "in recovery");
    assert_eq!(detector.growth(9 * SEGMENT, SEGMENT, false), 2 * SEGMENT, "three have counted as they came");
}

/// What is SACKed behind a loss grows nothing, though it is acknowledged once the loss is repaired.
#[test]
fn what_arrives_behind_a_loss_does_not_count() {
    let mut detector = detector(true, Some(ms(100)));
    let mut board = board(&[0, 0, 0, 0]);
    for number in 1..4 {
        sack(&mut detector, &mut board, at(100), number);
        assert_eq!(detector.growth(0, SEGMENT, false), 0);
    }
    detector.on_timeout(&mut board, at(400));
    assert_eq!(board.lost(), SEGMENT);
    assert_eq!(detector.growth(4 * SEGMENT, SEGMENT, false), SEGMENT, "the repair itself");
}
