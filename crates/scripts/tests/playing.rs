//! What the tests of single constructs play.

use anabranch_scripts::{Ending, Script, ScriptChoices};

pub(crate) const SOCKET: &str =
    "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n";
pub(crate) const HANDSHAKE: &str = "+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
";

pub(crate) fn play(text: &str) -> Ending {
    let choices = ScriptChoices::new("newreno").unwrap();
    Script::parse(text, &choices).unwrap_or_else(|error| panic!("{text}\n{error}")).play()
}

/// Behind a handshake; its first line is line 8.
pub(crate) fn behind(rest: &str) -> String {
    play(&format!("{SOCKET}{HANDSHAKE}{rest}\n")).to_string()
}

/// What passes, and what does not with the end of its remark.
pub(crate) fn check(cases: &[(&str, &str)], play: impl Fn(&str) -> String) {
    for (text, remark) in cases {
        let outcome = play(text);
        assert!(outcome.ends_with(remark) && outcome.is_empty() == remark.is_empty(), "{text}: {outcome}");
    }
}
