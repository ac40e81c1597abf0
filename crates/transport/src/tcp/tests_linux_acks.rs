//! The sender with Linux's choices, under the ACKs that a Linux sender got: its state must be the kernel's, ACK by ACK.
//! validation/linux/acks/README.md says how the traces were taken.

use super::Sender;
use crate::config::TcpConfig;
use crate::segment::{Flags, SackBlocks, Segment};
use crate::{LossDetectionConfig, tcp_preset};
use anabranch_units::{Instant, Span};

/// The largest difference of SRTT: the kernel counts eighths of microseconds.
const SRTT_ERROR_US: u64 = 200;
const MSS: u64 = 1448;

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

/// How many ACKs of a trace the sender follows before its state is another one than the kernel's. Timers are the
/// kernel's: when they expire depends on its ticks.
fn followed(config: &TcpConfig, text: &str) -> usize {
    let mut sender = Sender::new(config, 0, 1);
    let mut syn = Segment::default();
    let mut acks = 0;
    for (row, srtt_us) in rows(text) {
        match row.event {
            "syn" => {
                sender.open();
                sender.write_without_end();
                syn = sender.poll_transmit(row.at).expect("a SYN");
            }
            "established" => sender.on_segment(row.at, &synack(&syn)),
            "timer" => {
                let due = sender.next_timeout().map_or(row.at, |at| at.max(row.at));
                sender.on_timeout(due.min(row.at + Span::from_ms(30)));
            }
            _ => {
                let error_us = (sender.rtt().smoothed.as_ps() / 1_000_000).abs_diff(srtt_us);
                if state(&sender) != row.kernel || error_us > SRTT_ERROR_US {
                    return acks;
                }
                acks += 1;
                sender.on_segment(row.at, &row.ack);
            }
        }
        while sender.poll_transmit(row.at).is_some() {}
    }
    acks
}

fn linux_choices(preset: &str) -> TcpConfig {
    TcpConfig {
        loss_detection: LossDetectionConfig::named("linux-rack").expect("a registered name"),
        dsack_delivers: true,
        prr_in_segments: true,
        tso_deferral: true,
        paws_window: 1,
        sack_blocks: 4,
        ..tcp_preset(preset).expect("a preset")
    }
}

/// Preset, trace, and for how many ACKs the states were equal when the trace was recorded. Behind these are rows in which
/// they differ: README.md has what is known of the reasons.
const TRACES: [(&str, &str, usize); 4] = [
    ("linux-reno", include_str!("../../../../validation/linux/acks/reno-10-100.csv"), 142),
    ("linux-reno", include_str!("../../../../validation/linux/acks/reno-10-50.csv"), 216),
    ("linux-cubic", include_str!("../../../../validation/linux/acks/cubic-10-100.csv"), 64),
    // Recorded when all else was written: no rule was found in it.
    ("linux-reno", include_str!("../../../../validation/linux/acks/reno-10-100-later.csv"), 189),
];

#[test]
fn the_sender_is_in_the_state_of_the_kernel_ack_by_ack() {
    for (preset, text, acks) in TRACES {
        let followed_by_choices = followed(&linux_choices(preset), text);
        assert!(followed_by_choices >= acks, "{preset}: {followed_by_choices} of {acks} ACKs");
        assert!(
            followed(&tcp_preset(preset).expect("a preset"), text) < 10,
            "the preset alone leaves the trace"
        );
    }
}

type TakeAway = fn(&mut TcpConfig);

/// Without any one of the choices the sender leaves one of the traces earlier.
#[test]
fn each_choice_is_needed() {
    let without: [(&str, TakeAway); 4] = [
        ("linux-rack", |c| c.loss_detection = LossDetectionConfig::named("rack").expect("a registered name")),
        ("dsack_delivers", |c| c.dsack_delivers = false),
        ("prr_in_segments", |c| c.prr_in_segments = false),
        ("tso_deferral", |c| c.tso_deferral = false),
    ];
    for (name, take_away) in without {
        let leaves = |(preset, text, acks)| {
            let mut config = linux_choices(preset);
            take_away(&mut config);
            followed(&config, text) < acks
        };
        assert!(TRACES.into_iter().any(leaves), "{name}");
    }
}
