//! Which actual call is meant by which expected one.

/// What it costs to leave an expected call without an actual one: more than any pair does.
const UNMATCHED: i64 = 1_000_000;
/// What it costs to pair calls that do not belong together: more than leaving both alone.
const IMPOSSIBLE: i64 = 4 * UNMATCHED;

/// `costs[e][a]` is the cost of taking actual call `a` for expected call `e` (`None`: another tool).
/// Returns for each expected call its actual one. The most pairs, then the least cost in sum, in any
/// order: the Hungarian method with potentials (Kuhn 1955, Munkres 1957).
pub(super) fn unordered(costs: &[Vec<Option<u32>>]) -> Vec<Option<usize>> {
    let rows = costs.len();
    let actual = costs.first().map_or(0, Vec::len);
    // One column more for each row, so that every row can stay alone.
    let columns = actual + rows;
    let cost = |row: usize, column: usize| match costs[row].get(column) {
        Some(Some(cost)) => i64::from(*cost),
        Some(None) => IMPOSSIBLE,
        None => UNMATCHED,
    };
    let mut row_potential = vec![0_i64; rows + 1];
    let mut column_potential = vec![0_i64; columns + 1];
    // Row of each column, counted from 1; 0 is none. Column 0 holds the row being placed.
    let mut owner = vec![0_usize; columns + 1];
    for row in 1..=rows {
        owner[0] = row;
        let mut slack = vec![i64::MAX; columns + 1];
        let mut previous = vec![0_usize; columns + 1];
        let mut visited = vec![false; columns + 1];
        let mut column = 0;
        while owner[column] != 0 {
            visited[column] = true;
            let current = owner[column];
            let (mut step, mut next) = (i64::MAX, 0);
            for other in 1..=columns {
                if visited[other] {
                    continue;
                }
                let reduced = cost(current - 1, other - 1) - row_potential[current] - column_potential[other];
                if reduced < slack[other] {
                    slack[other] = reduced;
                    previous[other] = column;
                }
                if slack[other] < step {
                    (step, next) = (slack[other], other);
                }
            }
            for other in 0..=columns {
                if visited[other] {
                    row_potential[owner[other]] += step;
                    column_potential[other] -= step;
                } else {
                    slack[other] = slack[other].saturating_sub(step);
                }
            }
            column = next;
        }
        while column != 0 {
            owner[column] = owner[previous[column]];
            column = previous[column];
        }
    }
    let mut assigned = vec![None; rows];
    for column in 1..=actual {
        if owner[column] > 0 && costs[owner[column] - 1][column - 1].is_some() {
            assigned[owner[column] - 1] = Some(column - 1);
        }
    }
    assigned
}

/// The same with the order kept: later expected calls get later actual ones. An alignment by dynamic
/// programming over the two sequences.
pub(super) fn ordered(costs: &[Vec<Option<u32>>]) -> Vec<Option<usize>> {
    let rows = costs.len();
    let columns = costs.first().map_or(0, Vec::len);
    // best[e][a]: least cost of the expected calls from e on and the actual calls from a on.
    let mut best = vec![vec![0_i64; columns + 1]; rows + 1];
    for row in (0..rows).rev() {
        best[row][columns] = best[row + 1][columns] + UNMATCHED;
        for column in (0..columns).rev() {
            let alone = (best[row + 1][column] + UNMATCHED).min(best[row][column + 1]);
            let paired = costs[row][column].map(|cost| best[row + 1][column + 1] + i64::from(cost));
            best[row][column] = paired.map_or(alone, |paired| paired.min(alone));
        }
    }
    let mut assigned = vec![None; rows];
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let paired = costs[row][column].map(|cost| best[row + 1][column + 1] + i64::from(cost));
        if paired == Some(best[row][column]) {
            assigned[row] = Some(column);
            (row, column) = (row + 1, column + 1);
        } else if best[row][column] == best[row][column + 1] {
            column += 1;
        } else {
            row += 1;
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_best_fit_is_not_the_greedy_one() {
        // Greedy would give the first expected call the first actual one and leave cost 9.
        let costs = vec![vec![Some(1), Some(2)], vec![Some(1), Some(9)]];
        assert_eq!(unordered(&costs), [Some(1), Some(0)]);
        assert_eq!(ordered(&costs), [Some(0), Some(1)]);
    }

    #[test]
    fn other_tools_and_missing_calls_stay_alone() {
        assert_eq!(unordered(&[vec![None, Some(7)], vec![None, Some(0)]]), [None, Some(1)]);
        assert_eq!(unordered(&[vec![], vec![]]), [None, None]);
        assert_eq!(unordered(&[]), []);
        assert_eq!(ordered(&[vec![], vec![]]), [None, None]);
    }

    #[test]
    fn order_is_kept_when_it_is_asked_for() {
        let costs = vec![vec![None, Some(0)], vec![Some(0), None]];
        assert_eq!(unordered(&costs), [Some(1), Some(0)]);
        let kept = ordered(&costs);
        assert_eq!(kept.iter().flatten().count(), 1, "{kept:?}");
    }

    fn total(costs: &[Vec<Option<u32>>], assigned: &[Option<usize>]) -> i64 {
        costs
            .iter()
            .zip(assigned)
            .map(|(row, column)| column.and_then(|column| row[column]).map_or(UNMATCHED, i64::from))
            .sum()
    }

    /// The least cost by trying everything.
    fn exhaustive(costs: &[Vec<Option<u32>>], used: &mut Vec<usize>, in_order: bool) -> i64 {
        let Some((row, rest)) = costs.split_first() else { return 0 };
        let mut best = UNMATCHED + exhaustive(rest, used, in_order);
        for (column, cost) in row.iter().enumerate() {
            let free = if in_order { used.iter().all(|used| *used < column) } else { !used.contains(&column) };
            if let (Some(cost), true) = (cost, free) {
                used.push(column);
                best = best.min(i64::from(*cost) + exhaustive(rest, used, in_order));
                used.pop();
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_assignment_is_cheaper(
            costs in (0usize..5, 0usize..5).prop_flat_map(|(rows, columns)| {
                proptest::collection::vec(proptest::collection::vec(proptest::option::of(0u32..2000), columns), rows)
            })
        ) {
            let free = unordered(&costs);
            let mut columns: Vec<_> = free.iter().flatten().collect();
            columns.sort();
            columns.dedup();
            prop_assert_eq!(columns.len(), free.iter().flatten().count());
            prop_assert_eq!(total(&costs, &free), exhaustive(&costs, &mut Vec::new(), false));
            let kept = ordered(&costs);
            prop_assert!(kept.iter().flatten().is_sorted());
            prop_assert_eq!(total(&costs, &kept), exhaustive(&costs, &mut Vec::new(), true));
        }
    }
}
