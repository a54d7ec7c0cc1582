//! The order in which (case, configuration) pairs have their turn.

/// All passes of one case with one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Index of the case in the run.
    pub(crate) case: usize,
    /// Index of the configuration.
    pub(crate) configuration: usize,
}

/// Every pair once: groups of `cases_per_turn` cases; within a group the configurations one after
/// the other, forwards in even groups and backwards in odd ones (A B, B A, A B, …).
pub(crate) fn schedule(cases: usize, configurations: usize, cases_per_turn: usize) -> impl Iterator<Item = Turn> {
    let size = cases_per_turn.max(1);
    (0..cases.div_ceil(size)).flat_map(move |group| {
        (0..configurations).flat_map(move |place| {
            let configuration = if group % 2 == 0 { place } else { configurations - 1 - place };
            (group * size..cases.min((group + 1) * size)).map(move |case| Turn { case, configuration })
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn letters(cases: usize, configurations: usize, cases_per_turn: usize) -> String {
        schedule(cases, configurations, cases_per_turn)
            .map(|turn| format!("{}{}", turn.case, ['A', 'B', 'C'][turn.configuration]))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn configurations_swap_places_from_case_to_case() {
        assert_eq!(letters(3, 2, 1), "0A 0B 1B 1A 2A 2B");
        assert_eq!(letters(2, 3, 1), "0A 0B 0C 1C 1B 1A");
        assert_eq!(letters(3, 2, 2), "0A 1A 0B 1B 2B 2A");
    }

    proptest! {
        #[test]
        fn every_pair_has_exactly_one_turn(cases in 0usize..40, configurations in 0usize..6, size in 0usize..9) {
            let mut seen = vec![0; cases * configurations];
            for turn in schedule(cases, configurations, size) {
                seen[turn.case * configurations + turn.configuration] += 1;
            }
            prop_assert!(seen.iter().all(|count| *count == 1));
        }
    }
}
