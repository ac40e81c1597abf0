//! Collective operations, and entries that wait for others.

use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, read_some, some_of};
use anabranch_units::declaration::at_least;
use anabranch_units::{Bytes, Span};

crate::choices! {
    /// What hosts do together.
    pub enum Operation {
        /// Each sends a part of its data to each other one.
        "all-to-all" => AllToAll,
        /// Sums of all data at each host, around a ring: two rounds of parts.
        "ring-all-reduce" => RingAllReduce,
        /// All data at each host, around a ring.
        "all-gather" => AllGather,
        /// A part of the sums at each host, around a ring.
        "reduce-scatter" => ReduceScatter,
    }
}

crate::table! {
    /// A collective operation of the nodes in `from`, in their order, with a flow for each part and step.
    ///
    /// With N nodes each part is an N-th of `bytes`. Around the ring part c starts at the c-th node; a node sends it on to the
    /// next one when it has arrived whole. `ring-all-reduce` has 2 (N - 1) steps, `all-gather` and `reduce-scatter` have N - 1. In
    /// `all-to-all` each node sends to the n-th one behind it in step n.
    pub struct Collective {
        /// What it is.
        operation: Operation;
        /// Data of each node.
        bytes: Bytes, at_least(Bytes(1));
        /// Time from the arrival of a part until it is sent on.
        compute: Span = Span::ZERO;
        /// Of `all-to-all`: all steps at once; otherwise a node begins a step when its part of the step before has arrived.
        at_once: bool = true;
    }
}

/// Names of entries that have to be complete.
#[derive(Clone, PartialEq, Debug)]
pub struct After(pub Vec<String>);

impl Read for After {
    fn form() -> Form {
        Form::OneOf(vec![Form::Text, some_of::<String>()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::List(_) => read_some(node, at, problems).map(Self),
            _ => <String as Read>::read(node, at, problems).map(|name| Self(vec![name])),
        }
    }
}
