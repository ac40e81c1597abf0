//! What flows without end get of a network, if all that share a full link get the same of it (max-min fairness: Bertsekas and
//! Gallager, Data Networks, 1992, section 6.5.2).

use anabranch_units::LinkId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows over the same links.
pub(super) struct Class<'l> {
    /// What it gets where another of weight 1 gets 1.
    pub(super) weight: f64,
    /// Most that it takes.
    pub(super) most: f64,
    /// Its links, with the share of it that takes each.
    pub(super) links: &'l [(LinkId, f64)],
}

/// What each class gets where links have so much.
pub(super) fn divide(links: &[f64], classes: &[Class<'_>]) -> Vec<f64> {
    // Each class has a link of its own besides, of as much as it takes.
    let mut left: Vec<f64> = links.iter().copied().chain(classes.iter().map(|class| class.most)).collect();
    let mut weights: Vec<f64> = vec![0.0; links.len()];
    weights.extend(classes.iter().map(|class| class.weight));
    let mut over: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for (number, class) in classes.iter().enumerate() {
        for &(link, share) in class.links {
            weights[link.index()] += share * class.weight;
            over[link.index()].push(number);
        }
    }
    over.extend((0..classes.len()).map(|number| vec![number]));
    // Levels are no less than zero, so that their bits are in their order. Rounding may leave less than nothing of a weight.
    let level = |left: f64, weight: f64| (left.max(0.0) / weight.max(f64::MIN_POSITIVE)).to_bits();
    let mut full: BinaryHeap<_> = (0..left.len())
        .filter(|&link| weights[link] > 0.0)
        .map(|link| Reverse((level(left[link], weights[link]), link)))
        .collect();
    let mut gets: Vec<Option<f64>> = vec![None; classes.len()];
    while let Some(Reverse((before, link))) = full.pop() {
        if over[link].iter().all(|&class| gets[class].is_some()) {
            continue;
        }
        let now = level(left[link], weights[link]);
        if now > before {
            full.push(Reverse((now, link)));
            continue;
        }
        for &number in &over[link] {
            if gets[number].is_some() {
                continue;
            }
            let class = &classes[number];
            let amount = Some((f64::from_bits(now) * class.weight).min(class.most));
            let amount = amount.filter(|amount| amount.is_finite()).unwrap_or_default();
            gets[number] = Some(amount);
            for &(link, share) in class.links {
                left[link.index()] -= share * amount;
                weights[link.index()] -= share * class.weight;
            }
        }
    }
    gets.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(weight: f64, most: f64, links: &[(LinkId, f64)]) -> Class<'_> {
        Class { weight, most, links }
    }

    /// Three links of 1, 2 and 3 in a row, a flow over all of them and one over each: the first link gives both a half, the
    /// second has 1.5 left, and the third 2.5.
    #[test]
    fn who_is_held_up_elsewhere_leaves_the_rest_to_others() {
        let (all, single) = (
            [(LinkId(0), 1.0), (LinkId(1), 1.0), (LinkId(2), 1.0)],
            [[(LinkId(0), 1.0)], [(LinkId(1), 1.0)], [(LinkId(2), 1.0)]],
        );
        let mut classes = vec![class(1.0, f64::INFINITY, &all)];
        classes.extend(single.iter().map(|links| class(1.0, f64::INFINITY, links)));
        assert_eq!(divide(&[1.0, 2.0, 3.0], &classes), [0.5, 0.5, 1.5, 2.5]);
    }

    /// A link of 13, of which somebody takes no more than 1: of the 12 that are left, a weight of 2 gets 8 and one of 1 gets 4.
    #[test]
    fn weights_and_bounds_count() {
        let links = [(LinkId(0), 1.0)];
        let classes =
            [class(1.0, 1.0, &links), class(2.0, f64::INFINITY, &links), class(1.0, f64::INFINITY, &links)];
        let gets = divide(&[13.0], &classes);
        assert_eq!(gets, [1.0, 8.0, 4.0]);
    }

    /// Half of a class goes over a link of 1 alone, half over one of 10: with the first full it has 2.
    #[test]
    fn shares_of_a_class_take_as_much_of_their_links() {
        let links = [(LinkId(0), 0.5), (LinkId(1), 0.5)];
        assert_eq!(divide(&[1.0, 10.0], &[class(1.0, f64::INFINITY, &links)]), [2.0]);
    }
}
