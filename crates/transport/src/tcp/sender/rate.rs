use crate::congestion::RateSample;
use crate::tcp::scoreboard::{Delivery, Sent};
use anabranch_units::{Instant, Span};

/// Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation section 3).
#[derive(Default, Debug)]
pub(super) struct RateSampler {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Delivered counter up to which samples are application-limited; 0 for not.
    app_limited_until: u64,
}

/// The newest segment that one ACK delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    sent_at: Instant,
    end: u64,
    delivery: Delivery,
}

impl Newest {
    /// Of two, the one sent later (section 3.3.1).
    #[inline]
    pub(super) fn take(newest: &mut Option<Self>, sent: &Sent) {
        let later = newest.is_none_or(|n| (sent.sent_at, sent.end) > (n.sent_at, n.end));
        if later {
            *newest = Some(Self { sent_at: sent.sent_at, end: sent.end, delivery: sent.delivery });
        }
    }
}

impl RateSampler {
    /// State to keep with a segment that is about to leave (section 3.2).
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, pipe: u64) -> Delivery {
        if pipe == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Delivery {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until != 0,
        }
    }

    /// The sender has room in its windows and nothing to send (section 3.4).
    #[inline]
    pub(super) fn on_app_limited(&mut self, pipe: u64) {
        self.app_limited_until = (self.delivered + pipe).max(1);
    }

    /// An ACK that delivered `bytes`; gives a sample unless it spans less than the smallest RTT,
    /// which only aggregated or reordered ACKs can (section 3.3.2).
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        bytes: u64,
        newest: Option<Newest>,
        min_rtt: Span,
    ) -> Option<RateSample> {
        self.delivered += bytes;
        if bytes > 0 {
            self.delivered_at = now;
        }
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newest = newest?;
        self.first_sent_at = newest.sent_at;
        let send_elapsed = newest.sent_at.saturating_since(newest.delivery.first_sent_at);
        let ack_elapsed = now.since(newest.delivery.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        if interval == Span::ZERO || (min_rtt != Span::MAX && interval < min_rtt) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - newest.delivery.delivered,
            interval,
            prior_delivered: newest.delivery.delivered,
            total_delivered: self.delivered,
            app_limited: newest.delivery.app_limited,
        })
    }
}
