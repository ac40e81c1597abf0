//! Every construct of a segment: that it is read, and what it means for the model.

use crate::playing::{HANDSHAKE, SOCKET, behind, check, play};
use anabranch_scripts::{Ending, Script, ScriptChoices};

/// Blanks, line ends and comments may stand between any two parts.
#[test]
fn an_event_may_stand_on_several_lines() {
    let text = "+0 < S\n 0:0 ( 0 )\n win 65535 // why\n <mss 1000,\n sackOK /* and */, nop, wscale 7>\n\
                +0 > S. 0:0(0)\n ack 1 <mss 1460,sackOK,nop,wscale 7>\n+.1\n... 0.2\n accept(3,\n ..., ...)\n = 4\n\
                + .1 < . 1:1(0) ack 1 win 1000\n";
    assert_eq!(play(&format!("{SOCKET}{text}")), Ending::Pass);
}

/// RFC 3168 section 5: both codepoints of ECT are alike to a receiver.
#[test]
fn marks_of_the_ip_header_are_read_in_every_form() {
    let data = |mark: &str| format!("+0 < {mark} . 1:1001(1000) ack 1 win 1000\n+.04 > . 1:1(0) ack 1001");
    for mark in ["[ect0]", "(ect1)", "[noecn]", "[tos 0x2]", "[ttl 64]", "( tos 0x1 )"] {
        assert_eq!(behind(&data(mark)), "", "{mark}");
    }
    let sent = |mark: &str| format!("+0 write(4, ..., 1000) = 1000\n+0 > {mark} P. 1:1001(1000) ack 1");
    check(
        &[
            ("[noecn]", ""),
            ("[tos 0x0]", ""),
            ("[ect01]", "its mark is not ECT"),
            ("[ect1]", "its mark is not ECT"),
            ("[ce]", "its mark is not ECT"),
            ("[ttl 64]", "the model has no TTL in the IP header"),
            ("[noecn, flowlabel 0x12]", "the model has no flow label in the IP header"),
            ("[tos 0x10]", "the model has no differentiated services in the IP header"),
        ],
        |mark| behind(&sent(mark)),
    );
    let ecn =
        format!("--tcp.ecn=true\n{SOCKET}{}", HANDSHAKE.replace("< S ", "< SEW ").replace("> S. ", "> SE. "));
    for (mark, passes) in
        [("[ect0]", true), ("[ect01]", true), ("[tos 0x2]", true), ("[ect1]", false), ("[noecn]", false)]
    {
        assert_eq!(play(&format!("{ecn}{}\n", sent(mark))) == Ending::Pass, passes, "{mark}");
    }
}

/// RFC 9293 section 3.2: a host ignores options that it does not know. It sends none of them.
#[test]
fn options_of_tcp_are_read_in_every_form() {
    let arriving = [
        "FO",
        "FO 0123456789abcdef",
        "FOEXP TFO_COOKIE",
        "exp-fastopen 0123",
        "ECN e1b 1 ceb 0 e0b 1",
        "unknown 253 0xabcd",
        "TS val 5 ecr 0",
        "eol",
        "mp_reset 1 flags[flag_t]",
        "mp_fastclose ckey + 1",
        "dss dack4=1 dsn8=trunc_r64_hmac(ckey) + 1 ssn=0 dll=1 nocs fin",
        "mpcapable v1 flags[flag_b, flag_h] key[ckey=2, skey] mpcdatalen 2",
        "mp_capable a=1 b flag_a",
        "mp_join_syn backup=1 address_id=1 token=sha256_32(skey) rand=7",
        "mp_join_syn_ack address_id=auto sender_hmac=trunc_l64_hmac(a b)",
        "mp_join_ack sender_hmac=full_160_hmac(a b)",
        "add_address address_id=2 addr[a=inet_addr(\"10.0.0.1\")] port=8080 hmac=auto",
        "add_address address_id=2 addr[a] addr_echo",
        "remove_address address_id=[1,2]",
        "mp_prio backup=1 address_id=3",
        "mp_fail dsn8=12",
    ];
    for option in arriving {
        let text =
            format!("+0 < . 1:1001(1000) ack 1 win 1000 <nop, {option} , nop>\n+.04 > . 1:1(0) ack 1001");
        assert_eq!(behind(&text), "", "{option}");
    }
    let leaving = |option: &str| format!("+0 write(4, ..., 1) = 1\n+0 > P. 1:2(1) ack 1 <{option}>");
    check(
        &[
            ("FO", "the model's TCP has no option FO"),
            ("md5 00112233445566778899aabbccddeeff", "the model's TCP has no option md5"),
            ("ECN e0b 1", "the model's TCP has no option ECN"),
            ("dss dack8", "the model's scripts have no connection of Multipath TCP: dss"),
        ],
        |option| behind(&leaving(option)),
    );
    for (option, message) in [
        ("FO 123", "the cookie of fast open is 123; it has up to 36 bytes of two hexadecimal digits"),
        ("ECN e2b 1", "\"e2b\" is no counter; there are e0b, ceb and e1b"),
        ("dss dack5", "\"dack5\" is no part of dss; there are dack4, dack8,"),
        ("dss dack4=", "expected a value, found \">\""),
    ] {
        let text = format!("0 > . 1:1(0) ack 1 <{option}>");
        let error = Script::parse(&text, &ScriptChoices::new("newreno").unwrap()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// FreeBSD's scripts write what they do not compare as `...`.
#[test]
fn either_timestamp_may_be_left_out() {
    let open = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 // EINPROGRESS\n\
                +0 > S 0:0(0) <mss 1460,sackOK,TS val 700 ecr 0,nop,wscale 7>\n\
                +.1 < S. 0:0(0) ack 1 win 5000 <mss 1460,sackOK,TS val 30 ecr 700,nop,wscale 7>\n";
    for (option, passes) in [
        ("val ... ecr 30", true),
        ("val ... ecr ...", true),
        ("val ... ecr 31", false),
        ("val 800 ecr ...", true),
    ] {
        let text = format!("--tcp.timestamp_tick=1ms\n{open}+0 > . 1:1(0) ack 1 <nop,nop,TS {option}>\n");
        assert_eq!(play(&text) == Ending::Pass, passes, "{option}");
    }
}

/// As packetdrill has it: those of a SYN and of its answer stand as they are, all others count from the SYN.
#[test]
fn sequence_numbers_of_the_other_end_count_from_its_syn() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
                +0 < S 4294967290:4294967290(0) win 9000 <mss 1000,sackOK>\n+0 > S. 0:0(0) ack 4294967291 <mss 1460,sackOK>\n\
                +.1 < . 1:1(0) ack 1 win 9000\n+0 accept(3, ..., ...) = 4\n+0 < . 1001:2001(1000) ack 1 win 9000\n\
                +0 > . 1:1(0) ack 1 <nop,nop,sack 1001:2001>\n+0 < . 1:1001(1000) ack 1 win 9000\n+0 > . 1:1(0) ack 2001\n";
    assert_eq!(play(text), Ending::Pass);
    let client = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n\
                  +.1 < S. 123:123(0) ack 1 win 9000 <mss 1000>\n+0 > . 1:1(0) ack 1\n+0 < P. 1:11(10) ack 1 win 9\n+.04 > . 1:1(0) ack 11\n";
    assert_eq!(play(client), Ending::Pass);
}

/// A script opens one connection after another; each has timestamps and numbers of its own.
#[test]
fn a_second_connection_begins_anew() {
    let one = |first: u32, isn: u32| {
        format!(
            "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n\
             +0 > S 0:0(0) <mss 1460,sackOK,TS val {first} ecr 0,nop,wscale 7>\n\
             +.1 < S. {isn}:{isn}(0) ack 1 win 5000 <mss 1460,sackOK,TS val 30 ecr {first},nop,wscale 7>\n\
             +0 > . 1:1(0) ack 1 <nop,nop,TS val {} ecr 30>\n+0 close(3) = 0\n+0 > F. 1:1(0) ack 1 <...>\n",
            first + 100
        )
    };
    let options = "--tcp_ts_tick_usecs=1000\n--tcp.timestamp_tick=1ms\n";
    assert_eq!(play(&format!("{options}{}{}", one(700, 9), one(5000, 77))), Ending::Pass);
}

/// packetdrill compares the timestamps that leave only by a tick; what comes is mapped to the endpoint's own.
#[test]
fn without_a_tick_timestamps_are_any() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n\
                +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>\n\
                +.1 < S. 0:0(0) ack 1 win 5000 <mss 1460,sackOK,TS val 30 ecr 100,nop,wscale 7>\n\
                +0 > . 1:1(0) ack 1 <nop,nop,TS val 100 ecr 30>\n+.1 write(3, ..., 10) = 10\n\
                +0 > P. 1:11(10) ack 1 <nop,nop,TS val 200 ecr 30>\n\
                +.3 < . 1:1(0) ack 11 win 5000 <nop,nop,TS val 31 ecr 200>\n+0 %{ assert 110000 < tcpi_rtt < 140000 }%\n";
    assert_eq!(play(text), Ending::Pass);
}

/// An acknowledgment that is left out is 0, one without its flag none (RFC 9293 section 3.1).
#[test]
fn flag_and_number_of_an_acknowledgment_are_independent() {
    let reset = "+0 < R. 1:1(0) ack 1 win 5\n+0 < . 1:1(0) win 5\n+0 > R 0:0(0)\n+0 < P 1:3(2) ack 7 win 5\n+0 > R. 0:0(0) ack 3";
    assert_eq!(behind(reset), "");
}

/// What is sent to another end is no business of the one connection.
#[test]
fn ends_may_be_named_and_are_those_of_one_connection() {
    let handshake = |third: &str| {
        HANDSHAKE
            .replace("< S ", "< 192.0.2.1:80 > 192.168.0.1:8080 S ")
            .replace("< . ", &format!("< {third} . "))
    };
    check(
        &[
            ("192.0.2.1:80 > 192.168.0.1:8080", ""),
            ("", ""),
            ("192.0.2.9:80 >", "the model's scripts have one connection; 192.0.2.9:80 belongs to another"),
            ("> 192.168.0.1:1", "the model's scripts have one connection; 192.168.0.1:1 belongs to another"),
        ],
        |third| play(&format!("{SOCKET}{}", handshake(third))).to_string(),
    );
    let named =
        HANDSHAKE.replace("< S ", "< addr[c] > addr[s] S ").replace("> S. ", "> addr[s] > addr[c] S. ");
    assert_eq!(play(&format!("{SOCKET}{named}")), Ending::Pass);
    check(
        &[
            ("+0 < icmp unreachable frag_needed mtu 1200 [1:1001(1000)]", "the model has no packets of icmp"),
            ("+0 > udp (100)", "the model has no packets of udp"),
            ("+0 < encap psp spi 7 . 1:1(0) ack 1 win 5", "the model has no packets of encap"),
            (
                "+0 < ipv4 2.2.2.2 > 1.1.1.1: gre:\n mpls (label 1, tc 1, [S], ttl 2): . 1:1(0) ack 1 win 5\n+0 close(4) = 0",
                "the model has no packets of ipv4",
            ),
            (
                "+0 < . 1:1(0) ack 1 win 5 <nop,nop> { mut tcp data_offset 0xFF ; ins tcp 20 0x02 }",
                "the model's segments are whole: their bytes are not changed one by one",
            ),
            ("+0 > . 1:1(0) ack 1 <mss MSS>", "MSS stands for no number; --define=MSS=1460 would say which"),
            ("+0 < ipv4 1.1.1.1 > 2.2.2.2: gre: . 1:1(0) ack 1 win 5", "the model has no packets of ipv4"),
        ],
        behind,
    );
}

/// RFC 9293 section 3.7.1: the MSS is what the headers leave of the MTU, and that of IPv6 has 20 bytes more.
#[test]
fn a_script_of_ipv6_has_its_mss() {
    let shown = |options: &str, mss: u32| {
        let text = format!("{options}\n{SOCKET}{}", HANDSHAKE.replace("mss 1460", &format!("mss {mss}")));
        play(&text).to_string()
    };
    assert_eq!(shown("--ip_version=ipv6", 1440), "");
    assert_eq!(shown("--mtu=1520 --ip_version=ipv6", 1460), "");
    assert_eq!(shown("--ip_version=ipv4 --mtu=1400", 1360), "");
    assert_eq!(shown("--ip_version=ipv6 --tcp.mss=1000", 1000), "");
    assert_ne!(shown("--ip_version=ipv6", 1460), "");
    let named = HANDSHAKE.replace("mss 1460", "mss MSS");
    assert_eq!(play(&format!("--define=MSS=1460\n{SOCKET}{named}")), Ending::Pass);
}

/// An unknown option of accurate ECN on a SYN is a plain request for ECN (RFC 9768 section 3.1.2).
#[test]
fn accurate_ecn_is_known_where_it_is_ignored() {
    let syn = HANDSHAKE.replace("< S ", "< SEWA ");
    let refused = format!("{SOCKET}{syn}");
    assert_eq!(play(&refused), Ending::Pass);
    let agreed = format!("--tcp.ecn=true\n{SOCKET}{}", syn.replace("> S. ", "> SE. "));
    assert_eq!(play(&agreed), Ending::Pass);
    check(
        &[
            ("+0 > EAP. 1:2(1) ack 1", "the model has no accurate ECN"),
            ("+0 < .5 1:1(0) ack 1 win 5", "the model has no accurate ECN"),
            ("+0 < .A 1:1(0) ack 1 win 5", "the model has no accurate ECN"),
        ],
        behind,
    );
}

/// RFC 9293 section 3.10.4: while a SYN is not answered, CLOSE deletes the connection, and a SYN-ACK is refused. RFC 1122
/// section 4.2.2.13: CLOSE with data that were not read sends an RST.
/// As the manual of Linux has it (tcp(7), send(2)): a cork holds short segments back for 200 ms at most (here a timeout of
/// 300 ms), and TCP_NODELAY sends what waits once.
/// draft-minshall-nagle section 2: a short segment waits for the ACK of an earlier short one, unless TCP_NODELAY is set.
/// What commands set is heeded; a command that cannot be mapped is named with its line.
/// RFC 9293 section 3.10.7.2, in the words of FreeBSD's scripts.
/// A server agrees to ECN, and a client does not ask for it (tcp_ecn=2).
/// What is set between events would hold for those before, too; behind the last segment it restores what was.
/// RFC 8684 section 3.1: without a usable MP_CAPABLE in the answer the connection is one of plain TCP.
#[test]
fn multipath_connections_that_fall_back_are_played() {
    let server = |option: &str, rest: &str| {
        let socket = SOCKET.replace("IPPROTO_TCP", "IPPROTO_MPTCP");
        let syn = HANDSHAKE.replace("nop,wscale 7>\n+0 > S.", &format!("nop,wscale 7{option}>\n+0 > S."));
        play(&format!("{socket}{syn}{rest}\n")).to_string()
    };
    let plain = "+0 getsockopt(3, SOL_TCP, TCP_IS_MPTCP, [1], [4]) = 0\n+0 getsockopt(4, SOL_TCP, TCP_IS_MPTCP, [0], [4]) = 0\n\
                 +0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1";
    for option in [
        "",
        ",mpcapable v0 flags[flag_h] key[ckey=2]",
        ",mpcapable v1 flags[flag_b, flag_h] nokey",
        ",mpcapable v1 flags[flag_a] nokey",
    ] {
        assert_eq!(server(option, plain), "", "{option}");
    }
    let becomes = server(",mpcapable v1 flags[flag_h] nokey", plain);
    assert!(
        becomes.ends_with("the model's scripts have no connection of Multipath TCP: mpcapable"),
        "{becomes}"
    );

    let client = |offered: &str, answered: &str| {
        let text = format!(
            "0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n\
             +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7{offered}>\n\
             +.1 < S. 0:0(0) ack 1 win 5000 <mss 1460,sackOK,TS val 700 ecr 100,nop,wscale 7{answered}>\n\
             +0 > . 1:1(0) ack 1 <nop,nop,TS val 200 ecr 700>\n+0 getsockopt(3, SOL_TCP, TCP_IS_MPTCP, [0], [4]) = 0\n"
        );
        play(&text).to_string()
    };
    let usable = ",mpcapable v1 flags[flag_h] nokey";
    for answered in
        ["", ",mpcapable v1 flags[flag_b, flag_h] key[skey=2]", ",mpcapable v0 flags[flag_h] key[skey=2]"]
    {
        assert_eq!(client(usable, answered), "", "{answered}");
    }
    assert!(client("", "").ends_with("it offers mpcapable v1 flags[flag_h] nokey"));
    assert!(
        client(",mpcapable v1 flags[flag_a] nokey", "")
            .ends_with("it offers mpcapable v1 flags[flag_h] nokey")
    );
    assert!(client(usable, ",mpcapable v1 flags[flag_h] key[skey=2]").ends_with("Multipath TCP: mpcapable"));
    // A socket of TCP offers nothing.
    let tcp = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n\
               +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7,mpcapable v1 flags[flag_h] nokey>\n";
    assert!(play(tcp).to_string().ends_with("it has no option of Multipath TCP"));
}
