//! Captures of a run on several cores that cannot be written.

use crate::common::*;
use crate::parallel::{in_parts, two_clusters};
use anabranch_engine::Simulation;
use anabranch_engine::partition::Cut;
use anabranch_engine::routing::Plan;
use anabranch_engine::setup::*;
use anabranch_units::NodeId;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Captures that cannot be written are told in the order in which they were lost.
#[test]
fn captures_are_lost_as_on_one_core() {
    let mut setup = two_clusters();
    let capture = |host| {
        let file = format!("{}/dev/full", "/.".repeat(host as usize % 5));
        CaptureSetup { file, at: CapturePoint::Host { host: NodeId(host) }, snap_length: 0 }
    };
    setup.captures.extend([7, 0, 4, 1].map(capture));
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = Cut::new(&setup, vec![0, 0, 1, 1, 2, 2, 3, 3]).expect("a cut");
    let one = run_plan(Setup::clone(&setup), Plan::clone(&plan));
    let many = in_parts(&setup, &plan, &cut);
    assert_eq!(one.lost_captures.len(), 4);
    assert_eq!(one.lost_captures, many.lost_captures);
}

/// A part that cannot begin fails the run, with its message.
#[test]
fn a_part_that_fails_fails_the_run() {
    let mut setup = two_clusters();
    let (file, at) = ("/no/such/folder/x.pcapng".into(), CapturePoint::Host { host: NodeId(7) });
    setup.captures.push(CaptureSetup { file, at, snap_length: 0 });
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = Cut::new(&setup, vec![0, 0, 1, 1, 2, 2, 3, 3]).expect("a cut");
    let outcome = Simulation::run_in_parts(&setup, &plan, &cut, |_| ControlFlow::Continue(()));
    let message = outcome.expect_err("no such folder").to_string();
    assert!(message.contains("/no/such/folder"), "{message}");
}
