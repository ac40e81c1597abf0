//! NSCC, the network signal-based congestion control of Ultra Ethernet (UEC Specification 1.0.3, sections 3.6.13 and
//! following, constants of table 3-82): one window over all paths, set by ECN marks and queueing delays in four cases, by
//! a quick adaptation to what arrives, and by trims.

use super::facts::{Acknowledged, PathFacts};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Instant, Span};

/// Reference of the scaling factors: 12 us at 100 Gbps (table 3-82).
const REFERENCE_RTT_PS: f64 = 12e6;
const REFERENCE_PRODUCT: f64 = 150_000.0;
/// A queueing delay that counts as none: the "close to zero" of the fast increase.
const NO_DELAY_PS: f64 = 1e6;

anabranch_units::parameters! {
    /// Marks and queueing delays in four cases (NSCC, UEC Specification 1.0.3 section 3.6.13).
    #[derive(Copy)]
    pub struct NsccParameters {
        /// Queueing delay that is aimed at, in base RTTs; 0: 0.75 where switches trim, 1 otherwise (table 3-82).
        target: f64 = 0.0, at_least(0.0).at_most(1000.0);
        /// Largest window, with which a flow begins, in bandwidth-delay products ("MaxWnd").
        max_window: f64 = 1.5, above(0.0).at_most(1000.0);
        /// Proportional increase in full packets by the target of a reference path ("alpha").
        alpha: f64 = 4.0, at_least(0.0).at_most(1000.0);
        /// Fair increase in full packets ("fi").
        fair_increase: f64 = 5.0, at_least(0.0).at_most(1000.0);
        /// Fast increase in bytes for a byte acknowledged ("fi_scale").
        fast_increase: f64 = 0.25, at_least(0.0).at_most(1000.0);
        /// Increase of each period in full packets ("eta").
        eta: f64 = 0.15, at_least(0.0).at_most(1000.0);
        /// Strength of the decrease ("gamma").
        gamma: f64 = 0.8, at_least(0.0).at_most(1.0);
        /// Smallest factor of a decrease ("max_md_jump").
        smallest_factor: f64 = 0.5, above(0.0).at_most(1.0);
        /// The quick adaptation asks whether less than 2 to the minus this of the largest window has arrived
        /// ("qa_gate").
        quick_adapt_gate: u32 = 3, anabranch_units::declaration::at_most(30);
        /// Full packets acknowledged after which increases take effect ("adjust_bytes").
        adjust_packets: f64 = 8.0, above(0.0).at_most(1e6);
        /// Do as uet-htsim does where the specification leaves it free or says otherwise: average the delay with a
        /// weight of 0.0125 for each ACK, unmarked delays above the target as a quarter of the base RTT; go on where no round-trip
        /// time is valid; take the round-trip times of NACKs; count nothing as ignored at a timeout.
        as_htsim: bool = false;
    }
}

/// The state of one flow. Times in picoseconds, amounts in bytes.
#[derive(Debug)]
pub(super) struct Nscc {
    parameters: NsccParameters,
    mtu: f64,
    rate_bytes_per_ps: f64,
    /// The base RTT that the flow began with.
    network_rtt: f64,
    base_rtt: f64,
    target: f64,
    alpha: f64,
    fair_increase: f64,
    fast_increase: f64,
    eta: f64,
    window: f64,
    average: f64,
    /// When the average was taken last.
    averaged_at: Option<Instant>,
    increase: f64,
    received: f64,
    achieved: f64,
    ignored: f64,
    to_ignore: f64,
    fast_count: f64,
    is_fast: bool,
    is_triggered: bool,
    adapts_at: Option<Instant>,
    decreased_at: Option<Instant>,
    adjusted_at: Instant,
}

impl Nscc {
    /// `mtu` is a full packet with its headers, and its payload.
    pub(super) fn new(
        parameters: &NsccParameters,
        facts: &PathFacts,
        (packet, payload): (u64, u64),
        trimming: bool,
    ) -> Self {
        let network_rtt = facts.base_rtt.as_ps() as f64;
        let rate_bytes_per_ps = facts.rate.as_bps() as f64 / 8e12;
        let factor = match parameters.target {
            0.0 if trimming => 0.75,
            0.0 => 1.0,
            given => given,
        };
        let target = factor * network_rtt;
        let a = rate_bytes_per_ps * network_rtt / REFERENCE_PRODUCT;
        let payload = payload as f64;
        let mut nscc = Self {
            mtu: packet as f64,
            rate_bytes_per_ps,
            network_rtt,
            base_rtt: network_rtt,
            target,
            // b = target / 12 us over the target.
            alpha: parameters.alpha * payload * a / REFERENCE_RTT_PS,
            fair_increase: parameters.fair_increase * payload * a,
            fast_increase: parameters.fast_increase * a,
            eta: parameters.eta * payload * a,
            parameters: *parameters,
            window: 0.0,
            average: 0.0,
            averaged_at: None,
            increase: 0.0,
            received: 0.0,
            achieved: 0.0,
            ignored: 0.0,
            to_ignore: 0.0,
            fast_count: 0.0,
            is_fast: false,
            is_triggered: false,
            adapts_at: None,
            decreased_at: None,
            adjusted_at: Instant::ZERO,
        };
        nscc.window = nscc.largest();
        nscc
    }

    /// "MaxWnd": it follows the base RTT.
    fn largest(&self) -> f64 {
        (self.parameters.max_window * self.rate_bytes_per_ps * self.base_rtt).max(self.mtu)
    }

    pub(super) fn window(&self) -> u64 {
        self.window as u64
    }

    pub(super) const fn takes_rtt_of_nacks(&self) -> bool {
        self.parameters.as_htsim
    }

    /// The average of the queueing delay: over the last base RTT, as the specification wants it.
    fn average_delay(&mut self, now: Instant, delay: f64, is_marked: bool) {
        if self.parameters.as_htsim {
            let delay = if !is_marked && delay > self.target { self.base_rtt * 0.25 } else { delay };
            self.average = 0.0125 * delay + (1.0 - 0.0125) * self.average;
            return;
        }
        let weight = match self.averaged_at {
            None => 1.0,
            Some(at) => 1.0 - libm::exp(-(now.since(at).as_ps() as f64) / self.base_rtt),
        };
        self.averaged_at = Some(now);
        self.average += weight * (delay - self.average);
    }

    pub(super) fn on_ack(&mut self, ack: &Acknowledged) {
        let new = ack.bytes as f64;
        self.base_rtt = ack.base_rtt.as_ps() as f64;
        self.received += new;
        self.achieved += new;
        self.ignored += new;
        let delay = match ack.delay {
            Some(delay) => {
                let delay = delay.as_ps() as f64;
                self.average_delay(ack.now, delay, ack.is_marked);
                delay
            }
            None if self.parameters.as_htsim => self.average,
            None => return,
        };
        if self.quick_adapt(ack.now, ack.is_marked, false, delay, ack.in_flight as f64) {
            return;
        }
        match (ack.is_marked, delay >= self.target) {
            (false, true) => self.increase += self.fair_increase * new,
            (false, false) => self.increase_quickly(new, delay),
            (true, true) => self.decrease(ack.now),
            // Marks without delay: paths are to be changed first.
            (true, false) => {}
        }
        self.apply(ack.now);
    }

    /// The fast increase where there is no queue, and otherwise the proportional one.
    fn increase_quickly(&mut self, new: f64, delay: f64) {
        // The reference takes 1 us; on shorter paths that would be no "close to zero".
        if delay < NO_DELAY_PS.min(self.target / 8.0) {
            self.fast_count += new;
            if self.fast_count > self.window || self.is_fast {
                self.window += self.fast_increase * new;
                self.is_fast = true;
                return;
            }
        } else {
            self.fast_count = 0.0;
            self.is_fast = false;
        }
        self.increase += self.alpha * new * (self.target - delay);
    }

    /// At most once in a base RTT, by how far the average is above the target.
    fn decrease(&mut self, now: Instant) {
        self.is_fast = false;
        self.fast_count = 0.0;
        let may = self.decreased_at.is_none_or(|at| now.since(at).as_ps() as f64 > self.base_rtt);
        if self.average > self.target && may {
            let factor = 1.0 - self.parameters.gamma * (self.average - self.target) / self.average;
            self.window *= factor.max(self.parameters.smallest_factor);
            self.window = self.window.max(self.mtu);
            self.decreased_at = Some(now);
        }
    }

    /// Increases take effect after some packets or a period.
    fn apply(&mut self, now: Instant) {
        let is_period_over = now.since(self.adjusted_at).as_ps() as f64 >= self.base_rtt;
        if self.received > self.parameters.adjust_packets * self.mtu || is_period_over {
            self.window += self.increase / self.window;
            if is_period_over {
                self.window += self.eta;
                self.adjusted_at = now;
            }
            self.increase = 0.0;
            self.received = 0.0;
        }
        self.clamp();
    }

    fn clamp(&mut self) {
        self.window = self.window.min(self.largest()).max(self.mtu);
    }

    /// Once in a round trip and a target: where little has arrived, and there is a reason, the window becomes what has.
    /// Whether the ACK or NACK has no other effect.
    fn quick_adapt(
        &mut self,
        now: Instant,
        is_marked: bool,
        is_loss: bool,
        delay: f64,
        in_flight: f64,
    ) -> bool {
        if self.ignored < self.to_ignore && is_marked {
            (self.increase, self.received) = (0.0, 0.0);
            return true;
        }
        if self.adapts_at.is_some_and(|at| now < at) {
            return false;
        }
        let has_reason = self.is_triggered || is_loss || delay > 4.0 * self.target;
        let gate = self.largest() / f64::from(1_u32 << self.parameters.quick_adapt_gate);
        let adapts = self.adapts_at.is_some() && has_reason && self.achieved < gate;
        if adapts {
            self.window = self.achieved.max(self.mtu);
            self.to_ignore = in_flight;
            self.ignored = 0.0;
            self.is_triggered = false;
            (self.increase, self.received) = (0.0, 0.0);
        }
        self.achieved = 0.0;
        self.adapts_at = Some(now.saturating_add(Span::from_ps((self.base_rtt + self.target) as u64)));
        adapts
    }

    /// A packet of so many bytes was trimmed: a queue on its way was full.
    pub(super) fn on_trim(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        let bytes = bytes as f64;
        self.average_delay(now, self.network_rtt, true);
        self.ignored += bytes;
        self.is_triggered = true;
        if !self.quick_adapt(now, true, true, 0.0, in_flight as f64) {
            self.window -= bytes;
        }
        self.clamp();
    }

    /// A packet is lost without a trim.
    pub(super) fn on_loss(&mut self, bytes: u64) {
        if !self.parameters.as_htsim {
            self.ignored += bytes as f64;
        }
        self.window -= bytes as f64;
        self.clamp();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Rate;

    const MTU: u64 = 4160;
    const RTT_US: f64 = 12.0;

    /// The reference path of table 3-82: a = 1, and with a target of 12 us b = 1.
    fn nscc(change: impl FnOnce(&mut NsccParameters)) -> Nscc {
        let mut parameters = NsccParameters { target: 1.0, ..NsccParameters::default() };
        change(&mut parameters);
        let facts =
            PathFacts { rate: Rate::from_bps(100_000_000_000), base_rtt: Span::from_us(12), planes: 1 };
        Nscc::new(&parameters, &facts, (MTU, 4096), true)
    }

    fn ack(us: f64, bytes: u64, is_marked: bool, delay_us: f64) -> Acknowledged {
        Acknowledged {
            now: Instant::from_ps((us * 1e6) as u64),
            bytes,
            is_marked,
            delay: Some(Span::from_ps((delay_us * 1e6) as u64)),
            base_rtt: Span::from_us(12),
            in_flight: 100_000,
        }
    }

    #[test]
    fn the_constants_are_those_of_table_3_82() {
        let nscc = nscc(|_| {});
        assert_eq!(nscc.window(), 225_000);
        assert!((nscc.fair_increase - 5.0 * 4096.0).abs() < 1e-6);
        assert!((nscc.fast_increase - 0.25).abs() < 1e-12);
        assert!((nscc.eta - 0.15 * 4096.0).abs() < 1e-6);
        // alpha = 4 MTU a b / target.
        assert!((nscc.alpha * REFERENCE_RTT_PS - 4.0 * 4096.0).abs() < 1e-6);
        let trimmed = Nscc::new(
            &NsccParameters::default(),
            &PathFacts { rate: Rate::from_bps(400_000_000_000), base_rtt: Span::from_us(12), planes: 1 },
            (MTU, 4096),
            true,
        );
        assert!((trimmed.target - 9e6).abs() < 1.0);
        assert_eq!(trimmed.window(), 900_000);
    }

    /// No mark and a delay of half the target, more than 8 packets: alpha new (target - d) / cwnd and eta, since a period
    /// has passed.
    #[test]
    fn the_proportional_increase_is_that_of_the_formula() {
        let mut nscc = nscc(|_| {});
        nscc.window = 100_000.0;
        nscc.on_ack(&ack(100.0, 40_000, false, 6.0));
        let expected = 100_000.0 + 4.0 * 4096.0 * 0.5 * 40_000.0 / 100_000.0 + 0.15 * 4096.0;
        assert!((nscc.window - expected).abs() < 0.5, "{} {expected}", nscc.window);
    }

    /// No mark and a delay above the target: fi new / cwnd, and eta.
    #[test]
    fn the_fair_increase_is_that_of_the_formula() {
        let mut nscc = nscc(|_| {});
        nscc.window = 100_000.0;
        nscc.on_ack(&ack(100.0, 40_000, false, 13.0));
        let expected = 100_000.0 + 5.0 * 4096.0 * 40_000.0 / 100_000.0 + 0.15 * 4096.0;
        assert!((nscc.window - expected).abs() < 0.5, "{} {expected}", nscc.window);
    }

    /// A mark and an average of twice the target: 1 - 0.8 / 2 = 0.6, once in a base RTT; not below a half.
    #[test]
    fn the_decrease_is_that_of_the_formula() {
        let mut nscc = nscc(|parameters| parameters.eta = 0.0);
        nscc.window = 100_000.0;
        nscc.on_ack(&ack(100.0, 4160, true, 24.0));
        assert!((nscc.window - 60_000.0).abs() < 1.0, "{}", nscc.window);
        nscc.on_ack(&ack(105.0, 4160, true, 24.0));
        assert!((nscc.window - 60_000.0).abs() < 1.0, "once in a base RTT: {}", nscc.window);
        nscc.on_ack(&ack(113.0, 4160, true, 240_000.0));
        assert!((nscc.window - 30_000.0).abs() < 1.0, "{}", nscc.window);
    }

    /// A mark without delay changes nothing: paths are to be changed first.
    #[test]
    fn a_mark_without_delay_leaves_the_window() {
        let mut nscc = nscc(|parameters| parameters.eta = 0.0);
        nscc.window = 100_000.0;
        nscc.on_ack(&ack(100.0, 40_000, true, 2.0));
        assert!((nscc.window - 100_000.0).abs() < 1e-9);
    }

    /// A quarter of what arrives, once a window has come without delay.
    #[test]
    fn the_fast_increase_begins_after_a_window_without_delay() {
        let mut nscc = nscc(|parameters| (parameters.eta, parameters.alpha) = (0.0, 0.0));
        nscc.window = 50_000.0;
        nscc.on_ack(&ack(100.0, 50_000, false, 0.0));
        assert!((nscc.window - 50_000.0).abs() < 1e-9);
        nscc.on_ack(&ack(101.0, 4_000, false, 0.0));
        assert!((nscc.window - 51_000.0).abs() < 1e-9, "{}", nscc.window);
    }

    /// Trims, and less than an eighth of MaxWnd within a base RTT and a target: the window becomes what has arrived; until
    /// what was in flight has been answered, marks and trims count no more.
    #[test]
    fn quick_adaptation_takes_what_has_arrived() {
        let mut nscc = nscc(|_| {});
        nscc.on_ack(&ack(1.0, 4160, false, 0.0));
        nscc.on_trim(Instant::from_ps(2_000_000), MTU, 200_000);
        nscc.on_ack(&ack(3.0, 20_000, false, 0.0));
        nscc.on_trim(Instant::from_ps(30_000_000), MTU, 50_000);
        assert_eq!(nscc.window(), 20_000);
        nscc.on_trim(Instant::from_ps(31_000_000), MTU, 50_000);
        assert_eq!(nscc.window(), 20_000, "what was in flight is answered for");
    }

    /// Table of section 4.3: where no round-trip time is valid, nothing changes; uet-htsim goes on with the average.
    #[test]
    fn an_ack_without_a_valid_sample_changes_nothing() {
        for as_htsim in [false, true] {
            let mut nscc = nscc(|parameters| parameters.as_htsim = as_htsim);
            nscc.window = 100_000.0;
            nscc.on_ack(&Acknowledged { delay: None, ..ack(100.0, 40_000, false, 0.0) });
            assert_eq!(nscc.window > 100_000.0, as_htsim);
        }
    }

    /// Averages of two samples: over the last base RTT by default, a weight of 0.0125 in uet-htsim.
    #[test]
    fn the_average_delay_is_over_a_base_rtt() {
        let mut usual = nscc(|_| {});
        usual.average_delay(Instant::from_ps(0), 10e6, true);
        usual.average_delay(Instant::from_ps((RTT_US * 1e6) as u64), 0.0, true);
        assert!((usual.average / 10e6 - libm::exp(-1.0)).abs() < 1e-9);
        let mut theirs = nscc(|parameters| parameters.as_htsim = true);
        theirs.average_delay(Instant::from_ps(0), 10e6, true);
        assert!((theirs.average / 10e6 - 0.0125).abs() < 1e-12);
        theirs.average = 0.0;
        theirs.average_delay(Instant::from_ps(0), 13e6, false);
        assert!((theirs.average / 3e6 - 0.0125).abs() < 1e-12, "a quarter of the base RTT");
    }
}
