//! A JSON document `{"setup": ..., "plan": ...}` that may be anything: refused with a message, or run.
//! The fuzz target `setup` (`checks/fuzz/`) is this function, too.

use anabranch_engine::routing::{LinkMask, Plan};
use anabranch_engine::setup::Setup;
use anabranch_engine::transport::TransportConfig;
use anabranch_engine::{EngineError, Simulation};
use anabranch_units::Bytes;
use serde_json::Value;
use std::ops::ControlFlow;

/// What is right but takes longer than a document may: many flows, huge windows.
const MOST_FLOWS: usize = 50;
const LARGEST_BUFFER: Bytes = Bytes(1 << 20);
const MOST_SEGMENTS: u32 = 1 << 10;

/// What became of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is no setup and plan at all.
    Unreadable,
    /// It was refused with a message.
    Refused,
    /// It ran, to its end or to the number of events that there is time for.
    Ran,
}

/// Runs a document; only a panic, or books that do not balance, is a finding.
pub fn try_to_run(document: Value) -> Fate {
    let Value::Object(mut parts) = document else { return Fate::Unreadable };
    let mut part = |name| parts.remove(name).unwrap_or_default();
    let (setup, plan) = (serde_json::from_value(part("setup")), serde_json::from_value(part("plan")));
    let (Ok(mut setup), Ok(plan)): (Result<Setup, _>, Result<Plan, _>) = (setup, plan) else {
        return Fate::Unreadable;
    };
    bound(&mut setup);
    // The routes that the setup itself asks for must come, too, and hold.
    if let (Ok(network), Some(scheme)) = (setup.check(), &setup.routing.scheme) {
        let scheme_plan = scheme.plan(&network, &LinkMask::all_up(&network), &setup.pairs());
        scheme_plan.check(&network).expect("a scheme's own plan holds");
    }
    let mut reports = 0;
    let outcome = Simulation::new(setup, plan).and_then(|simulation| {
        simulation.run(|_| {
            reports += 1;
            if reports < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    });
    match outcome {
        Err(error) => {
            assert!(!matches!(error, EngineError::Conservation(_)), "{error}");
            assert!(!error.to_string().is_empty());
            Fate::Refused
        }
        Ok(outcome) => {
            let rows = |column: &anabranch_engine::records::Column| column.len();
            for table in &outcome.tables {
                let first = table.columns.first().map_or(0, |(_, column)| rows(column));
                assert!(table.columns.iter().all(|(_, column)| rows(column) == first));
            }
            Fate::Ran
        }
    }
}

fn bound(setup: &mut Setup) {
    // A capture would write to whatever file it names.
    setup.captures.clear();
    setup.flows.truncate(MOST_FLOWS);
    for transport in &mut setup.transports {
        match &mut transport.config {
            TransportConfig::Tcp(tcp) => {
                tcp.receive_buffer = tcp.receive_buffer.min(LARGEST_BUFFER);
            }
            TransportConfig::SlidingWindow(sliding) => {
                sliding.window_segments = sliding.window_segments.min(MOST_SEGMENTS);
            }
            TransportConfig::Mptcp(mptcp) => {
                mptcp.tcp.receive_buffer = mptcp.tcp.receive_buffer.min(LARGEST_BUFFER);
            }
            TransportConfig::SdnPaced(_) | TransportConfig::Spray(_) => {}
        }
    }
}
