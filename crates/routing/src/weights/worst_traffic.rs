//! The most that traffic within bounds puts on an arc, over all matrices: a transportation problem.
//!
//! Each pair has a share of its traffic on the arc and a most of its own; sources send, and targets take, no more than the
//! hose model lets them. The sum of traffic times share is made greatest by flows from sources to targets along paths of
//! greatest gain, with potentials (the primal-dual method; Ahuja, Magnanti and Orlin, Network Flows, 1993, section 9.8): gains
//! fall from round to round, and in each round a maximum flow over paths of this gain is found. When no path gains anything the
//! potentials are prices that prove the sum to be the greatest.

use super::Hose;

/// Gains and reduced costs up to this are none; shares are at most 1.
const NO_GAIN: f64 = 1e-11;
/// Room up to this part of the greatest bound of a pair is none.
const DUST: f64 = 1e-12;

/// A pair with traffic on the arc.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArcPair {
    pub(super) source: u32,
    pub(super) target: u32,
    /// The share of the pair's traffic that the arc carries.
    pub(super) share: f64,
    /// The most traffic of the pair.
    pub(super) most_mbps: f64,
}

/// The traffic of a pair in a matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairTraffic {
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) mbps: f64,
}

/// One side of the problem: the sources, or the targets, of the pairs.
#[derive(Default)]
struct Side {
    /// The place of each node among those of this arc; `ABSENT` for others.
    place: Vec<usize>,
    /// The nodes by their places.
    nodes: Vec<usize>,
    /// The room that each node has left; infinite where its pairs at their bounds keep its own.
    left: Vec<f64>,
    /// Potential of each node.
    potential: Vec<f64>,
    /// Distance in the present round.
    distance: Vec<f64>,
    is_settled: Vec<bool>,
    /// The pair by which a path has come to a node.
    before: Vec<usize>,
    is_reached: Vec<bool>,
    /// Where the pairs of each node begin in `pairs`.
    first: Vec<usize>,
    pairs: Vec<usize>,
}

const ABSENT: usize = usize::MAX;

impl Side {
    /// Takes the nodes of pairs; `limit` is the most of each node of the network. Whether any node is held back by it.
    fn set_up(&mut self, nodes: impl Iterator<Item = (usize, f64)> + Clone, limit: &[f64]) -> bool {
        for &node in &self.nodes {
            self.place[node] = ABSENT;
        }
        self.place.resize(limit.len(), ABSENT);
        self.nodes.clear();
        self.left.clear();
        for (node, most_mbps) in nodes.clone() {
            if self.place[node] == ABSENT {
                self.place[node] = self.nodes.len();
                self.nodes.push(node);
                self.left.push(0.0);
            }
            self.left[self.place[node]] += most_mbps;
        }
        let mut is_bound = false;
        for (left, &node) in self.left.iter_mut().zip(&self.nodes) {
            if *left > limit[node] {
                *left = limit[node];
                is_bound = true;
            } else {
                *left = f64::INFINITY;
            }
        }
        self.gather(nodes.map(|(node, _)| node));
        is_bound
    }

    /// Lists the pairs of each node.
    fn gather(&mut self, nodes: impl Iterator<Item = usize> + Clone) {
        let count = self.nodes.len();
        self.first.clear();
        self.first.resize(count + 1, 0);
        for node in nodes.clone() {
            self.first[self.place[node] + 1] += 1;
        }
        for place in 0..count {
            self.first[place + 1] += self.first[place];
        }
        self.before.clear();
        self.before.extend_from_slice(&self.first[..count]);
        self.pairs.clear();
        self.pairs.resize(self.first[count], 0);
        for (pair, node) in nodes.enumerate() {
            let place = self.place[node];
            self.pairs[self.before[place]] = pair;
            self.before[place] += 1;
        }
        self.potential.clear();
        self.potential.resize(count, 0.0);
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn of(&self, place: usize) -> std::ops::Range<usize> {
        self.first[place]..self.first[place + 1]
    }

    /// The node that is nearest and not settled, with its distance.
    fn nearest(&self) -> Option<(usize, f64)> {
        let open =
            (0..self.len()).filter(|&place| !self.is_settled[place] && self.distance[place].is_finite());
        open.map(|place| (place, self.distance[place])).min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Moves the potentials by the distances, but by no more than `most`.
    fn raise(&mut self, most: f64) {
        for (potential, &distance) in self.potential.iter_mut().zip(&self.distance) {
            *potential += distance.min(most);
        }
    }
}

/// Solves these problems, one after the other.
#[derive(Default)]
pub(super) struct WorstTraffic {
    /// The pairs of the next problem.
    pub(super) pairs: Vec<ArcPair>,
    /// Pairs and nodes that were looked at, all problems together.
    pub(super) work: u64,
    sources: Side,
    targets: Side,
    /// Source and target of each pair by their places.
    ends: Vec<(usize, usize)>,
    flow: Vec<f64>,
    left: Vec<f64>,
    waiting: Vec<usize>,
    /// Whether the hose holds any pair back.
    is_bound: bool,
    /// The potential of the end of all paths; less the gain of the best one.
    end: f64,
    dust: f64,
}

impl WorstTraffic {
    /// The greatest sum of traffic times share, in Mbps.
    pub(super) fn most_mbps(&mut self, hose: &Hose) -> f64 {
        self.work += self.pairs.len() as u64;
        let pairs = self.pairs.iter();
        let sources = pairs.clone().map(|pair| (pair.source as usize, pair.most_mbps));
        let targets = pairs.map(|pair| (pair.target as usize, pair.most_mbps));
        let by_source = self.sources.set_up(sources, &hose.ingress_mbps);
        let by_target = self.targets.set_up(targets, &hose.egress_mbps);
        self.is_bound = by_source || by_target;
        if !self.is_bound {
            return self.pairs.iter().map(|pair| pair.share * pair.most_mbps).sum();
        }
        self.begin();
        loop {
            self.fill();
            if !self.next_gain() {
                break;
            }
        }
        self.pairs.iter().zip(&self.flow).map(|(pair, flow)| pair.share * flow).sum()
    }

    /// The matrix of the last problem, in the order of its pairs.
    pub(super) fn matrix(&self) -> Vec<PairTraffic> {
        let of_pair = |(number, pair): (usize, &ArcPair)| PairTraffic {
            source: pair.source,
            target: pair.target,
            mbps: if self.is_bound { self.flow[number] } else { pair.most_mbps },
        };
        self.pairs.iter().enumerate().map(of_pair).filter(|pair| pair.mbps > 0.0).collect()
    }

    /// No flow, and the potentials of the distances without any: each target is as far as its pair with the greatest share.
    fn begin(&mut self) {
        let Self { pairs, sources, targets, ends, flow, left, .. } = self;
        ends.clear();
        ends.extend(
            pairs
                .iter()
                .map(|pair| (sources.place[pair.source as usize], targets.place[pair.target as usize])),
        );
        flow.clear();
        flow.resize(pairs.len(), 0.0);
        left.clear();
        left.extend(pairs.iter().map(|pair| pair.most_mbps));
        for (pair, &(_, target)) in pairs.iter().zip(ends.iter()) {
            targets.potential[target] = targets.potential[target].min(-pair.share);
        }
        self.end = targets.potential.iter().copied().fold(0.0, f64::min);
        self.dust = DUST * left.iter().copied().fold(0.0, f64::max);
    }

    /// What a pair costs beyond the potentials: 0 on paths of the present gain, never less where there is room.
    fn reduced(&self, pair: usize) -> f64 {
        let (source, target) = self.ends[pair];
        self.sources.potential[source] - self.pairs[pair].share - self.targets.potential[target]
    }

    fn begins(&self, source: usize) -> bool {
        self.sources.left[source] > self.dust && self.sources.potential[source] > -NO_GAIN
    }

    fn ends_at(&self, target: usize) -> bool {
        self.targets.left[target] > self.dust && self.targets.potential[target] - self.end < NO_GAIN
    }

    /// As much flow as paths of the present gain take: first straight from source to target, then also over what is taken back.
    fn fill(&mut self) {
        self.work += self.pairs.len() as u64;
        for pair in 0..self.pairs.len() {
            let (source, target) = self.ends[pair];
            if self.reduced(pair) < NO_GAIN && self.begins(source) && self.ends_at(target) {
                let room = self.left[pair].min(self.sources.left[source]).min(self.targets.left[target]);
                self.push(pair, room);
                self.sources.left[source] -= room;
                self.targets.left[target] -= room;
            }
        }
        while let Some(target) = self.path() {
            self.augment(target);
        }
    }

    fn push(&mut self, pair: usize, mbps: f64) {
        self.flow[pair] += mbps;
        self.left[pair] -= mbps;
    }

    /// The target where a path of the present gain ends that has fewest pairs; breadth first.
    fn path(&mut self) -> Option<usize> {
        for side in [&mut self.sources, &mut self.targets] {
            side.is_reached.clear();
            side.is_reached.resize(side.nodes.len(), false);
            side.before.clear();
            side.before.resize(side.nodes.len(), ABSENT);
        }
        self.waiting.clear();
        for source in 0..self.sources.len() {
            if self.begins(source) {
                self.sources.is_reached[source] = true;
                self.waiting.push(source);
            }
        }
        let mut next = 0;
        while next < self.waiting.len() {
            let source = self.waiting[next];
            next += 1;
            for at in self.sources.of(source) {
                self.work += 1;
                let pair = self.sources.pairs[at];
                let target = self.ends[pair].1;
                if self.targets.is_reached[target]
                    || self.left[pair] <= self.dust
                    || self.reduced(pair) >= NO_GAIN
                {
                    continue;
                }
                self.targets.is_reached[target] = true;
                self.targets.before[target] = pair;
                if self.ends_at(target) {
                    return Some(target);
                }
                self.take_back(target);
            }
        }
        None
    }

    /// Goes on from a target to the sources whose traffic to it may be taken back.
    fn take_back(&mut self, target: usize) {
        for at in self.targets.of(target) {
            self.work += 1;
            let pair = self.targets.pairs[at];
            let source = self.ends[pair].0;
            if !self.sources.is_reached[source]
                && self.flow[pair] > self.dust
                && self.reduced(pair) > -NO_GAIN
            {
                self.sources.is_reached[source] = true;
                self.sources.before[source] = pair;
                self.waiting.push(source);
            }
        }
    }

    /// As much as the path to a target takes.
    fn augment(&mut self, target: usize) {
        let mut room = self.targets.left[target];
        let mut at = target;
        let first = loop {
            let pair = self.targets.before[at];
            room = room.min(self.left[pair]);
            let source = self.ends[pair].0;
            let back = self.sources.before[source];
            if back == ABSENT {
                break source;
            }
            room = room.min(self.flow[back]);
            at = self.ends[back].1;
        };
        room = room.min(self.sources.left[first]);
        at = target;
        loop {
            let pair = self.targets.before[at];
            self.push(pair, room);
            let back = self.sources.before[self.ends[pair].0];
            if back == ABSENT {
                break;
            }
            self.push(back, -room);
            at = self.ends[back].1;
        }
        self.sources.left[first] -= room;
        self.targets.left[target] -= room;
    }

    /// Turns to the greatest gain of a path that is left; false where none gains anything.
    fn next_gain(&mut self) -> bool {
        let step = self.distances().min(-self.end);
        self.sources.raise(step);
        self.targets.raise(step);
        self.end += step;
        self.end < -NO_GAIN
    }

    /// Distances by reduced costs (Dijkstra's algorithm), up to that of the end of all paths, which is returned.
    fn distances(&mut self) -> f64 {
        for side in [&mut self.sources, &mut self.targets] {
            side.distance.clear();
            side.distance.resize(side.nodes.len(), f64::INFINITY);
            side.is_settled.clear();
            side.is_settled.resize(side.nodes.len(), false);
        }
        for source in 0..self.sources.len() {
            if self.sources.left[source] > self.dust {
                self.sources.distance[source] = (-self.sources.potential[source]).max(0.0);
            }
        }
        let mut end = f64::INFINITY;
        loop {
            self.work += (self.sources.len() + self.targets.len()) as u64;
            let (source, target) = (self.sources.nearest(), self.targets.nearest());
            let is_source = match (source, target) {
                (None, None) => break,
                (Some(one), Some(other)) => one.1 <= other.1,
                (one, _) => one.is_some(),
            };
            let Some((place, distance)) = (if is_source { source } else { target }) else { break };
            if distance >= end {
                break;
            }
            if is_source {
                self.leave_source(place, distance);
            } else {
                self.leave_target(place, distance);
                if self.targets.left[place] > self.dust {
                    end = end.min(distance + (self.targets.potential[place] - self.end).max(0.0));
                }
            }
        }
        end
    }

    fn leave_source(&mut self, source: usize, distance: f64) {
        self.sources.is_settled[source] = true;
        for at in self.sources.of(source) {
            self.work += 1;
            let pair = self.sources.pairs[at];
            if self.left[pair] > self.dust {
                let target = self.ends[pair].1;
                let there = distance + self.reduced(pair).max(0.0);
                self.targets.distance[target] = self.targets.distance[target].min(there);
            }
        }
    }

    fn leave_target(&mut self, target: usize, distance: f64) {
        self.targets.is_settled[target] = true;
        for at in self.targets.of(target) {
            self.work += 1;
            let pair = self.targets.pairs[at];
            if self.flow[pair] > self.dust {
                let source = self.ends[pair].0;
                let there = distance + (-self.reduced(pair)).max(0.0);
                self.sources.distance[source] = self.sources.distance[source].min(there);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    fn solved(pairs: Vec<ArcPair>, hose: &Hose) -> (f64, WorstTraffic) {
        let mut worst = WorstTraffic { pairs, ..WorstTraffic::default() };
        let most = worst.most_mbps(hose);
        (most, worst)
    }

    const fn pair(source: u32, target: u32, share: f64, most_mbps: f64) -> ArcPair {
        ArcPair { source, target, share, most_mbps }
    }

    #[test]
    fn pairs_that_nothing_holds_back_are_at_their_bounds() {
        let hose = Hose { ingress_mbps: vec![100.0; 3], egress_mbps: vec![100.0; 3] };
        assert_eq!(solved(vec![pair(0, 1, 1.0, 8.0), pair(0, 2, 0.5, 4.0)], &hose).0, 10.0);
    }

    #[test]
    fn a_source_gives_its_traffic_to_the_pairs_with_the_greatest_shares() {
        let hose = Hose { ingress_mbps: vec![10.0, 10.0, 10.0], egress_mbps: vec![100.0; 3] };
        assert_eq!(solved(vec![pair(0, 1, 0.5, 8.0), pair(0, 2, 1.0, 8.0)], &hose).0, 9.0);
    }

    /// 0 and 1 may both send to 2, which takes 10, and 0 to 3: 0 leaves 2 to 1.
    #[test]
    fn traffic_makes_room_for_other_traffic() {
        let hose = Hose { ingress_mbps: vec![10.0; 4], egress_mbps: vec![10.0; 4] };
        let pairs = vec![pair(0, 2, 1.0, 10.0), pair(0, 3, 1.0, 10.0), pair(1, 2, 1.0, 10.0)];
        assert_eq!(solved(pairs, &hose).0, 20.0);
        // Also where the pair that gives way has the greater share: 10 and 9 are more than 10 alone.
        let pairs = vec![pair(0, 2, 1.0, 10.0), pair(0, 3, 0.9, 10.0), pair(1, 2, 0.8, 10.0)];
        assert!((solved(pairs, &hose).0 - 17.0).abs() < 1e-9);
    }

    /// Prices of nodes prove a bound of the sum (weak duality), whoever found them; here it is the sum. The flow keeps its bounds.
    #[test]
    fn prices_prove_every_sum_to_be_the_greatest() {
        let mut draws = Draws::new(5);
        let mut held_back = 0;
        for _ in 0..400 {
            let nodes = 2 + draws.below(9);
            let limit =
                |draws: &mut Draws| (0..nodes).map(|_| 1.0 + draws.below(30) as f64).collect::<Vec<_>>();
            let hose = Hose { ingress_mbps: limit(&mut draws), egress_mbps: limit(&mut draws) };
            let mut pairs = Vec::new();
            for source in 0..nodes {
                for target in (0..nodes).filter(|&target| target != source) {
                    if draws.below(3) > 0 {
                        let share = [1.0, 0.5, 0.25, 1.0 / 3.0, 0.75][draws.below(5)];
                        let (source, target) = (source as u32, target as u32);
                        pairs.push(pair(source, target, share, 1.0 + draws.below(12) as f64));
                    }
                }
            }
            let (most, worst) = solved(pairs.clone(), &hose);
            if !worst.is_bound {
                continue;
            }
            held_back += 1;
            let (mut sent, mut taken) = (vec![0.0; nodes], vec![0.0; nodes]);
            let price = |side: &Side, node: u32, sign: f64| {
                (sign * side.potential[side.place[node as usize]]).max(0.0)
            };
            let mut bound = 0.0;
            for (pair, &flow) in pairs.iter().zip(&worst.flow) {
                assert!(flow > -1e-9 && flow <= pair.most_mbps + 1e-9);
                sent[pair.source as usize] += flow;
                taken[pair.target as usize] += flow;
                let prices =
                    price(&worst.sources, pair.source, 1.0) + price(&worst.targets, pair.target, -1.0);
                bound += (pair.share - prices).max(0.0) * pair.most_mbps;
            }
            for (side, sign, limit, sum) in [
                (&worst.sources, 1.0, &hose.ingress_mbps, &sent),
                (&worst.targets, -1.0, &hose.egress_mbps, &taken),
            ] {
                for &node in &side.nodes {
                    assert!(sum[node] <= limit[node] + 1e-9);
                    bound += price(side, node as u32, sign) * limit[node];
                }
            }
            assert!((bound - most).abs() < 1e-8 * most.max(1.0), "{bound} {most}");
        }
        assert!(held_back > 300, "{held_back}");
    }
}
