//! The segments in flight in the order of their last transmission, as a list through them.

use super::{NONE, Number, Scoreboard, Sent};
use crate::log::LossCause;
use anabranch_units::rarely;

/// What to do with a segment in [`Scoreboard::judge_oldest_first`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Judgement {
    /// It is lost.
    Lost,
    /// It is not, go on.
    Keep,
    /// It is not, and neither is any later one.
    Stop,
}

impl Scoreboard {
    /// Segments in flight in the order of their last transmission, oldest first. `judge` says of each whether it
    /// is lost by the rule that `cause` names, and whether to go on. Returns the bytes newly lost.
    pub(crate) fn judge_oldest_first(
        &mut self,
        cause: LossCause,
        mut judge: impl FnMut(&Sent) -> Judgement,
    ) -> u64 {
        let mut newly_lost = 0;
        let mut number = self.oldest;
        while number != NONE {
            let sent = self.get(number);
            let (newer, len) = (sent.newer, sent.len());
            match judge(sent) {
                Judgement::Stop => break,
                Judgement::Keep => {}
                Judgement::Lost => {
                    self.mark_lost(number, cause);
                    newly_lost += len;
                }
            }
            number = newer;
        }
        newly_lost
    }

    pub(super) fn link_newest(&mut self, number: Number) {
        let older = self.append(number);
        let sent = self.get_mut(number);
        sent.older = older;
        sent.newer = NONE;
    }

    /// A segment hangs behind all others from now on; returns the one before it.
    #[inline]
    pub(super) fn append(&mut self, number: Number) -> Number {
        let before = std::mem::replace(&mut self.newest, number);
        if before == NONE {
            self.oldest = number;
        } else {
            self.get_mut(before).newer = number;
        }
        before
    }

    pub(super) fn link_oldest(&mut self, number: Number) {
        let after = self.oldest;
        let sent = self.get_mut(number);
        sent.older = NONE;
        sent.newer = after;
        if after == NONE {
            self.newest = number;
        } else {
            self.get_mut(after).older = number;
        }
        self.oldest = number;
    }

    pub(super) fn unlink(&mut self, number: Number) {
        let sent = self.get_mut(number);
        let older = std::mem::replace(&mut sent.older, NONE);
        let newer = std::mem::replace(&mut sent.newer, NONE);
        self.close_list(number, (older, newer));
    }

    /// Joins the neighbours of a segment that hangs in the list no more.
    #[inline]
    pub(super) fn close_list(&mut self, number: Number, (older, newer): (Number, Number)) {
        if self.oldest == number {
            // Nobody asks what is in front of the oldest one.
            self.oldest = newer;
            if rarely(newer == NONE) {
                self.newest = NONE;
            }
            return;
        }
        if older == NONE {
            // It is judged no more.
            return;
        }
        self.get_mut(older).newer = newer;
        if newer == NONE {
            self.newest = older;
        } else {
            self.get_mut(newer).older = older;
        }
    }
}
