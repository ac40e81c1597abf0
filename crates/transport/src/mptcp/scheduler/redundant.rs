use super::{Choice, ConfiguredScheduler, SubflowScheduler, View};

/// Every subflow carries the whole stream at its own pace; what has been acknowledged meanwhile, it skips
/// (Linux's `redundant`).
#[derive(Debug)]
pub struct Redundant {
    /// Position behind what each subflow has taken.
    taken: Vec<u64>,
    last: Option<u8>,
}

impl Redundant {
    pub(super) fn new(subflows: usize) -> Self {
        Self { taken: vec![0; subflows], last: None }
    }

    fn next_of(&self, subflow: u8, view: &View<'_>) -> u64 {
        self.taken[usize::from(subflow)].max(view.data_una)
    }
}

anabranch_units::parameters! {
    /// Everything on every subflow.
    pub struct RedundantParameters {}
}

impl ConfiguredScheduler for Redundant {
    type Parameters = RedundantParameters;

    fn configured(_: &RedundantParameters, subflows: usize) -> Self {
        Self::new(subflows)
    }
}

impl SubflowScheduler for Redundant {
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let wants = |subflow: &u8| self.next_of(*subflow, view) < view.limit;
        let behind = |subflow: &u8| self.last.is_none_or(|last| *subflow > last);
        let mut ready = view.paths.ready().filter(wants);
        let subflow = ready.find(behind).or_else(|| view.paths.ready().find(wants))?;
        let from = self.next_of(subflow, view);
        self.last = Some(subflow);
        Some(Choice { subflow, from })
    }

    fn repeats(&self) -> bool {
        true
    }

    fn add_subflow(&mut self) {
        self.taken.push(0);
    }

    fn on_sent(&mut self, subflow: u8, end: u64) {
        self.taken[usize::from(subflow)] = end;
    }
}
