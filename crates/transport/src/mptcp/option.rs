//! The options of MPTCP (RFC 8684 section 3), as values, as bytes, and packed beside a segment's SACK blocks.

mod dss;

use crate::segment::{Flags, SackBlocks};
pub use dss::{DataNumber, Dss, DssMapping};

/// Option kind of MPTCP (RFC 8684 section 3).
const KIND: u8 = 30;
const NOP: u8 = 1;
/// Option subtypes (RFC 8684 section 7.2).
const MP_CAPABLE: u8 = 0;
const MP_JOIN: u8 = 1;
const DSS: u8 = 2;
const ADD_ADDR: u8 = 3;
const REMOVE_ADDR: u8 = 4;
const MP_PRIO: u8 = 5;
/// MPTCP version 1 (RFC 8684 section 3.1).
const VERSION: u8 = 1;
/// H, the only handshake algorithm: HMAC-SHA256 (RFC 8684 section 3.1).
const HMAC_SHA256: u8 = 0x01;
/// B, the subflow is a backup (RFC 8684 sections 3.2 and 3.3.8).
const BACKUP: u8 = 0x01;
/// E, an ADD_ADDR is the echo of another (RFC 8684 section 3.4.1).
const ECHO: u8 = 0x01;

/// An MPTCP option of a segment. MP_FAIL, MP_FASTCLOSE and MP_TCPRST are left out: nothing on the way changes
/// segments or strips options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MptcpOption {
    /// MP_CAPABLE (RFC 8684 section 3.1): no key on a SYN, the sender's on a SYN/ACK, both on the third ACK,
    /// and a length with the first data.
    Capable {
        /// Key of the end that sends it.
        sender_key: Option<u64>,
        /// Key of the end that it is for.
        receiver_key: Option<u64>,
        /// Data-level length of the payload, whose mapping this is.
        data_length: Option<u16>,
    },
    /// MP_JOIN on a SYN (RFC 8684 section 3.2).
    JoinSyn {
        /// Identifier of the sender's address.
        address_id: u8,
        /// To be used only when nothing else works.
        backup: bool,
        /// Token of the receiver: which connection it joins.
        token: u32,
        /// Random number of the sender.
        nonce: u32,
    },
    /// MP_JOIN on a SYN/ACK.
    JoinSynAck {
        /// Identifier of the sender's address.
        address_id: u8,
        /// To be used only when nothing else works.
        backup: bool,
        /// Leftmost 64 bits of the HMAC.
        hmac: u64,
        /// Random number of the sender.
        nonce: u32,
    },
    /// MP_JOIN on the third ACK.
    JoinAck {
        /// Leftmost 160 bits of the HMAC.
        hmac: [u8; 20],
    },
    /// Data sequence signal.
    Dss(Dss),
    /// ADD_ADDR of an IPv4 address without a port (RFC 8684 section 3.4.1).
    AddAddr {
        /// Identifier of the address.
        address_id: u8,
        /// The address.
        address: [u8; 4],
        /// Rightmost 64 bits of the HMAC; none on an echo.
        hmac: Option<u64>,
    },
    /// REMOVE_ADDR of one address (RFC 8684 section 3.4.2).
    RemoveAddr {
        /// Identifier of the address.
        address_id: u8,
    },
    /// MP_PRIO: the priority of the subflow that carries it (RFC 8684 section 3.3.8).
    Priority {
        /// To be used only when nothing else works.
        backup: bool,
    },
}

/// How an option is packed: the first number of [`SackBlocks`].
mod packed {
    pub(super) const NONE: u8 = 0;
    pub(super) const CAPABLE_SYN: u8 = 1;
    pub(super) const CAPABLE_SYN_ACK: u8 = 2;
    pub(super) const CAPABLE_ACK: u8 = 3;
    pub(super) const CAPABLE_DATA: u8 = 4;
    pub(super) const JOIN_SYN: u8 = 5;
    pub(super) const JOIN_SYN_ACK: u8 = 6;
    pub(super) const JOIN_ACK: u8 = 7;
    pub(super) const ADD_ADDR: u8 = 8;
    pub(super) const ADD_ADDR_ECHO: u8 = 9;
    pub(super) const REMOVE_ADDR: u8 = 10;
    pub(super) const PRIORITY: u8 = 11;
    /// None: the header of the transport `spray`, as long as the longest of these.
    pub(super) const SPRAY: u8 = 12;
    /// Plus the flags that say which fields there are.
    pub(super) const DSS: u8 = 16;
}

/// What stands in the place of an option's kind in a packet of the transport `spray`.
pub(crate) const SPRAY_HEADER: u8 = packed::SPRAY;

impl MptcpOption {
    /// SACK blocks for which a segment with such an option has room.
    #[inline]
    pub(crate) const fn blocks_beside(kind: u8) -> u8 {
        match kind {
            packed::NONE | packed::REMOVE_ADDR | packed::PRIORITY => 4,
            packed::ADD_ADDR | packed::ADD_ADDR_ECHO => 2,
            packed::DSS.. => dss::blocks_beside(kind - packed::DSS),
            _ => 0,
        }
    }

    /// Bytes of the header that it takes, padding included.
    #[inline]
    pub(crate) const fn padded_len(kind: u8) -> u32 {
        if kind == packed::NONE { 0 } else { Self::padded_len_of_any(kind) }
    }

    #[inline(never)]
    const fn padded_len_of_any(kind: u8) -> u32 {
        match kind {
            packed::NONE => 0,
            packed::CAPABLE_SYN | packed::REMOVE_ADDR | packed::PRIORITY => 4,
            packed::ADD_ADDR_ECHO => 8,
            packed::CAPABLE_SYN_ACK | packed::JOIN_SYN => 12,
            packed::JOIN_SYN_ACK | packed::ADD_ADDR => 16,
            packed::CAPABLE_ACK => 20,
            packed::DSS.. => dss::padded_len(kind - packed::DSS),
            _ => 24,
        }
    }

    /// Whether it speaks of addresses and their priority, and may stand on an ACK that says nothing else.
    pub(crate) const fn is_about_addresses(&self) -> bool {
        matches!(self, Self::AddAddr { .. } | Self::RemoveAddr { .. } | Self::Priority { .. })
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Capable { data_length: Some(_), .. } => packed::CAPABLE_DATA,
            Self::Capable { receiver_key: Some(_), .. } => packed::CAPABLE_ACK,
            Self::Capable { sender_key: Some(_), .. } => packed::CAPABLE_SYN_ACK,
            Self::Capable { .. } => packed::CAPABLE_SYN,
            Self::JoinSyn { .. } => packed::JOIN_SYN,
            Self::JoinSynAck { .. } => packed::JOIN_SYN_ACK,
            Self::JoinAck { .. } => packed::JOIN_ACK,
            Self::Dss(dss) => packed::DSS | dss.fields(),
            Self::AddAddr { hmac: Some(_), .. } => packed::ADD_ADDR,
            Self::AddAddr { .. } => packed::ADD_ADDR_ECHO,
            Self::RemoveAddr { .. } => packed::REMOVE_ADDR,
            Self::Priority { .. } => packed::PRIORITY,
        }
    }

    /// Puts it into the room behind the SACK blocks, and drops blocks that are in the way.
    #[inline]
    pub(crate) fn pack(&self, room: &mut SackBlocks) {
        let kind = self.kind();
        room.truncate(Self::blocks_beside(kind));
        // An option before may have left its words.
        let used = room.as_slice().len();
        room.blocks[used..].fill((0, 0));
        room.mptcp_kind = kind;
        room.mptcp_detail = 0;
        let halves = |key: u64| ((key >> 32) as u32, key as u32);
        match *self {
            Self::Capable { sender_key, receiver_key, data_length } => {
                room.blocks[0] = halves(sender_key.unwrap_or(0));
                room.blocks[1] = halves(receiver_key.unwrap_or(0));
                room.blocks[2].0 = u32::from(data_length.unwrap_or(0));
            }
            Self::JoinSyn { address_id, backup, token, nonce } => {
                room.mptcp_detail = address_id;
                room.blocks[0] = (token, nonce);
                room.blocks[1].0 = u32::from(backup);
            }
            Self::JoinSynAck { address_id, backup, hmac, nonce } => {
                room.mptcp_detail = address_id;
                room.blocks[0] = halves(hmac);
                room.blocks[1] = (nonce, u32::from(backup));
            }
            Self::JoinAck { hmac } => {
                let word =
                    |at: usize| u32::from_be_bytes([hmac[at], hmac[at + 1], hmac[at + 2], hmac[at + 3]]);
                room.blocks[0] = (word(0), word(4));
                room.blocks[1] = (word(8), word(12));
                room.blocks[2].0 = word(16);
            }
            Self::Dss(dss) => dss.pack(room),
            Self::AddAddr { address_id, address, hmac } => {
                room.mptcp_detail = address_id;
                room.blocks[2].0 = u32::from_be_bytes(address);
                room.blocks[3] = halves(hmac.unwrap_or(0));
            }
            Self::RemoveAddr { address_id } => room.mptcp_detail = address_id,
            Self::Priority { backup } => room.mptcp_detail = u8::from(backup),
        }
    }

    /// Reads what [`MptcpOption::pack`] wrote.
    #[inline]
    pub(crate) fn unpack(room: &SackBlocks) -> Option<Self> {
        let whole = |(high, low): (u32, u32)| u64::from(high) << 32 | u64::from(low);
        let [a, b, c, d] = room.blocks;
        Some(match room.mptcp_kind {
            packed::NONE | packed::SPRAY => return None,
            kind @ packed::CAPABLE_SYN..=packed::CAPABLE_DATA => Self::Capable {
                sender_key: (kind >= packed::CAPABLE_SYN_ACK).then_some(whole(a)),
                receiver_key: (kind >= packed::CAPABLE_ACK).then_some(whole(b)),
                data_length: (kind == packed::CAPABLE_DATA).then_some(c.0 as u16),
            },
            packed::JOIN_SYN => {
                Self::JoinSyn { address_id: room.mptcp_detail, backup: b.0 != 0, token: a.0, nonce: a.1 }
            }
            packed::JOIN_SYN_ACK => Self::JoinSynAck {
                address_id: room.mptcp_detail,
                backup: b.1 != 0,
                hmac: whole(a),
                nonce: b.0,
            },
            packed::JOIN_ACK => {
                let mut hmac = [0; 20];
                for (bytes, word) in hmac.chunks_exact_mut(4).zip([a.0, a.1, b.0, b.1, c.0]) {
                    bytes.copy_from_slice(&word.to_be_bytes());
                }
                Self::JoinAck { hmac }
            }
            kind @ (packed::ADD_ADDR | packed::ADD_ADDR_ECHO) => Self::AddAddr {
                address_id: room.mptcp_detail,
                address: c.0.to_be_bytes(),
                hmac: (kind == packed::ADD_ADDR).then_some(whole(d)),
            },
            packed::REMOVE_ADDR => Self::RemoveAddr { address_id: room.mptcp_detail },
            packed::PRIORITY => Self::Priority { backup: room.mptcp_detail != 0 },
            kind => Self::Dss(Dss::unpack(kind - packed::DSS, room)),
        })
    }

    /// Appends the option, then NOPs up to a multiple of four bytes. No checksums are negotiated.
    pub(crate) fn encode(&self, buffer: &mut Vec<u8>) {
        let start = buffer.len();
        // The length is put in at the end.
        buffer.extend_from_slice(&[KIND, 0]);
        match *self {
            Self::Capable { sender_key, receiver_key, data_length } => {
                buffer.extend_from_slice(&[MP_CAPABLE << 4 | VERSION, HMAC_SHA256]);
                for key in [sender_key, receiver_key].into_iter().flatten() {
                    buffer.extend_from_slice(&key.to_be_bytes());
                }
                if let Some(length) = data_length {
                    buffer.extend_from_slice(&length.to_be_bytes());
                }
            }
            Self::JoinSyn { address_id, backup, token, nonce } => {
                buffer.extend_from_slice(&[MP_JOIN << 4 | if backup { BACKUP } else { 0 }, address_id]);
                buffer.extend_from_slice(&token.to_be_bytes());
                buffer.extend_from_slice(&nonce.to_be_bytes());
            }
            Self::JoinSynAck { address_id, backup, hmac, nonce } => {
                buffer.extend_from_slice(&[MP_JOIN << 4 | if backup { BACKUP } else { 0 }, address_id]);
                buffer.extend_from_slice(&hmac.to_be_bytes());
                buffer.extend_from_slice(&nonce.to_be_bytes());
            }
            Self::JoinAck { hmac } => {
                buffer.extend_from_slice(&[MP_JOIN << 4, 0]);
                buffer.extend_from_slice(&hmac);
            }
            Self::Dss(dss) => {
                buffer.push(DSS << 4);
                dss.encode(buffer);
            }
            Self::AddAddr { address_id, address, hmac } => {
                let echo = if hmac.is_none() { ECHO } else { 0 };
                buffer.extend_from_slice(&[ADD_ADDR << 4 | echo, address_id]);
                buffer.extend_from_slice(&address);
                if let Some(hmac) = hmac {
                    buffer.extend_from_slice(&hmac.to_be_bytes());
                }
            }
            Self::RemoveAddr { address_id } => buffer.extend_from_slice(&[REMOVE_ADDR << 4, address_id]),
            Self::Priority { backup } => buffer.push(MP_PRIO << 4 | if backup { BACKUP } else { 0 }),
        }
        let length = buffer.len() - start;
        // At most 26 bytes.
        buffer[start + 1] = length as u8;
        buffer.resize(start + length.next_multiple_of(4), NOP);
    }

    /// Reads an option of kind 30, whose bytes are `option` from its kind on, on a segment with `flags`; none
    /// for a subtype or version that is not known here, for an address with a port or of IPv6, and for several
    /// removed addresses at once.
    ///
    /// # Errors
    /// If its length does not agree with its subtype and flags.
    pub(crate) fn decode(option: &[u8], flags: Flags) -> Result<Option<Self>, ()> {
        if let [_, _, first] = option
            && first >> 4 == MP_PRIO
        {
            return Ok(Some(Self::Priority { backup: first & BACKUP != 0 }));
        }
        let [_, _, first, second, rest @ ..] = option else { return Err(()) };
        match first >> 4 {
            MP_CAPABLE if first & 0x0F == VERSION => Self::decode_capable(rest).map(Some),
            MP_JOIN => Self::decode_join(flags, first & BACKUP != 0, *second, rest).map(Some),
            DSS => Dss::decode(*second, rest).map(|dss| Some(Self::Dss(dss))),
            ADD_ADDR => Self::decode_address(first & ECHO != 0, *second, rest),
            REMOVE_ADDR => Ok(rest.is_empty().then_some(Self::RemoveAddr { address_id: *second })),
            MP_PRIO => Err(()),
            _ => Ok(None),
        }
    }

    /// RFC 8684 section 3.4.1: an address, perhaps a port, and the HMAC unless it is an echo.
    fn decode_address(is_echo: bool, address_id: u8, rest: &[u8]) -> Result<Option<Self>, ()> {
        let option = |address: &[u8], hmac| {
            let address = [address[0], address[1], address[2], address[3]];
            Ok(Some(Self::AddAddr { address_id, address, hmac }))
        };
        match (is_echo, rest.len()) {
            (true, 4) => option(rest, None),
            (false, 12) => option(rest, Some(be64(&rest[4..]))),
            (true, 6 | 16 | 18) | (false, 14 | 24 | 26) => Ok(None),
            _ => Err(()),
        }
    }

    fn decode_capable(rest: &[u8]) -> Result<Self, ()> {
        let key = |at: usize| (rest.len() >= at + 8).then(|| be64(&rest[at..]));
        let data_length = match rest.len() {
            0 | 8 | 16 => None,
            // With a checksum behind it, which says nothing here.
            18 | 20 => Some(u16::from_be_bytes([rest[16], rest[17]])),
            _ => return Err(()),
        };
        Ok(Self::Capable { sender_key: key(0), receiver_key: key(8), data_length })
    }

    fn decode_join(flags: Flags, backup: bool, address_id: u8, rest: &[u8]) -> Result<Self, ()> {
        match (rest.len(), flags.has(Flags::SYN), flags.has(Flags::ACK)) {
            (8, true, false) => {
                Ok(Self::JoinSyn { address_id, backup, token: be32(rest), nonce: be32(&rest[4..]) })
            }
            (12, true, true) => {
                Ok(Self::JoinSynAck { address_id, backup, hmac: be64(rest), nonce: be32(&rest[8..]) })
            }
            (20, false, true) => rest.try_into().map(|hmac| Self::JoinAck { hmac }).map_err(|_| ()),
            _ => Err(()),
        }
    }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn be64(bytes: &[u8]) -> u64 {
    u64::from(be32(bytes)) << 32 | u64::from(be32(&bytes[4..]))
}
