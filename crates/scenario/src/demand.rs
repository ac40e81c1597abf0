//! Bounds of the traffic between routers.

use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{EMPTY, Form, Read};
use crate::traffic::PairRates;
use anabranch_units::Rate;

/// Most traffic that enters or leaves at routers.
#[derive(Clone, PartialEq, Debug)]
pub enum Hose {
    /// At each of them.
    Each(Rate),
    /// By name, with `*` for those that are not named.
    ByRouter(Vec<(String, Rate)>),
}

impl Read for Hose {
    fn form() -> Form {
        Form::OneOf(vec![Rate::form(), Form::Named(Box::new(Rate::form()), 1)])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let Value::Table(entries) = &node.value else {
            return Read::read(node, at, problems).map(Self::Each);
        };
        if entries.is_empty() {
            problems.add(at, EMPTY);
            return None;
        }
        let read = entries.iter().map(|(name, rate)| {
            let rate = Rate::read(rate, &at.key(name), problems);
            rate.map(|rate| (name.clone(), rate))
        });
        read.collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Self::ByRouter)
    }
}

/// Most traffic from a router to another.
#[derive(Clone, PartialEq, Debug)]
pub enum PairBound {
    /// Of each pair.
    Each(Rate),
    /// Of the pairs that are listed; a pair that is not has no traffic.
    Listed(PairRates),
}

impl Read for PairBound {
    fn form() -> Form {
        Form::OneOf(vec![Rate::form(), PairRates::form()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.table().is_some() {
            return Read::read(node, at, problems).map(Self::Listed);
        }
        Read::read(node, at, problems).map(Self::Each)
    }
}

crate::table! {
    /// The traffic matrices that may occur: all that keep these bounds, or one.
    ///
    /// Traffic enters and leaves at routers, which are the nodes that are no hosts; that of a host at the router
    /// of its first link. `ingress` and `egress` are the hose model, `pair` is the pipe model (Fukushima et
    /// al. 2016, section 3.1); what is left out is no bound.
    pub struct Demand {
        /// Most traffic that enters at each router for all others: a rate for each of them, or a table of rates by
        /// name, with `"*"` for those that it does not name.
        ingress: Option<Hose>;
        /// Most traffic that leaves at each router from all others, in the same forms.
        egress: Option<Hose>;
        /// Most traffic from a router to another: a rate for each pair, or where the rates are to be found. A pair
        /// that is not listed there has no traffic.
        pair: Option<PairBound>;
        /// In place of all of them: the one traffic matrix that there is. `anabranch load` says what it puts on each link, and
        /// robust schemes plan by it. The traffic of a host counts at its router.
        matrix: Option<PairRates>;
    }
    together |read, table| {
        let bounds =
            [("ingress", read.ingress.is_some()), ("egress", read.egress.is_some()), ("pair", read.pair.is_some())];
        if let (Some(_), Some((key, _))) = (&read.matrix, bounds.iter().find(|(_, is_given)| *is_given)) {
            let message = "matrix is the one matrix that there is, and needs no bounds; leave out one of the two";
            return table.refuse(key, message);
        }
        if read.matrix.is_some() {
            return Some(());
        }
        if read.ingress.is_none() && read.egress.is_none() && read.pair.is_none() {
            let message = "give ingress and egress, or pair, or all of them, or one matrix; without bounds loads have none";
            return table.refuse("ingress", message);
        }
        Some(())
    };
}
