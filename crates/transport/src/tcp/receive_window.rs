//! The receive window: as large as the buffer, or grown from a small start as Linux grows it (`autotuning`).
//!
//! Three things grow. The window goes up by two segments with each data segment ([`ReceiveWindow`]), so that a sender
//! in slow start, which sends two for each, is not held up, and one that sends little gets no large window. Its limit
//! follows what the application takes in a round trip ([`RightSizing`]). The round trip is measured by the receiver,
//! which sends no data ([`RoundTrip`]).

use super::sender::full_payload;
use super::timestamp::TimestampClock;
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment};
use anabranch_units::{Instant, Span};

/// The part of a receive buffer that is announced before data have told how much segments take beside their payload.
const ANNOUNCED: u64 = 2;
/// The share of a buffer that is payload is counted in these parts, as in Linux.
const PARTS: u64 = 256;
/// Times its own length by which a data segment widens the window.
const STEPS: u64 = 2;
/// Longer round trips are smoothed as in RFC 6298 section 2.3: by an eighth.
const RTT_GAIN: u64 = 8;

/// The window of one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveWindow {
    bytes: u64,
    limit: u64,
    steps: u64,
}

impl ReceiveWindow {
    /// The window at the start of a connection.
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self { bytes: initial_window(config), limit: initial_limit(config), steps: STEPS }
    }

    /// A window that stays as it is.
    pub(crate) const fn fixed(bytes: u64) -> Self {
        Self { bytes, limit: bytes, steps: 0 }
    }

    /// Bytes behind the next one expected that may be under way.
    #[inline]
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A data segment has come, which takes room until it is read, as `unread` bytes before it do; returns whether the
    /// window grew.
    #[inline]
    pub(crate) fn on_data(&mut self, payload: u64, unread: u64) -> bool {
        let before = self.bytes;
        let free = self.limit.saturating_sub(payload + unread);
        self.bytes = (before + self.steps * payload).min(free).max(before);
        self.bytes > before
    }

    /// What the buffer holds: it may grow up to this.
    #[inline]
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// It may grow up to this.
    pub(crate) fn allow(&mut self, limit: u64) {
        self.limit = self.limit.max(limit);
    }
}

/// The window announced first, in bytes; with autotuning whole segments.
pub(crate) fn initial_window(config: &TcpConfig) -> u64 {
    if !config.autotuning {
        return config.receive_buffer.0;
    }
    let part = initial_buffer(config) / ANNOUNCED;
    part - part % payload_of(config).min(part)
}

/// The buffer at the start, with autotuning.
fn initial_buffer(config: &TcpConfig) -> u64 {
    config.initial_receive_buffer.min(config.receive_buffer).0
}

/// The largest window, in bytes: with autotuning the payload that the buffer holds, otherwise the buffer.
pub(crate) fn largest_window(config: &TcpConfig) -> u64 {
    let buffer = config.receive_buffer.0;
    if config.autotuning { held(config, buffer) } else { buffer }
}

/// Bytes of payload in a buffer full of full segments.
fn held(config: &TcpConfig, buffer: u64) -> u64 {
    let payload = payload_of(config);
    buffer * (PARTS * payload / (payload + config.segment_overhead.0)) / PARTS
}

fn payload_of(config: &TcpConfig) -> u64 {
    full_payload(config.mss, config.timestamps, 0)
}

/// What the first buffer holds, in bytes of payload.
fn initial_limit(config: &TcpConfig) -> u64 {
    if config.autotuning { held(config, initial_buffer(config)) } else { config.receive_buffer.0 }
}

/// The limit of the window: what the application takes in a round trip, which it tells one round trip late
/// (Fisk and Feng, "Dynamic right-sizing in TCP", LACSI 2001), hence twice; and as a sender in slow start may double again,
/// twice that again in proportion to the growth since the best round before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RightSizing {
    limit: u64,
    most: u64,
    /// Most bytes taken in one round trip.
    best: u64,
    /// Bytes taken before the present round.
    before: u64,
    since: Option<Instant>,
}

impl RightSizing {
    /// Nothing has been taken; the initial window of the other end is expected. None without autotuning.
    pub(crate) fn new(config: &TcpConfig) -> Option<Self> {
        let expected = u64::from(config.mss) * u64::from(config.initial_window_segments);
        let limit = initial_limit(config);
        let most = largest_window(config);
        config.autotuning.then_some(Self { limit, most, best: expected, before: 0, since: None })
    }

    /// The limit of the window.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// The application has taken `taken` bytes in all; `waiting` bytes up to the last one that came lie behind a hole.
    /// Returns the limit of the window.
    pub(crate) fn on_taken(&mut self, now: Instant, rtt: Span, taken: u64, waiting: u64) -> u64 {
        let since = *self.since.get_or_insert(now);
        if rtt == Span::ZERO || now.saturating_since(since) < rtt {
            return self.limit;
        }
        self.since = Some(now);
        let round = taken - self.before;
        self.before = taken;
        if round > self.best {
            let twice = 2 * round;
            let growth = u128::from(twice) * u128::from(round - self.best) / u128::from(self.best);
            self.best = round;
            let wanted = u128::from(twice + waiting) + 2 * growth;
            self.limit = self.limit.max(wanted.min(u128::from(self.most)) as u64);
        }
        self.limit
    }
}

/// The round trip as a receiver sees it, which sends no data: by the timestamps that come back (RFC 7323 section 4.2),
/// otherwise by the time in which a window arrives, the shortest one.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RoundTrip {
    smoothed: Span,
    echo: Option<u32>,
    window_since: Option<Instant>,
    window_end: u64,
}

impl RoundTrip {
    /// The estimate; zero before the first sample.
    #[inline]
    pub(crate) const fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// For tests: one that is known.
    #[cfg(test)]
    pub(crate) fn known(smoothed: Span) -> Self {
        Self { smoothed, ..Self::default() }
    }

    /// A data segment has come; `next` is the position expected next, `window` bytes behind it may come.
    pub(crate) fn on_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        clock: TimestampClock,
        next: u64,
        window: u64,
    ) {
        if segment.flags.has(Flags::TIMESTAMPS) {
            // The first segment with an echo tells; those behind it left with the same.
            if self.echo != Some(segment.timestamp_echo) {
                self.echo = Some(segment.timestamp_echo);
                self.smooth(clock.since(now, segment.timestamp_echo));
            }
        } else if next >= self.window_end {
            let sample = self.window_since.map(|since| now.saturating_since(since));
            if let Some(sample) = sample {
                self.smoothed = if self.smoothed == Span::ZERO { sample } else { self.smoothed.min(sample) };
            }
            self.window_since = Some(now);
            self.window_end = next + window;
        }
    }

    /// A shorter round trip counts at once: a queue must not make the rounds of [`RightSizing`] too long.
    fn smooth(&mut self, sample: Span) {
        let (old, new) = (self.smoothed.as_ps(), sample.as_ps());
        let longer = old > 0 && new > old;
        self.smoothed = if longer { Span::from_ps(old + (new - old) / RTT_GAIN) } else { sample };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Bytes;

    fn config() -> TcpConfig {
        TcpConfig { autotuning: true, ..TcpConfig::default() }
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    /// Half of 131,072 bytes is 45 segments of 1448 bytes, and of 256 parts of the buffer 256 * 1448 / 2304 are payload, 160.
    /// Each segment widens it by twice its length, and must find room itself. Linux 6.18 announces these windows, rounded
    /// up to 128 bytes.
    #[test]
    fn a_window_grows_by_two_segments_up_to_its_limit() {
        let mut window = ReceiveWindow::new(&config());
        assert_eq!(window.bytes(), 65_160);
        for expected in [68_056, 70_952, 73_848, 76_744, 79_640, 80_472] {
            assert_eq!((window.on_data(1448, 0), window.bytes()), (true, expected));
        }
        assert!(!window.on_data(1448, 0), "the buffer is full");
        window.allow(90_000);
        assert_eq!((window.on_data(100, 0), window.bytes()), (true, 80_672), "a short one, by 200");
        window.allow(60_000);
        assert_eq!((window.on_data(1448, 0), window.bytes()), (true, 83_568), "it never shrinks");
        assert_eq!((window.on_data(0, 0), window.bytes()), (false, 83_568), "no data");
    }

    #[test]
    fn without_autotuning_it_is_the_buffer_and_with_it_its_payload() {
        let mut window = ReceiveWindow::new(&TcpConfig::default());
        window.allow(10_000_000);
        assert_eq!((window.bytes(), RightSizing::new(&TcpConfig::default()).is_none()), (6_291_456, true));
        let small = TcpConfig { receive_buffer: Bytes(20_000), ..config() };
        let window = ReceiveWindow::new(&small);
        assert_eq!(window.bytes(), 8_688, "half of the buffer, in whole segments");
        assert_eq!(window.limit(), 12_500, "160 parts of 256 are payload");
        let without = TcpConfig { segment_overhead: Bytes(0), ..small };
        assert_eq!(ReceiveWindow::new(&without).limit(), 20_000);
    }

    /// By hand: the buffer holds 81,920 bytes at first, and ten segments of 1460 bytes are expected. 29,200 bytes in a round trip are twice that: 2 * 29,200 and
    /// twice the growth, 2 * 58,400. Half as much again, 43,800: 87,600 and 2 * 43,800. As much again: nothing.
    #[test]
    fn the_limit_follows_what_is_taken_in_a_round_trip() {
        let mut sizing = RightSizing::new(&config()).expect("autotuned");
        let rtt = Span::from_ms(100);
        assert_eq!(sizing.on_taken(ms(0), Span::ZERO, 1460, 0), 81_920);
        assert_eq!(sizing.on_taken(ms(100), rtt, 14_600, 0), 81_920, "no more than expected");
        assert_eq!(sizing.on_taken(ms(199), rtt, 43_800, 0), 81_920, "within the round trip");
        assert_eq!(sizing.on_taken(ms(200), rtt, 43_800, 0), 175_200);
        assert_eq!(sizing.on_taken(ms(300), rtt, 87_600, 0), 175_200, "87,600 + 87,600");
        assert_eq!(sizing.on_taken(ms(400), rtt, 131_400, 0), 175_200);
        assert_eq!(sizing.on_taken(ms(500), rtt, 175_201, 1000), 175_200, "88,602 and a hole's 1000");
        assert_eq!(
            sizing.on_taken(ms(600), rtt, 262_801, 1000),
            526_584,
            "175,200 and 1000, and twice 175,200 * 43,799 / 43,801"
        );
        assert_eq!(sizing.on_taken(ms(700), rtt, 10_000_000, 0), 3_932_160, "the buffer bounds it");
    }

    #[test]
    fn round_trips_are_told_by_echoes_or_by_windows() {
        let clock = TimestampClock::new(Span::from_ms(1));
        let mut trip = RoundTrip::default();
        let echo =
            |timestamp_echo| Segment { flags: Flags::TIMESTAMPS, timestamp_echo, ..Segment::default() };
        trip.on_data(ms(140), &echo(40), clock, 0, 0);
        trip.on_data(ms(180), &echo(40), clock, 0, 0);
        assert_eq!(trip.smoothed(), Span::from_ms(100), "the same echo again says nothing");
        trip.on_data(ms(300), &echo(120), clock, 0, 0);
        assert_eq!(trip.smoothed(), Span::from_us(110_000), "100 + (180 - 100) / 8");

        let mut trip = RoundTrip::default();
        for (at, next) in [(0, 0), (50, 9_999), (80, 10_000), (200, 20_000)] {
            trip.on_data(ms(at), &Segment::default(), clock, next, 10_000);
        }
        assert_eq!(trip.smoothed(), Span::from_ms(80), "the shorter of 80 and 120 ms");
    }

    /// A round like the best one before changes nothing, though what waits behind a hole is more than then.
    #[test]
    fn a_round_like_the_best_one_leaves_the_limit() {
        let mut sizing = RightSizing::new(&config()).expect("autotuned");
        let rtt = Span::from_ms(100);
        let limits = [(0, 0, 0), (100, 43_800, 0), (200, 87_600, 500_000)]
            .map(|(at, taken, waiting)| sizing.on_taken(ms(at), rtt, taken, waiting));
        assert_eq!(limits[2], limits[1]);
    }
}
