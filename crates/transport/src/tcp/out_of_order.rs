use super::ranges::Ranges;
use super::receiver::HeldSacks;
use crate::segment::SackBlocks;

/// What has arrived above a hole, and in which order: the SACK blocks of the next ACK.
#[derive(Clone, Default, Debug)]
pub(crate) struct OutOfOrder {
    ranges: Ranges,
    /// The range that arrived last leads the SACK blocks (RFC 2018 section 4).
    recent: [u64; 4],
    /// Where not all blocks are remembered: the newest first.
    remembered: Option<Box<Remembered>>,
    /// The ACKs that tell of it.
    pub(super) sacks: HeldSacks,
}

/// The newest blocks, and how many there may be; at least one.
#[derive(Clone, Debug)]
struct Remembered {
    most: usize,
    blocks: Vec<(u64, u64)>,
}

impl OutOfOrder {
    /// Remembers so many blocks; 0 for all there are.
    pub(crate) fn remembering(blocks: u8) -> Self {
        let remember = || Box::new(Remembered { most: usize::from(blocks), blocks: Vec::new() });
        let remembered = (blocks > 0).then(remember);
        Self { remembered, ..Self::default() }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range that contains `position`.
    pub(crate) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        self.ranges.containing(position)
    }

    /// Behind the last byte that has arrived.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges.as_slice().last().map(|&(_, right)| right)
    }

    /// Adds `left..right`; returns the range that now contains it.
    pub(crate) fn insert(&mut self, left: u64, right: u64) -> (u64, u64) {
        self.ranges.insert(left, right)
    }

    /// Data came that a block is to report: they join those that they touch, or take the place of the oldest one.
    pub(crate) fn report(&mut self, left: u64, right: u64) {
        let Some(Remembered { most, blocks }) = self.remembered.as_deref_mut() else { return };
        let mut joined = (left, right);
        if let Some(at) = blocks.iter().position(|&block| touches(block, joined)) {
            joined = join(blocks.remove(at), joined);
            blocks.retain(|&block| {
                let apart = !touches(block, joined);
                if !apart {
                    joined = join(block, joined);
                }
                apart
            });
        } else {
            blocks.truncate(*most - 1);
        }
        blocks.insert(0, joined);
    }

    /// Removes everything below `position`.
    pub(crate) fn remove_below(&mut self, position: u64) {
        if let Some(Remembered { blocks, .. }) = self.remembered.as_deref_mut() {
            blocks.retain(|&(left, _)| left > position);
        }
        self.ranges.remove_below(position);
    }

    /// The range that contains `position` arrived last.
    pub(crate) fn remember(&mut self, position: u64) {
        let place = self.recent.iter().position(|&p| p == position).unwrap_or(self.recent.len() - 1);
        self.recent[..=place].rotate_right(1);
        self.recent[0] = position;
    }

    /// RFC 2018 section 4: the range that arrived last, then other ranges, most recent first, until there
    /// are `limit` blocks.
    #[inline]
    pub(crate) fn add_blocks(&self, blocks: &mut SackBlocks, limit: u8) {
        if let Some(remembered) = &self.remembered {
            for &(left, right) in &remembered.blocks {
                blocks.push(left as u32, right as u32, limit);
            }
            return;
        }
        if let &[(left, right)] = self.ranges.as_slice() {
            blocks.push(left as u32, right as u32, limit);
            return;
        }
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

fn touches(one: (u64, u64), other: (u64, u64)) -> bool {
    one.0 <= other.1 && other.0 <= one.1
}

fn join(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The third example of RFC 2018 section 5: of segments of 500 bytes from 5000 on, the second, fourth, sixth and
    /// eighth are missing; then the fourth comes, then the second. No block lies within another (section 4).
    #[test]
    fn blocks_are_those_of_the_example_of_the_rfc() {
        let mut arrived = OutOfOrder::default();
        let rows: [(u64, &[(u32, u32)]); 4] = [
            (6000, &[(6000, 6500)]),
            (7000, &[(7000, 7500), (6000, 6500)]),
            (8000, &[(8000, 8500), (7000, 7500), (6000, 6500)]),
            (6500, &[(6000, 7500), (8000, 8500)]),
        ];
        let blocks = |arrived: &OutOfOrder| {
            let mut blocks = SackBlocks::default();
            arrived.add_blocks(&mut blocks, 4);
            blocks.as_slice().to_vec()
        };
        for (start, expected) in rows {
            let (left, _) = arrived.insert(start, start + 500);
            arrived.remember(left);
            assert_eq!(blocks(&arrived), expected, "segment {start}");
        }
        arrived.remove_below(7500);
        assert_eq!(blocks(&arrived), [(8000, 8500)]);
    }

    /// Section 4: the blocks of the ACKs before are repeated, the most recent first, whichever is higher.
    #[test]
    fn blocks_come_by_their_last_arrival() {
        let mut arrived = OutOfOrder::default();
        for start in [8000, 9500, 6000, 7000, 8500] {
            let (left, _) = arrived.insert(start, start + 500);
            arrived.remember(left);
        }
        let mut blocks = SackBlocks::default();
        arrived.add_blocks(&mut blocks, 4);
        assert_eq!(blocks.as_slice(), [(8000, 9000), (7000, 7500), (6000, 6500), (9500, 10_000)]);
    }

    /// As Linux, whose receiver reports what it remembers: a fifth block pushes the oldest out, and what fills the gap
    /// between that one and another block joins the other alone.
    #[test]
    fn a_block_that_is_forgotten_is_not_joined() {
        let mut arrived = OutOfOrder::remembering(4);
        let mut arrive = |start: u64| {
            let (left, _) = arrived.insert(start, start + 1);
            arrived.remember(left);
            arrived.report(start, start + 1);
            let mut blocks = SackBlocks::default();
            arrived.add_blocks(&mut blocks, 4);
            blocks.as_slice().to_vec()
        };
        for start in [1, 3, 5, 7] {
            arrive(start);
        }
        assert_eq!(arrive(9), [(9, 10), (7, 8), (5, 6), (3, 4)]);
        assert_eq!(arrive(2), [(2, 4), (9, 10), (7, 8), (5, 6)], "1 to 2 is here, and not told again");
        assert_eq!(arrive(6), [(5, 8), (2, 4), (9, 10)]);
        arrived.remove_below(4);
        let mut blocks = SackBlocks::default();
        arrived.add_blocks(&mut blocks, 4);
        assert_eq!(blocks.as_slice(), [(5, 8), (9, 10)]);
    }
}
