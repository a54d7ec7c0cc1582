//! Real files of every format, and files that mean harm.

use std::io::{Cursor, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn read_file(name: &str) -> Document {
    extract(file(name), name).unwrap()
}

fn labels(document: &Document) -> Vec<&str> {
    document.units.iter().map(|unit| unit.label.as_str()).collect()
}

fn unit(document: &Document, index: usize) -> &str {
    &document.text[document.units[index].range.clone()]
}

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_pdf_of_three_pages_reads_with_accents_and_table() {
    let pdf = read_file("report.pdf");
    assert_eq!((pdf.kind, labels(&pdf)), (DocumentKind::Pdf, vec!["1", "2", "3"]));
    let first = unit(&pdf, 0);
    assert!(first.contains("Rapport d'activité : été 2024"), "{first}");
    assert!(first.contains("Les élèves ont reçu leurs diplômes"), "{first}");
    assert!(first.contains("Poste\tMontant\tÉchéance"), "{first}");
    assert!(first.contains("Électricité\t62,40 €\t2024-03-15"), "{first}");
    assert!(unit(&pdf, 1).contains("œuvres et naïveté"));
    assert_eq!(unit(&pdf, 2).trim(), "The third page is in English.");
}

#[test]
fn a_pdf_with_a_composite_font_reads_with_ligatures_as_letters() {
    let pdf = read_file("minutes.pdf");
    assert!(unit(&pdf, 0).contains("Procès\n"), "{:?}", pdf.text);
    assert!(unit(&pdf, 0).contains("œuf, fine, offre"), "{:?}", pdf.text);
    assert_eq!(unit(&pdf, 1).trim(), "fin");
}

#[test]
fn an_owner_password_does_not_keep_a_reader_out_and_a_user_password_does() {
    assert_eq!(read_file("owner-locked.pdf").text, read_file("report.pdf").text);
    assert_eq!(extract(file("locked.pdf"), "x").unwrap_err(), DocumentError::Encrypted { kind: "PDF" });
    assert_eq!(extract(file("locked.xlsx"), "x").unwrap_err(), DocumentError::Encrypted { kind: "office" });
}

#[test]
fn pages_without_text_say_so() {
    assert_eq!(extract(file("scan.pdf"), "x").unwrap_err(), DocumentError::OnlyImages { pages: 1 });
}

#[test]
fn a_word_document_reads_in_order_without_what_is_hidden() {
    let word = read_file("minutes.docx");
    assert_eq!(word.kind, DocumentKind::Word);
    let expected = "# Compte rendu\nDans un contrôle\nPrésents : Zoé & Jérôme <direction>.\n- premier point\n\
                    Nom\tÂge\tVille\nZoé\t31\tNîmes\n## Décisions\nVisible\n";
    assert!(word.text.starts_with(expected), "{}", word.text);
    assert!(!word.text.contains("INVISIBLE"));
    assert!(word.text.trim_end().ends_with("Fin."));
}

#[test]
fn slides_read_one_by_one() {
    let slides = read_file("slides.pptx");
    assert_eq!(labels(&slides), ["1", "2"]);
    assert_eq!(unit(&slides, 0), "Bilan d'été\nUn point\nDeux\n");
    assert_eq!(unit(&slides, 1).trim(), "Suite");
}

#[test]
fn a_workbook_reads_as_it_is_shown() {
    let book = read_file("budget.xlsx");
    assert_eq!((book.kind, labels(&book)), (DocumentKind::Spreadsheet, vec!["Budget 2024", "Été", "Caché (hidden)"]));
    assert_eq!(
        unit(&book, 0),
        "Poste\tMontant\tDate\tPayé\tNote\nLoyer\t850\t2024-03-01\tTRUE\n\
         Électricité\t62.4\t2024-03-15 14:30\tFALSE\tà vérifier\nSomme\t0.3\n\t\t08:05\t26:03:00\n"
    );
    assert_eq!(unit(&book, 1), "x\n\t\tseule\n");
}

#[test]
fn an_old_workbook_reads_and_one_with_cells_in_two_corners_is_refused() {
    let book = read_file("old.xls");
    assert_eq!((labels(&book), unit(&book, 0)), (vec!["Vieux"], "Poste\tDate\nÉlectricité\t2019-12-31\t1.5\n"));
    let error = extract(file("corners.xls"), "x").unwrap_err();
    assert_eq!(error, DocumentError::Bomb { what: "sheets of 16777216 cells, the limit is 4000000".to_owned() });
}

/// Where a record of this type and length begins in a file.
fn record_at(bytes: &[u8], kind: u16, length: u16) -> usize {
    let head = [kind.to_le_bytes(), length.to_le_bytes()].concat();
    bytes.windows(4).position(|window| window == head).unwrap()
}

#[test]
fn an_old_workbook_that_states_endless_dimensions_is_refused_before_room_is_made_for_them() {
    let mut bytes = file("old.xls");
    let at = record_at(&bytes, 0x0200, 14) + 4;
    bytes[at..at + 12].copy_from_slice(&[0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 255, 255]);
    assert!(matches!(extract(bytes, "x"), Err(DocumentError::Bomb { .. })));
}

#[test]
fn an_old_workbook_whose_sectors_run_in_a_circle_is_refused() {
    let mut bytes = file("old.xls");
    let number = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (table, directory) = ((number(&bytes, 76) + 1) * 512, number(&bytes, 48));
    let own = (directory as u32).to_le_bytes();
    bytes[table + directory * 4..table + directory * 4 + 4].copy_from_slice(&own);
    assert!(matches!(extract(bytes, "x"), Err(DocumentError::Damaged { .. })));
}

#[test]
fn a_workbook_that_states_endless_strings_is_refused_before_room_is_made_for_them() {
    let whole = file("budget.xlsx");
    let mut whole = Archive::open(&whole, "x").unwrap();
    for count in ["99999999999999", "18446744073709551615", "99999999999999999999999", " +9999999999"] {
        let parts: Vec<(String, Vec<u8>)> = whole
            .names()
            .into_iter()
            .map(|name| {
                let bytes = whole.part(&name).unwrap().unwrap();
                let text = String::from_utf8(bytes).unwrap();
                (name, text.replace("uniqueCount=\"", &format!("uniqueCount=\"{count}\" x=\"")).into_bytes())
            })
            .collect();
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        assert!(matches!(extract(archive(&parts), "x"), Err(DocumentError::Bomb { .. })), "{count}");
    }
}

#[test]
fn open_documents_read_and_a_million_empty_rows_cost_nothing() {
    let sheet = read_file("expenses.ods");
    assert_eq!((labels(&sheet), unit(&sheet, 0)), (vec!["Dépenses"], "Poste\tDate\nThé\t2024-03-01\t\t\t4,50 €\n"));
    assert_eq!(read_file("notes.odt").text, "# Notes d'été\nPremière ligne.\nSeconde.\n");
}

#[test]
fn text_formats_keep_their_text_and_pages_lose_their_markup() {
    let csv = extract("a;é\n1;2\n".into(), "x.CSV").unwrap();
    assert_eq!((csv.kind, csv.text.as_str()), (DocumentKind::Table, "a;é\n1;2\n"));
    assert_eq!(extract(b"\xe9".to_vec(), "x.txt").unwrap().text, "é");
    assert_eq!(extract(b"# T".to_vec(), "x.md").unwrap().kind, DocumentKind::Markdown);
    let page = "<html><style>p{}</style><script>alert(1)</script><h1>Été</h1><p>Un &amp; deux</p>";
    let page = extract(page.into(), "x.html").unwrap();
    assert_eq!(page.text.split_whitespace().collect::<Vec<_>>(), ["#", "Été", "Un", "&", "deux"]);
    assert_eq!(
        extract(b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "x.txt").unwrap_err(),
        DocumentError::Unsupported { kind: "a picture" }
    );
}

#[test]
fn half_a_file_is_damaged_and_says_so_once() {
    for name in ["report.pdf", "minutes.pdf", "minutes.docx", "budget.xlsx", "expenses.ods", "old.xls", "slides.pptx"] {
        let whole = file(name);
        let half = whole[..whole.len() / 2].to_vec();
        // What a PDF's first half still shows may be read; nothing else can be.
        match extract(half, name) {
            Err(error @ DocumentError::Damaged { .. }) => assert!(error.to_string().len() < 250),
            Ok(document) if document.kind == DocumentKind::Pdf => assert!(!document.text.is_empty()),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_small_archive_that_unpacks_to_too_much_is_refused() {
    let zeros = vec![b' '; 300 * 1024 * 1024];
    for name in ["word/document.xml", "xl/workbook.xml", "content.xml"] {
        let bomb = archive(&[(name, &zeros)]);
        assert!(bomb.len() < 1_000_000);
        assert!(matches!(extract(bomb, "x"), Err(DocumentError::Bomb { .. })), "{name}");
    }
    let many: Vec<(String, Vec<u8>)> = (0..4001).map(|number| (format!("{number}"), Vec::new())).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    assert!(matches!(extract(archive(&many), "x"), Err(DocumentError::Bomb { .. })));
}

#[test]
fn entities_that_multiply_are_not_expanded() {
    let laughs = br#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><w:document><w:p><w:r><w:t>&b;fin</w:t></w:r></w:p></w:document>"#;
    let word = extract(archive(&[("word/document.xml", laughs)]), "x").unwrap();
    assert_eq!(word.text, "fin\n");
}

#[test]
fn cells_in_opposite_corners_of_open_and_excel_sheets_cost_nothing() {
    let sheet = br#"<table:table table:name="S"><table:table-row><table:table-cell table:number-columns-repeated="999999999"/>
        <table:table-cell><text:p>far</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="999999999">
        <table:table-cell table:number-columns-repeated="999999999"><text:p>x</text:p></table:table-cell></table:table-row></table:table>"#;
    let kind = b"application/vnd.oasis.opendocument.spreadsheet";
    let started = Instant::now();
    let document = extract(archive(&[("mimetype", kind), ("content.xml", sheet)]), "x").unwrap();
    assert!(document.text.len() < 100_000);
    assert!(started.elapsed() < Duration::from_secs(10));
}

/// A PDF of one page with this content and these resources.
fn pdf_with(resources: &str, extra: &str, content: &str) -> Vec<u8> {
    format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<<{resources}>>/Contents 4 0 R>>endobj\n\
         4 0 obj<</Length {}>>stream\n{content}\nendstream endobj\n{extra}\ntrailer<</Root 1 0 R/Size 9>>\n%%EOF",
        content.len() + 1
    )
    .into_bytes()
}

#[test]
fn a_form_that_draws_itself_ends() {
    let form = "BT /F 9 Tf (a) Tj ET /X Do /X Do";
    let resources = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</X 5 0 R>>";
    let extra = format!(
        "5 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length {}>>stream\n{form}\nendstream endobj",
        form.len() + 1
    );
    let document = extract(pdf_with(resources, &extra, "/X Do"), "x").unwrap();
    // Each form draws two, eight deep.
    assert_eq!(document.text.matches('a').count(), 255);
}

#[test]
fn letters_placed_one_by_one_make_words() {
    let resources = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>";
    let content = "BT /F 10 Tf 1 0 0 1 0 0 Tm (w) Tj 1 0 0 1 7.22 0 Tm (o) Tj 1 0 0 1 12.78 0 Tm (n) Tj 1 0 0 1 21.2 0 Tm (by) Tj \
                   [(a) -300 (n) 20 (x)] TJ 0 -12 Td (next) Tj ET";
    assert_eq!(extract(pdf_with(resources, "", content), "x").unwrap().text, "won bya nx\nnext\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_bytes_never_panic_or_hang(bytes in proptest::collection::vec(any::<u8>(), 0..2000), magic in 0..5_usize) {
        let start: &[u8] = [b"".as_slice(), b"%PDF-1.7\n", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"<html>"][magic];
        let started = Instant::now();
        let _ = extract([start, &bytes].concat(), "x.html");
        prop_assert!(started.elapsed() < Duration::from_secs(SECONDS));
    }

    #[test]
    fn damaged_documents_never_panic_or_hang(
        which in 0..9_usize,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<proptest::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let names = ["report.pdf", "minutes.pdf", "owner-locked.pdf", "minutes.docx", "budget.xlsx", "old.xls", "expenses.ods", "notes.odt", "slides.pptx"];
        let mut bytes = file(names[which]);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        let started = Instant::now();
        let _ = extract(bytes, names[which]);
        prop_assert!(started.elapsed() < Duration::from_secs(SECONDS));
    }

    #[test]
    fn random_page_content_never_panics_or_hangs(content in "[ -~]{0,300}") {
        let resources = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>";
        let started = Instant::now();
        let _ = extract(pdf_with(resources, "", &format!("BT /F 9 Tf (x) Tj {content}")), "x");
        prop_assert!(started.elapsed() < Duration::from_secs(SECONDS));
    }
}
