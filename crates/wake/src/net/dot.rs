//! Products of a matrix and a vector: what heads are made of.

use super::Simd;

/// Rows computed together: the vector is read once for all, and memory is read in as many streams.
pub(super) const ROWS: usize = 4;

/// `matrix · vector`; the matrix has `out.len()` rows as long as the vector.
pub(crate) fn matrix_vector(simd: Simd, matrix: &[f32], vector: &[f32], out: &mut [f32]) {
    let length = vector.len();
    if length == 0 {
        out.fill(0.0);
        return;
    }
    let together = length * ROWS;
    let (groups, rest) = out.as_chunks_mut::<ROWS>();
    let done = groups.len() * together;
    for (rows, out) in matrix.chunks_exact(together).zip(groups) {
        let rows = std::array::from_fn(|row| &rows[row * length..(row + 1) * length]);
        *out = match simd {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => super::x86::rows_avx512(rows, vector),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => super::x86::rows_avx2(rows, vector),
            Simd::Portable => rows.map(|row| portable(row, vector)),
        };
    }
    for (row, out) in matrix[done..].chunks_exact(length).zip(rest) {
        *out = dot(simd, row, vector);
    }
}

/// Sum of products of two vectors of one length.
pub(crate) fn dot(simd: Simd, one: &[f32], two: &[f32]) -> f32 {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => super::x86::dot_avx512(one, two),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => super::x86::dot_avx2(one, two),
        Simd::Portable => portable(one, two),
    }
}

/// Eight sums side by side, which the compiler turns into vectors.
fn portable(one: &[f32], two: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (one_blocks, one_rest) = one.as_chunks::<8>();
    let (two_blocks, two_rest) = two.as_chunks::<8>();
    for (one, two) in one_blocks.iter().zip(two_blocks) {
        for ((sum, one), two) in sums.iter_mut().zip(one).zip(two) {
            *sum += one * two;
        }
    }
    sums.iter().sum::<f32>() + one_rest.iter().zip(two_rest).map(|(one, two)| one * two).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_plain_sum() {
        for simd in Simd::all() {
            for length in [1, 7, 31, 64, 96, 131, 1536] {
                let one: Vec<f32> = (0..length).map(|n| (n % 13) as f32 - 6.0).collect();
                let two: Vec<f32> = (0..length).map(|n| (n % 7) as f32 - 3.0).collect();
                let wanted: f32 = one.iter().zip(&two).map(|(one, two)| one * two).sum();
                assert!((dot(simd, &one, &two) - wanted).abs() < 1e-3);
                // Rows in a group and behind it, each with another factor.
                let matrix: Vec<f32> = (0..7).flat_map(|row| one.iter().map(move |x| x * row as f32)).collect();
                let mut out = [0.0; 7];
                matrix_vector(simd, &matrix, &two, &mut out);
                for (row, out) in out.iter().enumerate() {
                    let wanted = wanted * row as f32;
                    assert!((out - wanted).abs() < 2e-3, "{simd:?} {length} {row}: {out} {wanted}");
                }
            }
        }
    }
}
