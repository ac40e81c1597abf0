use super::*;

/// An option is in force if both ends have asked for it: SACK (RFC 2018 section 2), timestamps (RFC 7323 section
/// 3.2), ECN, for which a SYN has two flags (RFC 3168 section 6.1.1).
#[test]
fn options_are_those_that_both_ends_asked_for() {
    let ecn = Flags::ECE.with(Flags::CWR);
    for (asked, answered) in [
        (Flags::SACK_PERMITTED, Flags::SACK_PERMITTED),
        (Flags::TIMESTAMPS, Flags::TIMESTAMPS),
        (ecn, Flags::ECE),
    ] {
        for (ours, theirs) in [(false, false), (false, true), (true, false), (true, true)] {
            let config = TcpConfig {
                sack: ours,
                timestamps: ours,
                ecn: ours,
                ..crate::tcp_preset("newreno").unwrap()
            };
            let mut receiver = Receiver::new(&config, 500);
            let flags = if theirs { Flags::SYN.with(asked) } else { Flags::SYN };
            receiver.on_segment(Instant::ZERO, &Segment { flags, ..Segment::default() });
            let answer = receiver.poll_transmit(Instant::ZERO).expect("a SYN is answered");
            assert_eq!(answer.flags.has(answered), ours && theirs, "{asked:?}: {ours}, {theirs}");
        }
    }
}

/// RFC 8257 section 3.2, figure 1, with two segments to an ACK: an ACK echoes what the segments that it answers have.
/// CWR ends no echo.
#[test]
fn each_mark_is_echoed() {
    let config = crate::tcp_preset("dctcp").unwrap();
    let mut receiver = Receiver::new(&config, 500);
    let now = Instant::ZERO;
    let syn = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    receiver.on_segment(now, &Segment { flags: syn, seq: 99, ..Segment::default() });
    assert!(receiver.poll_transmit(now).is_some_and(|answer| answer.flags.has(Flags::ECE)));
    let mut answers = |place: u32, flags: Flags| {
        let seq = 100 + 10 * place;
        receiver.on_segment(now, &Segment { seq, flags, ack: 501, payload: 10, ..Segment::default() });
        let acks = std::iter::from_fn(|| receiver.poll_transmit(now));
        acks.map(|ack| ((ack.ack - 100) / 10, ack.flags.has(Flags::ECE))).collect::<Vec<_>>()
    };
    let (plain, marked) = (Flags::ACK, Flags::ACK.with(Flags::CE));
    assert_eq!(answers(0, plain), []);
    // The first was not marked, and is acknowledged at once.
    assert_eq!(answers(1, marked), [(1, false)]);
    assert_eq!(answers(2, marked), [(3, true)]);
    assert_eq!(answers(3, marked.with(Flags::CWR)), []);
    assert_eq!(answers(4, plain), [(4, true)]);
    assert_eq!(answers(5, plain), [(6, false)]);
    // Nothing waits for an ACK: there is nothing to say of what came before.
    assert_eq!(answers(6, marked), []);
    assert_eq!(answers(7, marked), [(8, true)]);
}

/// The second example of RFC 7323 section 4.3: segments arrive as A, C, B, E, D, each is acknowledged, and the echo is
/// that of the last one in sequence.
#[test]
fn echoes_are_those_of_the_example_of_the_rfc() {
    let config = TcpConfig { delayed_ack_segments: 1, ..crate::tcp_preset("newreno").unwrap() };
    let mut receiver = Receiver::new(&config, 500);
    let now = Instant::ZERO;
    let stamped = |flags: Flags, timestamp| Segment {
        flags: flags.with(Flags::TIMESTAMPS),
        timestamp,
        seq: 99,
        ..Segment::default()
    };
    receiver.on_segment(now, &stamped(Flags::SYN, 0));
    assert!(receiver.poll_transmit(now).is_some_and(|answer| answer.flags.has(Flags::SYN)));
    // Letter, TSval; acknowledged up to and with this letter, TSecr.
    for (letter, timestamp, up_to, echo) in
        [('A', 1, 'A', 1), ('C', 3, 'A', 1), ('B', 2, 'C', 2), ('E', 5, 'C', 2), ('D', 4, 'E', 4)]
    {
        let place = |letter| u32::from(letter) - u32::from('A');
        let seq = 100 + 10 * place(letter);
        receiver.on_segment(now, &Segment { seq, ack: 501, payload: 10, ..stamped(Flags::ACK, timestamp) });
        let ack = receiver.poll_transmit(now).expect("each segment is acknowledged");
        assert_eq!((ack.ack, ack.timestamp_echo), (110 + 10 * place(up_to), echo), "segment {letter}");
    }
}

/// Linux's receiver with a fixed window, after the handshake.
fn with_quick_acks(quick_acks: u32, window: u64) -> Receiver {
    let preset = crate::tcp_preset("linux-cubic").unwrap();
    let receive_buffer = anabranch_units::Bytes(window);
    let config =
        TcpConfig { quick_acks, autotuning: false, acks_end_of_write: false, receive_buffer, ..preset };
    let mut receiver = Receiver::new(&config, 500);
    assert!(answers_at_once(&mut receiver, 500, (Flags::SYN, 99)));
    receiver
}

/// Whether a segment, 400 ms after what it echoes, is answered at once. Data have ten bytes.
fn answers_at_once(receiver: &mut Receiver, ms: u64, (flags, seq): (Flags, u32)) -> bool {
    let at = |ms: u64| Instant::ZERO + Span::from_ms(ms);
    let clock = TimestampClock::new(receiver.config.timestamp_tick);
    let (timestamp, timestamp_echo) = (clock.at(at(ms)), clock.at(at(ms - 400)));
    let (flags, payload) = (flags.with(Flags::TIMESTAMPS), if seq < 100 { 0 } else { 10 });
    let segment = Segment { flags, seq, ack: 501, payload, timestamp, timestamp_echo, ..Segment::default() };
    receiver.on_segment(at(ms), &segment);
    receiver.poll_transmit(at(ms)).is_some()
}

/// RFC 6298 section 2.2: what the sender's timeout is after one sample, three round trips of 400 ms, is a pause behind which
/// ACKs are not delayed.
#[test]
fn a_pause_lasts_for_three_round_trips() {
    let mut receiver = with_quick_acks(2, 1 << 20);
    for (ms, seq, at_once, why) in [
        (1000, 100, true, "the first two"),
        (1001, 110, true, "the first two"),
        (2200, 120, false, "1199 ms are no pause"),
        (2201, 130, true, "every second segment"),
        (3402, 140, true, "behind 1201 ms"),
    ] {
        assert_eq!(answers_at_once(&mut receiver, ms, (Flags::ACK, seq)), at_once, "{why}");
    }
}

/// As in Linux, the first ACKs that are not delayed are as many as half of the window has segments, four here.
#[test]
fn half_of_the_window_bounds_the_acks_that_are_not_delayed() {
    let mut receiver = with_quick_acks(16, 8 * 1460);
    let answered = [100, 110, 120, 130, 140, 150]
        .map(|seq| answers_at_once(&mut receiver, 1000 + u64::from(seq), (Flags::ACK, seq)));
    assert_eq!(answered, [true, true, true, true, false, true]);
}

/// Fisk and Feng 2001, with what waits behind a hole: in a round trip of 20 ms 30 segments of 1448 bytes are taken, where
/// ten of 1460 were expected, and 22 positions lie behind. Twice 43,440 is 86,880; the growth is 86,880 * 28,840 / 14,600
/// = 171,617. With the hole the limit is 86,880 + 22 * 1448 + 2 * 171,617 = 461,970 bytes.
#[test]
fn what_waits_behind_a_hole_widens_the_limit() {
    let config = TcpConfig { autotuning: true, ..crate::tcp_preset("linux-cubic").unwrap() };
    let mut receiver = Receiver::new(&config, 500);
    let at = |ms: u64| Instant::ZERO + Span::from_ms(ms);
    let mut arrive = |ms: u64, place: Option<u32>| {
        let clock = TimestampClock::new(config.timestamp_tick);
        let stamps =
            Segment { timestamp: clock.at(at(ms)), timestamp_echo: clock.at(at(0)), ..Segment::default() };
        let segment = match place {
            None => Segment { flags: Flags::SYN.with(Flags::TIMESTAMPS), seq: 99, ..stamps },
            Some(place) => {
                let flags = Flags::ACK.with(Flags::TIMESTAMPS);
                Segment { flags, seq: 100 + 1448 * place, ack: 501, payload: 1448, ..stamps }
            }
        };
        receiver.on_segment(at(ms), &segment);
        // A round of no length takes nothing anew and gives the limit as it is.
        receiver.sizing.as_deref().copied().map(|mut sizing| sizing.on_taken(at(ms), Span::ZERO, 0, 0))
    };
    arrive(0, None);
    let first = arrive(20, Some(0));
    (1..30).for_each(|place| assert_eq!(arrive(30, Some(place)), first, "the round goes on"));
    (31..51).for_each(|place| assert_eq!(arrive(39, Some(place)), first, "behind a hole"));
    assert_eq!(arrive(40, Some(51)), Some(461_970));
}

/// RFC 8684 section 3.3.4: the connection bounds what is under way. A subflow takes whatever comes, also where its window
/// grows by itself.
#[test]
fn a_subflow_takes_what_lies_beyond_its_own_window() {
    for autotuning in [false, true] {
        let config = TcpConfig { autotuning, ..crate::tcp_preset("linux-cubic").unwrap() };
        let mut receiver = Receiver::for_subflow(std::sync::Arc::new(config), 500);
        let flags = Flags::SYN.with(Flags::SACK_PERMITTED);
        receiver.on_segment(Instant::ZERO, &Segment { flags, seq: 99, ..Segment::default() });
        assert!(receiver.poll_transmit(Instant::ZERO).is_some());
        let (seq, flags) = (100 + (1 << 29), Flags::ACK);
        receiver
            .on_segment(Instant::ZERO, &Segment { seq, ack: 501, payload: 10, flags, ..Segment::default() });
        let answer = receiver.poll_transmit(Instant::ZERO).expect("a duplicate ACK");
        assert_eq!(answer.sack.as_slice(), [(seq, seq + 10)], "autotuning: {autotuning}");
    }
}
