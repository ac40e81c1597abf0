use crate::agent::CycleParameters;
use anabranch_units::{Instant, Span};

/// When a paced sender may send: the cycle that runs and the one that is to follow
/// (Gholizadeh 2019, section 4.3.2). `NextCycleTimer` is `next`; the other timers of table 4.2 are the
/// slots of a [`Cycle`].
#[derive(Default, Debug)]
pub(super) struct CycleSchedule {
    current: Option<Cycle>,
    next: Option<(Instant, CycleParameters)>,
}

impl CycleSchedule {
    /// Stores the parameters of a CTRL. They replace stored ones, but the start of a cycle that is already
    /// pending is never brought forward.
    pub(super) fn store(&mut self, now: Instant, parameters: CycleParameters) {
        let start = now.saturating_add(parameters.delay_to_next_cycle);
        let pending = self.next.map_or(start, |(pending, _)| pending.max(start));
        self.next = Some((pending, parameters));
    }

    /// Starts the next cycle if its time has come; the slots of the old one are gone with that.
    /// Returns the parameters of a cycle that starts.
    pub(super) fn turn(&mut self, now: Instant) -> Option<CycleParameters> {
        let (start, parameters) = self.next.filter(|&(start, _)| start <= now)?;
        self.next = None;
        self.current = Some(Cycle::new(start, parameters));
        Some(parameters)
    }

    /// When the next cycle starts.
    pub(super) fn next_cycle(&self) -> Option<Instant> {
        self.next.map(|(start, _)| start)
    }

    /// The cycle that runs.
    pub(super) fn current(&self) -> Option<&Cycle> {
        self.current.as_ref()
    }

    /// The cycle that runs.
    pub(super) fn current_mut(&mut self) -> Option<&mut Cycle> {
        self.current.as_mut()
    }
}

/// A cycle as its slots: `slots` of them, `spacing` apart, at the start of each `period`.
#[derive(Debug)]
pub(super) struct Cycle {
    window_segments: u32,
    slots: u32,
    spacing: Span,
    period: Span,
    /// First slot of the interval that runs.
    interval_start: Instant,
    /// Slots of it that are gone.
    gone: u32,
}

impl Cycle {
    /// A window that does not fit its interval is cut to what does, so that slots are never closer than
    /// `inter_segment_delay`; a window of nothing has one slot, as equation 4.11 has it.
    fn new(start: Instant, parameters: CycleParameters) -> Self {
        let window_segments = parameters.window_segments.max(1);
        let (interval, spacing) =
            (parameters.interval.as_ps().max(1), parameters.inter_segment_delay.as_ps());
        let slots = match spacing {
            0 => window_segments,
            _ => interval.div_ceil(spacing).min(u64::from(window_segments)) as u32,
        };
        Self {
            window_segments,
            slots,
            spacing: parameters.inter_segment_delay,
            period: Span::from_ps(interval.max(spacing.saturating_mul(u64::from(slots)))),
            interval_start: start.saturating_add(parameters.initial_delay),
            gone: 0,
        }
    }

    /// `sWnd`.
    pub(super) fn window_segments(&self) -> u32 {
        self.window_segments
    }

    /// The first slot that is not gone.
    pub(super) fn slot(&self) -> Instant {
        self.interval_start.saturating_add(self.spacing.saturating_mul(u64::from(self.gone)))
    }

    /// Lets the slots before `now` pass unused.
    pub(super) fn pass_until(&mut self, now: Instant) {
        if self.slot() >= now {
            return;
        }
        let intervals = now.saturating_since(self.interval_start).as_ps() / self.period.as_ps();
        if intervals > 0 {
            self.interval_start = self.interval_start.saturating_add(self.period.saturating_mul(intervals));
            self.gone = 0;
        }
        let into = now.saturating_since(self.interval_start).as_ps();
        let passed = match self.spacing.as_ps() {
            0 if into > 0 => u64::from(self.slots),
            0 => 0,
            spacing => into.div_ceil(spacing),
        };
        self.gone = self.gone.max(passed.min(u64::from(self.slots)) as u32);
        self.next_interval_if_over();
    }

    /// Uses the first slot that is not gone.
    pub(super) fn take_slot(&mut self) {
        self.gone += 1;
        self.next_interval_if_over();
    }

    fn next_interval_if_over(&mut self) {
        if self.gone == self.slots {
            self.interval_start = self.interval_start.saturating_add(self.period);
            self.gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parameters(interval: u64, window_segments: u32, spacing: u64) -> CycleParameters {
        CycleParameters {
            epoch: 1,
            delay_to_next_cycle: Span::ZERO,
            initial_delay: Span::ZERO,
            interval: Span::from_ps(interval),
            window_segments,
            inter_segment_delay: Span::from_ps(spacing),
        }
    }

    /// Every slot up to `end`, used one after the other.
    fn slots(mut cycle: Cycle, end: u64) -> Vec<u64> {
        let mut all = Vec::new();
        while cycle.slot().as_ps() <= end {
            all.push(cycle.slot().as_ps());
            cycle.take_slot();
        }
        all
    }

    /// Windows that are too long: what fits an interval of 10 at a spacing of 3 are four slots, and the
    /// next interval waits for the spacing after the last of them.
    #[test]
    fn a_window_longer_than_its_interval_keeps_the_spacing() {
        let cycle = Cycle::new(Instant::ZERO, parameters(10, 20, 3));
        assert_eq!(slots(cycle, 30), [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
        let cycle = Cycle::new(Instant::ZERO, parameters(2, 4, 5));
        assert_eq!(slots(cycle, 20), [0, 5, 10, 15, 20], "an interval shorter than the spacing");
    }

    /// Parameters that no controller should send keep the sender from sending without end at one instant.
    #[test]
    fn an_empty_interval_or_window_is_survived() {
        let cycle = Cycle::new(Instant::ZERO, parameters(0, 3, 0));
        assert_eq!(slots(cycle, 1), [0, 0, 0, 1, 1, 1]);
        let cycle = Cycle::new(Instant::ZERO, parameters(7, 0, 1));
        assert_eq!(slots(cycle, 14), [0, 7, 14]);
        let huge = CycleParameters {
            delay_to_next_cycle: Span::MAX,
            initial_delay: Span::MAX,
            ..parameters(u64::MAX, u32::MAX, u64::MAX)
        };
        let mut cycle = Cycle::new(Instant::MAX, huge);
        cycle.take_slot();
        cycle.pass_until(Instant::MAX);
        assert_eq!(cycle.slot(), Instant::MAX);
    }

    proptest! {
        /// Wherever slots pass unused, the next one is the one that a list of all slots gives.
        #[test]
        fn slots_pass_as_a_list_of_them_says(
            (interval, window, spacing) in (1u64..60, 1u32..12, 0u64..15),
            steps in prop::collection::vec((0u64..90, 0usize..3), 1..30),
        ) {
            let new = || Cycle::new(Instant::from_ps(5), parameters(interval, window, spacing));
            let all = slots(new(), 5000);
            let (mut cycle, mut next, mut now) = (new(), 0, 0);
            for (pause, uses) in steps {
                now += pause;
                cycle.pass_until(Instant::from_ps(now));
                next = all.partition_point(|&slot| slot < now).max(next);
                prop_assert_eq!(cycle.slot().as_ps(), all[next]);
                for _ in 0..uses {
                    now = now.max(cycle.slot().as_ps());
                    cycle.take_slot();
                    next += 1;
                    prop_assert_eq!(cycle.slot().as_ps(), all[next]);
                }
            }
        }

        /// Within any interval no more than the window, and no two slots closer than the spacing; a window
        /// that fits has exactly the slots of the thesis.
        #[test]
        fn window_and_spacing_hold(interval in 1u64..60, window in 1u32..12, spacing in 0u64..15) {
            let all = slots(Cycle::new(Instant::ZERO, parameters(interval, window, spacing)), 2000);
            prop_assert!(all.len() > 20);
            prop_assert!(all.windows(2).all(|pair| pair[1] - pair[0] >= spacing));
            prop_assert!(all.windows(window as usize + 1).all(|run| run[window as usize] - run[0] >= interval));
            if u64::from(window) * spacing <= interval {
                for (index, slot) in all.iter().enumerate() {
                    let (k, j) = (index as u64 / u64::from(window), index as u64 % u64::from(window));
                    prop_assert_eq!(*slot, k * interval + j * spacing);
                }
            }
        }
    }
}
