//! Bytes as the JSON document `{"setup": ..., "plan": ...}`: refused with a message, or run to its end or
//! for a bounded number of events. Only a panic, or books that do not balance, is a finding.
#![no_main]

use anabranch_engine::routing::{LinkMask, Plan};
use anabranch_engine::setup::Setup;
use anabranch_engine::transport::TransportConfig;
use anabranch_engine::{EngineError, Simulation};
use anabranch_units::Bytes;
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use std::ops::ControlFlow;

#[derive(Deserialize)]
struct Document {
    setup: Setup,
    plan: Plan,
}

/// What is right but takes longer than an input may: many flows, huge windows.
const MOST_FLOWS: usize = 50;
const LARGEST_BUFFER: u64 = 1 << 20;
const MOST_SEGMENTS: u32 = 1 << 10;

fuzz_target!(|data: &[u8]| {
    let Ok(Document { mut setup, plan }) = serde_json::from_slice::<Document>(data) else { return };
    // A capture would write to whatever file it names.
    setup.captures.clear();
    setup.flows.truncate(MOST_FLOWS);
    for transport in &mut setup.transports {
        match &mut transport.config {
            TransportConfig::Tcp(tcp) => {
                tcp.receive_buffer = tcp.receive_buffer.min(Bytes(LARGEST_BUFFER));
            }
            TransportConfig::SlidingWindow(sliding) => {
                sliding.window_segments = sliding.window_segments.min(MOST_SEGMENTS);
            }
            TransportConfig::SdnPaced(_) => {}
        }
    }
    if let (Ok(network), Some(scheme)) = (setup.check(), &setup.routing.scheme) {
        let own = scheme.plan(&network, &LinkMask::all_up(&network), &setup.pairs());
        own.check(&network).expect("a scheme's own plan holds");
    }
    let result = Simulation::new(setup, plan).and_then(|simulation| {
        // The first report comes after 65536 events.
        simulation.run(|_| ControlFlow::Break(()))
    });
    if let Err(error) = result {
        assert!(!matches!(error, EngineError::Conservation(_)), "{error}");
        assert!(!error.to_string().is_empty());
    }
});
