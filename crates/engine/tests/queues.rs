//! Queues: drop-tail limits, ECN marking, CoDel; and what jitter and bursty loss do on a link.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::loss::{Bernoulli, GilbertElliott};
use anabranch_engine::queues::codel::CodelParameters;
use anabranch_engine::setup::*;
use anabranch_engine::transport::tcp_preset;
use anabranch_units::{Instant, LinkId, NodeId, Rate, Span};

const BOTTLENECK: u64 = 0;

/// Ten flows over 10 Mbps and 20 ms with this queue at the bottleneck.
fn ten_flows(transport: &str, queue: QueueSetup, seconds: u64) -> Outcome {
    ten_flows_over(mbps(10), transport, queue, seconds)
}

fn ten_flows_over(bottleneck: Rate, transport: &str, queue: QueueSetup, seconds: u64) -> Outcome {
    let dumbbell = Dumbbell {
        flows: 10,
        transport,
        bottleneck,
        delay: Span::from_ms(10),
        queue: 0,
        duration: Span::from_secs(seconds),
    };
    let mut b = dumbbell.build();
    *b.setup.links[0].queue = queue;
    *b.setup.links[1].queue = packets(1_000);
    sample(&mut b.setup, Span::from_ms(1));
    b.run()
}

fn queue_series(outcome: &Outcome, column: &str) -> Vec<u64> {
    let series = table(outcome, "link_series");
    let (ids, values) = (series.integer("link").unwrap(), series.integer(column).unwrap());
    ids.iter().zip(values).filter(|(id, _)| **id == BOTTLENECK).map(|(_, value)| *value).collect()
}

#[test]
fn drop_tail_in_packets_fills_and_never_exceeds_its_limit() {
    let outcome = ten_flows("newreno", packets(37), 10);
    assert_eq!(integer(&outcome, "links", "queue_max_packets", 0), 37);
    assert!(integer(&outcome, "links", "drops_queue", 0) > 50);
    assert_eq!(queue_series(&outcome, "queue_packets").into_iter().max(), Some(37));
}

#[test]
fn drop_tail_in_bytes_fills_and_never_exceeds_its_limit() {
    // Room for 20 full segments and 900 bytes: a 21st never fits.
    let limit = 20 * 1500 + 900;
    let queue = QueueSetup { limit: Limit { packets: None, bytes: Some(limit) }, ..packets(0) };
    let outcome = ten_flows("newreno", queue, 10);
    let most = queue_series(&outcome, "queue_bytes").into_iter().max().unwrap();
    // Ten ACKs of handshakes are the only other packets there are.
    assert!(most <= limit && most >= 20 * 1500, "{most}");
    assert!(integer(&outcome, "links", "drops_queue", 0) > 50);
}

#[test]
fn a_queue_without_a_limit_drops_nothing() {
    let queue = QueueSetup { limit: Limit::default(), ..packets(0) };
    let outcome = ten_flows("newreno", queue, 5);
    assert_eq!(integer(&outcome, "links", "drops_queue", 0), 0);
    // Slow start doubles into it until the receive windows of 4344 segments stop the flows.
    assert!(integer(&outcome, "links", "queue_max_packets", 0) > 500);
}

#[test]
fn ecn_marks_in_place_of_drops_hold_the_queue_near_the_threshold() {
    let threshold = 40;
    let mut b = two_hosts(mbps(10), Span::from_ms(10), 1_000, Span::from_secs(20));
    *b.setup.links[0].queue = marking(1_000, threshold);
    let mut tcp = tcp_preset("newreno").expect("a preset");
    tcp.ecn = true;
    let tcp = b.tcp("newreno with ECN", tcp);
    b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    sample(&mut b.setup, Span::from_ms(1));
    let outcome = b.run();
    assert_eq!(integer(&outcome, "links", "drops_queue", 0), 0);
    assert_eq!(integer(&outcome, "flows", "retransmissions", 0), 0);
    let (marks, reductions) =
        (integer(&outcome, "links", "ecn_marks", 0), integer(&outcome, "flows", "ecn_reductions", 0));
    assert!(marks > 0 && reductions > 5 && reductions <= marks, "{marks} marks, {reductions} reductions");
    // What was marked and has not arrived is in the queue or on the way: at most a window.
    let unseen = marks - integer(&outcome, "flows", "ecn_marks", 0);
    assert!(unseen <= 60, "{unseen}");
    let mean = |span| series_mean(&outcome, ("link_series", "link"), 0, "queue_packets", span);
    // A saw-tooth: W = 17.7 (BDP) + 40 at the mark, half of it after: the queue swings between 11 and
    // the threshold, and up to a window's growth of two packets above it.
    let tail = &queue_series(&outcome, "queue_packets")[5_000..];
    let most = *tail.iter().max().unwrap();
    assert!((threshold..threshold + 4).contains(&most), "{most}");
    let expected = (threshold as f64 + (57.7 / 2.0 - 17.7)) / 2.0;
    assert!((mean((5.0, 20.0)) / expected - 1.0).abs() < 0.15, "{} for {expected}", mean((5.0, 20.0)));
    assert!(goodput_between(&outcome, 0, (5.0, 20.0)) > 0.995 * 10.0 * 1448.0 / 1500.0);
}

#[test]
fn marking_does_nothing_to_a_sender_without_ecn() {
    let outcome = ten_flows("newreno", marking(50, 5), 5);
    assert_eq!(integer(&outcome, "links", "ecn_marks", 0), 0);
    assert_eq!(integer(&outcome, "links", "queue_max_packets", 0), 50);
}

/// 100 Mbps and 20 ms: a BDP of 17 packets for each of the ten flows. At 10 Mbps it would be two packets
/// each, the least that a window can be, and no queue management can hold a queue below what they add up to.
#[test]
fn codel_holds_the_sojourn_near_its_target_where_drop_tail_fills() {
    let limit = 1_000;
    let outcome = |queue| ten_flows_over(mbps(100), "newreno", queue, 20);
    let with = outcome(queue("codel", limit));
    let without = outcome(packets(limit));
    // A packet takes 0.12 ms, so the queue's length gives the wait.
    let wait_ms = |outcome: &Outcome| {
        0.12 * series_mean(outcome, ("link_series", "link"), 0, "queue_packets", (5.0, 20.0))
    };
    let (codel_ms, drop_tail_ms) = (wait_ms(&with), wait_ms(&without));
    println!("CoDel {codel_ms:.1} ms, drop-tail {drop_tail_ms:.1} ms");
    // RFC 8289 section 4.3: what is held is the least wait within an interval; the mean may be above it.
    assert!(codel_ms > 2.0 && codel_ms < 10.0, "{codel_ms}");
    // Half of the window at the top of the saw-tooth is 0.5 (120 + 20) ms, less the 20 ms: 50 to 120 ms.
    assert!(drop_tail_ms > 50.0, "{drop_tail_ms}");
    assert!(integer(&with, "links", "drops_codel", 0) > 100);
    assert_eq!(integer(&without, "links", "drops_codel", 0), 0);
    let busy = number(&with, "links", "utilization", 0);
    assert!(busy > 0.95, "CoDel leaves the link busy: {busy}");
}

#[test]
fn codel_marks_in_place_of_drops_for_senders_with_ecn() {
    let mut b = two_hosts(mbps(10), Span::from_ms(10), 1_000, Span::from_secs(20));
    let codel = Discipline::Codel(CodelParameters { ecn: true, ..CodelParameters::default() });
    b.setup.links[0].queue.discipline = codel;
    let mut tcp = tcp_preset("cubic").expect("a preset");
    tcp.ecn = true;
    let tcp = b.tcp("cubic with ECN", tcp);
    b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    let outcome = b.run();
    assert!(integer(&outcome, "links", "ecn_marks", 0) > 5);
    assert_eq!(integer(&outcome, "links", "drops_codel", 0), 0);
    assert_eq!(integer(&outcome, "flows", "retransmissions", 0), 0);
}

#[test]
fn jitter_raises_the_rtt_and_reorders_nothing() {
    let with_jitter = |jitter: Option<Variate>| {
        let mut b = two_hosts(mbps(100), Span::from_ms(10), 500, Span::from_secs(10));
        b.setup.links[0].jitter = jitter.map(Box::new);
        let mut tcp = tcp_preset("newreno").expect("a preset");
        // A message each 20 ms: no packet waits for another, so each draw shows undiminished.
        tcp.delayed_ack_segments = 1;
        let tcp = b.tcp("tcp", tcp);
        let size = Variate::Constant { value: 1_000.0 };
        let gap = Variate::Constant { value: 2e10 };
        b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::messages(size, gap), Instant::ZERO);
        b.run()
    };
    let (plain, jittery) = (with_jitter(None), with_jitter(Some(Variate::Uniform { low: 0.0, high: 6e9 })));
    let rtt = |outcome: &Outcome| number(outcome, "flows", "rtt_mean_ms", 0);
    // Uniform over 0..6 ms: mean 3 ms, deviation 1.73 ms, 500 draws.
    let raised = rtt(&jittery) - rtt(&plain);
    assert!((raised - 3.0).abs() < 3.0 * 1.73 / 500f64.sqrt(), "{raised} ms");
    assert!(number(&jittery, "flows", "rtt_max_ms", 0) - rtt(&plain) < 6.0 + 0.1);

    let mut bulk = two_hosts(mbps(100), Span::from_ms(10), 500, Span::from_secs(5));
    bulk.setup.links[0].jitter = Some(Box::new(Variate::Exponential { mean: 5e9 }));
    let tcp = bulk.transport("newreno");
    bulk.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    let outcome = bulk.run();
    assert!(integer(&outcome, "flows", "packets_received", 0) > 1_000);
    assert_eq!(integer(&outcome, "flows", "reordered_packets", 0), 0);
}

#[test]
fn gilbert_elliott_loses_in_bursts_what_bernoulli_loses_one_by_one() {
    // Bad for 20 packets in a row on average and 2 % of the time, losing half of them: 1 % in all.
    let (to_bad, to_good) = (0.05 * 0.02 / 0.98, 0.05);
    let bursty = LossSetup::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good: 0.0, loss_bad: 0.5 });
    let lossy = |loss| {
        let mut b = two_hosts(mbps(100), Span::from_ms(5), 1_000, Span::from_secs(400));
        *b.setup.links[0].loss = loss;
        // Ten segments each 10 ms, unanswered by any window: what is lost does not slow what is sent much.
        let tcp = b.transport("linux-cubic");
        let (size, gap) = (Variate::Constant { value: 14_480.0 }, Variate::Constant { value: 1e10 });
        b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::messages(size, gap), Instant::ZERO);
        let outcome = b.run();
        let count = |name, column| integer(&outcome, name, column, 0) as f64;
        let (lost, sent) = (count("links", "drops_random"), count("links", "packets"));
        (lost / sent, lost / count("flows", "fast_recoveries"))
    };
    let (bursty_loss, bursty_burst) = lossy(bursty);
    let (single_loss, single_burst) = lossy(LossSetup::Bernoulli(Bernoulli { probability: 0.01 }));
    println!("bursty {bursty_loss:.4} x {bursty_burst:.2}, single {single_loss:.4} x {single_burst:.2}");
    // 400,000 packets hold some 400 bad spells. Their number (Poisson) and their lengths (geometric) deviate by 1/20
    // each, together by 7 %: the bound is four deviations.
    assert!((bursty_loss / 0.01 - 1.0).abs() < 0.3, "{bursty_loss}");
    assert!((single_loss / 0.01 - 1.0).abs() < 0.1, "{single_loss}");
    assert!(bursty_burst > 3.0 * single_burst, "losses per recovery: {bursty_burst}, {single_burst}");
}

/// Ten flows over 100 Mbps under each discipline with its defaults: the link is shared, and whatever has a law of
/// its own keeps the wait far below that of drop-tail and says which drops are its own.
#[test]
fn every_discipline_holds_the_wait_that_it_promises() {
    // The most that the mean wait may be, in milliseconds. CoDel and FQ-CoDel: twice their target of 5 ms. PIE: its target
    // of 15 ms, and half of it for the saw-tooth. RED: its upper threshold of 15 packets of 0.12 ms.
    let promised = [("codel", 10.0), ("fq-codel", 10.0), ("pie", 22.5), ("red", 1.8)];
    for (name, most_ms) in promised {
        let outcome = ten_flows_over(mbps(100), "newreno", queue(name, 1_000), 20);
        let packets = series_mean(&outcome, ("link_series", "link"), 0, "queue_packets", (5.0, 20.0));
        let column = format!("drops_{}", name.replace('-', "_"));
        let (own_drops, busy) =
            (integer(&outcome, "links", &column, 0), number(&outcome, "links", "utilization", 0));
        println!("{name}: {:.2} ms, {own_drops} drops, {busy:.3} busy", 0.12 * packets);
        assert!(0.12 * packets < most_ms, "{name}: {} ms", 0.12 * packets);
        assert!(own_drops > 50, "{name}: {own_drops} drops of its own");
        // RED with its early thresholds gives up some of the link; the others do not.
        assert!(busy > if name == "red" { 0.8 } else { 0.95 }, "{name}: {busy}");
        for other in promised.iter().filter(|other| other.0 != name) {
            let column = format!("drops_{}", other.0.replace('-', "_"));
            assert_eq!(integer(&outcome, "links", &column, 0), 0, "{name}: {column}");
        }
    }
}

/// A flow of a packet each 20 ms beside ten greedy ones: drop-tail makes it wait with them, FQ-CoDel does not.
#[test]
fn fq_codel_spares_a_sparse_flow_the_queue_of_the_others() {
    let rtt = |discipline| {
        let dumbbell = Dumbbell {
            flows: 10,
            transport: "newreno",
            bottleneck: mbps(100),
            delay: Span::from_ms(10),
            queue: 0,
            duration: Span::from_secs(10),
        };
        let mut b = dumbbell.build();
        *b.setup.links[0].queue = queue(discipline, 1_000);
        let (from, to) = (b.setup.flows[0].from, b.setup.flows[0].to);
        let tcp = b.transport("linux-cubic");
        let (size, gap) = (Variate::Constant { value: 200.0 }, Variate::Constant { value: 2e10 });
        b.flow(from, to, tcp, SourceSetup::messages(size, gap), at(3.0));
        number(&b.run(), "flows", "rtt_mean_ms", 10)
    };
    let (fair, shared) = (rtt("fq-codel"), rtt("fifo"));
    println!("FQ-CoDel {fair:.2} ms, drop-tail {shared:.2} ms");
    // 20 ms of propagation, and up to a few packets of 0.12 ms before it; ACKs may be held back for 40 ms.
    assert!(fair < 70.0 && shared > fair + 40.0, "{fair} and {shared}");
}

/// Ten flows over a bottleneck whose queue changes at these times.
fn ten_flows_with(changes: &[(Instant, QueueSetup)], seconds: u64) -> Outcome {
    let dumbbell = Dumbbell {
        flows: 10,
        transport: "newreno",
        bottleneck: mbps(10),
        delay: Span::from_ms(10),
        queue: 40,
        duration: Span::from_secs(seconds),
    };
    let mut b = dumbbell.build();
    for (time, queue) in changes {
        let change = Change::Queue { links: vec![LinkId(BOTTLENECK as u32)], queue: queue.clone() };
        b.setup.events.push(EventSetup { at: *time, change });
    }
    sample(&mut b.setup, Span::from_ms(1));
    b.run()
}

#[test]
fn a_smaller_queue_keeps_what_came_first_and_a_larger_one_fills() {
    let changes = [(at(2.0), packets(3)), (at(2.5), packets(60))];
    let outcome = ten_flows_with(&changes, 6);
    let (backlog, drops) = (queue_series(&outcome, "queue_packets"), queue_series(&outcome, "drops"));
    // The first sample is at 1 ms; one at the time of the change comes after it. A packet leaves in 1.2 ms.
    let (before, after) = (1_998, 1_999);
    assert!(backlog[before] > 10 && backlog[after] == 3, "{} then {}", backlog[before], backlog[after]);
    let gone = drops[after] - drops[before];
    assert!(gone + 4 >= backlog[before] - 3, "{gone} dropped of {}", backlog[before]);
    assert!(backlog[after..2_499].iter().all(|&waiting| waiting <= 3));
    assert_eq!(backlog.iter().max(), Some(&60));
    assert_eq!(
        table(&outcome, "events").text("kind").unwrap().iter().collect::<Vec<_>>(),
        ["queue", "queue"]
    );
}

/// Every run checks that no packet is lost without a cause; and a link keeps the order of packets.
#[test]
fn every_discipline_takes_over_from_every_other() {
    let names = Discipline::NAMES;
    let pairs = names.iter().flat_map(|from| names.iter().flat_map(move |to| [from, to]));
    let times = (1..).map(|step| at(0.05 * f64::from(step)));
    let room = Limit { packets: Some(25), bytes: None };
    let named = |name: &&str| QueueSetup { limit: room, discipline: Discipline::named(name).unwrap() };
    let changes: Vec<_> = times.zip(pairs.map(named)).collect();
    assert!(changes.len() >= 72);
    let outcome = ten_flows_with(&changes, 5);
    assert!(integer(&outcome, "links", "packets", 0) > 3_500, "the link stays busy");
    assert_eq!((0..10).map(|flow| integer(&outcome, "flows", "reordered_packets", flow)).sum::<u64>(), 0);
}

/// With the draws of the first one it would drop the same packets again.
#[test]
fn a_queue_that_takes_over_has_draws_of_its_own() {
    let drops = |ps: &[u64]| {
        let red = QueueSetup { discipline: Discipline::named("red").unwrap(), ..packets(60) };
        let changes: Vec<_> = ps.iter().map(|ps| (Instant::from_ps(*ps), red.clone())).collect();
        queue_series(&ten_flows_with(&changes, 3), "drops")
    };
    let first = drops(&[1]);
    assert_eq!(first, drops(&[1]));
    assert!(first.last() > Some(&20) && first != drops(&[2]));
}
