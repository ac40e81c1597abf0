use super::ranges::Ranges;
use crate::segment::SackBlocks;

/// What has arrived above a hole, and in which order: the SACK blocks of the next ACK.
#[derive(Clone, Default, Debug)]
pub(crate) struct OutOfOrder {
    ranges: Ranges,
    /// The range that arrived last leads the SACK blocks (RFC 2018 section 4).
    recent: [u64; 4],
}

impl OutOfOrder {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that contains `position`.
    pub(crate) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        self.ranges.containing(position)
    }

    /// Adds `left..right`; returns the range that now contains it.
    pub(crate) fn insert(&mut self, left: u64, right: u64) -> (u64, u64) {
        self.ranges.insert(left, right)
    }

    /// Removes everything below `position`.
    pub(crate) fn remove_below(&mut self, position: u64) {
        self.ranges.remove_below(position);
    }

    /// The range that contains `position` arrived last.
    pub(crate) fn remember(&mut self, position: u64) {
        let known = self.recent.iter().position(|&p| p == position).unwrap_or(self.recent.len() - 1);
        self.recent[..=known].rotate_right(1);
        self.recent[0] = position;
    }

    /// RFC 2018 section 4: the range that arrived last, then other ranges, most recent first, until there
    /// are `limit` blocks.
    #[inline]
    pub(crate) fn add_blocks(&self, blocks: &mut SackBlocks, limit: u8) {
        let mut given = [u64::MAX; 4];
        let mut count = 0;
        for position in self.recent {
            if let Some((left, right)) = self.ranges.containing(position)
                && !given.contains(&left)
            {
                blocks.push(left as u32, right as u32, limit);
                given[count] = left;
                count += 1;
            }
        }
        for &(left, right) in self.ranges.as_slice().iter().rev().take(4) {
            if !given.contains(&left) {
                blocks.push(left as u32, right as u32, limit);
            }
        }
    }
}
