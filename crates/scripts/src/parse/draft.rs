//! A segment while it is read.

use crate::script::{Mark, MultipathOption};
use anabranch_transport::Segment;

/// Its fields, and what of them a script has named.
pub(super) struct Draft {
    pub(super) segment: Segment,
    pub(super) inbound: bool,
    pub(super) length: u32,
    pub(super) ack: bool,
    pub(super) window: bool,
    pub(super) mark: Option<Mark>,
    pub(super) options: bool,
    pub(super) timestamp: bool,
    pub(super) echo: bool,
    pub(super) multipath: Option<MultipathOption>,
    pub(super) beyond: Option<String>,
}

impl Draft {
    pub(super) fn new(inbound: bool) -> Self {
        Self {
            segment: Segment::default(),
            inbound,
            length: 0,
            ack: false,
            window: false,
            mark: None,
            options: true,
            timestamp: true,
            echo: true,
            multipath: None,
            beyond: None,
        }
    }

    /// The model has no notion of something on it; the first such reason counts.
    pub(super) fn beyond(&mut self, reason: impl Into<String>) {
        let _ = self.beyond.get_or_insert_with(|| reason.into());
    }
}
