//! What a flow's MPTCP options say.

use crate::options::{DataNumber, Options};
use crate::packet::{ACK, SYN};

/// Numbers of one data sequence space that a flow used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSpace {
    pub first: u64,
    pub last: u64,
    pub whole: bool,
}

/// What a flow's MPTCP options say.
#[derive(Clone, Default, Debug)]
pub(crate) struct Multipath {
    pub version: u8,
    /// Keys by the direction in which their owner sends.
    pub keys: [Option<u64>; 2],
    /// MP_CAPABLE on the SYN, and on the SYN/ACK.
    pub capable: [bool; 2],
    pub join_token: Option<u32>,
    /// MP_JOIN on the SYN, and on the SYN/ACK.
    pub join: [bool; 2],
    pub dss: bool,
    /// By the direction in which the data go.
    pub spaces: [Option<DataSpace>; 2],
}

impl Multipath {
    /// Notes a segment's options.
    #[inline]
    pub(super) fn note(&mut self, direction: usize, flags: u8, options: &Options) {
        let is_syn = flags & SYN != 0;
        let answer = usize::from(flags & ACK != 0);
        if let Some(capable) = options.capable {
            self.version = capable.version;
            if is_syn {
                self.capable[answer] = true;
            }
            self.keys[direction] = capable.sender_key.or(self.keys[direction]);
            self.keys[1 - direction] = capable.receiver_key.or(self.keys[1 - direction]);
        }
        if options.join && is_syn {
            self.join[answer] = true;
            self.join_token = options.join_token.or(self.join_token);
        }
        if options.dss {
            self.dss = true;
            note_space(&mut self.spaces[direction], options.data_seq);
            note_space(&mut self.spaces[1 - direction], options.data_ack);
        }
    }
}

fn note_space(space: &mut Option<DataSpace>, number: Option<DataNumber>) {
    let Some(DataNumber { value, whole }) = number else { return };
    match space {
        Some(space) if space.whole == whole => space.last = value,
        Some(space) if !whole && space.whole => {
            // Carried on with the upper half that is known.
            let behind = value as u32;
            let step = behind.wrapping_sub(space.last as u32).cast_signed();
            space.last = space.last.wrapping_add_signed(i64::from(step));
        }
        _ => *space = Some(DataSpace { first: value, last: value, whole }),
    }
}
