//! TCP options: timestamps (RFC 7323) and those of MPTCP (RFC 6824 version 0, RFC 8684 version 1).

const END: u8 = 0;
const NOP: u8 = 1;
const TIMESTAMPS: u8 = 8;
const MPTCP: u8 = 30;

/// Subtypes of the MPTCP option (RFC 8684 section 8.1).
const MP_CAPABLE: u8 = 0;
const MP_JOIN: u8 = 1;
const DSS: u8 = 2;

/// A number of the data sequence space, as it was sent: 4 or 8 bytes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DataNumber {
    pub value: u64,
    pub whole: bool,
}

/// MP_CAPABLE (RFC 8684 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Capable {
    pub version: u8,
    /// Of the one who sends this.
    pub sender_key: Option<u64>,
    /// Of the one it is sent to.
    pub receiver_key: Option<u64>,
}

/// Timestamps (RFC 7323 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Timestamps {
    /// The sender's clock (TSval).
    pub value: u32,
    /// The receiver's, as the sender last heard of it (TSecr); of use with an ACK.
    pub echo: u32,
}

/// What the options of a segment say.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub timestamps: Option<Timestamps>,
    pub capable: Option<Capable>,
    /// The token of an MP_JOIN on a SYN: the connection of the one it is sent to (RFC 8684 section 3.2).
    pub join_token: Option<u32>,
    /// Any MP_JOIN, of a SYN/ACK as well.
    pub join: bool,
    /// A DSS option (RFC 8684 section 3.3).
    pub dss: bool,
    pub data_ack: Option<DataNumber>,
    pub data_seq: Option<DataNumber>,
}

/// The timestamps of options that are none or what Linux sends on almost every segment: NOP, NOP, timestamps.
/// None if there is more to be read.
#[inline]
pub(crate) fn only_timestamps(options: &[u8]) -> Option<Option<Timestamps>> {
    match options {
        [] => Some(None),
        [NOP, NOP, TIMESTAMPS, 10, body @ ..] if body.len() == 8 => Some(Some(timestamps(body))),
        _ => None,
    }
}

/// Reads options; those that are cut off or have a wrong length end it.
#[inline]
pub(crate) fn read(mut options: &[u8]) -> Options {
    let mut values = Options::default();
    // As in most segments, with others behind them.
    if let [NOP, NOP, TIMESTAMPS, 10, rest @ ..] = options
        && rest.len() >= 8
    {
        values.timestamps = Some(timestamps(rest));
        options = &rest[8..];
    }
    while let [kind, rest @ ..] = options {
        match *kind {
            END => break,
            NOP => options = rest,
            kind => {
                let Some(&length) = rest.first() else { break };
                let length = usize::from(length);
                let Some(body) = options.get(2..length) else { break };
                match kind {
                    TIMESTAMPS if body.len() == 8 => values.timestamps = Some(timestamps(body)),
                    MPTCP => multipath(body, &mut values),
                    _ => {}
                }
                options = &options[length..];
            }
        }
    }
    values
}

/// The two numbers of the option, which must be there.
#[inline]
fn timestamps(body: &[u8]) -> Timestamps {
    Timestamps { value: u32_at(body, 0), echo: u32_at(body, 4) }
}

fn multipath(body: &[u8], values: &mut Options) {
    let Some(&first) = body.first() else { return };
    // Lengths below count without kind and length.
    match first >> 4 {
        MP_CAPABLE => {
            let key = |at: usize| body.get(at..at + 8).map(|_| u64_at(body, at));
            values.capable =
                Some(Capable { version: first & 0x0F, sender_key: key(2), receiver_key: key(10) });
        }
        MP_JOIN => {
            values.join = true;
            // 12 bytes on a SYN, 16 on a SYN/ACK, 24 on the ACK: only the first has a token.
            if body.len() == 10 {
                values.join_token = Some(u32_at(body, 2));
            }
        }
        DSS if body.len() >= 2 => dss(body, values),
        _ => {}
    }
}

/// RFC 8684 section 3.3: flags, then the data ACK and the mapping, each if its flag is set.
fn dss(body: &[u8], values: &mut Options) {
    const DATA_ACK: u8 = 0x01;
    const DATA_ACK_8: u8 = 0x02;
    const MAPPING: u8 = 0x04;
    const MAPPING_8: u8 = 0x08;
    let flags = body[1];
    values.dss = true;
    let mut at = 2;
    let mut number = |whole: bool| {
        let length = if whole { 8 } else { 4 };
        body.get(at..at + length)?;
        let value = if whole { u64_at(body, at) } else { u64::from(u32_at(body, at)) };
        at += length;
        Some(DataNumber { value, whole })
    };
    if flags & DATA_ACK != 0 {
        values.data_ack = number(flags & DATA_ACK_8 != 0);
        if values.data_ack.is_none() {
            return;
        }
    }
    if flags & MAPPING != 0 {
        values.data_seq = number(flags & MAPPING_8 != 0);
    }
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) << 32 | u64::from(u32_at(bytes, at + 4))
}
