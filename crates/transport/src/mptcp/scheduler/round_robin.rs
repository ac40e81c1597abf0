use super::{Choice, ConfiguredScheduler, SubflowScheduler, View};

/// The ready subflows in turn, a segment each, as far as their windows allow (Linux's `roundrobin` with
/// num_segments 1 and cwnd_limited).
#[derive(Default, Debug)]
pub struct RoundRobin {
    last: Option<u8>,
}

anabranch_units::parameters! {
    /// One segment each in turn.
    pub struct RoundRobinParameters {}
}

impl ConfiguredScheduler for RoundRobin {
    type Parameters = RoundRobinParameters;

    fn configured(_: &RoundRobinParameters, _: usize) -> Self {
        Self::default()
    }
}

impl SubflowScheduler for RoundRobin {
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let behind = |subflow: &u8| self.last.is_none_or(|last| *subflow > last);
        let subflow = view.paths.ready().find(behind).or_else(|| view.paths.ready().next())?;
        self.last = Some(subflow);
        Some(Choice { subflow, from: view.data_nxt })
    }
}
