//! Which passes a page shows, when it cannot show all.

use std::collections::HashMap;

use tenpass_report::MOST_PASSES;
use tenpass_trace::FailureClass;

use crate::page_load::Listed;

/// The order in which passes are put in: the first of every failure class of every case and
/// configuration, then the second, and so on; passes that are right follow those that are not. No more
/// than a page takes.
pub(crate) fn plan(listed: &[Listed]) -> Vec<Listed> {
    let mut seen: HashMap<(usize, usize, usize, Option<FailureClass>, bool), u32> = HashMap::new();
    let mut ranked: Vec<(bool, u32, usize)> = Vec::with_capacity(listed.len());
    for (position, one) in listed.iter().enumerate() {
        let rank = seen.entry((one.run, one.configuration, one.case, one.class, one.right)).or_default();
        ranked.push((one.right, *rank, position));
        *rank += 1;
    }
    ranked.sort_unstable();
    ranked.truncate(MOST_PASSES as usize);
    ranked.into_iter().map(|(_, _, position)| listed[position]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_every_cell_comes_before_the_second_of_any() {
        let one = |case, pass, class, right| Listed { run: 0, column: 0, configuration: 0, case, pass, class, right };
        let wrong = Some(FailureClass::WrongTool);
        let listed = [
            one(0, 1, wrong, false),
            one(0, 2, None, true),
            one(0, 3, wrong, false),
            one(0, 4, Some(FailureClass::NoCall), false),
            one(1, 1, wrong, false),
            one(1, 2, wrong, false),
        ];
        let order: Vec<(usize, u32)> = plan(&listed).iter().map(|one| (one.case, one.pass)).collect();
        assert_eq!(order, [(0, 1), (0, 4), (1, 1), (0, 3), (1, 2), (0, 2)]);
    }

    #[test]
    fn the_page_has_an_end() {
        let many: Vec<Listed> = (0..MOST_PASSES as u32 + 10)
            .map(|pass| Listed { run: 0, column: 0, configuration: 0, case: 0, pass, class: None, right: false })
            .collect();
        assert_eq!(plan(&many).len(), MOST_PASSES as usize);
    }
}
