use super::{Choice, Scheduler, SubflowScheduler, View};
use crate::SchedulerConfig;
use crate::mptcp::data_sequence::DATA_START;
use crate::mptcp::paths::{Path, Paths};
use anabranch_units::{Instant, Span};

const SEGMENT: u64 = 1000;

/// Subflows with the given RTTs in ms, all ready, windows of ten segments.
fn paths(srtts: &[u64]) -> Paths {
    let mut paths = Paths::new(srtts.len());
    for (subflow, &srtt) in (0u8..).zip(srtts) {
        set(&mut paths, subflow, srtt, SEGMENT);
    }
    paths
}

fn set(paths: &mut Paths, subflow: u8, srtt: u64, room: u64) {
    let in_flight = if room > 0 { 0 } else { 10 * SEGMENT };
    let path = Path {
        srtt: Span::from_ms(srtt),
        cwnd: 10 * SEGMENT,
        in_flight,
        payload: SEGMENT,
        room,
        usable: true,
        ..Path::default()
    };
    paths.set(subflow, path, 0);
}

fn view(paths: &Paths, window: u64) -> View<'_> {
    let now = Instant::ZERO + Span::from_secs(1);
    View { now, paths, data_una: 0, data_nxt: 5_000, limit: 8_000, window }
}

fn picks(scheduler: &mut Scheduler, view: &View<'_>, count: usize) -> Vec<Option<u8>> {
    (0..count).map(|_| scheduler.pick(view).map(|choice| choice.subflow)).collect()
}

#[test]
fn lowest_rtt_takes_the_fastest_with_room() {
    let mut scheduler = Scheduler::new(&SchedulerConfig::LowestRtt(Default::default()), 3);
    let mut paths = paths(&[30, 10, 20]);
    assert_eq!(picks(&mut scheduler, &view(&paths, 1 << 20), 2), [Some(1), Some(1)]);
    set(&mut paths, 1, 10, 0);
    assert_eq!(picks(&mut scheduler, &view(&paths, 1 << 20), 1), [Some(2)]);
    (0..3).for_each(|subflow| set(&mut paths, subflow, 10, 0));
    assert_eq!(picks(&mut scheduler, &view(&paths, 1 << 20), 1), [None]);
}

#[test]
fn round_robin_takes_turns_and_skips_the_full() {
    let mut scheduler = Scheduler::new(&SchedulerConfig::RoundRobin(Default::default()), 4);
    let mut paths = paths(&[30, 10, 20, 5]);
    set(&mut paths, 2, 20, 0);
    let turns = picks(&mut scheduler, &view(&paths, 1 << 20), 5);
    assert_eq!(turns, [Some(0), Some(1), Some(3), Some(0), Some(1)]);
}

/// Each subflow goes through the stream from what is acknowledged to the limit.
#[test]
fn redundant_gives_everything_to_everyone() {
    let mut scheduler = Scheduler::new(&SchedulerConfig::Redundant(Default::default()), 2);
    let paths = paths(&[30, 10]);
    let mut taken = [Vec::new(), Vec::new()];
    while let Some(Choice { subflow, from }) = scheduler.pick(&view(&paths, 1 << 20)) {
        taken[usize::from(subflow)].push(from);
        scheduler.on_sent(subflow, from + SEGMENT);
    }
    let all: Vec<u64> = (0..8).map(|segment| segment * SEGMENT).collect();
    assert_eq!(taken, [all.clone(), all]);
    // What is acknowledged meanwhile is skipped.
    let mut scheduler = Scheduler::new(&SchedulerConfig::Redundant(Default::default()), 2);
    let later = View { data_una: 3_000, ..view(&paths, 1 << 20) };
    assert_eq!(scheduler.pick(&later), Some(Choice { subflow: 0, from: 3_000 }));
}

/// Ferlin 2016, by hand: ten segments of window at 10 ms against 40 ms. rtts = 4, X = (10 + 1.5) * 4 = 46
/// segments, times 1.19 after the first correction makes 54.74; beside one segment of the slow path they fit a window
/// of 56 and not of 55.
#[test]
fn blest_waits_when_the_fast_path_would_need_the_window() {
    let mut paths = paths(&[10, 40]);
    let fresh = || Scheduler::new(&SchedulerConfig::Blest(Default::default()), 2);
    assert_eq!(picks(&mut fresh(), &view(&paths, 1), 1), [Some(0)], "the fast one is never held back");
    set(&mut paths, 0, 10, 0);
    assert_eq!(picks(&mut fresh(), &view(&paths, 56 * SEGMENT), 1), [Some(1)]);
    assert_eq!(picks(&mut fresh(), &view(&paths, 55 * SEGMENT), 1), [None]);
}

/// A window that was full makes the estimate larger, up to 1.3; one that was not makes it smaller, down to 1.
#[test]
fn blest_learns_from_blocking() {
    let mut paths = paths(&[10, 40]);
    set(&mut paths, 0, 10, 0);
    let mut scheduler = Scheduler::new(&SchedulerConfig::Blest(Default::default()), 2);
    let mut now = Instant::ZERO;
    let mut fits = |scheduler: &mut Scheduler, blocked: bool, segments: u64| {
        let mut last = None;
        for _ in 0..60 {
            now = now + Span::from_ms(13);
            if blocked {
                scheduler.on_blocked(now);
            }
            last = scheduler.pick(&View { now, ..view(&paths, segments * SEGMENT) });
        }
        last.is_some()
    };
    // 46 * 1.3 = 59.8 and 46 * 1 = 46, and a segment.
    assert!(!fits(&mut scheduler, true, 60) && fits(&mut scheduler, true, 61));
    assert!(!fits(&mut scheduler, false, 46) && fits(&mut scheduler, false, 47));
}

/// Lim 2017, algorithm 1, with windows of ten segments and deviations of 5 ms. The fastest has 10 ms and is full, the other
/// 100 ms and room. 3 segments are left: waiting takes (1 + 1) * 10 = 20 ms, less than 100 + 5, and the slow one would
/// take 100, which is not below 2 * 10 + 5. So they wait.
#[test]
fn ecf_waits_for_the_fastest_while_that_completes_earlier() {
    let mut scheduler = Scheduler::new(&SchedulerConfig::Ecf(Default::default()), 2);
    let mut paths = paths(&[10, 100]);
    assert_eq!(picks(&mut scheduler, &view(&paths, 1 << 20), 1), [Some(0)], "the fastest has room");
    set(&mut paths, 0, 10, 0);
    deviate(&mut paths, 5);
    let mut pick = |left: u64| {
        let view = View { limit: 5_000 + left * SEGMENT, ..view(&paths, 1 << 20) };
        scheduler.pick(&view).map(|choice| choice.subflow)
    };
    // Nothing waits yet. 95 left: (1 + 9.5) * 10 = 105 ms is not below 105, and the slow one takes them.
    assert_eq!(pick(95), Some(1));
    // 94 left: 104 ms is below, and 9.4 * 100 is above 25.
    assert_eq!(pick(94), None);
    // Once they wait, the slow one must promise a quarter more: 1.25 * 105 = 131.25 ms, which 122 left reach.
    assert_eq!((pick(95), pick(121), pick(122)), (None, None, Some(1)));
    assert_eq!(pick(95), Some(1), "they wait no longer");
    assert_eq!((pick(3), pick(1)), (None, None));
}

/// At 50 and 104 ms waiting for a window or less takes 2 * 50 = 100 ms, below 104 + 5; but the slow one takes 104 ms, below
/// 2 * 50 + 5: what is left would be done there at once. More than a window on it takes longer: 11 left 114.4 ms.
#[test]
fn ecf_takes_a_slower_one_that_is_done_in_its_next_round() {
    let mut paths = paths(&[50, 104]);
    set(&mut paths, 0, 50, 0);
    deviate(&mut paths, 5);
    let mut scheduler = Scheduler::new(&SchedulerConfig::Ecf(Default::default()), 2);
    let mut pick = |left: u64| {
        let view = View { limit: 5_000 + left * SEGMENT, ..view(&paths, 1 << 20) };
        scheduler.pick(&view).map(|choice| choice.subflow)
    };
    assert_eq!((pick(1), pick(10)), (Some(1), Some(1)));
    // 105 ms of rounds are below 109.
    assert_eq!(pick(11), None);
    // It waits, which changes nothing here: 100 is below 1.25 * 109, and 104 below 105.
    assert_eq!(pick(10), Some(1));
}

/// Mean deviation of every RTT, in ms.
fn deviate(paths: &mut Paths, rttvar: u64) {
    for subflow in 0..2 {
        let path = Path { rttvar: Span::from_ms(rttvar), ..*paths.get(subflow) };
        paths.set(subflow, path, 0);
    }
}

/// Queues of 20 and 10 kB at 100 and 20 kB/s empty after 200 and 500 ms. The first takes two blocks of 32,728 bytes, of which
/// 65,428 count, at 200 kB/s: its mean rate is (20 * 100 + 65.428 * 200) / 85.428 = 176.6 kB/s and its queue empties after
/// 484 ms; then 131 kB more would be later than 500 ms.
#[test]
fn linux_fills_the_queue_that_empties_first_in_bursts() {
    let mut scheduler = Scheduler::new(&SchedulerConfig::Linux(Default::default()), 3);
    let mut paths = paths(&[10, 10, 10]);
    let put = |paths: &mut Paths, subflow: u8, queued: u64, pacing_rate: f64| {
        let path = Path { memory: queued, pacing_rate, send_buffer: 200_000, ..*paths.get(subflow) };
        paths.set(subflow, path, 0);
    };
    put(&mut paths, 0, 20_000, 100_000.0);
    put(&mut paths, 1, 10_000, 20_000.0);
    paths.set(2, Path { usable: false, ..*paths.get(2) }, 0);
    let mut assign = |paths: &Paths, limit: u64| {
        let view = View { data_nxt: DATA_START, limit: DATA_START + limit, ..self::view(paths, 1 << 20) };
        scheduler.assign(&view).map(|burst| (burst.subflow, burst.bytes))
    };
    assert_eq!(assign(&paths, 0), None, "nothing to give");
    // The rate known first counts until data are given.
    put(&mut paths, 0, 20_000, 200_000.0);
    assert_eq!(assign(&paths, 1_000_000), Some((0, 65_456)));
    put(&mut paths, 0, 85_428, 200_000.0);
    assert_eq!(assign(&paths, 1_000_000), Some((0, 65_456)), "484 ms");
    put(&mut paths, 0, 150_856, 200_000.0);
    assert_eq!(assign(&paths, 3_000), Some((1, 3_000)), "less is left");
    put(&mut paths, 1, 199_500, 1e9);
    put(&mut paths, 0, 200_000, 1.0);
    assert_eq!(assign(&paths, 1_000_000), None, "the one that empties first has a full buffer");
    // Before its first RTT sample nothing bounds the rate of a subflow.
    paths.set(2, Path { usable: true, memory: 50_000, send_buffer: 200_000, ..*paths.get(2) }, 0);
    assert_eq!(assign(&paths, 1_000_000), Some((2, 65_456)));
}
