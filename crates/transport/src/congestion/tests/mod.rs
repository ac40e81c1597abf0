//! What each controller does, as lists of windows per round that a person can check by hand.

mod bbr;
mod coupled;
mod cubic;
mod external;
mod linux;
mod mprc;
mod newreno;
mod ns2_newreno;
mod registry;
