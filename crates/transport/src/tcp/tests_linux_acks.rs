//! The sender with Linux's choices, under the ACKs that a Linux sender got: its state must be the kernel's, ACK by ACK.
//! checks/validation/linux/acks/README.md says how the traces were taken.

use super::Sender;
use crate::config::TcpConfig;
use crate::segment::{Flags, SackBlocks, Segment};
use crate::{LossDetectionConfig, tcp_preset};
use anabranch_units::{Instant, Span};

/// The largest difference of SRTT: the kernel counts eighths of microseconds.
const SRTT_ERROR_US: u64 = 200;
const MSS: u64 = 1448;
/// How late the kernel's timer of pacing may be.
const LATE_TIMER: Span = Span::from_us(100);

/// A row of a trace: what came, and the state of the kernel before it.
struct Row<'a> {
    event: &'a str,
    at: Instant,
    ack: Segment,
    kernel: State,
}

/// What both ends show.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct State {
    una: u64,
    nxt: u64,
    cwnd_segments: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
}

fn rows(text: &str) -> impl Iterator<Item = (Row<'_>, u64)> {
    text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<u64>().unwrap_or(0);
        let kernel = State {
            una: number(7),
            nxt: number(8),
            cwnd_segments: number(9),
            sacked: number(10),
            lost: number(11),
            retransmitted: number(12),
        };
        let at = Instant::ZERO + Span::from_ps(number(1) * 1000);
        (Row { event: cells[0], at, ack: acknowledgment(&cells), kernel }, number(13))
    })
}

fn acknowledgment(cells: &[&str]) -> Segment {
    let number = |at: usize| cells[at].parse::<u32>().unwrap_or(0);
    let mut sack = SackBlocks::default();
    for block in cells[6].split_whitespace() {
        let (left, right) = block.split_once('-').expect("left-right");
        let position = |text: &str| text.parse::<u32>().expect("bytes").wrapping_add(1);
        sack.push(position(left), position(right), 3);
    }
    Segment {
        seq: 1001,
        ack: number(2).wrapping_add(1),
        window: number(3) as u16,
        timestamp: number(4).wrapping_add(1000),
        timestamp_echo: number(5),
        flags: Flags::ACK.with(Flags::TIMESTAMPS),
        sack,
        ..Segment::default()
    }
}

fn state(sender: &Sender) -> State {
    let board = sender.scoreboard();
    let outstanding = board.pipe() + board.sacked() + board.lost() - board.retransmitted();
    State {
        una: sender.acknowledged(),
        nxt: sender.acknowledged() + outstanding,
        cwnd_segments: (sender.cwnd() + MSS / 2) / MSS,
        sacked: board.sacked_segments(),
        lost: board.lost() / MSS,
        retransmitted: board.retransmitted() / MSS,
    }
}

fn synack(syn: &Segment) -> Segment {
    Segment {
        seq: 1000,
        ack: 1,
        flags: Flags::SYN.with(Flags::ACK).with(Flags::TIMESTAMPS).with(Flags::SACK_PERMITTED),
        mss: 1460,
        window: 65_160,
        window_scale_plus_one: 11,
        timestamp: 900,
        timestamp_echo: syn.timestamp,
        ..Segment::default()
    }
}

/// The sender, and where it stands in a trace.
struct Replay {
    sender: Sender,
    syn: Segment,
    /// When the last row was.
    last: Instant,
    /// ACKs before each of which its state was the kernel's.
    acks: usize,
    /// Segments that waited in our sender and not in the kernel, where the application had written.
    written: usize,
    /// Timers that expired in our sender and in no row.
    unrecorded: usize,
    /// Segments leave when pacing lets them.
    is_paced: bool,
}

impl Replay {
    fn transmit(&mut self, now: Instant) {
        while self.sender.poll_transmit(now).is_some() {}
    }

    /// A timer that the trace may have missed expires when it is due; false if none was.
    fn expire(&mut self, now: Instant) -> bool {
        let due = self.sender.next_timeout().filter(|&due| due < now);
        if let Some(due) = due {
            self.sender.on_timeout(due);
            self.transmit(due);
            self.unrecorded += 1;
        }
        due.is_some()
    }

    /// False where the state is another one than the kernel's. Where a segment waits that the kernel has sent, the rest
    /// of what the application had written was short.
    fn agrees(&mut self, row: &Row<'_>, srtt_us: u64) -> bool {
        if state(&self.sender).nxt + MSS == row.kernel.nxt && self.sender.release_deferred() {
            self.written += 1;
            let _ = self.sender.poll_transmit(self.last);
        }
        let ours_us = self.sender.srtt().as_ps() / 1_000_000;
        state(&self.sender) == row.kernel && ours_us.abs_diff(srtt_us) <= SRTT_ERROR_US
    }

    /// A paced sender's timers expire by themselves, and with the kernel's where those were a little late: behind an
    /// ACK that came meanwhile.
    fn keep_pace(&mut self, row: &Row<'_>) {
        while let Some(due) = self.sender.next_timeout().filter(|&due| due <= row.at) {
            let late = row.at.since(due) < LATE_TIMER;
            if late && row.event == "ack" {
                break;
            }
            let at = if late { row.at } else { due };
            self.sender.on_timeout(at);
            self.transmit(at);
        }
    }

    /// False where the sender leaves the trace. Timers are the kernel's: when they expire depends on its ticks.
    fn take(&mut self, row: &Row<'_>, srtt_us: u64) -> bool {
        if self.is_paced {
            self.keep_pace(row);
        }
        match row.event {
            "timer" | "write" if self.is_paced => {}
            "syn" => {
                self.sender.open();
                self.sender.write_without_end();
                self.syn = self.sender.poll_transmit(row.at).expect("a SYN");
            }
            "established" => self.sender.on_segment(row.at, &synack(&self.syn)),
            "timer" => {
                let due = self.sender.next_timeout().map_or(row.at, |at| at.max(row.at));
                self.sender.on_timeout(due.min(row.at + Span::from_ms(30)));
            }
            "write" => self.written += usize::from(self.sender.release_deferred()),
            _ => {
                let follows = self.agrees(row, srtt_us) || (self.expire(row.at) && self.agrees(row, srtt_us));
                if !follows {
                    return false;
                }
                self.acks += 1;
                self.sender.on_segment(row.at, &row.ack);
            }
        }
        self.transmit(row.at);
        self.last = row.at;
        true
    }
}

/// How many ACKs of a trace the sender follows before its state is another one than the kernel's, how many segments
/// and timers it needs that no row has, and where it leaves.
fn followed(config: &TcpConfig, text: &str) -> (usize, [usize; 2], String) {
    let (sender, syn) = (Sender::new(config, 0, SEED), Segment::default());
    let is_paced = config.congestion_control.name() == "bbr";
    let mut replay =
        Replay { sender, syn, last: Instant::ZERO, acks: 0, written: 0, unrecorded: 0, is_paced };
    for (row, srtt_us) in rows(text) {
        if !replay.take(&row, srtt_us) {
            let (ours, ours_us) = (state(&replay.sender), replay.sender.srtt().as_ps() / 1_000_000);
            let ends = format!("{:?}: {:?} {srtt_us} us, ours {ours:?} {ours_us} us", row.at, row.kernel);
            return (replay.acks, [replay.written, replay.unrecorded], ends);
        }
    }
    (replay.acks, [replay.written, replay.unrecorded], String::new())
}

/// With it BBR begins its gain cycles in the phases that the kernel drew.
const SEED: u64 = 15;

/// Preset, trace, and for how many ACKs the states were equal when the trace was recorded, with how many segments
/// that an application's writes let go. README.md has what is known of the ends.
const TRACES: [(&str, &str, usize, [usize; 2]); 5] = [
    ("linux-reno", include_str!("../../../../checks/validation/linux/acks/reno-10-100.csv"), 1040, [16, 1]),
    ("linux-reno", include_str!("../../../../checks/validation/linux/acks/reno-10-50.csv"), 238, [2, 0]),
    ("linux-cubic", include_str!("../../../../checks/validation/linux/acks/cubic-10-100.csv"), 680, [4, 0]),
    ("linux-bbr", include_str!("../../../../checks/validation/linux/acks/bbr-10-100.csv"), 87, [0, 0]),
    // Recorded when the first of these rules were written.
    (
        "linux-reno",
        include_str!("../../../../checks/validation/linux/acks/reno-10-100-later.csv"),
        255,
        [1, 0],
    ),
];

#[test]
fn the_sender_is_in_the_state_of_the_kernel_ack_by_ack() {
    for (preset, text, acks, unrecorded) in TRACES {
        let (followed, by_hand, ends) = followed(&tcp_preset(preset).expect("a preset"), text);
        let few = by_hand[0] <= unrecorded[0] && by_hand[1] <= unrecorded[1];
        assert!(followed >= acks && few, "{preset}: {followed}, {by_hand:?} {ends}");
    }
}

type TakeAway = fn(&mut TcpConfig);

/// Without any one of the choices the sender leaves one of the traces earlier. When timers expire is the trace's.
#[test]
fn each_choice_is_needed() {
    let without: [(&str, TakeAway); 6] = [
        ("linux-rack", |c| c.loss_detection = LossDetectionConfig::named("rack").expect("a registered name")),
        ("dsack_delivers", |c| c.dsack_delivers = false),
        ("prr_in_segments", |c| c.prr_in_segments = false),
        ("tso_deferral", |c| c.tso_deferral = false),
        ("unpaced_segments", |c| c.unpaced_segments = 0),
        ("pacing_catches_up", |c| c.pacing_catches_up = false),
    ];
    for (name, take_away) in without {
        let leaves = |(preset, text, acks, _)| {
            let mut config = tcp_preset(preset).expect("a preset");
            take_away(&mut config);
            followed(&config, text).0 < acks
        };
        assert!(TRACES.into_iter().any(leaves), "{name}");
    }
}
