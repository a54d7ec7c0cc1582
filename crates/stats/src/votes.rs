//! Blind votes among several candidates: one pick a question.

use crate::binomial::at_least;
use crate::multiple::holm;
use crate::paired::sign_test;
use crate::special::ln_gamma;

/// More outcomes than this are not enumerated: three candidates reach it at about 2,400 votes.
const OUTCOMES_UP_TO: f64 = 3e6;
/// Two probabilities that differ by less than this, relatively, are one.
const TIE: f64 = 1e-9;

/// The exact multinomial test: the chance, under `probabilities` (equal ones when `None`), of an
/// outcome no more likely than `counts`.
///
/// `None` without votes, with fewer than two candidates, with probabilities that are not as many,
/// not positive or do not sum to 1, or when more than 3 million outcomes would have to be
/// enumerated.
pub fn multinomial_exact(counts: &[u32], probabilities: Option<&[f64]>) -> Option<f64> {
    let candidates = counts.len();
    let votes = counts.iter().try_fold(0_u32, |sum, &count| sum.checked_add(count)).filter(|&votes| votes > 0)?;
    if candidates < 2 || outcomes(votes, candidates) > OUTCOMES_UP_TO {
        return None;
    }
    let equal = vec![1.0 / candidates as f64; candidates];
    let probabilities = probabilities.unwrap_or(&equal);
    let valid = probabilities.len() == candidates
        && probabilities.iter().all(|&p| p > 0.0)
        && (probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9;
    if !valid {
        return None;
    }
    let ln_factorials: Vec<f64> = (0..=votes).map(|count| ln_gamma(f64::from(count) + 1.0)).collect();
    // ln of pˣ/x! for every candidate and count: their sum, plus ln n!, is the chance of an outcome.
    let terms: Vec<Vec<f64>> = probabilities
        .iter()
        .map(|p| ln_factorials.iter().enumerate().map(|(count, ln)| count as f64 * p.ln() - ln).collect())
        .collect();
    let ln_votes = ln_factorials[votes as usize];
    let observed: f64 = terms.iter().zip(counts).map(|(term, &count)| term[count as usize]).sum();
    let mut enumeration = Enumeration { terms: &terms, limit: observed + TIE, ln_votes, sum: 0.0 };
    enumeration.walk(0, votes as usize, 0.0);
    Some(enumeration.sum.min(1.0))
}

/// C(votes + candidates − 1, candidates − 1).
fn outcomes(votes: u32, candidates: usize) -> f64 {
    (1..candidates).map(|i| (f64::from(votes) + i as f64) / i as f64).product()
}

struct Enumeration<'a> {
    terms: &'a [Vec<f64>],
    limit: f64,
    ln_votes: f64,
    sum: f64,
}

impl Enumeration<'_> {
    fn walk(&mut self, candidate: usize, left: usize, ln: f64) {
        if candidate + 1 == self.terms.len() {
            let ln = ln + self.terms[candidate][left];
            if ln <= self.limit {
                self.sum += (ln + self.ln_votes).exp();
            }
            return;
        }
        for count in 0..=left {
            self.walk(candidate + 1, left - count, ln + self.terms[candidate][count]);
        }
    }
}

/// Two candidates of a vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairOfVotes {
    /// The index of the one with more votes.
    pub ahead: usize,
    /// The index of the other.
    pub behind: usize,
    /// Sign test between the two.
    pub p: f64,
    /// The same after Holm's correction over all pairs.
    pub p_holm: f64,
}

/// What the votes among three or more candidates show.
#[derive(Debug, Clone, PartialEq)]
pub struct Votes {
    /// [`multinomial_exact`] against equal chances: is anybody preferred at all? `None` past its size.
    pub p: Option<f64>,
    /// The index of the candidate with the most votes; the first of equals.
    pub leader: usize,
    /// The chance that some candidate gets that many when all are equal, at most: one-sided binomial
    /// times the number of candidates. Three need 9 of 12, 12 of 20 or 17 of 30.
    pub p_leader: f64,
    /// Every pair.
    pub pairs: Vec<PairOfVotes>,
}

/// Judges votes; `None` without votes or with fewer than two candidates.
pub fn votes(counts: &[u32]) -> Option<Votes> {
    let cast = counts.iter().try_fold(0_u32, |sum, &count| sum.checked_add(count)).filter(|&cast| cast > 0)?;
    let candidates = counts.len();
    if candidates < 2 {
        return None;
    }
    let leader = (0..candidates).rev().max_by_key(|&i| counts[i])?;
    let p_leader = (candidates as f64 * at_least(counts[leader], cast, 1.0 / candidates as f64)).min(1.0);
    let mut pairs: Vec<PairOfVotes> = (0..candidates)
        .flat_map(|i| (i + 1..candidates).map(move |j| (i, j)))
        .map(|(i, j)| {
            let (ahead, behind) = if counts[j] > counts[i] { (j, i) } else { (i, j) };
            let p = sign_test(counts[i], counts[j]);
            PairOfVotes { ahead, behind, p, p_holm: p }
        })
        .collect();
    let corrected = holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
    for (pair, p_holm) in pairs.iter_mut().zip(corrected) {
        pair.p_holm = p_holm;
    }
    Some(Votes { p: multinomial_exact(counts, None), leader, p_leader, pairs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_voices_need_as_many_votes_as_the_method_says() {
        let enough = |leader: u32, cast: u32| {
            let rest = cast - leader;
            votes(&[rest / 2, leader, rest - rest / 2]).unwrap().p_leader <= 0.05
        };
        for (leader, cast) in [(9, 12), (12, 20), (17, 30)] {
            assert!(enough(leader, cast) && !enough(leader - 1, cast), "{leader} of {cast}");
        }
    }

    #[test]
    fn the_leader_is_named_and_pairs_are_corrected() {
        let found = votes(&[3, 14, 3]).unwrap();
        assert_eq!(found.leader, 1);
        assert_eq!(votes(&[5, 5, 2]).unwrap().leader, 0, "the first of equals");
        let pair = found.pairs.iter().find(|pair| pair.behind == 2 && pair.ahead == 1).unwrap();
        assert!((pair.p - sign_test(14, 3)).abs() < 1e-12);
        // Two equal p-values lead: Holm's smallest is three times the smallest.
        assert!((pair.p_holm - 3.0 * pair.p).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(votes(&[0, 0, 0]), None);
        assert_eq!(votes(&[7]), None);
        assert_eq!(multinomial_exact(&[1, 2], Some(&[0.5, 0.4])), None);
        assert_eq!(multinomial_exact(&[1, 2], Some(&[1.0, 0.0])), None);
        assert_eq!(multinomial_exact(&[1, 2, 3], Some(&[0.5, 0.5])), None);
        assert_eq!(multinomial_exact(&[u32::MAX, 1], None), None);
        let large = votes(&[3000, 2000, 2000]).unwrap();
        assert!(large.p.is_none() && large.p_leader < 1e-10);
    }

    proptest! {
        #[test]
        fn with_two_candidates_it_is_the_sign_test(a in 0_u32..60, b in 0_u32..60) {
            prop_assume!(a + b > 0);
            prop_assert!((multinomial_exact(&[a, b], None).unwrap() - sign_test(a, b)).abs() < 1e-9);
        }

        #[test]
        fn the_order_of_candidates_does_not_matter(a in 0_u32..20, b in 0_u32..20, c in 1_u32..20) {
            let there = multinomial_exact(&[a, b, c], None).unwrap();
            let back = multinomial_exact(&[c, a, b], None).unwrap();
            prop_assert!((there - back).abs() < 1e-9 && there <= 1.0 && there > 0.0);
        }
    }
}
