use super::MOST_OUTSTANDING;
use crate::segment::{Flags, Segment, unwrap_sequence};
use crate::tcp::{EPOCH, OutOfOrder, ReceiverStats};

/// SACK blocks for which an ACK without other options has room (RFC 2018 section 3).
const SACK_BLOCKS: u8 = 4;

/// The receiving end of the SDN senders (Gholizadeh 2019, section 4.3.3): it answers each SYN with a SYN-ACK
/// and each data segment with an ACK, at once. In reliable mode an ACK above a hole carries SACK blocks, and
/// a FIN is acknowledged; the thesis lets it pass in silence.
///
/// It has no timers: what it says and is lost, it says again when the sender asks again. After each
/// [`StreamReceiver::on_segment`] take segments from [`StreamReceiver::poll_transmit`] until it gives none.
#[derive(Debug)]
pub struct StreamReceiver {
    reliable: bool,
    initial_sequence: u32,
    /// Position of the first byte, once a SYN has come.
    first_byte: Option<u64>,
    /// Position behind the last byte delivered.
    rcv_nxt: u64,
    /// Position of the FIN, once it has come.
    fin_at: Option<u64>,
    out_of_order: OutOfOrder,
    send_syn_ack: bool,
    send_ack: bool,
    stats: ReceiverStats,
}

impl StreamReceiver {
    /// A receiver that waits for a SYN.
    #[must_use]
    pub fn new(reliable: bool, initial_sequence: u32) -> Self {
        Self {
            reliable,
            initial_sequence,
            first_byte: None,
            rcv_nxt: 0,
            fin_at: None,
            out_of_order: OutOfOrder::default(),
            send_syn_ack: false,
            send_ack: false,
            stats: ReceiverStats::default(),
        }
    }

    /// An arriving segment.
    #[inline(never)]
    pub fn on_segment(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.on_syn(segment);
        } else if self.first_byte.is_some() {
            self.on_data(segment);
            self.on_fin(segment);
        }
    }

    fn on_syn(&mut self, segment: &Segment) {
        let first_byte = EPOCH + u64::from(segment.seq) + 1;
        if self.first_byte.is_none() {
            self.first_byte = Some(first_byte);
            self.rcv_nxt = first_byte;
        }
        self.send_syn_ack |= self.first_byte == Some(first_byte);
    }

    fn on_data(&mut self, segment: &Segment) {
        if segment.payload == 0 {
            return;
        }
        let start = unwrap_sequence(segment.seq, self.rcv_nxt);
        let end = start + u64::from(segment.payload);
        self.send_ack = true;
        if end > self.rcv_nxt + MOST_OUTSTANDING || self.fin_at.is_some_and(|fin| end > fin) {
            // Nothing that the sender of this stream has sent.
            return;
        }
        self.stats.segments += 1;
        if end <= self.rcv_nxt {
            self.stats.duplicate_segments += 1;
            return;
        }
        if self.out_of_order.containing(start).is_some_and(|(_, right)| end <= right) {
            self.stats.duplicate_segments += 1;
            self.out_of_order.remember(start);
            return;
        }
        if start <= self.rcv_nxt && self.out_of_order.is_empty() {
            self.advance(end);
            return;
        }
        let (left, right) = self.out_of_order.insert(start.max(self.rcv_nxt), end);
        if left == self.rcv_nxt {
            self.advance(right);
            self.out_of_order.remove_below(right);
        } else {
            self.out_of_order.remember(left);
        }
    }

    fn advance(&mut self, end: u64) {
        self.stats.delivered += end - self.rcv_nxt;
        self.rcv_nxt = end;
    }

    /// A FIN follows the acknowledgment of every byte, so it is in its place or it is none of this stream.
    fn on_fin(&mut self, segment: &Segment) {
        if !segment.flags.has(Flags::FIN) {
            return;
        }
        let at = unwrap_sequence(segment.seq, self.rcv_nxt) + u64::from(segment.payload);
        if at == self.rcv_nxt && self.out_of_order.is_empty() {
            self.fin_at = Some(at);
        }
        self.send_ack |= self.reliable;
    }

    /// The next segment to send, if any.
    #[inline(never)]
    pub fn poll_transmit(&mut self) -> Option<Segment> {
        if std::mem::take(&mut self.send_syn_ack) {
            let ack = self.first_byte? as u32;
            let flags = Flags::SYN.with(Flags::ACK);
            return Some(Segment { seq: self.initial_sequence, ack, ..bare(flags) });
        }
        if !std::mem::take(&mut self.send_ack) {
            return None;
        }
        self.stats.acks += 1;
        let mut segment = Segment {
            seq: self.initial_sequence.wrapping_add(1),
            ack: (self.rcv_nxt + u64::from(self.is_finished())) as u32,
            ..bare(Flags::ACK)
        };
        if self.reliable && !self.out_of_order.is_empty() {
            self.out_of_order.add_blocks(&mut segment.sack, SACK_BLOCKS);
        }
        Some(segment)
    }

    /// What it has seen so far.
    #[must_use]
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    /// Whether the FIN has come, and with it every byte.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.fin_at == Some(self.rcv_nxt)
    }
}

/// 40 bytes of headers.
fn bare(flags: Flags) -> Segment {
    Segment { window: u16::MAX, flags, ..Segment::default() }
}
