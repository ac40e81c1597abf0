//! How packets are spaced.

use anabranch_units::declaration::above;

anabranch_units::parameters! {
    /// At the controller's own rate if it has one, else as the window allows.
    pub struct ControllerPacing {}
}

anabranch_units::parameters! {
    /// At cwnd / srtt times a gain, as Linux's fq does for window-based controllers.
    #[derive(Copy)]
    pub struct WindowPacing {
        /// Gain below ssthresh (Linux: `net.ipv4.tcp_pacing_ss_ratio`).
        slow_start_gain: f64 = 2.0, above(0.0);
        /// Gain above it (Linux: `net.ipv4.tcp_pacing_ca_ratio`).
        avoidance_gain: f64 = 1.2, above(0.0);
    }
}

anabranch_units::registry! {
    /// How packets are spaced.
    pub enum PacingConfig: "pacing" {
        "controller" => Controller(ControllerPacing),
        "window" => Window(WindowPacing),
    }
}
