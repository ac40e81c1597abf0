//! Choosing the entropy value of each packet, and with it its path.
//!
//! A selector knows neither network nor packets: it is asked for a value, and told what became of those it gave. One way
//! to choose is one file, with its parameters, and a line in the list `selectors!`. With several planes, a value belongs to
//! the plane that its remainder says.
//!
//! | selector | source |
//! |---|---|
//! | [`flow`] | one value for all, as ECMP by flow |
//! | [`random`] | uniform |
//! | [`oblivious`] | in turn, in another order each lap |
//! | [`bitmap`] | the same, past values with a penalty |
//! | [`reps`] | values that came back unmarked, again (arXiv 2407.21625) |
//! | [`mixed`] | `reps` without bound, and `bitmap` where there is none |
//! | [`mrc`] | a rotation over values that are good (MRC 1.0, sections 7 and 9) |

mod bitmap;
mod external;
mod flow;
mod mixed;
mod mrc;
mod oblivious;
mod random;
mod reps;
#[cfg(test)]
mod tests;

pub use bitmap::BitmapParameters;
pub use external::{ExternalSelecting, ExternalSelector, SelectorMaker};
pub use flow::OneValueParameters;
pub use mixed::MixedParameters;
pub use mrc::MrcParameters;
pub use oblivious::ObliviousParameters;
pub use random::RandomParameters;
pub use reps::RepsParameters;

use crate::congestion::Draws;
use anabranch_units::declaration::{OutOfRange, Parameters};
use anabranch_units::{Instant, Span};

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// It arrived without a mark.
    Clean,
    /// It arrived with a mark.
    Marked,
    /// It was trimmed on the way.
    Trimmed,
    /// It was trimmed in front of the last link, to which all ways lead, and came there without a mark.
    TrimmedAtLastHop,
    /// It was lost, or its answer.
    Lost,
    /// A probe of its value was answered.
    Probed,
}

impl Feedback {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Marked => "marked",
            Self::Trimmed => "trimmed",
            Self::TrimmedAtLastHop => "trimmed-last-hop",
            Self::Lost => "lost",
            Self::Probed => "probed",
        }
    }
}

/// What a selector begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Links of the host into planes of their own.
    pub(super) planes: u16,
    /// Time without an answer after which a packet is lost.
    pub(super) rto: Span,
}

/// A selector that a scenario can name.
pub(super) trait ConfiguredSelector {
    /// What it lets a user choose.
    type Parameters: Parameters;

    /// The selector at the start of a flow; the parameters are within their bounds.
    fn configured(parameters: &Self::Parameters, start: Start, draws: &mut Draws) -> Self;

    /// Checks parameters against each other.
    fn check_together(_parameters: &Self::Parameters) -> Result<(), OutOfRange> {
        Ok(())
    }

    /// How many values there are; none where planes do not matter.
    fn values(_parameters: &Self::Parameters) -> Option<u16> {
        None
    }

    /// Whether their number must be a power of two.
    const BY_BITS: bool = false;
}

/// A selector at work.
pub(super) trait PathSelector {
    /// The value of the next packet.
    fn next(&mut self, now: Instant, draws: &mut Draws) -> u16;

    /// What became of a packet with this value.
    fn on_feedback(&mut self, _now: Instant, _value: u16, _feedback: Feedback) {}

    /// When it wants a value to be probed.
    fn next_probe(&self) -> Option<Instant> {
        None
    }

    /// The value to be probed now, if one is due.
    fn poll_probe(&mut self, _now: Instant) -> Option<u16> {
        None
    }
}

/// A value below `values`, each as likely.
fn uniform(values: u16, draws: &mut Draws) -> u16 {
    (((draws.next() >> 32) * u64::from(values)) >> 32) as u16
}

fn power_of_two(values: u16) -> Result<(), OutOfRange> {
    if values.is_power_of_two() {
        return Ok(());
    }
    Err(OutOfRange::new("values", format!("is {values}; it must be a power of two")))
}

/// Makes the configuration, the selectors and the dispatch of one list of algorithms.
macro_rules! selectors {
    ($( $name:literal => $variant:ident($selector:ty) ),+ $(,)?; $external:literal) => {
        anabranch_units::registry! {
            /// How the entropy value of each packet is chosen.
            pub enum PathSelectorConfig: "path_selector" {
                $( $name => $variant(<$selector as ConfiguredSelector>::Parameters), )+
                ; $external => External(ExternalSelecting)
            }
        }

        impl PathSelectorConfig {
            /// Checks parameters against each other.
            pub(super) fn check_together(&self) -> Result<(), OutOfRange> {
                match self {
                    $( Self::$variant(parameters) => {
                        <$selector as ConfiguredSelector>::check_together(parameters)
                    } )+
                    Self::External(_) => Ok(()),
                }
            }

            /// Whether the number of its values must be a power of two.
            #[must_use]
            pub const fn is_by_bits(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$selector as ConfiguredSelector>::BY_BITS, )+
                    Self::External(_) => false,
                }
            }

            /// How many values it spreads over where that must fit the planes of a host.
            #[must_use]
            pub fn values(&self) -> Option<u16> {
                match self {
                    $( Self::$variant(parameters) => <$selector as ConfiguredSelector>::values(parameters), )+
                    Self::External(_) => None,
                }
            }
        }

        /// The selector of a flow.
        #[derive(Debug)]
        pub(super) enum Selector {
            $( $variant($selector), )+
            External(Box<dyn ExternalSelector>),
        }

        impl Selector {
            pub(super) fn new(config: &PathSelectorConfig, start: Start, draws: &mut Draws) -> Self {
                match config {
                    $( PathSelectorConfig::$variant(parameters) => {
                        Self::$variant(ConfiguredSelector::configured(parameters, start, draws))
                    } )+
                    PathSelectorConfig::External(choice) => {
                        Self::External(choice.maker.get().selector(start.planes, draws.next()))
                    }
                }
            }

            pub(super) fn next(&mut self, now: Instant, draws: &mut Draws) -> u16 {
                match self {
                    $( Self::$variant(selector) => selector.next(now, draws), )+
                    Self::External(selector) => selector.next(now),
                }
            }

            pub(super) fn on_feedback(&mut self, now: Instant, value: u16, feedback: Feedback) {
                match self {
                    $( Self::$variant(selector) => selector.on_feedback(now, value, feedback), )+
                    Self::External(selector) => selector.on_feedback(now, value, feedback),
                }
            }

            pub(super) fn next_probe(&self) -> Option<Instant> {
                match self {
                    $( Self::$variant(selector) => selector.next_probe(), )+
                    Self::External(_) => None,
                }
            }

            pub(super) fn poll_probe(&mut self, now: Instant) -> Option<u16> {
                match self {
                    $( Self::$variant(selector) => selector.poll_probe(now), )+
                    Self::External(_) => None,
                }
            }
        }
    };
}

selectors! {
    "flow" => Flow(flow::OneValue),
    "random" => Random(random::Random),
    "oblivious" => Oblivious(oblivious::Oblivious),
    "bitmap" => Bitmap(bitmap::Bitmap),
    "reps" => Reps(reps::Reps),
    "mixed" => Mixed(mixed::Mixed),
    "mrc" => Mrc(mrc::Mrc),
    // What the caller brings along has no line here, but a name (`external.rs`).
    ; "python"
}
