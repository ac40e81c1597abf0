//! `mrc`: a rotation over values that are good, as in the Multipath Reliable Connection (OCP MRC 1.0, sections 7.5.5.5,
//! 9.3.1 and 11.2): a marked or trimmed value is skipped once, a lost one is assumed bad until a probe is answered.

use super::{ConfiguredSelector, Feedback, PathSelector, Start};
use crate::congestion::Draws;
use anabranch_units::declaration::{at_least, at_most};
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// A rotation over good entropy values, equally many in each plane (MRC).
    #[derive(Copy)]
    pub struct MrcParameters {
        /// Values of the rotation; with several planes a multiple of their number.
        values: u16 = 128, at_least(1).at_most(4096);
        /// Least share of them that is never assumed bad ("ev_min_active").
        least_active: f64 = 0.25, at_least(0.0).at_most(1.0);
        /// Time between probes of values that are assumed bad; 0: as the timeout.
        probe_interval: Span = Span::ZERO, at_most(Span::LONGEST_INPUT);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    Good,
    Skip,
    AssumedBad,
}

/// The rotation, and how it stands with each value.
#[derive(Debug)]
pub struct Mrc {
    /// The values in the order of this flow.
    rotation: Vec<u16>,
    standings: Vec<Standing>,
    at: usize,
    least_active: usize,
    bad: usize,
    probe_interval: Span,
    next_probe: Option<Instant>,
    probed: u16,
}

impl ConfiguredSelector for Mrc {
    type Parameters = MrcParameters;

    fn configured(parameters: &MrcParameters, start: Start, draws: &mut Draws) -> Self {
        let values = parameters.values;
        Self {
            rotation: shuffled(values, start.planes, draws),
            standings: vec![Standing::Good; usize::from(values)],
            at: 0,
            least_active: libm::ceil(f64::from(values) * parameters.least_active) as usize,
            bad: 0,
            probe_interval: if parameters.probe_interval == Span::ZERO {
                start.rto
            } else {
                parameters.probe_interval
            },
            next_probe: None,
            probed: 0,
        }
    }

    fn values(parameters: &MrcParameters) -> Option<u16> {
        Some(parameters.values)
    }
}

/// The values in random order, the planes in turn: each is shuffled for itself.
fn shuffled(values: u16, planes: u16, draws: &mut Draws) -> Vec<u16> {
    let planes = if planes > 0 && values.is_multiple_of(planes) { planes } else { 1 };
    let of_plane = |plane: u16, draws: &mut Draws| {
        let mut those: Vec<u16> = (0..values).filter(|value| value % planes == plane).collect();
        for place in (1..those.len()).rev() {
            let other = (((draws.next() >> 32) * (place as u64 + 1)) >> 32) as usize;
            those.swap(place, other);
        }
        those
    };
    let all: Vec<Vec<u16>> = (0..planes).map(|plane| of_plane(plane, draws)).collect();
    (0..usize::from(values / planes)).flat_map(|turn| all.iter().map(move |those| those[turn])).collect()
}

impl Mrc {
    fn standing(&mut self, value: u16) -> &mut Standing {
        let values = self.standings.len();
        &mut self.standings[usize::from(value) % values]
    }

    fn set(&mut self, value: u16, after: Standing) {
        let before = std::mem::replace(self.standing(value), after);
        self.bad -= usize::from(before == Standing::AssumedBad);
        self.bad += usize::from(after == Standing::AssumedBad);
    }
}

impl PathSelector for Mrc {
    fn next(&mut self, _: Instant, _: &mut Draws) -> u16 {
        let mut restored = None;
        for _ in 0..self.rotation.len() {
            let value = self.rotation[self.at];
            self.at = (self.at + 1) % self.rotation.len();
            match *self.standing(value) {
                Standing::Good => return value,
                // Good again, but for this packet; one for each packet.
                Standing::Skip if restored.is_none() => {
                    self.set(value, Standing::Good);
                    restored = Some(value);
                }
                Standing::Skip | Standing::AssumedBad => {}
            }
        }
        restored.unwrap_or(self.rotation[self.at])
    }

    fn on_feedback(&mut self, now: Instant, value: u16, feedback: Feedback) {
        let standing = *self.standing(value);
        match (feedback, standing) {
            (Feedback::Marked | Feedback::Trimmed, Standing::Good) => self.set(value, Standing::Skip),
            (Feedback::Lost, Standing::Good | Standing::Skip) => {
                if self.standings.len() - self.bad > self.least_active {
                    self.set(value, Standing::AssumedBad);
                    self.next_probe.get_or_insert(now.saturating_add(self.probe_interval));
                } else {
                    self.set(value, Standing::Skip);
                }
            }
            (Feedback::Probed, Standing::AssumedBad) => self.set(value, Standing::Good),
            _ => {}
        }
        if self.bad == 0 {
            self.next_probe = None;
        }
    }

    fn next_probe(&self) -> Option<Instant> {
        self.next_probe
    }

    fn poll_probe(&mut self, now: Instant) -> Option<u16> {
        self.next_probe.filter(|&at| at <= now)?;
        self.next_probe = Some(now.saturating_add(self.probe_interval));
        let values = self.standings.len() as u16;
        let bad = |value: &u16| self.standings[usize::from(*value)] == Standing::AssumedBad;
        let value = (1..=values).map(|step| (self.probed + step) % values).find(bad)?;
        self.probed = value;
        Some(value)
    }
}
