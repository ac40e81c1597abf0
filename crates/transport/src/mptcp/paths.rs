//! What scheduling and coupling need to know of every subflow, side by side in memory: both look at all of them
//! for each segment and each ACK.

use crate::congestion::Coupling;
use anabranch_units::Span;

/// A subflow as scheduler and coupling see it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Path {
    /// Smoothed RTT; zero before the first sample.
    pub(super) srtt: Span,
    /// Window in bytes.
    pub(super) cwnd: u64,
    /// Bytes in flight.
    pub(super) in_flight: u64,
    /// Payload bytes of a full segment.
    pub(super) payload: u64,
    /// Bytes that one new segment could carry now.
    pub(super) room: u64,
    /// Mean deviation of the RTT.
    pub(super) rttvar: Span,
    /// Bytes that it was given and has not had acknowledged, in flight or not.
    pub(super) queued: u64,
    /// Bytes that it may be given in all.
    pub(super) send_buffer: u64,
    /// Bytes per second at which it would be paced; 0 before the first RTT sample.
    pub(super) pacing_rate: f64,
    /// It may carry data: established, and its path is not suspected to be dead.
    pub(super) usable: bool,
    /// Window over RTT, in bytes per second; 0 without a sample. [`Paths::set`] fills this and the next two.
    pub(super) rate: f64,
    /// Window over RTT squared.
    pub(super) gain: f64,
    /// OLIA's l over RTT squared.
    pub(super) quality: f64,
}

/// All subflows.
#[derive(Debug)]
pub(super) struct Paths {
    all: Vec<Path>,
    /// Bit for each subflow that is usable and has room.
    ready: [u64; 4],
}

impl Paths {
    pub(super) fn new(count: usize) -> Self {
        Self { all: vec![Path::default(); count], ready: [0; 4] }
    }

    pub(super) fn get(&self, subflow: u8) -> &Path {
        &self.all[usize::from(subflow)]
    }

    /// How a subflow stands now, and OLIA's l of it in bytes.
    #[inline]
    pub(super) fn set(&mut self, subflow: u8, path: Path, loss_interval: u64) {
        let path = if path.srtt > Span::ZERO {
            let inverse = 1e12 / path.srtt.as_ps() as f64;
            let rate = path.cwnd as f64 * inverse;
            Path { rate, gain: rate * inverse, quality: loss_interval as f64 * inverse * inverse, ..path }
        } else {
            Path { rate: 0.0, gain: 0.0, quality: 0.0, ..path }
        };
        self.all[usize::from(subflow)] = path;
        let bit = 1 << (subflow % 64);
        let word = &mut self.ready[usize::from(subflow / 64)];
        if path.usable && path.room > 0 {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// Whether any subflow could take a segment.
    #[inline]
    pub(super) fn any_ready(&self) -> bool {
        self.ready != [0; 4]
    }

    /// Subflows that are usable and have room, in ascending order.
    #[inline]
    pub(super) fn ready(&self) -> impl Iterator<Item = u8> + '_ {
        [0u8, 64, 128, 192].into_iter().zip(self.ready).flat_map(|(base, bits)| {
            std::iter::successors((bits != 0).then_some(bits), |bits| {
                let rest = bits & (bits - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |bits| base + bits.trailing_zeros() as u8)
        })
    }

    /// Subflows that may carry data, whether they have room or not.
    pub(super) fn usable(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.all.len() as u8).filter(|&subflow| self.get(subflow).usable)
    }

    /// A subflow was given so many bytes more.
    pub(super) fn add_queued(&mut self, subflow: u8, bytes: u64) {
        self.all[usize::from(subflow)].queued += bytes;
    }

    /// The sums and maxima that the coupled controllers need, for `subflow`. One pass over all subflows; two
    /// where the rule compares losses.
    pub(super) fn coupling(&self, subflow: u8, compares_losses: bool) -> Coupling {
        let mut coupling = Coupling::default();
        for path in &self.all {
            coupling.total_rate += path.rate;
            coupling.max_rate = coupling.max_rate.max(path.rate);
            coupling.max_gain = coupling.max_gain.max(path.gain);
        }
        let own = self.get(subflow);
        coupling.rate = own.rate;
        coupling.gain = own.gain;
        if compares_losses {
            coupling.olia_alpha = self.olia_alpha(subflow);
        }
        coupling
    }

    /// Khalili 2012, equation (6): paths that are best (largest l / rtt^2, as the authors' code for Linux has it: the
    /// square of what a TCP gets that loses as often) and do not have the largest window gain 1 / n together; those with the largest window pay it.
    fn olia_alpha(&self, subflow: u8) -> f64 {
        let measured = || self.all.iter().filter(|path| path.rate > 0.0);
        let largest = measured().map(|path| path.cwnd).max().unwrap_or(0);
        let best = measured().map(|path| path.quality).fold(0.0, f64::max);
        let (mut count, mut with_largest, mut collected) = (0u32, 0u32, 0u32);
        for path in measured() {
            count += 1;
            with_largest += u32::from(path.cwnd == largest);
            collected += u32::from(path.cwnd != largest && path.quality >= best);
        }
        let own = self.get(subflow);
        if collected == 0 || own.rate == 0.0 {
            0.0
        } else if own.cwnd == largest {
            -1.0 / f64::from(count * with_largest)
        } else if own.quality >= best {
            1.0 / f64::from(count * collected)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cwnd: u64, srtt_ms: u64) -> Path {
        Path { cwnd, srtt: Span::from_ms(srtt_ms), usable: true, room: 1, ..Path::default() }
    }

    /// By hand: 100 kB over 100 ms and 200 kB over 400 ms.
    #[test]
    fn sums_and_maxima_are_those_of_the_formulas() {
        let mut paths = Paths::new(3);
        paths.set(0, path(100_000, 100), 0);
        paths.set(1, path(200_000, 400), 0);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * b;
        let coupling = paths.coupling(1, false);
        assert!(close(coupling.total_rate, 1e6 + 5e5), "{coupling:?}");
        assert!(close(coupling.max_rate, 1e6) && close(coupling.max_gain, 1e7), "{coupling:?}");
        assert!(close(coupling.rate, 5e5) && close(coupling.gain, 1.25e6), "{coupling:?}");
    }

    /// Khalili 2012, equation (6), with four paths: one has the largest window, two others lose least.
    #[test]
    fn olia_moves_window_from_the_largest_to_the_best() {
        let mut paths = Paths::new(5);
        paths.set(0, path(400_000, 100), 1_000);
        paths.set(1, path(100_000, 100), 9_000);
        paths.set(2, path(50_000, 100), 9_000);
        paths.set(3, path(90_000, 100), 100);
        let alphas: Vec<f64> = (0..5).map(|i| paths.coupling(i, true).olia_alpha).collect();
        // The fifth has no RTT yet, and no part in it.
        assert_eq!(alphas, [-1.0 / 4.0, 1.0 / 8.0, 1.0 / 8.0, 0.0, 0.0]);
        // When the best path has the largest window, nothing moves.
        paths.set(0, path(400_000, 100), 9_000);
        paths.set(1, path(100_000, 100), 1_000);
        paths.set(2, path(50_000, 100), 1_000);
        assert!((0..5).all(|i| paths.coupling(i, true).olia_alpha == 0.0));
    }

    #[test]
    fn ready_subflows_are_those_with_room() {
        let mut paths = Paths::new(255);
        for subflow in [0, 63, 64, 200, 254] {
            paths.set(subflow, path(1, 1), 0);
        }
        paths.set(64, Path { room: 0, ..path(1, 1) }, 0);
        paths.set(200, Path { usable: false, ..path(1, 1) }, 0);
        assert_eq!(paths.ready().collect::<Vec<_>>(), [0, 63, 254]);
        assert_eq!(paths.usable().collect::<Vec<_>>(), [0, 63, 64, 254]);
    }
}
