//! A hint to the processor for memory that will be asked for soon.

/// Begins to bring the line of the cache where `place` begins; it changes nothing else, and costs an instruction. Worth it
/// some hundred instructions before its use and not much earlier, for what is not in the cache.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    safe_arch::prefetch_t0(place);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
