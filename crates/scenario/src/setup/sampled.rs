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
    use super::super::draws::Draws;
    use super::*;

    /// What numpy 2 gives for 1/1 + 1/2 + ... + 1/n: `(1 / np.arange(1, n + 1)).sum().hex()`.
    #[test]
    fn sums_are_those_of_numpy() {
        let sum = |count: u32| pairwise_sum(&(1..=count).map(|n| 1.0 / f64::from(n)).collect::<Vec<_>>());
        for (count, bits) in NUMPY_SUMS {
            assert_eq!(sum(count).to_bits(), bits, "{count} numbers");
        }
    }

    /// Bounds of `count` routers, none of which sends to itself.
    fn bounds(ingress: Vec<f64>, egress: Vec<f64>, pair: Vec<f64>) -> DemandBounds {
        DemandBounds { routers: (0..ingress.len() as u32).collect(), ingress, egress, pair }
    }

    /// A sample by a number.
    fn drawn(bounds: &DemandBounds, number: u64) -> Vec<f64> {
        let draws = Draws::new(7, number);
        let entries = bounds.pair.len();
        sampled(bounds, |sweep| draws.uniforms("sample", &sweep.to_string()).take(entries).collect())
    }

    fn sums(matrix: &[f64], count: usize) -> (Vec<f64>, Vec<f64>) {
        let row = |row: usize| matrix[row * count..][..count].iter().sum();
        let column = |column: usize| matrix.iter().skip(column).step_by(count).sum();
        ((0..count).map(row).collect(), (0..count).map(column).collect())
    }

    #[test]
    fn samples_keep_every_bound() {
        for number in 0..200 {
            let count = 2 + number as usize % 5;
            let is_hose = number % 2 == 0;
            let mut draws =
                Draws::new(1, number).uniforms("bounds", "values").map(|uniform| -f64::ln(1.0 - uniform));
            let mut side = |unbounded: f64| {
                let bound = |bound: f64| if bound < 0.2 { unbounded } else { bound };
                draws.by_ref().take(count).map(bound).collect::<Vec<_>>()
            };
            let none = if is_hose { 0.0 } else { f64::INFINITY };
            let (ingress, egress) = (side(none), side(1.0));
            let pair =
                draws.take(count * count).map(|bound| if is_hose { f64::INFINITY } else { bound }).collect();
            let bounds = bounds(ingress, egress, pair);
            let matrix = drawn(&bounds, number);
            let (rows, columns) = sums(&matrix, count);
            assert!(matrix.iter().zip(&bounds.pair).all(|(entry, most)| (0.0..=*most).contains(entry)));
            let holds = |(sum, most): (&f64, &f64)| *sum <= most * (1.0 + 1e-12) + 1e-12;
            assert!(rows.iter().zip(&bounds.ingress).all(holds));
            assert!(columns.iter().zip(&bounds.egress).all(holds));
            assert!((0..count).all(|router| matrix[router * count + router] == 0.0));
        }
    }

    fn mean_and_deviation(sample: &[f64]) -> (f64, f64) {
        let mean = sample.iter().sum::<f64>() / sample.len() as f64;
        let squares = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, (squares / sample.len() as f64).sqrt())
    }

    /// Against rejection: points of a cube, of which those within the bounds are kept.
    #[test]
    fn samples_are_uniform_over_what_is_allowed() {
        let pair = vec![0.0, 0.7, 0.7, 0.7, 0.0, 0.7, 0.7, 0.3, 0.0];
        let bounds = bounds(vec![1.0, 0.5, 2.0], vec![0.8, 1.0, 0.6], pair);
        let mut uniforms = Draws::new(7, 0).uniforms("cube", "points");
        let mut point =
            || bounds.pair.iter().map(|most| most * uniforms.next().unwrap_or(0.0)).collect::<Vec<_>>();
        let is_inside = |point: &Vec<f64>| {
            let (rows, columns) = sums(point, 3);
            let holds = |(sum, most): (&f64, &f64)| sum <= most;
            rows.iter().zip(&bounds.ingress).all(holds) && columns.iter().zip(&bounds.egress).all(holds)
        };
        let wanted: Vec<_> = (0..400_000).map(|_| point()).filter(is_inside).collect();
        let samples: Vec<_> = (0..4000).map(|number| drawn(&bounds, number)).collect();
        assert!(wanted.len() > 50_000);
        for entry in 0..10 {
            // The last is the total.
            let of = |matrices: &[Vec<f64>]| {
                let value =
                    |matrix: &Vec<f64>| matrix.get(entry).copied().unwrap_or_else(|| matrix.iter().sum());
                mean_and_deviation(&matrices.iter().map(value).collect::<Vec<_>>())
            };
            let ((mean, deviation), (wanted_mean, wanted_deviation)) = (of(&samples), of(&wanted));
            // Means of 4,000 of numbers below 0.7 stray by some 0.003.
            assert!((mean - wanted_mean).abs() < 0.02, "{entry}: {mean} in place of {wanted_mean}");
            assert!((deviation - wanted_deviation).abs() < 0.02, "{entry}: {deviation}, {wanted_deviation}");
        }
    }

    /// Rows alone bound: each is uniform over a simplex, entries Beta(1, n - 1), sums Beta(n - 1, 1).
    #[test]
    fn samples_of_a_large_hose_forget_where_they_began() {
        let count = 40;
        let free = vec![f64::INFINITY; count];
        let bounds = bounds(vec![1.0; count], free, vec![f64::INFINITY; count * count]);
        let samples: Vec<_> = (0..60).map(|number| drawn(&bounds, number)).collect();
        let n = count as f64;
        for shift in 1..count {
            let shifted = |matrix: &Vec<f64>| {
                (0..count).map(|row| matrix[row * count + (row + shift) % count]).collect::<Vec<_>>()
            };
            let (mean, _) = mean_and_deviation(&samples.iter().flat_map(shifted).collect::<Vec<_>>());
            // 2,400 entries for each shift, whose mean strays by 0.02.
            assert!((0.91..1.09).contains(&(mean * n)), "{shift}: {mean}");
        }
        let spread = ((n - 1.0) / (n * n * (n + 1.0))).sqrt();
        let off_diagonal = |matrix: &Vec<f64>| {
            (0..count * count)
                .filter(|entry| entry % (count + 1) != 0)
                .map(|entry| matrix[entry])
                .collect::<Vec<_>>()
        };
        let (_, deviation) = mean_and_deviation(&samples.iter().flat_map(off_diagonal).collect::<Vec<_>>());
        assert!((deviation / spread - 1.0).abs() < 0.03, "{deviation} in place of {spread}");
        let rows: Vec<_> = samples.iter().flat_map(|matrix| sums(matrix, count).0).collect();
        let (mean, deviation) = mean_and_deviation(&rows);
        assert!((mean - (n - 1.0) / n).abs() < 0.002, "{mean}");
        assert!((deviation / spread - 1.0).abs() < 0.1, "{deviation} in place of {spread}");
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
