/// Jain's fairness index, (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe 1984, DEC TR-301, section 3): 1 where all
/// shares are equal, 1/n where one has everything. What is not finite does not count; `None` where nothing is shared.
#[must_use]
pub fn jain_index(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares.into_iter().filter(|share| share.is_finite()) {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jain, Chiu and Hawe 1984, section 3: equal shares give 1, one user of n gives 1/n.
    #[test]
    fn fairness_of_extremes() {
        assert_eq!(jain_index([5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index([8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index([0.0]), None);
        // By hand: (1 + 3)^2 / (2 (1 + 9)) = 0.8; what was not measured does not count.
        assert_eq!(jain_index([1.0, f64::NAN, 3.0]), Some(0.8));
    }
}
