//! How a caller follows a search over many pairs, and ends it.

use std::convert::Infallible;

/// Hears how many pairs have been answered so far: before each search, and before each further path of a pair. An
/// error that it returns ends the work at once, and is what the work returns.
pub type Watch<'w, E> = dyn FnMut(usize) -> Result<(), E> + 'w;

/// The result of work that nothing ends early.
pub(crate) fn unwatched<T>(work: impl FnOnce(&mut Watch<'_, Infallible>) -> Result<T, Infallible>) -> T {
    let Ok(result) = work(&mut |_| Ok(()));
    result
}
