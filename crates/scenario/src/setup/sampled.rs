//! A traffic matrix within bounds, and sums in the order in which numpy adds.

use super::matrix::DemandBounds;

/// How often each entry of a sampled matrix is drawn anew. Two entries of a simplex exchange their parts as in Gibbs
/// samplers of it, which forget their start after O(n log n) draws (Smith 2014), some log n sweeps.
const SWEEPS: usize = 50;
/// Numbers that are added one after the other before sums are halved.
const BLOCK: usize = 128;

/// The sum of numbers by halves (Higham 1993), in the order of numpy: results of earlier versions stay to the last bit.
pub(super) fn pairwise_sum(numbers: &[f64]) -> f64 {
    if numbers.len() < 8 {
        return numbers.iter().fold(-0.0, |sum, number| sum + number) + 0.0;
    }
    if numbers.len() <= BLOCK {
        let (eights, rest) = numbers.split_at(numbers.len() - numbers.len() % 8);
        let mut parts = [0.0; 8];
        parts.copy_from_slice(&eights[..8]);
        for eight in eights[8..].chunks_exact(8) {
            parts.iter_mut().zip(eight).for_each(|(part, number)| *part += number);
        }
        let [a, b, c, d, e, f, g, h] = parts;
        let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
        return rest.iter().fold(sum, |sum, number| sum + number);
    }
    let half = numbers.len() / 2;
    let (first, second) = numbers.split_at(half - half % 8);
    pairwise_sum(first) + pairwise_sum(second)
}

/// A matrix within bounds, row by row, uniform over all of them, by hit-and-run along the axes (Smith 1984).
///
/// Along the axis of one entry the allowed matrices are an interval from zero, and the entry becomes a point of it at
/// random. The entries (i, i + d) for one d share neither row nor column, so that they are drawn at once. The order of these
/// groups is another one in each sweep: in a fixed order, what one entry leaves would only move to the next ones.
///
/// `uniforms` gives numbers between 0 and 1 of a sweep by its number, as many as the matrix has entries; those of the last
/// row make the order.
pub(super) fn sampled(bounds: &DemandBounds, uniforms: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    let DemandBounds { routers, ingress, egress, pair } = bounds;
    let count = routers.len();
    let at = |row: usize, column: usize| row * count + column;
    // Inside, so that no row is full of the first entries drawn.
    let mut matrix: Vec<f64> = (0..count * count)
        .map(|entry| {
            let (row, column) = (entry / count, entry % count);
            let most = ingress[row].min(egress[column]) / count as f64;
            if row == column { 0.0 } else { pair[entry].min(most) / 2.0 }
        })
        .collect();
    for sweep in 0..SWEEPS {
        // Anew in each sweep, so that rounding does not pile up.
        let mut rows: Vec<f64> = matrix.chunks_exact(count).map(pairwise_sum).collect();
        let mut columns = vec![0.0; count];
        for row in matrix.chunks_exact(count) {
            columns.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        let uniforms = uniforms(sweep);
        let last = &uniforms[at(count - 1, 0)..];
        let mut order: Vec<usize> = (0..count - 1).collect();
        order.sort_by(|&a, &b| last[a].total_cmp(&last[b]));
        for (group, shift) in order.into_iter().enumerate() {
            for here in 0..count {
                let there = (here + shift + 1) % count;
                let entry = at(here, there);
                let before = matrix[entry];
                let most =
                    (ingress[here] - rows[here] + before).min((egress[there] - columns[there]) + before);
                let after = uniforms[at(group, here)] * most.min(pair[entry]).max(0.0);
                matrix[entry] = after;
                rows[here] += after - before;
                columns[there] += after - before;
            }
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What numpy 2 gives for 1/1 + 1/2 + ... + 1/n: `(1 / np.arange(1, n + 1)).sum().hex()`.
    #[test]
    fn sums_are_those_of_numpy() {
        let sum = |count: u32| pairwise_sum(&(1..=count).map(|n| 1.0 / f64::from(n)).collect::<Vec<_>>());
        for (count, bits) in NUMPY_SUMS {
            assert_eq!(sum(count).to_bits(), bits, "{count} numbers");
        }
    }

    const NUMPY_SUMS: [(u32, u64); 7] = [
        (5, 0x4002_4444_4444_4444),
        (8, 0x4005_be2b_e2be_2be2),
        (77, 0x4013_b5c2_b37b_afd0),
        (128, 0x4015_bb8a_e954_1ca7),
        (129, 0x4015_c37b_0914_9ba9),
        (1000, 0x401d_f11f_45f4_e61a),
        (5001, 0x4022_307d_ac6c_e417),
    ];
}
