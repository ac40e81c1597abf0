//! What links are like, as a scenario has it.

use super::conditions::{Chance, Policer, Reorder, Shaper};
use super::queue::Queue;
use crate::algorithm::{configured, declared, read_algorithm};
use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Quantity, Read, Reading, Speed, Within};
use crate::variate::Drawn;
use crate::words::quoted;
use anabranch_engine::loss::{LossSetup, mean_loss};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Rate, Span};
use serde_json::json;

crate::choices! {
    /// Where a delay comes from.
    pub enum From {
        /// The length of the link.
        "distance" => Distance,
    }
}

crate::choices! {
    /// Which directions of a link are meant.
    pub enum Direction {
        /// Both.
        "both" => Both,
        /// From the first node that is named to the second.
        "forward" => Forward,
        /// From the second to the first.
        "backward" => Backward,
    }
}

crate::table! {
    /// Propagation delay from the length of a link.
    pub struct DistanceDelay {
        /// Always `distance`: the length of the link, mostly the great-circle distance of its ends.
        source as "from": From;
        /// Speed of propagation; light in fibre does about 200 km/ms.
        speed: Speed = Speed(200_000_000), above(Speed(0));
        /// Added to every link, for what equipment takes.
        plus: Span = Span::ZERO;
    }
}

/// A propagation delay.
#[derive(Clone, PartialEq, Debug)]
pub enum Delay {
    /// From the length of the link.
    Distance(DistanceDelay),
    /// Given, or drawn for each link.
    Drawn(Drawn<Span>),
}

impl Read for Delay {
    fn form() -> Form {
        let mut forms = Drawn::<Span>::forms();
        forms.insert(1, DistanceDelay::form());
        Form::OneOf(forms)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.text() == Some("distance") {
            let message =
                "\"distance\" is a table; write { from = \"distance\" }, and speed or plus if you like";
            problems.add(at, message);
            return None;
        }
        if node.table().is_some() && !node.has("distribution") {
            return Read::read(node, at, problems).map(Self::Distance);
        }
        Read::read(node, at, problems).map(Self::Drawn)
    }
}

/// Random loss: a probability, or a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Loss(pub LossSetup);

impl Loss {
    /// Each packet is lost with this probability.
    #[must_use]
    pub fn with_probability(probability: f64) -> Self {
        if probability <= 0.0 {
            return Self(LossSetup::named("none").expect("a name of the registry"));
        }
        let model = json!({ "algorithm": "bernoulli", "probability": probability });
        Self(serde_json::from_value(model).expect("a probability makes a model"))
    }
}

impl Read for Loss {
    fn form() -> Form {
        Form::OneOf(vec![f64::form_within(&at_least(0.0).below(1.0)), Form::Algorithm("loss")])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let is_model =
            node.table().is_some() || node.text().is_some_and(|name| declared("loss", name).is_some());
        if !is_model {
            let share = f64::read(node, at, problems)?;
            if let Some(message) = share.outside(node, &at_least(0.0).below(1.0)) {
                problems.add(at, message);
                return None;
            }
            return Some(Self::with_probability(share));
        }
        let configuration = read_algorithm("loss", node, at, problems)?;
        let setup: LossSetup = configured(&configuration, at, problems)?;
        if mean_loss(&setup) >= 1.0 {
            let message = "every packet would be lost; a link that carries nothing is an event with state = \
                           \"down\"";
            problems.add(at, message);
            return None;
        }
        Some(Self(setup))
    }
}

/// What is added to the delay of each packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Jitter(pub Drawn<Span>);

impl Read for Jitter {
    fn form() -> Form {
        Drawn::<Span>::form()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let drawn = Drawn::<Span>::read(node, at, problems)?;
        if let Some(constant) = drawn.constant().filter(|&span| span > Span::ZERO) {
            let text = quoted(&constant.text());
            let message = format!(
                "{text} is the same for every packet, and jitter is random; add it to delay, or write \
                 {{ distribution = \"uniform\", low = \"0 s\", high = {text} }}"
            );
            problems.add(at, message);
            return None;
        }
        Some(Self(drawn))
    }
}

crate::table! {
    /// What a link is like; whatever is left out comes from the next more general place.
    pub struct LinkSettings {
        /// Rate of serialisation, such as `"10 Mbps"`.
        capacity: Option<Rate>, above(Rate::from_bps(0));
        /// Propagation delay: `"5 ms"`, `{ from = "distance", speed = "200 km/ms", plus = "1 ms" }`, or a
        /// distribution of which each link draws its own; left out everywhere, from the distance at 200 km/ms.
        delay: Option<Delay>;
        /// Room for waiting packets, drop-tail: `"100 packets"` (also where it is left out), `"64 kB"`,
        /// `"20 ms"` at the link's capacity, `"1 BDP"`, `"unlimited"`, or a list of them; or another queue
        /// discipline, by name or with its parameters: `{ algorithm = "codel", limit = "64 kB", ecn = true }`.
        queue: Option<Queue>;
        /// Random loss: the probability for each packet, or a table such as `{ algorithm = "gilbert-elliott",
        /// to_bad = 0.001, to_good = 0.3 }`.
        loss: Option<Loss>;
        /// What the link costs where `routing.metric` is `"weight"`: the cost that the operator gives it for
        /// OSPF or IS-IS; a whole number.
        weight: Option<u32>, at_least(1);
        /// Random, and added to the delay of each packet; packets stay in order.
        jitter: Option<Jitter>;
        /// A token bucket for which what waits in the queue has to wait: `{ rate = "20 Mbps", burst = "40 kB" }`.
        shaper: Option<Shaper>;
        /// A token bucket at the link's other end, which drops what comes too fast: `{ rate = "20 Mbps", burst = "40 kB" }`.
        policer: Option<Policer>;
        /// Packets that overtake others: `{ probability = 0.25, correlation = 0.5, gap = 5 }`.
        reorder: Option<Reorder>;
        /// Packets that arrive twice: the probability for each, or a table with it and a correlation.
        duplicate: Option<Chance>;
        /// Packets that are damaged: the probability for each, or a table with it and a correlation. They are carried
        /// like all others, and dropped by the host that they are for, because their checksum is wrong.
        corrupt: Option<Chance>;
    }
    layered over;
}

crate::table! {
    /// Which links between two nodes are meant.
    pub struct LinkSelector {
        /// Which of several parallel links, counted from 1; left out: all of them.
        index: Option<u32>, at_least(1);
        /// Forward is from the first node that is named to the second.
        direction: Direction = Direction::Both;
    }
}

crate::table! {
    /// Settings of single links; or, with `new = true`, one more link.
    pub struct LinkOverride: selector: LinkSelector, settings: LinkSettings {
        /// The two nodes at its ends.
        between: [String; 2];
        /// The topology does not have this link: add it.
        new: bool = false;
    }
    together ends_differ;
}

fn ends_differ(read: &LinkOverride, table: &mut Reading<'_, '_>) -> Option<()> {
    if read.between[0] == read.between[1] {
        let message = format!("names {} twice; a link joins two nodes", quoted(&read.between[0]));
        return table.refuse("between", message);
    }
    if read.new && read.selector.index.is_some() {
        return table
            .refuse("index", "a new link has no index yet; it is counted after those that are there");
    }
    Some(())
}
