//! Whole connections whose application reads slowly.

use super::tests::{Fate, Pair, Side};
use crate::config::TcpConfig;
use crate::segment::Segment;
use crate::tcp_preset;
use anabranch_units::{Bytes, Instant, Span};

const BUFFER: u64 = 60_000;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

fn holding(preset: &str, bytes: u64) -> Pair {
    let config = TcpConfig { receive_buffer: Bytes(BUFFER), ..tcp_preset(preset).unwrap() };
    let mut pair = Pair::new(&config, 9);
    pair.receiver.hold(&config);
    pair.sender.open();
    pair.sender.write(bytes);
    pair.sender.close();
    pair
}

/// Every twelfth segment of data and every fifth ACK is lost, updates and probes among them; the application reads some
/// bytes now and then. What waits fits the buffer, the right edge never moves back, and every byte is read once.
#[test]
fn all_is_read_and_what_waits_fits_the_buffer() {
    for preset in ["newreno", "linux-cubic", "linux-bbr"] {
        let mut pair = holding(preset, 1_000_000);
        let (mut now, mut read, mut round) = (0, 0, 0);
        while read < 1_000_000 {
            now += 50;
            round += 1;
            pair.run(at(now), |side, segment, number| match side {
                Side::Sender if segment.payload > 0 && number % 12 == 0 => Fate::Lost,
                Side::Receiver if number % 5 == 0 => Fate::Lost,
                _ => Fate::Arrive,
            });
            pair.now = at(now);
            assert!(pair.receiver.unread() <= BUFFER, "{preset}: {} wait", pair.receiver.unread());
            // Bursts of reading, and pauses of two seconds.
            if round % 50 < 10 {
                read += pair.receiver.read(at(now), 7_777 * (1 + round % 3));
            }
            assert!(now < 600_000, "{preset}: {read} bytes are read");
        }
        assert_eq!(pair.receiver.stats().delivered, 1_000_000, "{preset}");
        let scale = crate::tcp::window_scale(BUFFER);
        let acks = pair.log.iter().filter(|(_, side, _)| *side == Side::Receiver).map(|(.., ack)| ack);
        let edges: Vec<u64> =
            acks.skip(1).map(|ack: &Segment| u64::from(ack.ack) + (u64::from(ack.window) << scale)).collect();
        assert!(edges.len() > 100 && edges.windows(2).all(|pair| pair[0] <= pair[1]), "{preset}");
    }
}

/// RFC 9293 section 3.8.6.1: the update is lost, and the sender asks for the window after a retransmission timeout.
#[test]
fn a_lost_update_is_asked_for() {
    let mut pair = holding("newreno", 1_000_000);
    pair.run(at(2_000), |_, _, _| Fate::Arrive);
    pair.now = at(2_000);
    let waiting = pair.receiver.unread();
    assert!((BUFFER - 1460..=BUFFER).contains(&waiting), "{waiting}");
    assert_eq!(pair.receiver.read(at(2_000), u64::MAX), waiting);
    assert!(pair.receiver.poll_transmit(at(2_000)).is_some_and(|ack| ack.window > 0), "the update, lost");
    pair.run(at(6_000), |_, _, _| Fate::Arrive);
    assert!(pair.receiver.unread() > BUFFER / 2, "{} came after the probe", pair.receiver.unread());
    assert_eq!((pair.sender.stats().timeouts, pair.sender.stats().retransmissions), (0, 0));
}

/// What waits until the application has read stays back while it reads nothing, the ACK of full segments that Linux does
/// not send into a window that would shrink among them.
#[test]
fn a_read_of_nothing_tells_nothing() {
    for preset in ["newreno", "linux-cubic"] {
        let mut pair = holding(preset, 1_000_000);
        for now in 1..200 {
            pair.run(at(now), |_, _, _| Fate::Arrive);
            assert_eq!(pair.receiver.read(at(now), 0), 0);
            assert!(pair.receiver.poll_transmit(at(now)).is_none(), "{preset} at {now} ms");
        }
        assert!(pair.receiver.read(at(200), u64::MAX) > BUFFER / 2, "{preset}");
        assert!(pair.receiver.poll_transmit(at(200)).is_some_and(|ack| ack.window > 0), "{preset}");
    }
}

/// Dynamic right-sizing follows what the application has read, and not what has come: the buffer of one that reads nothing
/// stays as it was, and that of one that reads all grows.
#[test]
fn the_window_follows_what_is_read() {
    let grown = |reads: bool| {
        let config = tcp_preset("linux-cubic").unwrap();
        let mut pair = Pair::new(&config, 9);
        pair.receiver.hold(&config);
        pair.sender.open();
        pair.sender.write(10_000_000);
        let mut now = 0;
        while now < 3_000 {
            now += 1;
            pair.run(at(now), |_, _, _| Fate::Arrive);
            pair.now = at(now);
            if reads {
                pair.receiver.read(at(now), u64::MAX);
            }
        }
        (pair.receiver.unread(), pair.receiver.stats().delivered)
    };
    let (unread, delivered) = grown(false);
    // The first buffer holds 131,072 * 160 / 256 bytes of payload; each of 61 ACKs may add a unit of the window.
    assert!((75_000..81_920 + 61 * 128).contains(&unread) && delivered == 0, "{unread}");
    let (unread, delivered) = grown(true);
    assert!(unread < 1_000_000 && delivered > 5_000_000, "{delivered}");
}
