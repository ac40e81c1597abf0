use crate::TransportConfig;
use crate::congestion::testing::{MSS, SEGMENT};
use crate::congestion::{
    CongestionControl, Controller, External, ExternalControl, ExternalMaker, NewReno, Start,
};
use crate::tcp_preset;
use crate::{Brought, CongestionConfig};
use std::sync::Arc;

impl ExternalControl for NewReno {}

/// Makes NewReno.
#[derive(Debug)]
struct Renos;

impl ExternalMaker for Renos {
    fn control(&self, _choice: &External, start: Start) -> Box<dyn ExternalControl> {
        Box::new(NewReno::new(start.mss, start.initial_window))
    }
}

fn read(json: &str) -> CongestionConfig {
    serde_json::from_str(json).expect("reads")
}

#[test]
fn a_control_that_is_brought_along_is_the_one_that_is_called() {
    let CongestionConfig::External(mut external) = read(r#"{"algorithm": "python", "code": 3}"#) else {
        panic!("no code of the caller's")
    };
    assert_eq!(external.code, 3);
    external.maker = Brought(Some(Arc::new(Renos)));
    let start =
        Start { mss: MSS, initial_window: 10 * SEGMENT, paced: false, seed: 1, sack: true, undo: true };
    let mut controller = Controller::new(&CongestionConfig::External(external), start);
    assert_eq!((controller.cwnd(), controller.ssthresh()), (10 * SEGMENT, u64::MAX));
    controller.forget_growth(4 * SEGMENT);
    assert_eq!(controller.cwnd(), 4 * SEGMENT);
}

/// What the connection asks of it comes with the choice.
#[test]
fn it_says_what_it_needs() {
    let plain = read(r#"{"algorithm": "python", "code": 0}"#);
    assert!(!plain.measures_rate() && !plain.judges_losses() && !plain.needs_marks() && !plain.is_coupled());
    let all = r#"{"algorithm": "python", "code": 0, "measures_rate": true, "judges_losses": true, "counts_marks": true}"#;
    let all = read(all);
    assert!(all.measures_rate() && all.judges_losses() && all.needs_marks());
    assert_eq!(all.name(), "python");
}

/// It is no algorithm of the registry: nobody finds it by name.
#[test]
fn it_is_not_listed() {
    assert!(CongestionConfig::named("python").is_none());
    assert!(!CongestionConfig::NAMES.contains(&"python"));
    assert!(CongestionConfig::described().external);
}

#[test]
fn a_transport_finds_it_alone_and_on_subflows() {
    let choice = read(r#"{"algorithm": "python", "code": 0}"#);
    let mut tcp = TransportConfig::Tcp(tcp_preset("newreno").expect("a preset"));
    assert!(tcp.external_control().is_none() && tcp.external_control_mut().is_none());
    if let TransportConfig::Tcp(tcp) = &mut tcp {
        tcp.congestion_control = choice.clone();
    }
    assert!(
        tcp.external_control().is_some_and(|control| CongestionConfig::External(control.clone()) == choice)
    );
    tcp.external_control_mut().expect("it is there").maker = Brought(Some(Arc::new(Renos)));
    assert!(
        tcp.external_control().is_some_and(|control| CongestionConfig::External(control.clone()) != choice)
    );
    let mut mptcp = crate::preset("mptcp").expect("a preset");
    if let TransportConfig::Mptcp(mptcp) = &mut mptcp {
        mptcp.tcp.congestion_control = choice;
    }
    assert!(mptcp.external_control().is_some());
}
