//! The handshake of Multipath TCP as far as it ends in plain TCP (RFC 8684 section 3.1).
//!
//! A script's connection has one path. A socket of Multipath TCP asks for it in its SYN, or is asked; where the answer
//! turns it down, the connection goes on as plain TCP. A script whose connection becomes one of Multipath TCP is not
//! applicable.

use crate::script::{Capable, MultipathOption};
use anabranch_transport::{Flags, Segment};

/// MP_CAPABLE: HMAC-SHA256 is offered.
const FLAG_H: u8 = 0x01;
/// MP_CAPABLE: extensibility; set, the option is to be ignored.
const FLAG_B: u8 = 0x40;
/// The version of the protocol.
const VERSION: u8 = 1;
/// SYNs with the option; Linux drops it from those behind.
const MOST_SYNS: u32 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Multipath {
    /// The socket is one of TCP, or has become one.
    Plain,
    /// The socket is one of Multipath TCP, and the handshake has not decided.
    Open { syns: u32 },
}

impl Multipath {
    pub(super) fn is_open(self) -> bool {
        self != Self::Plain
    }

    /// A segment arrives.
    ///
    /// # Errors
    /// Why a script is not applicable.
    pub(super) fn on_segment(
        &mut self,
        segment: &Segment,
        option: Option<&MultipathOption>,
    ) -> Result<(), String> {
        if *self == Self::Plain {
            return Ok(());
        }
        match option {
            Some(MultipathOption::Capable(capable)) if is_usable(*capable) => {
                Err("the model's scripts have no connection of Multipath TCP: mpcapable".into())
            }
            Some(MultipathOption::Other(name)) => {
                Err(format!("the model's scripts have no connection of Multipath TCP: {name}"))
            }
            _ => {
                if segment.flags.has(Flags::SYN) {
                    *self = Self::Plain;
                }
                Ok(())
            }
        }
    }

    /// In what the option that leaves with a segment differs from the one that is expected.
    pub(super) fn difference(
        &mut self,
        expected: Option<&MultipathOption>,
        came: &Segment,
    ) -> Option<String> {
        let opens = came.flags.has(Flags::SYN) && !came.flags.has(Flags::ACK);
        let offered = match self {
            Self::Open { syns } if opens => {
                *syns += 1;
                (*syns <= MOST_SYNS).then_some(Capable { version: VERSION, flags: FLAG_H, keys: 0 })
            }
            _ => None,
        };
        match (expected, offered) {
            (None, None) => None,
            (Some(MultipathOption::Capable(expected)), Some(offered)) if *expected == offered => None,
            (_, Some(_)) => Some("it offers mpcapable v1 flags[flag_h] nokey".into()),
            (Some(_), None) => Some("it has no option of Multipath TCP".into()),
        }
    }
}

/// Whether an MP_CAPABLE leads to a connection of Multipath TCP.
fn is_usable(capable: Capable) -> bool {
    capable.version == VERSION && capable.flags & FLAG_H != 0 && capable.flags & FLAG_B == 0
}
