//! Flow tables: each rule of the module on its own, and all of them against a naive model.

use super::table::*;
use super::{Header, Ingress};
use crate::control::table::{FlowTableSetup, WhenFull};
use crate::packet::Direction;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use proptest::prelude::*;

const UNBOUNDED: FlowTableSetup =
    FlowTableSetup { size: None, when_full: WhenFull::Refuse, idle_timeout: None, hard_timeout: None };

fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

fn table(setup: FlowTableSetup) -> FlowTable {
    FlowTable::new(NodeId(7), setup)
}

fn header(flow: u32, direction: Direction, syn: bool, fin: bool) -> Header {
    Header { flow: FlowId(flow), direction, from: NodeId(0), to: NodeId(1), syn, fin, mss: 0 }
}

fn data(flow: u32) -> Header {
    header(flow, Direction::Forward, false, false)
}

fn output(flow: u32, link: u32) -> Rule {
    Rule::output(FlowId(flow), Direction::Forward, LinkId(link))
}

/// What an access switch gets of a flow.
fn set(flow: u32) -> [Rule; 3] {
    let backward = Rule::output(FlowId(flow), Direction::Backward, LinkId(1));
    [output(flow, 0), backward, Rule::ends(FlowId(flow), Action::Controller)]
}

fn insert(table: &mut FlowTable, ps: u64, rules: &[Rule]) -> (Result<(), TableFull>, Vec<(u32, Reason)>) {
    let mut removed = Vec::new();
    let result = table.insert(at(ps), rules, &mut removed);
    assert!(removed.iter().all(|removal| removal.switch == NodeId(7) && removal.at == at(ps)));
    (result, removed.iter().map(|removal| (removal.flow.0, removal.reason)).collect())
}

#[test]
fn flags_and_ingress_choose_the_entry_of_higher_priority() {
    let mut table = table(UNBOUNDED);
    assert_eq!(insert(&mut table, 0, &set(3)), (Ok(()), vec![]));
    let mut action =
        |direction, syn, fin, ingress| table.look_up(at(1), &header(3, direction, syn, fin), ingress);
    use Direction::{Backward, Forward};
    use Ingress::{Host, Switch};
    for (syn, fin) in [(true, false), (false, true), (true, true)] {
        assert_eq!(action(Forward, syn, fin, Host), Some(Action::Controller));
        // From another switch it has been to the controller.
        assert_eq!(action(Forward, syn, fin, Switch), Some(Action::Output(LinkId(0))));
        assert_eq!(action(Backward, syn, fin, Host), Some(Action::Output(LinkId(1))));
    }
    assert_eq!(action(Forward, false, false, Host), Some(Action::Output(LinkId(0))));
    assert_eq!(table.look_up(at(1), &data(4), Host), None);
    assert_eq!((table.stats().hits, table.stats().misses), (10, 1));
}

#[test]
fn the_same_match_replaces() {
    let mut table = table(FlowTableSetup { size: Some(1), ..UNBOUNDED });
    for link in 0..3 {
        assert_eq!(insert(&mut table, 0, &[output(0, link)]), (Ok(()), vec![]));
        assert_eq!(table.look_up(at(0), &data(0), Ingress::Host), Some(Action::Output(LinkId(link))));
    }
    assert_eq!((table.len(), table.stats().most_entries), (1, 1));
}

/// A flow has all its entries or none.
#[test]
fn a_full_table_refuses_a_set_as_a_whole() {
    let mut table = table(FlowTableSetup { size: Some(5), ..UNBOUNDED });
    assert_eq!(insert(&mut table, 0, &set(0)).0, Ok(()));
    assert_eq!(insert(&mut table, 0, &set(1)), (Err(TableFull), vec![]));
    assert_eq!((table.len(), table.stats().refused), (3, 3));
    assert_eq!(table.look_up(at(0), &data(1), Ingress::Host), None);
    table.remove(FlowId(0));
    assert!(table.is_empty());
    assert_eq!(insert(&mut table, 0, &set(1)).0, Ok(()));
}

/// The flow and way that was used longest ago goes, its entry for SYN and FIN last.
#[test]
fn eviction_takes_what_has_been_idle_longest() {
    let mut table = table(FlowTableSetup { size: Some(6), when_full: WhenFull::Evict, ..UNBOUNDED });
    insert(&mut table, 0, &set(0)).0.unwrap();
    insert(&mut table, 1, &set(1)).0.unwrap();
    for (ps, flow) in [(2, 0), (3, 1)] {
        for direction in [Direction::Forward, Direction::Backward] {
            table.look_up(at(ps), &header(flow, direction, false, false), Ingress::Host).unwrap();
        }
    }
    assert_eq!(insert(&mut table, 4, &[output(2, 9)]), (Ok(()), vec![(0, Reason::Evicted)]));
    let fin = header(0, Direction::Forward, false, true);
    assert_eq!(table.look_up(at(2), &data(0), Ingress::Host), None);
    assert_eq!(table.look_up(at(2), &fin, Ingress::Host), Some(Action::Controller));
    // Two more of flow 0 go, and none of the newest or of flow 1.
    let two = [output(3, 9), output(4, 9)];
    assert_eq!(insert(&mut table, 5, &two), (Ok(()), vec![(0, Reason::Evicted), (0, Reason::Evicted)]));
    for flow in 1..5 {
        assert!(table.look_up(at(6), &data(flow), Ingress::Host).is_some(), "flow {flow}");
    }
    assert_eq!((table.len(), table.stats().evicted), (6, 3));
}

/// A set that is larger than the table would only evict itself.
#[test]
fn eviction_does_not_help_a_set_that_never_fits() {
    let mut table = table(FlowTableSetup { size: Some(2), when_full: WhenFull::Evict, ..UNBOUNDED });
    insert(&mut table, 0, &[output(0, 0)]).0.unwrap();
    assert_eq!(insert(&mut table, 1, &set(1)), (Err(TableFull), vec![]));
    assert!(table.look_up(at(1), &data(0), Ingress::Host).is_some());
}

#[test]
fn timeouts_end_at_their_exact_time() {
    let idle = FlowTableSetup { idle_timeout: Some(Span::from_ps(10)), ..UNBOUNDED };
    let mut table = table(idle);
    insert(&mut table, 0, &set(0)).0.unwrap();
    assert_eq!(table.next_expiry(), Some(at(10)));
    assert!(table.look_up(at(9), &data(0), Ingress::Host).is_some());
    let mut removed = Vec::new();
    table.expire(at(10), &mut removed);
    // The way back is idle; the entry for SYN and FIN lives as long as the flow.
    let gone: Vec<_> = removed.iter().map(|removal| (removal.direction, removal.reason)).collect();
    assert_eq!(gone, [(Direction::Backward, Reason::Idle)]);
    assert_eq!((table.len(), table.next_expiry()), (2, Some(at(19))));
    assert!(table.look_up(at(19), &data(0), Ingress::Host).is_none(), "over, though not yet removed");
    table.expire(at(19), &mut removed);
    assert_eq!((table.len(), table.next_expiry(), table.stats().expired_idle), (0, None, 3));
}

#[test]
fn a_hard_timeout_ends_an_entry_in_use() {
    let hard = FlowTableSetup { hard_timeout: Some(Span::from_ps(10)), ..UNBOUNDED };
    let mut table = table(hard);
    insert(&mut table, 0, &[output(0, 0)]).0.unwrap();
    for ps in 0..10 {
        assert!(table.look_up(at(ps), &data(0), Ingress::Host).is_some());
    }
    assert!(table.look_up(at(10), &data(0), Ingress::Host).is_none());
    let mut removed = Vec::new();
    table.expire(at(10), &mut removed);
    assert_eq!((removed[0].reason, table.len(), table.stats().expired_hard), (Reason::Hard, 0, 1));
}

/// However often entries are made anew, the table looks at each flow and way once.
#[test]
fn entries_made_anew_are_looked_at_once() {
    let setup = FlowTableSetup {
        idle_timeout: Some(Span::from_ps(1000)),
        hard_timeout: Some(Span::from_ps(3000)),
        ..UNBOUNDED
    };
    let mut table = table(setup);
    for ps in 0..500 {
        insert(&mut table, ps, &set(0)).0.unwrap();
    }
    let mut looks = 0;
    while let Some(next) = table.next_expiry().filter(|&next| next < at(1499)) {
        table.expire(next, &mut Vec::new());
        looks += 1;
    }
    assert!(looks <= 4, "{looks} looks at a table of two flows and ways");
    table.remove(FlowId(0));
    assert_eq!(table.next_expiry(), None, "nothing is due for a flow that is gone");
}

#[test]
fn window_scales_outlive_entries() {
    let mut table = table(FlowTableSetup { hard_timeout: Some(Span::from_ps(5)), ..UNBOUNDED });
    let syn_ack = header(0, Direction::Backward, true, false);
    assert_eq!(table.window_scale(&syn_ack), None);
    insert(&mut table, 0, &set(0)).0.unwrap();
    table.note_window_scale(&syn_ack, 7);
    table.expire(at(5), &mut Vec::new());
    assert_eq!((table.len(), table.window_scale(&syn_ack)), (0, Some(7)));
    table.remove(FlowId(0));
    assert_eq!(table.window_scale(&syn_ack), None);
}

/// A table as one would write it without a thought to speed: a list.
struct Model {
    setup: FlowTableSetup,
    /// Rule and when it was made, in the order of insertion.
    list: Vec<(Rule, u64)>,
    /// When each flow and way was used.
    used: Vec<((FlowId, Direction), u64)>,
}

impl Model {
    fn last_used(&self, rule: &Rule) -> u64 {
        let same = |entry: &&((FlowId, Direction), u64)| entry.0 == (rule.flow, rule.direction);
        self.used.iter().filter(same).map(|entry| entry.1).max().unwrap_or(0)
    }

    fn over(&self, entry: &(Rule, u64), now: u64) -> bool {
        let over = |timeout: Option<Span>, since| timeout.is_some_and(|t| now - since >= t.as_ps());
        over(self.setup.hard_timeout, entry.1) || over(self.setup.idle_timeout, self.last_used(&entry.0))
    }

    fn expire(&mut self, now: u64) -> usize {
        let before = self.list.len();
        while let Some(place) = (0..self.list.len()).find(|&place| self.over(&self.list[place], now)) {
            self.list.remove(place);
        }
        before - self.list.len()
    }

    fn look_up(&mut self, now: u64, header: &Header, ingress: Ingress) -> Option<Action> {
        let matches = |rule: &Rule| {
            (rule.flow, rule.direction) == (header.flow, header.direction)
                && (rule.segments == Segments::Any || header.syn || header.fin)
                && rule.ingress.is_none_or(|wanted| wanted == ingress)
        };
        let places = (0..self.list.len()).filter(|&place| matches(&self.list[place].0));
        let best = places.rev().max_by_key(|&place| self.list[place].0.priority)?;
        self.used.push(((header.flow, header.direction), now));
        Some(self.list[best].0.action)
    }

    fn insert(&mut self, now: u64, rules: &[Rule]) -> Result<usize, TableFull> {
        let same = |a: &Rule, b: &Rule| {
            let key = |r: &Rule| (r.flow, r.direction == Direction::Forward, r.priority);
            key(a) == key(b) && a.segments == b.segments && a.ingress == b.ingress
        };
        let mine =
            |entry: &Rule| rules.iter().any(|r| (r.flow, r.direction) == (entry.flow, entry.direction));
        let mut after = self.list.clone();
        let mut fresh = 0;
        for rule in rules {
            match after.iter_mut().find(|entry| same(&entry.0, rule)) {
                Some(entry) => *entry = (*rule, now),
                None => {
                    after.push((*rule, now));
                    fresh += 1;
                }
            }
        }
        let size = self.setup.size.map_or(usize::MAX, |size| size as usize);
        let over = (self.list.len() + fresh).saturating_sub(size);
        let others = self.list.iter().filter(|entry| !mine(&entry.0)).count();
        if over > 0 && (self.setup.when_full == WhenFull::Refuse || others < over) {
            return Err(TableFull);
        }
        for _ in 0..over {
            let order = |place: &usize| {
                let rule = &self.list[*place].0;
                let of_flow = (rule.flow, rule.direction == Direction::Backward);
                (self.last_used(rule), of_flow, rule.priority, std::cmp::Reverse(*place))
            };
            let places = (0..self.list.len()).filter(|&place| !mine(&self.list[place].0));
            let victim = places.min_by_key(order).expect("there are enough others");
            let rule = self.list.remove(victim).0;
            after.retain(|entry| !same(&entry.0, &rule));
        }
        self.list = after;
        self.used.extend(rules.iter().map(|rule| ((rule.flow, rule.direction), now)));
        Ok(over)
    }
}

#[derive(Clone, Debug)]
enum Step {
    LookUp(Header, Ingress),
    Insert(Vec<Rule>),
    Remove(u32),
    Wait,
}

fn ways() -> impl Strategy<Value = Direction> {
    prop::sample::select(vec![Direction::Forward, Direction::Backward])
}

fn ingress() -> impl Strategy<Value = Ingress> {
    prop::sample::select(vec![Ingress::Host, Ingress::Switch])
}

fn rule() -> impl Strategy<Value = Rule> {
    let flags = prop::sample::select(vec![Segments::Any, Segments::SynOrFin]);
    (0u32..4, ways(), flags, prop::option::of(ingress()), 0u16..3, 0u32..99).prop_map(
        |(flow, direction, segments, ingress, priority, link)| {
            let (flow, action) = (FlowId(flow), Action::Output(LinkId(link)));
            Rule { flow, direction, segments, ingress, priority, action }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let headers = (0u32..4, ways(), any::<bool>(), any::<bool>());
    prop_oneof![
        6 => (headers, ingress()).prop_map(|((f, d, s, e), from)| Step::LookUp(header(f, d, s, e), from)),
        4 => prop::collection::vec(rule(), 1..4).prop_map(Step::Insert),
        1 => (0u32..4).prop_map(Step::Remove),
        1 => Just(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_table_does_what_a_list_does(
        size in prop::option::of(1u64..7),
        evict in any::<bool>(),
        idle_timeout in prop::option::of((1u64..40).prop_map(Span::from_ps)),
        hard_timeout in prop::option::of((1u64..80).prop_map(Span::from_ps)),
        steps in prop::collection::vec((0u64..15, step()), 1..60),
    ) {
        let when_full = if evict { WhenFull::Evict } else { WhenFull::Refuse };
        let setup = FlowTableSetup { size, when_full, idle_timeout, hard_timeout };
        let (mut table, mut model) = (table(setup), Model { setup, list: Vec::new(), used: Vec::new() });
        let (mut now, mut hits, mut misses, mut evicted, mut expired) = (0, 0, 0, 0, 0);
        for (pause, step) in steps {
            now += pause;
            while let Some(next) = table.next_expiry().filter(|&next| next <= at(now)) {
                let mut removed = Vec::new();
                table.expire(next, &mut removed);
                prop_assert_eq!(removed.len(), model.expire(next.as_ps()));
                expired += removed.len() as u64;
            }
            prop_assert_eq!(model.expire(now), 0, "an entry has outlived its time");
            match step {
                Step::LookUp(header, from) => {
                    let expected = model.look_up(now, &header, from);
                    prop_assert_eq!(table.look_up(at(now), &header, from), expected);
                    *(if expected.is_some() { &mut hits } else { &mut misses }) += 1;
                }
                Step::Insert(rules) => {
                    let mut removed = Vec::new();
                    let result = table.insert(at(now), &rules, &mut removed);
                    prop_assert_eq!(result.map(|()| removed.len()), model.insert(now, &rules));
                    evicted += removed.len() as u64;
                }
                Step::Remove(flow) => {
                    table.remove(FlowId(flow));
                    model.list.retain(|entry| entry.0.flow != FlowId(flow));
                }
                Step::Wait => {}
            }
            prop_assert_eq!(table.len(), model.list.len() as u64);
            prop_assert!(size.is_none_or(|size| table.len() <= size));
        }
        let stats = table.stats();
        prop_assert_eq!((stats.hits, stats.misses, stats.evicted), (hits, misses, evicted));
        prop_assert_eq!(stats.expired_idle + stats.expired_hard, expired);
    }
}
