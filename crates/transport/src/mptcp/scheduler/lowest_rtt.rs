use super::{Choice, ConfiguredScheduler, SubflowScheduler, View, fastest};

/// The ready subflow with the smallest smoothed RTT: the default scheduler of the kernel of multipath-tcp.org.
#[derive(Debug)]
pub struct LowestRtt {}

anabranch_units::parameters! {
    /// The fastest subflow with room: the smallest smoothed RTT first, as in the kernel of multipath-tcp.org.
    pub struct LowestRttParameters {}
}

impl ConfiguredScheduler for LowestRtt {
    type Parameters = LowestRttParameters;

    fn configured(_: &LowestRttParameters, _: usize) -> Self {
        Self {}
    }
}

impl SubflowScheduler for LowestRtt {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let subflow = fastest(view.paths, view.paths.ready())?;
        Some(Choice { subflow, from: view.data_nxt })
    }
}
