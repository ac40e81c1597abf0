use super::Bandwidth;

/// Growth of the bandwidth that shows that the pipe is not full (draft-ietf-ccwg-bbr-06 section 5.3.1.2).
const GROWTH: f64 = 1.25;
/// Round trips without such growth that show that it is (ibidem).
const ROUNDS: u32 = 3;

/// Whether sending faster has stopped to deliver more.
#[derive(Clone, Debug, Default)]
pub struct Plateau {
    /// Bandwidth when it last grew.
    bandwidth: Bandwidth,
    /// Round trips since.
    rounds: u32,
}

impl Plateau {
    /// Looks for growth beyond `bandwidth` from now on.
    pub(crate) const fn from(bandwidth: Bandwidth) -> Self {
        Self { bandwidth, rounds: 0 }
    }

    /// A round that the application did not limit has ended; whether the pipe is full.
    pub(crate) fn on_round(&mut self, bandwidth: Bandwidth) -> bool {
        if bandwidth >= self.bandwidth.scaled(GROWTH) {
            *self = Self::from(bandwidth);
            return false;
        }
        self.rounds += 1;
        self.rounds >= ROUNDS
    }
}
