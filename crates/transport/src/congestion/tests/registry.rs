use crate::CongestionConfig;
use crate::congestion::testing::{MSS, SEGMENT};
use crate::congestion::{CongestionControl, Controller, ParameterError};

fn cubic(beta: f64, c: f64) -> CongestionConfig {
    CongestionConfig::Cubic { hystart: false, beta, c, fast_convergence: true }
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert_eq!(cubic(0.7, 0.4).check(), Ok(()));
    for beta in [0.0, 1.0, -0.1, 1.5, f64::INFINITY] {
        assert_eq!(cubic(beta, 0.4).check(), Err(ParameterError::Beta { read: beta }));
    }
    for c in [0.0, -0.4, f64::INFINITY] {
        assert_eq!(cubic(0.7, c).check(), Err(ParameterError::C { read: c }));
    }
    assert!(matches!(cubic(f64::NAN, 0.4).check(), Err(ParameterError::Beta { .. })));
    assert!(matches!(cubic(0.7, f64::NAN).check(), Err(ParameterError::C { .. })));
    let message = cubic(1.5, 0.4).check().map_err(|error| error.to_string());
    assert_eq!(message, Err("beta is 1.5; it must be above 0 and below 1 (RFC 9438 uses 0.7)".to_owned()));
}

#[test]
fn a_name_makes_its_controller() {
    let make = |config: &CongestionConfig| Controller::new(config, MSS, 10 * SEGMENT, 1);
    let newreno = make(&CongestionConfig::Newreno { hystart: true });
    assert!(matches!(newreno, Controller::NewReno(_)));
    assert!(matches!(make(&cubic(0.7, 0.4)), Controller::Cubic(_)));
    let bbr = make(&CongestionConfig::Bbr {});
    assert!(matches!(bbr, Controller::Bbr(_)));
    assert!(matches!(make(&CongestionConfig::Mprc {}), Controller::Mprc(_)));
    assert!(matches!(make(&CongestionConfig::Lia {}), Controller::Lia(_)));
    assert!(matches!(make(&CongestionConfig::Olia {}), Controller::Olia(_)));
    assert!(matches!(make(&CongestionConfig::Balia {}), Controller::Balia(_)));
    assert!(bbr.governs_recovery() && bbr.pacing_rate().is_some());
    assert!(!newreno.governs_recovery() && newreno.pacing_rate().is_none());
    assert_eq!((newreno.cwnd(), newreno.ssthresh()), (10 * SEGMENT, u64::MAX));
}
