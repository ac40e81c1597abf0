//! What multipath connections take of a network: how many paths they occupy, and what they leave to others.

use crate::common::*;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{CongestionConfig, TransportConfig};
use anabranch_units::{Instant, Rate, Span};

/// Payload of a full segment over its IP packet: 1500 bytes with 20 + 20 of headers, 12 of timestamps and 20 of the
/// data sequence signal.
const EFFICIENCY: f64 = 1428.0 / 1500.0;

/// An MPTCP connection with K subflows and a TCP beside it, both over one bottleneck (link 0) with a round trip of
/// 40 ms. The TCP is as a subflow is, apart from the coupling. The seed sets which begins first, and a jitter of up to
/// a packet's time, without which drop-tail queues favour whoever is in step (Floyd and Jacobson 1992).
fn beside(
    congestion_control: &CongestionConfig,
    subflows: u16,
    seed: u64,
    capacity: Rate,
    queue: u64,
    duration: Span,
) -> Builder {
    let mut b = Builder::new(duration);
    let (left, right) = (b.node("left"), b.node("right"));
    let bottleneck = b.link(left, right, capacity, Span::from_ms(20), queue);
    b.setup.links[bottleneck].jitter =
        Some(Box::new(Variate::Uniform { low: 0.0, high: 1.2e16 / capacity.as_bps() as f64 }));
    b.setup.seed = seed;
    let multipath = mptcp(|config| {
        config.tcp.congestion_control = congestion_control.clone();
        config.path_manager = anabranch_engine::transport::PathManagerConfig::Ndiffports(
            anabranch_engine::transport::mptcp::NdiffportsParameters { subflows, by_interfaces: false },
        );
    });
    let TransportConfig::Mptcp(config) = &multipath else { panic!("MPTCP") };
    let mut single = config.tcp.clone();
    single.congestion_control =
        CongestionConfig::NewReno(anabranch_engine::transport::congestion::NewRenoParameters::default());
    let transports = [b.protocol("mptcp", multipath), b.tcp("tcp", single)];
    for (number, transport) in transports.into_iter().enumerate() {
        let (from, to) = (b.node(&format!("from {number}")), b.node(&format!("to {number}")));
        b.link(from, left, mbps(10 * capacity.as_bps() / 1_000_000), Span::from_us(10), 1000);
        b.link(right, to, mbps(10 * capacity.as_bps() / 1_000_000), Span::from_us(10), 1000);
        let late = (number as u64 + seed).is_multiple_of(2);
        let start = Instant::ZERO + Span::from_ms(if late { 500 } else { 0 });
        b.flow(from, to, transport, SourceSetup::Unlimited {}, start);
    }
    sample(&mut b.setup, Span::from_secs(1));
    b
}

/// Goodputs of both over 20 Mbps and 40 ms, with a queue that holds a bandwidth-delay product.
fn shares(congestion_control: &CongestionConfig, subflows: u16, seed: u64) -> [f64; 2] {
    let outcome = beside(congestion_control, subflows, seed, mbps(20), 67, Span::from_secs(60)).run();
    let goodputs = [0, 1].map(|flow| goodput_between(&outcome, flow, (10.0, 60.0)));
    assert!(goodputs[0] + goodputs[1] > 0.9 * 20.0 * EFFICIENCY, "the bottleneck is full");
    goodputs
}

/// What the connections get in all runs together over what the TCPs get.
fn ratio(congestion_control: &CongestionConfig, subflows: u16, seeds: u64) -> f64 {
    let runs: Vec<[f64; 2]> = (1..=seeds).map(|seed| shares(congestion_control, subflows, seed)).collect();
    runs.iter().map(|run| run[0]).sum::<f64>() / runs.iter().map(|run| run[1]).sum::<f64>()
}

/// RFC 6356 section 2, goal 2: no more than a single-path TCP would take on the best of its paths, here the only
/// one. Drop-tail losses do not hit the subflows together, so that the mean of 40 runs is up to 1.2 with eight subflows;
/// a run of a minute scatters by a quarter or so, eight by less than a tenth, for which 1.3 leaves room. And goal 1: no
/// less either, where half would show that the coupling starves the connection.
#[test]
fn lia_takes_one_share_of_a_bottleneck() {
    for subflows in [2, 4, 8] {
        let share = ratio(&CongestionConfig::Lia(Default::default()), subflows, 8);
        assert!((0.5..=1.3).contains(&share), "K = {subflows}: {share}");
    }
}

/// What an AIMD window balances to under random losses, and nothing else: the connection and the TCP cross a link far
/// too wide for them that loses one packet in 2000. In a round trip LIA adds max(w) / W segments to its subflows'
/// windows w of sum W (RFC 6356, equations (1) and (2), equal RTTs), and loses w^2 / 2 of each times the loss rate; a
/// TCP adds one segment and loses w^2 / 2 likewise. So in the mean the squares of the subflows' windows, over those
/// of the TCP's, are as max(w) over W. Returns the one over the other.
fn balance(subflows: u16, seeds: u64) -> f64 {
    let (mut squares, mut single_squares, mut increase, mut samples) = (0.0, 0.0, 0.0, 0.0);
    for seed in 1..=seeds {
        let mut b = beside(
            &CongestionConfig::Lia(Default::default()),
            subflows,
            seed,
            mbps(1000),
            10_000,
            Span::from_secs(200),
        );
        *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 5e-4 });
        let outcome = b.run();
        let rows = |name: &str, flow: u64| -> Vec<(f64, f64)> {
            let series = table(&outcome, name);
            let (times, windows) = (series.number("time_s").unwrap(), series.integer("cwnd_bytes").unwrap());
            let windows_of_flow = series.integer("flow").unwrap().iter().zip(times.iter().zip(windows));
            windows_of_flow
                .filter(|row| *row.0 == flow && *row.1.0 > 40.0)
                .map(|row| (*row.1.0, *row.1.1 as f64))
                .collect()
        };
        for chunk in rows("subflow_series", 0).chunk_by(|a, b| a.0 == b.0) {
            squares += chunk.iter().map(|row| row.1 * row.1).sum::<f64>();
            let whole: f64 = chunk.iter().map(|row| row.1).sum();
            increase += chunk.iter().map(|row| row.1).fold(0.0, f64::max) / whole;
            samples += 1.0;
        }
        single_squares += rows("flow_series", 1).iter().map(|row| row.1 * row.1).sum::<f64>();
    }
    squares / single_squares / (increase / samples)
}

/// With an alpha that is off by a half the balance would be, too; without coupling it is K. 400 losses or more
/// tell it to within a tenth.
#[test]
fn lia_adds_what_its_formula_says() {
    for subflows in [1, 2, 8] {
        let balance = balance(subflows, 3);
        assert!((balance - 1.0).abs() < 0.2, "K = {subflows}: {balance}");
    }
}

/// Without coupling each subflow is a TCP, and takes what a TCP does: K shares. The bound below is loose, because
/// the windows of nine flows here are of ten packets, where timeouts blur shares.
#[test]
fn uncoupled_subflows_take_a_share_each() {
    for subflows in [2, 4, 8] {
        let share = ratio(
            &CongestionConfig::NewReno(anabranch_engine::transport::congestion::NewRenoParameters::default()),
            subflows,
            4,
        );
        let each = share / f64::from(subflows);
        assert!((0.7..=1.4).contains(&each), "K = {subflows}: {share}");
    }
}

/// Total goodput over the capacity of eight paths, and the share of paths that carried data.
fn covered(
    clients: usize,
    subflows: u16,
    capacity: u64,
    (from_s, to_s): (f64, f64),
    seed: u64,
) -> (f64, f64) {
    let paths = 8;
    let (transport, duration) = (ndiffports(subflows), Span::from_secs_f64(to_s));
    let mut b = Thesis { paths, clients, transport, capacity: mbps(capacity), duration }.build();
    b.setup.seed = seed;
    sample(&mut b.setup, Span::from_secs(1));
    let outcome = b.run();
    let total: f64 = (0..clients as u64).map(|flow| goodput_between(&outcome, flow, (from_s, to_s))).sum();
    let used = (0..paths).filter(|path| integer(&outcome, "links", "packets", 4 * path) > 100).count();
    (total / (paths as f64 * capacity as f64 * EFFICIENCY), used as f64 / paths as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Garcia-Aviles 2017, figure 7 (P = 8): the expected share of occupied paths is 1 - (1 - 1/P)^(N K), 0.41 for
/// N = 2 and K = 2, 0.66 for K = 4 and 0.9998 for K = 32, and the total follows it. What is filled of a path that
/// is used: all but a few percent.
#[test]
fn the_total_follows_the_share_of_paths_in_use() {
    for (subflows, expected) in [(2, 0.414), (4, 0.656), (32, 0.9998)] {
        let runs: Vec<(f64, f64)> = (1..=5).map(|seed| covered(2, subflows, 4, (8.0, 20.0), seed)).collect();
        for &(total, used) in &runs {
            assert!(total <= used * 1.01 && total > used * 0.93, "K = {subflows}: {total} of {used}");
        }
        let total = median(runs.iter().map(|run| run.0).collect());
        // A share of eight paths that few balls occupy has a standard deviation of at most 1/8 (K = 4); a median
        // of five less than 0.07.
        assert!((total - expected).abs() < 0.2, "K = {subflows}: {total}");
        if subflows < 8 {
            assert!(total < 0.9, "K = {subflows}: {total} is below the baseline");
        } else {
            assert!(total > 0.95, "K = {subflows}: {total}");
        }
    }
}

/// The same figure: with 32 hosts even two subflows each occupy every path (1 - (7/8)^64 = 0.9998), and 32 cost
/// little, although there is hardly a packet in flight for each of 1024 subflows. Paths of 50 Mbps, as there.
#[test]
fn many_hosts_fill_the_network_whatever_their_subflows() {
    for subflows in [2, 32] {
        let (total, used) = covered(32, subflows, 50, (3.0, 7.0), 1);
        assert!(used == 1.0 && total > 0.95 && total <= 1.01, "K = {subflows}: {total}");
    }
}
