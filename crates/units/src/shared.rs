//! Values that many owners have in common.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that owners share: another owner costs a pointer. Who changes it has one of its own from then on.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
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

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
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
    /// Gives an owner the place of an equal value, if there is one among the last.
    pub fn share(&mut self, value: &mut Shared<T>) {
        if let Some(other) = self.values.iter().find(|other| **other == *value) {
            value.0 = Arc::clone(&other.0);
            return;
        }
        self.values.truncate(REMEMBERED - 1);
        self.values.insert(0, Shared(Arc::clone(&value.0)));
    }
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared<T: PartialEq>(recent: &mut Recent<T>, value: T) -> Shared<T> {
        let mut value = Shared::from(value);
        recent.share(&mut value);
        value
    }

    #[test]
    fn equal_values_have_one_place_and_a_change_is_the_owners_own() {
        let mut recent = Recent::default();
        let [one, two, mut three] = [1, 2, 1].map(|value| shared(&mut recent, vec![value]));
        assert!(std::ptr::eq(&*one, &*three) && !std::ptr::eq(&*one, &*two));
        three.push(5);
        assert_eq!((&*one, &*two, &*three), (&vec![1], &vec![2], &vec![1, 5]));
    }

    #[test]
    fn only_the_last_few_are_remembered() {
        let mut recent = Recent::default();
        let first = shared(&mut recent, 0);
        (1..=REMEMBERED).for_each(|value| drop(shared(&mut recent, value)));
        assert!(!std::ptr::eq(&*first, &*shared(&mut recent, 0)));
        assert_eq!(recent.values.len(), REMEMBERED);
    }
}
