//! The byte form of segments, checked against itself, against independent arithmetic and against
//! another implementation (`etherparse`).

use anabranch_transport::mptcp::{DataNumber, Dss, DssMapping, MptcpOption};
use anabranch_transport::wire::{
    Decoded, EncodeError, Endpoint, WireError, decode, encode, encode_headers, mark,
};
use anabranch_transport::{Flags, SackBlocks, Segment};
use etherparse::{IpNumber, Ipv4HeaderSlice, TcpHeaderSlice, TcpOptionElement};
use proptest::prelude::*;

const FLAGS: [Flags; 8] = [
    Flags::FIN,
    Flags::SYN,
    Flags::RST,
    Flags::PSH,
    Flags::ACK,
    Flags::ECE,
    Flags::CWR,
    Flags::from_header_bits(0x20),
];

fn client() -> Endpoint {
    Endpoint { addr: [10, 0, 0, 1], port: 49152 }
}

fn server() -> Endpoint {
    Endpoint { addr: [10, 0, 1, 2], port: 5001 }
}

fn bytes_of(segment: &Segment) -> Vec<u8> {
    let mut buffer = Vec::new();
    encode(segment, client(), server(), 7, 64, &mut buffer).expect("a valid segment");
    buffer
}

prop_compose! {
    /// Any segment TCP may send: options of a SYN only on a SYN, CE only with ECT, at most 40 bytes of
    /// options, fields of absent options zero.
    fn any_segment()(
        header in any::<[bool; 8]>(),
        (ect, ce, timestamps, permitted) in any::<(bool, bool, bool, bool)>(),
        (seq, ack, timestamp, timestamp_echo) in any::<(u32, u32, u32, u32)>(),
        (window, mss, scale) in (any::<u16>(), any::<u16>(), 0u8..=15),
        payload in prop_oneof![Just(0u16), 1u16..3000, Just(65535 - 80)],
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
    ) -> Segment {
        let mut flags = Flags::NONE;
        for (set, flag) in header.into_iter().zip(FLAGS) {
            flags = if set { flags.with(flag) } else { flags };
        }
        let syn = flags.has(Flags::SYN);
        for (set, flag) in [
            (ect, Flags::ECT),
            (ect && ce, Flags::CE),
            (timestamps, Flags::TIMESTAMPS),
            (syn && permitted, Flags::SACK_PERMITTED),
        ] {
            flags = if set { flags.with(flag) } else { flags };
        }
        let mut segment = Segment {
            seq,
            ack,
            timestamp: if timestamps { timestamp } else { 0 },
            timestamp_echo: if timestamps { timestamp_echo } else { 0 },
            window,
            payload,
            flags,
            mss: if syn { mss } else { 0 },
            window_scale_plus_one: if syn { scale } else { 0 },
            subflow: 0,
            sack: SackBlocks::default(),
        };
        let limit = (40 - segment.options_len()).saturating_sub(4) / 8;
        for (left, right) in blocks {
            segment.sack.push(left, right, limit as u8);
        }
        segment
    }
}

/// A number of 4 octets, or of 8 where there is room: the options of a SYN leave none.
fn any_data_number(flags: Flags) -> impl Strategy<Value = DataNumber> {
    any::<(bool, u64)>().prop_map(move |(whole, number)| {
        let whole = whole && !flags.has(Flags::SYN);
        if whole { DataNumber::Whole(number) } else { DataNumber::Low(number as u32) }
    })
}

/// Any option of MPTCP that fits the kind of segment (RFC 8684 sections 3.1 to 3.4).
fn any_mptcp(flags: Flags) -> BoxedStrategy<MptcpOption> {
    let data_ack = prop::option::of(any_data_number(flags));
    let mapping = prop::option::of((any_data_number(flags), any::<(u32, u16)>()));
    let dss = (data_ack, mapping, any::<bool>()).prop_map(|(data_ack, mapping, data_fin)| {
        let mapping =
            mapping.map(|(data_seq, (subflow_seq, length))| DssMapping { data_seq, subflow_seq, length });
        MptcpOption::Dss(Dss { data_ack, mapping, data_fin })
    });
    let capable =
        (0usize..4, any::<(u64, u64, u16)>()).prop_map(|(keys, (a, b, length))| MptcpOption::Capable {
            sender_key: (keys > 0).then_some(a),
            receiver_key: (keys > 1).then_some(b),
            data_length: (keys > 2).then_some(length),
        });
    let join = any::<(u8, bool, u64, u32, [u8; 20])>().prop_map(
        move |(address_id, backup, hmac, nonce, mac)| match (flags.has(Flags::SYN), flags.has(Flags::ACK)) {
            (true, false) => MptcpOption::JoinSyn { address_id, backup, token: hmac as u32, nonce },
            (true, true) => MptcpOption::JoinSynAck { address_id, backup, hmac, nonce },
            _ => MptcpOption::JoinAck { hmac: mac },
        },
    );
    let about_addresses =
        any::<(u8, u8, [u8; 4], Option<u64>)>().prop_map(|(kind, address_id, address, hmac)| {
            match kind % 3 {
                0 => MptcpOption::AddAddr { address_id, address, hmac },
                1 => MptcpOption::RemoveAddr { address_id },
                _ => MptcpOption::Priority { backup: address_id % 2 == 0 },
            }
        });
    // MP_JOIN has no form for a segment with neither SYN nor ACK.
    if flags.has(Flags::SYN) || flags.has(Flags::ACK) {
        prop_oneof![dss, capable, join, about_addresses].boxed()
    } else {
        prop_oneof![dss, capable, about_addresses].boxed()
    }
}

/// A segment with an option of MPTCP, and as many SACK blocks as have room beside it.
fn any_multipath_segment() -> impl Strategy<Value = (Segment, MptcpOption)> {
    any_segment().prop_flat_map(|segment| {
        any_mptcp(segment.flags).prop_map(move |option| {
            let mut segment = segment;
            segment.set_mptcp(option);
            (segment, option)
        })
    })
}

/// One's complement sum as RFC 1071 defines it, word by word with the carry brought around at once:
/// written apart from the code under test, which folds at the end.
fn ones_complement(words: impl Iterator<Item = u16>) -> u16 {
    words.fold(0u16, |sum, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks(2).map(|pair| u16::from(pair[0]) << 8 | u16::from(*pair.get(1).unwrap_or(&0))).collect()
}

proptest! {
    #[test]
    fn a_segment_survives_the_wire(
        segment in any_segment(),
        (source, destination) in any::<(([u8; 4], u16), ([u8; 4], u16))>(),
        (identification, ttl) in any::<(u16, u8)>(),
        trailing in 0usize..8,
    ) {
        let source = Endpoint { addr: source.0, port: source.1 };
        let destination = Endpoint { addr: destination.0, port: destination.1 };
        let mut buffer = Vec::new();
        encode(&segment, source, destination, identification, ttl, &mut buffer)?;
        let length = segment.packet_len() as usize;
        prop_assert_eq!(buffer.len(), length);
        // A link may pad a packet; the padding is no payload.
        buffer.resize(length + trailing, 0xAA);
        let payload = length - usize::from(segment.payload)..length;
        prop_assert_eq!(
            decode(&buffer)?,
            Decoded { segment, source, destination, identification, ttl, payload: payload.clone() }
        );
        prop_assert!(buffer[payload].iter().all(|byte| *byte == 0));
    }

    /// RFC 8684 section 3: options in their places, whatever else the segment has; those for which the header has no
    /// room are refused, as any other.
    #[test]
    fn a_multipath_segment_survives_the_wire((segment, option) in any_multipath_segment()) {
        prop_assert_eq!(segment.mptcp(), Some(option));
        let mut buffer = Vec::new();
        match encode(&segment, client(), server(), 7, 64, &mut buffer) {
            Ok(()) => {
                prop_assert_eq!(buffer.len(), segment.packet_len() as usize);
                prop_assert_eq!(decode(&buffer)?.segment, segment);
            }
            Err(error) => {
                prop_assert_eq!(error, EncodeError::OptionsTooLong(segment.options_len()));
                prop_assert!(segment.options_len() > 40 && segment.sack.is_empty());
            }
        }
    }

    #[test]
    fn checksums_verify_by_independent_summation(segment in any_segment()) {
        let bytes = bytes_of(&segment);
        prop_assert_eq!(ones_complement(words(&bytes[..20]).into_iter()), 0xFFFF);
        let tcp_len = (bytes.len() - 20) as u16;
        let pseudo = words(&bytes[12..20]).into_iter().chain([6, tcp_len]);
        prop_assert_eq!(ones_complement(pseudo.chain(words(&bytes[20..]))), 0xFFFF);
    }

    #[test]
    fn headers_alone_are_the_start_of_the_packet(segment in any_segment()) {
        let mut headers = vec![0xEE];
        encode_headers(&segment, client(), server(), 7, 64, &mut headers)?;
        let whole = bytes_of(&segment);
        prop_assert_eq!(&headers[1..], &whole[..whole.len() - usize::from(segment.payload)]);
    }

    #[test]
    fn any_flipped_bit_is_noticed(segment in any_segment()) {
        // Each bit of the headers, and some of a long payload.
        let mut bytes = bytes_of(&segment);
        let step = bytes.len() / 256 + 1;
        for at in (0..bytes.len().min(100)).chain((100..bytes.len()).step_by(step)) {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                prop_assert!(decode(&bytes).is_err(), "bit {} of byte {}", bit, at);
                bytes[at] ^= 1 << bit;
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
    }

    /// Random bytes rarely get past the checksums; these do, and reach every option parser.
    #[test]
    fn arbitrary_options_behind_right_checksums_never_panic(
        options in prop::collection::vec(prop_oneof![0u8..=9, Just(30u8), any::<u8>()], 40),
        syn in any::<bool>(),
        cut in 0usize..120,
    ) {
        let mut bytes = packet_with_options(&options, syn);
        match decode(&bytes) {
            Ok(decoded) => prop_assert_eq!(decoded.payload, 80..80),
            Err(error) => prop_assert!(matches!(error, WireError::Option { .. }), "{error}"),
        }
        bytes.truncate(cut);
        let truncated = matches!(decode(&bytes), Err(WireError::Truncated { .. }));
        prop_assert!(truncated == (cut < 80), "cut at {}", cut);
    }

    #[test]
    fn another_implementation_reads_the_same(segment in any_segment()) {
        let bytes = bytes_of(&segment);
        let ip = Ipv4HeaderSlice::from_slice(&bytes)?;
        prop_assert_eq!(ip.to_header().calc_header_checksum(), ip.header_checksum());
        prop_assert_eq!(usize::from(ip.total_len()), bytes.len());
        prop_assert_eq!((ip.source(), ip.destination()), (client().addr, server().addr));
        prop_assert_eq!((ip.identification(), ip.ttl(), ip.protocol()), (7, 64, IpNumber::TCP));
        prop_assert!(ip.dont_fragment() && !ip.is_fragmenting_payload());
        let ecn = match (segment.flags.has(Flags::CE), segment.flags.has(Flags::ECT)) {
            (true, _) => 3,
            (false, ect) => 2 * u8::from(ect),
        };
        prop_assert_eq!((ip.ecn().value(), ip.dcp().value()), (ecn, 0));

        let tcp = TcpHeaderSlice::from_slice(&bytes[20..])?;
        let payload = &bytes[20 + tcp.slice().len()..];
        prop_assert_eq!(tcp.calc_checksum_ipv4(&ip, payload)?, tcp.checksum());
        prop_assert_eq!((tcp.source_port(), tcp.destination_port()), (client().port, server().port));
        prop_assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (segment.seq, segment.ack));
        prop_assert_eq!((tcp.window_size(), tcp.urgent_pointer()), (segment.window, 0));
        prop_assert_eq!(payload.len(), usize::from(segment.payload));
        let theirs = [tcp.fin(), tcp.syn(), tcp.rst(), tcp.psh(), tcp.ack(), tcp.ece(), tcp.cwr(), tcp.urg()];
        prop_assert_eq!(theirs, FLAGS.map(|flag| segment.flags.has(flag)));
        let theirs: Vec<_> = tcp.options_iterator().collect::<Result<_, _>>()?;
        let theirs: Vec<_> =
            theirs.into_iter().filter(|option| !matches!(option, TcpOptionElement::Noop)).collect();
        prop_assert_eq!(theirs, expected_options(&segment));
    }
}

fn expected_options(segment: &Segment) -> Vec<TcpOptionElement> {
    let mut options = Vec::new();
    if segment.mss > 0 {
        options.push(TcpOptionElement::MaximumSegmentSize(segment.mss));
    }
    if segment.flags.has(Flags::SACK_PERMITTED) {
        options.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
    }
    if segment.flags.has(Flags::TIMESTAMPS) {
        options.push(TcpOptionElement::Timestamp(segment.timestamp, segment.timestamp_echo));
    }
    if segment.window_scale_plus_one > 0 {
        options.push(TcpOptionElement::WindowScale(segment.window_scale_plus_one - 1));
    }
    if let Some((first, rest)) = segment.sack.as_slice().split_first() {
        let mut others = [None; 3];
        others.iter_mut().zip(rest).for_each(|(other, block)| *other = Some(*block));
        options.push(TcpOptionElement::SelectiveAcknowledgement(*first, others));
    }
    options
}

/// A packet without payload whose options are given, with right lengths and checksums.
fn packet_with_options(options: &[u8], syn: bool) -> Vec<u8> {
    assert!(options.len().is_multiple_of(4) && options.len() <= 40);
    let mut bytes =
        bytes_of(&Segment { flags: if syn { Flags::SYN } else { Flags::ACK }, ..Segment::default() });
    bytes.extend_from_slice(options);
    bytes[3] = bytes.len() as u8;
    bytes[32] = (((20 + options.len()) / 4) << 4) as u8;
    bytes[10..12].fill(0);
    bytes[36..38].fill(0);
    let ip = !ones_complement(words(&bytes[..20]).into_iter());
    bytes[10..12].copy_from_slice(&ip.to_be_bytes());
    let pseudo = words(&bytes[12..20]).into_iter().chain([6, (bytes.len() - 20) as u16]);
    let tcp = !ones_complement(pseudo.chain(words(&bytes[20..])));
    bytes[36..38].copy_from_slice(&tcp.to_be_bytes());
    bytes
}

/// The byte strings are those of the options in RFC 9293 section 3.2, RFC 7323 sections 2.2 and 3.2 and
/// RFC 2018 sections 2 and 3, in the order in which Linux sends them.
#[test]
fn options_are_laid_out_as_linux_does() {
    let syn = Segment {
        flags: Flags::SYN.with(Flags::TIMESTAMPS).with(Flags::SACK_PERMITTED),
        timestamp: 0x0102_0304,
        mss: 1460,
        window_scale_plus_one: 8,
        ..Segment::default()
    };
    assert_eq!(
        bytes_of(&syn)[40..],
        [2, 4, 0x05, 0xB4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7],
        "mss, sackOK, timestamps, nop, wscale"
    );
    let plain = Segment { flags: Flags::SYN.with(Flags::SACK_PERMITTED), ..syn };
    assert_eq!(
        bytes_of(&plain)[40..],
        [2, 4, 0x05, 0xB4, 1, 1, 4, 2, 1, 3, 3, 7],
        "mss, nop, nop, sackOK, nop, wscale"
    );
    let mut ack = Segment { flags: Flags::ACK.with(Flags::TIMESTAMPS), timestamp: 1, ..Segment::default() };
    assert_eq!(bytes_of(&ack)[40..], [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0], "nop, nop, timestamps");
    ack.sack.push(0x10, 0x20, 3);
    assert_eq!(
        bytes_of(&ack)[52..],
        [1, 1, 5, 10, 0, 0, 0, 0x10, 0, 0, 0, 0x20],
        "nop, nop, sack behind the timestamps"
    );
}

/// The byte strings are those of figures 4 to 9 of RFC 8684.
#[test]
fn mptcp_options_are_laid_out_as_the_rfc_says() {
    let options = |flags: Flags, option: MptcpOption| {
        let mut segment = Segment { flags, ..Segment::default() };
        segment.set_mptcp(option);
        bytes_of(&segment)[40..].to_vec()
    };
    let (syn, ack) = (Flags::SYN, Flags::ACK);
    let (a, b) = (0x0102_0304_0506_0708, 0x1112_1314_1516_1718);
    let capable = |sender_key, receiver_key, data_length| MptcpOption::Capable {
        sender_key,
        receiver_key,
        data_length,
    };
    // Kind, length, subtype 0 and version 1, flag H.
    assert_eq!(options(syn, capable(None, None, None)), [30, 4, 0x01, 0x01]);
    assert_eq!(
        options(syn.with(ack), capable(Some(b), None, None)),
        [30, 12, 0x01, 0x01, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]
    );
    assert_eq!(
        options(ack, capable(Some(a), Some(b), Some(0x0590))),
        [
            30, 22, 0x01, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x05,
            0x90, 1, 1
        ]
    );
    // Subtype 1 and flag B, address identifier.
    let join = MptcpOption::JoinSyn { address_id: 3, backup: true, token: 0x0A0B_0C0D, nonce: 0x1A1B_1C1D };
    assert_eq!(options(syn, join), [30, 12, 0x11, 3, 10, 11, 12, 13, 0x1A, 0x1B, 0x1C, 0x1D]);
    let join = MptcpOption::JoinSynAck { address_id: 4, backup: false, hmac: a, nonce: 0x1A1B_1C1D };
    assert_eq!(
        options(syn.with(ack), join),
        [30, 16, 0x10, 4, 1, 2, 3, 4, 5, 6, 7, 8, 0x1A, 0x1B, 0x1C, 0x1D]
    );
    let hmac = std::array::from_fn(|i| i as u8);
    assert_eq!(options(ack, MptcpOption::JoinAck { hmac })[..4], [30, 24, 0x10, 0]);
    assert_eq!(options(ack, MptcpOption::JoinAck { hmac })[4..], hmac);
    // Subtype 2; flags F, M and A.
    let data_seq = DataNumber::Low(0x2122_2324);
    let mapping = DssMapping { data_seq, subflow_seq: 1, length: 0x0595 };
    let dss = Dss { data_ack: Some(DataNumber::Low(0x3132_3334)), mapping: Some(mapping), data_fin: true };
    assert_eq!(
        options(ack, MptcpOption::Dss(dss)),
        [30, 18, 0x20, 0x15, 0x31, 0x32, 0x33, 0x34, 0x21, 0x22, 0x23, 0x24, 0, 0, 0, 1, 0x05, 0x95, 1, 1]
    );
    let dss = Dss { data_ack: Some(DataNumber::Low(5)), mapping: None, data_fin: false };
    assert_eq!(options(ack, MptcpOption::Dss(dss)), [30, 8, 0x20, 0x01, 0, 0, 0, 5]);
    // Subtype 3 (section 3.4.1): 192.0.2.7 with its HMAC, and its echo, flag E.
    let address = [192, 0, 2, 7];
    let announced = MptcpOption::AddAddr { address_id: 5, address, hmac: Some(a) };
    assert_eq!(options(ack, announced), [30, 16, 0x30, 5, 192, 0, 2, 7, 1, 2, 3, 4, 5, 6, 7, 8]);
    let echo = MptcpOption::AddAddr { address_id: 5, address, hmac: None };
    assert_eq!(options(ack, echo), [30, 8, 0x31, 5, 192, 0, 2, 7]);
    // Subtypes 4 (section 3.4.2) and 5 (section 3.3.8) with flag B.
    assert_eq!(options(ack, MptcpOption::RemoveAddr { address_id: 5 }), [30, 4, 0x40, 5]);
    assert_eq!(options(ack, MptcpOption::Priority { backup: true }), [30, 3, 0x51, 1]);
    assert_eq!(options(ack, MptcpOption::Priority { backup: false }), [30, 3, 0x50, 1]);
}

/// RFC 8684 section 3.4: an address of IPv6 or with a port, and several removed addresses, are no error, and nothing
/// that is understood here; other lengths are errors.
#[test]
fn other_forms_of_addresses_are_skipped() {
    let read = |option: &[u8]| {
        let mut options = option.to_vec();
        options.resize(options.len().next_multiple_of(4), 1);
        decode(&packet_with_options(&options, false)).map(|decoded| decoded.segment.mptcp())
    };
    let of_length = |length: u8, subtype: u8| {
        let mut option = vec![0; usize::from(length)];
        option[..3].copy_from_slice(&[30, length, subtype]);
        option
    };
    for length in [10, 20, 22] {
        assert_eq!(read(&of_length(length, 0x31)), Ok(None), "an echo of {length} bytes");
    }
    for length in [18, 28, 30] {
        assert_eq!(read(&of_length(length, 0x30)), Ok(None), "ADD_ADDR of {length} bytes");
    }
    assert_eq!(read(&of_length(6, 0x40)), Ok(None), "three addresses");
    for (length, subtype) in [(8, 0x30), (16, 0x31), (3, 0x40), (3, 0x30), (4, 0x50)] {
        assert_eq!(
            read(&of_length(length, subtype)),
            Err(WireError::Option { kind: 30, at: 0 }),
            "{subtype}"
        );
    }
}

/// RFC 8684 section 3.3: numbers of 8 octets (flags a and m) and a checksum, as Linux sends them.
#[test]
fn numbers_of_eight_octets_are_read() {
    let mut bytes = vec![30, 28, 0x20, 0x0F];
    bytes.extend_from_slice(&0x0102_0304_0506_0708_u64.to_be_bytes());
    bytes.extend_from_slice(&0x1112_1314_1516_1718_u64.to_be_bytes());
    bytes.extend_from_slice(&[0, 0, 0, 9, 0, 7, 0xAB, 0xCD]);
    let segment = decode(&packet_with_options(&bytes, false)).unwrap().segment;
    let data_seq = DataNumber::Whole(0x1112_1314_1516_1718);
    let mapping = DssMapping { data_seq, subflow_seq: 9, length: 7 };
    let data_ack = Some(DataNumber::Whole(0x0102_0304_0506_0708));
    let dss = Dss { data_ack, mapping: Some(mapping), data_fin: false };
    assert_eq!(segment.mptcp(), Some(MptcpOption::Dss(dss)));
    for (length, wrong) in [(27, 0x0F), (28, 0x07), (28, 0x03), (12, 0x01), (5, 0x20)] {
        let mut bytes = bytes.clone();
        (bytes[1], bytes[3]) = (length, wrong);
        let error = decode(&packet_with_options(&bytes, false)).unwrap_err();
        assert_eq!(error, WireError::Option { kind: 30, at: 0 }, "length {length}, flags {wrong}");
    }
}

/// Beside timestamps in 12 bytes and a data ACK in 8, two blocks fit, one beside a data ACK in 12; beside a mapping none.
#[test]
fn sack_blocks_give_way_to_the_data_sequence_signal() {
    let mut ack = Segment { flags: Flags::ACK.with(Flags::TIMESTAMPS), ..Segment::default() };
    (0..3).for_each(|i| ack.sack.push(10 * i, 10 * i + 5, 3));
    let mut dss = Dss { data_ack: Some(DataNumber::Low(1)), ..Dss::default() };
    ack.set_mptcp(MptcpOption::Dss(dss));
    assert_eq!((ack.sack.as_slice(), ack.options_len()), (&[(0, 5), (10, 15)][..], 40));
    dss.data_ack = Some(DataNumber::Whole(1));
    ack.set_mptcp(MptcpOption::Dss(dss));
    assert_eq!((ack.sack.as_slice(), ack.options_len()), (&[(0, 5)][..], 36));
    dss.mapping = Some(DssMapping { data_seq: DataNumber::Low(1), subflow_seq: 2, length: 3 });
    ack.set_mptcp(MptcpOption::Dss(dss));
    assert_eq!((ack.sack.as_slice(), ack.options_len()), (&[][..], 36));
    dss.data_ack = Some(DataNumber::Low(1));
    ack.set_mptcp(MptcpOption::Dss(dss));
    assert_eq!(ack.options_len(), 32);
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_the_buffer_alone() {
    let mut buffer = vec![1, 2, 3];
    let mut refused = |segment: &Segment| {
        let error = encode(segment, client(), server(), 0, 64, &mut buffer).expect_err("too large");
        assert_eq!(buffer, [1, 2, 3]);
        error
    };
    let mut sack = Segment { flags: Flags::ACK.with(Flags::TIMESTAMPS), ..Segment::default() };
    (0..4).for_each(|i| sack.sack.push(i, i + 1, 4));
    assert_eq!(refused(&sack), EncodeError::OptionsTooLong(48));
    let long = Segment { payload: 65_500, ..Segment::default() };
    assert_eq!(refused(&long), EncodeError::PacketTooLong(65_540));
    let scale = Segment { flags: Flags::SYN, window_scale_plus_one: 16, ..Segment::default() };
    assert_eq!(refused(&scale), EncodeError::WindowScale(15));
}

#[test]
fn damaged_packets_get_an_error_of_their_own() {
    let good = bytes_of(&Segment { payload: 4, flags: Flags::ACK, ..Segment::default() });
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        // Right IP checksum again, so that the damage itself is found.
        bytes[10..12].fill(0);
        let ip = !ones_complement(words(&bytes[..20]).into_iter());
        bytes[10..12].copy_from_slice(&ip.to_be_bytes());
        decode(&bytes).expect_err("damaged")
    };
    assert_eq!(decode(&[]), Err(WireError::Truncated { have: 0, need: 20 }));
    assert_eq!(decode(&good[..43]), Err(WireError::Truncated { have: 43, need: 44 }));
    assert_eq!(error(&|b| b[0] = 0x65), WireError::Version(6));
    assert_eq!(error(&|b| b[0] = 0x44), WireError::IpHeaderLength(16));
    assert_eq!(error(&|b| b[3] = 39), WireError::TotalLength { total: 39, headers: 40 });
    assert_eq!(error(&|b| b[6] = 0x20), WireError::Fragment);
    assert_eq!(error(&|b| b[9] = 17), WireError::Protocol(17));
    assert_eq!(error(&|b| b[43] = 1), WireError::TcpChecksum);
    let mut bytes = good.clone();
    bytes[8] = 1;
    assert_eq!(decode(&bytes), Err(WireError::IpChecksum));
    // 0x50 -> 0x40 in the data offset, and the checksum made good for it.
    let mut bytes = good.clone();
    bytes[32] = 0x40;
    let old = u16::from_be_bytes([bytes[36], bytes[37]]);
    bytes[36..38].copy_from_slice(&ones_complement([old, 0x1000].into_iter()).to_be_bytes());
    assert_eq!(decode(&bytes), Err(WireError::DataOffset(16)));
}

#[test]
fn options_are_read_as_the_rfcs_say() {
    let read =
        |options: &[u8], syn| decode(&packet_with_options(options, syn)).map(|decoded| decoded.segment);
    // Kind 30 is MPTCP; its version 0 and its other subtypes, as MP_FAIL, are unknown here, and skipped.
    let segment = read(&[30, 4, 0x60, 0, 2, 4, 0x02, 0x18, 3, 3, 200, 0], true).expect("well-formed");
    assert_eq!((segment.mss, segment.window_scale_plus_one), (536, 15), "a scale above 14 counts as 14");
    let segment = read(&[2, 4, 0x02, 0x18, 3, 3, 7, 1, 4, 2, 1, 1], false).expect("well-formed");
    assert_eq!(segment, Segment { flags: Flags::ACK, ..Segment::default() }, "options of a SYN elsewhere");
    // Nothing after the end-of-options kind is read.
    assert!(read(&[0, 8, 3, 1], false).is_ok());
    assert_eq!(read(&[1, 8, 3, 1], false), Err(WireError::Option { kind: 8, at: 1 }));
    assert_eq!(read(&[1, 1, 1, 8], false), Err(WireError::Option { kind: 8, at: 3 }), "no length");
    assert_eq!(read(&[30, 1, 1, 1], false), Err(WireError::Option { kind: 30, at: 0 }), "length below 2");
    assert_eq!(read(&[1, 30, 4, 1], false), Err(WireError::Option { kind: 30, at: 1 }), "past the end");
    assert_eq!(read(&[5, 4, 1, 1], false), Err(WireError::Option { kind: 5, at: 0 }), "half a block");
}

/// The decoder checks the checksum.
#[test]
fn a_marked_packet_is_intact() {
    let ends = [1, 2].map(|host| Endpoint { addr: [10, 0, 0, host], port: 5001 });
    for ack in 0..2000 {
        let flags = Flags::ACK.with(Flags::ECT);
        let segment = Segment { ack, payload: ack as u16, flags, ..Segment::default() };
        let mut bytes = Vec::new();
        encode(&segment, ends[0], ends[1], 7, 64, &mut bytes).expect("a segment");
        mark(&mut bytes);
        assert!(decode(&bytes).expect("intact").segment.flags.has(Flags::CE));
    }
}
