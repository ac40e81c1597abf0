use super::{Choice, Schedule, View, fastest};

/// The ready subflow with the smallest smoothed RTT: Linux's default scheduler.
#[derive(Debug)]
pub(in crate::mptcp) struct LowestRtt {}

impl Schedule for LowestRtt {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let subflow = fastest(view.paths, view.paths.ready())?;
        Some(Choice { subflow, from: view.data_nxt })
    }
}
