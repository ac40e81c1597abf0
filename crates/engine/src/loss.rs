//! Random loss of a link.

use crate::random::{Stream, Threshold};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Random loss of a link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSetup {
    /// No random loss.
    None {},
    /// Each packet independently.
    Bernoulli {
        /// Probability, 0..1.
        probability: f64,
    },
    /// Two states with a loss each (Gilbert 1960, Elliott 1963); the state moves once a packet.
    GilbertElliott {
        /// Probability of going from good to bad at a packet.
        to_bad: f64,
        /// Probability of going from bad to good at a packet.
        to_good: f64,
        /// Loss in the good state.
        loss_good: f64,
        /// Loss in the bad state.
        loss_bad: f64,
    },
}

/// A parameter of a loss model is no probability.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
#[error("{model}: {parameter} is {value}, but must be a probability, 0 to 1")]
pub struct LossError {
    /// Loss model, as in [`LossSetup`]'s text form.
    pub model: &'static str,
    /// Name of the parameter.
    pub parameter: &'static str,
    /// What was given.
    pub value: f64,
}

/// The loss process of one link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss(Model);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Model {
    None,
    Bernoulli(Threshold),
    GilbertElliott {
        bad: bool,
        to_bad: Threshold,
        to_good: Threshold,
        loss_good: Threshold,
        loss_bad: Threshold,
    },
}

impl Loss {
    /// The process from its beginning; Gilbert-Elliott starts in the good state.
    ///
    /// # Errors
    /// If a parameter is not in 0..=1.
    pub fn new(setup: &LossSetup) -> Result<Self, LossError> {
        Ok(Self(match *setup {
            LossSetup::None {} => Model::None,
            LossSetup::Bernoulli { probability } => {
                Model::Bernoulli(threshold("bernoulli", "probability", probability)?)
            }
            LossSetup::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let threshold = |parameter, value| threshold("gilbert-elliott", parameter, value);
                Model::GilbertElliott {
                    bad: false,
                    to_bad: threshold("to_bad", to_bad)?,
                    to_good: threshold("to_good", to_good)?,
                    loss_good: threshold("loss_good", loss_good)?,
                    loss_bad: threshold("loss_bad", loss_bad)?,
                }
            }
        }))
    }

    /// Whether the next packet is lost. Gilbert-Elliott first moves its state, then draws the loss of
    /// the state it is in now. Takes no draw without loss, one for Bernoulli, two for
    /// Gilbert-Elliott, whatever the state and the probabilities.
    #[inline]
    pub fn lost(&mut self, stream: &mut Stream) -> bool {
        match &mut self.0 {
            Model::None => false,
            Model::Bernoulli(probability) => stream.chance(*probability),
            Model::GilbertElliott { bad, to_bad, to_good, loss_good, loss_bad } => {
                *bad ^= stream.chance(if *bad { *to_good } else { *to_bad });
                stream.chance(if *bad { *loss_bad } else { *loss_good })
            }
        }
    }
}

fn threshold(model: &'static str, parameter: &'static str, value: f64) -> Result<Threshold, LossError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(Threshold::new(value));
    }
    Err(LossError { model, parameter, value })
}

/// The share of packets lost in the long run. Gilbert-Elliott is in the bad state for
/// `to_bad / (to_bad + to_good)` of the packets; if it never moves, it stays in the good one.
#[must_use]
pub fn mean_loss(setup: &LossSetup) -> f64 {
    match *setup {
        LossSetup::None {} => 0.0,
        LossSetup::Bernoulli { probability } => probability,
        LossSetup::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            let bad = if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
            (1.0 - bad) * loss_good + bad * loss_bad
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    const PACKETS: usize = 1_000_000;

    fn losses(setup: &LossSetup) -> Vec<bool> {
        let mut loss = Loss::new(setup).expect("probabilities");
        let mut stream = Streams::new(1, 0).stream("a->b", "loss");
        (0..PACKETS).map(|_| loss.lost(&mut stream)).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    /// Mean length of the runs of lost packets.
    fn mean_burst(losses: &[bool]) -> f64 {
        let starts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count() + usize::from(losses[0]);
        losses.iter().filter(|lost| **lost).count() as f64 / starts as f64
    }

    #[test]
    fn bernoulli_loses_the_share_asked_for() {
        for probability in [1e-4, 0.01, 0.5] {
            let lost = share(&losses(&LossSetup::Bernoulli { probability }));
            let error = (probability * (1.0 - probability) / PACKETS as f64).sqrt();
            assert!((lost - probability).abs() < 4.0 * error, "{lost}, not {probability}");
        }
        assert_eq!(share(&losses(&LossSetup::Bernoulli { probability: 0.0 })), 0.0);
        assert_eq!(share(&losses(&LossSetup::Bernoulli { probability: 1.0 })), 1.0);
        assert_eq!(share(&losses(&LossSetup::None {})), 0.0);
    }

    /// Gilbert's simple model loses all in the bad state and nothing in the good one, so bursts are
    /// stays in the bad state: geometric, with mean 1 / to_good and deviation sqrt(1 - g) / g.
    #[test]
    fn simple_gilbert_bursts_are_geometric() {
        let setup = LossSetup::GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_good: 0.0, loss_bad: 1.0 };
        let losses = losses(&setup);
        let bursts = share(&losses) * PACKETS as f64 / mean_burst(&losses);
        let error = 0.8f64.sqrt() / 0.2 / bursts.sqrt();
        assert!((mean_burst(&losses) - 5.0).abs() < 4.0 * error, "{}", mean_burst(&losses));
        // Variance of the mean of a two-state chain: pi (1 - pi) (1 + r) / (1 - r) / n, r = 1 - 0.21.
        let bad: f64 = 0.01 / 0.21;
        let error = (bad * (1.0 - bad) * 1.79 / 0.21 / PACKETS as f64).sqrt();
        assert!((share(&losses) - bad).abs() < 4.0 * error, "{}", share(&losses));
        assert!((mean_loss(&setup) - bad).abs() < 1e-15);
    }

    /// Mean burst = P(loss) / P(a loss after none) with the probability of two losses in a row summed
    /// over the states of both packets.
    #[test]
    fn gilbert_elliott_agrees_with_its_closed_forms() {
        let (to_bad, to_good, loss_good, loss_bad) = (0.05, 0.3, 0.02, 0.6);
        let setup = LossSetup::GilbertElliott { to_bad, to_good, loss_good, loss_bad };
        let losses = losses(&setup);
        let bad = to_bad / (to_bad + to_good);
        let mean = (1.0 - bad) * loss_good + bad * loss_bad;
        let twice = (1.0 - bad) * loss_good * ((1.0 - to_bad) * loss_good + to_bad * loss_bad)
            + bad * loss_bad * ((1.0 - to_good) * loss_bad + to_good * loss_good);
        let burst = mean / (mean - twice);
        assert!((share(&losses) / mean - 1.0).abs() < 0.02, "{} not {mean}", share(&losses));
        assert!((mean_burst(&losses) / burst - 1.0).abs() < 0.02, "{} not {burst}", mean_burst(&losses));
        assert!((mean_loss(&setup) - mean).abs() < 1e-15);
    }

    /// The order of the two draws: with certain moves, the first packet already sees the bad state.
    #[test]
    fn the_state_moves_before_the_loss_is_drawn() {
        let setup = LossSetup::GilbertElliott { to_bad: 1.0, to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
        assert_eq!(losses(&setup)[..4], [true, false, true, false]);
    }

    #[test]
    fn a_chain_that_never_moves_stays_good() {
        let setup = LossSetup::GilbertElliott { to_bad: 0.0, to_good: 0.0, loss_good: 0.0, loss_bad: 1.0 };
        assert_eq!((mean_loss(&setup), share(&losses(&setup))), (0.0, 0.0));
    }

    #[test]
    fn each_packet_takes_the_same_number_of_draws() {
        let gilbert = LossSetup::GilbertElliott { to_bad: 0.5, to_good: 0.5, loss_good: 0.0, loss_bad: 1.0 };
        for (setup, draws) in
            [(LossSetup::None {}, 0), (LossSetup::Bernoulli { probability: 0.0 }, 1), (gilbert, 2)]
        {
            let mut loss = Loss::new(&setup).expect("probabilities");
            let mut stream = Streams::new(1, 0).stream("a->b", "loss");
            let mut other = stream.clone();
            for _ in 0..100 {
                loss.lost(&mut stream);
                for _ in 0..draws {
                    let _ = other.next_u64();
                }
            }
            assert_eq!(stream, other, "{setup:?}");
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        let error = Loss::new(&LossSetup::Bernoulli { probability: 1.5 }).expect_err("refused");
        assert_eq!(error.to_string(), "bernoulli: probability is 1.5, but must be a probability, 0 to 1");
        for probability in [-0.1, f64::NAN, f64::INFINITY] {
            let setup = LossSetup::GilbertElliott {
                to_bad: 0.1,
                to_good: 0.1,
                loss_good: probability,
                loss_bad: 1.0,
            };
            assert_eq!(Loss::new(&setup).expect_err("refused").parameter, "loss_good");
        }
    }
}
