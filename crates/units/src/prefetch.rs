//! A hint to the processor for memory that will be asked for soon.

use prefetch_index::prefetch_index;
use std::ops::Range;
use std::slice::from_ref;

/// Bytes of a line of the cache.
const LINE: isize = 64;

/// Begins to bring the line of the cache where `place` begins; it changes nothing else, and costs an instruction. Worth it
/// some hundred instructions before its use and not much earlier, for what is not in the cache.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    prefetch_index(from_ref(place), 0);
}

/// The same of several lines around that of `place`, which is number 0.
#[inline(always)]
pub fn prefetch_lines(place: &u64, lines: Range<isize>) {
    for line in lines {
        let words = line * (LINE / size_of::<u64>() as isize);
        prefetch_index(from_ref(place), words as usize);
    }
}
