//! Random loss of a link: each model with its parameters and its process, and a line in the list below.

use crate::random::{ChanceThreshold, Stream};
use anabranch_units::declaration::Parameters;
use anabranch_units::declaration::{Ordinals, at_least};

/// A model of loss: its parameters make its process.
trait LossModel: Parameters {
    /// The process of one link.
    type Process;

    /// The process from its beginning; the parameters are within their bounds.
    fn start(&self) -> Self::Process;

    /// The share of packets lost in the long run.
    fn mean(&self) -> f64;
}

/// A process that loses packets.
trait Losses {
    /// Whether the next packet is lost; `data` says whether it carries data. Each packet takes the same number of
    /// draws, whatever the state and the probabilities.
    fn lost(&mut self, data: impl FnOnce() -> bool, stream: &mut Stream) -> bool;
}

/// Makes the configuration, the process and the dispatch of one list.
macro_rules! loss_models {
    ($( $name:literal => $variant:ident($model:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// Random loss of a link.
            pub enum LossSetup: "loss" {
                $( $name => $variant($model), )+
            }
        }

        #[derive(Clone, PartialEq, Eq, Debug)]
        enum Process {
            $( $variant(<$model as LossModel>::Process), )+
        }

        /// The loss process of one link.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Loss(Process);

        impl Loss {
            /// The process from its beginning; the parameters are within their bounds.
            #[must_use]
            pub fn new(setup: &LossSetup) -> Self {
                Self(match setup {
                    $( LossSetup::$variant(model) => Process::$variant(model.start()), )+
                })
            }

            /// Whether the next packet is lost; `data` says whether it carries data.
            #[inline]
            pub fn lost(&mut self, data: impl FnOnce() -> bool, stream: &mut Stream) -> bool {
                match &mut self.0 {
                    $( Process::$variant(process) => process.lost(data, stream), )+
                }
            }
        }

        /// The share of packets lost in the long run.
        #[must_use]
        pub fn mean_loss(setup: &LossSetup) -> f64 {
            match setup {
                $( LossSetup::$variant(model) => model.mean(), )+
            }
        }
    };
}

loss_models! {
    "none" => None(NoLoss),
    "bernoulli" => Bernoulli(Bernoulli),
    "gilbert-elliott" => GilbertElliott(GilbertElliott),
    "periodic" => Periodic(Periodic),
    "trace" => Trace(Trace),
}

anabranch_units::parameters! {
    /// No random loss.
    #[derive(Copy)]
    pub struct NoLoss {}
}

/// The process of [`NoLoss`], which takes no draw.
#[derive(Clone, PartialEq, Eq, Debug)]
struct NoLosses;

impl LossModel for NoLoss {
    type Process = NoLosses;

    fn start(&self) -> NoLosses {
        NoLosses
    }

    fn mean(&self) -> f64 {
        0.0
    }
}

impl Losses for NoLosses {
    #[inline]
    fn lost(&mut self, _: impl FnOnce() -> bool, _: &mut Stream) -> bool {
        false
    }
}

anabranch_units::parameters! {
    /// Each packet is lost independently.
    #[derive(Copy)]
    pub struct Bernoulli {
        /// Probability.
        probability: f64 = f64::NAN, at_least(0.0).at_most(1.0);
    }
}

/// The process of [`Bernoulli`], which takes one draw.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Independent(ChanceThreshold);

impl LossModel for Bernoulli {
    type Process = Independent;

    fn start(&self) -> Independent {
        Independent(ChanceThreshold::new(self.probability))
    }

    fn mean(&self) -> f64 {
        self.probability
    }
}

impl Losses for Independent {
    #[inline]
    fn lost(&mut self, _: impl FnOnce() -> bool, stream: &mut Stream) -> bool {
        stream.chance(self.0)
    }
}

anabranch_units::parameters! {
    /// Loss in bursts: a good and a bad state with a loss each (Gilbert 1960, Elliott 1963). It starts in the good
    /// one; the state moves once a packet.
    #[derive(Copy)]
    pub struct GilbertElliott {
        /// Probability of going from good to bad, at each packet.
        to_bad: f64 = f64::NAN, at_least(0.0).at_most(1.0);
        /// Probability of going from bad to good, at each packet.
        to_good: f64 = f64::NAN, at_least(0.0).at_most(1.0);
        /// Loss in the good state.
        loss_good: f64 = 0.0, at_least(0.0).at_most(1.0);
        /// Loss in the bad state.
        loss_bad: f64 = 1.0, at_least(0.0).at_most(1.0);
    }
}

/// The process of [`GilbertElliott`], which takes two draws.
#[derive(Clone, PartialEq, Eq, Debug)]
struct TwoStates {
    bad: bool,
    to_bad: ChanceThreshold,
    to_good: ChanceThreshold,
    loss_good: ChanceThreshold,
    loss_bad: ChanceThreshold,
}

impl LossModel for GilbertElliott {
    type Process = TwoStates;

    fn start(&self) -> TwoStates {
        TwoStates {
            bad: false,
            to_bad: ChanceThreshold::new(self.to_bad),
            to_good: ChanceThreshold::new(self.to_good),
            loss_good: ChanceThreshold::new(self.loss_good),
            loss_bad: ChanceThreshold::new(self.loss_bad),
        }
    }

    /// It is in the bad state for `to_bad / (to_bad + to_good)` of the packets; if it never moves, it stays in the
    /// good one.
    fn mean(&self) -> f64 {
        let bad = if self.to_bad > 0.0 { self.to_bad / (self.to_bad + self.to_good) } else { 0.0 };
        (1.0 - bad) * self.loss_good + bad * self.loss_bad
    }
}

impl Losses for TwoStates {
    /// First the state moves, then the loss of the state it is in now is drawn.
    #[inline]
    fn lost(&mut self, _: impl FnOnce() -> bool, stream: &mut Stream) -> bool {
        self.bad ^= stream.chance(if self.bad { self.to_good } else { self.to_bad });
        stream.chance(if self.bad { self.loss_bad } else { self.loss_good })
    }
}

anabranch_units::parameters! {
    /// One packet of each 1/probability is lost, as in the model of Mathis, Semke, Mahdavi and Ott (1997, section 2):
    /// n packets lose n times the probability, but for one. Where the first loss falls is drawn.
    #[derive(Copy)]
    pub struct Periodic {
        /// Share of the packets that is lost.
        probability: f64 = f64::NAN, at_least(0.0).at_most(1.0);
    }
}

/// The process of [`Periodic`], which takes one draw at its first packet.
#[derive(Clone, PartialEq, Eq, Debug)]
struct EvenlySpaced {
    /// What each packet adds, in units of 2^-63 losses.
    step: u64,
    /// What has been added since the last loss, below one loss; none before the first packet.
    since_loss: Option<u64>,
}

impl EvenlySpaced {
    const ONE_LOSS: u64 = 1 << 63;
}

impl LossModel for Periodic {
    type Process = EvenlySpaced;

    fn start(&self) -> EvenlySpaced {
        let step = (self.probability * EvenlySpaced::ONE_LOSS as f64).round() as u64;
        EvenlySpaced { step, since_loss: None }
    }

    fn mean(&self) -> f64 {
        self.probability
    }
}

impl Losses for EvenlySpaced {
    #[inline]
    fn lost(&mut self, _: impl FnOnce() -> bool, stream: &mut Stream) -> bool {
        let before = self.since_loss.unwrap_or_else(|| stream.next_u64() >> 1);
        let sum = before + self.step;
        let lost = sum >= Self::ONE_LOSS;
        self.since_loss = Some(if lost { sum - Self::ONE_LOSS } else { sum });
        lost
    }
}

anabranch_units::parameters! {
    /// The packets with data that a measurement lost, by their place among those that the link has sent; nothing else
    /// is lost. So simulated and measured connections can lose the same packets.
    pub struct Trace {
        /// Which packets with data are lost: 1 is the first that the link sends. Retransmissions count, SYNs, FINs
        /// and ACKs without data do not; a train counts as one.
        packets: Ordinals = Ordinals::default();
    }
}

/// The process of [`Trace`], which takes no draw.
#[derive(Clone, PartialEq, Eq, Debug)]
struct TracedLosses {
    /// Packets with data seen so far.
    seen: u64,
    /// Those lost, the next one last.
    ahead: Vec<u64>,
}

impl LossModel for Trace {
    type Process = TracedLosses;

    fn start(&self) -> TracedLosses {
        TracedLosses { seen: 0, ahead: self.packets.0.iter().rev().copied().collect() }
    }

    /// Over the packets up to the last that is lost; what comes behind it has no end.
    fn mean(&self) -> f64 {
        let lost = self.packets.0.len() as f64;
        self.packets.0.last().map_or(0.0, |&last| lost / last as f64)
    }
}

impl Losses for TracedLosses {
    #[inline]
    fn lost(&mut self, data: impl FnOnce() -> bool, _: &mut Stream) -> bool {
        let data = data();
        self.seen += u64::from(data);
        let lost = data && self.ahead.last() == Some(&self.seen);
        if lost {
            self.ahead.pop();
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    const PACKETS: usize = 1_000_000;

    fn losses(setup: &LossSetup) -> Vec<bool> {
        let mut loss = Loss::new(setup);
        let mut stream = Streams::new(1, 0).stream("a->b", "loss");
        (0..PACKETS).map(|_| loss.lost(|| true, &mut stream)).collect()
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
            let lost = share(&losses(&LossSetup::Bernoulli(Bernoulli { probability })));
            let error = (probability * (1.0 - probability) / PACKETS as f64).sqrt();
            assert!((lost - probability).abs() < 4.0 * error, "{lost}, not {probability}");
        }
        assert_eq!(share(&losses(&LossSetup::Bernoulli(Bernoulli { probability: 0.0 }))), 0.0);
        assert_eq!(share(&losses(&LossSetup::Bernoulli(Bernoulli { probability: 1.0 }))), 1.0);
        assert_eq!(share(&losses(&LossSetup::None(NoLoss {}))), 0.0);
    }

    /// Gilbert's simple model loses all in the bad state and nothing in the good one, so bursts are
    /// stays in the bad state: geometric, with mean 1 / to_good and deviation sqrt(1 - g) / g.
    #[test]
    fn simple_gilbert_bursts_are_geometric() {
        let setup = LossSetup::GilbertElliott(GilbertElliott {
            to_bad: 0.01,
            to_good: 0.2,
            loss_good: 0.0,
            loss_bad: 1.0,
        });
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
        let setup = LossSetup::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good, loss_bad });
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
        let setup = LossSetup::GilbertElliott(GilbertElliott {
            to_bad: 1.0,
            to_good: 1.0,
            loss_good: 0.0,
            loss_bad: 1.0,
        });
        assert_eq!(losses(&setup)[..4], [true, false, true, false]);
    }

    #[test]
    fn a_chain_that_never_moves_stays_good() {
        let setup = LossSetup::GilbertElliott(GilbertElliott {
            to_bad: 0.0,
            to_good: 0.0,
            loss_good: 0.0,
            loss_bad: 1.0,
        });
        assert_eq!((mean_loss(&setup), share(&losses(&setup))), (0.0, 0.0));
    }

    #[test]
    fn each_packet_takes_the_same_number_of_draws() {
        let gilbert = LossSetup::GilbertElliott(GilbertElliott {
            to_bad: 0.5,
            to_good: 0.5,
            loss_good: 0.0,
            loss_bad: 1.0,
        });
        for (setup, draws) in [
            (LossSetup::None(NoLoss {}), 0),
            (LossSetup::Bernoulli(Bernoulli { probability: 0.0 }), 1),
            (gilbert, 2),
        ] {
            let mut loss = Loss::new(&setup);
            let mut stream = Streams::new(1, 0).stream("a->b", "loss");
            let mut other = stream.clone();
            for _ in 0..100 {
                loss.lost(|| true, &mut stream);
                for _ in 0..draws {
                    let _ = other.next_u64();
                }
            }
            assert_eq!(stream, other, "{setup:?}");
        }
    }

    /// As many are lost as the probability says, to one packet, and the distances differ by one at most.
    #[test]
    fn periodic_losses_are_evenly_spaced() {
        for probability in [0.0, 1e-4, 0.003, 0.3, 1.0] {
            let losses = losses(&LossSetup::Periodic(Periodic { probability }));
            let places: Vec<_> = (0..PACKETS).filter(|&place| losses[place]).collect();
            let expected = probability * PACKETS as f64;
            assert!((places.len() as f64 - expected).abs() <= 1.0, "{} not {expected}", places.len());
            for pair in places.windows(2) {
                let distance = (pair[1] - pair[0]) as f64;
                assert!((distance - 1.0 / probability).abs() <= 1.0, "{distance} at {probability}");
            }
        }
    }

    /// Two links with the same loss do not lose in step: the first loss is drawn.
    #[test]
    fn the_first_periodic_loss_is_drawn() {
        let setup = LossSetup::Periodic(Periodic { probability: 0.01 });
        let first = |link: &str| {
            let (mut loss, mut stream) = (Loss::new(&setup), Streams::new(1, 0).stream(link, "loss"));
            (0..100).position(|_| loss.lost(|| true, &mut stream)).expect("one in a hundred")
        };
        let mut places: Vec<_> = (0..20).map(|link| first(&format!("a{link}->b"))).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 10, "{places:?}");
    }

    #[test]
    fn a_trace_loses_the_packets_with_data_that_it_names() {
        let trace = Trace { packets: Ordinals(vec![1, 3, 4]) };
        assert_eq!(trace.mean(), 0.75);
        let mut process = trace.start();
        let mut stream = Streams::new(1, 0).stream("a->b", "loss");
        let packets = [false, true, false, true, true, false, true, true];
        let lost = packets.map(|data| process.lost(|| data, &mut stream));
        assert_eq!(lost, [false, true, false, false, true, false, true, false]);
    }

    #[test]
    fn a_trace_out_of_order_is_refused() {
        let refused = |packets: &[u64]| {
            let packets = Ordinals(packets.to_vec());
            LossSetup::Trace(Trace { packets }).check().expect_err("refused").to_string()
        };
        assert_eq!(refused(&[0]), "packets.0 is 0; it must be above 0, since the numbers rise from 1");
        assert_eq!(refused(&[7, 9, 9]), "packets.2 is 9; it must be above 9, since the numbers rise from 1");
        assert_eq!(LossSetup::Trace(Trace { packets: Ordinals(vec![]) }).check(), Ok(()));
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        let error = LossSetup::Bernoulli(Bernoulli { probability: 1.5 }).check().expect_err("refused");
        assert_eq!(error.to_string(), "probability is 1.5; it must be at least 0 and at most 1");
        for loss_good in [-0.1, f64::NAN, f64::INFINITY] {
            let setup = GilbertElliott { to_bad: 0.1, to_good: 0.1, loss_good, loss_bad: 1.0 };
            let error = LossSetup::GilbertElliott(setup).check().expect_err("refused");
            assert_eq!(error.parameter, "loss_good");
        }
    }
}
