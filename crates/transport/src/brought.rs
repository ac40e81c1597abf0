//! Code that the caller brings along, in a configuration that is otherwise plain data.

use std::sync::Arc;

/// What makes algorithms of the caller's own. The caller puts it where a configuration names its code, once it has read
/// the rest; two are equal if they are the same object.
#[derive(Debug)]
pub struct Brought<M: ?Sized>(pub Option<Arc<M>>);

impl<M: ?Sized> Brought<M> {
    /// What makes them.
    ///
    /// # Panics
    /// Without it, which the check of a setup refuses.
    #[must_use]
    pub fn get(&self) -> &M {
        self.0.as_deref().expect("a setup without its code is refused")
    }

    /// Whether it is there.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.0.is_some()
    }
}

impl<M: ?Sized> Clone for Brought<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: ?Sized> Default for Brought<M> {
    fn default() -> Self {
        Self(None)
    }
}

impl<M: ?Sized> PartialEq for Brought<M> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}
