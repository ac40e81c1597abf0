//! What arriving segments and timers change.

use super::MptcpSender;
use super::subflow::Join;
use crate::mptcp::addresses::Announcements;
use crate::mptcp::data_sequence::{DATA_START, DataSequence};
use crate::mptcp::keys;
use crate::mptcp::option::{Dss, MptcpOption};
use crate::segment::{Flags, Segment, unwrap_sequence};
use anabranch_units::{Instant, Span};

/// A window scale that makes every subflow's own window as large as it can be (RFC 7323 section 2.3).
const WIDEST_SCALE_PLUS_ONE: u8 = 15;

impl MptcpSender {
    /// An arriving segment; [`Segment::subflow`] says on which subflow. One of a subflow that there is not, or
    /// whose options do not belong to the connection, is dropped.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        let index = segment.subflow;
        if self.subflows.get(usize::from(index)).is_none_or(|subflow| subflow.removed) {
            return;
        }
        let option = segment.mptcp();
        if segment.flags.has(Flags::SYN) && !self.take_handshake(now, segment, option) {
            return;
        }
        if self.config.tcp.congestion_control.is_coupled() {
            let compares_losses = self.config.tcp.congestion_control.compares_losses();
            let coupling = self.paths.coupling(index, compares_losses);
            self.subflows[usize::from(index)].sender.couple(&coupling);
        }
        // The window is that of the data (RFC 8684 section 3.3.4); a subflow's own is never the limit.
        let mut inner = *segment;
        inner.window = u16::MAX;
        if segment.flags.has(Flags::SYN) {
            inner.window_scale_plus_one = WIDEST_SCALE_PLUS_ONE;
        }
        let subflow = &mut self.subflows[usize::from(index)];
        let announces = option.is_some_and(|option| option.is_about_addresses());
        let una = subflow.sender.snd_una();
        // RFC 8684 section 3: a duplicate ACK with an option other than DSS is no sign of congestion.
        if !announces || unwrap_sequence(segment.ack, una) > una {
            subflow.sender.on_segment(now, &inner);
        }
        if unwrap_sequence(segment.ack, una) >= una {
            subflow.silence.hear(now);
        }
        let scale = if segment.flags.has(Flags::SYN) { 0 } else { self.peer_window_scale };
        subflow.take_window(u64::from(segment.window) << scale, unwrap_sequence(segment.ack, una), una);
        if !segment.flags.has(Flags::SYN) && matches!(subflow.join, Join::Acknowledged { .. }) {
            // RFC 8684 section 3.2: data may be sent once the ACK with the HMAC is answered.
            subflow.join = Join::Done;
            self.tell_priority(index);
        }
        self.wake(index);
        match option {
            Some(MptcpOption::Dss(dss)) => self.take_signal(now, segment, &dss),
            Some(option) if announces => self.take_address_option(now, index, option),
            _ => {}
        }
        if let Some(since) = self.stalled_since {
            self.settle(now, index);
            if self.has_fit_subflow() {
                self.stalled_since = None;
                self.stats.stalled += now.saturating_since(since);
            }
        }
    }

    /// Checks the options of a SYN/ACK; returns whether it belongs to the connection. Without MP_CAPABLE the
    /// other end speaks no MPTCP; falling back to TCP is left out.
    fn take_handshake(&mut self, now: Instant, segment: &Segment, option: Option<MptcpOption>) -> bool {
        let index = segment.subflow;
        match option {
            Some(MptcpOption::Capable { sender_key: Some(key), receiver_key: None, .. }) if index == 0 => {
                if self.peer_key.is_none() {
                    self.peer_key = Some(key);
                    self.peer_sequence = DataSequence::of(key, false);
                    self.peer_window_scale = segment.window_scale_plus_one.saturating_sub(1);
                    // RFC 7323 section 2.2: the window of a SYN is not scaled.
                    self.data.edge = DATA_START + u64::from(segment.window);
                    self.data.fin_at = now;
                }
                true
            }
            Some(MptcpOption::JoinSynAck { hmac, nonce, backup, .. }) if index > 0 => {
                let Some(peer_key) = self.peer_key else { return false };
                let subflow = &mut self.subflows[usize::from(index)];
                let expected = keys::join_hmac(peer_key, self.key, nonce, subflow.nonce);
                if hmac != keys::leftmost(&expected) {
                    return false;
                }
                if subflow.join == Join::Waiting {
                    subflow.peer_nonce = nonce;
                    subflow.peer_backup = backup;
                    let again_at = now.saturating_add(subflow.sender.rto());
                    subflow.join = Join::Acknowledged { again_at, repetitions: 0 };
                }
                true
            }
            _ => false,
        }
    }

    /// Data ACK, window and DATA_FIN of the other end.
    fn take_signal(&mut self, now: Instant, segment: &Segment, dss: &Dss) {
        if let Some(mapping) = dss.mapping {
            self.peer_sequence.answer_in_kind(mapping.data_seq);
        }
        if dss.data_fin && !self.peer_closed {
            self.peer_closed = true;
            // A DATA_FIN is acknowledged like data (RFC 8684 section 3.3.3).
            self.subflows[usize::from(segment.subflow)].sender.repeat_ack();
        }
        if let Some(ack) = dss.data_ack {
            let ack = self.sequence.position(ack, self.data.una);
            let end = self.data.nxt + u64::from(self.data.closing);
            if ack > end || ack < DATA_START {
                return;
            }
            // The right edge never moves back (RFC 8684 section 3.3.5).
            let window = if self.config.subflow_windows {
                self.subflows[usize::from(segment.subflow)].window()
            } else {
                u64::from(segment.window) << self.peer_window_scale
            };
            self.data.edge = self.data.edge.max(ack + window);
            self.on_data_ack(now, ack);
        }
        if !self.confirmed {
            self.confirmed = true;
            // RFC 8684 section 3.1: no further subflow before a DSS has come through.
            if self.follows_addresses() {
                self.tell_priority(0);
                self.open_missing();
            } else {
                (1..self.subflow_count()).for_each(|index| self.open_subflow(index));
            }
        }
    }

    pub(super) fn on_data_ack(&mut self, now: Instant, ack: u64) {
        if ack <= self.data.una {
            return;
        }
        self.data.una = ack;
        self.restart_data_timer(now);
        if self.is_finished() {
            self.finish(now);
        }
    }

    /// Everything is acknowledged: each subflow closes (RFC 8684 section 3.3.3); those that do not answer or were
    /// never open are given up.
    fn finish(&mut self, now: Instant) {
        self.stalled_since = None;
        self.reinjecting.clear();
        self.repetition = None;
        self.ends.announcements = Announcements::default();
        for index in 0..self.subflow_count() {
            let subflow = &mut self.subflows[usize::from(index)];
            let joined = matches!(subflow.join, Join::First | Join::Done);
            if joined && subflow.sender.established_at().is_some() && !subflow.timed_out {
                subflow.sender.close();
            } else {
                subflow.sender.abandon(now);
            }
            self.wake(index);
        }
    }

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        for index in 0..self.subflow_count() {
            if self.deadlines[usize::from(index)] > now {
                continue;
            }
            let patience = self.config.tcp.handshake_timeout;
            let subflow = &mut self.subflows[usize::from(index)];
            subflow.sender.on_timeout(now);
            if let Join::Acknowledged { again_at, repetitions } = subflow.join
                && again_at <= now
            {
                let since = subflow.sender.established_at().map_or(Span::ZERO, |at| now.saturating_since(at));
                if since >= patience {
                    subflow.sender.abandon(now);
                } else {
                    // RFC 8684 section 3.2: the ACK with the HMAC is sent again until it is answered.
                    subflow.sender.repeat_ack();
                    let wait = subflow.sender.rto().saturating_mul(2 << repetitions.min(16));
                    let again_at = now.saturating_add(wait.min(self.config.tcp.max_rto));
                    subflow.join = Join::Acknowledged { again_at, repetitions: repetitions + 1 };
                }
            }
            self.wake(index);
        }
        self.on_data_timeout(now);
    }
}
