/// The condition, for a branch that is hardly ever taken.
///
/// A compiler that knows nothing else takes both ways of a branch to be about as likely. Behind a handful of early returns
/// it therefore takes the way of nearly every packet for one that is hardly ever gone, and calls there what it would
/// otherwise put in place.
#[inline(always)]
#[must_use]
pub const fn rarely(condition: bool) -> bool {
    if condition {
        cold();
        true
    } else {
        false
    }
}

#[cold]
#[inline]
const fn cold() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_condition() {
        assert!(rarely(true) && !rarely(false));
    }
}
