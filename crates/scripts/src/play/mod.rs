//! Plays a script: time goes from event to event, and from timer to timer between them.

mod arguments;
mod calls;
mod connection;
mod expect;
mod multipath;
mod sockopt;
mod state;

use crate::script::{Action, Ending, Event, Moment, Script, When};
use anabranch_transport::{Flags, Segment, TcpConfig};
use anabranch_units::{Instant, Span};
use calls::Descriptors;
use connection::Connection;
use expect::Timestamps;
use multipath::Multipath;
use state::Variables;

/// Scripts begin here: a clock whose timestamps are not zero.
const START: Instant = Instant::from_ps(1_000_000_000_000);
/// How long a segment may take whose time the script leaves open.
pub(crate) const PATIENCE: Span = Span::from_secs(3600);
/// Timers that may expire between two events: a connection that spins is no script's.
const MOST_TIMEOUTS: u32 = 1_000_000;

/// Why a script stops.
pub(crate) enum Stop {
    Deviation(String),
    Beyond(String),
}

impl Stop {
    fn deviation(text: impl Into<String>) -> Self {
        Self::Deviation(text.into())
    }
}

/// A script that is being played.
struct Player<'a> {
    script: &'a Script,
    config: TcpConfig,
    now: Instant,
    /// What relative times count from.
    base: Instant,
    connection: Connection,
    descriptors: Descriptors,
    timestamps: Timestamps,
    /// The congestion control that an option of the socket has chosen.
    control: Option<String>,
    /// What the code of the script has assigned.
    variables: Variables,
    /// The sequence number of the other end's SYN; all of its numbers but those of the SYN and its answer count from here.
    peer_origin: u32,
    multipath: Multipath,
    /// The socket was one of Multipath TCP, and so is what listens.
    multipath_listens: bool,
}

impl Script {
    /// Plays it to its end or to the first deviation.
    #[must_use]
    pub fn play(&self) -> Ending {
        if let Some((line, reason)) = self.first_beyond() {
            return Ending::NotApplicable { line, reason };
        }
        let mut player = match Player::new(self) {
            Ok(player) => player,
            Err(deviation) => return Ending::Fail { line: 1, deviation },
        };
        for event in &self.events {
            let line = event.line;
            match player.play(event) {
                Ok(()) => {}
                Err(Stop::Deviation(deviation)) => return Ending::Fail { line, deviation },
                Err(Stop::Beyond(reason)) => return Ending::NotApplicable { line, reason },
            }
        }
        match player.superfluous(Span::ZERO) {
            Some(deviation) => {
                Ending::Fail { line: self.events.last().map_or(1, |event| event.line), deviation }
            }
            None => Ending::Pass,
        }
    }

    /// The first thing in the script that the model has not: it is not applicable then, whatever fails before.
    fn first_beyond(&self) -> Option<(usize, String)> {
        let mut assigned = Vec::new();
        let of_event = |event: &Event| match &event.action {
            Action::Call(call) => Some((event.line, calls::beyond(call, event.until.is_some())?)),
            Action::Code(code) => state::beyond(code, &mut assigned),
            Action::Inject(..) | Action::Expect(_) => None,
        };
        let later = self.events.iter().find_map(of_event);
        self.beyond.iter().cloned().chain(later).min_by_key(|(line, _)| *line)
    }
}

impl<'a> Player<'a> {
    fn new(script: &'a Script) -> Result<Self, String> {
        let config = script.choices.config()?;
        Ok(Self {
            script,
            now: START,
            base: START,
            connection: script.socket(&config),
            descriptors: Descriptors::default(),
            timestamps: Timestamps::new(config.timestamp_tick, script.choices.timestamp_tick),
            config,
            control: None,
            variables: Variables::new(),
            peer_origin: 0,
            multipath: Multipath::Plain,
            multipath_listens: false,
        })
    }

    fn instant(&self, moment: Moment) -> Instant {
        if moment.relative {
            self.base.saturating_add(moment.span)
        } else {
            START.saturating_add(moment.span)
        }
    }

    fn play(&mut self, event: &Event) -> Result<(), Stop> {
        if let Action::Expect(expected) = &event.action {
            return self.expect(event.when, expected);
        }
        let When::At(moment) = event.when else {
            return Err(Stop::deviation("only a segment that leaves may come in a range or at any time"));
        };
        let at = self.instant(moment);
        let until = event.until.map(|until| self.instant(until));
        self.advance(at)?;
        if let Some(deviation) = self.superfluous(self.script.choices.least_tolerance()) {
            return Err(Stop::Deviation(deviation));
        }
        self.base = at;
        match &event.action {
            Action::Inject(segment, option) => {
                self.multipath.on_segment(segment, option.as_ref()).map_err(Stop::Beyond)?;
                if segment.flags.has(Flags::SYN) && self.connection.awaits_syn() {
                    self.peer_origin = segment.seq;
                }
                let arriving = self.arriving(segment);
                self.connection.on_segment(self.now, &arriving);
                self.let_blocked_return()
            }
            Action::Call(call) => self.call(call, until),
            Action::Code(code) => {
                let violated = state::violation(code, &self.connection, &mut self.variables);
                violated.map_or(Ok(()), |deviation| Err(Stop::Deviation(deviation)))
            }
            Action::Expect(_) => Ok(()),
        }
    }

    /// Lets time pass up to `at`, timer by timer; calls that block return meanwhile.
    fn advance(&mut self, at: Instant) -> Result<(), Stop> {
        let mut count = 0;
        while let Some(next) = self.next_before(at) {
            count += 1;
            if count > MOST_TIMEOUTS {
                return Err(Stop::deviation("the connection's timers go off without end"));
            }
            self.step(next)?;
        }
        self.now = self.now.max(at);
        self.let_blocked_return()
    }

    fn next_before(&self, at: Instant) -> Option<Instant> {
        let timeout = self.connection.next_timeout();
        let both = [timeout, self.descriptors.blocked_until()];
        both.into_iter().flatten().min().filter(|next| *next <= at)
    }

    fn step(&mut self, next: Instant) -> Result<(), Stop> {
        self.now = self.now.max(next);
        if self.connection.next_timeout().is_some_and(|at| at <= self.now) {
            self.connection.on_timeout(self.now);
        }
        self.let_blocked_return()
    }

    /// A segment of the script as it arrives: acknowledgments and timestamps in the connection's own numbers.
    fn arriving(&self, segment: &Segment) -> Segment {
        let origin = self.script.choices.initial_sequence;
        let mut arriving = *segment;
        if !segment.flags.has(Flags::SYN) {
            arriving.seq = segment.seq.wrapping_add(self.peer_origin);
        }
        if segment.flags.has(Flags::ACK) {
            arriving.ack = segment.ack.wrapping_add(origin);
        }
        if segment.flags.has(Flags::TIMESTAMPS) && segment.flags.has(Flags::ACK) {
            arriving.timestamp_echo = self.timestamps.live(segment.timestamp_echo);
        }
        arriving.sack = Segment::default().sack;
        for &(left, right) in segment.sack.as_slice() {
            arriving.sack.push(left.wrapping_add(origin), right.wrapping_add(origin), 4);
        }
        arriving
    }

    /// With `all_packets`: a segment that left more than `grace` ago, and that the script does not expect.
    fn superfluous(&mut self, grace: Span) -> Option<String> {
        if !self.script.choices.all_packets {
            return None;
        }
        let now = self.now;
        let (at, segment) = *self.connection.departures().front()?;
        let shown = expect::shown(&segment, self.script.choices.initial_sequence);
        (at.saturating_add(grace) < now || grace == Span::ZERO)
            .then(|| format!("left at {} and nothing expects it: {shown}", expect::seconds(at)))
    }
}
