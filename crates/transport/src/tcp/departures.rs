//! What the connection looked like when each segment left: for delivery rates, and for those who judge single losses.
//!
//! Few senders ask for it. The others keep nothing of it, so that the segments of a flow lie close together.

use super::{Number, Scoreboard, Sent};
use crate::log::LossCause;
use anabranch_units::Instant;
use std::collections::VecDeque;

/// State of the connection at a transmission
/// (draft-cheng-iccrg-delivery-rate-estimation section 3.1.2).
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Delivery {
    /// Bytes delivered so far.
    pub(crate) delivered: u64,
    /// When the last of them was.
    pub(crate) delivered_at: Instant,
    /// Transmission of the first segment of the current sampling window.
    pub(crate) first_sent_at: Instant,
    /// The application, not the network, is the limit.
    pub(crate) app_limited: bool,
}

/// The connection at the last transmission of a segment.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Departure {
    /// What had been delivered.
    pub(crate) delivery: Delivery,
    /// Bytes in flight after it, its own among them; windows are below 2^30.
    pub(crate) in_flight_then: u32,
    /// Bytes ever judged lost, modulo 2^32.
    pub(crate) lost_then: u32,
}

/// The newest segment that one ACK delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    pub(crate) sent_at: Instant,
    pub(crate) end: u64,
    pub(crate) departure: Departure,
    /// Where the ACK phase of its sample begins: when the last byte before its transmission was delivered.
    pub(crate) acks_since: Instant,
}

impl Newest {
    /// Of two, the one sent later (draft-cheng-iccrg-delivery-rate-estimation section 3.3.1).
    #[inline]
    pub(crate) fn take(newest: &mut Option<Self>, sent: &Sent, departure: Departure) {
        if newest.is_none_or(|n| (sent.sent_at, sent.end) > (n.sent_at, n.end)) {
            let acks_since = departure.delivery.delivered_at;
            *newest = Some(Self { sent_at: sent.sent_at, end: sent.end, departure, acks_since });
        }
    }
}

/// The departures of all segments of a scoreboard, and what came of them.
#[derive(Default, Debug)]
pub(crate) struct Departures {
    /// As many as there are segments, in the same order.
    pub(super) all: VecDeque<Departure>,
    /// The newest delivered since the last look.
    pub(super) newest: Option<Newest>,
    /// The segment of the last sample, where the ACK phase of a sample begins at that of the one before: the error of ns-3
    /// up to 3.40. `None` if phases begin where they should.
    pub(super) sampled: Option<Sampled>,
    /// What was judged lost since the last look; `None` if nobody looks.
    pub(super) marks: Option<Vec<LossMark>>,
}

/// What ns-3 keeps of the segment of a delivery rate's last sample.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sampled {
    /// Bytes delivered when it left; only a segment that left after more of them makes another sample.
    delivered: u64,
    /// When the last of these was.
    delivered_at: Instant,
}

/// Bytes judged lost since a transmission, of its [`Departure::lost_then`] and of all that was ever lost.
pub(crate) fn lost_since(then: u32, total: u64) -> u64 {
    u64::from((total as u32).wrapping_sub(then))
}

/// A segment that was judged lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LossMark {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) cause: LossCause,
    /// Of the transmission that was lost: bytes in flight after it, its own among them.
    pub(crate) in_flight_then: u64,
    /// Bytes judged lost since that transmission, its own among them.
    pub(crate) lost_since: u64,
    /// The application was the limit when it left.
    pub(crate) app_limited: bool,
}

impl Scoreboard {
    /// Keeps from now on how the connection is when a segment leaves.
    pub(crate) fn note_departures(&mut self) -> &mut Departures {
        let segments = self.segments.len();
        debug_assert!(self.folds.is_none(), "what is folded has no departure");
        self.departures.get_or_insert_with(|| {
            Box::new(Departures { all: vec![Departure::default(); segments].into(), ..Departures::default() })
        })
    }

    /// Whether it does.
    #[inline]
    pub(crate) fn notes_departures(&self) -> bool {
        self.departures.is_some()
    }

    /// The segment sent last of those delivered since it was taken.
    #[inline]
    pub(crate) fn newest(&self) -> Option<&Newest> {
        self.departures.as_ref()?.newest.as_ref()
    }

    /// The segment sent last of those delivered since the last call, if departures are kept.
    #[inline]
    pub(crate) fn take_newest(&mut self) -> Option<Newest> {
        self.departures.as_mut()?.newest.take()
    }

    /// Lets the ACK phase of each sample begin where that of the one before should have, from now on: the error of ns-3
    /// up to 3.40 (its issue 1026). It has no such time yet, nor after a sample that spanned too little: it then counts
    /// from the start of the simulation.
    pub(crate) fn mistake_ack_phases(&mut self) {
        self.note_departures().sampled = Some(Sampled::default());
    }

    /// The last sample spanned too little.
    #[inline]
    pub(crate) fn forget_sample(&mut self) {
        if let Some(sampled) = self.departures.as_mut().and_then(|kept| kept.sampled.as_mut()) {
            sampled.delivered_at = Instant::ZERO;
        }
    }

    /// Notes every loss from now on.
    pub(crate) fn note_losses(&mut self) {
        self.note_departures().marks.get_or_insert_default();
    }

    /// Whether somebody looks at losses.
    #[inline]
    pub(crate) fn notes_losses(&self) -> bool {
        self.departures.as_ref().is_some_and(|departures| departures.marks.is_some())
    }

    /// What was judged lost since the last call.
    pub(crate) fn take_losses(&mut self) -> Vec<LossMark> {
        let marks = self.departures.as_mut().and_then(|departures| departures.marks.as_mut());
        marks.map(std::mem::take).unwrap_or_default()
    }

    /// Keeps the departure of a segment that is sent again, or of a new one.
    #[inline(never)]
    pub(super) fn note_departure(&mut self, number: Option<Number>, departure: Departure) {
        let index = number.map(|number| number.wrapping_sub(self.first) as usize);
        let Some(departures) = &mut self.departures else { return };
        match index {
            Some(index) => departures.all[index] = departure,
            None => departures.all.push_back(departure),
        }
    }

    /// The first segment is about to go; it is delivered now unless it was before.
    #[inline(never)]
    pub(super) fn forget_departure(&mut self) {
        if self.segments.front().is_some_and(|front| !front.sacked) {
            self.note_delivered(0);
        }
        if let Some(departures) = &mut self.departures {
            departures.all.pop_front();
        }
    }

    /// A segment is delivered that was not before.
    #[inline(never)]
    pub(super) fn note_delivered(&mut self, index: usize) {
        if let Some(departures) = &mut self.departures {
            let departure = departures.all[index];
            let sent = &self.segments[index];
            let Some(sampled) = &mut departures.sampled else {
                Newest::take(&mut departures.newest, sent, departure);
                return;
            };
            let Delivery { delivered, delivered_at, .. } = departure.delivery;
            if sampled.delivered == 0 || delivered > sampled.delivered {
                let last = std::mem::replace(sampled, Sampled { delivered, delivered_at });
                let acks_since = last.delivered_at;
                departures.newest =
                    Some(Newest { sent_at: sent.sent_at, end: sent.end, departure, acks_since });
            }
        }
    }
}
