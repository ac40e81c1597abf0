//! All controllers behind one type, so that an ACK costs a branch and no virtual call.

use super::{
    Ack, Balia, Bbr, CongestionControl, Coupling, Cubic, CubicParameters, HyStart, Lia, LossEpisode, Mprc,
    NewReno, Olia, Recovery,
};
use crate::CongestionConfig;
use anabranch_units::{Instant, Rate, Span};
use thiserror::Error;

/// A congestion controller by name. See the module for the list.
#[derive(Clone, Debug)]
pub enum Controller {
    /// RFC 5681.
    NewReno(NewReno),
    /// RFC 9438.
    Cubic(Cubic),
    /// BBR version 1; boxed, because it is several times the size of the others.
    Bbr(Box<Bbr>),
    /// Chang 2024, section 4.
    Mprc(Mprc),
    /// RFC 6356.
    Lia(Lia),
    /// Khalili 2012.
    Olia(Olia),
    /// Peng 2016.
    Balia(Balia),
}

/// A parameter of a congestion controller is out of range.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
pub enum ParameterError {
    /// CUBIC's beta.
    #[error("beta is {read}; it must be above 0 and below 1 (RFC 9438 uses 0.7)")]
    Beta {
        /// What it was.
        read: f64,
    },
    /// CUBIC's C.
    #[error("c is {read}; it must be a positive number (RFC 9438 uses 0.4)")]
    C {
        /// What it was.
        read: f64,
    },
}

impl CongestionConfig {
    /// Checks the ranges of the parameters; NaN is in no range.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let &Self::Cubic { beta, c, .. } = self else { return Ok(()) };
        if !(beta > 0.0 && beta < 1.0) {
            return Err(ParameterError::Beta { read: beta });
        }
        if !(c > 0.0 && c.is_finite()) {
            return Err(ParameterError::C { read: c });
        }
        Ok(())
    }
}

impl Controller {
    /// The controller that `config` names, for segments of `mss` payload bytes and an initial window in
    /// bytes. `seed` differs between flows; only BBR uses it, for the phases of its gain cycles.
    #[must_use]
    pub fn new(config: &CongestionConfig, mss: u32, initial_window: u64, seed: u64) -> Self {
        match *config {
            CongestionConfig::Newreno { hystart } => {
                let newreno = NewReno::new(mss, initial_window);
                Self::NewReno(if hystart { newreno.with_hystart(HyStart::new(mss)) } else { newreno })
            }
            CongestionConfig::Cubic { hystart, beta, c, fast_convergence } => {
                let parameters = CubicParameters { beta, c, fast_convergence };
                let cubic = Cubic::new(mss, initial_window, parameters);
                Self::Cubic(if hystart { cubic.with_hystart(HyStart::new(mss)) } else { cubic })
            }
            CongestionConfig::Bbr {} => Self::Bbr(Box::new(Bbr::new(mss, initial_window, seed))),
            CongestionConfig::Mprc {} => Self::Mprc(Mprc::new(mss, initial_window)),
            CongestionConfig::Lia {} => Self::Lia(Lia::new(mss, initial_window)),
            CongestionConfig::Olia {} => Self::Olia(Olia::new(mss, initial_window)),
            CongestionConfig::Balia {} => Self::Balia(Balia::new(mss, initial_window)),
        }
    }

    /// The same, for a sender that paces: HyStart++ then does not bound what one ACK may add to the
    /// window (RFC 9406 section 4.3). Without this call it takes the sender for unpaced.
    #[must_use]
    pub fn paced(mut self) -> Self {
        match &mut self {
            Self::NewReno(newreno) => newreno.set_paced(),
            Self::Cubic(cubic) => cubic.set_paced(),
            Self::Bbr(_) | Self::Mprc(_) | Self::Lia(_) | Self::Olia(_) | Self::Balia(_) => {}
        }
        self
    }
}

/// Passes a call on to whichever controller it is.
macro_rules! dispatch {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Controller::NewReno($controller) => $call,
            Controller::Cubic($controller) => $call,
            Controller::Bbr($controller) => $call,
            Controller::Mprc($controller) => $call,
            Controller::Lia($controller) => $call,
            Controller::Olia($controller) => $call,
            Controller::Balia($controller) => $call,
        }
    };
}

impl CongestionControl for Controller {
    #[inline]
    fn cwnd(&self) -> u64 {
        dispatch!(self, c => c.cwnd())
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        dispatch!(self, c => c.ssthresh())
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        dispatch!(self, c => c.pacing_rate())
    }

    fn phase(&self) -> &'static str {
        dispatch!(self, c => c.phase())
    }

    #[inline]
    fn governs_recovery(&self) -> bool {
        dispatch!(self, c => c.governs_recovery())
    }

    #[inline]
    fn answers_marks(&self) -> bool {
        dispatch!(self, c => c.answers_marks())
    }

    fn on_established(&mut self, now: Instant, rtt: Option<Span>) {
        dispatch!(self, c => c.on_established(now, rtt));
    }

    fn on_restart_after_idle(&mut self, now: Instant, idle: Span) {
        dispatch!(self, c => c.on_restart_after_idle(now, idle));
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        dispatch!(self, c => c.on_ack(ack));
    }

    fn forget_growth(&mut self, cwnd: u64) {
        dispatch!(self, c => c.forget_growth(cwnd));
    }

    fn on_loss(&mut self, episode: &LossEpisode) {
        dispatch!(self, c => c.on_loss(episode));
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        dispatch!(self, c => c.on_ecn(episode));
    }

    fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
        dispatch!(self, c => c.on_timeout(episode, first));
    }

    fn on_recovered(&mut self, now: Instant, from: Recovery) {
        dispatch!(self, c => c.on_recovered(now, from));
    }

    fn couple(&mut self, coupling: &Coupling) {
        dispatch!(self, c => c.couple(coupling));
    }

    fn loss_interval(&self) -> u64 {
        dispatch!(self, c => c.loss_interval())
    }

    fn penalise(&mut self) {
        dispatch!(self, c => c.penalise());
    }

    fn on_undo(&mut self, now: Instant) {
        dispatch!(self, c => c.on_undo(now));
    }
}
