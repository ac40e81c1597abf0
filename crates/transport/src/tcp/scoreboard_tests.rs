//! The counters against a recount, and the losses noted against their sum.

use super::*;
use proptest::prelude::*;

impl Scoreboard {
    /// Recounts everything from the segments; for tests.
    pub(crate) fn check(&self) {
        let sum =
            |f: &dyn Fn(&Sent) -> bool| self.segments.iter().filter(|s| f(s)).map(Sent::len).sum::<u64>();
        assert_eq!(self.sacked, sum(&|s| s.sacked) + self.folded_bytes());
        assert_eq!(self.lost, sum(&|s| s.lost));
        assert_eq!(self.retransmitted, sum(&|s| s.retransmitted));
        let in_flight = sum(&Sent::in_flight);
        assert_eq!(self.pipe(), in_flight.saturating_sub(self.presumed));
        assert!(self.segments.iter().all(|s| !(s.sacked && s.lost) && (s.lost || !s.retransmitted)));
        let mut listed = 0;
        let mut number = self.oldest;
        while number != NONE {
            assert!(self.get(number).in_flight());
            listed += self.get(number).len();
            number = self.get(number).newer;
        }
        // One that was judged and is so no more may be watched no longer.
        let watched = sum(&|s| s.in_flight() && (s.lost || !s.detected));
        assert!(watched <= listed && listed <= in_flight);
        let departures = self.departures.as_ref().map(|departures| departures.all.len());
        let bytes = sum(&|_| true) + self.folded_bytes();
        assert_eq!(self.outstanding, bytes);
        assert!(departures.is_none_or(|departures| departures == self.segments.len()));
    }
}

fn delivery() -> Delivery {
    Delivery { delivered: 0, delivered_at: Instant::ZERO, first_sent_at: Instant::ZERO, app_limited: false }
}

#[derive(Clone, Debug)]
enum Operation {
    Send(u64),
    Ack(u64),
    Sack(u64, u64),
    Lose(usize),
    LoseAll,
    Unmark,
    Retransmit,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1u64..200).prop_map(Operation::Send),
        2 => (0u64..400).prop_map(Operation::Ack),
        4 => (0u64..2000, 1u64..500).prop_map(|(l, n)| Operation::Sack(l, n)),
        3 => (0usize..50).prop_map(Operation::Lose),
        1 => Just(Operation::LoseAll),
        1 => Just(Operation::Unmark),
        3 => Just(Operation::Retransmit),
    ]
}

proptest! {
    /// Whatever happens, the counters agree with a recount and the time list with the flags.
    #[test]
    fn counters_agree_with_a_recount(operations in prop::collection::vec(operation(), 1..120)) {
        let mut board = Scoreboard::new(100);
        board.note_losses();
        let mut noted = 0;
        let (mut una, mut nxt) = (1_000u64, 1_000u64);
        for operation in operations {
            match operation {
                Operation::Send(len) => {
                    board.push(nxt, nxt + len, false, Instant::ZERO, delivery());
                    nxt += len;
                }
                Operation::Ack(advance) => {
                    una = (una + advance).min(nxt);
                    board.acknowledge(una, |_| {});
                }
                Operation::Sack(offset, len) => {
                    board.selectively_acknowledge(una + offset, una + offset + len, |sent| {
                        assert!(!sent.sacked);
                    });
                }
                Operation::Lose(offset) if offset < board.segments.len() => {
                    board.mark_lost(board.first.wrapping_add(offset as Number), LossCause::Rack);
                }
                Operation::Lose(_) => {}
                Operation::LoseAll => board.mark_all_lost(),
                Operation::Unmark => {
                    board.unmark_lost(true);
                    prop_assert_eq!(board.lost(), 0);
                }
                Operation::Retransmit => {
                    if let Some(number) = board.next_lost() {
                        board.retransmit(number, Instant::ZERO, delivery());
                    }
                }
            }
            board.check();
            noted += board.take_losses().iter().map(|loss| loss.bytes).sum::<u64>();
            prop_assert_eq!(noted, board.lost_total());
            let waiting = board.segments.iter().any(|s| s.lost && !s.retransmitted);
            prop_assert_eq!(board.next_lost().is_some(), waiting);
        }
    }
}

/// What two boards tell of the same segments: counters, and what is asked of positions and numbers.
fn told(board: &mut Scoreboard, (una, nxt): (u64, u64)) -> String {
    let counts = (board.len(), board.pipe(), board.sacked(), board.sacked_segments(), board.lost());
    let numbers = (board.next_lost(), board.hole_from(una), board.last_unsacked(), board.last_number());
    let again: Vec<u64> = board.sent_again(una, nxt).map(|sent| sent.start).collect();
    let from = |position| (board.look_at(position), board.sacked_from(position));
    let seen: Vec<_> = (una..=nxt).step_by(370).map(from).collect();
    let ends = [board.front(), board.back()].map(|sent| sent.map(|sent| (sent.start, sent.end, sent.sacked)));
    format!("{counts:?} {numbers:?} {again:?} {seen:?} {ends:?} {:?}", board.outstanding)
}

fn in_bursts() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (1u64..90).prop_map(Operation::Send),
        2 => (0u64..2_500).prop_map(Operation::Ack),
        5 => (0u64..80, 1u64..80).prop_map(|(l, n)| Operation::Sack(100 * l, 100 * n)),
        3 => (0usize..90).prop_map(Operation::Lose),
        1 => Just(Operation::LoseAll),
        1 => Just(Operation::Unmark),
        3 => Just(Operation::Retransmit),
    ]
}

proptest! {
    /// A board whose SACKed segments are folded wherever they can be tells what one tells that folds none.
    #[test]
    fn what_is_folded_is_as_if_it_were_not(operations in prop::collection::vec(in_bursts(), 1..80)) {
        let (mut plain, mut folded) = (Scoreboard::new(100), Scoreboard::new(100));
        let (mut una, mut nxt) = (1_000u64, 1_000u64);
        for operation in operations {
            let mut visits = Vec::new();
            for board in [&mut plain, &mut folded] {
                let mut visited = Vec::new();
                let visit = |sent: &Sent| visited.push((sent.start, sent.end, sent.sacked, sent.transmissions));
                match operation {
                    Operation::Send(count) => (0..count).for_each(|place| {
                        let start = nxt + 100 * place;
                        board.push(start, start + 100, false, Instant::ZERO, delivery());
                    }),
                    Operation::Ack(advance) => board.acknowledge((una + advance).min(nxt), visit),
                    Operation::Sack(offset, len) => {
                        board.selectively_acknowledge(una + offset, una + offset + len, visit);
                    }
                    Operation::Lose(offset) => {
                        let position = una + 100 * offset as u64;
                        if let Some(number) = board.look_at(position).and_then(|seen| seen.sent_once) {
                            board.mark_lost(number, LossCause::Rack);
                        }
                    }
                    Operation::LoseAll => board.mark_all_lost(),
                    Operation::Unmark => board.unmark_lost(true),
                    Operation::Retransmit => {
                        if let Some(number) = board.next_lost() {
                            board.retransmit(number, Instant::ZERO, delivery());
                        }
                    }
                }
                board.check();
                visits.push(visited);
            }
            match operation {
                Operation::Send(count) => nxt += 100 * count,
                Operation::Ack(advance) => una = (una + advance).min(nxt),
                _ => {}
            }
            prop_assert_eq!(&visits[0], &visits[1]);
            folded.fold();
            folded.check();
            prop_assert_eq!(told(&mut plain, (una, nxt)), told(&mut folded, (una, nxt)));
        }
    }
}

/// Above a hole that stays, a window of thousands of segments takes the memory of those of which something may be asked.
#[test]
fn what_is_sacked_above_a_hole_takes_no_memory_of_its_own() {
    let mut board = Scoreboard::new(100);
    let mut acknowledged = 0;
    for segment in 0..4_000 {
        board.push(100 * segment, 100 * (segment + 1), false, Instant::ZERO, delivery());
        if let Some(above) = segment.checked_sub(50).filter(|&above| above > 0) {
            board.selectively_acknowledge(100, 100 * (above + 1), |_| acknowledged += 1);
        }
    }
    assert_eq!((board.len(), board.sacked_segments(), acknowledged), (4_000, 3_949, 3_949));
    assert!(board.segments.capacity() < 300, "room for {}", board.segments.capacity());
    board.acknowledge(300_050, |_| {});
    board.check();
    assert_eq!((board.len(), board.outstanding), (1_000, 99_950));
}

/// Three segments of 100 bytes, of which the second is lost and sent again, and its retransmission too: each loss knows
/// what was in flight with it when it left, and what was lost since, itself among it.
#[test]
fn a_loss_knows_the_flight_that_it_left_with() {
    let mut board = Scoreboard::new(100);
    board.note_losses();
    for start in [0, 100, 200] {
        board.push(start, start + 100, false, Instant::ZERO, delivery());
    }
    let mut lose = |number| {
        board.mark_lost(number, LossCause::Rack);
        let mark = board.take_losses()[0];
        board.retransmit(number, Instant::ZERO, delivery());
        (mark.start, mark.in_flight_then, mark.lost_since)
    };
    assert_eq!(lose(1), (100, 200, 100));
    assert_eq!(lose(0), (0, 100, 200), "it left before the first loss");
    // With all three in flight, after both losses.
    assert_eq!(lose(1), (100, 300, 200));
    assert_eq!(lose(1), (100, 300, 100));
}

/// RFC 2018 section 3: a block tells of its own bytes. Of a segment that it covers in part something is missing still, at
/// either end.
#[test]
fn a_block_covers_whole_segments_only() {
    let mut board = Scoreboard::new(100);
    for start in [0, 100, 200, 300, 400] {
        board.push(start, start + 100, false, Instant::ZERO, delivery());
    }
    let mut covered = Vec::new();
    board.selectively_acknowledge(150, 450, |sent| covered.push(sent.start));
    assert_eq!((covered, board.sacked_segments()), (vec![200, 300], 2));
}

/// Many flows have small windows: room for half as many segments again is made, not for twice as many.
#[test]
fn room_grows_by_half() {
    let mut board = Scoreboard::new(100);
    for segments in 1..=1_000 {
        board.push(100 * segments, 100 * (segments + 1), false, Instant::ZERO, delivery());
        let room = board.segments.capacity() as u64;
        assert!(room <= (segments + segments.div_ceil(2)).max(10), "room for {room}, of {segments}");
    }
}

/// RFC 6675 section 4, NextSeg rule (3): a hole that begins right behind the highest segment sent again is the next one.
#[test]
fn of_two_holes_side_by_side_the_second_follows_the_first() {
    let mut board = Scoreboard::new(100);
    for start in [0, 100, 200] {
        board.push(start, start + 100, false, Instant::ZERO, delivery());
    }
    board.selectively_acknowledge(200, 300, |_| {});
    let start = |from| board.hole_from(from).map(|number| board.get(number).start);
    assert_eq!([start(0), start(1), start(100), start(101)], [Some(0), Some(100), Some(100), None]);
}

/// A window that falls far leaves its room; one that halves will need it again. And what stays in it is what was sent.
#[test]
fn the_room_of_a_larger_window_is_given_back() {
    let mut board = Scoreboard::new(100);
    for i in 0..1_000 {
        board.push(100 * i, 100 * (i + 1), false, Instant::ZERO, delivery());
    }
    let largest = board.segments.capacity();
    for acked in 1..=997 {
        board.acknowledge(100 * acked, |_| {});
        board.check();
        assert!(acked > 500 || board.segments.capacity() == largest, "{acked}");
    }
    assert!(board.segments.capacity() <= 32, "room for {}, of {largest}", board.segments.capacity());
    let starts: Vec<u64> = board.segments.iter().map(|sent| sent.start).collect();
    assert_eq!(starts, [99_700, 99_800, 99_900]);
}

/// RFC 3708 section 2: a DSACK counts for what was sent again, and for that only.
#[test]
fn what_was_sent_once_was_not_sent_again() {
    let mut board = Scoreboard::new(100);
    for start in [0, 100, 200] {
        board.push(start, start + 100, false, Instant::ZERO, delivery());
    }
    board.mark_lost(1, LossCause::Rack);
    board.retransmit(1, Instant::ZERO, delivery());
    assert_eq!(board.sent_again(0, 300).map(|sent| sent.start).collect::<Vec<_>>(), [100]);
}
