//! All controllers behind one type, so that an ACK costs a branch and no virtual call.

use anabranch_units::declaration::Parameters;

/// What a controller starts from.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Initial window in bytes.
    pub initial_window: u64,
    /// Segments leave spaced, at least in slow start.
    pub paced: bool,
    /// Differs between flows; only BBR uses it, for what it draws: phases of gain cycles, times between probes.
    pub seed: u64,
    /// The peer acknowledges selectively, so that more than one loss in a round trip is seen.
    pub sack: bool,
    /// Reductions may be taken back: what was before them is to be remembered.
    pub undo: bool,
}

/// A controller that a scenario can name.
pub trait ConfiguredController {
    /// What it lets a user choose.
    type Parameters: Parameters;
    /// Whether it looks at the other subflows of a multipath connection.
    const COUPLED: bool = false;
    /// Whether it compares how often the subflows lose ([`crate::congestion::Coupling::olia_alpha`]).
    const COMPARES_LOSSES: bool = false;
    /// Whether it measures delivery rates, and so asks whether the application or the network was the limit.
    const MEASURES_RATE: bool = false;
    /// Whether it wants to hear of each lost segment ([`super::CongestionControl::on_segment_lost`]).
    const JUDGES_LOSSES: bool = false;
    /// Whether it counts ECN marks: the receiver echoes each of them (RFC 8257 section 3.2), and ECN has to be on.
    const NEEDS_MARKS: bool = false;

    /// The controller at the start of a connection; the parameters are within their bounds.
    fn configured(parameters: &Self::Parameters, start: Start) -> Self;
}

impl<C: ConfiguredController> ConfiguredController for Box<C> {
    type Parameters = C::Parameters;
    const COUPLED: bool = C::COUPLED;
    const COMPARES_LOSSES: bool = C::COMPARES_LOSSES;
    const MEASURES_RATE: bool = C::MEASURES_RATE;
    const JUDGES_LOSSES: bool = C::JUDGES_LOSSES;
    const NEEDS_MARKS: bool = C::NEEDS_MARKS;

    fn configured(parameters: &C::Parameters, start: Start) -> Self {
        Self::new(C::configured(parameters, start))
    }
}

/// Passes a call on to whichever controller it is.
macro_rules! each_controller {
    ($self:ident, $controller:ident => $call:expr; $($variant:ident)+) => {
        match $self { $( Controller::$variant($controller) => $call, )+ }
    };
}

/// Makes the configuration, the controller and the dispatch of one list of algorithms.
macro_rules! controllers {
    ($( $name:literal => $variant:ident($controller:ty) ),+ $(,)?; $external:literal) => {
        anabranch_units::registry! {
            /// How the congestion window is set.
            pub enum CongestionConfig: "congestion_control" {
                $( $name => $variant(<$controller as ConfiguredController>::Parameters), )+
                ; $external => External(External)
            }
        }

        impl CongestionConfig {
            /// Whether it looks at the other subflows of a multipath connection.
            #[must_use]
            pub(crate) const fn is_coupled(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$controller as ConfiguredController>::COUPLED, )+
                    Self::External(_) => false,
                }
            }

            /// Whether it compares how often the subflows lose.
            #[must_use]
            pub(crate) const fn compares_losses(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$controller as ConfiguredController>::COMPARES_LOSSES, )+
                    Self::External(_) => false,
                }
            }

            /// Whether it measures delivery rates.
            #[must_use]
            pub(crate) const fn measures_rate(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$controller as ConfiguredController>::MEASURES_RATE, )+
                    Self::External(external) => external.measures_rate,
                }
            }

            /// Whether it hears of each lost segment.
            #[must_use]
            pub(crate) const fn judges_losses(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$controller as ConfiguredController>::JUDGES_LOSSES, )+
                    Self::External(external) => external.judges_losses,
                }
            }

            /// Whether it counts ECN marks, each of which the receiver echoes.
            #[must_use]
            pub(crate) const fn needs_marks(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$controller as ConfiguredController>::NEEDS_MARKS, )+
                    Self::External(external) => external.counts_marks,
                }
            }
        }

        /// A congestion controller by name. See the module for the list.
        #[derive(Debug)]
        pub enum Controller {
            $( #[doc = concat!("`", $name, "`.")] $variant($controller), )+
            /// Code of the caller's own.
            External(Box<dyn ExternalControl>),
        }

        impl Controller {
            /// The controller that `config` names.
            #[must_use]
            pub fn new(config: &CongestionConfig, start: Start) -> Self {
                match config {
                    $( CongestionConfig::$variant(parameters) => {
                        Self::$variant(ConfiguredController::configured(parameters, start))
                    } )+
                    CongestionConfig::External(external) => Self::External(external.maker.get().control(external, start)),
                }
            }
        }

        dispatch_controllers!($($variant)+ External);
    };
}

/// Passes every call of [`super::CongestionControl`] on.
macro_rules! dispatch_controllers {
    ($($variant:ident)+) => {
        impl Controller {
            /// [`CongestionControl::on_ack`](crate::congestion::CongestionControl::on_ack), with facts that are made where
            /// a controller looks at them: most look at few.
            #[inline(always)]
            pub(crate) fn take_ack(&mut self, ack: impl FnOnce() -> Ack) {
                each_controller!(self, c => c.on_ack(&ack()); $($variant)+);
            }
        }

        impl CongestionControl for Controller {
            #[inline]
            fn cwnd(&self) -> u64 {
                each_controller!(self, c => c.cwnd(); $($variant)+)
            }

            #[inline]
            fn ssthresh(&self) -> u64 {
                each_controller!(self, c => c.ssthresh(); $($variant)+)
            }

            #[inline]
            fn pacing_rate(&self) -> Option<Rate> {
                each_controller!(self, c => c.pacing_rate(); $($variant)+)
            }

            #[inline]
            fn send_quantum(&self) -> u64 {
                each_controller!(self, c => c.send_quantum(); $($variant)+)
            }

            fn phase(&self) -> &'static str {
                each_controller!(self, c => c.phase(); $($variant)+)
            }

            #[inline]
            fn governs_recovery(&self) -> bool {
                each_controller!(self, c => c.governs_recovery(); $($variant)+)
            }

            #[inline]
            fn answers_marks(&self) -> bool {
                each_controller!(self, c => c.answers_marks(); $($variant)+)
            }

            fn on_established(&mut self, now: Instant, rtt: Option<Span>) {
                each_controller!(self, c => c.on_established(now, rtt); $($variant)+);
            }

            fn on_restart_after_idle(&mut self, now: Instant, idle: Span, rto: Span) {
                each_controller!(self, c => c.on_restart_after_idle(now, idle, rto); $($variant)+);
            }

            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                each_controller!(self, c => c.on_ack(ack); $($variant)+);
            }

            fn forget_growth(&mut self, cwnd: u64) {
                each_controller!(self, c => c.forget_growth(cwnd); $($variant)+);
            }

            fn on_segment_lost(&mut self, lost: &LostSegment) {
                each_controller!(self, c => c.on_segment_lost(lost); $($variant)+);
            }

            fn on_loss(&mut self, episode: &LossEpisode) {
                each_controller!(self, c => c.on_loss(episode); $($variant)+);
            }

            fn on_ecn_feedback(&mut self, feedback: &EcnFeedback) {
                each_controller!(self, c => c.on_ecn_feedback(feedback); $($variant)+);
            }

            fn on_ecn(&mut self, episode: &LossEpisode) {
                each_controller!(self, c => c.on_ecn(episode); $($variant)+);
            }

            fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
                each_controller!(self, c => c.on_timeout(episode, first); $($variant)+);
            }

            fn on_recovered(&mut self, now: Instant, from: Recovery) {
                each_controller!(self, c => c.on_recovered(now, from); $($variant)+);
            }

            fn couple(&mut self, coupling: &Coupling) {
                each_controller!(self, c => c.couple(coupling); $($variant)+);
            }

            fn loss_interval(&self) -> u64 {
                each_controller!(self, c => c.loss_interval(); $($variant)+)
            }

            fn penalise(&mut self) {
                each_controller!(self, c => c.penalise(); $($variant)+);
            }

            fn on_undo(&mut self, now: Instant) {
                each_controller!(self, c => c.on_undo(now); $($variant)+);
            }
        }
    };
}
