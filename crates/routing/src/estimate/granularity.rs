//! The steps of estimates.

use anabranch_units::Span;

/// The steps in which estimates are given (Vilela 2022, sections 3.4.1 and 4.1.2): too fine, and routes that
/// are as good as equal change places; too coarse, and they cannot be told apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Granularity {
    /// Step of a loss, 0..=1; zero leaves losses as they are.
    pub loss: f64,
    /// Step of a delay; zero leaves delays as they are.
    pub delay: Span,
}

impl Granularity {
    /// The probability in 0..=1 nearest to a loss, in whole steps.
    #[must_use]
    pub fn loss(&self, loss: f64) -> f64 {
        let steps = if self.loss > 0.0 { (loss / self.loss).round() * self.loss } else { loss };
        steps.clamp(0.0, 1.0)
    }

    /// The delay in whole steps; a half is rounded up.
    #[must_use]
    pub fn delay(&self, delay: Span) -> Span {
        if self.delay == Span::ZERO {
            return delay;
        }
        let (steps, rest) = (delay.as_ps() / self.delay.as_ps(), delay.as_ps() % self.delay.as_ps());
        let up = u64::from(rest >= self.delay.as_ps() - rest);
        self.delay.saturating_mul(steps + up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thesis gives delays such as 2.5 ms and 10.6 ms, and losses in multiples of 0.01 %.
    #[test]
    fn estimates_come_in_steps() {
        let steps = Granularity { loss: 1e-4, delay: Span::from_us(100) };
        let us = |us| steps.delay(Span::from_us(us));
        assert_eq!([0, 49, 50, 2_549, 10_650].map(us), [0, 0, 100, 2_500, 10_700].map(Span::from_us));
        for (loss, rounded) in [(0.0, 0.0), (4e-5, 0.0), (0.01236, 0.0124), (-0.3, 0.0), (1.2, 1.0)] {
            assert!((steps.loss(loss) - rounded).abs() < 1e-12, "{loss}");
        }
        let exact = Granularity { loss: 0.0, delay: Span::ZERO };
        assert_eq!((exact.loss(0.012_345), exact.delay(Span::from_ps(7))), (0.012_345, Span::from_ps(7)));
    }
}
