use super::*;
use std::convert::Infallible;

/// Two nodes over a short way of 10 Mbps and a long one of 10 Mbps through a third: 12 Mbps of traffic.
fn detour(down: &[bool]) -> Evaluator {
    // 0 -> 1, 0 -> 2, 2 -> 1
    let arcs = WeightedArcs::new(3, vec![0, 0, 2], vec![1, 2, 1], vec![10.0; 3]);
    let matrix = vec![TrafficTo { to: 1, from_mbps: vec![12.0, 0.0, 0.0] }];
    Evaluator::new(arcs, vec![matrix], vec![Case { matrix: 0, down: down.to_vec() }])
}

fn limits(most_changes: usize) -> SearchLimits {
    SearchLimits {
        present: vec![1; 3],
        begin: vec![1; 3],
        group: vec![0, 1, 2],
        greatest: 65_535,
        most_changes,
        boldness: 0.02,
        work: 100_000,
        seed: 1,
    }
}

fn searched(evaluator: &Evaluator, limits: &SearchLimits) -> SearchResult {
    let Ok(result) = evaluator.search::<Infallible>(limits, &mut |_| Ok(()));
    result
}

#[test]
fn least_paths_share_evenly_and_what_is_down_carries_nothing() {
    let up = detour(&[false; 3]);
    assert_eq!(up.loads(&[1, 1, 1]), [[1.2, 0.0, 0.0]]);
    assert_eq!(up.loads(&[2, 1, 1]), [[0.6, 0.6, 0.6]]);
    assert_eq!(up.loads(&[3, 1, 1]), [[0.0, 1.2, 1.2]]);
    assert_eq!(detour(&[true, false, false]).loads(&[1, 1, 1]), [[0.0, 1.2, 1.2]]);
    assert_eq!(detour(&[true, true, false]).loads(&[1, 1, 1]), [[0.0; 3]], "no path, no load");
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
    evaluator.cases.push(Case { matrix: 0, down: vec![false, true, false] });
    let steps = [vec![(0, 2)], vec![(0, 3), (1, 2)], vec![(1, 1)]];
    let Ok(along) = evaluator.along::<Infallible>(&limits(3), &steps, &mut |_| Ok(()));
    // With the long way down all traffic takes the short one.
    assert_eq!(along, [1.2; 3]);
    evaluator.cases.pop();
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

/// A trial on some trees leads to what all trees grown anew have: over many random changes on a ring with chords.
#[test]
fn changes_that_are_taken_leave_the_loads_of_a_fresh_start() {
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
    let matrix: Vec<_> = (0..nodes)
        .map(|to| TrafficTo {
            to,
            from_mbps: (0..nodes).map(|from| f64::from((from * 5 + to * 3) % 7)).collect(),
        })
        .collect();
    let mut cases = vec![Case { matrix: 0, down: vec![false; count] }];
    for arc in [0, 5, 9] {
        let mut down = vec![false; count];
        down[arc] = true;
        cases.push(Case { matrix: 0, down });
    }
    let evaluator = Evaluator::new(arcs, vec![matrix], cases);
    let limits = SearchLimits {
        present: vec![10; count],
        begin: vec![10; count],
        group: (0..).take(count).collect(),
        greatest: 100,
        most_changes: count,
        boldness: 0.05,
        work: 3_000_000,
        seed: 7,
    };
    let outcome = searched(&evaluator, &limits);
    let highest = |weights: &[u32]| evaluator.loads(weights).into_iter().flatten().fold(0.0, f64::max);
    assert!(
        (outcome.load - highest(&outcome.weights)).abs() < 1e-9,
        "{} {}",
        outcome.load,
        highest(&outcome.weights)
    );
    assert!(outcome.load < highest(&limits.present));
    assert!(outcome.trials > 1000);
    assert!(outcome.weights.iter().all(|weight| (1..=100).contains(weight)));
}
