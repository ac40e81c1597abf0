//! When the flows of an entry start and stop.

use super::draws::{LARGEST_DRAW, rounded};
use super::matrix::Window;
use super::pairs::Entry;
use crate::traffic::{Flows, MOST_FLOWS};
use anabranch_engine::variate::Variate;

/// In the place of a stop that never comes.
pub const NEVER: u64 = u64::MAX;

/// Picoseconds beyond every run, and few enough that another draw can be added.
const LARGEST_OFFSET: u64 = 1 << 62;

/// The flows of an entry: for each its pair, by its place among those of the entry, and its start.
#[derive(Default)]
pub(super) struct Starts {
    pub pair: Vec<u32>,
    pub start: Vec<u64>,
    /// How many flows would begin when the run is over.
    pub never_begun: u64,
}

/// A pair whose transfers arrive by a matrix: the stream of its arrivals, and the time between them.
pub(super) type Gap = (String, Variate);

impl Entry<'_> {
    /// The most flows of each pair; one beyond the bound of a run where there is no other.
    pub(super) fn counts(&self, pairs: usize) -> Vec<u64> {
        match &self.table.flows {
            Flows::Unlimited => vec![MOST_FLOWS + 1; pairs],
            Flows::Drawn(drawn) => match drawn.fixed() {
                Some(number) => vec![number.0; pairs],
                None => {
                    let most = (MOST_FLOWS + 1) as f64;
                    let drawn = self.draws.many(&drawn.variate(), self.name, "flows").take(pairs);
                    drawn.map(|count| (count.min(most).round_ties_even() as u64).max(1)).collect()
                }
            },
        }
    }

    /// The starts of flows of which so many belong to each pair, all made at once; the first has the number `first`.
    pub(super) fn together(&self, counts: &[u64], first: u32, window: Window) -> Starts {
        let offsets = self.offsets(counts);
        let pair: Vec<u32> =
            (0..).zip(counts).flat_map(|(pair, &count)| std::iter::repeat_n(pair, count as usize)).collect();
        let numbers: Vec<u32> = (first..).take(pair.len()).collect();
        // A window begins at the start that the entry says.
        let start = match window.begin {
            0 => self.draws.each(&self.table.start, self.name, "start", &numbers),
            begin => vec![begin; pair.len()],
        };
        let start = pair.iter().zip(start).map(|(&pair, start)| offsets[pair as usize] + start).collect();
        Starts { pair, start, never_begun: 0 }
    }

    /// How much later than the first one each pair starts.
    fn offsets(&self, counts: &[u64]) -> Vec<u64> {
        let Some(stagger) = &self.table.stagger else { return vec![0; counts.len()] };
        let mut first = 0u64;
        let firsts = counts.iter().map(|count| {
            first += count;
            (first - count) as u32
        });
        let firsts: Vec<_> = firsts.skip(1).collect();
        let mut offset = 0u64;
        let gaps = self.draws.each(stagger, self.name, "stagger", &firsts);
        let later = gaps.into_iter().map(|gap| {
            offset = offset.saturating_add(gap);
            offset.min(LARGEST_OFFSET)
        });
        std::iter::once(0).chain(later).take(counts.len()).collect()
    }

    /// The starts of flows that arrive one after the other; one too many at most.
    ///
    /// `gaps` are those of the pairs by a matrix; without them, the entry says the time from one flow to the next.
    pub(super) fn one_by_one(
        &self,
        counts: &[u64],
        gaps: Option<&[Gap]>,
        duration: u64,
        window: Window,
    ) -> Starts {
        let duration = duration.min(window.end);
        let mut starts = Starts::default();
        let common = self.table.inter_arrival.as_ref().map(crate::variate::Drawn::variate);
        let mut offset = 0u64;
        for (pair, &flows) in counts.iter().enumerate() {
            let number = starts.start.len();
            if let Some(stagger) = self.table.stagger.as_ref().filter(|_| pair > 0) {
                let gap = self.draws.one(stagger, &format!("{}.{number}", self.name), "stagger");
                offset = offset.saturating_add(gap);
            }
            let name;
            let (stream, gap) = match (gaps, &common) {
                (Some(gaps), _) => (&gaps[pair].0, &gaps[pair].1),
                (None, Some(common)) => {
                    name = format!("{}.{number}", self.name);
                    (&name, common)
                }
                (None, None) => break,
            };
            // The first arrival of a Poisson process comes after a gap, too.
            let skipped = usize::from(gaps.is_some());
            let left = (MOST_FLOWS as usize + 1) - number;
            let arrivals = self.arrivals(stream, gap, flows, offset, duration, window);
            starts.start.extend(arrivals.take(left).skip(skipped));
            let made = starts.start.len() - number;
            starts.pair.extend(std::iter::repeat_n(pair as u32, made));
            if gaps.is_none() && self.table.flows != Flows::Unlimited {
                let first = starts.start.get(number).copied();
                starts.never_begun += self.late(stream, gap, (made as u64, flows), first, duration);
            }
        }
        starts.start.iter_mut().for_each(|start| *start = (*start).min(LARGEST_OFFSET));
        starts
    }

    /// The start of each flow of a pair, in picoseconds: the first one however late, later ones until the end.
    fn arrivals(
        &self,
        stream: &str,
        gap: &Variate,
        flows: u64,
        offset: u64,
        duration: u64,
        window: Window,
    ) -> impl Iterator<Item = u64> + use<> {
        let first = match window.begin {
            0 => offset.saturating_add(self.draws.one(&self.table.start, stream, "start")),
            begin => begin,
        };
        let fixed = self.table.stop.as_ref().and_then(crate::variate::Drawn::fixed);
        // What would start after the end is not part of the run.
        let end = fixed.map_or(duration, |stop| stop.as_ps().min(duration));
        let gaps = self.draws.many(gap, stream, "inter_arrival");
        let mut start = first;
        let later =
            gaps.take(usize::try_from(flows.saturating_sub(1)).unwrap_or(usize::MAX)).map_while(move |gap| {
                start = start.saturating_add(rounded(gap));
                (start < end).then_some(start)
            });
        std::iter::once(first).chain(later)
    }

    /// How many flows of a pair would begin when the run is over, and before their stop.
    ///
    /// `made` of `flows` flows are made, the first of them at `first`.
    fn late(
        &self,
        stream: &str,
        gap: &Variate,
        (made, flows): (u64, u64),
        first: Option<u64>,
        duration: u64,
    ) -> u64 {
        let rest = flows.saturating_sub(made);
        let (Some(stop), Some(first)) = (&self.table.stop, first) else { return rest };
        if rest == 0 {
            return 0;
        }
        if stop.fixed().is_some_and(|stop| stop.as_ps() <= duration) {
            return 0;
        }
        let gaps = self.draws.many(gap, stream, "inter_arrival").take((flows.min(MOST_FLOWS) - 1) as usize);
        let mut since_first = 0.0;
        let starts: Vec<f64> = gaps
            .map(|gap| {
                since_first += gap.min(LARGEST_DRAW).round_ties_even();
                first as f64 + since_first
            })
            .skip((made - 1) as usize)
            .collect();
        let numbers: Vec<u32> = (made as u32..).take(starts.len()).collect();
        let stops = self.draws.each(stop, self.name, "stop", &numbers);
        starts.iter().zip(stops).filter(|(start, stop)| **start < *stop as f64).count() as u64
    }
}
