//! Whole runs over links with token buckets and over links that reorder, duplicate and damage packets: the books of every
//! run are checked at its end, and what comes out agrees with arithmetic.

use crate::common::{Builder, at, mbps, queue, table};
use anabranch_engine::partition::Cut;
use anabranch_engine::records::Column;
use anabranch_engine::setup::*;
use anabranch_engine::{Outcome, Simulation};
use anabranch_units::{Instant, NodeId, Rate, Span};
use std::ops::ControlFlow;
use std::sync::Arc;

fn integers(outcome: &Outcome, name: &str, column: &str) -> Vec<u64> {
    let columns = &table(outcome, name).columns;
    let entry = columns.iter().find(|(entry_name, _)| *entry_name == column).expect("a column of that name");
    match &entry.1 {
        Column::Integers(values) => values.clone(),
        _ => panic!("{column} has no integers"),
    }
}

fn chance(probability: f64) -> Option<Box<ChanceSetup>> {
    Some(Box::new(ChanceSetup { probability, correlation: 0.0 }))
}

/// Reordering, duplication and damage together, at once.
fn impair(link: &mut LinkSetup) {
    link.reorder = Some(Box::new(ReorderSetup { probability: 0.05, correlation: 0.2, gap: 2, spared: None }));
    link.duplicate = chance(0.03);
    link.corrupt = chance(0.02);
    link.loss = LossSetup::Bernoulli(anabranch_engine::loss::Bernoulli { probability: 0.005 }).into();
}

/// Two hosts behind two routers, with a bottleneck in between.
fn line(transport: &str, seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_secs(seconds));
    let [left, a, z, right] = ["left", "a", "z", "right"].map(|name| b.node(name));
    b.link(left, a, mbps(100), Span::from_ms(1), 1_000);
    b.link(a, z, mbps(10), Span::from_ms(8), 60);
    b.link(z, right, mbps(100), Span::from_ms(1), 1_000);
    let transport = b.transport(transport);
    for _ in 0..3 {
        b.flow(left, right, transport, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    b.flow(right, left, transport, SourceSetup::Sized { bytes: 200_000 }, at(0.5));
    b
}

/// Every transport over links that do everything to packets, with pings and UDP beside them where they may be.
#[test]
fn the_books_balance_whatever_happens_to_packets() {
    let presets = ["newreno", "linux-cubic", "linux-bbr", "mptcp", "linux-mptcp", "tcp-pr"];
    for preset in presets {
        let mut b = line(preset, 5);
        b.setup.links.iter_mut().for_each(impair);
        b.setup.links[2].shaper = Some(Box::new(ShaperSetup { rate: mbps(8), burst: 20_000, peak: None }));
        b.setup.links[3].policer = Some(Box::new(PolicerSetup { rate: mbps(2), burst: 9_000 }));
        b.datagrams(NodeId(0), NodeId(3), DatagramSource::Ping { interval: Span::from_ms(10) }, 84);
        b.datagrams(NodeId(3), NodeId(0), DatagramSource::Udp { rate: Rate::from_bps(300_000) }, 200);
        let outcome = b.run();
        let total = |name, column| integers(&outcome, name, column).iter().sum::<u64>();
        assert!(total("links", "duplicated_packets") > 4, "{preset}");
        assert!(total("links", "corrupted_packets") > 4, "{preset}");
        assert!(total("links", "reordered_packets") > 4, "{preset}");
        let corrupted = total("flows", "drops_corrupted") + total("datagram_flows", "drops_corrupted");
        // A damaged packet is found at its host, if nothing else takes it before; a copy of it is as damaged.
        let most = total("links", "corrupted_packets") + total("links", "duplicated_packets");
        assert!(corrupted > 0 && corrupted <= most, "{preset}: {corrupted} of {most}");
        assert!(total("flows", "duplicates_received") > 4, "{preset}");
        assert!(total("datagram_flows", "duplicates_received") > 4, "{preset}");
        let sent = integers(&outcome, "datagram_flows", "sent");
        let received = integers(&outcome, "datagram_flows", "received");
        assert!(
            received.iter().zip(&sent).all(|(received, sent)| received <= sent),
            "{preset}: {received:?} of {sent:?}"
        );
        // The books close from the tables alone.
        let copies = total("datagram_flows", "duplicated_packets");
        assert_eq!(
            total("datagram_flows", "sent") + copies,
            ["received", "duplicates_received", "lost", "packets_in_flight"]
                .map(|name| total("datagram_flows", name))
                .iter()
                .sum::<u64>(),
            "{preset}"
        );
        let arrived = ["packets_received", "duplicates_received", "drops_data", "packets_in_flight"];
        assert_eq!(
            total("flows", "segments_sent") + total("flows", "duplicated_packets"),
            arrived.map(|name| total("flows", name)).iter().sum::<u64>(),
            "{preset}"
        );
        let progress = integers(&outcome, "flows", "delivered_bytes");
        assert!(progress.iter().all(|bytes| *bytes > 50_000), "{preset}: {progress:?}");
    }
}

/// A link that damages packets loses none of them: its queue and its random loss have no drops, and all that arrive damaged are
/// dropped at the host. Of n packets n p are, with a standard deviation of sqrt(n p (1 - p)).
#[test]
fn damage_is_no_loss_of_the_link() {
    let mut b = Builder::new(Span::from_secs(100));
    let (from, to) = (b.node("from"), b.node("to"));
    b.link(from, to, mbps(10), Span::from_ms(5), 100);
    b.setup.links[0].corrupt = chance(0.1);
    b.datagrams(from, to, DatagramSource::Udp { rate: Rate::from_bps(1_600_000) }, 200);
    let outcome = b.run();
    let one = |name, column| integers(&outcome, name, column)[0];
    let (sent, corrupted) = (one("datagram_flows", "sent"), one("datagram_flows", "drops_corrupted"));
    assert_eq!(corrupted, one("links", "corrupted_packets"));
    assert!(
        (corrupted as f64 - 0.1 * sent as f64).abs() < 4.0 * (0.09 * sent as f64).sqrt(),
        "{corrupted} of {sent}"
    );
    assert_eq!((one("links", "drops_queue"), one("links", "drops_random")), (0, 0));
    assert_eq!(
        one("datagram_flows", "received") + corrupted + one("datagram_flows", "packets_in_flight"),
        sent
    );
}

/// UDP above the rate of a policer gets the rate and the burst, to a packet: each passes as soon as the bucket has its bytes.
#[test]
fn a_policer_passes_burst_and_rate() {
    let mut b = Builder::new(Span::from_secs(10));
    let (from, to) = (b.node("from"), b.node("to"));
    b.link(from, to, mbps(100), Span::ZERO, 100);
    b.setup.links[0].policer = Some(Box::new(PolicerSetup { rate: mbps(2), burst: 50_000 }));
    b.datagrams(from, to, DatagramSource::Udp { rate: mbps(5) }, 1_000);
    let outcome = b.run();
    let received = integers(&outcome, "datagram_flows", "received")[0];
    let most = 50 + 2_000_000 / 8 * 10 / 1_000;
    assert!((most - 2..=most).contains(&received), "{received} of at most {most}");
    let (sent, policed) =
        (integers(&outcome, "datagram_flows", "sent")[0], integers(&outcome, "links", "drops_policed")[0]);
    assert!(sent - received - policed <= 1, "one may be under way: {sent} - {received} - {policed}");
}

/// A bulk transfer through a shaper has the rate of the shaper, whatever the rate of the line and the queue discipline.
#[test]
fn a_transfer_has_the_rate_of_the_shaper() {
    for discipline in ["fifo", "codel", "fq-codel", "pie", "red"] {
        let mut b = line("linux-cubic", 20);
        b.setup.flows.truncate(1);
        b.setup.links[2].queue = queue(discipline, 200).into();
        b.setup.links[2].shaper = Some(Box::new(ShaperSetup { rate: mbps(4), burst: 15_000, peak: None }));
        let outcome = b.run();
        let bytes = integers(&outcome, "links", "bytes")[2];
        let most = 4_000_000 / 8 * 20 + 15_000;
        assert!(bytes <= most, "{discipline}: {bytes} are above {most}");
        assert!(bytes as f64 > 0.9 * most as f64, "{discipline}: {bytes} of {most}");
        assert!(
            integers(&outcome, "links", "queue_max_packets")[2] > 5,
            "{discipline}: the queue is the shaper's"
        );
    }
}

/// The same bytes on two cores, cut through a link that reorders, duplicates, damages, shapes and polices.
#[test]
fn two_cores_agree_about_what_happens_on_the_cut() {
    let setup = || {
        let mut b = line("linux-cubic", 4);
        for link in &mut b.setup.links[2..4] {
            impair(link);
            link.reorder = Some(Box::new(ReorderSetup {
                probability: 0.2,
                correlation: 0.0,
                gap: 1,
                spared: Some(Span::from_ms(7)),
            }));
            link.policer = Some(Box::new(PolicerSetup { rate: mbps(7), burst: 40_000 }));
        }
        b.setup.links[2].shaper = Some(Box::new(ShaperSetup { rate: mbps(8), burst: 20_000, peak: None }));
        b.setup.probes = ProbeSetup {
            interval: Some(Span::from_ms(100)),
            flows: true,
            links: true,
            ..ProbeSetup::default()
        };
        b.setup
    };
    let alone = crate::common::run(setup());
    let (setup, plan) = (Arc::new(setup()), Arc::new(crate::common::plan(&setup())));
    let cut = Cut::new(&setup, vec![0, 0, 1, 1]).expect("it can be divided");
    // Of 8 ms a chosen packet is spared 7.
    assert_eq!(cut.lookahead(), Span::from_ms(1));
    let divided =
        Simulation::run_in_parts(&setup, &plan, &cut, |_| ControlFlow::Continue(())).expect("a run");
    assert!(integers(&alone, "links", "reordered_packets")[2] > 20);
    assert!(integers(&alone, "links", "drops_policed")[2] > 20);
    for (one, other) in alone.tables.iter().zip(&divided.tables) {
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "{}", one.name);
    }
}

/// Nothing of it on a link, and nothing of it set to zero, is the same: each has draws of its own.
#[test]
fn a_probability_of_zero_changes_nothing() {
    let run = |zero: bool| {
        let mut b = line("linux-cubic", 3);
        for link in &mut b.setup.links {
            link.loss = LossSetup::Bernoulli(anabranch_engine::loss::Bernoulli { probability: 0.01 }).into();
            if zero {
                link.reorder =
                    Some(Box::new(ReorderSetup { probability: 0.0, correlation: 0.0, gap: 1, spared: None }));
                (link.duplicate, link.corrupt) = (chance(0.0), chance(0.0));
                link.policer = Some(Box::new(PolicerSetup { rate: mbps(1_000), burst: 1 << 30 }));
                link.shaper = Some(Box::new(ShaperSetup { rate: mbps(1_000), burst: 1 << 30, peak: None }));
            }
        }
        b.run().tables
    };
    assert_eq!(format!("{:?}", run(false)), format!("{:?}", run(true)));
}
