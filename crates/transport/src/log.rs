//! The event log of a connection: what its sender decides, when, and why.
//!
//! A sender keeps no log unless it is told to ([`crate::SenderAgent::keep_log`]). It then notes each decision as
//! a plain value, with the state of the connection right after it; [`crate::SenderAgent::take_log`] hands the
//! entries over. A log changes nothing that a sender does.
//!
//! Entries of one instant stand in the order in which the sender decides. An ACK stands behind what it caused.

use anabranch_units::{Instant, Rate, Span};

/// A decision, and how the connection stands right after it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogEntry {
    /// When.
    pub at: Instant,
    /// On which subflow; `None` for what concerns a connection as a whole.
    pub subflow: Option<u8>,
    /// What.
    pub decision: Decision,
    /// The state after it.
    pub metrics: Metrics,
}

/// State of a sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Metrics {
    /// The congestion window in bytes, as it governs sending; in fast recovery that of proportional rate
    /// reduction (RFC 6937).
    pub cwnd: u64,
    /// The slow-start threshold in bytes; `u64::MAX` where there is none.
    pub ssthresh: u64,
    /// Bytes in flight (RFC 6675 "pipe").
    pub in_flight: u64,
    /// Smoothed RTT as it is reported; zero before the first sample, like the next two.
    pub srtt: Span,
    /// RTTVAR (RFC 6298) as the timeout goes by it.
    pub rttvar: Span,
    /// Smallest RTT.
    pub min_rtt: Span,
    /// Retransmission timeout, backed off; zero where none applies.
    pub rto: Span,
    /// The rate that packets are paced at, if they are.
    pub pacing_rate: Option<Rate>,
    /// Phase of the congestion control; empty for a connection of several subflows.
    pub phase: &'static str,
}

/// What a sender decides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decision {
    /// It opens: the first SYN leaves.
    Opened,
    /// The handshake is done.
    Established,
    /// Both sides have closed, and everything is acknowledged.
    Closed,
    /// It is given up.
    GivenUp,
    /// An ACK has been worked in.
    Acknowledged {
        /// Bytes by which the cumulative acknowledgment advanced.
        acked: u64,
        /// Bytes newly delivered, SACKed ones included.
        delivered: u64,
        /// RTT of the newest segment acknowledged, if it was sent once.
        rtt: Option<Span>,
        /// Delivery rate sample (draft-cheng-iccrg-delivery-rate-estimation), if the ACK gives one, and whether the
        /// application rather than the network was its limit.
        delivery_rate: Option<(Rate, bool)>,
    },
    /// A segment is judged lost.
    Lost {
        /// Position of its first byte in the stream of the subflow.
        position: u64,
        /// Its length; a FIN counts as a byte.
        bytes: u64,
        /// By which rule.
        cause: LossCause,
    },
    /// The repair of losses begins.
    RecoveryEntered {
        /// After a timeout, rather than as fast recovery.
        after_timeout: bool,
        /// What found the losses.
        cause: LossCause,
    },
    /// The repair of losses ends.
    RecoveryLeft {
        /// It began with a timeout.
        after_timeout: bool,
        /// Why it ends.
        end: RecoveryEnd,
    },
    /// The congestion control is told to reduce its window.
    Reduced {
        /// Why.
        cause: ReductionCause,
        /// The controller's window in bytes before.
        before: u64,
        /// And after; the same where the controller heeds no such event.
        after: u64,
    },
    /// A reduction proved spurious and is taken back.
    Undone {
        /// The controller's window in bytes before.
        before: u64,
        /// And after.
        after: u64,
    },
    /// A timer expired for which the window falls to one segment, or for a SYN.
    TimedOut {
        /// Which.
        cause: TimeoutCause,
        /// Expiries in a row, this one included (RFC 6298 section 5.5).
        backoff: u32,
    },
    /// A tail loss probe is due (RFC 8985 section 7).
    TailLossProbe,
    /// Data leave after a pause that has stopped the ACK clock (RFC 5681 section 4.1).
    RestartedAfterIdle {
        /// The controller's window in bytes before.
        before: u64,
        /// And after.
        after: u64,
    },
    /// The congestion control goes into another phase ([`crate::congestion::CongestionControl::phase`]).
    PhaseChanged {
        /// The phase before.
        from: &'static str,
    },
    /// The subflow has timed out and gets no new data until it answers.
    Suspected,
    /// The subflow has answered and is fit again.
    Answered,
    /// The subflow is closed, because one of its addresses went away.
    Removed {
        /// Whose address it is.
        by: Origin,
    },
    /// The subflow becomes a backup, or a regular one.
    Prioritised {
        /// Which.
        backup: bool,
        /// Who asks for it.
        by: Origin,
    },
    /// The other end announces an address (RFC 8684 section 3.4.1).
    AddressAnnounced {
        /// The path manager opens subflows to it.
        accepted: bool,
    },
    /// Data of a subflow that has timed out, or is removed, are sent on this one.
    Reinjected {
        /// Bytes.
        bytes: u64,
        /// The subflow that had them.
        from: u8,
    },
    /// No data ACK came in time, and nothing of this subflow is outstanding: the oldest data are sent again on it.
    RetransmittedData {
        /// Bytes.
        bytes: u64,
    },
    /// Data of a slower subflow that keep the receive window full are sent on this one (Raiciu 2012, section 4.2).
    RetransmittedOpportunistically {
        /// Bytes.
        bytes: u64,
        /// The subflow that had them.
        from: u8,
    },
    /// A subflow has room, and new data must wait all the same.
    Blocked {
        /// What holds them back.
        cause: BlockCause,
    },
    /// New data leave again.
    Unblocked,
    /// The log is full: what comes after is not noted.
    Full,
}

/// By which rule a segment is judged lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossCause {
    /// Enough was SACKed above it (RFC 6675 section 4, IsLost).
    SackThreshold,
    /// Enough duplicate ACKs came, without SACK (RFC 5681 section 3.2).
    DuplicateAcks,
    /// A partial ACK showed it, without SACK (RFC 6582 section 3.2).
    PartialAck,
    /// What was sent after it arrived a reordering window ago (RACK, RFC 8985 section 6.2).
    Rack,
    /// Its FastRTO passed (Chang 2024, section 4).
    FastRto,
    /// Its timer of TCP-PR passed (Bohacek 2003).
    TcpPr,
    /// The retransmission timer expired (RFC 6298 section 5.4).
    Timeout,
}

/// Why the repair of losses ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoveryEnd {
    /// What was outstanding when it began is acknowledged.
    Acknowledged,
    /// It was spurious.
    Undone,
    /// Another recovery begins.
    Superseded,
}

/// Why a window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReductionCause {
    /// Losses, at the beginning of fast recovery.
    Loss,
    /// A loss that a tail loss probe has repaired (RFC 8985 section 7.4).
    ProbeRepair,
    /// An ECN-Echo (RFC 3168 section 6.1.2).
    Ecn,
    /// The retransmission timer.
    Timeout,
    /// More losses in a window than TCP-PR takes for a burst.
    ExtremeLosses,
    /// The subflow keeps the receive window of its connection full (Raiciu 2012, section 4.2).
    Penalty,
}

/// Which timer expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeoutCause {
    /// That of the SYN.
    Handshake,
    /// The retransmission timer.
    Retransmission,
    /// TCP-PR counted more losses in a window than it takes for a burst.
    ExtremeLosses,
}

/// Which end causes a decision about addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// This one: its host has changed its addresses.
    Own,
    /// The other one, by REMOVE_ADDR or MP_PRIO.
    Peer,
}

/// What holds new data of a multipath connection back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockCause {
    /// The receive window is full.
    ReceiveWindow,
    /// The scheduler waits for another subflow.
    Scheduler,
}

impl Decision {
    /// Its name in tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Established => "established",
            Self::Closed => "closed",
            Self::GivenUp => "given up",
            Self::Acknowledged { .. } => "ack",
            Self::Lost { .. } => "loss",
            Self::RecoveryEntered { after_timeout: false, .. } => "fast recovery entered",
            Self::RecoveryEntered { after_timeout: true, .. } => "loss recovery entered",
            Self::RecoveryLeft { after_timeout: false, .. } => "fast recovery left",
            Self::RecoveryLeft { after_timeout: true, .. } => "loss recovery left",
            Self::Reduced { .. } => "reduction",
            Self::Undone { .. } => "undo",
            Self::TimedOut { .. } => "timeout",
            Self::TailLossProbe => "tail loss probe",
            Self::RestartedAfterIdle { .. } => "idle restart",
            Self::PhaseChanged { .. } => "phase",
            Self::Suspected => "suspected",
            Self::Answered => "answered",
            Self::Removed { .. } => "removed",
            Self::Prioritised { backup: true, .. } => "backup",
            Self::Prioritised { backup: false, .. } => "regular",
            Self::AddressAnnounced { .. } => "address announced",
            Self::Reinjected { .. } => "reinjection",
            Self::RetransmittedData { .. } => "data retransmission",
            Self::RetransmittedOpportunistically { .. } => "opportunistic retransmission",
            Self::Blocked { .. } => "blocked",
            Self::Unblocked => "unblocked",
            Self::Full => "log full",
        }
    }

    /// The cause in tables; empty for a decision that needs none.
    #[must_use]
    pub const fn cause(&self) -> &'static str {
        match self {
            Self::Lost { cause, .. } | Self::RecoveryEntered { cause, .. } => cause.name(),
            Self::RecoveryLeft { end: RecoveryEnd::Acknowledged, .. } => "acknowledged",
            Self::RecoveryLeft { end: RecoveryEnd::Undone, .. } => "undone",
            Self::RecoveryLeft { end: RecoveryEnd::Superseded, .. } => "superseded",
            Self::Reduced { cause, .. } => match cause {
                ReductionCause::Loss => "loss",
                ReductionCause::ProbeRepair => "probe repair",
                ReductionCause::Ecn => "ecn",
                ReductionCause::Timeout => "timeout",
                ReductionCause::ExtremeLosses => "extreme losses",
                ReductionCause::Penalty => "penalty",
            },
            Self::TimedOut { cause: TimeoutCause::Handshake, .. } => "handshake",
            Self::TimedOut { cause: TimeoutCause::Retransmission, .. } => "retransmission",
            Self::TimedOut { cause: TimeoutCause::ExtremeLosses, .. } => "extreme losses",
            Self::Blocked { cause: BlockCause::ReceiveWindow } => "receive window",
            Self::Blocked { cause: BlockCause::Scheduler } => "scheduler",
            Self::Removed { by: Origin::Own } | Self::Prioritised { by: Origin::Own, .. } => "own address",
            Self::Removed { by: Origin::Peer } => "remove_addr",
            Self::Prioritised { by: Origin::Peer, .. } => "mp_prio",
            Self::AddressAnnounced { accepted: true } => "accepted",
            Self::AddressAnnounced { accepted: false } => "add_addr_accepted",
            _ => "",
        }
    }
}

impl LossCause {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SackThreshold => "sack threshold",
            Self::DuplicateAcks => "duplicate acks",
            Self::PartialAck => "partial ack",
            Self::Rack => "rack",
            Self::FastRto => "fastrto",
            Self::TcpPr => "tcp-pr",
            Self::Timeout => "timeout",
        }
    }
}

/// The entries of one sender.
#[derive(Debug)]
pub(crate) struct Log {
    entries: Vec<LogEntry>,
    /// Entries that may still be noted, the one that says that it is full included.
    room: usize,
    phase: &'static str,
    /// What found the latest losses.
    pub(crate) last_loss: LossCause,
}

impl Log {
    /// A log of at most `limit` entries; the last of them says that it is full.
    pub(crate) fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), room: limit, phase: "", last_loss: LossCause::Timeout }
    }

    /// Notes a decision, and a change of phase before it.
    pub(crate) fn push(&mut self, at: Instant, decision: Decision, metrics: Metrics) {
        if metrics.phase != self.phase {
            let from = std::mem::replace(&mut self.phase, metrics.phase);
            // The phase that it begins in is no change.
            if !from.is_empty() {
                self.append(LogEntry {
                    at,
                    subflow: None,
                    decision: Decision::PhaseChanged { from },
                    metrics,
                });
            }
        }
        self.append(LogEntry { at, subflow: None, decision, metrics });
    }

    /// Notes an entry as it is.
    pub(crate) fn append(&mut self, entry: LogEntry) {
        match self.room {
            0 => return,
            1 => self.entries.push(LogEntry { decision: Decision::Full, ..entry }),
            _ => self.entries.push(entry),
        }
        self.room -= 1;
    }

    /// The entries since the last call.
    pub(crate) fn take(&mut self) -> Vec<LogEntry> {
        std::mem::take(&mut self.entries)
    }
}
