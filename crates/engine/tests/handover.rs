//! Handovers of Multipath TCP in whole runs: addresses that come and go, and backups.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::routing::{AdditiveMetric, KShortestScheme, Scheme};
use anabranch_engine::setup::*;
use anabranch_engine::transport::PathManagerConfig;
use anabranch_units::{Instant, LinkId, NodeId, Span};
use std::collections::BTreeSet;

fn texts<'o>(outcome: &'o Outcome, name: &str, column: &str) -> Vec<&'o str> {
    table(outcome, name).text(column).expect("a column of names").iter().collect()
}

fn counts<'o>(outcome: &'o Outcome, name: &str, column: &str) -> &'o [u64] {
    table(outcome, name).integer(column).expect("a column of counts")
}

/// Two hosts, a with two interfaces and b with one: paths by m0 (10 ms) and m1 (20 ms) that meet at n.
fn access_networks(duration: Span) -> (Builder, [LinkId; 2]) {
    let mut b = Builder::new(duration);
    let (from, to, meet) = (b.node("a"), b.node("b"), b.node("n"));
    let mut access = Vec::new();
    for (name, ms) in [("m0", 10), ("m1", 20)] {
        let middle = b.node(name);
        access.push(LinkId::from_index(b.link(from, middle, mbps(100), Span::from_ms(ms), 100)));
        b.link(middle, meet, mbps(10), Span::ZERO, 100);
    }
    b.link(meet, to, mbps(100), Span::ZERO, 100);
    let mesh = mptcp(|config| config.path_manager = PathManagerConfig::Fullmesh(Default::default()));
    let transport = b.protocol("mesh", mesh);
    b.flow(from, to, transport, SourceSetup::Unlimited {}, Instant::ZERO);
    b.setup.routing.scheme =
        Some(Scheme::KShortest(KShortestScheme { k: 2, metric: AdditiveMetric::Hops.into(), limits: None }));
    (b, [access[0], access[1]])
}

fn at(ms: u64, change: Change) -> EventSetup {
    EventSetup { at: Instant::ZERO + Span::from_ms(ms), change }
}

/// An address that comes back has a subflow of its own on the same path, with another port; data of the removed one
/// arrive once (the books of the run are checked at its end).
#[test]
fn addresses_come_and_go_in_a_run() {
    let (mut b, [first, _]) = access_networks(Span::from_secs(6));
    b.setup.events = vec![
        at(2000, Change::Address { link: first, up: false }),
        at(4000, Change::Address { link: first, up: true }),
    ];
    let outcome = b.run();
    assert_eq!(texts(&outcome, "subflows", "state"), ["removed", "established", "established"]);
    assert_eq!(texts(&outcome, "subflows", "path"), ["a > m0 > n > b", "a > m1 > n > b", "a > m0 > n > b"]);
    assert_eq!(texts(&outcome, "subflows", "client"), ["10.0.0.0", "11.0.0.0", "10.0.0.0"]);
    let ports = counts(&outcome, "subflows", "client_port");
    assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(texts(&outcome, "events", "kind"), ["address down", "address up"]);
    assert_eq!(texts(&outcome, "events", "subject"), ["a->m0", "a->m0"]);
    // Two ways of 10 ms each, behind the event.
    let opened = number(&outcome, "subflows", "handshake_s", 2);
    assert!(opened > 4.02 && opened < 4.03, "{opened}");
    let delivered = counts(&outcome, "subflows", "delivered_bytes");
    // 2 s of 10 Mbps before, 2 s after.
    assert!(delivered[0] > 1_500_000 && delivered[2] > 1_500_000, "{delivered:?}");
    assert_eq!(counts(&outcome, "flows", "timeouts"), [0]);
}

/// A backup carries nothing until the address of the regular subflow goes; the same the other way round, where the
/// listening host says so.
#[test]
fn a_backup_takes_over_when_the_address_goes() {
    for download in [false, true] {
        let (mut b, [first, second]) = access_networks(Span::from_secs(4));
        if download {
            (b.setup.flows[0].from, b.setup.flows[0].to) = (NodeId(1), NodeId(0));
        }
        b.setup.events = vec![
            at(0, Change::Backup { link: second, backup: true }),
            at(2000, Change::Address { link: first, up: false }),
        ];
        let outcome = b.run();
        let carried = counts(&outcome, "subflows", "delivered_bytes");
        // 2 s of 10 Mbps each.
        assert!(carried.iter().all(|&bytes| bytes > 1_700_000 && bytes < 2_500_000), "{carried:?}");
        let stalled = number(&outcome, "connections", "stalled_s", 0);
        assert_eq!(stalled, 0.0, "make before break");
        assert_eq!(texts(&outcome, "subflows", "state"), ["removed", "established"]);

        // Without the event the backup carries its handshake and ACKs alone.
        let (mut b, [_, second]) = access_networks(Span::from_secs(4));
        b.setup.events = vec![at(0, Change::Backup { link: second, backup: true })];
        let outcome = b.run();
        assert!(integer(&outcome, "subflows", "acknowledged_bytes", 1) == 0);
        assert!(integer(&outcome, "subflows", "acknowledged_bytes", 0) > 4_000_000);
    }
}

/// The connection opens from the address that is there; the other one joins when it comes.
#[test]
fn a_connection_opens_from_another_address() {
    for download in [false, true] {
        let (mut b, [first, _]) = access_networks(Span::from_secs(4));
        if download {
            (b.setup.flows[0].from, b.setup.flows[0].to) = (NodeId(1), NodeId(0));
        }
        b.setup.events = vec![
            at(0, Change::Address { link: first, up: false }),
            at(2000, Change::Address { link: first, up: true }),
        ];
        let outcome = b.run();
        let by = if download {
            ["b > n > m1 > a", "b > n > m0 > a"]
        } else {
            ["a > m1 > n > b", "a > m0 > n > b"]
        };
        assert_eq!(texts(&outcome, "subflows", "path"), by);
        assert_eq!(texts(&outcome, "subflows", "state"), ["established", "established"]);
        let opened = number(&outcome, "subflows", "handshake_s", 1);
        assert!(opened > 2.0 && opened < 2.1, "{opened}");
    }
}

/// What nobody would heed is refused, with its place.
#[test]
fn addresses_that_nobody_looks_at_are_refused() {
    let (mut b, [first, _]) = access_networks(Span::from_secs(1));
    b.setup.transports[0].config = ndiffports(2);
    b.setup.events = vec![at(500, Change::Address { link: first, up: false })];
    let error = b.setup.check().expect_err("refused").to_string();
    assert!(
        error.contains("events[0].link") && error.contains("\"a\"") && error.contains("fullmesh"),
        "{error}"
    );
    b.setup.events = vec![at(500, Change::Backup { link: LinkId(99), backup: true })];
    assert!(b.setup.check().expect_err("refused").to_string().contains("no link number 99"));
}
