//! The numbers of a connection's data in one direction (RFC 8684 section 3.3.1).

use super::keys;
use super::option::DataNumber;
use crate::segment::unwrap_sequence;
use crate::tcp::EPOCH;

/// Position of the first byte of the data: high enough that a wire number just below it unwraps to a position.
pub(super) const DATA_START: u64 = EPOCH;

/// How positions in the data of one direction become numbers on the wire, and back.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DataSequence {
    /// The number of the first byte, or of a DATA_FIN in its place.
    first: u64,
    /// Numbers are written with 8 octets.
    whole: bool,
}

impl DataSequence {
    /// The numbers of the end whose key this is: the first byte is right behind the initial number (RFC 8684 section 3.1).
    pub(super) fn of(key: u64, whole: bool) -> Self {
        Self { first: keys::initial_data_sequence(key).wrapping_add(1), whole }
    }

    /// The other end wrote this number: its data are acknowledged in numbers of the same length from here on.
    pub(super) fn answer_in_kind(&mut self, number: DataNumber) {
        self.whole |= matches!(number, DataNumber::Whole(_));
    }

    /// The number of a position.
    #[inline]
    pub(super) fn number(&self, position: u64) -> DataNumber {
        let number = self.first.wrapping_add(position - DATA_START);
        if self.whole { DataNumber::Whole(number) } else { DataNumber::Low(number as u32) }
    }

    /// The position of a number; of one with 4 octets that which is nearest to `near`. A number that is not of this
    /// connection gives any position.
    #[inline]
    pub(super) fn position(&self, number: DataNumber, near: u64) -> u64 {
        match number {
            DataNumber::Low(low) => unwrap_sequence(low.wrapping_sub(self.first as u32), near),
            DataNumber::Whole(number) => number.wrapping_sub(self.first).wrapping_add(DATA_START),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Either length says the same position, also where the upper half of the number changes and behind the largest.
    #[test]
    fn both_lengths_give_the_position_back() {
        for first in [1, u64::from(u32::MAX) - 2, u64::MAX - 3] {
            for whole in [false, true] {
                let sequence = DataSequence { first, whole };
                for position in (DATA_START..DATA_START + 10).chain([DATA_START + (5 << 32) + 7]) {
                    let number = sequence.number(position);
                    assert_eq!(matches!(number, DataNumber::Whole(_)), whole);
                    assert_eq!(sequence.position(number, position - 9), position, "{sequence:?} {number:?}");
                }
            }
        }
    }

    /// The lower halves agree, the whole numbers do not: 4 octets cannot tell, 8 can.
    #[test]
    fn a_whole_number_of_elsewhere_is_no_position_near() {
        let sequence = DataSequence { first: 77, whole: true };
        let (here, elsewhere) = (DataNumber::Whole(77), DataNumber::Whole(77 + (1 << 40)));
        assert_eq!(here.low(), elsewhere.low());
        assert_eq!(sequence.position(here, DATA_START), DATA_START);
        assert_eq!(sequence.position(elsewhere, DATA_START), DATA_START + (1 << 40));
        assert_eq!(sequence.position(DataNumber::Low(elsewhere.low()), DATA_START), DATA_START);
    }
}
