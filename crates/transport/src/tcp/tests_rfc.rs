//! Rules of the RFCs that take a particular history to show.

use super::Receiver;
use super::tests::{Fate, Pair, Side, is_data};
use crate::CongestionConfig;
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment};
use crate::tcp_preset;
use anabranch_units::{Instant, Span};

const END: Instant = Instant::from_ps(60_000_000_000_000);

fn named(name: &str) -> TcpConfig {
    tcp_preset(name).unwrap()
}

/// A pair whose sender has opened and written `bytes`.
fn opened(config: &TcpConfig, bytes: u64) -> Pair {
    let mut pair = Pair::new(config, 9);
    pair.sender.open();
    pair.sender.write(bytes);
    pair
}

/// Runs in steps of 1 ms until `done`.
fn run_until(
    pair: &mut Pair,
    fate: &mut dyn FnMut(Side, &Segment, u64) -> Fate,
    done: impl Fn(&Pair) -> bool,
) {
    while !done(pair) {
        assert!(pair.now < END, "it happens within a minute");
        let next = pair.now + Span::from_ms(1);
        pair.run(next, &mut *fate);
        pair.now = next;
    }
}

/// RFC 9293 section 3.7.1: each SYN announces the largest segment that its side takes, and no segment is larger than
/// the smaller of the two. 12 bytes of each are the timestamps.
#[test]
fn no_segment_is_larger_than_either_end_announced() {
    for (ours, theirs) in [(1460, 1000), (1000, 1460)] {
        let with = |mss| TcpConfig { mss, ..named("newreno") };
        let mut pair = opened(&with(ours), 100_000);
        pair.receiver = Receiver::new(&with(theirs), 7);
        pair.run(END, |_, _, _| Fate::Arrive);
        let syn =
            |side| pair.log.iter().find(|sent| sent.1 == side && sent.2.flags.has(Flags::SYN)).unwrap().2;
        assert_eq!(syn(Side::Sender).mss, ours);
        assert!((1..=theirs).contains(&syn(Side::Receiver).mss));
        assert_eq!(pair.log.iter().map(|sent| sent.2.payload).max(), Some(1000 - 12), "{ours} and {theirs}");
        assert_eq!(pair.receiver.stats().delivered, 100_000);
    }
}

/// RFC 5681 section 3.1 takes half of what was outstanding, and fast recovery has done so already;
/// Linux's tcp_enter_loss() leaves ssthresh alone inside the window of a recovery.
#[test]
fn a_timeout_in_fast_recovery_does_not_reduce_ssthresh_again() {
    for name in ["newreno", "cubic"] {
        let mut pair = opened(&named(name), 400_000);
        let mut victim = None;
        let mut dropped = 0;
        let mut fate = |side: Side, segment: &Segment, number: u64| {
            let chosen = side == Side::Sender && is_data(segment) && number > 60;
            if chosen && *victim.get_or_insert(segment.seq) == segment.seq && dropped < 2 {
                dropped += 1;
                return Fate::Lost;
            }
            Fate::Arrive
        };
        run_until(&mut pair, &mut fate, |pair| pair.sender.stats().fast_recoveries == 1);
        let ssthresh = pair.sender.ssthresh();
        assert!(ssthresh > 10 * 1448);
        run_until(&mut pair, &mut fate, |pair| pair.sender.stats().timeouts == 1);
        assert_eq!(pair.sender.ssthresh(), ssthresh, "{name}");
    }
}

/// RFC 6298 section 5.1: the timer runs from the first unacknowledged segment; what is sent behind
/// it does not put it off, with a probe pending (RFC 8985 section 7.2) no more than without.
#[test]
fn new_data_does_not_put_the_retransmission_timer_off() {
    for name in ["reno", "linux-reno"] {
        let config = named(if name == "reno" { "newreno" } else { name });
        let mut pair = Pair::new(&config, 9);
        pair.delay = Span::from_ms(50);
        pair.sender.open();
        pair.sender.write(400_000);
        pair.run(END, |_, _, _| Fate::Arrive);
        let outage = pair.now + Span::from_ms(1);
        pair.now = outage;
        for _ in 0..20 {
            pair.sender.write(500);
            let next = pair.now + Span::from_ms(50);
            pair.run(next, |_, _, _| Fate::Lost);
            pair.now = next;
        }
        // srtt is at most 140 ms with delayed ACKs, so one second is well beyond 2 srtt and the RTO.
        let stats = pair.sender.stats();
        assert!(stats.timeouts > 0, "{name}: {stats:?}");
    }
}

/// Karn's algorithm: an ACK that covers a retransmission was held back by the hole, and so does
/// not time the segments behind it either.
#[test]
fn an_ack_that_fills_a_hole_gives_no_sample_of_what_waited_behind_it() {
    let config = TcpConfig { sack: false, timestamps: false, delayed_ack_segments: 1, ..named("newreno") };
    let mut dropped = false;
    let pair = Pair::transfer(&config, 200_000, |side, segment, number| {
        if side == Side::Sender && is_data(segment) && number > 40 && !dropped {
            dropped = true;
            return Fate::Lost;
        }
        Fate::Arrive
    });
    assert_eq!(pair.sender.stats().retransmissions, 1);
    assert_eq!(pair.sender.rtt().max, Span::from_ms(20), "the wire has no queue");
}

/// RFC 3168 section 6.1.2: one reduction per window of data for a mark and a loss together, and
/// CWR after a reduction for either.
#[test]
fn a_mark_and_a_loss_in_one_window_reduce_once() {
    for mark_first in [true, false] {
        let config = TcpConfig { ecn: true, ..named("newreno") };
        let mut pair = opened(&config, 400_000);
        pair.sender.close();
        let run = |pair: &mut Pair, lost: &[u64], marked: &[u64], until: Instant| {
            while pair.now < until {
                let next = pair.now + Span::from_us(500);
                let rest = pair.run(next, |side, _, number| {
                    if side == Side::Sender && lost.contains(&number) { Fate::Lost } else { Fate::Arrive }
                });
                for entry in &mut pair.wire {
                    if marked.contains(&(entry.1 / 2)) && entry.2 == Side::Sender {
                        entry.3.flags = entry.3.flags.with(Flags::CE);
                    }
                }
                if rest {
                    break;
                }
                pair.now = next;
            }
        };
        // Both leave in the round from 60 ms on.
        let mut probe = opened(&config, 400_000);
        probe.run(Instant::ZERO + Span::from_ms(85), |_, _, _| Fate::Arrive);
        let mut data = Vec::new();
        for (index, (at, side, segment)) in probe.log.iter().enumerate() {
            if *side == Side::Sender && is_data(segment) && *at >= Instant::ZERO + Span::from_ms(60) {
                data.push(index as u64);
            }
        }
        let (early, late) = (data[0], data[6]);
        let (marked, lost) = if mark_first { (early, late) } else { (late, early) };
        run(&mut pair, &[lost], &[marked], END);
        let stats = *pair.sender.stats();
        assert_eq!(pair.receiver.stats().delivered, 400_000);
        assert_eq!(pair.receiver.stats().marked_segments, 1);
        assert_eq!(stats.fast_recoveries, 1);
        assert_eq!(stats.retransmissions, 1);
        let tellings = pair
            .log
            .iter()
            .filter(|(_, side, s)| *side == Side::Sender && is_data(s) && s.flags.has(Flags::CWR));
        assert!(tellings.count() > 0, "the receiver is told");
        // What left in the round that was marked is the window; half of it, not a quarter, is ssthresh.
        let round = Instant::ZERO + Span::from_ms(60)..Instant::ZERO + Span::from_ms(80);
        let sent = |(at, side, segment): &&(Instant, Side, Segment)| {
            round.contains(at) && *side == Side::Sender && is_data(segment)
        };
        let flight = probe.log.iter().filter(sent).count() as u64 * 1448;
        assert!(pair.sender.ssthresh() * 5 >= flight * 2, "{mark_first} {} {flight}", pair.sender.ssthresh());
        if !mark_first {
            assert_eq!(stats.ecn_reductions, 0);
        }
    }
}

/// A segment that the network doubles after a recovery says nothing about that recovery: DSACKs
/// count only for what was retransmitted (RFC 3708 section 2).
#[test]
fn a_doubled_segment_after_a_recovery_does_not_undo_it() {
    let mut dropped = false;
    let mut doubled = 0;
    let mut quiet = 0;
    let pair = Pair::transfer(&named("linux-reno"), 400_000, |side, segment, number| {
        if side != Side::Sender || !is_data(segment) || number <= 60 {
            return Fate::Arrive;
        }
        if !dropped {
            dropped = true;
            return Fate::Lost;
        }
        quiet += 1;
        if quiet > 100 && doubled == 0 {
            doubled += 1;
            return Fate::Twice;
        }
        Fate::Arrive
    });
    let stats = pair.sender.stats();
    assert_eq!((stats.fast_recoveries, stats.retransmissions, doubled), (1, 1, 1));
    assert_eq!(pair.receiver.stats().duplicate_segments, 1);
    assert_eq!(stats.undone_recoveries, 0, "the loss was real");
}

/// RFC 8985 section 7.4.2 reacts to the loss as to any other: from the flight of the time, not from
/// what the ACK that shows it leaves over.
#[test]
fn a_loss_repaired_by_a_probe_halves_the_flight() {
    let congestion_control = CongestionConfig::named("newreno").expect("registered");
    let config = TcpConfig { congestion_control, ..named("linux-reno") };
    let mut pair = opened(&config, 40 * 1448);
    let mut last = None;
    pair.run(Instant::ZERO + Span::from_ms(45), |_, _, _| Fate::Arrive);
    let end = 10u32.wrapping_add(39 * 1448);
    pair.run(END, |side, segment, _| {
        if side == Side::Sender && segment.seq == end && last.is_none() {
            last = Some(segment.seq);
            return Fate::Lost;
        }
        Fate::Arrive
    });
    assert_eq!((pair.sender.stats().tail_loss_probes, pair.sender.stats().timeouts), (1, 0));
    assert_eq!(pair.sender.ssthresh(), u64::MAX, "not known yet");
    pair.sender.write(20 * 1448);
    pair.run(END, |_, _, _| Fate::Arrive);
    assert_eq!(pair.sender.ssthresh(), 10 * 1448);
}

/// RFC 5681 section 2: a duplicate ACK repeats the highest acknowledgment; one that was overtaken by
/// others on its way repeats nothing.
#[test]
fn overtaken_acks_are_no_duplicates() {
    for sack in [true, false] {
        let config = TcpConfig { sack, ..named("newreno") };
        let pair = Pair::transfer(&config, 400_000, |side, _, number| {
            let late = side == Side::Receiver && number > 60 && number % 20 < 10;
            if late { Fate::Late(Span::from_ms(3)) } else { Fate::Arrive }
        });
        assert_eq!(pair.sender.stats().retransmissions, 0, "SACK: {sack}");
    }
}

/// RFC 2883 section 4 compares a block with the acknowledgment of its own segment: the SACK block of
/// an ACK that was overtaken is no DSACK, though all it reports is acknowledged by now.
#[test]
fn the_sack_block_of_an_overtaken_ack_is_no_dsack() {
    let mut data = 0;
    let (mut lost, mut delayed) = (0, 0);
    let pair = Pair::transfer(&named("linux-reno"), 400_000, |side, segment, _| {
        if side == Side::Sender && is_data(segment) {
            data += 1;
            // Two holes with some segments between them, in the first flight of 20.
            if data == 12 || data == 20 {
                lost += 1;
                return Fate::Lost;
            }
        }
        // The first ACKs of what lies between the holes come after the recovery.
        if side == Side::Receiver && !segment.sack.is_empty() && delayed < 2 {
            delayed += 1;
            return Fate::Late(Span::from_ms(100));
        }
        Fate::Arrive
    });
    let stats = pair.sender.stats();
    assert_eq!((lost, delayed, stats.retransmissions), (2, 2, 2));
    assert_eq!(pair.receiver.stats().duplicate_segments, 0);
    assert_eq!(stats.undone_recoveries, 0, "both losses were real");
}

/// RFC 6937 section 3: of a window of 40 three quarters are lost, so that pipe is below ssthresh. An ACK that delivers
/// one segment and makes progress lets out two until pipe is there, and from then on one.
#[test]
fn progress_in_recovery_fills_the_pipe_up_to_ssthresh() {
    let mut pair = opened(&named("newreno"), 400_000);
    let mut number = 0;
    let sent =
        |pair: &Pair| pair.log.iter().filter(|(_, side, s)| *side == Side::Sender && is_data(s)).count();
    // Spread over time, so that each ACK comes alone.
    let mut fate = |side: Side, segment: &Segment, _| {
        if side != Side::Sender || !is_data(segment) {
            return Fate::Arrive;
        }
        number += 1;
        let lost = (31..=70).contains(&number) && number % 4 != 0;
        if lost { Fate::Lost } else { Fate::Late(Span::from_us(50 * number)) }
    };
    run_until(&mut pair, &mut fate, |pair| pair.sender.stats().fast_recoveries == 1);
    let (ssthresh, mut counts) = (pair.sender.ssthresh(), [0; 3]);
    while pair.sender.acknowledged() < 60 * 1448 {
        let (una, pipe, before) = (pair.sender.acknowledged(), pair.sender.in_flight(), sent(&pair));
        let next = pair.wire.iter().map(|w| w.0).min().expect("something is under way");
        pair.run(next, &mut fate);
        if pair.sender.acknowledged() > una {
            let expected = if pipe < ssthresh { 2 } else { 1 };
            assert_eq!(sent(&pair) - before, expected, "at {pipe} of {ssthresh} bytes");
            counts[expected] += 1;
        }
    }
    assert!(counts[1] > 0 && counts[2] > 0, "{counts:?}");
}

/// RFC 7323 section 4.3: data echo the largest timestamp that has arrived, which an ACK that others have overtaken does
/// not take back.
#[test]
fn data_echo_the_newest_timestamp() {
    let late = |number: usize| Span::from_ms(if number.is_multiple_of(7) { 3 } else { 0 });
    let pair = Pair::transfer(&named("newreno"), 400_000, |side, _, number| match side {
        Side::Sender => Fate::Arrive,
        Side::Receiver => Fate::Late(late(number as usize)),
    });
    let answers = pair.log.iter().enumerate().filter(|(_, (_, side, _))| *side == Side::Receiver);
    let arrived: Vec<_> =
        answers.map(|(number, (at, _, s))| (*at + pair.delay + late(number), s.timestamp)).collect();
    let data = pair.log.iter().filter(|(_, side, s)| *side == Side::Sender && is_data(s));
    assert!(data.clone().count() > 200);
    for (at, _, segment) in data {
        let newest = |upto: &dyn Fn(Instant) -> bool| {
            arrived.iter().filter(|(arrival, _)| upto(*arrival)).map(|(_, stamp)| *stamp).max()
        };
        // Of those that arrive at the same time some may be behind it.
        let (least, most) =
            (newest(&|arrival| arrival < *at).unwrap_or(0), newest(&|arrival| arrival <= *at));
        assert!((least..=most.expect("the SYN-ACK")).contains(&segment.timestamp_echo));
    }
}

/// RFC 6582 section 3.2 step 3: without SACK duplicate ACKs inflate the window, and a partial ACK deflates it by what it
/// acknowledges, less a segment. Two of 40 segments are lost. When the first is repaired, 29 of the duplicates are paid
/// back, and in flight is what is under way and each ACK that answers one.
#[test]
fn a_partial_ack_takes_back_what_duplicates_presumed() {
    let mut pair = opened(&TcpConfig { sack: false, ..named("newreno") }, 400_000);
    let mut number = 0;
    let mut fate = |side: Side, segment: &Segment, _| {
        number += u64::from(side == Side::Sender && is_data(segment));
        let lost = side == Side::Sender && [31, 61].contains(&number);
        if lost { Fate::Lost } else { Fate::Late(Span::from_us(number)) }
    };
    run_until(&mut pair, &mut fate, |pair| pair.sender.acknowledged() >= 60 * 1448);
    assert_eq!(pair.sender.acknowledged(), 60 * 1448);
    assert_eq!(pair.sender.in_flight(), 1448 * pair.wire.len() as u64);
}

/// Linux's tcp_is_cwnd_limited(): in slow start a window of which half is used may grow. Six segments a round trip do
/// that to the initial window of ten, until it is more than twelve; four never do.
#[test]
fn a_half_used_window_grows_in_slow_start() {
    for (segments, least, most) in [(4, 10, 10), (6, 12, 14)] {
        let mut pair = opened(&named("newreno"), 0);
        pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
        for round in 0..20 {
            pair.sender.write(segments * 1448);
            pair.run(Instant::ZERO + Span::from_ms(150 + 50 * round), |_, _, _| Fate::Arrive);
            pair.now = Instant::ZERO + Span::from_ms(150 + 50 * round);
        }
        assert_eq!(pair.receiver.stats().delivered, 20 * segments * 1448);
        let window = pair.sender.cwnd() / 1448;
        assert!((least..=most).contains(&window), "{segments} a round trip: {window}");
    }
}

/// RFC 5681 section 4.1: the first flight after a pause longer than the timeout is an initial window, and
/// after a shorter one whatever the window allows.
#[test]
fn a_pause_ends_with_an_initial_window() {
    for (pause_ms, first_flight) in [(1_000, 10), (50, 40)] {
        let mut pair = Pair::new(&tcp_preset("newreno").unwrap(), 1);
        pair.sender.open();
        // Ten, twenty and forty segments in three round trips.
        pair.sender.write(70 * 1448);
        pair.run(Instant::ZERO + Span::from_ms(400), |_, _, _| Fate::Arrive);
        assert_eq!(pair.receiver.stats().delivered, 70 * 1448);
        let last = pair.log.iter().rfind(|(_, side, s)| *side == Side::Sender && is_data(s)).unwrap().0;
        pair.now = last + Span::from_ms(20 + pause_ms);
        let before = pair.log.len();
        pair.sender.write(40 * 1448);
        pair.flush(&mut |_, _, _| Fate::Arrive);
        let sent = pair.log[before..].iter().filter(|(_, _, s)| is_data(s)).count();
        assert_eq!(sent, first_flight, "after {pause_ms} ms");
    }
}

/// RFC 5681 section 4.1: only a pause that exceeds the timeout ends so.
#[test]
fn a_pause_of_just_the_timeout_keeps_the_window() {
    for (excess_ps, first_flight) in [(0, 40), (1, 10)] {
        let mut pair = opened(&named("newreno"), 70 * 1448);
        pair.run(Instant::ZERO + Span::from_ms(400), |_, _, _| Fate::Arrive);
        let last = pair.log.iter().rfind(|(_, side, s)| *side == Side::Sender && is_data(s)).unwrap().0;
        pair.now = last + pair.sender.rto() + Span::from_ps(excess_ps);
        let before = pair.log.len();
        pair.sender.write(40 * 1448);
        pair.flush(&mut |_, _, _| Fate::Arrive);
        assert_eq!(pair.log[before..].iter().filter(|(_, _, s)| is_data(s)).count(), first_flight);
    }
}

/// RFC 5681 section 3.1: the slow start after a timeout grows by ACKs of new data. Here a window is late and its first
/// segment lost, and what the timeout repeats of that is lost, too: the SACKs of the late rest leave the window at the
/// one segment that the timeout left it, and it grows when the hole is filled.
#[test]
fn a_window_does_not_grow_on_sacks_while_the_hole_of_a_timeout_is_open() {
    for name in ["newreno", "linux-reno"] {
        let late_from = Instant::ZERO + Span::from_ms(100);
        let mut pair = opened(&named(name), 10_000_000);
        pair.run(late_from, |_, _, _| Fate::Arrive);
        pair.now = late_from;
        let mut hole = None;
        let mut repeated = 0;
        let mut fate = |side: Side, segment: &Segment, _| {
            if side == Side::Receiver {
                return Fate::Arrive;
            }
            let first = *hole.get_or_insert(segment.seq);
            // The original, and what a timeout sends of it before a second has passed.
            repeated += u32::from(segment.seq == first);
            if segment.seq == first && repeated <= 2 { Fate::Lost } else { Fate::Late(Span::from_ms(400)) }
        };
        run_until(&mut pair, &mut fate, |pair| pair.sender.stats().timeouts == 1);
        let (acknowledged, payload) = (pair.sender.acknowledged(), 1448);
        assert_eq!(pair.sender.cwnd(), payload, "{name}: the loss window");
        let mut sacks = 0;
        while pair.sender.acknowledged() == acknowledged {
            assert_eq!(pair.sender.cwnd(), payload, "{name}: at {:?}", pair.now);
            let next = pair.now + Span::from_ms(1);
            pair.run(next, &mut fate);
            pair.now = next;
            sacks =
                pair.log.iter().filter(|(_, side, s)| *side == Side::Receiver && !s.sack.is_empty()).count();
        }
        assert!(sacks > 20, "{name}: {sacks} SACKs passed");
        run_until(&mut pair, &mut |_, _, _| Fate::Arrive, |pair| pair.sender.cwnd() > 2 * payload);
    }
}

/// `linux-reno` whose receiver delays every other ACK.
fn delaying_acks() -> TcpConfig {
    TcpConfig { autotuning: false, quick_acks: 0, acks_end_of_write: false, ..named("linux-reno") }
}

/// RFC 8985 section 6.2 step 1 wants the round trip of the segment delivered last: the ACK of two segments waited for
/// the second, which tells of the path alone. The first tells of the wait, too, and that is what the timeout must
/// know (RFC 7323 section 4.2).
#[test]
fn the_smallest_rtt_is_free_of_delayed_acks() {
    let mut pair = Pair::new(&delaying_acks(), 9);
    // The handshake takes 60 ms, so that it is not the smallest round trip.
    pair.delay = Span::from_ms(30);
    pair.sender.open();
    pair.run(Instant::ZERO + Span::from_ms(200), |_, _, _| Fate::Arrive);
    pair.delay = Span::from_ms(10);
    for gap_ms in [5, 100] {
        pair.now = pair.now + Span::from_ms(gap_ms);
        pair.sender.write(1448);
        let next = pair.now + Span::from_ms(5);
        pair.run(next, |_, _, _| Fate::Arrive);
        pair.now = next;
        pair.sender.write(1448);
        pair.run(next + Span::from_ms(60), |_, _, _| Fate::Arrive);
        let rtt = pair.sender.rtt();
        assert_eq!((rtt.min, rtt.latest), (Span::from_ms(20), Span::from_ms(25)));
    }
}

/// Sends 40 segments, of which the network does what `fate` says, then 20 more; `alter` sees what is on the wire.
fn with_a_probe(mut fate: impl FnMut(Side, &Segment) -> Fate, alter: impl Fn(&mut Segment)) -> Pair {
    let mut pair = opened(&delaying_acks(), 40 * 1448);
    let mut more = false;
    while pair.now < Instant::ZERO + Span::from_secs(5) {
        let next = pair.now + Span::from_us(500);
        pair.run(next, |side, segment, _| fate(side, segment));
        for (_, _, side, segment) in &mut pair.wire {
            if *side == Side::Receiver {
                alter(segment);
            }
        }
        pair.now = next;
        // As soon as all is acknowledged, so that a second ACK of it finds data outstanding.
        if !more && pair.sender.acknowledged() == 40 * 1448 {
            more = true;
            pair.sender.write(20 * 1448);
        }
    }
    assert!(more && pair.sender.acknowledged() == 60 * 1448);
    pair
}

/// The ACK number of everything in [`with_a_probe`] before the 20 segments.
const ALL_40: u32 = 10 + 40 * 1448;

/// RFC 8985 section 7.4.2: a probe that sent the last segment again repaired nothing if the receiver had both. It
/// says so by a DSACK, or, without one, by a second ACK of the same data without SACK. Neither takes anything from
/// the window, and no more does what is acknowledged after.
#[test]
fn a_probe_that_repaired_nothing_leaves_the_window() {
    // The only ACK of the last segment is lost; that of the probe carries a DSACK.
    let mut lost = 0;
    let fate = |side: Side, segment: &Segment| {
        let last = side == Side::Receiver && segment.ack == ALL_40 && lost == 0;
        lost += u32::from(last);
        if last { Fate::Lost } else { Fate::Arrive }
    };
    let pair = with_a_probe(fate, |_| ());
    assert_eq!(pair.receiver.stats().duplicate_segments, 1);
    assert_eq!((pair.sender.stats().tail_loss_probes, pair.sender.stats().timeouts), (1, 0));
    assert_eq!(pair.sender.ssthresh(), u64::MAX, "DSACK");
    // The ACK is late, and the receiver knows no DSACK.
    let mut late = 0;
    let fate = |side: Side, segment: &Segment| {
        let last = side == Side::Receiver && segment.ack == ALL_40 && late == 0;
        late += u32::from(last);
        // After the probe, two round trips on, and before its ACK.
        if last { Fate::Late(Span::from_ms(50)) } else { Fate::Arrive }
    };
    let pair = with_a_probe(fate, |segment| {
        segment.sack = Default::default();
    });
    assert_eq!(pair.receiver.stats().duplicate_segments, 1);
    assert_eq!((pair.sender.stats().tail_loss_probes, pair.sender.stats().timeouts), (1, 0));
    assert_eq!(pair.sender.ssthresh(), u64::MAX, "a duplicate ACK");
}

/// RFC 8985 section 7.4.2: a probe of new data repairs nothing either, whatever is acknowledged after; of a subflow too.
#[test]
fn a_probe_of_new_data_leaves_the_window() {
    for short in [0, 8] {
        let mut pair = opened(&named("linux-reno"), 400_000);
        pair.sender.set_short(short);
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        while pair.now < at(3000) {
            let next = pair.now + Span::from_ms(1);
            let out = (at(60)..at(150)).contains(&pair.now) && pair.sender.stats().tail_loss_probes == 0;
            let fate = |out| if out { Fate::Lost } else { Fate::Arrive };
            pair.run(next, |side, _, _| fate(side == Side::Receiver && out));
            pair.now = next;
        }
        let (stats, sender) = (*pair.sender.stats(), &pair.sender);
        let probed = stats.tail_loss_probes >= 1;
        assert_eq!((sender.acknowledged(), sender.ssthresh()), (400_000, u64::MAX), "nothing was lost");
        assert_eq!((stats.retransmissions, stats.timeouts, probed), (0, 0, true), "short by {short}");
    }
}

/// RFC 3708 section 2 takes an episode for spurious if DSACKs report all that was retransmitted, and what an earlier
/// timeout sent again counts while it is under way. Here a whole window is lost. After the first timeout two more
/// retransmissions are so late that the timer expires again; the third copy of a segment is then one too many. Its
/// DSACK alone says nothing about the window, all of which was lost.
#[test]
fn retransmissions_under_way_at_a_timeout_count_for_its_undo() {
    // 200 ms, then 400 ms, then 800 ms: no sample ends the back-off (Karn's algorithm).
    let min_rto = Span::from_ms(200);
    let config = TcpConfig { undo: true, timestamps: false, min_rto, ..named("newreno") };
    let mut pair = opened(&config, 400_000);
    let blackout = Instant::ZERO + Span::from_ms(60);
    pair.run(blackout, |_, _, _| Fate::Arrive);
    pair.now = blackout;
    let mut fate =
        |side: Side, _: &Segment, _: u64| if side == Side::Sender { Fate::Lost } else { Fate::Arrive };
    // What left before arrives, all else until the first timeout is lost.
    let timeouts = |pair: &Pair| pair.sender.stats().timeouts;
    loop {
        let next = pair.now + Span::from_us(100);
        if pair.sender.next_timeout().is_some_and(|at| at <= next) && pair.wire.is_empty() {
            break;
        }
        pair.run(next, &mut fate);
        pair.now = next;
    }
    // The timeout sends one segment; its ACK lets two more leave, which take until after the second timeout.
    let mut sent = 0;
    let mut late = |side: Side, _: &Segment, _: u64| {
        sent += u32::from(side == Side::Sender);
        if side == Side::Sender && (sent == 2 || sent == 3) {
            Fate::Late(Span::from_ms(700))
        } else {
            Fate::Arrive
        }
    };
    run_until(&mut pair, &mut late, |pair| timeouts(pair) == 1 && pair.sender.stats().retransmissions == 3);
    // The ACKs of the two are lost, and the repeated first of them arrives behind them.
    let mut behind = |side: Side, _: &Segment, _: u64| match side {
        Side::Sender => Fate::Late(Span::from_ms(400)),
        Side::Receiver => Fate::Lost,
    };
    run_until(&mut pair, &mut behind, |pair| timeouts(pair) == 2);
    let acknowledged = pair.sender.acknowledged();
    let arrived = pair.receiver.stats().delivered;
    run_until(&mut pair, &mut behind, |pair| pair.receiver.stats().delivered >= arrived + 2 * 1448);
    assert_eq!(pair.sender.acknowledged(), acknowledged);
    run_until(&mut pair, &mut |_, _, _| Fate::Arrive, |pair| pair.sender.acknowledged() > acknowledged);
    assert_eq!((timeouts(&pair), pair.receiver.stats().duplicate_segments), (2, 1));
    assert_eq!(pair.sender.stats().undone_recoveries, 0);
}
