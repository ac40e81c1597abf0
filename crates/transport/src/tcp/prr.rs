/// Proportional rate reduction (RFC 9937): leads the window from the flight size at the loss to
/// ssthresh over one round trip of recovery. Bytes throughout.
#[derive(Clone, Debug)]
pub(crate) struct Prr {
    ssthresh: u64,
    recover_fs: u64,
    delivered: u64,
    out: u64,
    allowance: u64,
    mss: u64,
    /// As Linux keeps it: whole segments, and the window that the last ACK set.
    window: Option<u64>,
}

impl Prr {
    /// Starts with the bytes in flight when the loss was noticed (RFC 9937 section 6, RecoverFS).
    pub(crate) fn new(ssthresh: u64, recover_fs: u64, mss: u64) -> Self {
        Self {
            ssthresh,
            recover_fs: recover_fs.max(1),
            delivered: 0,
            out: 0,
            allowance: mss,
            mss,
            window: None,
        }
    }

    /// In whole segments, with a window that stands until the next ACK: what a timer finds lost makes room. The first
    /// is that of the `pipe` without what is lost.
    pub(crate) fn in_segments(self, pipe: u64) -> Self {
        Self { window: Some(pipe + self.mss), ..self }
    }

    /// An ACK that newly delivered some bytes. `safe`: it advanced snd_una and showed no new loss,
    /// so growth may be slow start's (PRR-SSRB); otherwise packets are conserved (PRR-CRB).
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, safe: bool) {
        self.delivered += delivered;
        self.allowance = if pipe > self.ssthresh {
            let target = (u128::from(self.delivered) * u128::from(self.ssthresh))
                .div_ceil(u128::from(self.recover_fs)) as u64;
            let target = if self.window.is_some() { target.next_multiple_of(self.mss) } else { target };
            target.saturating_sub(self.out)
        } else {
            // What this ACK delivered may leave again even where more than was delivered has left before.
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            let limit = if safe { conserved + self.mss } else { conserved };
            limit.min(self.ssthresh - pipe)
        };
        if self.out == 0 {
            // The first retransmission of an episode always goes (RFC 6675 section 5 step 4.3).
            self.allowance = self.allowance.max(self.mss);
        }
        if let Some(window) = &mut self.window {
            *window = pipe + self.allowance;
        }
    }

    /// Bytes left the sender.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.allowance = self.allowance.saturating_sub(bytes);
    }

    /// The window for a given pipe.
    pub(crate) fn cwnd(&self, pipe: u64) -> u64 {
        self.window.unwrap_or(pipe + self.allowance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9937's purpose: 20 segments in flight, one lost, ssthresh 10; every other ACK sends one,
    /// and pipe ends at ssthresh.
    #[test]
    fn one_loss_halves_over_a_round() {
        let mut prr = Prr::new(10, 20, 1);
        let (mut pipe, mut sent) = (19 - 3, 0);
        prr.on_ack(3, pipe, false);
        for ack in 0..17 {
            while prr.cwnd(pipe) > pipe {
                prr.on_sent(1);
                pipe += 1;
                sent += 1;
            }
            if ack < 16 {
                pipe -= 1;
                prr.on_ack(1, pipe, false);
            }
        }
        assert_eq!((sent, pipe), (10, 10));
    }

    /// RFC 9937 section 6, with pipe below ssthresh: what was delivered may leave again (PRR-CRB), and after an ACK
    /// that makes progress one segment more (PRR-SSRB), up to ssthresh.
    #[test]
    fn a_pipe_below_ssthresh_is_filled_by_slow_start_while_it_is_safe() {
        let mut prr = Prr::new(10, 20, 1);
        let rows = [
            // Delivered, pipe, safe; may leave.
            (3, 5, false, 3),
            (1, 7, false, 1),
            (1, 7, true, 2),
            (1, 8, true, 2),
            (4, 6, true, 4),
            (1, 9, true, 1),
            // More has left than was delivered: what is delivered now may.
            (2, 7, false, 2),
            (0, 9, false, 0),
            (1, 10, true, 0),
        ];
        for (number, (delivered, pipe, safe, leaves)) in rows.into_iter().enumerate() {
            prr.on_ack(delivered, pipe, safe);
            assert_eq!(prr.cwnd(pipe) - pipe, leaves, "ACK {number}");
            prr.on_sent(leaves);
        }
    }

    /// RFC 6675 section 5 step 4.3: the first retransmission always goes. In whole segments the window has room for
    /// it before any ACK, and stands while the pipe drains.
    #[test]
    fn a_window_in_segments_begins_with_room_for_one() {
        let prr = Prr::new(10_000, 20_000, 1000).in_segments(16_000);
        assert_eq!((prr.cwnd(16_000), prr.cwnd(9_000)), (17_000, 17_000));
    }
}
