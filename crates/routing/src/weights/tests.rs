use super::*;
use std::convert::Infallible;

/// Two nodes over a short way of 10 Mbps and a long one of 10 Mbps through a third: 12 Mbps of traffic.
fn detour(down: &[bool]) -> Evaluator {
    // 0 -> 1, 0 -> 2, 2 -> 1
    let arcs = WeightedArcs::new(3, vec![0, 0, 2], vec![1, 2, 1], vec![10.0; 3]);
    let matrix = vec![TrafficTo { to: 1, from_mbps: vec![12.0, 0.0, 0.0] }];
    Evaluator::new(arcs, matrix, None, vec![down.to_vec()])
}

fn limits(most_changes: usize) -> SearchLimits {
    SearchLimits {
        present: vec![1; 3],
        begin: vec![1; 3],
        group: vec![0, 1, 2],
        greatest: 65_535,
        most_changes,
        boldness: 0.02,
        evenness: 0.0,
        work: 100_000,
        seed: 1,
    }
}

fn searched(evaluator: &Evaluator, limits: &SearchLimits) -> SearchResult {
    let Ok(result) = evaluator.search::<Infallible>(limits, &mut |_| Ok(()));
    result
}

fn loads(evaluator: &Evaluator, weights: &[u32]) -> Vec<Vec<f64>> {
    let Ok((loads, _)) = evaluator.loads::<Infallible>(weights, &mut |_| Ok(()));
    loads
}

fn highest(evaluator: &Evaluator, weights: &[u32]) -> f64 {
    loads(evaluator, weights).into_iter().flatten().fold(0.0, f64::max)
}

#[test]
fn least_paths_share_evenly_and_what_is_down_carries_nothing() {
    let up = detour(&[false; 3]);
    assert_eq!(loads(&up, &[1, 1, 1]), [[1.2, 0.0, 0.0]]);
    assert_eq!(loads(&up, &[2, 1, 1]), [[0.6, 0.6, 0.6]]);
    assert_eq!(loads(&up, &[3, 1, 1]), [[0.0, 1.2, 1.2]]);
    assert_eq!(loads(&detour(&[true, false, false]), &[1, 1, 1]), [[0.0, 1.2, 1.2]]);
    assert_eq!(loads(&detour(&[true, true, false]), &[1, 1, 1]), [[0.0; 3]], "no path, no load");
}

#[test]
fn the_search_finds_the_tie_with_one_change() {
    let outcome = searched(&detour(&[false; 3]), &limits(1));
    assert_eq!((outcome.weights.as_slice(), outcome.load), ([2, 1, 1].as_slice(), 0.6));
    let again = searched(&detour(&[false; 3]), &limits(1));
    assert_eq!(
        (again.weights, again.work),
        (outcome.weights, outcome.work),
        "the same calls, the same answer"
    );
}

#[test]
fn without_changes_nothing_changes() {
    assert_eq!(searched(&detour(&[false; 3]), &limits(0)).weights, [1, 1, 1]);
}

#[test]
fn groups_change_together_and_count_their_arcs() {
    let evaluator = detour(&[false; 3]);
    let both = SearchLimits { group: vec![0, 1, 0], ..limits(1) };
    assert_eq!(searched(&evaluator, &both).weights, [1, 1, 1], "two arcs are two changes");
    // 0 -> 1 and 2 -> 1 alike: w against 1 + w never ties, whatever w is.
    assert_eq!(searched(&evaluator, &SearchLimits { most_changes: 2, ..both }).load, 1.2);
}

#[test]
fn changes_that_do_nothing_are_left_out() {
    let evaluator = detour(&[false; 3]);
    let limits = SearchLimits { present: vec![1, 5, 1], begin: vec![1, 5, 1], ..limits(3) };
    // The last one stands back; the middle and the first do it together.
    let Ok((order, _)) = evaluator.fewest_changes::<Infallible>(&limits, &[4, 3, 1], &mut |_| Ok(()));
    assert_eq!(order, [0, 1]);
    // 6 against 5 + 1 needs no change of the last arc: 6 ties, and the other way is 6 as it was.
    let Ok((order, _)) = evaluator.fewest_changes::<Infallible>(&limits, &[6, 5, 1], &mut |_| Ok(()));
    assert_eq!(order, [0]);
    let Ok((order, _)) = evaluator.fewest_changes::<Infallible>(&limits, &[1, 9, 1], &mut |_| Ok(()));
    assert_eq!(order, [0; 0], "the middle one moves nothing");
}

#[test]
fn each_change_on_top_of_those_before_has_the_load_of_a_fresh_start() {
    let mut evaluator = detour(&[false; 3]);
    evaluator.down.push(vec![false, true, false]);
    let steps = [vec![(0, 2)], vec![(0, 3), (1, 2)], vec![(1, 1)]];
    let Ok(along) = evaluator.along::<Infallible>(&limits(3), &steps, &mut |_| Ok(()));
    // With the long way down all traffic takes the short one.
    assert_eq!(along, [1.2; 3]);
    evaluator.down.pop();
    let Ok(along) = evaluator.along::<Infallible>(&limits(3), &steps, &mut |_| Ok(()));
    assert_eq!(along, [0.6, 0.6, 1.2]);
}

#[test]
fn without_work_all_changes_stay() {
    let evaluator = detour(&[false; 3]);
    let limits = SearchLimits { present: vec![1, 5, 1], begin: vec![1, 5, 1], work: 0, ..limits(3) };
    let Ok((mut order, work)) = evaluator.fewest_changes::<Infallible>(&limits, &[4, 3, 1], &mut |_| Ok(()));
    order.sort_unstable();
    assert_eq!((order.as_slice(), work), ([0, 1].as_slice(), 0));
}

/// A ring with chords of other capacities, whole and without each of three arcs; a limit of what enters and leaves at each node,
/// if any.
fn chords(limit_mbps: Option<f64>) -> Evaluator {
    let nodes = 8_u32;
    let (mut tail, mut head) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        for step in [1, 3] {
            tail.extend([node, (node + step) % nodes]);
            head.extend([(node + step) % nodes, node]);
        }
    }
    let count = tail.len();
    let capacity = (0..count).map(|arc| 10.0 + (arc % 3) as f64 * 5.0).collect();
    let arcs = WeightedArcs::new(nodes as usize, tail, head, capacity);
    let traffic: Vec<_> = (0..nodes)
        .map(|to| TrafficTo {
            to,
            from_mbps: (0..nodes)
                .map(|from| if from == to { 0.0 } else { f64::from((from * 5 + to * 3) % 7) })
                .collect(),
        })
        .collect();
    let mut down = vec![vec![false; count]];
    for arc in [0, 5, 9] {
        let mut without = vec![false; count];
        without[arc] = true;
        down.push(without);
    }
    let hose = limit_mbps.map(|mbps| Hose { ingress_mbps: vec![mbps; 8], egress_mbps: vec![0.7 * mbps; 8] });
    Evaluator::new(arcs, traffic, hose, down)
}

fn free(evaluator: &Evaluator, work: u64) -> SearchLimits {
    let count = evaluator.arcs.arcs();
    SearchLimits {
        present: vec![10; count],
        begin: vec![10; count],
        group: (0..).take(count).collect(),
        greatest: 100,
        most_changes: count,
        boldness: 0.05,
        evenness: 0.2,
        work,
        seed: 7,
    }
}

/// Many random changes, each on the trees that feel it, lead to what all trees grown anew have: for a matrix, and for the worst of
/// each arc within bounds.
#[test]
fn changes_that_are_taken_leave_the_loads_of_a_fresh_start() {
    for limit_mbps in [None, Some(9.0)] {
        let evaluator = chords(limit_mbps);
        let limits = free(&evaluator, 3_000_000);
        let found = searched(&evaluator, &limits);
        let anew = highest(&evaluator, &found.weights);
        assert!((found.load - anew).abs() < 1e-9, "{} {anew}", found.load);
        assert!(found.load < highest(&evaluator, &limits.present));
        assert!(found.trials > 300, "{}", found.trials);
        assert!(found.weights.iter().all(|weight| (1..=100).contains(weight)));
    }
}

/// What every walk believes after any trial, taken or not, and after it returned to other weights.
#[test]
fn a_walk_that_returns_forgets_the_trial_before() {
    let evaluator = chords(None);
    let limits = free(&evaluator, 0);
    let mut walk = walk::Walk::new(&evaluator, &limits);
    let before = walk.highest;
    walk.trial(&[(0, 1)], &walk::Trial::WORSE);
    walk.return_to(&limits.present, 3);
    assert_eq!(walk.highest, before);
}

/// Bounds of pairs whose sums no node exceeds are one matrix, also for a hose.
#[test]
fn a_wide_hose_is_the_matrix_of_all_bounds() {
    let (matrix, wide, narrow) = (chords(None), chords(Some(100.0)), chords(Some(9.0)));
    let weights: Vec<_> = (0..).map(|arc| 1 + arc % 4).take(matrix.arcs.arcs()).collect();
    let (all, within, least) = (loads(&matrix, &weights), loads(&wide, &weights), loads(&narrow, &weights));
    for ((all, within), least) in
        all.iter().flatten().zip(within.iter().flatten()).zip(least.iter().flatten())
    {
        assert!((all - within).abs() < 1e-12);
        assert!(*least <= all + 1e-12);
    }
    assert!(highest(&narrow, &weights) < highest(&wide, &weights) - 0.1);
}
