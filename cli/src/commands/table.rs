//! A plain table: columns as wide as their content, two spaces apart.

/// Lays out rows under a header. Columns listed in `right` are aligned to the right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(std::iter::once(header[column].chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width - cell.chars().count());
            if right.contains(&column) { format!("{space}{cell}") } else { format!("{cell}{space}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = line(header.to_vec());
    for row in rows {
        text.push('\n');
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text.push('\n');
    text
}

/// Bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.0} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["é".to_owned(), "7".to_owned()], vec!["long".to_owned(), "12".to_owned()]];
        assert_eq!(super::table(&["name", "n"], &rows, &[1]), "name   n\né      7\nlong  12\n");
    }
}
