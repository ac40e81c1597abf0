//! Every construct of the language: that it is read, and what it means for the model.

use anabranch_scripts::{Ending, Script, ScriptChoices};

const SOCKET: &str =
    "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n";
const HANDSHAKE: &str = "+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
";

fn play(text: &str) -> Ending {
    let choices = ScriptChoices::new("newreno").unwrap();
    Script::parse(text, &choices).unwrap_or_else(|error| panic!("{text}\n{error}")).play()
}

/// Behind a handshake; its first line is line 8.
fn behind(rest: &str) -> String {
    play(&format!("{SOCKET}{HANDSHAKE}{rest}\n")).to_string()
}

/// What passes, and what does not with the end of its remark.
fn check(cases: &[(&str, &str)], play: impl Fn(&str) -> String) {
    for (text, remark) in cases {
        let outcome = play(text);
        assert!(outcome.ends_with(remark) && outcome.is_empty() == remark.is_empty(), "{text}: {outcome}");
    }
}

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
        ("FO 123", "the cookie of fast open is 123; it has up to 16 bytes of two hexadecimal digits"),
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

#[test]
fn calls_write_and_read_in_every_form() {
    let message = "{msg_name(...)=..., msg_iov(2)=[{..., 400},\n {..., 600}], msg_flags=0}";
    check(
        &[
            ("+0 write(4, ..., 1000) = 1000", ""),
            ("+0 send(4, ..., 1000, MSG_NOSIGNAL | MSG_DONTWAIT) = 1000", ""),
            ("+0 sendto(4, ..., 1000, MSG_ZEROCOPY, ..., ...) = 1000", ""),
            ("+0 writev(4, [{..., 400}, {..., 600}], 2) = 1000", ""),
            (&format!("+0 sendmsg(4, {message}, 0) = 1000"), ""),
            ("+0 writev(4, [{..., 400}, {..., 600}], 2) = 999", "writev gave 1000, expected 999"),
            ("+0 send(4, ..., 1000, MSG_EOR) = 1000", "the model has no MSG_EOR"),
            ("+0 sendfile(4, 5, [0], 1000) = 1000", "the model has no call sendfile"),
            ("+0 splice(4, ..., 5, ..., 1000, 0) = 1000", "the model has no call splice"),
        ],
        |call| {
            let rest = if call.ends_with("= 1000") { "\n+0 > P. 1:1001(1000) ack 1" } else { "" };
            behind(&format!("{call}{rest}"))
        },
    );
    let control = message.replace("msg_flags=0", "msg_flags=0, msg_control=[{cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data={ee_errno=0, ee_origin=1}}]");
    check(
        &[
            ("+0 read(4, ..., 2000) = 1000", ""),
            ("+0 recv(4, ..., 300, 0) = 300", ""),
            ("+0 recvfrom(4, ..., 2000, 0, ..., ...) = 1000", ""),
            ("+0 readv(4, [{..., 100}, {..., 50}], 2) = 150", ""),
            (&format!("+0 recvmsg(4, {message}, 0) = 1000"), ""),
            (&format!("+0 recvmsg(4, {control}, 0) = 1000"), "the model has no control messages of recvmsg"),
            ("+0 recv(4, ..., 300, MSG_PEEK) = 300", "the model has no MSG_PEEK"),
            ("+0 ioctl(4, SIOCINQ, [1000]) = 0", ""),
            ("+0 ioctl(4, SIOCINQ, [5]) = 0", "ioctl hands out 1000, expected 5"),
            ("+0 ioctl(4, SIOCATMARK, [5]) = 0", "the model has no ioctl with SIOCATMARK"),
        ],
        |call| behind(&format!("+0 < P. 1:1001(1000) ack 1 win 1000\n{call}")),
    );
    let queued = "+0 write(4, ..., 20000) = 20000\n";
    // Ten segments of 1000 bytes are the initial window.
    assert_eq!(
        behind(&format!("{queued}+0 ioctl(4, SIOCOUTQ, [20000]) = 0\n+0 ioctl(4, SIOCOUTQNSD, [10000]) = 0")),
        ""
    );
    assert_eq!(behind(&format!("{queued}+0 %{{ assert tcpi_notsent_bytes == 10000 }}%")), "");
}

#[test]
fn a_poll_reports_what_is_ready() {
    let poll = |revents: &str, count| {
        format!("poll([{{fd=4, events=POLLIN|POLLOUT|POLLRDHUP, revents={revents}}}], 1, 0) = {count}")
    };
    assert_eq!(behind(&format!("+0 {}", poll("POLLOUT", 1))), "");
    assert_eq!(behind(&format!("+0 < P. 1:11(10) ack 1 win 9\n+0 {}", poll("POLLIN|POLLOUT", 1))), "");
    assert_eq!(
        behind(&format!("+0 < F. 1:1(0) ack 1 win 9\n+0 {}", poll("POLLRDHUP|POLLOUT|POLLIN", 1))),
        ""
    );
    let wrong = behind(&format!("+0 {}", poll("POLLIN", 1)));
    assert_eq!(wrong, "line 8: poll reports POLLOUT, expected POLLIN");
    // It waits for data, and its time is up where none come.
    let waits =
        "+0...0.3 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 1000) = 1\n+.3 < P. 1:11(10) ack 1 win 9";
    assert_eq!(behind(waits), "");
    assert_eq!(behind("+0...0.2 poll([{fd=4, events=POLLIN}], 1, 200) = 0\n+1 close(4) = 0"), "");
    let listener = format!("{SOCKET}+0 poll([{{fd=3, events=POLLIN, revents=0}}], 1, 0) = 0\n");
    let ready = HANDSHAKE
        .replace("+0 accept", "+0 poll([{fd=3, events=POLLIN, revents=POLLIN}], 1, 0) = 1\n+0 accept");
    assert_eq!(play(&format!("{listener}{ready}")), Ending::Pass);
}

/// RFC 9293 section 3.10.4: while a SYN is not answered, CLOSE deletes the connection, and a SYN-ACK is refused. RFC 1122
/// section 4.2.2.13: CLOSE with data that were not read sends an RST.
#[test]
fn shutting_and_closing_end_what_they_say() {
    let data = "+0 < P. 1:11(10) ack 1 win 9\n";
    check(
        &[
            ("+0 shutdown(4, SHUT_RD) = 0\n+0 read(4, ..., 5) = 0", ""),
            ("+0 shutdown(4, SHUT_RD) = 0\n+0 write(4, ..., 1) = 1\n+0 > P. 1:2(1) ack 1", ""),
            (
                &format!(
                    "{data}+0 shutdown(4, SHUT_RD) = 0\n+0 read(4, ..., 5) = 5\n+0 read(4, ..., 9) = 5\n+0 read(4, ..., 9) = 0"
                ),
                "",
            ),
            (
                "+0 shutdown(4, SHUT_RDWR) = 0\n+0 > F. 1:1(0) ack 1\n+0 write(4, ..., 1) = -1 EPIPE\n+0 read(4, ..., 1) = 0",
                "",
            ),
            ("+0 read(4, ..., 1) = 0", "read gave -1 EAGAIN, expected 0"),
        ],
        behind,
    );
    let unopened = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 shutdown(3, SHUT_RDWR) = -1 ENOTCONN\n";
    assert_eq!(play(unopened), Ending::Pass);
    check(
        &[
            (
                &format!(
                    "{data}+.04 > . 1:1(0) ack 11\n+0 close(4) = 0\n+0 > R. 1:1(0) ack 11\n+0 < . 11:11(0) ack 1 win 9\n+0 > R 1:1(0)"
                ),
                "",
            ),
            (&format!("{data}+0 read(4, ..., 5) = 5\n+0 close(4) = 0\n+0 > R. 1:1(0) ack 11"), ""),
            (&format!("{data}+0 read(4, ..., 10) = 10\n+0 close(4) = 0\n+0 > F. 1:1(0) ack 11"), ""),
            ("+0...0.3 write(4, ..., 10) = 10", "the model has no send buffer, and so no write that blocks"),
        ],
        behind,
    );
    let connecting = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS (x)\n\
                      +0 > S 0:0(0) <...>\n+.1 close(3) = 0\n+0 < S. 0:0(0) ack 1 win 9\n+0 > R 1:1(0)\n";
    assert_eq!(play(connecting), Ending::Pass);
}

#[test]
fn options_of_sockets_are_set_and_read() {
    check(
        &[
            ("+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [5], 4) = 0", ""),
            (
                "+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [5], 4) = 0\n+0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [10], [4]) = 0",
                "the model has no getsockopt of SO_SNDBUF",
            ),
            (
                "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n+0 getsockopt(4, SOL_TCP, TCP_NODELAY, [1], [4]) = 0",
                "",
            ),
            ("+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1000], [4]) = 0", ""),
            ("+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1], [4]) = 0", "getsockopt hands out 1000, expected 1"),
            ("+0 getsockopt(4, SOL_TCP, TCP_CONGESTION, [\"newreno\"], [8]) = 0", ""),
            ("+0 setsockopt(4, SOL_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_DONT], 1) = 0", ""),
            ("+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=0, linger=0}, 8) = 0", ""),
            (
                "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0",
                "the model has no setsockopt of SO_LINGER",
            ),
            ("+0 setsockopt(4, SOL_TCP, TCP_DEFER_ACCEPT, [0], 4) = 0", ""),
            (
                "+0 setsockopt(4, SOL_TCP, TCP_DEFER_ACCEPT, [1], 4) = 0",
                "the model has no setsockopt of TCP_DEFER_ACCEPT",
            ),
            ("+0 setsockopt(4, SOL_TCP, TCP_MAXSEG, [500], 4) = 0", "is chosen before its handshake"),
            ("+0 < R. 1:1(0) ack 1 win 9\n+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [ECONNRESET], [4]) = 0", ""),
            (
                "+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [ECONNRESET], [4]) = 0",
                "the socket has no error, and the script expects otherwise",
            ),
        ],
        behind,
    );
    let limited = format!(
        "{SOCKET}+0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [600], 4) = 0\n\
                           +0 getsockopt(3, SOL_TCP, TCP_MAXSEG, [600], [4]) = 0\n{}",
        HANDSHAKE.replace("mss 1460", "mss 600")
    );
    assert_eq!(
        play(&format!(
            "{limited}+0 write(4, ..., 1200) = 1200\n+0 > . 1:601(600) ack 1\n+0 > P. 601:1201(600) ack 1\n"
        )),
        Ending::Pass
    );
}

/// As the manual of Linux has it (tcp(7), send(2)): a cork holds short segments back for 200 ms at most (here a timeout of
/// 300 ms), and TCP_NODELAY sends what waits once.
#[test]
fn short_segments_wait_for_what_will_be_written() {
    let cork = |on: u8| format!("+0 setsockopt(4, SOL_TCP, TCP_CORK, [{on}], 4) = 0\n");
    let write = "+0 write(4, ..., 40) = 40\n";
    let (all, none) = ("+0 > P. 1:81(80) ack 1\n", "+.1 %{ assert tcpi_unacked == 0 }%\n");
    let corked = format!("--all_packets\n{SOCKET}{HANDSHAKE}{}{write}{none}", cork(1));
    let outcome = |rest: &str| play(&format!("{corked}{rest}")).to_string();
    assert_eq!(outcome(&format!("{write}{}{all}", cork(0))), "");
    assert_eq!(outcome(&format!("{write}+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n{all}")), "");
    assert_eq!(outcome("+.2 > P. 1:41(40) ack 1\n"), "", "0.3 s after the write");
    // A full segment does not wait, the rest of it does.
    assert_eq!(outcome("+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1\n"), "");
    assert_eq!(outcome("+0 close(4) = 0\n+0 > FP. 1:41(40) ack 1\n"), "");

    let more = "+0 send(4, ..., 40, MSG_MORE) = 40\n";
    let strict = |rest: &str| play(&format!("--all_packets\n{SOCKET}{HANDSHAKE}{rest}")).to_string();
    assert_eq!(strict(&format!("{more}{none}{write}{all}")), "");
    assert_eq!(strict(&format!("{more}{none}+0 < . 1:1(0) ack 1 win 1000\n+0 > P. 1:41(40) ack 1\n")), "");
    assert_eq!(strict(&format!("{more}+.3 > P. 1:41(40) ack 1\n")), "");
}

/// draft-minshall-nagle section 2: a short segment waits for the ACK of an earlier short one, unless TCP_NODELAY is set.
#[test]
fn sockets_of_linux_wait_by_nagles_algorithm() {
    let play = |option: &str, rest: &str| {
        let opening = format!("{SOCKET}{option}{HANDSHAKE}").replace("wscale 7>\n+.1", "wscale 8>\n+.1");
        let choices = ScriptChoices::new("linux-reno").unwrap();
        Script::parse(&format!("`defaults.sh`\n{opening}{rest}"), &choices).unwrap().play().to_string()
    };
    let two = "+0 write(4, ..., 40) = 40\n+0 > P. 1:41(40) ack 1\n+0 write(4, ..., 40) = 40\n";
    let waits = format!("{two}+.05 < . 1:1(0) ack 41 win 1000\n+0 > P. 41:81(40) ack 1\n");
    let at_once = format!("{two}+0 > P. 41:81(40) ack 1\n");
    let nodelay = "+0 setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n";
    assert_eq!(play("", &waits), "");
    assert_ne!(play("", &at_once), "");
    assert_eq!(play(nodelay, &at_once), "");
}

#[test]
fn code_assigns_and_goes_on_over_lines() {
    let code = "+0 %{\nimport math\ncwnd = 8 # ten\ncwnd += 2; bound = (cwnd +\n  5)\nprint(\"a;b\")\nassert tcpi_snd_cwnd == cwnd, \"no; really\"\n\
                assert tcpi_snd_cwnd \\\n   < bound\n}%\n+0 %{ TCP_INFINITE_SSTHRESH = 0x7fffffff }%\n+0 %{ assert tcpi_snd_ssthresh == TCP_INFINITE_SSTHRESH and bound == 15 }%";
    assert_eq!(behind(code), "");
    assert_eq!(behind("+0 %{\na = 1\nassert a == 2\n}%"), "line 8: assert a == 2: a is 1");
    assert_eq!(behind("+0 %{ a += 1 }%"), "line 8: the model has no a");
    assert_eq!(behind("+0 %{ assert unset == 1 }%"), "line 8: the model has no unset");
    assert_eq!(
        behind("+0 %{ for x in y: pass }%"),
        "line 8: Python code beyond asserts and assignments: for x in y: pass"
    );
}

#[test]
fn words_stand_for_what_they_are_defined_as() {
    let with = |option: &str, rest: &str| play(&format!("{option}\n{SOCKET}{HANDSHAKE}{rest}\n")).to_string();
    assert_eq!(with("--define=SIZE=1000", "+0 write(4, ..., SIZE) = 1000"), "");
    assert_eq!(with("--define=CC=\"newreno\"", "+0 getsockopt(4, SOL_TCP, TCP_CONGESTION, CC, [8]) = 0"), "");
    assert_eq!(
        with("--define=DROP=`ip link set tun0 down`", "+0 DROP"),
        "line 9: shell commands are not run: ip link set tun0 down"
    );
    let mut choices = ScriptChoices::new("newreno").unwrap();
    choices.define("HOW=SHUT_RD").unwrap();
    let text = format!("{SOCKET}{HANDSHAKE}+0 shutdown(4, HOW) = 0\n");
    assert_eq!(Script::parse(&text, &choices).unwrap().play(), Ending::Pass);
}

/// What commands set is heeded; a command that cannot be mapped is named with its line.
#[test]
fn shell_commands_are_what_they_mean_for_the_model() {
    let preamble = |command: &str| play(&format!("`{command}`\n{SOCKET}{HANDSHAKE}")).to_string();
    for command in [
        "sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((4*1024*1024))\" 2>/dev/null || true",
        "sysctl -q net.ipv4.tcp_tso_win_divisor=3; sysctl -w net.ipv4.tcp_mtu_probing=0 # off",
        "tc qdisc replace dev tun0 root fq\ntc qdisc add dev tun0 root pfifo",
        "ethtool -K tun0 tso off gso off",
        "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect",
        "echo 0 > /proc/sys/net/ipv4/tcp_ecn",
        "ip tcp_metrics flush all > /dev/null 2>&1",
        "ip route change 192.0.2.0/24 dev tun0 initcwnd 20 rto_min 5ms",
        "sysctl net.inet.tcp.hostcache.purgenow=1; nstat -n",
    ] {
        assert_eq!(preamble(command), "", "{command}");
    }
    check(
        &[
            (
                "true\\\n\n\nip link set dev tun0 down",
                "line 4: shell commands are not run: ip link set dev tun0 down",
            ),
            (
                "sysctl -q net.ipv4.tcp_ecn=0\nsysctl -q net.ipv4.tcp_ecn=3",
                "line 2: the model has no kernel setting tcp_ecn=3",
            ),
            ("nstat | grep -q 3", "line 1: shell commands are not run: nstat"),
            (
                "tc qdisc add dev tun0 root tbf rate 1mbit",
                "shell commands are not run: tc qdisc add dev tun0 root tbf rate 1mbit",
            ),
            ("ethtool -K tun0 tso off ntuple off", "ethtool -K tun0 tso off ntuple off"),
            (
                "sysctl -q net.ipv4.tcp_slow_start_after_idle=0",
                "the model has no kernel setting tcp_slow_start_after_idle=0",
            ),
        ],
        preamble,
    );
    let initial =
        |command: &str, rest: &str| play(&format!("`{command}`\n{SOCKET}{HANDSHAKE}{rest}\n")).to_string();
    let twenty =
        "+0 write(4, ..., 30000) = 30000\n+0 > . 1:20001(20000) ack 1\n+0 %{ assert tcpi_snd_cwnd == 20 }%";
    assert_eq!(initial("ip route change 192.0.2.0/24 dev tun0 initcwnd 20", twenty), "");
    assert_ne!(initial("true", twenty), "");
}

/// RFC 9293 section 3.10.7.2, in the words of FreeBSD's scripts.
#[test]
fn settings_of_freebsd_are_heeded() {
    let text = |space: u32| {
        format!(
            "0.00 `sysctl -w net.inet.tcp.recvspace=65536`\n+0.00 `sysctl -w net.inet.tcp.rexmit_initial=500`\n{}\
             +0 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [{space}], [4]) = 0\n+.1 < . 17:20(3) ack 34 win 9\n+0 > R 34:34(0) win 0\n",
            SOCKET.replacen('0', "+0", 1)
        )
    };
    assert_eq!(play(&text(65536)), Ending::Pass);
    assert!(play(&text(5)).to_string().ends_with("getsockopt hands out 65536, expected 5"));
    assert_eq!(
        behind("+0 getsockopt(4, SOL_SOCKET, SO_RCVBUF, [5], [4]) = 0"),
        "line 8: the model has no getsockopt of SO_RCVBUF"
    );
}

/// A server agrees to ECN, and a client does not ask for it (tcp_ecn=2).
#[test]
fn ecn_may_be_for_servers_only() {
    let two = "`sysctl -q net.ipv4.tcp_ecn=2`\n";
    let asked = HANDSHAKE.replace("< S ", "< SEW ").replace("> S. ", "> SE. ");
    assert_eq!(play(&format!("{two}{SOCKET}{asked}")), Ending::Pass);
    let client = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n";
    assert_eq!(play(&format!("{two}{client}")), Ending::Pass);
    assert_ne!(play(&format!("{}{client}", two.replace('2', "1"))), Ending::Pass);
}

/// What is set between events would hold for those before, too; behind the last segment it restores what was.
#[test]
fn settings_between_events_are_not_applicable() {
    let set = "+0 `sysctl -q net.ipv4.tcp_sack=0`";
    assert_eq!(behind(&format!("+0 close(4) = 0\n+0 > F. 1:1(0) ack 1\n{set}")), "");
    let between = behind(&format!("{set}\n+0 close(4) = 0\n+0 > F. 1:1(0) ack 1"));
    assert_eq!(
        between,
        "line 8: the model's settings hold for the whole script: sysctl -q net.ipv4.tcp_sack=0"
    );
    // A command takes its time.
    let late = behind(
        "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n+.2 `true`\n+.1 > P. 1:1001(1000) ack 1",
    );
    assert_eq!(late, "");
}

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
