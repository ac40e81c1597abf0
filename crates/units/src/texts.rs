//! Many texts: those of a column, and names that have to differ.

use std::ops::Index;

/// Texts one after the other in one piece of memory: of a hundred thousand, each in memory of its own would take as long to
/// make as to fill.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Texts {
    text: String,
    /// Where each ends, in bytes.
    ends: Vec<usize>,
}

impl Texts {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Puts one behind the others.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// The text at a place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        (0..self.len()).map(|place| &self[place])
    }
}

impl Index<usize> for Texts {
    type Output = str;

    /// # Panics
    /// If there are not so many.
    fn index(&self, place: usize) -> &str {
        self.get(place).expect("a text at this place")
    }
}

impl<T: AsRef<str>> Extend<T> for Texts {
    fn extend<I: IntoIterator<Item = T>>(&mut self, texts: I) {
        let texts = texts.into_iter();
        self.ends.reserve(texts.size_hint().0);
        texts.for_each(|text| self.push(text.as_ref()));
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        all.extend(texts);
        all.ends.shrink_to_fit();
        all.text.shrink_to_fit();
        all
    }
}

/// Whether no name stands twice; false also where two have the same hash (FNV-1a) by chance. Much faster than a
/// set for hundreds of thousands of names.
#[must_use]
pub fn all_differ<'s>(names: impl Iterator<Item = &'s str>) -> bool {
    let hash = |name: &str| {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let mut hashes: Vec<u64> = names.map(hash).collect();
    hashes.sort_unstable();
    hashes.windows(2).all(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of texts, put together of two parts.
        #[test]
        fn texts_are_those_put_in(
            parts in prop::array::uniform2(prop::collection::vec("[aß→]{0,3}", 0..6))
        ) {
            let [mut texts, more] = parts.clone().map(|part| part.iter().collect::<Texts>());
            texts.extend(more.iter());
            let expected = parts.concat();
            prop_assert_eq!(texts.iter().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
            prop_assert_eq!(texts.len(), expected.len());
            prop_assert_eq!(texts.is_empty(), expected.is_empty());
            prop_assert_eq!(texts.get(expected.len()), None);
            prop_assert_eq!(&texts, &expected.iter().collect::<Texts>());
        }
    }
}
