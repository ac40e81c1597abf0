//! What the application at a sending end does, and when.

use super::Simulation;
use crate::error::{EngineError, SetupError};
use crate::random::{Stream, Streams};
use crate::setup::{FlowSetup, SourceSetup};
use crate::variate::Sampler;
use anabranch_units::{FlowId, Instant, MaybeInstant, Span};

/// An application that opens a connection, writes and perhaps closes.
pub(super) struct Application {
    pub(super) start: Instant,
    /// Not before this time, where it waits for others.
    earliest: Instant,
    stop: MaybeInstant,
    opened: bool,
    /// Whether its stream has an end, so that the flow can complete.
    ends: bool,
    source: Source,
}

enum Source {
    Unlimited,
    Sized(u64),
    Messages(Box<Messages>),
}

struct Messages {
    size: Sampler,
    size_stream: Stream,
    gap: Sampler,
    gap_stream: Stream,
    next: Instant,
}

impl Messages {
    fn draw_next(&mut self, now: Instant) {
        // At least a picosecond, or time would stand still.
        let gap = Span::from_ps((self.gap.sample(&mut self.gap_stream) as u64).max(1));
        self.next = now.saturating_add(gap);
    }
}

impl Application {
    pub(super) fn new(flow: &FlowSetup, streams: Streams) -> Result<Self, EngineError> {
        let source = match &flow.source {
            SourceSetup::Unlimited {} => Source::Unlimited,
            SourceSetup::Sized { bytes } => Source::Sized(*bytes),
            SourceSetup::Messages { size, gap } => {
                let sampler = |variate, what: &str| {
                    let place = || format!("flow {}: message {what}", flow.name);
                    Sampler::new(variate).map_err(|error| SetupError::new(place(), error.to_string()))
                };
                let mut messages = Messages {
                    size: sampler(size, "size")?,
                    size_stream: streams.stream(&flow.name, "message size"),
                    gap: sampler(gap, "gap")?,
                    gap_stream: streams.stream(&flow.name, "message gap"),
                    next: flow.start,
                };
                // The first message comes one gap after the start, like every other.
                messages.draw_next(flow.start);
                Source::Messages(Box::new(messages))
            }
        };
        let ends = flow.stop.is_some() || matches!(source, Source::Sized(_));
        Ok(Self {
            start: flow.start,
            earliest: flow.start,
            stop: flow.stop.into(),
            opened: false,
            ends,
            source,
        })
    }

    /// Nobody knows yet when it begins: it waits for others.
    pub(super) fn hold(&mut self) {
        self.earliest = self.start;
        self.start = Instant::MAX;
    }

    /// It begins at this time, but not before its own start; when that is.
    pub(super) fn released_at(&mut self, at: Instant) -> Instant {
        self.start = at.max(self.earliest);
        self.start
    }

    pub(super) fn opened(&self) -> bool {
        self.opened
    }

    /// Whether its stream has an end, so that the flow can complete: a size, or a time to stop at.
    pub(super) fn ends(&self) -> bool {
        self.ends
    }

    /// When something is next to be done.
    pub(super) fn next_event(&self) -> Option<Instant> {
        if !self.opened {
            return Some(self.start);
        }
        let message = match &self.source {
            Source::Messages(messages) => messages.next.into(),
            _ => MaybeInstant::NONE,
        };
        message.min(self.stop).get()
    }
}

impl Simulation {
    pub(super) fn on_application(&mut self, id: FlowId) {
        let now = self.data.now;
        let number = self.data.passage.as_ref().map_or(id, |passage| passage.id(id));
        self.flows.come(&self.setup, id, number);
        let flow = &mut self.flows[id.index()];
        let (application, sender) = (&mut flow.application, &mut flow.sender);
        if !application.opened {
            application.opened = true;
            sender.open();
            match application.source {
                Source::Unlimited => sender.write_without_end(),
                Source::Sized(bytes) => {
                    sender.write(bytes);
                    sender.close();
                    application.stop = MaybeInstant::NONE;
                }
                Source::Messages(_) => {}
            }
        } else if application.stop.has_come(now) {
            application.stop = MaybeInstant::NONE;
            // Nothing more is written after the close.
            if let Source::Messages(messages) = &mut application.source {
                messages.next = Instant::MAX;
            }
            sender.close();
        } else if let Source::Messages(messages) = &mut application.source {
            sender.write(messages.size.sample(&mut messages.size_stream) as u64);
            messages.draw_next(now);
        }
        let next = flow.application.next_event();
        self.data.schedule.put(self.data.numbering.application(id), next);
        self.place_subflows(id);
        self.flush_sender(id);
    }
}
