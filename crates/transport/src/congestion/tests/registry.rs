use crate::CongestionConfig;
use crate::congestion::testing::{MSS, SEGMENT, plain_ack};
use crate::congestion::{Ack, CongestionControl, Controller, CubicParameters, Start};
use anabranch_units::Instant;

/// The bounds of RFC 9438: a beta that keeps something and takes something, and a curve that rises.
#[test]
fn parameters_out_of_range_are_refused() {
    let check = |beta, c| CongestionConfig::Cubic(CubicParameters { beta, c, ..Default::default() }).check();
    assert_eq!(check(0.7, 0.4), Ok(()));
    for beta in [0.0, 1.0, -0.1, 1.5, f64::INFINITY, f64::NAN] {
        assert_eq!(check(beta, 0.4).unwrap_err().parameter, "beta");
    }
    for c in [0.0, -0.4, f64::INFINITY, f64::NAN] {
        assert_eq!(check(0.7, c).unwrap_err().parameter, "c");
    }
    let message = check(1.5, 0.4).map_err(|error| error.to_string());
    assert_eq!(message, Err("beta is 1.5; it must be above 0 and below 1".to_owned()));
}

#[test]
fn a_name_makes_its_controller() {
    let make = |name: &str| {
        let config = CongestionConfig::named(name).expect("registered");
        assert_eq!(config.name(), name);
        Controller::new(
            &config,
            Start { mss: MSS, initial_window: 10 * SEGMENT, paced: false, seed: 1, sack: true, undo: true },
        )
    };
    let (newreno, bbr) = (make("newreno"), make("bbr"));
    assert!(matches!(newreno, Controller::NewReno(_)));
    assert!(matches!(make("cubic"), Controller::Cubic(_)));
    assert!(matches!(bbr, Controller::Bbr(_)));
    assert!(matches!(make("mprc"), Controller::Mprc(_)));
    assert!(matches!(make("lia"), Controller::Lia(_)));
    assert!(matches!(make("olia"), Controller::Olia(_)));
    assert!(matches!(make("balia"), Controller::Balia(_)));
    assert!(bbr.governs_recovery() && bbr.pacing_rate().is_some());
    assert!(!newreno.governs_recovery() && newreno.pacing_rate().is_none());
    assert_eq!((newreno.cwnd(), newreno.ssthresh()), (10 * SEGMENT, u64::MAX));
}

/// Windows grow by what the loss detection counts, whatever the ACK delivers; BBR's follows a rate, ns-2 counts ACKs,
/// and a held one is led from outside.
#[test]
fn windows_grow_by_what_counts() {
    let mut windows = 0;
    for name in CongestionConfig::NAMES {
        let config = CongestionConfig::named(name).expect("registered");
        if config.measures_rate() || ["ns2-newreno", "held"].contains(name) {
            continue;
        }
        windows += 1;
        let start =
            Start { mss: MSS, initial_window: 10 * SEGMENT, paced: false, seed: 1, sack: true, undo: true };
        let mut controller = Controller::new(&config, start);
        for (growth, packets) in [(0, 10), (SEGMENT, 11)] {
            controller.take_ack(|| Ack { growth, ..plain_ack(Instant::ZERO) });
            assert_eq!(controller.cwnd(), packets * SEGMENT, "{name} by {growth} of {SEGMENT} bytes");
        }
    }
    assert!(windows >= 8, "{windows}");
}

/// What the connection asks of a controller, without knowing it by name.
#[test]
fn traits_of_controllers_are_declared() {
    let with = |trait_of: fn(&CongestionConfig) -> bool| -> Vec<&str> {
        let has = |name: &&&str| trait_of(&CongestionConfig::named(name).expect("registered"));
        CongestionConfig::NAMES.iter().filter(has).copied().collect()
    };
    assert_eq!(with(CongestionConfig::is_coupled), ["lia", "olia", "balia"]);
    assert_eq!(with(CongestionConfig::compares_losses), ["olia"]);
    assert_eq!(with(CongestionConfig::measures_rate), ["bbr", "bbr3"]);
    assert_eq!(with(CongestionConfig::judges_losses), ["bbr3"]);
}
