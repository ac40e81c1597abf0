//! Values that many owners have in common.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that owners share: another owner costs a pointer. Who changes it has one of its own from then on.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Shared<T>(Arc<T>);

/// What can be shared.
pub trait Share: Clone {
    /// Gives it to a first owner; or to one more, where an equal value is at hand.
    fn share(self) -> Shared<Self> {
        Shared(Arc::new(self))
    }
}

impl<T: Clone> Share for Vec<T> {}

impl<T: Share> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        value.share()
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Share + Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Share::share)
    }
}

/// The values that were shared last, for those that come in long rows of equal ones.
#[derive(Debug)]
pub struct Recent<T> {
    values: Vec<Shared<T>>,
}

/// Values that are remembered: rows of a few kinds mix, such as access links and trunks.
const REMEMBERED: usize = 4;

impl<T: PartialEq> Recent<T> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { values: Vec::new() }
    }

    /// The value, with the owners of an equal one if there is one among the last.
    pub fn share(&mut self, value: T) -> Shared<T> {
        if let Some(known) = self.values.iter().find(|known| ***known == value) {
            return Shared(Arc::clone(&known.0));
        }
        self.values.truncate(REMEMBERED - 1);
        self.values.insert(0, Shared(Arc::new(value)));
        Shared(Arc::clone(&self.values[0].0))
    }
}

impl<T: PartialEq> Default for Recent<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_place_and_a_change_is_the_owners_own() {
        let mut recent = Recent::new();
        let [one, two, mut three] = [1, 2, 1].map(|value| recent.share(vec![value]));
        assert!(std::ptr::eq(&*one, &*three) && !std::ptr::eq(&*one, &*two));
        three.push(5);
        assert_eq!((&*one, &*two, &*three), (&vec![1], &vec![2], &vec![1, 5]));
    }

    #[test]
    fn only_the_last_few_are_remembered() {
        let mut recent = Recent::new();
        let first = recent.share(0);
        (1..=REMEMBERED).for_each(|value| drop(recent.share(value)));
        assert!(!std::ptr::eq(&*first, &*recent.share(0)));
        assert_eq!(recent.values.len(), REMEMBERED);
    }
}
