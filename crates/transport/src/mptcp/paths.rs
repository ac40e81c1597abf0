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
    /// Memory of what it was given and has not had acknowledged, in flight or not, with what Linux keeps beside the data.
    pub(super) memory: u64,
    /// Memory that it may take in all.
    pub(super) send_buffer: u64,
    /// Bytes per second at which it would be paced; 0 before the first RTT sample.
    pub(super) pacing_rate: f64,
    /// It may carry data: established, and its path is not suspected to be dead.
    pub(super) usable: bool,
    /// It may carry data only while no regular subflow is usable (RFC 8684 section 3.3.8).
    pub(super) backup: bool,
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
    /// Bit for each subflow that is usable and has room: regular ones, and backups.
    ready: [[u64; 4]; 2],
    /// Regular subflows that are usable.
    regular: u32,
}

impl Paths {
    pub(super) fn new(count: usize) -> Self {
        Self { all: vec![Path::default(); count], ready: [[0; 4]; 2], regular: 0 }
    }

    /// One more subflow, which is not usable yet.
    pub(super) fn add(&mut self) {
        self.all.push(Path::default());
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
        let is_regular = |path: &Path| u32::from(path.usable && !path.backup);
        let before = std::mem::replace(&mut self.all[usize::from(subflow)], path);
        self.regular = self.regular - is_regular(&before) + is_regular(&path);
        let (word, bit) = (usize::from(subflow / 64), 1 << (subflow % 64));
        self.ready[usize::from(before.backup)][word] &= !bit;
        if path.usable && path.room > 0 {
            self.ready[usize::from(path.backup)][word] |= bit;
        }
    }

    /// Whether it is the backups' turn: no regular subflow is usable. This is the one place that tells them apart, so
    /// that no scheduler has to.
    #[inline]
    fn falls_back(&self) -> bool {
        self.regular == 0
    }

    /// Whether any subflow could take a segment of new data.
    #[inline]
    pub(super) fn any_ready(&self) -> bool {
        self.ready[usize::from(self.falls_back())] != [0; 4]
    }

    /// Subflows that could take a segment of new data, in ascending order.
    #[inline]
    pub(super) fn ready(&self) -> impl Iterator<Item = u8> + '_ {
        each_of(self.ready[usize::from(self.falls_back())])
    }

    /// Subflows with room for what they were given before, backups that are not needed any more included; in ascending
    /// order.
    pub(super) fn with_room(&self) -> impl Iterator<Item = u8> + '_ {
        let [regular, backups] = self.ready;
        each_of(std::array::from_fn(|word| regular[word] | backups[word]))
    }

    /// Subflows that may carry new data, whether they have room or not.
    pub(super) fn usable(&self) -> impl Iterator<Item = u8> + '_ {
        let backup = self.falls_back();
        let may = move |path: &Path| path.usable && path.backup == backup;
        (0..self.all.len() as u8).filter(move |&subflow| may(self.get(subflow)))
    }

    /// A subflow was given so many bytes more.
    pub(super) fn add_queued(&mut self, subflow: u8, bytes: u64) {
        self.all[usize::from(subflow)].memory += bytes;
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
        let current = self.get(subflow);
        coupling.rate = current.rate;
        coupling.gain = current.gain;
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
        let current = self.get(subflow);
        if collected == 0 || current.rate == 0.0 {
            0.0
        } else if current.cwnd == largest {
            -1.0 / f64::from(count * with_largest)
        } else if current.quality >= best {
            1.0 / f64::from(count * collected)
        } else {
            0.0
        }
    }
}

/// The numbers of the bits that are set, in ascending order.
#[inline]
fn each_of(words: [u64; 4]) -> impl Iterator<Item = u8> {
    [0u8, 64, 128, 192].into_iter().zip(words).flat_map(|(base, bits)| {
        std::iter::successors((bits != 0).then_some(bits), |bits| {
            let rest = bits & (bits - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |bits| base + bits.trailing_zeros() as u8)
    })
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
    /// RFC 8684 section 3.3.8: a backup is used only while no other subflow is there to be used, whether it has room or
    /// not; what it took before it still sends.
    #[test]
    fn backups_wait_until_no_regular_subflow_is_usable() {
        let mut paths = Paths::new(3);
        let seen = |paths: &Paths| (paths.ready().collect::<Vec<_>>(), paths.usable().collect::<Vec<_>>());
        paths.set(0, path(1, 1), 0);
        paths.set(1, Path { backup: true, ..path(1, 1) }, 0);
        paths.set(2, Path { backup: true, ..path(1, 1) }, 0);
        assert_eq!(seen(&paths), (vec![0], vec![0]));
        paths.set(0, Path { room: 0, ..path(1, 1) }, 0);
        assert_eq!((seen(&paths), paths.any_ready()), ((vec![], vec![0]), false));
        assert_eq!(paths.with_room().collect::<Vec<_>>(), [1, 2]);
        paths.set(0, Path { usable: false, ..path(1, 1) }, 0);
        assert_eq!((seen(&paths), paths.any_ready()), ((vec![1, 2], vec![1, 2]), true));
        // One of them becomes a regular one.
        paths.set(2, path(1, 1), 0);
        assert_eq!(seen(&paths), (vec![2], vec![2]));
        paths.set(2, Path { backup: true, ..path(1, 1) }, 0);
        assert_eq!(seen(&paths), (vec![1, 2], vec![1, 2]));
    }
}
