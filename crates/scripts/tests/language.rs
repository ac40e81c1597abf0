//! The language: what is read, refused with a place, or beyond the model; what a player compares.

use anabranch_scripts::{Ending, Played, Script, ScriptChoices, json, table};

const OPENING: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
";

fn parse(text: &str) -> Result<Script, String> {
    Script::parse(text, &ScriptChoices::new("newreno").unwrap()).map_err(|error| error.to_string())
}

/// Plays what follows the handshake; its first line is line 8, or 9 with an option.
fn play(rest: &str) -> Ending {
    parse(&format!("{OPENING}{rest}")).unwrap().play()
}

fn failure(rest: &str) -> String {
    let outcome = play(rest);
    assert_eq!(outcome.name(), "FAIL", "{rest}: {outcome}");
    outcome.to_string()
}

#[test]
fn mistakes_have_a_line_and_a_column() {
    let long = "+86401 > S 0:0(0)\n".repeat(101);
    let deep = format!("0 x({}", "[".repeat(80));
    let cases = [
        (&*deep, "1:70: lists lie within each other 64 deep at most"),
        (&*long, "100:1: up to here the times add up to more than 100 days"),
        ("", "1:1: the script has no events"),
        ("0 < S 0:0(0) win 1 <mss 1x>", "1:26: expected a comma or >, found \"x>\""),
        (
            "0 < S 0:0(0) win 1\n+0 > Q 1:2(1)",
            "2:6: 'Q' is no flag; there are S F R P . E W U A and - for none",
        ),
        ("0 < S 0:10(9) win 1", "1:7: from 0 to 10 there are 10 bytes, not 9"),
        ("0 < S 0:0(0)", "1:13: a segment that arrives needs a window: win 257"),
        ("0 < S 0:0(0) win 65536", "1:18: a window is 65536; at most 65535 is possible"),
        ("0 > S 0:0(0) <mss 1460,foo 3>", "1:24: \"foo\" is no TCP option; there are mss,"),
        ("0 > S 0:0(0) bar 3", "1:14: \"bar\" is no field; there are ack, win, urg and <options>"),
        ("0 > S 0:0(0) <mss 1> x", "1:22: expected the next event, found \"x\""),
        ("soon > S 0:0(0)", "1:1: expected a time in seconds such as 0.1 or +.1, found \"soon\""),
        ("0 socket(..., 1) 3", "1:18: expected \"=\", found \"3\""),
        ("0 socket(..., 1 = 3", "1:17: expected a comma or \")\", found \"=\""),
        (
            "0 read(3, ..., 1) = 1 EAGAIN",
            "1:23: \"EAGAIN\" is no end of a call; an error is written -1 EAGAIN",
        ),
        ("0 %{ assert 1", "1:5: \"}%\" is missing: what begins here has no end"),
        ("/* no end", "1:1: \"*/\" is missing: what begins here has no end"),
        ("0 < S 0:0(0) win 1 <sack>", "1:25: expected a SACK block such as 1001:2001, found \">\""),
        ("+.3~+.2 > S 0:0(0)", "1:5: the range of times ends before it begins"),
        ("999999999 > S 0:0(0)", "1:1: a time has at most 864000 s and 12 digits behind the point"),
        (
            "--nonsense=1\n0 > S 0:0(0)",
            "1:1: there is no option --nonsense; docs/scripts.md lists those there are",
        ),
        ("--ip_version=ipv5\n0 > S 0:0(0)", "1:1: --ip_version is \"ipv5\"; there are ipv4,"),
        ("--transport=mptcp\n0 > S 0:0(0)", "1:1: there is no TCP transport \"mptcp\"; there are "),
        ("--transport\n0 > S 0:0(0)", "1:1: --transport needs a value: --transport=VALUE"),
        ("--tcp.mss=5\n0 > S 0:0(0)", "1:1: --tcp.mss=5: mss is 5; it must be at least 88"),
        ("--tcp.nss=5\n0 > S 0:0(0)", "1:1: --tcp.nss=5: there is no nss; there are "),
        ("--tcp.min_rto=2min\n0 > S 0:0(0)", "1:1: min_rto is above max_rto"),
        ("0 > S 0:0(0)\n--mtu=1500", "2:1: options stand before the first event"),
        ("0 > S 0:0(0)\nx", "2:1: \"x\" is no field; there are ack, win, urg and <options>"),
        ("0 > S 0:0(0) <...>\nx", "2:1: expected the next event, found \"x\""),
        ("0 close(3) = 0\nx", "2:1: expected a time"),
    ];
    for (text, start) in cases {
        let error = parse(text).expect_err(text);
        assert!(error.starts_with(start), "{text:?}: {error}");
    }
}

#[test]
fn what_the_model_has_not_is_not_applicable() {
    let cases = [
        ("+0 < P.U 1:2(1) ack 1 win 5 urg 1\n", "the model has no urgent data"),
        ("+0 < icmp unreachable frag_needed mtu 1200 [1:1(0)]\n", "the model has no packets of icmp"),
        ("+0 > [flowlabel 0x1] . 1:1(0) ack 1 win 5\n", "the model has no flow label in the IP header"),
        ("+0 > S 0:0(0) <mss 1460,FO 1234>\n", "the model's TCP has no option FO"),
        ("+0 `ip link set dev tun0 down`\n", "shell commands are not run: ip link set dev tun0 down"),
        ("+0 `sysctl -q net.ipv4.tcp_mtu_probing=2`\n", "the model has no kernel setting tcp_mtu_probing=2"),
        ("+0 %{ x.y = tcpi_rtt }%\n", "Python code beyond asserts and assignments: x.y = tcpi_rtt"),
        (
            "+0 %{ assert sum(1, 2) == 3 }%\n",
            "Python code beyond comparisons of numbers: assert sum(1, 2) == 3",
        ),
        ("+0 %{ assert tcpi_pmtu == 1500 }%\n", "the model has no tcpi_pmtu"),
        ("+0 epoll_create(1) = 5\n", "the model has no call epoll_create"),
        ("+0 poll([{fd=4, events=POLLMSG}], 1, 10) = 1\n", "the model has no POLLMSG of a poll"),
        (
            "+0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [5000], 4) = 0\n",
            "the model has no setsockopt of SO_RCVBUF",
        ),
        ("+0 send(4, ..., 1, MSG_OOB) = 1\n", "the model has no MSG_OOB"),
        ("+0 shutdown(4, SHUT_UP) = 0\n", "the model has no shutdown with SHUT_UP"),
        ("+0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 5\n", "the model's sockets are of TCP"),
    ];
    for (line, reason) in cases {
        // An earlier failure does not hide it.
        let text = format!("+0 %{{ assert 1 == 2 }}%\n{line}");
        let expected = Ending::NotApplicable { line: 9, reason: reason.into() };
        assert_eq!(play(&text), expected, "{line}");
    }
}

#[test]
fn each_field_of_a_segment_is_compared() {
    let write = "+0 write(4, ..., 1000) = 1000\n";
    assert_eq!(play(&format!("{write}+0 > P. 1:1001(1000) ack 1 win 49152\n")), Ending::Pass);
    let cases = [
        ("+0 > F. 1:1001(1000) ack 1", "only one of both has the flag F"),
        ("+0 > E. 1:1001(1000) ack 1", "only one of both has the flag E"),
        ("+0 > . 2:1002(1000) ack 1", "it begins at 1"),
        ("+0 > . 1:1000(999) ack 1", "it has 1000 bytes"),
        ("+0 > . 1:1(0) ack 1", "it has 1000 bytes"),
        ("+0 > . 1:1001(1000) ack 2", "it acknowledges 1"),
        ("+0 > . 1:1001(1000) ack 1 win 5", "its window is 49152"),
        ("+0 > [ect0] . 1:1001(1000) ack 1", "its mark is not ECT"),
        ("+0 > . 1:1001(1000) ack 1 <mss 5>", "its MSS is 0 (0: none)"),
        ("+0 > . 1:1001(1000) ack 1 <wscale 5>", "the window scales differ"),
        ("+0 > . 1:1001(1000) ack 1 <sack 1:2>", "the SACK blocks differ"),
        ("+0 > . 1:1001(1000) ack 1 <TS val 1 ecr 0>", "only one of both has the option TS"),
    ];
    for (line, problem) in cases {
        let came = "at 0.100000 s came > . 1:1001(1000) ack 1 win 49152";
        let expected = format!("line 9: expected {}; {came}: {problem}", &line[3..]);
        assert_eq!(failure(&format!("{write}{line}\n")), expected);
    }
}

#[test]
fn times_are_absolute_relative_ranges_or_any() {
    // The timeout of 300 ms sends it again at 0.4 s.
    let again = ". 1:1001(1000) ack 1";
    let outcome = |option: &str, time: &str| {
        let write = "+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1\n";
        parse(&format!("{option}\n{OPENING}{write}{time} > {again}\n")).unwrap().play()
    };
    let strict = "--tolerance_percent=0";
    for time in ["+.3", "0.4", "+.303", "0.397", "+.2~+.3", "+ .304 ~ +1", "0.1~0.5", "*"] {
        assert_eq!(outcome(strict, time), Ending::Pass, "{time}");
    }
    for time in ["+.295", "+.2~+.295", "0.405", "+.305~+1"] {
        let failed = outcome(strict, time).to_string();
        assert!(failed.contains("left at 0.4") || failed.contains("nothing left by"), "{time}: {failed}");
    }
    // An eighth of the time since the event before: 0.033375 and 0.03325 s, 0.04275 and 0.043 s.
    for (time, passes) in
        [("+.267", true), ("+.266", false), ("+.342", true), ("+.344", false), ("0.367", true)]
    {
        assert_eq!(outcome("--tolerance_usecs=1000", time) == Ending::Pass, passes, "{time}");
    }
    // Half of it, and the number that is larger.
    for (option, time, passes) in [
        ("--tolerance_percent=50", "+.201", true),
        ("--tolerance_percent=50", "+.199", false),
        ("--tolerance_percent=12.5 --tolerance_usecs=100000", "+.201", true),
    ] {
        assert_eq!(outcome(option, time) == Ending::Pass, passes, "{option} {time}");
    }
    // What comes after counts from when it came, as packetdrill has it.
    for time in ["+.303", "+.2~+.35", "*"] {
        let text = format!("{time} > {again}\n+0.598");
        assert_eq!(outcome("--tolerance_usecs=4000 --tolerance_percent=0", &text), Ending::Pass, "{time}");
        let text = format!("{time} > {again}\n+0.595");
        assert_ne!(outcome("--tolerance_usecs=4000 --tolerance_percent=0", &text), Ending::Pass, "{time}");
    }
}

#[test]
fn a_train_is_one_segment_of_a_script() {
    let write = "+0 write(4, ..., 5000) = 5000\n";
    assert_eq!(play(&format!("{write}+0 > P. 1:5001(5000) ack 1\n")), Ending::Pass);
    assert_eq!(
        play(&format!("{write}+0 > . 1:3001(3000) ack 1\n+0 > P. 3001:5001(2000) ack 1\n")),
        Ending::Pass
    );
    assert!(failure(&format!("{write}+0 > P. 1:4501(4500) ack 1\n")).ends_with("5000 bytes left"));
    assert!(failure(&format!("{write}+0 > P. 1:6001(6000) ack 1\n")).contains("nothing left by"));
}

#[test]
fn all_segments_are_to_be_expected_if_a_script_says_so() {
    let text = format!("{OPENING}+0 write(4, ..., 1000) = 1000\n+1 %{{ assert tcpi_unacked == 1 }}%\n");
    assert_eq!(parse(&text).unwrap().play(), Ending::Pass);
    let strict = parse(&format!("--all_packets\n{text}")).unwrap().play();
    let problem = "line 10: left at 0.100000 s and nothing expects it: > . 1:1001(1000) ack 1 win 49152";
    assert_eq!(strict.to_string(), problem);
}

#[test]
fn calls_give_what_they_would() {
    let cases = [
        ("+0 read(4, ..., 10) = -1 EAGAIN (text)", ""),
        ("+0 read(4, ..., 10) = 0", "line 8: read gave -1 EAGAIN, expected 0"),
        ("+0 write(4, ..., 10) = 9", "line 8: write gave 10, expected 9"),
        ("+0 accept(3, ..., ...) = 5", "line 8: accept gave -1 EAGAIN, expected 5"),
        ("+0 close(7) = 0", "line 8: close gave -1 EBADF, expected 0"),
        ("+0 close(7) = -1 EBADF", ""),
        ("+0 fcntl(4, F_GETFL) = 0x2 (flags O_RDWR)", ""),
        ("+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0", ""),
        ("+0 close(4) = 0\n+0 write(4, ..., 10) = -1 EBADF", ""),
        ("+0 shutdown(4, SHUT_WR) = 0\n+0 write(4, ..., 10) = -1 EPIPE", ""),
        ("+0 < F. 1:1(0) ack 1 win 5\n+0 read(4, ..., 10) = 0", ""),
        ("+0 < R. 1:1(0) ack 1 win 5\n+0 read(4, ..., 10) = -1 ECONNRESET", ""),
        ("+0 < R. 1:1(0) ack 1 win 5\n+0 write(4, ..., 10) = -1 EPIPE", ""),
        // Both times count from the event before.
        ("+.1...0.3 read(4, ..., 10) = 5\n+.2 < P. 1:6(5) ack 1 win 5\n+.1 close(4) = 0", ""),
        ("+0...+0.1 read(4, ..., 10) = 5\n+.1 < P. 1:6(5) ack 1 win 5\n+.2 close(4) = 0", ""),
        (
            "+0...+0.2 read(4, ..., 10) = 5\n+.1 < P. 1:6(5) ack 1 win 5",
            "line 9: read returned at 0.200000 s, expected at 0.300000 s",
        ),
        (
            "+0...+0.2 read(4, ..., 10) = 5\n+1 close(4) = 0",
            "line 9: read still blocks at 0.325000 s, expected to return at 0.300000 s",
        ),
    ];
    for (line, problem) in cases {
        assert_eq!(play(&format!("{line}\n")).to_string(), problem, "{line}");
    }
}

/// RFC 9293 section 3.10.7.1: once both ends have closed, this one last, whatever comes is answered by an RST.
#[test]
fn nothing_is_left_of_a_closed_connection() {
    let close = "+0 < F. 1:1(0) ack 1 win 5\n+0 > . 1:1(0) ack 2\n+0 close(4) = 0\n+0 > F. 1:1(0) ack 2\n";
    let rest = "+0 < . 2:2(0) ack 2 win 5\n+0 < . 2:2(0) ack 2 win 5\n+0 > R 2:2(0)\n+0 < R. 2:2(0) ack 2 win 5\n\
                +0 < S 9:9(0) win 5\n+0 > R. 0:0(0) ack 10\n";
    assert_eq!(play(&format!("{close}{rest}")), Ending::Pass);
}

#[test]
fn assertions_compare_as_python_does() {
    let hold = [
        "tcpi_snd_cwnd == 10",
        "(tcpi_snd_cwnd == 10)",
        "9 < tcpi_snd_cwnd <= 10, 'text'",
        "not tcpi_snd_cwnd < 10",
        "tcpi_snd_cwnd == 9 or tcpi_rtt == 100000",
        "tcpi_snd_cwnd * 2 - 5 == 30 // 2",
        "7 % 4 == 3 and -7 % 4 == 1 and 7 / 2 == 3.5",
        "tcpi_snd_ssthresh == TCP_INFINITE_SSTHRESH",
        "tcpi_ca_state == TCP_CA_Open",
        "tcpi_options == TCPI_OPT_SACK | TCPI_OPT_WSCALE",
        "tcpi_options & 4",
        "~tcpi_options == -7 and 6 ^ 3 == 5 and 1 << 4 >> 1 == 8 and 2 ** 3 == 8 and -2 ** 2 == -4",
        "tcpi_snd_cwnd in (9, 10) and tcpi_snd_cwnd not in [11, 12]",
        "abs(-3) == 3 and min(2, 1) == 1 and max(1, 2, 3) == 3 and int(2.9) == 2 and round(2.5) == 2",
        "(5 if tcpi_snd_cwnd == 10 else 6) == 5 and 0x1f == 31 and True and not False",
        "tcpi_state == TCP_ESTABLISHED and tcpi_advmss == 1460 and tcpi_snd_wscale == 7",
    ];
    for text in hold {
        assert_eq!(play(&format!("+0 %{{ assert {text} }}%\n")), Ending::Pass, "{text}");
    }
    for text in ["tcpi_snd_cwnd != 10", "10 < tcpi_snd_cwnd < 12", "not 1 == 1", "0 / 0", "1 == 1 and 1 == 2"]
    {
        assert_eq!(play(&format!("+0 %{{ assert {text} }}%\n")).name(), "FAIL", "{text}");
    }
    let both = "+0 %{\nprint(tcpi_rtt)\nassert tcpi_rtt == 100000\nassert tcpi_rtt == 5 # wrong\n}%\n";
    assert_eq!(failure(both), "line 8: assert tcpi_rtt == 5: tcpi_rtt is 100000");
}

#[test]
fn timestamps_follow_the_ticks_of_a_script() {
    let opening = |tick: &str| {
        format!(
            "--tcp_ts_tick_usecs={tick}\n--tcp.timestamp_tick=1ms\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
             +0 connect(3, ..., ...) = -1 EINPROGRESS\n\
             +0 > S 0:0(0) <mss 1460,sackOK,TS val 700 ecr 0,nop,wscale 7>\n\
             +.1 < S. 0:0(0) ack 1 win 5000 <mss 1460,sackOK,TS val 30 ecr 700,nop,wscale 7>\n"
        )
    };
    for (tick, value, agrees) in [
        ("1000", 800, true),
        ("1000", 900, false),
        ("10000", 710, true),
        ("10000", 800, false),
        ("0", 900, true),
    ] {
        let text = format!("{}+0 > . 1:1(0) ack 1 <nop,nop,TS val {value} ecr 30>\n", opening(tick));
        let outcome = parse(&text).unwrap().play();
        assert_eq!(outcome.name() == "PASS", agrees, "{tick} {value}: {outcome}");
    }
    let text = format!("{}+0 > . 1:1(0) ack 1 <nop,nop,TS val 800 ecr 31>\n", opening("1000"));
    assert!(parse(&text).unwrap().play().to_string().ends_with("it echoes the timestamp 30"));
}

#[test]
fn settings_of_published_scripts_are_heeded() {
    let with = |command: &str| parse(&format!("`{command}`\n{OPENING}")).unwrap().play().to_string();
    assert_eq!(with("sysctl -q net.ipv4.tcp_timestamps=0 net.ipv4.tcp_reordering=3"), "");
    assert!(with("sysctl -q net.ipv4.tcp_sack=0").ends_with("only one of both has the option sackOK"));
    assert!(with("../common/defaults.sh").ends_with("the window scales differ"));
    assert!(with("../common/set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0").ends_with("the option sackOK"));
    let chosen =
        OPENING.replace("+0 bind", "+0 setsockopt(3, IPPROTO_TCP, TCP_CONGESTION, \"reno\", 4) = 0\n+0 bind");
    assert_eq!(parse(&chosen).unwrap().play(), Ending::Pass);
    let several = "../common/defaults.sh\n../common/set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0 \\\n /proc/x/tcp_ecn=0";
    assert!(with(several).ends_with("sackOK"));
    assert_eq!(with("/tmp/sysctl_restore_${PPID}.sh"), "");
    let unknown = parse(&chosen.replace("reno", "vegas")).unwrap().play();
    assert_eq!(unknown.to_string(), "line 2: the model has no congestion control vegas of Linux");
}

/// tools/testing/selftests/net/packetdrill/config of Linux: kernels that run published scripts have CONFIG_HZ=1000. A hole at the
/// seventh of eight segments is lost a quarter of the least RTT, 25 ms, behind the SACK, and RACK's timer waits two ticks more
/// at least: 27 ms, or 32 with ticks of 4 ms. What a script says of ticks itself holds.
#[test]
fn timers_of_published_scripts_tick_in_milliseconds() {
    let opening = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
                   +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n\
                   +.1 < . 1:1(0) ack 1 win 1024\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 8000) = 8000\n\
                   +0 > P. 1:8001(8000) ack 1\n+.1 < . 1:1(0) ack 1 win 1024 <sack 7001:8001,nop,nop>\n";
    for (head, ms, passes) in [
        ("`defaults.sh`\n", "027~+.029", true),
        ("`defaults.sh`\n", "030~+.034", false),
        ("", "027~+.029", false),
        ("", "030~+.034", true),
        ("--tcp.timer_tick=4ms\n`defaults.sh`\n", "030~+.034", true),
    ] {
        let exact = "--transport=linux-cubic --tolerance_usecs=0 --tolerance_percent=0\n";
        let outcome =
            parse(&format!("{exact}{head}{opening}+.{ms} > . 1:1001(1000) ack 1\n")).unwrap().play();
        assert_eq!(outcome == Ending::Pass, passes, "{head} {ms}: {outcome}");
    }
}

#[test]
fn the_table_counts_what_it_lists() {
    let played = |name: &str, outcome| Played { name: name.into(), category: "c".into(), outcome };
    let rows = [
        played("a", Ending::Pass),
        played("bcd", Ending::Fail { line: 3, deviation: "x".into() }),
        played("e", Ending::NotApplicable { line: 4, reason: "y".into() }),
    ];
    let expected = "a    PASS\nbcd  FAIL            line 3: x\ne    NOT APPLICABLE  line 4: y\n\
                    3 scripts: 1 PASS, 1 FAIL, 1 NOT APPLICABLE\n";
    assert_eq!(table(&rows), expected);
    let row = serde_json::json!({
        "name": "bcd", "category": "c", "outcome": "FAIL", "readable": true, "line": 3, "text": "x",
    });
    assert_eq!(json(&rows)[1], row);
}
