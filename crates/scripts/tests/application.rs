//! Calls, options of sockets, code and shell commands: that they are read, and what they mean for the model.

use crate::playing::{HANDSHAKE, SOCKET, behind, check, play};
use anabranch_scripts::{Ending, Script, ScriptChoices};

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
            ("+0 sendto(4, ..., 1000, 0x20000000, ..., ...) = 1000", "the model has no flags 536870912"),
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

#[test]
fn ecn_may_be_for_servers_only() {
    let two = "`sysctl -q net.ipv4.tcp_ecn=2`\n";
    let asked = HANDSHAKE.replace("< S ", "< SEW ").replace("> S. ", "> SE. ");
    assert_eq!(play(&format!("{two}{SOCKET}{asked}")), Ending::Pass);
    let client = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n";
    assert_eq!(play(&format!("{two}{client}")), Ending::Pass);
    assert_ne!(play(&format!("{}{client}", two.replace('2', "1"))), Ending::Pass);
}

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
